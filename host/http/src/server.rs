//! Connections: accepted, bounded, and finished before the host stops.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use axum::{Router, extract::ConnectInfo};
use hyper::{
    Request,
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
    time::{Instant, interval, timeout},
};
use tracing::{debug, info, warn};

use crate::{
    activity::{Activity, Answering, WatchedBody},
    outgoing::Outgoing,
    pace::{self, Paced},
    settings::HttpLimits,
};

/// While the host stops, a client that for this long reads nothing, or sends nothing more of its request, is
/// disconnected.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// The least time between two warnings about connections that cannot be accepted.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);

/// What is served.
pub struct Site {
    api: Router,
    /// The pages, and behind them the API again.
    pages: Router,
}

impl Site {
    /// `api`, which is [`router`](crate::router) or a layer around it, and these pages at all paths that are not the API's.
    pub fn new(api: Router, pages: Router) -> Self {
        Self {
            pages: pages.fallback_service(api.clone()),
            api,
        }
    }

    /// Whether a path is looked for in the API alone: another router on the way would cost each of its calls some
    /// microseconds. People come back from an issuer to the pages, which then ask the API.
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

/// Without a generic parameter, and with a future that is boxed here, because such code is compiled with this crate,
/// for speed. What is generic is compiled as its caller is: the binary's own crate, for size.
fn accept<'a>(
    listener: TcpListener,
    site: Site,
    limits: &'a HttpLimits,
    stop: Pin<&'a mut (dyn Future<Output = ()> + Send)>,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(accept_until(listener, site, limits, stop))
}

async fn accept_until(
    listener: TcpListener,
    site: Site,
    limits: &HttpLimits,
    mut stop: Pin<&mut (dyn Future<Output = ()> + Send)>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.receive_time)
        // Larger than the limit, so that a head beyond the limit is answered in JSON.
        .max_buf_size(limits.head.max(8 << 10) * 2)
        .max_headers(512)
        .keep_alive(true);
    let slots = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let outgoing = Outgoing::new(limits.unsent);
    pace::prepare(&listener);
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
                // Most likely out of file descriptors; connections that end free some.
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
        let connection = outgoing.connect();
        let stream = Paced::new(stream, connection.clone(), limits);
        let activity = Arc::new(Activity::default());
        let silence = {
            let (connection, activity) = (connection.clone(), activity.clone());
            async move {
                connection.outgoing().stopping().await;
                let has_unread = || connection.held() > 0;
                activity.silence(STOP_PATIENCE, has_unread).await;
            }
        };
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = Arc::new(Answering::begin(activity.clone()));
            let mut request = request.map(|body| WatchedBody::new(body, activity.clone()));
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(connection.clone());
            request.extensions_mut().insert(answering.clone());
            let router = if Site::is_of_api(request.uri().path()) {
                &api
            } else {
                &pages
            };
            let answer = router.call(request);
            async move {
                let _answering = answering;
                answer.await
            }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _slot = slot;
            tokio::select! {
                served = connection => if let Err(error) = served {
                    debug!(%error, "a connection ended early");
                },
                () = silence => {
                    debug!("a client that sends nothing is not waited for");
                }
            }
        });
    }
    drop(listener);
    info!("stopping: finishing what was accepted");
    outgoing.stop();
    let finish = async {
        let mut finished = pin!(graceful.shutdown());
        let mut look = interval(STOP_PATIENCE / 4);
        loop {
            tokio::select! {
                () = &mut finished => return,
                _ = look.tick() => outgoing.end_stalled(STOP_PATIENCE),
            }
        }
    };
    if timeout(limits.drain_time, finish).await.is_err() {
        warn!("some calls took too long to finish and were given up");
    }
}
