//! Settings: the TOML file, and the flags and environment variables that override it.

use std::{
    io::IsTerminal,
    net::SocketAddr,
    num::NonZero,
    panic,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use portico_http::HttpLimits;
use portico_server::icons::IconSettings;
use serde::Deserialize;
use tracing::{Metadata, error};
use tracing_subscriber::{
    filter::{Targets, filter_fn},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use super::{
    apps::AppSettings, audit::AuditSettings, backups::BackupSettings, compat::CompatSettings,
    copy_places::CopySettings, environment::warn_of_unread, front::FrontSettings, layers::layered,
    ldap::LdapArgs, oidc::OidcArgs, output::speak_json, ping::PingSettings, proxy::ProxyArgs, secret,
};

/// Parts whose messages contain secrets: the bytes that `portico call --url` sends, and the values of statements for a
/// database, including hashes. Never logged, whatever the filter says.
const NEVER_LOGGED: [&str; 2] = ["ureq_proto::util", "tokio_postgres"];

/// The settings file. Its keys are the names of the flags.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    pub listen: Option<SocketAddr>,
    pub metrics: Option<SocketAddr>,
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    /// As an alternative to `database`.
    pub database_file: Option<PathBuf>,
    pub database_connections: Option<Connections>,
    pub component: Option<PathBuf>,
    pub drain: Option<u64>,
    pub watch: Option<bool>,
    pub apply: Option<PathBuf>,
    pub cache: Option<PathBuf>,
    pub log: Option<String>,
    pub log_format: Option<LogFormat>,
    #[serde(default)]
    pub icons: IconSettings,
    #[serde(default)]
    pub limits: LimitSettings,
    #[serde(default)]
    pub http: FrontSettings,
    #[serde(default)]
    pub ldap: LdapArgs,
    #[serde(default)]
    pub oidc: OidcArgs,
    #[serde(default)]
    pub proxy: ProxyArgs,
    #[serde(default)]
    pub audit: AuditSettings,
    #[serde(default)]
    pub apps: AppSettings,
    #[serde(default)]
    pub backup: BackupSettings,
    #[serde(default)]
    pub copy: CopySettings,
    #[serde(default)]
    pub compat: CompatSettings,
    #[serde(default)]
    pub ping: PingSettings,
}

/// How much a client may send, and how slowly it may read; in the file under `[limits]`.
#[derive(Args, Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LimitSettings {
    /// The largest request body [default: 1048576]
    #[arg(long = "limit-body", env = "PORTICO_LIMIT_BODY", value_name = "BYTES")]
    body: Option<usize>,
    /// The largest request body of app.createMany and state.apply [default: 16777216]
    #[arg(
        long = "limit-large-body",
        env = "PORTICO_LIMIT_LARGE_BODY",
        value_name = "BYTES"
    )]
    large_body: Option<usize>,
    /// The largest request line and headers [default: 65536]
    #[arg(long = "limit-head", env = "PORTICO_LIMIT_HEAD", value_name = "BYTES")]
    head: Option<usize>,
    /// The most calls in a batch [default: 256]
    #[arg(long = "limit-batch", env = "PORTICO_LIMIT_BATCH", value_name = "CALLS")]
    batch: Option<usize>,
    /// How long a client may read below the minimum rate, in seconds, at most 86400 [default: 30]
    #[arg(
        long = "limit-write-time",
        env = "PORTICO_LIMIT_WRITE_TIME",
        value_name = "SECONDS"
    )]
    write_time: Option<WriteTime>,
    /// The minimum rate at which a client must read, in bytes per second; 0: no minimum
    /// [default: 1024]
    #[arg(
        long = "limit-write-rate",
        env = "PORTICO_LIMIT_WRITE_RATE",
        value_name = "BYTES"
    )]
    write_rate: Option<u64>,
    /// How much unread output may wait for all clients together; beyond it, the
    /// connection that moved least recently is closed [default: 67108864]
    #[arg(long = "limit-unsent", env = "PORTICO_LIMIT_UNSENT", value_name = "BYTES")]
    unsent: Option<NonZero<usize>>,
    /// How much of bodies may be in memory while clients send them, for all together; beyond it, the one that moved
    /// least recently is refused, of the user or address with the most [default: 67108864]
    #[arg(long = "limit-incoming", env = "PORTICO_LIMIT_INCOMING", value_name = "BYTES")]
    incoming: Option<NonZero<usize>>,
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "u64")]
pub struct Within<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> TryFrom<u64> for Within<LEAST, MOST> {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        if (LEAST..=MOST).contains(&number) {
            Ok(Self(number))
        } else {
            Err(format!("{number} is not in {LEAST}..={MOST}"))
        }
    }
}

impl<const LEAST: u64, const MOST: u64> FromStr for Within<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number: u64 = text.parse().map_err(|error| format!("{error}"))?;
        number.try_into()
    }
}

/// From a second to a day, in seconds.
type WriteTime = Within<1, 86_400>;

/// How many connections to the database.
pub type Connections = Within<2, 1000>;

layered!(LimitSettings {
    body,
    large_body,
    head,
    batch,
    write_time,
    write_rate,
    unsent,
    incoming,
});

impl LimitSettings {
    /// The limits, with defaults for those that are not set.
    pub fn http(self) -> HttpLimits {
        let defaults = HttpLimits::default();
        HttpLimits {
            body: self.body.unwrap_or(defaults.body),
            large_body: self.large_body.unwrap_or(defaults.large_body),
            head: self.head.unwrap_or(defaults.head),
            batch: self.batch.unwrap_or(defaults.batch),
            write_time: self
                .write_time
                .map_or(defaults.write_time, |time| Duration::from_secs(time.0)),
            write_rate: self.write_rate.unwrap_or(defaults.write_rate),
            unsent: self.unsent.map_or(defaults.unsent, NonZero::get),
            incoming: self.incoming.map_or(defaults.incoming, NonZero::get),
            ..defaults
        }
    }
}

#[derive(Deserialize, ValueEnum, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people
    #[default]
    Pretty,
    /// One JSON object per line
    Json,
}

/// The data directory, and the database if it is elsewhere.
#[derive(Args)]
pub struct DataArgs {
    /// The data directory; a host creates it if it does not exist [default: ./data]
    #[arg(long, env = "PORTICO_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The database: postgres://USER:PASSWORD@HOST/DATABASE. Safer in the environment, where `ps`
    /// does not show it [default: SQLite in the data directory]
    #[arg(long, env = "PORTICO_DATABASE", hide_env_values = true, value_name = "URL")]
    database: Option<String>,
    /// The file with that URL
    #[arg(long, env = "PORTICO_DATABASE_FILE", value_name = "FILE")]
    database_file: Option<PathBuf>,
}

impl DataArgs {
    /// The URL of the database, unless it is the file in the data directory.
    pub fn database(&self, settings: &Settings) -> anyhow::Result<Option<String>> {
        secret::read_layered(
            "database",
            (self.database.as_deref(), self.database_file.as_deref()),
            (settings.database.as_deref(), settings.database_file.as_deref()),
        )
    }
}

/// The data directory, and how to run a service on it.
#[derive(Args)]
pub struct HostArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// The most connections to PostgreSQL, 2 to 1000, in addition to one for checks [default: 16]
    #[arg(long, env = "PORTICO_DATABASE_CONNECTIONS", value_name = "COUNT")]
    database_connections: Option<Connections>,
    /// Run this component instead of the one inside the binary
    #[arg(long, env = "PORTICO_COMPONENT", value_name = "FILE")]
    component: Option<PathBuf>,
    /// The folder for the compiled component [default: `cache` in the data directory]
    #[arg(long, env = "PORTICO_CACHE", value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    audit: AuditSettings,
    #[command(flatten)]
    apps: AppSettings,
    /// The sources of icons: INDEX|BASE,INDEX|BASE; empty: none
    #[arg(long, env = "PORTICO_ICON_SOURCES", value_name = "LIST")]
    icon_sources: Option<String>,
    /// What to log to the standard error: error, warn, info, debug, trace, or levels of parts, such as
    /// warn,portico_http=debug
    /// [default: info; warn for commands other than serve]
    #[arg(long, env = "PORTICO_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// The format of the log [default: pretty]
    #[arg(long, env = "PORTICO_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl Settings {
    /// Reads the file; without a file there are only defaults.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(file) = file else {
            return Ok(Self::default());
        };
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the settings file {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("the settings file {} is not right", file.display()))
    }

    /// Overrides the file with the command line and the environment.
    pub fn with(mut self, args: HostArgs) -> anyhow::Result<Self> {
        self.database = args.data.database(&self)?;
        self.data = args.data.data.or(self.data);
        self.database_connections = args.database_connections.or(self.database_connections);
        self.component = args.component.or(self.component);
        self.cache = args.cache.or(self.cache);
        self.audit = args.audit.over(&self.audit);
        self.apps = args.apps.over(&self.apps);
        self.log = args.log.or(self.log);
        self.log_format = args.log_format.or(self.log_format);
        if matches!(self.log_format, Some(LogFormat::Json)) {
            speak_json();
        }
        if let Some(sources) = args.icon_sources {
            self.icons.sources = portico_server::icons::IconSource::parse_list(&sources)
                .context("PORTICO_ICON_SOURCES (--icon-sources) is not right")?;
        }
        Ok(self)
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| "data".into())
    }

    /// Starts the log on the standard error. `quietly`: only warnings by default.
    pub fn start_log(&self, quietly: bool) -> anyhow::Result<()> {
        let fallback = if quietly { "warn" } else { "info" };
        let filter: Targets = self
            .log
            .as_deref()
            .unwrap_or(fallback)
            .parse()
            .context("`log` is not a filter: use error, warn, info, debug, trace, or warn,portico_http=debug and the like")?;
        let is_allowed = |metadata: &Metadata<'_>| {
            let target = metadata.target();
            !NEVER_LOGGED.iter().any(|never| target.starts_with(never))
        };
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            // If the standard error is closed, reporting that there would panic, in the request that logs.
            .log_internal_errors(false);
        let log = tracing_subscriber::registry()
            .with(filter)
            .with(filter_fn(is_allowed));
        match self.log_format.unwrap_or_default() {
            LogFormat::Pretty => log.with(layer.with_target(false)).init(),
            LogFormat::Json => {
                log.with(layer.json().flatten_event(true)).init();
                panic::set_hook(Box::new(|panic| error!("{panic}")));
            }
        }
        warn_of_unread();
        Ok(())
    }
}
