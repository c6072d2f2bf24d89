//! What the one who runs the service decides about HTTP.

use std::{fmt, str::FromStr};

use axum::http::{Uri, uri::Scheme};

use super::{HttpLimits, TrustedProxies};
use crate::{
    identity::{PLAIN_COOKIE, SECURE_COOKIE},
    providers::Providers,
    sessions::SessionTimes,
};

/// How the service is reached, by whom, and for how long.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// How much a client may send, and how long it may take.
    pub limits: HttpLimits,
    /// How long sessions last.
    pub sessions: SessionTimes,
    /// Where people reach the service. With `https`, the session cookie is for TLS only. While there is
    /// no user, browsers are served at this host, and at no other name but `localhost`.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose `X-Forwarded-For` and `X-Request-Id` are believed.
    pub trusted_proxies: TrustedProxies,
    /// Who else vouches for users.
    pub providers: Providers,
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
    host: String,
    is_secure: bool,
}

impl PublicUrl {
    /// Whether that is over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// The host, in lower case and without a port.
    pub(super) fn host(&self) -> &str {
        &self.host
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
                host: authority.host().to_ascii_lowercase(),
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
            assert!(origin.contains(url.host()) && !url.host().contains("8443"));
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
}
