//! Homarr's REST routes that Portico does not have, or has in another form.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::Request,
    http::{Method, StatusCode, header},
    response::Response,
};
use portico_http::{read_json_bytes, read_query};
use portico_model::error::Code;
use serde_json::{Map, Value};

use crate::{
    Compat,
    caller::Caller,
    form,
    outcome::{self, Failure, Outcome},
    procedures::{self, Kind},
};

/// A route: method, path and the procedure behind it, which may be one of Portico's.
struct Route {
    method: Method,
    /// `{key}` becomes a key of the input.
    path: &'static str,
    procedure: &'static str,
}

const fn route(method: Method, path: &'static str, procedure: &'static str) -> Route {
    Route {
        method,
        path,
        procedure,
    }
}

static ROUTES: &[Route] = &[
    route(Method::GET, "/api/info", "info.getInfo"),
    route(
        Method::PATCH,
        "/api/users/{userId}/changePassword",
        "user.changePassword",
    ),
    route(Method::PATCH, "/api/users/changeHome", "user.changeHomeBoards"),
    route(
        Method::PATCH,
        "/api/users/{userId}/changeHome",
        "user.changeHomeBoards",
    ),
    route(
        Method::PATCH,
        "/api/users/search-preferences",
        "user.changeSearchPreferences",
    ),
    route(
        Method::PATCH,
        "/api/users/changeSearchEngine",
        "user.changeDefaultSearchEngine",
    ),
    route(
        Method::PATCH,
        "/api/users/{userId}/search-preferences",
        "user.changeSearchPreferences",
    ),
    route(
        Method::PATCH,
        "/api/users/firstDayOfWeek",
        "user.changeFirstDayOfWeek",
    ),
    route(
        Method::PATCH,
        "/api/users/{id}/firstDayOfWeek",
        "user.changeFirstDayOfWeek",
    ),
    route(Method::PATCH, "/api/users/changeScheme", "user.changeColorScheme"),
    route(
        Method::PATCH,
        "/api/users/{userId}/changeScheme",
        "user.changeColorScheme",
    ),
    route(
        Method::PATCH,
        "/api/users/right-click-widgets",
        "user.changeEnableRightClickOnWidgets",
    ),
    route(Method::PATCH, "/api/users/ddg-bangs", "user.changeDdgBangs"),
    route(Method::GET, "/api/users/selectable", "user.selectable"),
    route(Method::GET, "/api/users/preferences", "user.getPreferences"),
    route(Method::PATCH, "/api/users/preferences", "user.updatePreferences"),
    route(Method::GET, "/api/users/{userId}", "user.getById"),
    route(Method::POST, "/api/apps", "app.create"),
    route(Method::PATCH, "/api/apps/{id}", "app.update"),
    route(Method::GET, "/api/apps/paginated", "app.getPaginated"),
    route(Method::GET, "/api/boards", "board.getAllBoards"),
    route(Method::POST, "/api/boards", "board.createBoard"),
    route(Method::POST, "/api/boards/items", "board.addItem"),
    route(Method::POST, "/api/boards/{id}/duplicate", "board.duplicateBoard"),
    route(Method::PATCH, "/api/boards/{id}/name", "board.renameBoard"),
    route(
        Method::PATCH,
        "/api/boards/{id}/visibility",
        "board.changeBoardVisibility",
    ),
    route(Method::PATCH, "/api/boards/{id}/home", "board.setHomeBoard"),
    route(
        Method::PATCH,
        "/api/boards/{id}/mobile-home",
        "board.setMobileHomeBoard",
    ),
    route(
        Method::PATCH,
        "/api/boards/{id}/settings",
        "board.savePartialBoardSettings",
    ),
];

/// Portico's routes that must not be mistaken for a route with a parameter.
const PASSED: [&str; 1] = ["/api/users/paginated"];

/// All routes: method, path and procedure.
pub(crate) fn routes() -> impl Iterator<Item = (&'static Method, &'static str, &'static str)> {
    ROUTES
        .iter()
        .map(|route| (&route.method, route.path, route.procedure))
}

/// The route of a request.
pub(crate) struct Found {
    route: &'static Route,
    parameters: Map<String, Value>,
}

/// The route of a request, if it is one of this crate.
pub(crate) fn find(method: &Method, path: &str) -> Option<Found> {
    if PASSED.contains(&path) {
        return None;
    }
    ROUTES
        .iter()
        .filter(|route| route.method == method)
        .find_map(|route| {
            let (own, sent) = (route.path.split('/'), path.split('/'));
            if own.clone().count() != sent.clone().count() {
                return None;
            }
            let mut parameters = Map::new();
            for (part, value) in own.zip(sent) {
                match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                    Some(key) => {
                        parameters.insert(key.to_owned(), form::unescape(value).into());
                    }
                    None if part == value => {}
                    None => return None,
                }
            }
            Some(Found { route, parameters })
        })
}

pub(crate) async fn respond(compat: &Arc<Compat>, found: Found, request: Request) -> Response {
    let name = found.route.procedure;
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().map(ToOwned::to_owned);
    let caller = Caller::new(compat, parts);
    let outcome = call(&caller, found, query.as_deref(), body).await;
    answer_of(&caller, outcome, name)
}

async fn call(caller: &Caller, found: Found, query: Option<&str>, body: Body) -> Outcome {
    let Found { route, parameters } = found;
    let sent = if [Method::GET, Method::DELETE].contains(&route.method) {
        None
    } else {
        // The caller is identified before the body is read.
        caller.user().await?;
        Some(caller.read(body).await?)
    };
    let _turn = caller.turn().await?;
    let mut input: Map<String, Value> = match sent {
        None => read_query(query)?
            .into_iter()
            .map(|(key, value)| (key, value.into()))
            .collect(),
        Some(body) => match read_json_bytes(caller.headers(), caller.extensions(), body).await? {
            None => Map::new(),
            Some(Value::Object(input)) => input,
            Some(_) => return Err(Failure::new(Code::BadRequest, "The input must be an object")),
        },
    };
    input.extend(parameters);
    let input = Value::Object(input);
    match procedures::find(route.procedure) {
        Some(procedure) => {
            debug_assert!((procedure.kind == Kind::Query) == (route.method == Method::GET));
            (procedure.run)(caller, input).await
        }
        None if route.method == Method::GET => caller.query(route.procedure, input).await,
        None => caller.mutate(route.procedure, input).await,
    }
}

/// The response of a REST route.
fn answer_of(caller: &Caller, outcome: Outcome, name: &str) -> Response {
    match outcome {
        Ok(output) => {
            let body = output.json.map(|json| json.to_string()).unwrap_or_default();
            let body = caller.body(body);
            let mut response = outcome::json_response(StatusCode::OK, body);
            for cookie in output.cookies {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(failure) => failure.rest(name),
    }
}
