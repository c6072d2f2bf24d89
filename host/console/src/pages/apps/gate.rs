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
    fields::GATE,
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/apps/{id}/gate", get(show).post(update))
}

#[derive(Template)]
#[template(path = "apps/gate.html")]
struct GatePage<'a> {
    v: &'a Visit,
    /// The path of the app.
    path: String,
    app: App,
    form: &'a Form,
    problems: Problems,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gate {
    addresses: Vec<String>,
    is_open: bool,
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("app-modify-all")?;
    let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
    let gate: Gate = visit.api.query("gate.byId", json!({ "id": id })).await?;
    let form = Form::filled([
        ("addresses", &gate.addresses.join("\n")),
        ("isOpen", if gate.is_open { "yes" } else { "" }),
    ]);
    Ok(page(&GatePage {
        v: &visit,
        path: app_path(&id),
        app,
        form: &form,
        problems: Problems::default(),
    }))
}

async fn update(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.permitted("app-modify-all")?;
    let form = visit.form_with(&GATE, request).await?;
    let lines = form.text("addresses").lines().map(str::trim);
    let addresses: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let input = json!({ "id": id, "addresses": addresses, "isOpen": form.is_ticked("isOpen") });
    match visit.api.change("gate.update", input).await {
        Ok(()) => Ok(see(&format!("{}/gate?note=saved", app_path(&id)))),
        Err(error) => {
            let problems = visit.problems(error, &["addresses"])?;
            let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
            Ok(again(&GatePage {
                v: &visit,
                path: app_path(&id),
                app,
                form: &form,
                problems,
            }))
        }
    }
}
