//! The handlers that Portico is compared with: the work of the component, written by hand.
//!
//! They have the same HTTP server, authentication, storage driver and JSON types, and return the same bytes. On SQLite,
//! an app is created in a transaction for each call, without shared commits.

use std::{
    net::Ipv4Addr,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use argon2::{Algorithm, Argon2, Params, PasswordVerifier, Version, password_hash::phc::PasswordHash};
use axum::{
    Router,
    body::to_bytes,
    extract::{self, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use portico_http::{self as http, HttpLimits};
use portico_model::{
    App, AppInput, Provider,
    error::Error,
    time::{self, Clock, SystemClock},
};
use portico_postgres::PostgresStorage;
use portico_server::data_dir::DataDir;
use portico_service::identity::{self, Identity, PLAIN_COOKIE};
use portico_sqlite::SqliteStorage;
use portico_storage::{
    Access, AccountKey, AppFilter, AuditEntry, AuditedCall, DashboardStorage, ProviderName, Session, Slice,
    StoredApp, Viewer,
    secrets::{Secrets, SystemRandom},
};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, oneshot},
};
use unicode_normalization::UnicodeNormalization;

const LARGEST_BODY: usize = 1 << 20;
const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The permissions of which one is needed to create an app.
const MAY_CREATE: [&str; 4] = ["app-create", "app-modify-all", "app-full-all", "admin"];
/// For each call, as it is in the audit log.
const REQUEST_ID: &str = "01890000-0000-7000-8000-000000000000";

struct Native {
    storage: Arc<dyn DashboardStorage>,
    secrets: Secrets,
    /// One permit for each core.
    hashing: Arc<Semaphore>,
    /// None: apps are created through the storage driver.
    one_by_one: Option<mpsc::Sender<Job>>,
}

/// Serves on a data directory, or on this database of PostgreSQL, until the process ends.
pub fn run(data: &Path, database: Option<&str>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let data = DataDir::open(data)?;
        let storage: Arc<dyn DashboardStorage> = match database {
            None => Arc::new(SqliteStorage::open(&data.database())?),
            Some(url) => Arc::new(PostgresStorage::open(url).await?),
        };
        let one_by_one = match database {
            None => Some(write_one_by_one(&data.database())?),
            Some(_) => None,
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let native = Arc::new(Native {
            storage,
            secrets: Secrets::new(Arc::new(SystemRandom)),
            hashing: Arc::new(Semaphore::new(cores)),
            one_by_one,
        });
        let limits = HttpLimits::default();
        let routes = Router::new()
            .route("/api/apps", get(list_apps).post(create_app))
            .route("/api/apps/{id}", get(read_app))
            .route("/api/auth/sign-in", post(sign_in))
            .with_state(native);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("native listens on http://{}", listener.local_addr()?);
        let routes = http::surround(routes, &limits, &http::TrustedProxies::default());
        http::serve(listener, routes, &limits, std::future::pending()).await;
        Ok(())
    })
}

type Shared = State<Arc<Native>>;

async fn read_app(
    State(native): Shared,
    extract::Path(id): extract::Path<String>,
    headers: HeaderMap,
) -> Response {
    respond(async {
        let context = native.authenticate(&headers).await?.context(REQUEST_ID);
        let mut transaction = native.storage.begin(Access::Lookup, &context).await?;
        let app = transaction.get_app(&id, &Viewer::Everything).await?;
        app.ok_or_else(|| Error::not_found(portico_model::refusal::Missing::App))
    })
    .await
}

async fn list_apps(State(native): Shared, headers: HeaderMap) -> Response {
    respond(async {
        let identity = native.authenticate(&headers).await?;
        identity.user_id().ok_or_else(Error::unauthorized)?;
        let context = identity.context(REQUEST_ID);
        let mut transaction = native.storage.begin(Access::Lookup, &context).await?;
        Ok(transaction.list_apps(&AppFilter::EVERYTHING, Slice::ALL).await?)
    })
    .await
}

async fn create_app(State(native): Shared, request: Request) -> Response {
    respond(native.create_app(request)).await
}

async fn sign_in(State(native): Shared, request: Request) -> Response {
    respond(native.begin_session(request)).await
}

impl Native {
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Identity, Error> {
        let sent = identity::credentials_of(headers, PLAIN_COOKIE);
        let (anonymous, now) = (Identity::anonymous().context(REQUEST_ID), SystemClock.now());
        let identity = identity::authenticate(&*self.storage, sent, headers, &anonymous, now);
        Ok(identity.await?.0)
    }

    async fn create_app(&self, request: Request) -> Result<Created, Error> {
        let identity = self.authenticate(request.headers()).await?;
        let mut permissions = identity.permissions().iter();
        if !permissions.any(|permission| MAY_CREATE.contains(&&permission[..])) {
            return Err(Error::unauthorized());
        }
        let input: AppInput = read(request).await?;
        let text = |text: Option<String>| text.map(|text| line(&text, 512)).transpose();
        let address = |text: Option<String>| text.map(|text| address(&text)).transpose();
        let app = App {
            id: self.secrets.id(SystemClock.now()),
            name: line(&input.name, 64)?,
            icon_url: line(&input.icon_url, 65_536)?,
            description: text(input.description)?,
            href: address(input.href)?,
            ping_url: address(input.ping_url)?,
        };
        let name_key = name_key(&app.name);
        let stored = StoredApp { app, name_key };
        let entry = AuditEntry {
            address: Some(Ipv4Addr::LOCALHOST.into()),
            ..AuditEntry::new("app.create", REQUEST_ID).by(identity.user_id(), &identity.authentication)
        };
        if let Some(jobs) = &self.one_by_one {
            let (done, waiting) = oneshot::channel();
            jobs.send((stored.clone(), entry, done))
                .map_err(Error::internal)?;
            let inserted = waiting.await.map_err(Error::internal)?;
            inserted.map_err(Error::internal)?;
        } else {
            let audited = AuditedCall::new(entry, Arc::new(SystemClock));
            let context = identity.context(REQUEST_ID).audited(Some(Arc::new(audited)));
            let mut transaction = self.storage.begin(Access::Write, &context).await?;
            transaction.insert_apps(std::slice::from_ref(&stored)).await?;
            transaction.commit().await?;
        }
        let app = stored.app;
        let app_id = app.id.clone();
        Ok(Created { app_id, app })
    }

    async fn begin_session(&self, request: Request) -> Result<Value, Error> {
        let input: Value = read(request).await?;
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let (username, password) = (text("username"), text("password"));
        let context = Identity::anonymous().context(REQUEST_ID);
        let key = AccountKey::Name(ProviderName {
            provider: Provider::Credentials,
            name_key: name_key(username.trim()),
        });
        let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
        let account = transaction.get_account(&key).await?;
        drop(transaction);
        let account = account.filter(|account| !account.disabled);
        let account = account.ok_or_else(Error::unauthorized)?;
        let hash = account.password_hash.unwrap_or_default();
        let permit = self.hashing.clone().acquire_owned().await;
        let permit = permit.map_err(Error::internal)?;
        let verified = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let params = Params::new(19_456, 2, 1, Some(32)).ok()?;
            let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
            let hash = PasswordHash::new(&hash).ok()?;
            argon2.verify_password(password.as_bytes(), &hash).ok()
        });
        let verified = verified.await.map_err(Error::internal)?;
        verified.ok_or_else(Error::unauthorized)?;

        let now = SystemClock.now();
        let issued = self.secrets.session(self.secrets.id(now));
        let ends_at = now + SESSION_LIFETIME.as_millis() as u64;
        let session = Session {
            id: issued.id,
            user_id: account.id.clone(),
            created_at: now,
            last_used_at: now,
            expires_at: ends_at,
            ends_at,
            browser: None,
            address: None,
        };
        let mut transaction = self.storage.begin_dashboard(Access::Write, &context).await?;
        transaction.insert_session(&session, &issued.hash).await?;
        transaction.commit().await?;
        let user = json!({ "id": account.id, "name": account.name });
        Ok(json!({ "token": issued.text, "expiresAt": time::format(ends_at), "user": user }))
    }
}

/// What is returned for a new app, as in Portico.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    app_id: String,
    #[serde(flatten)]
    app: App,
}

async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Error> {
    let bytes = to_bytes(request.into_body(), LARGEST_BODY).await;
    serde_json::from_slice(&bytes.map_err(Error::internal)?).map_err(Error::internal)
}

/// A single line of text, trimmed.
fn line(text: &str, most: usize) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
        return Err(Error::invalid_field(
            "",
            format!("must have 1 to {most} characters"),
        ));
    }
    Ok(text.to_owned())
}

fn address(text: &str) -> Result<String, Error> {
    let text = line(text, 8_192)?;
    match text.parse::<Uri>() {
        Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) => Ok(text),
        _ => Err(Error::invalid_field("", "must be an address")),
    }
}

/// How names are compared, by the component's rule.
fn name_key(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// The JSON of what work returns. Which refusal it is matters to nobody here.
async fn respond<T: Serialize>(work: impl Future<Output = Result<T, Error>>) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    match work.await.map(|value| serde_json::to_string(&value)) {
        Ok(Ok(body)) => (json, body).into_response(),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.message).into_response(),
    }
}

type Job = (StoredApp, AuditEntry, oneshot::Sender<rusqlite::Result<()>>);

/// A thread that writes one transaction after the other. This is the fastest way without shared commits: there is no
/// lock to wait for, and no gap between two transactions.
fn write_one_by_one(database: &Path) -> rusqlite::Result<mpsc::Sender<Job>> {
    let mut connection = Connection::open(database)?;
    // As durable as in the storage driver.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864",
    )?;
    let (jobs, waiting) = mpsc::channel::<Job>();
    thread::spawn(move || {
        for (app, entry, done) in waiting {
            // An error means that the caller has stopped waiting.
            let _ = done.send(insert(&mut connection, &app, &entry));
        }
    });
    Ok(jobs)
}

fn insert(connection: &mut Connection, stored: &StoredApp, entry: &AuditEntry) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let StoredApp { app: a, name_key } = stored;
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = params![
        a.id,
        a.name,
        name_key,
        a.description,
        a.icon_url,
        a.href,
        a.ping_url
    ];
    transaction.prepare_cached(sql)?.execute(values)?;
    let sql = "
        INSERT INTO audit (time, actor_id, authentication, credential_id, address, request_id, procedure, target,
            created, outcome, times)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'app.create', ?7, 1, 'OK', 1)";
    let (now, address) = (
        SystemClock.now() as i64,
        entry.address.map(|address| address.to_string()),
    );
    let (actor, kind, credential) = (&entry.actor_id, &entry.authentication, &entry.credential_id);
    let values = params![now, actor, kind, credential, address, entry.request_id, a.id];
    transaction.prepare_cached(sql)?.execute(values)?;
    transaction.commit()
}
