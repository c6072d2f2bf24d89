//! `portico serve`.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use clap::Args;
use portico_console::{ConsoleSettings, Documents};
use portico_http::{self as http, HttpLimits, PublicUrl};
use portico_model::time::{Clock, LATEST, SystemClock};
use portico_sandbox::icons::Icons;
use portico_server::{
    data_dir::DataDir,
    metrics::{self, Metrics},
};
use portico_service::{external::Providers, hot_swap::HotSwap};
use portico_sign_in::{ldap::Ldap, oidc::Oidc};
use portico_storage::SharedRecords;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    time::timeout,
};
use tracing::{error, info, warn};

use super::{
    apply::apply_at_start,
    backups::BackupSettings,
    compat::CompatSettings,
    database::Database,
    demo::Household,
    document::{Document, unknown_keys},
    front::{FrontSettings, Switch},
    host::Host,
    icons::{self, IconArgs},
    ldap::LdapArgs,
    listen, notify,
    oidc::OidcArgs,
    output::{announce, print},
    passwords::require_another_way,
    ping::PingSettings,
    process::block_on,
    proxy::ProxyArgs,
    reload::keep_current,
    settings::{HostArgs, LimitSettings, Settings},
    starting::{Starting, StopSignals, patiently},
    waiting::open_when_there,
    yaml,
};

/// Longer than the proxy of docs/scale.md takes to notice that a host is not ready.
const DEFAULT_DRAIN: u64 = 3;
const MOST_DRAIN: u64 = 5;
/// How long a host that stops takes to write the last rows of the audit log.
const FLUSH_TIME: Duration = Duration::from_secs(1);

pub const DEFAULT_LISTEN: &str = "127.0.0.1:7575";

#[derive(Args)]
pub struct Serve {
    /// The address to listen on; port 0 picks a free one [default: 127.0.0.1:7575]
    #[arg(long, env = "PORTICO_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The address of the metrics for Prometheus, at /metrics: for the operator only, so not one that
    /// others reach [default: off]
    #[arg(long, env = "PORTICO_METRICS", value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// How many seconds to serve on after a signal to stop, not ready, so that a proxy turns to other
    /// hosts: 0 to 5 [default: 3; 0 on a terminal]
    #[arg(long, env = "PORTICO_DRAIN", value_name = "SECONDS")]
    drain: Option<u64>,
    /// Load the file of --component when it changes, without dropping a request. A file that
    /// cannot run is refused. SIGHUP loads the file once, also without this
    #[arg(
        long,
        env = "PORTICO_WATCH",
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true"
    )]
    watch: Option<bool>,
    /// Apply this document before serving, as `portico apply` does. If it breaks a rule, nothing is
    /// changed and the host does not start
    #[arg(long, env = "PORTICO_APPLY", value_name = "FILE")]
    apply: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitSettings,
    #[command(flatten)]
    front: FrontSettings,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    icons: IconArgs,
    #[command(flatten)]
    ldap: LdapArgs,
    #[command(flatten)]
    oidc: OidcArgs,
    #[command(flatten)]
    proxy: ProxyArgs,
    #[command(flatten)]
    compat: CompatSettings,
    #[command(flatten)]
    backup: BackupSettings,
    #[command(flatten)]
    ping: PingSettings,
}

impl Serve {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let (settings, start) = self.settle(settings)?;
        settings.start_log(false)?;
        let (_data, damage) = block_on(serve(settings, start))?;
        damage.map_or(Ok(()), Err)
    }

    /// The settings that are in force, and how to start. Refuses what does not go together.
    pub fn settle(self, mut settings: Settings) -> anyhow::Result<(Settings, Start)> {
        let drain = self.drain.or(settings.drain).unwrap_or_else(|| {
            // Whoever presses Ctrl-C does not want to wait.
            if io::stdin().is_terminal() {
                0
            } else {
                DEFAULT_DRAIN
            }
        });
        ensure!(
            drain <= MOST_DRAIN,
            "the drain time (--drain, PORTICO_DRAIN) is {drain} seconds, and it may be 0 to {MOST_DRAIN}: all of \
             stopping takes at most ten"
        );
        let limits = HttpLimits {
            drain_time: Duration::from_secs(drain),
            ..self.limits.over(&settings.limits).http()
        };
        settings.http = self.front.over(&settings.http);
        settings.ldap = self.ldap.over(&settings.ldap);
        settings.oidc = self.oidc.over(&settings.oidc);
        settings.proxy = self.proxy.over(&settings.proxy);
        self.icons.put_into(&mut settings.icons);
        settings.compat = self.compat.over(&settings.compat);
        settings.backup = self.backup.over(&settings.backup);
        settings.ping = self.ping.over(&settings.ping);
        let mut settings = settings.with(self.host)?;
        // Before the host waits for a database that is not there yet.
        settings.backup.check(settings.database.as_deref())?;
        ensure!(
            SystemClock.now() < LATEST,
            "the clock of this machine is beyond the year 9999, which no date in HTTP and JSON can say: set it"
        );
        let watch = self.watch.or(settings.watch).unwrap_or_default();
        ensure!(
            !watch || settings.component.is_some(),
            "--watch needs a file to watch: name it with --component FILE"
        );
        let listen = match self.listen.or(settings.listen) {
            Some(listen) => listen,
            None => DEFAULT_LISTEN.parse()?,
        };
        settings.metrics = self.metrics.or(settings.metrics);
        let document = self.apply.or_else(|| settings.apply.clone());
        let document = document.filter(|file| !file.as_os_str().is_empty());
        let document = document.map(|file| Document::read(&file)).transpose()?;
        let start = Start {
            listen,
            limits,
            watch,
            document,
            is_demo: false,
        };
        Ok((settings, start))
    }
}

/// How to start, in addition to what every command on data needs.
pub struct Start {
    pub listen: SocketAddr,
    limits: HttpLimits,
    watch: bool,
    /// Applied before the first request is accepted.
    document: Option<Document>,
    /// Whether it is `portico demo`, in memory.
    is_demo: bool,
}

impl Start {
    /// The start of `portico demo`.
    pub fn demo(listen: SocketAddr) -> Self {
        let limits = HttpLimits {
            drain_time: Duration::ZERO,
            ..LimitSettings::default().http()
        };
        Self {
            listen,
            limits,
            watch: false,
            document: None,
            is_demo: true,
        }
    }
}

/// Returns the data directory, which must stay locked until the runtime has ended all its tasks, and the damage to
/// the database, if that is why the host stopped.
pub async fn serve(settings: Settings, start: Start) -> anyhow::Result<(DataDir, Option<anyhow::Error>)> {
    let hangup = signal(SignalKind::hangup())?;
    let mut stop_signals = StopSignals::new()?;
    let starting = Starting::begin()?;
    let Start {
        listen,
        limits,
        watch,
        document,
        is_demo,
    } = start;
    let metrics = Metrics::new();
    if let Some(address) = settings.metrics {
        let listener = bind_metrics(address).await?;
        tokio::spawn(metrics::serve(listener, metrics.clone()));
    }
    let mut listener = None;
    let host = Host::open_with(&settings, async |data| match is_demo {
        true => Ok(Database::in_memory()),
        false => open_when_there(&settings, data, listen, &mut listener).await,
    })
    .await?;
    let backups = settings.backup.backups(&host.data);
    if let Some(document) = document {
        document.complain_of_unknown_keys();
        let what = format!("{} to be applied", document.name());
        patiently(what, apply_at_start(&host, &document)).await?;
    }
    let is_open = !is_demo
        && !host
            .service
            .has_users("start")
            .await
            .map_err(|error| anyhow::anyhow!(error.message))?;
    // From the first connection on, a signal finishes what was accepted.
    drop(starting);
    let listener = match listener {
        Some(listener) => listener,
        None => listen::listen(listen).await?,
    };
    let listener = TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    let household = match is_demo {
        true => Some(Household::move_in(&host.service, address).await?),
        false => None,
    };

    let has_console = !matches!(settings.http.console, Some(Switch::Off));
    let mut http = settings.http.http(limits);
    http.providers = providers(&settings, address, host.shared.clone());
    http.proxy_sign_in = settings.proxy.sign_in(&http).unwrap_or_else(|problem| {
        error!("sign-in by a proxy is off: {problem:#}");
        None
    });
    if let Some(proxy) = &http.proxy_sign_in {
        info!(
            "a proxy signs people in: with the header {}, every program at the addresses of --trusted-proxies can be any \
             user",
            proxy.user
        );
    }
    http.gate = settings.http.gate(&http).unwrap_or_else(|problem| {
        error!("the gate is off: {problem:#}");
        None
    });
    if let Some(gate) = &http.gate {
        info!(
            "a gate is in front of apps at hosts of {}: people who see an app may open it{}",
            gate.domain,
            match settings.apps.by_board() {
                Some(true) => "",
                Some(false) => "; every user sees every app, unless --app-visibility is boards",
                None => ", as it is chosen under Manage, Who sees what",
            }
        );
    }
    require_another_way(&host, &settings, &http).await?;
    announce(&format!(
        "portico listens on http://{address} with its data in {}",
        host.database.shown(&host.data)
    ))?;
    if let Some(household) = &household {
        for line in household.welcome(address).lines() {
            print(line)?;
        }
    } else if has_console && io::stdout().is_terminal() {
        print(&where_to_click(
            address,
            settings.http.public_url.as_ref(),
            is_open,
        ))?;
    }
    let component = host.service.sandbox.version();
    info!(
        version = component.contract,
        sha256 = component.sha256,
        "portico {} serves the component{}",
        env!("CARGO_PKG_VERSION"),
        host.file
            .as_ref()
            .map_or_else(String::new, |file| format!(" of {}", file.path.display()))
    );
    if settings.apps.by_board().is_some() {
        info!("who sees which app is fixed by --app-visibility: what is chosen in the console has no effect");
    }
    notify::ready(&format!("Serves on http://{address}"));
    if is_open {
        if has_console {
            info!("no user exists yet; open http://{address} in a browser to create the administrator");
        }
        info!(
            "no user exists yet; create the administrator: curl http://{address}/api/trpc/user.initUser -H \
             'content-type: application/json' -d '{{\"username\": \"NAME\", \"password\": \"PASSWORD\"}}'"
        );
        if !address.ip().is_loopback() {
            warn!(
                "onboarding is open and {address} can be reached from other machines: the first caller becomes the \
                 administrator"
            );
        }
    }

    if !address.ip().is_loopback() && !http.is_secure() {
        warn!(
            "{address} can be reached from other machines, and passwords and sessions are sent unencrypted: put a \
             proxy with TLS in front, and set --public-url https://… to the URL that users open"
        );
    }
    let limits = http.limits.clone();
    let Host {
        service,
        database,
        data,
        file,
        ..
    } = host;
    let (audit, names) = (service.audit.clone(), service.sandbox.icons().clone());
    let live = HotSwap::from(service);
    metrics.begin(live.clone(), database.pool());
    let console = ConsoleSettings {
        limits: limits.clone(),
        public_url: http.public_url.clone(),
        trusted_proxies: http.trusted_proxies.clone(),
        is_whole_site: true,
        has_gate: http.gate.is_some(),
        start_board: settings.http.start_board.clone(),
        documents: Some(Documents {
            read: |text| yaml::read(text).map_err(|error| format!("{error:#}")),
            unknown_keys,
        }),
    };
    let api = http::router(live.clone(), http.clone());
    let outer = match settings.compat.homarr {
        Some(true) => portico_compat::layer(api.clone(), &http),
        Some(false) | None => api.clone(),
    };
    let site = if has_console {
        let files = icons::files(data.path(), settings.icons.allow.clone());
        let icons = http::surround(
            portico_icons::router(api.clone(), files, find_icon(names.clone()), find_variant(names)),
            &limits,
            &http.trusted_proxies,
        );
        http::Site::new(outer, portico_console::pages(api, console).merge(icons))
    } else {
        outer.into()
    };
    tokio::spawn(keep_current(file, watch, hangup, live));
    let (stop, stopped) = oneshot::channel();
    let signals = async {
        stop_signals.next().await;
        notify::stopping();
        let _ = stop.send(());
        stop_signals.next().await;
        warn!("a second signal: calls that were accepted are given up");
    };
    // Runs while the first requests are served, because it takes longer the larger the database is.
    let damage = async {
        match database.verify().await {
            Ok(()) => std::future::pending().await,
            Err(damage) => damage,
        }
    };
    let backups = async {
        match backups {
            Some(backups) => backups.run().await,
            None => std::future::pending().await,
        }
    };
    let damage = tokio::select! {
        () = backups => None,
        () = http::serve(listener, site, &limits, async { drop(stopped.await) }) => None,
        () = signals => None,
        damage = damage => Some(damage),
    };
    // Stops what still runs for abandoned calls, which may hold the lock for writing.
    database.close();
    if timeout(FLUSH_TIME, audit.flush()).await.is_err() {
        warn!("the last refusals could not be recorded in the audit log");
    }
    info!("stopped");
    Ok((data, damage))
}

async fn bind_metrics(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| {
        format!("cannot listen on {address} for metrics; choose another address with --metrics")
    })?;
    let address = listener.local_addr()?;
    info!("metrics at http://{address}/metrics");
    if !address.ip().is_loopback() {
        warn!(
            "the metrics can be read by all who reach {address}: they have no names, but tell how much is done here"
        );
    }
    Ok(listener)
}

/// What people at a terminal want to know first.
fn where_to_click(address: SocketAddr, public_url: Option<&PublicUrl>, is_open: bool) -> String {
    let here = format!("http://{}", listen::seen_from_here(address));
    let url = public_url.map_or(here, ToString::to_string);
    let purpose = if is_open {
        " to create the administrator"
    } else {
        ""
    };
    format!("Open {url} in a browser{purpose}. Ctrl-C stops.")
}

/// Looks up the icon that fits a name.
fn find_icon(icons: Arc<dyn Icons>) -> portico_icons::FindIcon {
    Arc::new(move |name| {
        let icons = icons.clone();
        Box::pin(async move { icons.find(&[name]).await.into_iter().next().flatten() })
    })
}

/// Looks up the variant of an icon.
fn find_variant(icons: Arc<dyn Icons>) -> portico_icons::FindVariant {
    Arc::new(move |url, ground| {
        let icons = icons.clone();
        Box::pin(async move {
            let is_dark = ground == portico_icons::Ground::Dark;
            match icons.variant(&url, is_dark).await {
                Some(found) if found == url => portico_icons::Variant::Itself,
                Some(found) => portico_icons::Variant::At(found),
                None => portico_icons::Variant::Unknown,
            }
        })
    })
}

/// The providers that are on. A provider with wrong settings is reported and off; the others work.
fn providers(settings: &Settings, address: SocketAddr, records: Arc<dyn SharedRecords>) -> Providers {
    let (oidc, ldap) = providers_to_check(settings, address, records);
    let oidc = oidc.unwrap_or_else(|problem| {
        error!("sign-in by OpenID Connect is off: {problem:#}");
        None
    });
    let ldap = ldap.unwrap_or_else(|problem| {
        error!("sign-in by LDAP is off: {problem:#}");
        None
    });
    let (ldap, oidc) = (ldap.map(Arc::new), oidc.map(Arc::new));
    // In the background: an issuer that starts later, or not at all, delays nothing.
    if let Some(ldap) = ldap.clone() {
        tokio::spawn(async move { ldap.log_check().await });
    }
    if let Some(oidc) = oidc.clone() {
        tokio::spawn(async move { oidc.log_check().await });
    }
    Providers {
        ldap: ldap.map(|ldap| ldap as _),
        oidc: oidc.map(|oidc| oidc as _),
    }
}

/// Each provider, or why its settings are wrong.
pub fn providers_to_check(
    settings: &Settings,
    address: SocketAddr,
    records: Arc<dyn SharedRecords>,
) -> (anyhow::Result<Option<Oidc>>, anyhow::Result<Option<Ldap>>) {
    let public_url = settings.http.public_url.clone().or_else(|| {
        let is_here = address.ip().is_loopback();
        is_here
            .then(|| format!("http://{address}").parse().ok())
            .flatten()
    });
    let oidc = settings.oidc.provider(public_url.as_ref(), records);
    (oidc, settings.ldap.provider())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_says_where_to_click() {
        let said = |address: &str, public_url: Option<&str>, is_open| {
            let public_url = public_url.map(|url| url.parse().unwrap());
            where_to_click(address.parse().unwrap(), public_url.as_ref(), is_open)
        };
        assert_eq!(
            said("0.0.0.0:7575", None, true),
            "Open http://127.0.0.1:7575 in a browser to create the administrator. Ctrl-C stops."
        );
        assert_eq!(
            said("[::]:80", None, false),
            "Open http://[::1]:80 in a browser. Ctrl-C stops."
        );
        assert_eq!(
            said("127.0.0.1:1", Some("https://portico.example"), false),
            "Open https://portico.example in a browser. Ctrl-C stops."
        );
    }
}
