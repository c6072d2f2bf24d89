//! Responses for paths that do not exist and for methods that a path does not have.

use axum::{extract::Request, http::header, response::Response};
use portico_model::error::{Code, Error};
use portico_model::refusal::Refusal;

use crate::error;

pub(crate) async fn only_get(request: Request) -> Response {
    wrong_method(&request, "GET,HEAD")
}

pub(crate) async fn only_post(request: Request) -> Response {
    wrong_method(&request, "POST")
}

pub(crate) fn wrong_method(request: &Request, allowed: &str) -> Response {
    let message = format!(
        "Method {} is not allowed here; allowed: {allowed}",
        request.method()
    );
    let mut response = error::rest(Error::new(Code::MethodNotSupported, message), None);
    if let Ok(allowed) = allowed.parse() {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

pub(crate) async fn unknown_path() -> Response {
    error::rest(Refusal::NothingHere.into(), None)
}
