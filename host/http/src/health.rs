//! Health checks: liveness and readiness.

use axum::{
    extract::{Extension, Request, State},
    response::Response,
};
use portico_model::error::{Code, Error};
use portico_service::{
    identity::Identity,
    service::report,
    shape::{
        Shape::{self, Choice, Integer, Named, Record, Text},
        optional, required,
    },
};
use serde_json::json;

use crate::{
    error::{self, json_response},
    request::RequestId,
    server::IsStopping,
    state::Shared,
};

/// The shape of a positive response of liveness.
pub(crate) const HEALTH: Shape = Named(
    "Health",
    &Record(&[required("status", Choice(&["ok"])).about("Always `ok`.")]),
);

/// The shape of a positive response of readiness.
pub(crate) const READINESS: Shape = Named(
    "Readiness",
    &Record(&[
        required("status", Choice(&["ok"])).about("Always `ok`."),
        required("version", Text).about("The version of the host."),
        required("component", COMPONENT).about("The component that answers new requests."),
        optional("clockAheadSeconds", Integer).about(
            "By how many seconds the clock of the host's machine is ahead of the database server's, whose time is \
             used, or behind it if negative. Absent up to a minute.",
        ),
    ]),
);

const COMPONENT: Shape = Record(&[
    required("version", Text).about("The version of the contract that it was built for."),
    required("sha256", Text).about("The SHA-256 of its file, in hexadecimal digits."),
]);

/// From this many seconds on, readiness shows that a machine's clock is wrong.
const MOST_LEAD: i64 = 60;

const OK: &str = r#"{"status":"ok"}"#;

/// Liveness: the process responds.
pub(crate) async fn live() -> Response {
    json_response(OK)
}

/// Everything but liveness, while the host waits for its database.
pub(crate) async fn waiting(request: Request) -> Response {
    let message = "Not ready: the host waits for its database; the log says why";
    error::at(
        request.uri().path(),
        Error::new(Code::ServiceUnavailable, message),
    )
}

/// Readiness: the host is not about to stop, storage responds and accepts changes, and the component runs.
pub(crate) async fn ready(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    is_stopping: Option<Extension<IsStopping>>,
) -> Response {
    if is_stopping.is_some_and(|is_stopping| is_stopping.get()) {
        return error::rest(
            Error::new(Code::ServiceUnavailable, "Not ready: the host stops"),
            None,
        );
    }
    let work = async {
        http.service.storage.check().await?;
        http.service.has_users(&id.0).await?;
        http.service
            .sandbox
            .describe(Identity::anonymous().context(id.0.clone()))
            .await
    };
    match work.await {
        Ok(_) => {
            let component = http.service.sandbox.version();
            let mut answer = json!({
                "status": "ok",
                "version": env!("CARGO_PKG_VERSION"),
                "component": { "version": component.contract, "sha256": component.sha256 },
            });
            let lead = http.service.clock.lead() / 1000;
            if lead.abs() > MOST_LEAD {
                answer["clockAheadSeconds"] = lead.into();
            }
            json_response(answer.to_string())
        }
        Err(cause) => {
            report(cause, "health.ready", &id.0);
            let message = format!("Not ready; the log says why (request {})", id.0);
            error::rest(Error::new(Code::ServiceUnavailable, message), None)
        }
    }
}
