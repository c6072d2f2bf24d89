//! `/apps/{id}/gate`: where an app is for the gate in addition to its link, and whether it passes for everyone.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    routing::get,
};
use serde::Deserialize;
use serde_json::json;

use super::super::{
    PageResult,
    tiles::{App, app_path},
};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    fields::GATE,
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/apps/{id}/gate", get(show).post(update))
}

const FIELDS: [&str; 2] = ["addresses", "isOpen"];

#[derive(Template)]
#[template(path = "apps/gate.html")]
struct GatePage<'a> {
    v: &'a Visit,
    /// The path of the app.
    path: String,
    app: App,
    form: &'a Form,
    problems: Problems,
    read: WasRead,
}

/// What the API says of an app.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gate {
    addresses: Vec<String>,
    is_open: bool,
}

impl Gate {
    async fn read(visit: &Visit, id: &str) -> Result<Self, ApiError> {
        visit.api.query("gate.byId", json!({ "id": id })).await
    }

    /// The texts of the fields.
    fn texts(&self) -> [String; 2] {
        [self.addresses.join("\n"), ticked(self.is_open).to_owned()]
    }
}

/// The text of a box that is ticked or not.
fn ticked(is_ticked: bool) -> &'static str {
    if is_ticked { "yes" } else { "" }
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("app-modify-all")?;
    let [addresses, is_open] = Gate::read(&visit, &id).await?.texts();
    let stored = [(FIELDS[0], &*addresses), (FIELDS[1], &*is_open)];
    let form = Form::filled(stored);
    Ok(page(&GatePage {
        v: &visit,
        path: app_path(&id),
        app: read_app(&visit, &id).await?,
        form: &form,
        problems: Problems::default(),
        read: WasRead::of(&stored),
    }))
}

async fn update(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.permitted("app-modify-all")?;
    let form = visit.form_with(&GATE, request).await?;
    let [addresses, is_open] = Gate::read(&visit, &id).await?.texts();
    let fields = [
        (FIELDS[0], &*addresses, form.text(FIELDS[0])),
        (FIELDS[1], &*is_open, ticked(form.is_ticked(FIELDS[1]))),
    ];
    let merged = Merged::of(&visit, &form, &fields);
    if !merged.problems.is_empty() {
        return show_again(&visit, &id, &form, merged.problems, merged.read).await;
    }
    let saved = || see(&format!("{}/gate?note=saved", app_path(&id)));
    if !merged.are_edited() {
        return Ok(saved());
    }
    // What was not edited is sent as it is stored.
    let lines = merged.text(FIELDS[0]).lines().map(str::trim);
    let addresses: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_open = !merged.text(FIELDS[1]).is_empty();
    let input = json!({ "id": id, "addresses": addresses, "isOpen": is_open });
    match visit.api.change("gate.update", input).await {
        Ok(()) => Ok(saved()),
        Err(error) => {
            let problems = visit.problems(error, &FIELDS)?;
            show_again(&visit, &id, &form, problems, WasRead::kept(&form, &FIELDS)).await
        }
    }
}

/// The form with what was typed, and with what is wrong.
async fn show_again(visit: &Visit, id: &str, form: &Form, problems: Problems, read: WasRead) -> PageResult {
    Ok(again(&GatePage {
        v: visit,
        path: app_path(id),
        app: read_app(visit, id).await?,
        form,
        problems,
        read,
    }))
}

async fn read_app(visit: &Visit, id: &str) -> Result<App, ApiError> {
    visit.api.query("app.byId", json!({ "id": id })).await
}
