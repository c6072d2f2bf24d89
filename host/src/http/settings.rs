//! What the one who runs the service decides about HTTP.

use std::{fmt, str::FromStr, time::Duration};

use axum::http::{Uri, uri::Scheme};

use super::{HttpLimits, TrustedProxies};
use crate::{
    identity::{PLAIN_COOKIE, SECURE_COOKIE},
    model::Timestamp,
};

/// How the service is reached, by whom, and for how long.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// How much a client may send, and how long it may take.
    pub limits: HttpLimits,
    /// How long sessions last.
    pub sessions: SessionTimes,
    /// Where people reach the service. With `https`, the session cookie is for TLS only.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
}

/// How long sessions last.
#[derive(Clone, Copy, Debug)]
pub struct SessionTimes {
    /// A session that is not used for so long ends. Its use is noted once a minute.
    pub idle: Duration,
    /// A session ends so long after it began, however much it is used.
    pub lifetime: Duration,
}

impl Default for SessionTimes {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            idle: 7 * DAY,
            lifetime: 30 * DAY,
        }
    }
}

impl SessionTimes {
    /// When a session that begins now ends, however much it is used.
    pub(super) fn ends_at(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.lifetime.as_millis() as Timestamp)
    }

    /// When a session that is used now expires.
    pub(super) fn expires_at(&self, now: Timestamp, ends_at: Timestamp) -> Timestamp {
        now.saturating_add(self.idle.as_millis() as Timestamp)
            .min(ends_at)
    }
}

impl HttpSettings {
    /// Whether people reach the service over TLS.
    pub fn is_secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_secure)
    }

    /// The name of the session cookie.
    pub(super) fn cookie(&self) -> &'static str {
        if self.is_secure() {
            SECURE_COOKIE
        } else {
            PLAIN_COOKIE
        }
    }
}

/// Where people reach the service: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    is_secure: bool,
}

impl PublicUrl {
    /// Whether that is over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.origin)
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} must be like https://portico.example, without a path");
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let scheme = uri
            .scheme()
            .filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let authority = uri.authority().filter(|authority| {
            !authority.as_str().contains('@') && !authority.host().is_empty() && !text.contains('#')
        });
        match (scheme, authority, uri.path_and_query().map(|path| path.as_str())) {
            (Some(scheme), Some(authority), None | Some("/")) => Ok(Self {
                origin: format!("{scheme}://{authority}").to_ascii_lowercase(),
                is_secure: *scheme == Scheme::HTTPS,
            }),
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_scheme_host_and_port() {
        for (text, origin, is_secure) in [
            ("https://portico.example", "https://portico.example", true),
            (
                "HTTPS://Portico.Example:8443/",
                "https://portico.example:8443",
                true,
            ),
            ("http://[::1]:7575", "http://[::1]:7575", false),
        ] {
            let url: PublicUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.is_secure()), (origin, is_secure));
        }
        for text in [
            "",
            "portico.example",
            "//portico.example",
            "ftp://portico.example",
            "https://",
            "https://me@portico.example",
            "https://portico.example/path",
            "https://portico.example?query",
            "https://portico.example/#fragment",
            "https://portico example",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_session_that_is_used_expires_later_but_not_after_its_end() {
        let times = SessionTimes {
            idle: Duration::from_secs(7),
            lifetime: Duration::from_secs(30),
        };
        assert_eq!(times.ends_at(1000), 31_000);
        assert_eq!(times.expires_at(2000, 31_000), 9000);
        assert_eq!(times.expires_at(29_000, 31_000), 31_000);
    }
}
