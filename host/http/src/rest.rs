//! REST: the routes of the procedure table.
//!
//! Path parameters, query parameters and body become the keys of one input, the same as that of the procedure call; a
//! path parameter takes precedence. A mutation without output returns an empty body.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::Body,
    extract::{Extension, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::Method,
    response::Response,
    routing::{MethodFilter, MethodRouter, on},
};
use portico_model::error::{Code, Error};
use portico_service::{
    procedures::{Output, Procedure, Route},
    shape::Shape,
    table::Table,
};
use serde_json::{Map, Value};

use super::{
    bodies,
    budget::Transfer,
    error::{self, json_response},
    fallback::wrong_method,
    request::{InputLimit, RequestId, identify, query_pairs, read_json},
    state::{Http, Shared},
};

/// The parameters of a path and their values, in order.
type Parameters = Vec<(&'static str, String)>;

pub(super) fn routes(table: &Table) -> impl Iterator<Item = (&'static str, MethodRouter<Arc<Http>>)> {
    let mut paths: BTreeMap<&'static str, Vec<(Route, Arc<Procedure>)>> = BTreeMap::new();
    for procedure in table.iter() {
        if let Some(route) = procedure.route {
            let known = paths.keys().find(|path| route.is_at(path)).copied();
            let methods = paths.entry(known.unwrap_or(route.path)).or_default();
            methods.push((route, procedure.clone()));
        }
    }
    paths.into_iter().map(|(path, methods)| {
        let mut allowed: Vec<_> = methods.iter().map(|(route, _)| route.method).collect();
        if allowed.contains(&"GET") {
            allowed.push("HEAD");
        }
        let allowed: Arc<str> = allowed.join(",").into();
        let mut router = MethodRouter::new();
        for (route, procedure) in methods {
            let handler = move |State(http): State<Shared>,
                                Extension(id): Extension<RequestId>,
                                parameters: Result<RawPathParams, RawPathParamsRejection>,
                                request: Request| async move {
                let parameters = named(&route, parameters);
                respond(&http, id, &procedure, parameters, request).await
            };
            router = router.merge(on(filter(route.method), handler));
        }
        (
            path,
            router.fallback(move |request: Request| async move { wrong_method(&request, &allowed) }),
        )
    })
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "GET" => MethodFilter::GET,
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "PATCH" => MethodFilter::PATCH,
        "DELETE" => MethodFilter::DELETE,
        method => unreachable!("the procedure table has a route with the method {method}"),
    }
}

/// The values of a path's parameters, under this route's names for them.
fn named(route: &Route, values: Result<RawPathParams, RawPathParamsRejection>) -> Result<Parameters, Error> {
    let values = values.map_err(|_| Error::new(Code::BadRequest, "Invalid URL-encoding in the path"))?;
    let values = values.iter().map(|(_, value)| value.to_owned());
    Ok(route.parameters().zip(values).collect())
}

async fn respond(
    http: &Shared,
    id: RequestId,
    procedure: &Arc<Procedure>,
    parameters: Result<Parameters, Error>,
    request: Request,
) -> Response {
    let transfer = request.extensions().get::<Arc<Transfer>>().cloned();
    match call(http, &id, procedure, parameters, request).await {
        Ok(_) if matches!(procedure.output, Shape::Nothing) => json_response(Body::empty()),
        Ok(output) => json_response(bodies::hold(transfer.as_ref(), output.into_bytes())),
        Err(error) => error::rest(error, Some(procedure.name)),
    }
}

async fn call(
    http: &Shared,
    id: &RequestId,
    procedure: &Arc<Procedure>,
    parameters: Result<Parameters, Error>,
    request: Request,
) -> Result<Output, Error> {
    let (parts, body) = request.into_parts();
    let identity = Arc::new(identify(http, &parts, id).await?);
    // Authorise before reading the body.
    let authorised = http.service.authorise(procedure, &identity, &id.0).await?;

    let mut input = if parts.method == Method::GET || parts.method == Method::HEAD {
        query_pairs(parts.uri.query()).and_then(|pairs| procedure.input.read_query(pairs))
    } else if parts.method == Method::DELETE {
        Ok(None)
    } else {
        let limit = InputLimit::of(&http.limits, [&**procedure]);
        read_json(http, &parts, body, limit).await
    };
    match (&mut input, parameters) {
        (Ok(input), Ok(parameters)) => put_parameters(input, parameters),
        (Ok(_), Err(error)) => input = Err(error),
        (Err(_), _) => {}
    }
    http.service
        .call_authorised(&authorised, &id.0, input, |output| output)
        .await
}

fn put_parameters(input: &mut Option<Value>, parameters: Parameters) {
    if parameters.is_empty() {
        return;
    }
    // The procedure's shape refuses an input that is not an object.
    if let Value::Object(object) = input.get_or_insert_with(|| Value::Object(Map::new())) {
        object.extend(
            parameters
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.into())),
        );
    }
}
