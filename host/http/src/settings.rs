//! The operator's settings of HTTP.

use std::time::Duration;

use portico_service::{
    external::Providers,
    identity::{PLAIN_COOKIE, SECURE_COOKIE},
    sessions::SessionTimes,
    site::PublicUrl,
};

use crate::{address::TrustedProxies, gate::settings::GateSettings, proxy_user::ProxySignIn};

/// How much a client may send, and how long it may take to send and to read.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// A body, in bytes.
    pub body: usize,
    /// The body of a procedure that takes many records in one call, in bytes.
    pub large_body: usize,
    /// Request line and headers, in bytes.
    pub head: usize,
    /// Calls in a batch.
    pub batch: usize,
    /// The answers of a batch together, in bytes; the calls beyond that are refused.
    pub answers: usize,
    /// How long request line and headers may take, and how long a body may take.
    pub receive_time: Duration,
    /// Grace period below `write_rate` before we disconnect, in addition to the time that 128 KiB take at that rate (at
    /// most two minutes), because the kernel shows progress in steps of that size. Only for [`serve`](crate::serve).
    pub write_time: Duration,
    /// The minimum rate at which a client must read, in bytes per second. Only for [`serve`](crate::serve).
    pub write_rate: u64,
    /// The answers of all connections that wait to be written, in bytes. Beyond it, [`serve`](crate::serve) closes
    /// connections, the one that moved least recently first.
    pub unsent: usize,
    /// The bodies of all requests that are being received, in bytes. Beyond it, [`serve`](crate::serve) takes the user
    /// or address whose bodies hold the most, and refuses the body that moved least recently.
    pub incoming: usize,
    /// How long the host serves on after it was told to stop, not ready, so that proxies turn to other hosts.
    pub drain_time: Duration,
    /// How long calls may take after the host was told to stop, `drain_time` included.
    pub stop_time: Duration,
    /// Concurrent connections; more wait to be accepted.
    pub connections: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            large_body: 16 << 20,
            head: 64 << 10,
            batch: 256,
            answers: 64 << 20,
            receive_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            write_rate: 1 << 10,
            unsent: 64 << 20,
            incoming: 64 << 20,
            drain_time: Duration::ZERO,
            stop_time: Duration::from_secs(7),
            connections: 10_000,
        }
    }
}

/// How the service is reached, by whom, and for how long.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// How much a client may send, and how long it may take.
    pub limits: HttpLimits,
    /// How long sessions last.
    pub sessions: SessionTimes,
    /// Where people reach the service. With `https`, the session cookie is for TLS only. Pages of this origin count as
    /// the service's own. Until the first user exists, browsers are served only at this host, at `localhost` and at IP
    /// addresses.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose `X-Forwarded-…` and `X-Request-Id` are believed.
    pub trusted_proxies: TrustedProxies,
    /// The headers in which trusted proxies say who has signed in; `None` if they do not. [`ProxySignIn::check`] says what
    /// else must be set.
    pub proxy_sign_in: Option<ProxySignIn>,
    /// The gate in front of apps; `None` if there is none. [`GateSettings::check`] says what else must be set.
    pub gate: Option<GateSettings>,
    /// External identity providers.
    pub providers: Providers,
}

impl HttpSettings {
    /// Whether people reach the service over TLS.
    pub fn is_secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_secure)
    }

    /// The name of the session cookie.
    pub(crate) fn cookie(&self) -> &'static str {
        self.cookie_name(PLAIN_COOKIE, SECURE_COOKIE)
    }

    /// The name of a cookie, of its names without TLS and with it.
    pub(crate) fn cookie_name(&self, plain: &'static str, secure: &'static str) -> &'static str {
        if self.is_secure() { secure } else { plain }
    }
}
