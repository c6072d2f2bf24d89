//! The native server: the work of Portico without a component.
//!
//! It has the same HTTP server, middleware, authentication, storage driver and JSON types. Its handlers do
//! the work of the component natively, as one would write it by hand.

mod handlers;
mod one_by_one;

use std::{path::Path, sync::Arc, thread};

use axum::{
    Router,
    http::header,
    routing::{get, post},
};
use portico_http::{self as http, HttpLimits};
use portico_postgres::PostgresStorage;
use portico_server::data_dir::DataDir;
use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{
    Access, DashboardStorage,
    secrets::{Secrets, SystemRandom},
};
use tokio::{net::TcpListener, sync::Semaphore};
use tracing_subscriber::filter::LevelFilter;

use self::one_by_one::OneByOne;

/// The answer of the route with fixed bytes, as long as one app.
const FIXED: &str = concat!(
    r#"{"id":"01890000-0000-7000-8000-000000000000","name":"Amber archive service 000000","#,
    r#""description":"Number 0 of the apps that are measured","iconUrl":"https://icons.example/svg/archive.svg","#,
    r#""href":"https://archive-0.home.example/","pingUrl":null}"#
);

/// The state of the handlers.
struct Native {
    storage: Arc<dyn DashboardStorage>,
    secrets: Secrets,
    /// One permit for each core.
    hashing: Arc<Semaphore>,
    one_by_one: OneByOne,
}

/// Serves on a data directory, or on this database of PostgreSQL, until the process is ended.
pub fn run(data: &Path, database: Option<&str>) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(serve(data, database))
}

async fn serve(data: &Path, database: Option<&str>) -> anyhow::Result<()> {
    let data = DataDir::open(data)?;
    let storage: Arc<dyn DashboardStorage> = match database {
        None => Arc::new(SqliteStorage::open(&data.database())?),
        Some(url) => Arc::new(PostgresStorage::open(url).await?),
    };
    let context = Identity::anonymous().context("start");
    let mut look = storage
        .begin(Access::Read, &context)
        .await
        .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    look.has_users()
        .await
        .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    drop(look);
    let native = Arc::new(Native {
        storage,
        secrets: Secrets::new(Arc::new(SystemRandom)),
        hashing: Arc::new(Semaphore::new(
            thread::available_parallelism().map_or(1, usize::from),
        )),
        one_by_one: OneByOne::new(data.database()),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("native listens on http://{}", listener.local_addr()?);
    let limits = HttpLimits::default();
    http::serve(listener, router(native, &limits), &limits, std::future::pending()).await;
    Ok(())
}

fn router(native: Arc<Native>, limits: &HttpLimits) -> Router {
    let handlers = Router::new()
        .route("/api/apps", get(handlers::all).post(handlers::create))
        .route("/api/apps/one-by-one", post(handlers::create_one_by_one))
        .route("/api/apps/{id}", get(handlers::by_id))
        .route("/api/auth/sign-in", post(handlers::sign_in))
        .with_state(native);
    // The baseline: without any middleware.
    let fixed = || async { ([(header::CONTENT_TYPE, "application/json")], FIXED) };
    http::surround(handlers, limits).route("/fixed", get(fixed))
}
