//! The native handlers: the work of the component for a call.

use std::{
    net::Ipv4Addr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use argon2::{PasswordVerifier, password_hash::phc::PasswordHash};
use axum::{
    body::{Body, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, Uri, header, request::Parts},
    response::Response,
};
use bytes::Bytes;
use portico_http::RequestId;
use portico_model::{
    App, AppInput, Provider,
    error::{Code, Error},
    time::{self, Clock, SystemClock},
};
use portico_sandbox::{self as sandbox, Kind};
use portico_service::identity::{self, Identity, PLAIN_COOKIE};
use portico_storage::{
    Access, AccountKey, AppFilter, AuditEntry, AuditedCall, CallContext, ProviderName, Session, Slice,
    StoredApp, Viewer,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Native;
use crate::data::{argon2, name_key};

/// The largest body, in bytes.
const LARGEST_BODY: usize = 1 << 20;

const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

type Shared = State<Arc<Native>>;

/// `GET /api/apps/{id}`
pub async fn by_id(State(native): Shared, Path(id): Path<String>, request: Request) -> Response {
    answer(native.read_app(&id, request).await)
}

/// `GET /api/apps`
pub async fn all(State(native): Shared, request: Request) -> Response {
    let work = async {
        let (parts, _) = request.into_parts();
        let (_, context) = native
            .enter(&parts, &sandbox::Access::Protected, Kind::Query)
            .await?;
        let mut transaction = native.storage.begin(Access::Lookup, &context).await?;
        json(&transaction.list_apps(&AppFilter::EVERYTHING, Slice::ALL).await?)
    };
    answer(work.await)
}

/// `POST /api/apps`, with shared commits, as in the storage driver.
pub async fn create(State(native): Shared, request: Request) -> Response {
    let work = async {
        let (stored, identity, id) = native.read_input(request).await?;
        let audited = AuditedCall::new(entry(&identity, &id), Arc::new(SystemClock));
        let context = identity.context(id.0.clone()).audited(Some(Arc::new(audited)));
        let stored = [stored];
        let mut transaction = native.storage.begin(Access::Write, &context).await?;
        transaction.insert_apps(&stored).await?;
        transaction.commit().await?;
        let [stored] = stored;
        json(&Created::from(stored))
    };
    answer(work.await)
}

/// `POST /api/apps/one-by-one`, with a transaction and a commit for each call.
pub async fn create_one_by_one(State(native): Shared, request: Request) -> Response {
    let work = async {
        let (stored, identity, id) = native.read_input(request).await?;
        let entry = AuditEntry {
            time: SystemClock.now(),
            target: Some(stored.app.id.clone()),
            ..entry(&identity, &id)
        };
        let inserted = native.one_by_one.insert(stored.clone(), entry).await;
        inserted.map_err(Error::internal)?;
        json(&Created::from(stored))
    };
    answer(work.await)
}

/// `POST /api/auth/sign-in`
pub async fn sign_in(State(native): Shared, request: Request) -> Response {
    answer(native.begin_session(request).await)
}

impl Native {
    /// The caller, if they have the permission.
    async fn enter(
        &self,
        parts: &Parts,
        access: &sandbox::Access,
        kind: Kind,
    ) -> Result<(Identity, CallContext), Error> {
        let id = request_id(parts);
        let shown = identity::credentials_of(&parts.headers, PLAIN_COOKIE);
        let now = SystemClock.now();
        let anonymous = Identity::anonymous().context(id.0.clone());
        let (identity, _) =
            identity::authenticate(&*self.storage, shown, &parts.headers, &anonymous, now).await?;
        identity.check(access, kind)?;
        let context = identity.context(id.0.clone());
        Ok((identity, context))
    }

    async fn read_app(&self, id: &str, request: Request) -> Result<String, Error> {
        let (parts, _) = request.into_parts();
        let (_, context) = self.enter(&parts, &sandbox::Access::Public, Kind::Query).await?;
        let mut transaction = self.storage.begin(Access::Lookup, &context).await?;
        let app = transaction.get_app(id, &Viewer::Everything).await?;
        json(&app.ok_or_else(|| Error::not_found("App"))?)
    }

    /// Parses a request and checks the permission to create an app.
    async fn read_input(&self, request: Request) -> Result<(StoredApp, Identity, RequestId), Error> {
        let (parts, body) = request.into_parts();
        let (identity, _) = self.enter(&parts, &APP_CREATE, Kind::Mutation).await?;
        let input: AppInput = read(body).await?;
        let app = App {
            id: self.secrets.id(SystemClock.now()),
            name: line("name", &input.name, 64)?,
            icon_url: line("iconUrl", &input.icon_url, 65_536)?,
            description: optional(input.description, |text| line("description", text, 512))?,
            href: optional(input.href, |text| address("href", text))?,
            ping_url: optional(input.ping_url, |text| address("pingUrl", text))?,
        };
        let name_key = name_key(&app.name);
        let id = request_id(&parts);
        Ok((StoredApp { app, name_key }, identity, id))
    }

    async fn begin_session(&self, request: Request) -> Result<String, Error> {
        let (parts, body) = request.into_parts();
        let Credentials { username, password } = read(body).await?;
        let context = Identity::anonymous().context(request_id(&parts).0.clone());
        let key = AccountKey::Name(ProviderName {
            provider: Provider::Credentials,
            name_key: name_key(username.trim()),
        });
        let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
        let account = transaction.get_account(&key).await?;
        let account = account.filter(|account| !account.disabled);
        let account = account.ok_or_else(Error::unauthorized)?;
        drop(transaction);

        let hash = account.password_hash.unwrap_or_default();
        let turn = self.hashing.clone().acquire_owned().await;
        let turn = turn.map_err(Error::internal)?;
        let verified = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let hash = PasswordHash::new(&hash).ok()?;
            argon2().ok()?.verify_password(password.as_bytes(), &hash).ok()
        });
        verified
            .await
            .map_err(Error::internal)?
            .ok_or_else(Error::unauthorized)?;

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
        };
        let mut transaction = self.storage.begin_dashboard(Access::Write, &context).await?;
        let present = transaction
            .get_account(&AccountKey::Id(account.id.clone()))
            .await?;
        if present
            .is_none_or(|present| present.disabled || present.password_version != account.password_version)
        {
            return Err(Error::unauthorized());
        }
        transaction.delete_expired_sessions(now).await?;
        transaction.insert_session(&session, &issued.hash).await?;
        transaction.commit().await?;
        json(&json!({
            "token": issued.text,
            "expiresAt": time::format(session.expires_at),
            "user": { "id": account.id, "name": account.name },
        }))
    }
}

/// The audit row of a creation, as Portico writes it.
fn entry(identity: &Identity, id: &RequestId) -> AuditEntry {
    AuditEntry {
        address: Some(Ipv4Addr::LOCALHOST.into()),
        ..AuditEntry::new("app.create", &id.0).by(identity.user_id(), &identity.authentication)
    }
}

#[derive(Deserialize)]
struct Credentials {
    username: String,
    password: String,
}

/// The answer to a creation, as in Portico.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    app_id: String,
    #[serde(flatten)]
    app: App,
}

impl From<StoredApp> for Created {
    fn from(StoredApp { app, .. }: StoredApp) -> Self {
        Self {
            app_id: app.id.clone(),
            app,
        }
    }
}

/// The access of `app.create`, as the component describes it.
static APP_CREATE: LazyLock<sandbox::Access> = LazyLock::new(|| {
    let permissions = ["app-create", "app-modify-all", "app-full-all", "admin"];
    sandbox::Access::OneOf(permissions.map(Into::into).to_vec())
});

fn request_id(parts: &Parts) -> RequestId {
    let id = parts.extensions.get::<RequestId>();
    id.cloned().unwrap_or_else(|| RequestId("-".into()))
}

async fn read<T: serde::de::DeserializeOwned>(body: Body) -> Result<T, Error> {
    let invalid = |error: &dyn std::fmt::Display| Error::new(Code::BadRequest, error.to_string());
    let bytes: Bytes = to_bytes(body, LARGEST_BODY)
        .await
        .map_err(|error| invalid(&error))?;
    serde_json::from_slice(&bytes).map_err(|error| invalid(&error))
}

/// A single line of text, trimmed.
fn line(field: &str, text: &str, most: usize) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
        return Err(Error::invalid_field(
            field,
            format!("must have 1 to {most} characters"),
        ));
    }
    Ok(text.to_owned())
}

fn address(field: &str, text: &str) -> Result<String, Error> {
    let text = line(field, text, 8_192)?;
    match text.parse::<Uri>() {
        Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) => Ok(text),
        _ => Err(Error::invalid_field(field, "must be an address")),
    }
}

fn optional(
    text: Option<String>,
    rule: impl Fn(&str) -> Result<String, Error>,
) -> Result<Option<String>, Error> {
    text.filter(|text| !text.trim().is_empty())
        .map(|text| rule(&text))
        .transpose()
}

fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(Error::internal)
}

fn answer(result: Result<String, Error>) -> Response {
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => {
            let status = StatusCode::from_u16(error.code.http_status());
            let body = json!({ "message": error.message, "code": error.code.name() });
            (
                status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                body.to_string(),
            )
        }
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
