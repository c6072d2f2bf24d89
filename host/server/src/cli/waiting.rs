//! A host whose database is away when it starts: it is alive, not ready, and tries again.

use std::{
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use anyhow::anyhow;
use portico_http::{self as http, HttpLimits};
use portico_server::data_dir::DataDir;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{database::Database, listen::listen, notify, settings::Settings};

const INTERVAL: Duration = Duration::from_secs(1);

/// Opens the database as soon as it is there. If it has to wait for that, it listens on this address meanwhile, and
/// leaves the listener for the service.
pub async fn open_when_there(
    settings: &Settings,
    data: &DataDir,
    address: SocketAddr,
    listener: &mut Option<TcpListener>,
) -> anyhow::Result<Database> {
    let mut first = Box::pin(Database::open(settings, data));
    let (mut opening, away) = match timeout(INTERVAL, &mut first).await {
        Ok(Err(error)) if Database::is_away(&error) => (None, error),
        Ok(opened) => return opened,
        Err(_) => (Some(first), anyhow!("it has not answered yet")),
    };
    let shared = listener.insert(listen(address).await?).try_clone()?;
    let address = shared.local_addr()?;
    warn!("not ready, on http://{address}: waiting for the database: {away:#}");
    // It answers, and a start that takes longer than systemd waits would be a failed one.
    notify::ready("Waits for its database");
    let mut opened = None;
    let retry = async {
        opened = loop {
            let tried = match opening.take() {
                Some(opening) => opening.await,
                None => {
                    sleep(INTERVAL).await;
                    Database::open(settings, data).await
                }
            };
            match tried {
                Err(error) if Database::is_away(&error) => {}
                opened => break Some(opened),
            }
        };
    };
    let limits = HttpLimits {
        stop_time: INTERVAL,
        ..HttpLimits::default()
    };
    let shared = tokio::net::TcpListener::from_std(shared)?;
    http::serve(shared, http::waiting_router(&limits), &limits, retry).await;
    if matches!(opened, Some(Ok(_))) {
        info!("the database is there");
    }
    opened.unwrap_or(Err(away))
}
