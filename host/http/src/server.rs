//! Connections: accepted, bounded, and finished before the host stops.

use std::{
    convert::Infallible,
    future::Future,
    io::ErrorKind,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo};
use futures_util::future::{Either, ready};
use http_body_util::BodyExt;
use hyper::{
    Request,
    body::{Body as _, Incoming},
    header::{self, HeaderValue},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout_at},
};
use tracing::{debug, info, warn};

use crate::{
    admission,
    bodies::{ReceivedBody, Sender},
    budget::{Budget, LeastRate, Owner},
    metrics, middleware,
    settings::HttpLimits,
    socket::{self, Socket},
};

/// The minimum rate at which clients must send a body.
const SEND_RATE: LeastRate = LeastRate {
    grace: Duration::from_secs(10),
    rate: 1 << 10,
};

/// The shortest time between two warnings about connections that cannot be accepted.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);

/// How long an idle connection stays open when the host stops, for what its client has sent by then.
const UNREAD_GRACE: Duration = Duration::from_millis(250);

/// As many connections as Linux keeps for a listener, unless it is told otherwise.
const MOST_WAITING: usize = 4096;

/// What is served.
pub struct Site {
    api: Router,
    /// The pages, with the API behind them again.
    pages: Router,
}

impl Site {
    /// Serves `api`, which is [`router`](crate::router) or a layer around it, and these pages at all paths that are not
    /// the API's.
    pub fn new(api: Router, pages: Router) -> Self {
        Self {
            pages: pages.fallback_service(api.clone()),
            api,
        }
    }

    /// Whether a path is looked up only in the API: another router on the way would cost each of its calls some
    /// microseconds. From an issuer people come back to the pages, which then call the API.
    fn is_of_api(path: &str) -> bool {
        path.starts_with("/api/") && !path.starts_with("/api/auth/oidc/")
    }
}

impl From<Router> for Site {
    fn from(api: Router) -> Self {
        Self {
            pages: api.clone(),
            api,
        }
    }
}

/// Serves until `stop` completes. From then on the host is not ready, and every response ends its connection. It serves on
/// for [`HttpLimits::drain_time`], accepts what the kernel has accepted, finishes it, and returns.
pub async fn serve(
    listener: TcpListener,
    site: impl Into<Site>,
    limits: &HttpLimits,
    stop: impl Future<Output = ()> + Send,
) {
    let connections = Connections::new(site.into(), limits);
    let (answers, requests) = (connections.answers.clone(), connections.requests.clone());
    let stop = pin!(stop);
    tokio::select! {
        () = serve_until(connections, listener, limits, stop) => {}
        () = answers.watch() => {}
        () = requests.watch() => {}
    }
}

async fn serve_until(
    connections: Connections,
    listener: TcpListener,
    limits: &HttpLimits,
    stop: Pin<&mut (dyn Future<Output = ()> + Send)>,
) {
    socket::prepare(&listener);
    connections.accept_until(&listener, stop).await;
    connections.is_stopping.store(true, Ordering::Relaxed);
    let end = Instant::now() + limits.stop_time;
    if !limits.drain_time.is_zero() {
        info!(
            "stopping: not ready, and serving for {} more seconds",
            limits.drain_time.as_secs()
        );
        let drained = pin!(sleep(limits.drain_time));
        connections.accept_until(&listener, drained).await;
    }
    connections.accept_waiting(listener);
    info!("stopping: finishing what was accepted");
    connections.answers.stop();
    connections.requests.stop();
    // A request may have arrived on a connection that seems idle.
    sleep(UNREAD_GRACE).await;
    if timeout_at(end, connections.graceful.shutdown()).await.is_err() {
        warn!("some calls took too long to finish and were given up");
    }
}

/// Whether the host was told to stop: an extension of each request.
#[derive(Clone)]
pub(crate) struct IsStopping(Arc<AtomicBool>);

impl IsStopping {
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The connections of one listener.
struct Connections {
    http: http1::Builder,
    site: Site,
    slots: Arc<Semaphore>,
    answers: Arc<Budget>,
    requests: Arc<Budget>,
    graceful: GracefulShutdown,
    is_stopping: Arc<AtomicBool>,
}

impl Connections {
    fn new(site: Site, limits: &HttpLimits) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.receive_time)
            // Larger than the limit, so that a head beyond the limit gets a response in JSON.
            .max_buf_size(limits.head.max(8 << 10) * 2)
            .max_headers(512)
            .keep_alive(true)
            // A client that sends no more gets its answer. The socket notices one that is gone.
            .half_close(true);
        Self {
            http,
            site,
            slots: Arc::new(Semaphore::new(limits.connections)),
            answers: Budget::new(limits.unsent, socket::least_rate(limits)),
            requests: Budget::new(limits.incoming, SEND_RATE),
            graceful: GracefulShutdown::new(),
            is_stopping: Arc::default(),
        }
    }

    async fn accept_until(
        &self,
        listener: &TcpListener,
        mut end: Pin<&mut (dyn Future<Output = ()> + Send)>,
    ) {
        let (mut warned, mut suppressed) = (None::<Instant>, 0_u64);
        loop {
            let accepted = async {
                let slot = self.slots.clone().acquire_owned().await;
                (listener.accept().await, slot)
            };
            let (connection, slot) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut end => return,
            };
            match connection {
                Ok((stream, peer)) => self.serve(stream, peer, slot.ok()),
                Err(error) => {
                    // Most likely we are out of file descriptors; connections that end free some.
                    if warned.is_none_or(|warned| warned.elapsed() >= WARNING_INTERVAL) {
                        warn!(%error, suppressed, "cannot accept a connection");
                        (warned, suppressed) = (Some(Instant::now()), 0);
                    } else {
                        suppressed += 1;
                    }
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Accepts what the kernel has accepted, also beyond the limit of connections, and closes the listener: its clients
    /// may have sent their requests, and a close would cut them.
    fn accept_waiting(&self, listener: TcpListener) {
        // The runtime may not know yet what waits. The kernel does.
        let Ok(listener) = listener.into_std() else {
            return;
        };
        for _ in 0..MOST_WAITING {
            match listener.accept() {
                Ok((stream, peer)) => {
                    let stream = stream
                        .set_nonblocking(true)
                        .and_then(|()| TcpStream::from_std(stream));
                    if let Ok(stream) = stream {
                        self.serve(stream, peer, None);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // That one is gone.
                Err(_) => {}
            }
        }
    }

    fn serve(&self, stream: TcpStream, peer: SocketAddr, slot: Option<OwnedSemaphorePermit>) {
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "a connection without TCP_NODELAY");
        }
        let [api, pages] =
            [&self.site.api, &self.site.pages].map(|router| TowerToHyperService::new(router.clone()));
        let (transfer, cut) = self.answers.open(Owner::default());
        let stream = Socket::new(stream, transfer.clone());
        let (requests, is_stopping) = (self.requests.clone(), IsStopping(self.is_stopping.clone()));
        let service = service_fn(move |request: Request<Incoming>| {
            let work = transfer.begin_work();
            let sender = Sender::new(peer.ip());
            let has_body = !request.body().is_end_stream();
            let mut request = request.map(|body| ReceivedBody::new(body, requests.clone(), sender.clone()));
            request.extensions_mut().insert(sender);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(transfer.clone());
            request.extensions_mut().insert(is_stopping.clone());
            let router = if Site::is_of_api(request.uri().path()) {
                &api
            } else {
                &pages
            };
            let answer = match admission::check_form(request.uri(), request.headers(), has_body) {
                Ok(()) => Either::Left(router.call(request)),
                Err(error) => {
                    let refusal = middleware::refuse(request.method(), request.uri().path(), error);
                    Either::Right(ready(Ok(refusal)))
                }
            };
            let is_stopping = is_stopping.clone();
            async move {
                // The work ends with the body, which may be a stream.
                let keep = move |body: Body| {
                    body.map_err(move |error| {
                        let _ = &work;
                        error
                    })
                };
                let mut response = answer.await?.map(keep);
                if is_stopping.get() {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                Ok::<_, Infallible>(response)
            }
        });
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            let _slot = slot;
            let _open = metrics::CONNECTIONS.hold();
            tokio::select! {
                served = connection => if let Err(error) = served {
                    debug!(%error, "a connection ended early");
                },
                _ = cut => {}
            }
        });
    }
}
