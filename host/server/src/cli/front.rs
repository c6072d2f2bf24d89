//! Settings of the HTTP side: public URL, proxies, throttle, sessions.

use std::{str::FromStr, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use portico_http::{
    GateDomain, GateSettings, HttpLimits, HttpSettings, PublicUrl, ReservedNames, SessionTimes,
    TrustedProxies,
};
use serde::{Deserialize, Deserializer, de::Error};

use super::{layers::layered, passwords::PasswordSignInChoice, second_factor::SecondFactorChoice};

/// How users reach the service, and how often they may try to sign in; in the file under `[http]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct FrontSettings {
    /// The URL under which users reach the service, e.g. https://portico.example. With https, the
    /// session cookie is sent over TLS only. People who open the sign-in at another name are led
    /// there. Until the first user exists, browsers are served only at this name, at localhost and
    /// at IP addresses
    #[arg(long, env = "PORTICO_PUBLIC_URL", value_name = "URL")]
    #[serde(deserialize_with = "from_text")]
    pub public_url: Option<PublicUrl>,
    /// The proxies whose X-Forwarded-For, -Host and -Proto and X-Request-Id are trusted: addresses
    /// and networks (10.0.0.0/8), separated by commas
    #[arg(long, env = "PORTICO_TRUSTED_PROXIES", value_name = "LIST")]
    #[serde(deserialize_with = "from_text")]
    pub trusted_proxies: Option<TrustedProxies>,
    /// The domain whose hosts the gate is in front of, e.g. home.example: proxies in
    /// --trusted-proxies ask at /api/auth/verify who may open which app. The host of --public-url
    /// must be in it [default: none, there is no gate]
    #[arg(long, env = "PORTICO_GATE_DOMAIN", value_name = "DOMAIN")]
    #[serde(deserialize_with = "from_text")]
    pub gate_domain: Option<GateDomain>,
    /// Usernames with which only administrators pass the gate, separated by commas: apps could take
    /// such a user for their own administrator [default: admin,administrator,root]
    #[arg(long, env = "PORTICO_GATE_RESERVED_NAMES", value_name = "LIST")]
    #[serde(deserialize_with = "from_text")]
    pub gate_reserved_names: Option<ReservedNames>,
    /// Whether to limit attempts to sign in, to register and to create the administrator; use off
    /// only if something in front of the service limits them [default: on]
    #[arg(long, env = "PORTICO_SIGN_IN_THROTTLE", value_name = "ON|OFF")]
    pub sign_in_throttle: Option<Switch>,
    /// Who may sign in with a password that Portico stores, where people sign in by a provider: on
    /// (everyone), administrators or off. Unless it is on, the page for signing in leads to the
    /// issuer by itself, and /sign-in?local stops that [default: on]
    #[arg(long, env = "PORTICO_PASSWORD_SIGN_IN", value_name = "WHO")]
    pub password_sign_in: Option<PasswordSignInChoice>,
    /// Which users must have a second factor to sign in with a password, Portico's or the directory's: optional (users
    /// decide), administrators or everyone. A user who must have one and has none sets it up at the next sign-in
    /// [default: optional]
    #[arg(long, env = "PORTICO_SECOND_FACTOR", value_name = "WHO")]
    pub second_factor: Option<SecondFactorChoice>,
    /// A session ends after this time without use (90m, 12h, 7d) [default: 7d]
    #[arg(long, env = "PORTICO_SESSION_IDLE", value_name = "TIME")]
    #[serde(deserialize_with = "from_text")]
    pub session_idle: Option<Span>,
    /// A session ends at this age, however much it is used [default: 30d]
    #[arg(long, env = "PORTICO_SESSION_LIFETIME", value_name = "TIME")]
    #[serde(deserialize_with = "from_text")]
    pub session_lifetime: Option<Span>,
    /// Whether to serve the console, the pages for people, alongside the API [default: on]
    #[arg(long, env = "PORTICO_CONSOLE", value_name = "ON|OFF")]
    pub console: Option<Switch>,
    /// The board that people see first who are not signed in, if everyone may see it: its id, which is in its address
    /// [default: none, they sign in]
    #[arg(long, env = "PORTICO_START_BOARD", value_name = "ID")]
    pub start_board: Option<String>,
}

layered!(FrontSettings {
    public_url,
    trusted_proxies,
    gate_domain,
    gate_reserved_names,
    sign_in_throttle,
    password_sign_in,
    second_factor,
    session_idle,
    session_lifetime,
    console,
    start_board,
});

impl FrontSettings {
    /// The settings, with defaults for those that are not set.
    pub fn http(&self, limits: HttpLimits) -> HttpSettings {
        let defaults = SessionTimes::default();
        HttpSettings {
            limits,
            sessions: SessionTimes {
                idle: self.session_idle.map_or(defaults.idle, |span| span.0),
                lifetime: self.session_lifetime.map_or(defaults.lifetime, |span| span.0),
            },
            public_url: self.public_url.clone(),
            trusted_proxies: self.trusted_proxies.clone().unwrap_or_default(),
            ..HttpSettings::default()
        }
    }

    /// The gate in front of apps; `None` if there is none.
    pub fn gate(&self, http: &HttpSettings) -> anyhow::Result<Option<GateSettings>> {
        let Some(domain) = &self.gate_domain else {
            return Ok(None);
        };
        let has_console = !matches!(self.console, Some(Switch::Off));
        let gate = GateSettings {
            domain: domain.clone(),
            reserved_names: self.gate_reserved_names.clone().unwrap_or_default(),
            page: has_console.then_some(portico_console::gate_page as _),
        };
        let checked = gate.check(http.public_url.as_ref(), &http.trusted_proxies);
        checked
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("gate-domain is {domain}"))?;
        Ok(Some(gate))
    }
}

#[derive(Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    On,
    Off,
}

/// A span of time: a number followed by m, h or d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(Duration);

impl Span {
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MINUTE: u64 = 60;
        // The use of a session is recorded once a minute, so it cannot last only a minute.
        const LEAST: u64 = 5 * MINUTE;
        const MOST: u64 = 3650 * 24 * 60 * MINUTE;
        let units = [("m", MINUTE), ("h", 60 * MINUTE), ("d", 24 * 60 * MINUTE)];
        let seconds = units.iter().find_map(|(unit, seconds)| {
            let number = text.strip_suffix(unit)?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            number
                .parse::<u64>()
                .ok()
                .filter(|_| is_number)?
                .checked_mul(*seconds)
        });
        match seconds {
            Some(seconds @ LEAST..=MOST) => Ok(Self(Duration::from_secs(seconds))),
            Some(_) => Err(format!("{text:?} must be 5m to 3650d")),
            None => Err(format!("{text:?} must be like 90m, 12h or 7d")),
        }
    }
}

/// Reads a setting from its text form.
pub fn from_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = String>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_number_and_a_unit() {
        for (text, seconds) in [("5m", 300), ("90m", 5400), ("12h", 43_200), ("7d", 604_800)] {
            assert_eq!(text.parse(), Ok(Span(Duration::from_secs(seconds))));
        }
        for text in [
            "",
            "d",
            "7",
            "7 d",
            "+7d",
            "-7d",
            "1.5h",
            "4m",
            "0d",
            "3651d",
            "99999999999999999999d",
            "7w",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
