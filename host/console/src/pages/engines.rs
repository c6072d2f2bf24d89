//! `/engines`: search engines.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{
    PageResult,
    icon_picker::{self, Picker},
    list_place::ListPlace,
    paging::Pages,
    search::Engine,
    segment,
};
use crate::{
    api::{Api, ApiError},
    fields::WITH_ICON,
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Query, Visit, Visitor, initial},
};

const PAGE: usize = 50;

/// The list of search engines.
const LIST: &str = "/engines";

const FIELDS: [&str; 5] = ["name", "short", "urlTemplate", "iconUrl", "description"];

pub(super) fn routes() -> Router {
    Router::new()
        .route("/engines", get(list))
        .route("/engines/new", get(show_new).post(create))
        .route("/engines/{id}/edit", get(show).post(update))
        .route("/engines/{id}/delete", get(ask).post(delete))
}

#[derive(Template)]
#[template(path = "engines/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    query: &'a str,
    engines: Vec<Engine>,
    total: usize,
    pages: Pages,
}

#[derive(Template)]
#[template(path = "engines/edit.html")]
struct EditPage<'a> {
    v: &'a Visit,
    /// The path of the search engine that is changed; `None` for a new one.
    engine: Option<String>,
    form: &'a Form,
    problems: Problems,
    picker: Picker,
    list: ListPlace,
}

impl EditPage<'_> {
    fn title(&self) -> &'static str {
        let t = &self.v.t.engines;
        if self.engine.is_some() { t.edit } else { t.new }
    }

    /// Where the form goes.
    fn action(&self) -> String {
        match &self.engine {
            Some(engine) => format!("{engine}/edit"),
            None => "/engines/new".into(),
        }
    }
}

#[derive(Template)]
#[template(path = "engines/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    engine: Engine,
    list: ListPlace,
}

/// The API returns all search engines; the page shows a part of them.
async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("admin")?;
    let text = query.text("q").trim();
    let mut engines = all(&visit.api).await?;
    let wanted = text.to_lowercase();
    engines.retain(|engine| engine.name.to_lowercase().contains(&wanted));
    let total = engines.len();
    let first = (query.page() as usize - 1) * PAGE;
    let address = format!("/engines?q={}&", utf8_percent_encode(text, NON_ALPHANUMERIC));
    Ok(page(&ListPage {
        v: &visit,
        query: text,
        engines: engines.into_iter().skip(first).take(PAGE).collect(),
        total,
        pages: Pages::new(&address, query.page(), PAGE, total),
    }))
}

async fn show_new(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    Ok(page(&EditPage {
        v: &visit,
        engine: None,
        form: &Form::default(),
        problems: Problems::default(),
        picker: Picker::default(),
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("admin")?;
    let engine = one(&visit.api, &id).await?;
    let form = Form::filled([
        ("name", &engine.name),
        ("short", &engine.short),
        ("urlTemplate", &engine.url_template),
        ("description", engine.about()),
    ]);
    Ok(page(&EditPage {
        v: &visit,
        engine: Some(path(&id)),
        form: &form,
        problems: Problems::default(),
        picker: Picker {
            url: engine.icon_url,
            ..Picker::default()
        },
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    save(&visit, None, request).await
}

async fn update(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    save(&visit, Some(&id), request).await
}

async fn save(visit: &Visit, id: Option<&str>, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form_with(&WITH_ICON, request).await?;
    let (status, problems) = if icon_picker::is_search(&form) {
        (StatusCode::OK, Problems::default())
    } else {
        let mut input = json!({
            "name": form.text("name"),
            "short": form.text("short"),
            "urlTemplate": form.text("urlTemplate"),
            "iconUrl": icon_picker::chosen(&form),
            "description": form.lines("description"),
        });
        let saved = match id {
            None => visit.api.change("searchEngine.create", input).await,
            Some(id) => {
                input["id"] = id.into();
                visit.api.change("searchEngine.update", input).await
            }
        };
        match saved {
            Ok(()) => {
                let note = if id.is_some() { "saved" } else { "created" };
                return Ok(see(&ListPlace::kept(&form, LIST).with_note(note)));
            }
            Err(error) if error.is_of_input() => (
                StatusCode::UNPROCESSABLE_ENTITY,
                Problems::of(&error, &FIELDS, |text| visit.say(text)),
            ),
            Err(error) => return Err(error),
        }
    };
    let again = EditPage {
        v: visit,
        engine: id.map(path),
        form: &form,
        problems,
        picker: Picker::of(&visit.api, &form).await,
        list: ListPlace::kept(&form, LIST),
    };
    Ok(page_with(status, &again))
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("admin")?;
    let engine = one(&visit.api, &id).await?;
    Ok(page(&DeletePage {
        v: &visit,
        engine,
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let input = json!({ "id": id });
    visit.api.change("searchEngine.delete", input).await?;
    Ok(see(&ListPlace::kept(&form, LIST).with_note("deleted")))
}

async fn all(api: &Api) -> Result<Vec<Engine>, ApiError> {
    api.query("searchEngine.getSelectable", Value::Null).await
}

async fn one(api: &Api, id: &str) -> Result<Engine, ApiError> {
    api.query("searchEngine.byId", json!({ "id": id })).await
}

fn path(id: &str) -> String {
    format!("/engines/{}", segment(id))
}

impl Engine {
    fn about(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    fn initial(&self) -> String {
        initial(&self.name)
    }

    fn path(&self) -> String {
        path(&self.id)
    }
}
