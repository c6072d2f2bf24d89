//! Fetches a picture. Users who may change an app choose its URL, so the URL and every redirect are checked.
//!
//! Invariants:
//! - The addresses that are checked are the ones that are connected to, at each redirect; no connection is used for a
//!   second request. So a name that resolves differently the second time gains nothing.
//! - A proxy from the environment (`HTTPS_PROXY`) resolves names itself and decides what it connects to; only addresses
//!   that the URL itself names are checked then.

use std::{
    fmt,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use ureq::{
    Agent, Body, Error,
    config::{Config, ConfigBuilder},
    http::{Response, StatusCode, Uri, header},
    typestate::AgentScope,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{Connector, DefaultConnector, NextTimeout},
    },
};
use url::{Host, Url};

use crate::{
    address::{is_public, is_usual_port},
    allow::AllowList,
    error::IconError,
    picture::{LARGEST, too_large},
    place::fetchable,
};

/// How long a fetch may take, redirects included.
const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_REDIRECTS: usize = 5;

/// Where pictures come from.
pub(crate) trait Fetch: Send + Sync + 'static {
    /// The content at a URL that [`fetchable`] gave: at most [`LARGEST`] bytes. Blocks.
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError>;
}

/// The network.
pub(crate) struct Network {
    agent: Agent,
    allow: Arc<AllowList>,
    time: Duration,
}

impl Network {
    pub fn new(allow: AllowList) -> Self {
        Self::with_parts(
            config(),
            DefaultConnector::default(),
            DefaultResolver::default(),
            allow,
        )
    }

    fn with_parts(
        config: ConfigBuilder<AgentScope>,
        connector: impl Connector,
        resolver: impl Resolver,
        allow: AllowList,
    ) -> Self {
        let allow = Arc::new(allow);
        let guard = Guard {
            resolver,
            allow: allow.clone(),
        };
        Self {
            agent: Agent::with_parts(config.build(), connector, guard),
            allow,
            time: TIMEOUT,
        }
    }

    /// Refuses a URL by what it says itself.
    fn check(&self, url: &Url) -> Result<(), IconError> {
        if self.allow.includes(url) {
            return Ok(());
        }
        let address: Option<IpAddr> = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        };
        if address.is_some_and(|address| !is_public(address)) {
            return Err(not_public(url));
        }
        match url.port_or_known_default() {
            Some(port) if is_usual_port(port) => Ok(()),
            _ => Err(refused(url, "has a port that browsers block")),
        }
    }
}

impl Fetch for Network {
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError> {
        let deadline = Instant::now() + self.time;
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let left = deadline.saturating_duration_since(Instant::now());
            let request = self.agent.get(url.as_str()).config();
            let request = request.timeout_global(Some(left)).build();
            let mut response = request.call().map_err(|error| self.reason(error))?;
            match response.status() {
                StatusCode::OK => return self.body(&mut response),
                status if status.is_redirection() => url = redirected(&url, &response)?,
                status => {
                    return Err(IconError::new(format!(
                        "its host answered with the status {}",
                        status.as_u16()
                    )));
                }
            }
        }
        Err(IconError::new(format!(
            "it redirects more than {MAX_REDIRECTS} times"
        )))
    }
}

impl Network {
    fn body(&self, response: &mut Response<Body>) -> Result<Vec<u8>, IconError> {
        let body = response.body_mut();
        if body
            .content_length()
            .is_some_and(|length| length > LARGEST as u64)
        {
            return Err(too_large());
        }
        // A reader that has reached its limit fails, even at the end of the body.
        let read = body.with_config().limit(LARGEST as u64 + 1).read_to_vec();
        let bytes = read.map_err(|error| self.reason(error))?;
        if bytes.len() > LARGEST {
            return Err(too_large());
        }
        Ok(bytes)
    }

    fn reason(&self, error: Error) -> IconError {
        match error {
            Error::BodyExceedsLimit(_) => too_large(),
            Error::Timeout(_) => {
                IconError::new(format!("it took longer than {} seconds", self.time.as_secs()))
            }
            Error::HostNotFound => IconError::new("the name of its host is not known"),
            Error::Other(error) => match error.downcast::<IconError>() {
                Ok(refusal) => *refusal,
                Err(error) => IconError::new(error.to_string()),
            },
            error => IconError::new(error.to_string()),
        }
    }
}

fn redirected(url: &Url, response: &Response<Body>) -> Result<Url, IconError> {
    let location = response.headers().get(header::LOCATION);
    let location = location.and_then(|location| std::str::from_utf8(location.as_bytes()).ok());
    let next = location.and_then(|location| url.join(location).ok());
    fetchable(next.ok_or_else(|| IconError::new("it redirects to no URL"))?)
}

fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .accept("image/*")
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
}

fn not_public(url: &Url) -> IconError {
    refused(url, "has an address of a private network")
}

/// The refusal of a host that the operator could allow.
fn refused(url: &Url, what: &str) -> IconError {
    let host = url.host_str().unwrap_or_default();
    let origin = url.origin().ascii_serialization();
    IconError::new(format!(
        "{host} {what}; to allow it, add {origin} to the setting `allow` of `[icons]` (--icons-allow, \
         PORTICO_ICONS_ALLOW)"
    ))
}

/// A resolver that keeps only addresses from which may be fetched.
struct Guard<R> {
    resolver: R,
    allow: Arc<AllowList>,
}

impl<R: fmt::Debug> fmt::Debug for Guard<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Guard").field(&self.resolver).finish()
    }
}

impl<R: Resolver> Resolver for Guard<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        if config.proxy().is_some_and(|proxy| proxy.uri() == uri) {
            return Ok(found);
        }
        let url = Url::parse(&uri.to_string()).map_err(|error| Error::Other(error.into()))?;
        if self.allow.includes(&url) {
            return Ok(found);
        }
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() {
            return Err(Error::Other(not_public(&url).into()));
        }
        Ok(public)
    }
}

#[cfg(test)]
mod tests;
