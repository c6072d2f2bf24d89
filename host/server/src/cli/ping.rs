//! Settings of the checks whether apps can be reached.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use portico_http::PublicUrl;
use portico_service::reachability::Reachability;
use portico_status::{AllowList, Checker, CheckerSettings};
use serde::Deserialize;

use super::{layers::layered, settings::Within};

/// Which apps are checked, and for whom; in the file under `[ping]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct PingSettings {
    /// For whom to check whether apps can be reached [default: users]
    #[arg(id = "ping", long = "ping", env = "PORTICO_PING", value_name = "WHO")]
    show: Option<Audience>,
    /// The hosts in private networks that may be checked: networks, addresses, hosts and the names below one, such as
    /// 192.168.0.0/16,nas.lan,*.home. With it, what administrators allow in the console has no effect; an empty list allows
    /// nothing [default: as allowed in the console, none at first]
    #[arg(
        id = "ping-allow",
        long = "ping-allow",
        env = "PORTICO_PING_ALLOW",
        value_name = "LIST"
    )]
    allow: Option<AllowList>,
    /// How many seconds an app has to answer, 1 to 60 [default: 5]
    #[arg(
        id = "ping-time-limit",
        long = "ping-time-limit",
        env = "PORTICO_PING_TIME_LIMIT",
        value_name = "SECONDS"
    )]
    time_limit: Option<Within<1, 60>>,
}

layered!(PingSettings {
    show,
    allow,
    time_limit,
});

#[derive(Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Audience {
    /// People who are signed in
    Users,
    /// Also people who see a public board without signing in
    Everyone,
    /// Nobody: no app is requested
    Off,
}

impl PingSettings {
    /// Those of `portico demo`, whose apps are on this machine.
    pub fn of_this_machine() -> Self {
        Self {
            allow: "127.0.0.0/8,::1".parse().ok(),
            ..Self::default()
        }
    }

    /// What checks apps; it starts nothing before somebody looks.
    pub fn checker(&self, public_url: Option<&PublicUrl>) -> anyhow::Result<Option<Arc<dyn Reachability>>> {
        if self.show == Some(Audience::Off) {
            return Ok(None);
        }
        let defaults = CheckerSettings::default();
        let checker = Checker::new(CheckerSettings {
            allow: self.allow.clone(),
            time_limit: self
                .time_limit
                .map_or(defaults.time_limit, |limit| Duration::from_secs(limit.0)),
            is_for_everyone: self.show == Some(Audience::Everyone),
            about: match public_url {
                Some(url) => format!("{url}/status"),
                None => "its page /status says more".into(),
            },
            ..defaults
        });
        let checker = checker.context("the checks whether apps can be reached cannot be set up")?;
        Ok(Some(Arc::new(checker)))
    }
}
