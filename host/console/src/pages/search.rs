//! `/search`: what was typed into the search box, if the page itself could not handle it.
//!
//! `g cats` searches with the engine whose short name is `g`; a text that fits apps, boards or pages shows these; everything
//! else goes to the user's own search engine. Without a text it is the search box, for those who come from another page.

use axum::{Router, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    destinations::{Destinations, home_with},
    found_apps::apps,
    go_on::go_on,
    search_engine::Engine,
    tiles::BoardLink,
};
use crate::{
    respond::see,
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/search", get(search))
}

async fn search(visit: Visitor, query: Query) -> PageResult {
    let user = visit.user()?;
    let text = query.text("q").trim();
    if text.is_empty() {
        return Ok(see("/?all=1"));
    }
    let engines: Vec<Engine> = visit.api.query("searchEngine.getSelectable", Value::Null).await?;
    if let Some((short, rest)) = text.split_once(char::is_whitespace) {
        let short = short.to_lowercase();
        let engine = engines.iter().find(|engine| engine.short.to_lowercase() == short);
        if let Some(engine) = engine {
            return Ok(open(&visit, engine.address(rest.trim())));
        }
    }
    let (apps, _) = apps(&visit.api, text, 1).await?;
    let boards: Vec<BoardLink> = visit.api.query("board.getVisible", Value::Null).await?;
    // A text that only names a search engine is searched for.
    if apps.items.is_empty() && Destinations::of(&visit, &boards, &[], text).is_empty() {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Preferences {
            default_search_engine_id: Option<String>,
        }
        let preferences: Preferences = visit
            .api
            .query("user.getById", json!({ "userId": user.id }))
            .await?;
        let default = preferences.default_search_engine_id;
        let engine = engines.iter().find(|engine| Some(&engine.id) == default.as_ref());
        if let Some(engine) = engine {
            return Ok(open(&visit, engine.address(text)));
        }
    }
    Ok(see(&home_with(text)))
}

fn open(visit: &Visit, address: String) -> axum::response::Response {
    go_on(visit, address, visit.t.home.opening, visit.t.home.open_search)
}
