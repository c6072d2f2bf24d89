//! `/apps/delete?id=…&id=…`: deletes the apps that are ticked in the list.

use askama::Template;
use axum::{Router, extract::Request, routing::get};
use serde_json::json;

use super::super::{
    PageResult,
    list_place::ListPlace,
    tiles::{self, App},
};
use crate::{
    respond::{page, see},
    visit::{Query, Visit, Visitor},
};

/// The most apps at once: those of one page of the list.
const MOST: usize = 50;

pub(super) fn routes() -> Router {
    Router::new().route("/apps/delete", get(ask).post(delete))
}

#[derive(Template)]
#[template(path = "apps/delete_selected.html")]
struct AskPage<'a> {
    v: &'a Visit,
    apps: Vec<App>,
    list: ListPlace,
}

async fn ask(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("app-full-all")?;
    let ids: Vec<&str> = query.all("id").take(MOST).collect();
    let list = ListPlace::of(&visit, "/apps");
    let mut found = tiles::by_ids(&visit.api, ids.clone()).await?;
    let apps: Vec<App> = ids.into_iter().filter_map(|id| found.remove(id)).collect();
    if apps.is_empty() {
        return Ok(see(&list.with_note("none-ticked")));
    }
    Ok(page(&AskPage {
        v: &visit,
        apps,
        list,
    }))
}

async fn delete(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("app-full-all")?;
    let form = visit.form(request).await?;
    for id in form.all("id").take(MOST) {
        match visit.api.change("app.delete", json!({ "id": id })).await {
            Ok(()) => {}
            // Another tab was faster.
            Err(error) if error.status.as_u16() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(see(&ListPlace::kept(&form, "/apps").with_note("deleted")))
}
