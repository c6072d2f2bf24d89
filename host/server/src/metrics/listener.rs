//! The listener of the metrics: `GET /metrics`, and nothing else.
//!
//! Invariants:
//! - At most [`Limits::connections`] are open; more wait to be accepted. Each ends with its first answer, and after
//!   [`Limits::time`] whatever its client does.
//! - A head has at most [`LARGEST_HEAD`] bytes, and a body is not read.
//! - What says that a browser sent it (`Origin`, `Sec-Fetch-…`) is refused: pages have no business here.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use portico_service::service::compute;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use super::{Format, Metrics};

const LARGEST_HEAD: usize = 8 << 10;

type Answer = Response<Full<Bytes>>;

#[derive(Clone, Copy)]
struct Limits {
    connections: usize,
    time: Duration,
}

/// Serves the metrics until the process ends.
pub async fn serve(listener: TcpListener, metrics: Arc<Metrics>) {
    let limits = Limits {
        connections: 64,
        time: Duration::from_secs(10),
    };
    serve_within(limits, listener, metrics).await;
}

async fn serve_within(limits: Limits, listener: TcpListener, metrics: Arc<Metrics>) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    loop {
        let slot = slots.clone().acquire_owned().await;
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = metrics.clone();
                tokio::spawn(async move {
                    let _slot = slot;
                    let served = timeout(limits.time, serve_connection(stream, metrics));
                    if !matches!(served.await, Ok(Ok(()))) {
                        debug!("a connection for metrics ended early");
                    }
                });
            }
            Err(error) => {
                // Most likely there are no more file descriptors.
                warn!(%error, "cannot accept a connection for metrics");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, metrics: Arc<Metrics>) -> hyper::Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let metrics = metrics.clone();
        async move { Ok::<_, Infallible>(respond(&request, metrics).await) }
    });
    http1::Builder::new()
        .max_buf_size(LARGEST_HEAD)
        .max_headers(64)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

/// Whether a browser says that it sent this. Without TLS it does so to `localhost`, and for what a page asks of another site.
fn is_of_browser(request: &Request<Incoming>) -> bool {
    let mut names = request.headers().keys();
    names.any(|name| *name == header::ORIGIN || name.as_str().starts_with("sec-fetch-"))
}

async fn respond(request: &Request<Incoming>, metrics: Arc<Metrics>) -> Answer {
    if is_of_browser(request) {
        return plain(
            StatusCode::FORBIDDEN,
            "Metrics are for programs, and not for browsers\n",
        );
    }
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "The metrics are at /metrics\n");
    }
    if request.method() != Method::GET {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET is allowed here\n");
        answer
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static("GET"));
        return answer;
    }
    let accept = request.headers().get(header::ACCEPT);
    let format = Format::of(accept.and_then(|accept| accept.to_str().ok()));
    match compute(None, move || metrics.text(format)).await {
        Ok(Ok(text)) => {
            let mut answer = Response::new(Full::from(text));
            let content_type = HeaderValue::from_static(format.content_type());
            answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
            answer
        }
        Ok(Err(_)) | Err(_) => plain(StatusCode::SERVICE_UNAVAILABLE, "Too much to do at once\n"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
    answer
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        task::JoinHandle,
    };

    use super::*;

    async fn listen(connections: usize, time: Duration) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let limits = Limits { connections, time };
        (
            address,
            tokio::spawn(serve_within(limits, listener, Metrics::new())),
        )
    }

    /// Sends these bytes and reads until the listener closes the connection.
    async fn ask(address: &str, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The listener may have refused and stopped reading.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_get_of_metrics_is_answered_with_them_and_each_answer_ends_its_connection() {
        let (address, task) = listen(4, Duration::from_secs(30)).await;
        let metrics = ask(&address, b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
        assert!(metrics.contains("text/plain; version=0.0.4"), "{metrics}");
        assert!(metrics.contains("\nportico_build_info{"), "{metrics}");
        let accept =
            b"GET /metrics?x HTTP/1.1\r\naccept: application/openmetrics-text; version=1.0.0\r\n\r\n";
        let metrics = ask(&address, accept).await;
        assert!(
            metrics.contains("application/openmetrics-text; version=1.0.0"),
            "{metrics}"
        );
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        let long = format!(
            "GET /metrics HTTP/1.1\r\nx: {}\r\n\r\n",
            "x".repeat(3 * LARGEST_HEAD)
        );
        for (request, status) in [
            (
                "POST /metrics HTTP/1.1\r\ncontent-length: 1000000000\r\n\r\n",
                "405",
            ),
            ("DELETE /metrics HTTP/1.1\r\n\r\n", "405"),
            (
                "GET /metrics HTTP/1.1\r\norigin: http://evil.example\r\n\r\n",
                "403",
            ),
            (
                "GET /metrics HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\n\r\n",
                "403",
            ),
            ("GET /metrics HTTP/1.1\r\nsec-fetch-mode: no-cors\r\n\r\n", "403"),
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /metrics/../metrics HTTP/1.1\r\n\r\n", "404"),
            ("GET /api/apps HTTP/1.1\r\n\r\n", "404"),
            ("nonsense\r\n\r\n", "400"),
            (&long, "431"),
        ] {
            let answer = ask(&address, request.as_bytes()).await;
            let found = answer.split(' ').nth(1).unwrap_or_default();
            assert_eq!(found, status, "{request:.60}\n{answer:.200}");
        }
        task.abort();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn clients_that_send_and_read_nothing_lose_their_places() {
        // Long enough for the one that asks.
        let (address, task) = listen(2, Duration::from_secs(1)).await;
        let mut silent = Vec::new();
        for _ in 0..6 {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            stream.write_all(b"GET /metrics HT").await.unwrap();
            silent.push(stream);
        }
        // It waits behind all of them.
        let metrics = ask(&address, b"GET /metrics HTTP/1.1\r\n\r\n").await;
        assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
        for mut stream in silent {
            let mut rest = Vec::new();
            // It is closed, or was reset.
            let _ = stream.read_to_end(&mut rest).await;
            assert_eq!(rest, b"");
        }
        task.abort();
    }
}
