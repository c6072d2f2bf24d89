//! Serves the dashboard.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Parser;
use portico::{Plugin, Throttle, sha256};
use rust_dashboard::{Dashboard, database::Database, router};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

/// A small dashboard that embeds Portico
#[derive(Parser)]
struct Arguments {
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The database; created if it does not exist
    #[arg(long, default_value = "dashboard.db")]
    database: PathBuf,
    /// Portico's component [default: the one that the library includes]
    #[arg(long)]
    component: Option<PathBuf>,
    /// The folder that keeps the compiled component
    #[arg(long)]
    cache: Option<PathBuf>,
    /// Do not limit attempts to sign in: something in front of the dashboard does
    #[arg(long)]
    no_throttle: bool,
    /// Print the component's SHA-256 and exit
    #[arg(long)]
    component_hash: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let component = match arguments.component {
        Some(file) => std::fs::read(file)?,
        None => portico::COMPONENT.to_vec(),
    };
    if arguments.component_hash {
        println!("{}", sha256(&component));
        return Ok(());
    }
    let database = Database::open(&arguments.database)?;
    let mut builder = Plugin::builder(Arc::new(database.clone())).component(component);
    if let Some(cache) = arguments.cache {
        builder = builder.cache(cache);
    }
    if arguments.no_throttle {
        builder = builder.throttle(Throttle::off());
    }
    let plugin = builder.build().await?;

    let listener = TcpListener::bind(arguments.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let router = router(Dashboard { database, plugin });
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let mut terminate = signal(SignalKind::terminate())?;
    axum::serve(listener, service)
        .with_graceful_shutdown(async move {
            terminate.recv().await;
        })
        .await?;
    Ok(())
}
