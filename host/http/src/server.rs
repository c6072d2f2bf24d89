//! Connections: accepted, bounded, and finished before the host stops.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo};
use futures_util::future::{Either, ready};
use http_body_util::BodyExt;
use hyper::{
    Request, Response,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{Instant, timeout},
};
use tracing::{debug, info, warn};

use crate::{
    admission,
    bodies::{ReceivedBody, Sender},
    budget::{Budget, LeastRate, Owner},
    middleware,
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

/// Serves until `stop` completes; then accepts no more connections, finishes the calls that were accepted,
/// and returns.
pub async fn serve(
    listener: TcpListener,
    site: impl Into<Site>,
    limits: &HttpLimits,
    stop: impl Future<Output = ()> + Send,
) {
    accept(listener, site.into(), limits, pin!(stop)).await;
}

/// Not generic, and with a future that is boxed here, because such code is compiled with this crate, for speed. Generic
/// code is compiled with its caller, the crate of the binary, for size.
fn accept<'a>(
    listener: TcpListener,
    site: Site,
    limits: &'a HttpLimits,
    stop: Pin<&'a mut (dyn Future<Output = ()> + Send)>,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    let answers = Budget::new(limits.unsent, socket::least_rate(limits));
    let requests = Budget::new(limits.incoming, SEND_RATE);
    Box::pin(async move {
        tokio::select! {
            () = accept_until(listener, site, limits, stop, &answers, &requests) => {}
            () = answers.watch() => {}
            () = requests.watch() => {}
        }
    })
}

async fn accept_until(
    listener: TcpListener,
    site: Site,
    limits: &HttpLimits,
    mut stop: Pin<&mut (dyn Future<Output = ()> + Send)>,
    answers: &Arc<Budget>,
    requests: &Arc<Budget>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.receive_time)
        // Larger than the limit, so that a head beyond the limit gets a response in JSON.
        .max_buf_size(limits.head.max(8 << 10) * 2)
        .max_headers(512)
        .keep_alive(true)
        // A client that sends no more gets its answer. The socket notices one that is gone.
        .half_close(true);
    let slots = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    socket::prepare(&listener);
    let (mut warned, mut suppressed) = (None::<Instant>, 0_u64);
    loop {
        let accepted = async {
            let slot = slots.clone().acquire_owned().await;
            (listener.accept().await, slot)
        };
        let (connection, slot) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match connection {
            Ok(connection) => connection,
            Err(error) => {
                // Most likely we are out of file descriptors; connections that end free some.
                if warned.is_none_or(|warned| warned.elapsed() >= WARNING_INTERVAL) {
                    warn!(%error, suppressed, "cannot accept a connection");
                    (warned, suppressed) = (Some(Instant::now()), 0);
                } else {
                    suppressed += 1;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "a connection without TCP_NODELAY");
        }
        let [api, pages] = [&site.api, &site.pages].map(|router| TowerToHyperService::new(router.clone()));
        let (transfer, cut) = answers.open(Owner::default());
        let stream = Socket::new(stream, transfer.clone());
        let requests = requests.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let work = transfer.begin_work();
            let sender = Sender::new(peer.ip());
            let mut request = request.map(|body| ReceivedBody::new(body, requests.clone(), sender.clone()));
            request.extensions_mut().insert(sender);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(transfer.clone());
            let router = if Site::is_of_api(request.uri().path()) {
                &api
            } else {
                &pages
            };
            let answer = match admission::check_transfer(request.headers()) {
                Ok(()) => Either::Left(router.call(request)),
                Err(error) => Either::Right(ready(Ok(middleware::refuse(request.uri().path(), error)))),
            };
            async move {
                // The work ends with the body, which may be a stream.
                let keep = move |body: Body| {
                    body.map_err(move |error| {
                        let _ = &work;
                        error
                    })
                };
                answer.await.map(|response: Response<Body>| response.map(keep))
            }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _slot = slot;
            tokio::select! {
                served = connection => if let Err(error) = served {
                    debug!(%error, "a connection ended early");
                },
                _ = cut => {}
            }
        });
    }
    drop(listener);
    info!("stopping: finishing what was accepted");
    answers.stop();
    requests.stop();
    if timeout(limits.drain_time, graceful.shutdown()).await.is_err() {
        warn!("some calls took too long to finish and were given up");
    }
}
