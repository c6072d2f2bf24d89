//! `portico serve`.

use std::net::SocketAddr;

use anyhow::Context as _;
use clap::Args;
use portico::http::{self, HttpLimits};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};
use tracing::{info, warn};

use super::{
    HostArgs, block_on,
    front::FrontSettings,
    host::Host,
    print,
    settings::{LimitSettings, Settings},
};

const DEFAULT_LISTEN: &str = "127.0.0.1:7575";

#[derive(Args)]
pub struct Serve {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7575]
    #[arg(long, env = "PORTICO_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    limits: LimitSettings,
    #[command(flatten)]
    front: FrontSettings,
    #[command(flatten)]
    host: HostArgs,
}

impl Serve {
    pub fn run(self, mut settings: Settings) -> anyhow::Result<()> {
        let limits = self.limits.over(&settings.limits).http();
        settings.http = self.front.over(&settings.http);
        let settings = settings.with(self.host)?;
        let listen = match self.listen.or(settings.listen) {
            Some(listen) => listen,
            None => DEFAULT_LISTEN.parse()?,
        };
        settings.start_log(false)?;
        block_on(serve(settings, listen, limits)).map(drop)
    }
}

/// Gives back the host: its data directory stays taken until all that works on it has ended.
async fn serve(settings: Settings, listen: SocketAddr, limits: HttpLimits) -> anyhow::Result<Host> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let host = Host::open(&settings).await?;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}; choose another address with --listen"))?;
    let address = listener.local_addr()?;
    let is_open = !host
        .service
        .has_users("start")
        .await
        .map_err(|error| anyhow::anyhow!(error.message))?;

    print(&format!(
        "portico listens on http://{address} with its data in {}",
        host.data.path().display()
    ))?;
    if is_open {
        info!(
            "no user exists yet; create the administrator: curl http://{address}/api/trpc/user.initUser -H \
             'content-type: application/json' -d '{{\"username\": \"NAME\", \"password\": \"PASSWORD\"}}'"
        );
        if !address.ip().is_loopback() {
            warn!(
                "onboarding is open and {address} can be reached from other machines: whoever comes first becomes \
                 the administrator"
            );
        }
    }

    let http = settings.http.http(limits);
    if !address.ip().is_loopback() && !http.is_secure() {
        warn!(
            "{address} can be reached from other machines, and passwords and sessions travel as they are: put a \
             proxy with TLS in front, and say with --public-url https://… how people reach it"
        );
    }
    let limits = http.limits.clone();
    let router = http::router(host.service.clone(), http);
    let (stop, stopped) = oneshot::channel();
    let signals = async {
        let mut signal = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        signal().await;
        let _ = stop.send(());
        signal().await;
        warn!("a second signal: calls that were accepted are given up");
    };
    // Beside the first requests: the larger the database, the longer it takes.
    let damage = async {
        match host.storage.verify().await {
            Ok(()) => std::future::pending().await,
            Err(damage) => damage,
        }
    };
    tokio::select! {
        () = http::serve(listener, router, &limits, async { drop(stopped.await) }) => {}
        () = signals => {}
        damage = damage => return Err(damage),
    }
    info!("stopped");
    Ok(host)
}
