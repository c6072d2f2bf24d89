//! `/keys`: the API keys of all users, for administrators.

use std::collections::HashMap;

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    found_users::{Found, find, names},
    groups::PERMISSIONS,
    list_place::ListPlace,
    paging::Pages,
};
use crate::{
    api::{ApiError, Issue},
    form::{Form, Problems},
    respond::{again, page, see},
    times::Expiry,
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/keys", get(list))
        .route("/keys/new", get(new).post(create))
        .route("/keys/{id}/delete", get(ask).post(delete))
}

/// Keys on a page. The name of each one's user is looked up.
const PAGE: usize = 25;

/// The list of keys.
const LIST: &str = "/keys";

/// A key without its secret, as the API returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiKey {
    pub id: String,
    pub name: Option<String>,
    pub user_id: String,
    /// The chosen ones; `None` for all that its user has.
    permissions: Option<Vec<String>>,
    read_only: bool,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub last_used_at: Option<String>,
}

impl ApiKey {
    /// What people call it: its name, or otherwise how it begins.
    pub fn label(&self, visit: &Visit) -> String {
        const SHOWN: usize = 16;
        match &self.name {
            Some(name) => name.clone(),
            None => visit.fill(
                visit.t.keys.unnamed,
                self.id.chars().take(SHOWN).collect::<String>(),
            ),
        }
    }

    /// What it may do of what its user may do, in words.
    pub fn allowed(&self, visit: &Visit) -> String {
        let t = &visit.t;
        let reading = self.read_only.then_some(t.keys.reads);
        let chosen = match self.permissions.as_deref() {
            None if self.read_only => Vec::new(),
            None => vec![t.keys.everything],
            Some([]) => vec![t.keys.no_permission],
            Some(chosen) => chosen.iter().map(|name| t.groups.permission(name)).collect(),
        };
        let words: Vec<&str> = reading.into_iter().chain(chosen).collect();
        words.join(", ")
    }
}

/// The box that chooses no permission.
const NO_PERMISSION: &str = "none";

/// A permission that a key may have: its name, in words, what it allows, and whether its box is ticked.
pub(super) type Choice<'a> = (&'static str, &'a str, &'a str, bool);

/// The boxes with which people choose the permissions of a key: those that fit, and none at all.
pub(super) fn choices<'a>(visit: &'a Visit, form: &Form, fits: impl Fn(&str) -> bool) -> Vec<Choice<'a>> {
    let (t, names) = (&visit.t.keys, &visit.t.groups);
    let is_ticked = |name: &str| form.all("permissions").any(|sent| sent == name);
    let offered = PERMISSIONS.into_iter().filter(|name| fits(name));
    let mut choices: Vec<_> = offered
        .map(|name| (name, names.permission(name), names.allows(name), is_ticked(name)))
        .collect();
    choices.push((NO_PERMISSION, t.none, t.none_allows, is_ticked(NO_PERMISSION)));
    choices
}

/// A key that was just created.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewKey {
    pub api_key: String,
}

/// The input of a new key: its name, when it ends, and what it may do. Without a ticked permission, it has all.
pub(super) fn wanted(visit: &Visit, form: &Form) -> Result<Value, ApiError> {
    let mut input = json!({});
    if let Some(name) = form.optional("name") {
        input["name"] = name.into();
    }
    match Expiry::of(form) {
        Expiry::At(end) => input["expiresAt"] = end.into(),
        Expiry::Never => {}
        Expiry::Past => return Err(refused_day(visit.t.keys.past_day)),
        Expiry::Unreadable => return Err(refused_day(visit.t.keys.not_a_day)),
    }
    input["readOnly"] = form.is_ticked("readOnly").into();
    if form.is_ticked("permissions") {
        let chosen = form.all("permissions").filter(|name| *name != NO_PERMISSION);
        input["permissions"] = chosen.collect::<Vec<_>>().into();
    }
    Ok(input)
}

/// The refusal of the day on which something ends.
pub(super) fn refused_day(message: &str) -> ApiError {
    let mut error = ApiError::new(StatusCode::BAD_REQUEST, message);
    error.issues.push(Issue {
        path: vec!["until".into()],
        message: message.into(),
    });
    error
}

#[derive(Template)]
#[template(path = "keys/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    keys: Vec<ApiKey>,
    names: HashMap<String, String>,
    total: usize,
    pages: Pages,
}

impl ListPage<'_> {
    /// The name of a key's user, or otherwise the id.
    fn user<'s>(&'s self, key: &'s ApiKey) -> &'s str {
        self.names.get(&key.user_id).unwrap_or(&key.user_id)
    }
}

#[derive(Template)]
#[template(path = "keys/new.html")]
struct NewPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
    /// Whose key it is to be.
    user: Found,
    query: &'a str,
    found: Vec<Found>,
    made: Option<NewKey>,
}

impl NewPage<'_> {
    fn choices(&self) -> Vec<Choice<'_>> {
        choices(self.v, self.form, |_| true)
    }
}

#[derive(Template)]
#[template(path = "keys/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    key: &'a ApiKey,
    user: String,
    list: ListPlace,
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let mut keys: Vec<ApiKey> = visit.api.query("apiKeys.getAll", Value::Null).await?;
    keys.sort_by(|one, other| other.created_at.cmp(&one.created_at));
    let total = keys.len();
    let (keys, pages) = Pages::cut("/keys?", query.page(), PAGE, keys);
    let names = names(&visit.api, keys.iter().map(|key| &*key.user_id)).await?;
    Ok(page(&ListPage {
        v: &visit,
        keys,
        names,
        total,
        pages,
    }))
}

/// The user with this id; the caller if there is no id.
async fn chosen(visit: &Visit, id: &str) -> Result<Found, ApiError> {
    let own = visit.user()?;
    let id = if id.is_empty() { &own.id } else { id };
    visit.api.query("user.getById", json!({ "userId": id })).await
}

async fn new(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("admin")?;
    let text = query.text("q").trim();
    Ok(page(&NewPage {
        v: &visit,
        form: &Form::default(),
        problems: Problems::default(),
        user: chosen(&visit, query.text("user")).await?,
        query: text,
        found: find(&visit.api, text).await?,
        made: None,
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form(request).await?;
    let made = match wanted(&visit, &form) {
        Ok(mut input) => {
            input["userId"] = form.text("user").into();
            visit.api.mutate::<NewKey>("apiKeys.create", input).await
        }
        Err(error) => Err(error),
    };
    let user = chosen(&visit, form.text("user")).await?;
    let shown = |problems, made| NewPage {
        v: &visit,
        form: &form,
        problems,
        user,
        query: "",
        found: Vec::new(),
        made,
    };
    match made {
        Ok(key) => Ok(page(&shown(Problems::default(), Some(key)))),
        Err(error) => {
            let problems = visit.problems(error, &["name", "until"])?;
            Ok(again(&shown(problems, None)))
        }
    }
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.user()?;
    let keys: Vec<ApiKey> = visit.api.query("apiKeys.getAll", Value::Null).await?;
    let key = keys
        .iter()
        .find(|key| key.id == id)
        .ok_or_else(ApiError::not_found)?;
    let names = names(&visit.api, [&*key.user_id]).await?;
    Ok(page(&DeletePage {
        v: &visit,
        key,
        user: names.get(&key.user_id).unwrap_or(&key.user_id).clone(),
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let input = json!({ "apiKeyId": id });
    visit.api.change("apiKeys.delete", input).await?;
    Ok(see(&ListPlace::kept(&form, LIST).with_note("deleted")))
}
