//! Connections: accepted, bounded, and finished before the host stops.

use std::{future::Future, sync::Arc, time::Duration};

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

use super::{
    HttpLimits,
    activity::{Answering, Awaited},
    outgoing::Outgoing,
    pace::{self, Paced},
};

/// How long a client may read nothing, or send nothing of its request, while the host stops.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Connections that cannot be accepted are told of once in so long.
const COMPLAINT: Duration = Duration::from_secs(1);

/// Serves until `stop` is there; then accepts nothing more, finishes what was accepted, and returns.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &HttpLimits,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.receive_time)
        // Room for a head beyond the limit, so that it gets an answer in JSON.
        .max_buf_size(limits.head.max(8 << 10) * 2)
        .max_headers(512)
        .keep_alive(true);
    let room = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let outgoing = Outgoing::new(limits.unsent);
    pace::prepare(&listener);
    let mut stop = std::pin::pin!(stop);
    let (mut complained, mut untold) = (None::<Instant>, 0_u64);
    loop {
        let accepted = async {
            let place = room.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (connection, place) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match connection {
            Ok(connection) => connection,
            Err(error) => {
                // Out of file descriptors, most likely; connections that end make room.
                if complained.is_none_or(|complained| complained.elapsed() >= COMPLAINT) {
                    warn!(%error, untold, "cannot accept a connection");
                    (complained, untold) = (Some(Instant::now()), 0);
                } else {
                    untold += 1;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "a connection without TCP_NODELAY");
        }
        let router = TowerToHyperService::new(router.clone());
        let connection = outgoing.connect();
        let stream = Paced::new(stream, connection.clone(), limits);
        let client = connection.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = Answering::begin(connection.clone());
            let mut request = request.map(|body| Awaited::new(body, connection.clone()));
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(connection.clone());
            let answer = router.call(request);
            async move {
                let _answering = answering;
                answer.await
            }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _place = place;
            tokio::select! {
                served = connection => if let Err(error) = served {
                    debug!(%error, "a connection ended early");
                },
                () = client.silent_while_stopping(STOP_PATIENCE) => {
                    debug!("a client that sends nothing is not waited for");
                }
            }
        });
    }
    drop(listener);
    info!("stopping: finishing what was accepted");
    outgoing.stop();
    let finish = async {
        let mut finished = std::pin::pin!(graceful.shutdown());
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
