//! HTTP requests to the issuer, on threads of their own and limited in number.

use std::{fmt, pin::Pin, sync::Arc, thread, time::Duration};

use anyhow::ensure;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use tokio::sync::{Semaphore, oneshot};
use ureq::{
    Agent,
    tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem},
};

/// The most concurrent requests. The time limit includes waiting.
const MAX_REQUESTS: usize = 16;
/// The largest response, in bytes: a signed token with 1 MiB of names of groups, as short as four letters.
const MAX_ANSWER: u64 = 3 << 20;

#[derive(Clone)]
pub(super) struct Fetch {
    agent: Agent,
    permits: Arc<Semaphore>,
}

/// Why there was no response.
#[derive(Debug)]
pub(super) struct Failed {
    why: String,
    /// Whether there was one, longer than [`MAX_ANSWER`].
    pub is_too_long: bool,
}

impl fmt::Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.why)
    }
}

impl std::error::Error for Failed {}

impl Failed {
    pub fn new(why: String) -> Self {
        let is_too_long = false;
        Self { why, is_too_long }
    }
}

fn failed(error: impl fmt::Display) -> Failed {
    Failed::new(error.to_string())
}

impl Fetch {
    /// `time_limit` applies to each request.
    pub fn new(time_limit: Duration, ca: Option<&str>) -> anyhow::Result<Self> {
        let mut config = Agent::config_builder()
            .timeout_global(Some(time_limit))
            // All addresses of an issuer come from its discovery document.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")));
        if let Some(ca) = ca {
            let roots = RootCerts::Specific(Arc::new(certificates(ca)?));
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(Self {
            agent: config.build().into(),
            permits: Arc::new(Semaphore::new(MAX_REQUESTS)),
        })
    }
}

fn certificates(pem: &str) -> anyhow::Result<Vec<Certificate<'static>>> {
    let mut certificates = Vec::new();
    for item in parse_pem(pem.as_bytes()) {
        if let PemItem::Certificate(certificate) = item? {
            certificates.push(certificate);
        }
    }
    ensure!(!certificates.is_empty(), "there is no certificate in PEM");
    Ok(certificates)
}

impl<'c> AsyncHttpClient<'c> for Fetch {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move {
            let permit = self.permits.clone().acquire_owned().await.map_err(failed)?;
            let (agent, (sender, receiver)) = (self.agent.clone(), oneshot::channel());
            // A thread of its own, because the runtime would wait for its blocking threads when the host stops.
            let thread = thread::Builder::new().name("oidc".to_owned());
            let spawned = thread.spawn(move || {
                let _permit = permit;
                // An error means that the caller has stopped waiting.
                let _ = sender.send(send(&agent, request));
            });
            spawned.map_err(failed)?;
            receiver.await.map_err(failed)?
        })
    }
}

fn send(agent: &Agent, request: HttpRequest) -> Result<HttpResponse, Failed> {
    let (parts, body) = request.into_parts();
    let response = if body.is_empty() {
        agent.run(http::Request::from_parts(parts, ()))
    } else {
        agent.run(http::Request::from_parts(parts, body))
    };
    let (parts, mut body) = response.map_err(failed)?.into_parts();
    let body = body
        .with_config()
        .limit(MAX_ANSWER)
        .read_to_vec()
        .map_err(|error| Failed {
            is_too_long: matches!(error, ureq::Error::BodyExceedsLimit(_)),
            why: error.to_string(),
        })?;
    Ok(HttpResponse::from_parts(parts, body))
}
