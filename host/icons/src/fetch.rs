//! Fetches pictures and indexes of icons. Users who may change an app choose the URL of its picture, a provider that of
//! its user's picture, and the operator that of an index, but none chooses where it redirects. So every URL is checked.
//!
//! Invariants:
//! - At each redirect, the addresses that are checked are the ones that are connected to; no connection is used for a
//!   second request. So a name that resolves differently the second time gains nothing.
//! - A proxy from the environment (`HTTPS_PROXY`) resolves names itself and decides what it connects to; only addresses
//!   that the URL of a picture itself names are checked then.

use std::{
    fmt,
    io::Read as _,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
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
    picture::LARGEST,
    place::fetchable,
};

/// How long a fetch may take, redirects included.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Where pictures come from.
pub(crate) trait Fetch: Send + Sync + 'static {
    /// The content at a URL that [`fetchable`] returned: at most [`LARGEST`] bytes. Blocks.
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError>;
}

pub(crate) struct Network {
    agent: Agent,
    trust: Arc<Trust>,
    limits: Limits,
}

/// Which hosts may have a private address.
#[derive(Debug)]
enum Trust {
    /// Users choose URLs: the hosts that the operator allows. Only they may have a port that browsers block.
    Allowed(AllowList),
    /// A provider named the URL: none. Each URL has `https:`, also after a redirect.
    Named,
    /// The operator chose this URL: its host, and if the host's address is private, all hosts to which it redirects.
    Chosen {
        url: Url,
        /// Set when the host is first resolved.
        is_private: OnceLock<bool>,
    },
}

#[derive(Clone, Copy)]
struct Limits {
    bytes: usize,
    redirects: usize,
    time: Duration,
}

const PICTURE: Limits = Limits {
    bytes: LARGEST,
    redirects: 5,
    time: TIMEOUT,
};

/// People wait for what a page says of itself.
const PAGE: Limits = Limits {
    bytes: 256 << 10,
    redirects: PICTURE.redirects,
    time: Duration::from_secs(5),
};

/// Fetches the index of a source of icons, of at most this many bytes. Blocks.
pub fn fetch_index(url: &str, most_bytes: usize) -> Result<Vec<u8>, IconError> {
    fetch_index_by(
        config(),
        DefaultConnector::default(),
        DefaultResolver::default(),
        url,
        most_bytes,
    )
}

fn fetch_index_by(
    config: ConfigBuilder<AgentScope>,
    connector: impl Connector,
    resolver: impl Resolver,
    url: &str,
    most_bytes: usize,
) -> Result<Vec<u8>, IconError> {
    let url = Url::parse(url).map_err(|error| IconError::new(format!("it is not a URL: {error}")))?;
    let url = fetchable(url)?;
    let trust = Trust::Chosen {
        url: url.clone(),
        is_private: OnceLock::new(),
    };
    let limits = Limits {
        bytes: most_bytes,
        redirects: 3,
        time: TIMEOUT,
    };
    Network::with_parts(config, connector, resolver, trust, limits).fetch(&url)
}

impl Network {
    /// For pictures.
    pub fn new(allow: AllowList) -> Self {
        let (connector, resolver) = (DefaultConnector::default(), DefaultResolver::default());
        let config = config().accept("image/*");
        Self::with_parts(config, connector, resolver, Trust::Allowed(allow), PICTURE)
    }

    /// For pictures at URLs that a provider named.
    pub fn for_named() -> Self {
        let (connector, resolver) = (DefaultConnector::default(), DefaultResolver::default());
        Self::with_parts(
            config().accept("image/*"),
            connector,
            resolver,
            Trust::Named,
            PICTURE,
        )
    }

    fn with_parts(
        config: ConfigBuilder<AgentScope>,
        connector: impl Connector,
        resolver: impl Resolver,
        trust: Trust,
        limits: Limits,
    ) -> Self {
        let trust = Arc::new(trust);
        let guard = Guard {
            resolver,
            trust: trust.clone(),
        };
        Self {
            agent: Agent::with_parts(config.build(), connector, guard),
            trust,
            limits,
        }
    }
}

impl Fetch for Network {
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError> {
        self.fetch_until(url, self.deadline())
    }
}

/// The beginning of what is at a URL.
pub(crate) struct Beginning {
    /// The URL to which it redirected.
    pub url: Url,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

impl Network {
    /// The same for people who wait.
    pub fn for_a_moment(mut self) -> Self {
        self.limits.time = PAGE.time;
        self
    }

    /// For the beginnings of pages.
    pub fn for_pages(allow: AllowList) -> Self {
        let (connector, resolver) = (DefaultConnector::default(), DefaultResolver::default());
        let config = config().accept("text/html, application/xhtml+xml;q=0.9");
        Self::with_parts(config, connector, resolver, Trust::Allowed(allow), PAGE)
    }

    /// When a fetch that begins now has to be over.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.limits.time
    }

    /// The content at a URL, as [`Fetch::fetch`] returns it, for several fetches that share their time. Blocks.
    pub fn fetch_until(&self, url: &Url, deadline: Instant) -> Result<Vec<u8>, IconError> {
        let (_, mut response) = self.open(url, deadline)?;
        self.body(&mut response)
    }

    /// The beginning of what is at a URL that [`fetchable`] returned: at most as many bytes as the limit says, and no
    /// more than `is_enough` asks for. What has arrived counts if the rest is late. Blocks.
    pub fn fetch_beginning(&self, url: &Url, is_enough: fn(&[u8]) -> bool) -> Result<Beginning, IconError> {
        let (url, mut response) = self.open(url, self.deadline())?;
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let mut reader = response.body_mut().as_reader();
        let (mut bytes, mut piece) = (Vec::new(), [0; 8 << 10]);
        while bytes.len() < self.limits.bytes && !is_enough(&bytes) {
            match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) if bytes.is_empty() => return Err(self.reason(Error::from(error))),
                Err(_) => break,
            }
        }
        bytes.truncate(self.limits.bytes);
        Ok(Beginning {
            url,
            content_type,
            bytes,
        })
    }

    /// The response with status 200, after redirects, and its URL.
    fn open(&self, url: &Url, deadline: Instant) -> Result<(Url, Response<Body>), IconError> {
        let mut url = url.clone();
        for _ in 0..=self.limits.redirects {
            self.trust.check(&url)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(IconError::TimedOut(self.limits.time));
            }
            let request = self.agent.get(url.as_str()).config();
            let request = request.timeout_global(Some(left)).build();
            let response = request.call().map_err(|error| self.reason(error))?;
            match response.status() {
                StatusCode::OK => return Ok((url, response)),
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
            "it redirects more than {} times",
            self.limits.redirects
        )))
    }

    fn body(&self, response: &mut Response<Body>) -> Result<Vec<u8>, IconError> {
        let (body, most) = (response.body_mut(), self.limits.bytes);
        if body.content_length().is_some_and(|length| length > most as u64) {
            return Err(self.too_large());
        }
        // A reader that has reached its limit fails, even at the end of the body.
        let read = body.with_config().limit(most as u64 + 1).read_to_vec();
        let bytes = read.map_err(|error| self.reason(error))?;
        if bytes.len() > most {
            return Err(self.too_large());
        }
        Ok(bytes)
    }

    fn too_large(&self) -> IconError {
        IconError::new(format!("it is larger than {} bytes", self.limits.bytes))
    }

    fn reason(&self, error: Error) -> IconError {
        match error {
            Error::BodyExceedsLimit(_) => self.too_large(),
            Error::Timeout(_) => IconError::TimedOut(self.limits.time),
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
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
}

impl Trust {
    /// Refuses a URL by its own text.
    fn check(&self, url: &Url) -> Result<(), IconError> {
        match self {
            Self::Chosen { .. } => return Ok(()),
            Self::Allowed(allow) if allow.includes(url) => return Ok(()),
            Self::Named if url.scheme() != "https" => {
                return Err(IconError::new(
                    "pictures that a provider named are fetched by https: alone",
                ));
            }
            Self::Allowed(_) | Self::Named => {}
        }
        let address: Option<IpAddr> = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        };
        if address.is_some_and(|address| !is_public(address)) {
            return Err(self.not_public(url));
        }
        match url.port_or_known_default() {
            Some(port) if is_usual_port(port) => Ok(()),
            _ => Err(self.refuse(url, "has a port that browsers block")),
        }
    }

    /// The refusal of a host that only the operator could allow.
    fn refuse(&self, url: &Url, what: &str) -> IconError {
        match self {
            Self::Named => {
                let host = url.host_str().unwrap_or_default();
                IconError::new(format!("{host}, which a provider named, {what}"))
            }
            Self::Allowed(_) | Self::Chosen { .. } => to_allow(url, what),
        }
    }

    /// Whether this URL, whose host has these addresses, may be fetched from any of them.
    fn includes(&self, url: &Url, addresses: &ResolvedSocketAddrs) -> bool {
        match self {
            Self::Allowed(allow) => allow.includes(url),
            Self::Named => false,
            Self::Chosen {
                url: chosen,
                is_private,
            } => {
                let is_public = |address: &SocketAddr| is_public(address.ip());
                let is_first = url == chosen && is_private.set(!addresses.iter().any(is_public)).is_ok();
                is_first || is_private.get() == Some(&true)
            }
        }
    }

    fn not_public(&self, url: &Url) -> IconError {
        match self {
            Self::Allowed(_) | Self::Named => self.refuse(url, "has an address of a private network"),
            Self::Chosen { .. } => {
                let host = url.host_str().unwrap_or_default();
                IconError::new(format!(
                    "the index redirects to {host}, which is an address of a private network; only a source that \
                     is in one itself may"
                ))
            }
        }
    }
}

/// The refusal of a host that the operator could allow.
fn to_allow(url: &Url, what: &str) -> IconError {
    let host = url.host_str().unwrap_or_default();
    let origin = url.origin().ascii_serialization();
    let message = format!(
        "{host} {what}; to allow it, add {origin} to the setting `allow` of `[icons]` (--icons-allow, \
         PORTICO_ICONS_ALLOW)"
    );
    IconError::NotAllowed(message.into())
}

/// A resolver that returns only addresses from which pictures may be fetched.
struct Guard<R> {
    resolver: R,
    trust: Arc<Trust>,
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
        if self.trust.includes(&url, &found) {
            return Ok(found);
        }
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() {
            return Err(Error::Other(self.trust.not_public(&url).into()));
        }
        Ok(public)
    }
}

#[cfg(test)]
pub(crate) mod tests;
