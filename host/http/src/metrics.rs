//! What HTTP counts, for the whole process.

use std::time::Duration;

use axum::http::Method;
use portico_metrics::{Family, Gauge, Histogram};

/// The template of the route that answered a request, where the router does not know it: an extension of the response.
#[derive(Clone, Copy, Debug)]
pub struct RouteTemplate(pub &'static str);

/// Method and status of an answer.
pub type Answered = (&'static str, u16);

/// The requests of clients: by the template of the route, then by method and status. Requests that no route matched have
/// an empty template.
pub static REQUESTS: Family<String, Family<Answered, Histogram>> =
    Family::new(512, || Family::new(128, Histogram::of_requests));

/// Requests whose answer is not complete.
pub static ACTIVE: Gauge = Gauge::new();

/// Connections of clients.
pub static CONNECTIONS: Gauge = Gauge::new();

/// Counts a request.
pub(crate) fn answered(route: &str, method: &Method, status: u16, time: Duration) {
    let label = (method_name(method), status);
    REQUESTS.record(route, |route| {
        route.record(&label, |times| times.observe(time));
    });
}

/// The method, if it is a known one; clients may send any other word.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        // As OpenTelemetry writes it.
        _ => "_OTHER",
    }
}
