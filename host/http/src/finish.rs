//! What a handler found, as the response.

use axum::response::Response;
use portico_model::error::Error;
use portico_service::service::report;

use crate::{error, request::RequestId};

/// The response to a request, or its error, which is already logged.
pub(super) fn finish(result: Result<Response, Error>) -> Response {
    result.unwrap_or_else(|error| error::rest(error, None))
}

/// The response to a request, or its error. Logs the cause of the error.
pub(super) fn finish_and_report(result: Result<Response, Error>, what: &str, id: &RequestId) -> Response {
    finish(result.map_err(|error| report(error, what, &id.0)))
}
