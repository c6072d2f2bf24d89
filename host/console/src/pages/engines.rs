//! `/engines`: search engines.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_icons::DEFAULT_ICON;
use serde_json::{Value, json};

use super::{
    PageResult,
    icon_picker::{self, Picker},
    list_place::ListPlace,
    paging::Pages,
    search_engine::Engine,
    segment,
};
use crate::{
    api::{Api, ApiError},
    edits::{Merged, WasRead},
    fields::WITH_ICON,
    form::{Form, Problems},
    links,
    respond::{page, page_with, see},
    texts::Language,
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

/// Search engines that many people use: name, short name and address.
fn known(language: Language) -> [(&'static str, &'static str, &'static str); 5] {
    let wikipedia = match language {
        Language::English => "https://en.wikipedia.org/w/index.php?search=%s",
        Language::German => "https://de.wikipedia.org/w/index.php?search=%s",
    };
    [
        ("DuckDuckGo", "d", "https://duckduckgo.com/?q=%s"),
        ("Google", "g", "https://www.google.com/search?q=%s"),
        ("Kagi", "k", "https://kagi.com/search?q=%s"),
        ("Brave", "b", "https://search.brave.com/search?q=%s"),
        ("Wikipedia", "w", wikipedia),
    ]
}

/// The one of which every household has its own; a public one would read what is searched. So people say where it is.
const OWN: (&str, &str) = ("SearXNG", "s");

/// The field for that.
const INSTANCE: &str = "instance";

/// Where an instance searches, by its address as people type it.
fn searched_at(instance: &str) -> String {
    let typed = instance.trim();
    let address = match typed.contains("://") {
        true => typed.to_owned(),
        false => links::complete(typed).unwrap_or_else(|| typed.to_owned()),
    };
    let base = address.split(['?', '#']).next().unwrap_or_default();
    let base = base.trim_end_matches('/');
    let base = base.strip_suffix("/search").unwrap_or(base);
    format!("{base}/search?q=%s")
}

#[derive(Template)]
#[template(path = "engines/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    query: &'a str,
    engines: Vec<Engine>,
    /// Those that many people use and that are not here yet.
    known: Vec<(&'static str, &'static str, &'static str)>,
    /// The one that needs an address, if it is not here yet.
    own: Option<(&'static str, &'static str)>,
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
    read: WasRead,
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
    let is_here = |name: &str| {
        engines
            .iter()
            .any(|engine| engine.name.eq_ignore_ascii_case(name))
    };
    let known = known(visit.t.language).into_iter();
    let known = known.filter(|(name, _, _)| !is_here(name)).collect();
    let own = Some(OWN).filter(|(name, _)| !is_here(name));
    let wanted = text.to_lowercase();
    engines.retain(|engine| engine.name.to_lowercase().contains(&wanted));
    let total = engines.len();
    let first = (query.page() as usize - 1) * PAGE;
    let address = format!("/engines?q={}&", utf8_percent_encode(text, NON_ALPHANUMERIC));
    Ok(page(&ListPage {
        v: &visit,
        query: text,
        known,
        own,
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
        read: WasRead::default(),
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
    let read = WasRead::of(&[
        ("name", &engine.name),
        ("short", &engine.short),
        ("urlTemplate", &engine.url_template),
        ("iconUrl", &engine.icon_url),
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
        read,
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
    let mut form = visit.form_with(&WITH_ICON, request).await?;
    let upload = icon_picker::take_upload(visit, &mut form).await?;
    if let Some(instance) = form.optional(INSTANCE).filter(|_| id.is_none()) {
        let address = searched_at(instance);
        form.set("urlTemplate", address);
    }
    let form = form;
    let mut read = WasRead::kept(&form, &FIELDS);
    let (status, problems) = if !upload.is_empty() {
        (StatusCode::UNPROCESSABLE_ENTITY, upload)
    } else if icon_picker::is_search(&form) {
        (StatusCode::OK, Problems::default())
    } else {
        let merged = merge(visit, id, &form).await?;
        let saved = match merged.problems.is_empty() {
            true => store(visit, id, &merged).await,
            false => {
                read = merged.read;
                Ok(merged.problems)
            }
        };
        match saved {
            Ok(problems) if problems.is_empty() => {
                let note = if id.is_some() { "saved" } else { "created" };
                return Ok(see(&ListPlace::kept(&form, LIST).with_note(note)));
            }
            Ok(problems) => (StatusCode::UNPROCESSABLE_ENTITY, problems),
            Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, visit.problems(error, &FIELDS)?),
        }
    };
    let again = EditPage {
        v: visit,
        engine: id.map(path),
        form: &form,
        problems,
        picker: Picker::of(&visit.api, &form).await,
        list: ListPlace::kept(&form, LIST),
        read,
    };
    Ok(page_with(status, &again))
}

/// What was typed, merged with what is stored by now. A name finds an icon where none is typed.
async fn merge(visit: &Visit, id: Option<&str>, form: &Form) -> Result<Merged, ApiError> {
    let stored = match id {
        Some(id) => Some(one(&visit.api, id).await?),
        None => None,
    };
    let icon = match icon_picker::chosen(form).trim() {
        "" => {
            let found = icon_picker::by_name(&visit.api, form.text("name")).await;
            found.unwrap_or_else(|| DEFAULT_ICON.to_owned())
        }
        typed => typed.to_owned(),
    };
    let of = |text: fn(&Engine) -> &str| stored.as_ref().map_or("", text);
    let fields: [(&str, &str, &str); 5] = [
        ("name", of(|engine| &engine.name), form.text("name")),
        ("short", of(|engine| &engine.short), form.text("short")),
        (
            "urlTemplate",
            of(|engine| &engine.url_template),
            form.text("urlTemplate"),
        ),
        ("iconUrl", of(|engine| &engine.icon_url), &icon),
        ("description", of(Engine::about), form.text("description")),
    ];
    Ok(Merged::of(visit, form, &fields))
}

/// Stores a search engine; there are no problems afterwards.
async fn store(visit: &Visit, id: Option<&str>, merged: &Merged) -> Result<Problems, ApiError> {
    let description = merged.text("description").replace("\r\n", "\n");
    let mut input = json!({
        "name": merged.text("name"),
        "short": merged.text("short"),
        "urlTemplate": merged.text("urlTemplate"),
        "iconUrl": merged.text("iconUrl"),
        "description": Some(description).filter(|text| !text.trim().is_empty()),
    });
    match id {
        None => visit.api.change("searchEngine.create", input).await?,
        Some(id) => {
            input["id"] = id.into();
            visit.api.change("searchEngine.update", input).await?;
        }
    }
    Ok(Problems::default())
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

#[cfg(test)]
mod tests {
    #[test]
    fn an_instance_is_searched_at_its_address_however_it_is_typed() {
        for (typed, expected) in [
            ("https://search.home.lan", "https://search.home.lan/search?q=%s"),
            (" search.home.lan/ ", "https://search.home.lan/search?q=%s"),
            ("nas:8888", "http://nas:8888/search?q=%s"),
            ("http://nas/searxng/search?q=x", "http://nas/searxng/search?q=%s"),
            // What is none is refused by the API, at the field that shows it.
            ("javascript:alert(1)", "javascript:alert(1)/search?q=%s"),
        ] {
            assert_eq!(super::searched_at(typed), expected, "{typed}");
        }
    }
}
