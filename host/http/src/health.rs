//! Health checks: liveness and readiness.

use axum::{
    extract::{Extension, State},
    response::Response,
};
use portico_model::error::{Code, Error};
use portico_service::{
    identity::Identity,
    service::report,
    shape::{
        Shape::{self, Choice, Named, Record},
        required,
    },
};

use crate::{
    error::{self, json_response},
    request::RequestId,
    state::Shared,
};

/// The shape of a positive answer.
pub(crate) const HEALTH: Shape = Named(
    "Health",
    &Record(&[required("status", Choice(&["ok"])).about("Always `ok`.")]),
);

const OK: &str = r#"{"status":"ok"}"#;

/// Liveness: the process answers.
pub(crate) async fn live() -> Response {
    json_response(OK)
}

/// Readiness: storage answers and takes changes, and the component runs.
pub(crate) async fn ready(State(http): State<Shared>, Extension(id): Extension<RequestId>) -> Response {
    let work = async {
        http.service.storage.check().await?;
        http.service.has_users(&id.0).await?;
        http.service
            .sandbox
            .describe(Identity::anonymous().context(id.0.clone()))
            .await
    };
    match work.await {
        Ok(_) => json_response(OK),
        Err(cause) => {
            report(cause, "health.ready", &id.0);
            let message = format!("Not ready; the log says why (request {})", id.0);
            error::rest(Error::new(Code::ServiceUnavailable, message), None)
        }
    }
}
