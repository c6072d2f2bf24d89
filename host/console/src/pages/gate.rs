//! `/gate`: where a browser gets its pass at the gate, and goes on to the app.

use axum::{Router, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::{PageResult, go_on::go_on};
use crate::{
    respond::see,
    visit::{Query, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/gate", get(show))
}

/// A page that goes on, because the form of the sign-in page may have led here.
async fn show(visit: Visitor, query: Query) -> PageResult {
    if visit.user.is_none() {
        let here = utf8_percent_encode(&visit.here, NON_ALPHANUMERIC);
        return Ok(see(&format!("/sign-in?next={here}")));
    }
    #[derive(Deserialize)]
    struct Going {
        url: String,
    }
    let next = utf8_percent_encode(query.text("next"), NON_ALPHANUMERIC);
    let going: Going = visit.api.get(&format!("/api/auth/gate?next={next}")).await?;
    let t = &visit.t.gate;
    Ok(go_on(&visit, going.url, t.opening, t.go_on))
}
