//! A small dashboard with people, sessions and pages of its own, which embeds Portico.
//!
//! | routes | owner |
//! |---|---|
//! | `/session`, `/teams`, `/invitations`, `/pages`, `/engines` | the dashboard |
//! | `/portico/api/trpc`, `/portico/api/users`, `/portico/api/apps` | Portico, over the dashboard's tables and for its sessions |

pub mod database;
mod pages;
pub mod sessions;
pub mod storage;
mod teams;

use std::{sync::Arc, time::SystemTime};

use axum::{
    Json, Router,
    http::StatusCode,
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use portico::{Error, HttpSettings, Plugin};
use serde_json::json;

use self::{database::Database, sessions::Sessions};

/// The state of every handler.
#[derive(Clone)]
pub struct Dashboard {
    /// The dashboard's own database.
    pub database: Database,
    /// The users and apps, over the same database.
    pub plugin: Plugin,
}

/// The whole dashboard. Serve it with `into_make_service_with_connect_info`: sign-in needs the client's address.
pub fn router(dashboard: Dashboard) -> Router {
    let portico = dashboard
        .plugin
        .router(Arc::new(Sessions), HttpSettings::default());
    Router::new()
        .route(
            "/session",
            post(sessions::sign_in)
                .get(sessions::show)
                .delete(sessions::sign_out),
        )
        .route("/teams", post(teams::create))
        .route("/invitations", post(teams::invite))
        .route("/engines", post(teams::create_engine))
        .route("/pages", post(pages::create))
        .route("/pages/{id}", get(pages::show))
        .nest("/portico", portico)
        .layer(middleware::from_fn_with_state(
            dashboard.clone(),
            sessions::recognise,
        ))
        .with_state(dashboard)
}

/// The refusal of a request to the dashboard's own routes.
pub struct Refusal(StatusCode, String);

impl Refusal {
    fn new(status: StatusCode, message: &str) -> Self {
        Self(status, message.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "message": self.1 }))).into_response()
    }
}

/// A refusal of Portico, with its message.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(error.code.http_status());
        Self(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error.message)
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        eprintln!("the database: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The database does not work")
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// An unguessable text: a new id, or a new secret.
fn random_text() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
