//! `/apps/new` and `/apps/{id}/edit`.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use serde_json::{Value, json};

use super::super::{
    PageResult,
    icon_picker::{self, Picker},
    list_place::ListPlace,
    tiles::{App, app_path},
};
use crate::{
    api::ApiError,
    fields::WITH_ICON,
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Visit, Visitor},
};

/// The list of apps.
const LIST: &str = "/apps";

const FIELDS: [&str; 5] = ["name", "description", "iconUrl", "href", "pingUrl"];

pub(super) fn routes() -> Router {
    Router::new()
        .route("/apps/new", get(show_new).post(create))
        .route("/apps/{id}/edit", get(show).post(update))
}

#[derive(Template)]
#[template(path = "apps/edit.html")]
struct EditPage<'a> {
    v: &'a Visit,
    /// The path of the app that is changed; `None` for a new one.
    app: Option<String>,
    form: &'a Form,
    problems: Problems,
    picker: Picker,
    list: ListPlace,
}

impl EditPage<'_> {
    fn title(&self) -> &'static str {
        let t = &self.v.t.apps;
        if self.app.is_some() { t.edit } else { t.new }
    }

    /// Where the form goes.
    fn action(&self) -> String {
        match &self.app {
            Some(app) => format!("{app}/edit"),
            None => "/apps/new".into(),
        }
    }
}

async fn show_new(visit: Visitor) -> PageResult {
    visit.permitted("app-create")?;
    Ok(page(&EditPage {
        v: &visit,
        app: None,
        form: &Form::default(),
        problems: Problems::default(),
        picker: Picker::default(),
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("app-modify-all")?;
    let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
    let form = Form::filled([
        ("name", &app.name),
        ("description", app.about()),
        ("href", app.href.as_deref().unwrap_or_default()),
        ("pingUrl", app.ping()),
    ]);
    Ok(page(&EditPage {
        v: &visit,
        app: Some(app_path(&id)),
        form: &form,
        problems: Problems::default(),
        picker: Picker {
            url: app.icon_url,
            ..Picker::default()
        },
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("app-create")?;
    let form = visit.form_with(&WITH_ICON, request).await?;
    if icon_picker::is_search(&form) {
        return show_again(&visit, None, &form, None).await;
    }
    let mut input = input(&form);
    let created = match icon_picker::chosen(&form).trim() {
        // `app.createMany` accepts apps without icons, for which Portico then chooses icons by name.
        "" => visit.api.mutate::<Value>("app.createMany", json!([input])).await,
        icon_url => {
            input["iconUrl"] = icon_url.into();
            visit.api.mutate("app.create", input).await
        }
    };
    match created {
        Ok(_) => Ok(see(&ListPlace::kept(&form, LIST).with_note("created"))),
        Err(error) => show_again(&visit, None, &form, Some(error)).await,
    }
}

async fn update(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.permitted("app-modify-all")?;
    let form = visit.form_with(&WITH_ICON, request).await?;
    if icon_picker::is_search(&form) {
        return show_again(&visit, Some(&id), &form, None).await;
    }
    let mut input = input(&form);
    input["iconUrl"] = icon_picker::chosen(&form).into();
    input["id"] = id.as_str().into();
    match visit.api.change("app.update", input).await {
        Ok(()) => Ok(see(&ListPlace::kept(&form, LIST).with_note("saved"))),
        Err(error) => show_again(&visit, Some(&id), &form, Some(error)).await,
    }
}

/// The app in a form, without its icon.
fn input(form: &Form) -> Value {
    json!({
        "name": form.text("name"),
        "description": form.lines("description"),
        "href": form.optional("href"),
        "pingUrl": form.optional("pingUrl"),
    })
}

/// The form with what was typed, after a search for icons or after what the API refused.
async fn show_again(visit: &Visit, id: Option<&str>, form: &Form, refusal: Option<ApiError>) -> PageResult {
    let (status, problems) = match refusal {
        None => (StatusCode::OK, Problems::default()),
        Some(error) if error.is_of_input() => (
            StatusCode::UNPROCESSABLE_ENTITY,
            Problems::of(&error, &FIELDS, |text| visit.say(text)),
        ),
        Some(error) => return Err(error),
    };
    let again = EditPage {
        v: visit,
        app: id.map(app_path),
        form,
        problems,
        picker: Picker::of(&visit.api, form).await,
        list: ListPlace::kept(form, LIST),
    };
    Ok(page_with(status, &again))
}
