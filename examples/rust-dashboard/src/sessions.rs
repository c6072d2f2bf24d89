//! The dashboard's own sessions: a cookie, a table, and a middleware that identifies callers.

use std::net::SocketAddr;

use async_trait::async_trait;
use axum::{
    Extension, Json,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use portico::{Authenticate, Authentication, Error, Identity};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Deserialize;
use serde_json::json;

use crate::{
    Dashboard, Refusal, now, random_text,
    storage::{permissions, values::hash},
};

const COOKIE: &str = "visit";
const SECONDS: i64 = 30 * 24 * 60 * 60;

/// Identifies the sender of a request, for the routes of the dashboard and of Portico alike.
pub async fn recognise(State(dashboard): State<Dashboard>, mut request: Request, next: Next) -> Response {
    let identity = match token(request.headers()) {
        Some(token) => dashboard.database.read(|db| visitor(db, token)),
        None => Ok(Identity::anonymous()),
    };
    match identity {
        Ok(identity) => {
            let identity = identity.by_cookie(request.headers());
            request.extensions_mut().insert(identity);
            next.run(request).await
        }
        Err(error) => Refusal::from(error).into_response(),
    }
}

/// Gives Portico the identity that [`recognise`] has found.
pub struct Sessions;

#[async_trait]
impl Authenticate for Sessions {
    async fn authenticate(&self, request: &Parts, _request_id: &str) -> Result<Identity, Error> {
        let identity = request.extensions.get::<Identity>();
        Ok(identity.cloned().unwrap_or_else(Identity::anonymous))
    }
}

fn visitor(db: &Connection, token: &str) -> rusqlite::Result<Identity> {
    let sql = "SELECT id, person FROM visits WHERE token_hash = ? AND ends_at > ?";
    let visit: Option<(String, String)> = db
        .prepare_cached(sql)?
        .query_row(params![hash(token), now()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(match visit {
        Some((visit, person)) => {
            let permissions = permissions(db, &person)?;
            Identity::user(person, permissions, Authentication::Session(visit))
        }
        None => Identity::anonymous(),
    })
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    // Browsers also send the cookies of other programs on this host, which may hold any bytes.
    let pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let mut pairs = pairs.filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// A name and a password to sign in with.
#[derive(Deserialize)]
pub struct Credentials {
    username: String,
    password: String,
}

/// `POST /session`. Portico checks the password; the session belongs to the dashboard.
pub async fn sign_in(
    State(dashboard): State<Dashboard>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    Json(credentials): Json<Credentials>,
) -> Result<Response, Refusal> {
    let Credentials { username, password } = credentials;
    let database = &dashboard.database;
    let sign_in = dashboard.plugin.sign_in();
    let person = sign_in.password(&username, &password, Some(address.ip())).await?;

    let token = random_text() + &random_text();
    let begun = database
        .write(|db| begin_visit(db, &person.id, &token, person.password_version))
        .await?;
    if !begun {
        let message = "The account was changed meanwhile; sign in again";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
    }
    let cookie = format!("{COOKIE}={token}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Lax");
    let answer = Json(json!({ "id": person.id, "name": person.name }));
    Ok(([(header::SET_COOKIE, cookie)], answer).into_response())
}

/// Begins a session, unless the password was set again since sign-in read this version of it, or the person is
/// disabled. Returns whether it did.
pub fn begin_visit(db: &Connection, person: &str, token: &str, version: u64) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO visits (id, token_hash, person, ends_at)
        SELECT ?1, ?2, id, ?3 FROM people WHERE id = ?4 AND password_version = ?5 AND NOT disabled";
    let ends_at = now() + SECONDS * 1000;
    let values = params![random_text(), hash(token), ends_at, person, version as i64];
    let begun = db.execute(sql, values)?;
    db.execute("DELETE FROM visits WHERE ends_at <= ?", [now()])?;
    Ok(begun == 1)
}

/// `GET /session`: the signed-in user.
pub async fn show(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Refusal> {
    let id = signed_in(&identity)?.to_owned();
    let user = dashboard.plugin.users().get_by_id(&identity, id).await?;
    Ok(Json(json!({ "user": user, "permissions": identity.permissions() })).into_response())
}

/// `DELETE /session`.
pub async fn sign_out(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
) -> Result<StatusCode, Refusal> {
    if let Authentication::Session(visit) = &identity.authentication {
        let ended = dashboard
            .database
            .write(|db| db.execute("DELETE FROM visits WHERE id = ?", [visit]));
        ended.await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The id of the signed-in user; refuses others.
pub fn signed_in(identity: &Identity) -> Result<&str, Refusal> {
    let refusal = || Refusal::new(StatusCode::UNAUTHORIZED, "Sign in first");
    identity.user_id().ok_or_else(refusal)
}

/// Refuses callers who are not administrators.
pub fn check_admin(identity: &Identity) -> Result<(), Refusal> {
    signed_in(identity)?;
    if identity
        .permissions()
        .iter()
        .any(|permission| permission == "admin")
    {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::FORBIDDEN, "Only for administrators"))
}
