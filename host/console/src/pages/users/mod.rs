//! `/users`: the list of users, and new ones. One user is in [`one`].

mod one;

use askama::Template;
use axum::{Router, extract::Request, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    groups::{Group, read_groups},
    list_place::ListPlace,
    paging::Pages,
};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/users", get(list))
        .route("/users/new", get(new).post(create))
        .merge(one::routes())
}

const PAGE: usize = 50;

/// The list of users.
const LIST: &str = "/users";

/// The most groups to choose from for a new user; others can be added afterwards.
const MOST_GROUPS: usize = 100;

/// Who vouches for a user.
pub(super) const PROVIDERS: [&str; 3] = ["credentials", "ldap", "oidc"];

/// A user with their preferences, as the API returns them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub email_verified: Option<String>,
    pub image: Option<String>,
    pub provider: String,
    pub home_board_id: Option<String>,
    pub mobile_home_board_id: Option<String>,
    pub first_day_of_week: u8,
    pub ping_icons_enabled: bool,
    pub default_search_engine_id: Option<String>,
    pub open_search_in_new_tab: bool,
}

impl Account {
    /// The name and the email that a form changes.
    fn person(&self) -> [(&'static str, &str); 2] {
        [
            ("name", &self.name),
            ("email", self.email.as_deref().unwrap_or_default()),
        ]
    }

    pub fn was_read(&self) -> WasRead {
        WasRead::of(&self.person())
    }

    /// Name and email that were typed, merged with those that are stored.
    pub fn merged(&self, visit: &Visit, form: &Form) -> Merged {
        let fields = self
            .person()
            .map(|(name, stored)| (name, stored, form.text(name)));
        Merged::of(visit, form, &fields)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserRow {
    id: String,
    name: String,
    email: Option<String>,
    provider: String,
    disabled: bool,
}

#[derive(Deserialize)]
struct UserRows {
    items: Vec<UserRow>,
    #[serde(rename = "totalCount")]
    total: usize,
}

#[derive(Template)]
#[template(path = "users/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    users: Vec<UserRow>,
    total: usize,
    query: &'a str,
    provider: &'a str,
    disabled: &'a str,
    pages: Pages,
}

impl ListPage<'_> {
    fn is_filtered(&self) -> bool {
        !(self.query.is_empty() && self.provider.is_empty() && self.disabled.is_empty())
    }
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let text = query.text("q").trim();
    let provider = query.text("provider");
    let provider = if PROVIDERS.contains(&provider) {
        provider
    } else {
        ""
    };
    let (disabled, is_disabled) = match query.text("disabled") {
        "yes" => ("yes", Some(true)),
        "no" => ("no", Some(false)),
        _ => ("", None),
    };
    let mut input = json!({ "page": query.page(), "pageSize": PAGE, "search": text });
    if !provider.is_empty() {
        input["provider"] = provider.into();
    }
    if let Some(disabled) = is_disabled {
        input["disabled"] = disabled.into();
    }
    let found: UserRows = visit.api.query("user.getPaginated", input).await?;
    let searched = utf8_percent_encode(text, NON_ALPHANUMERIC);
    let address = format!("/users?q={searched}&provider={provider}&disabled={disabled}&");
    Ok(page(&ListPage {
        v: &visit,
        pages: Pages::new(&address, query.page(), PAGE, found.total),
        users: found.items,
        total: found.total,
        query: text,
        provider,
        disabled,
    }))
}

#[derive(Template)]
#[template(path = "users/new.html")]
struct NewPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
    groups: Vec<Group>,
    list: ListPlace,
}

impl NewPage<'_> {
    fn is_in(&self, group: &Group) -> bool {
        self.form.all("groupIds").any(|id| id == group.id)
    }
}

/// The first groups by name.
pub(super) async fn groups_to_choose(visit: &Visit) -> Result<Vec<Group>, ApiError> {
    let mut groups = read_groups(&visit.api).await?;
    groups.truncate(MOST_GROUPS);
    Ok(groups)
}

async fn new(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    Ok(page(&NewPage {
        v: &visit,
        form: &Form::default(),
        problems: Problems::default(),
        groups: groups_to_choose(&visit).await?,
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form(request).await?;
    let groups: Vec<&str> = form.all("groupIds").collect();
    let mut input = json!({
        "username": form.text("username"),
        "password": form.text("password"),
        "groupIds": groups,
    });
    if let Some(email) = form.optional("email") {
        input["email"] = email.into();
    }
    let Err(error) = visit.api.mutate::<Value>("user.create", input).await else {
        return Ok(see(&ListPlace::kept(&form, LIST).with_note("created")));
    };
    // A group that was chosen is gone.
    let mut problems = if error.status.as_u16() == 404 {
        Problems::of(&error, &[], |text| visit.say(text))
    } else {
        visit.problems(error, &["username", "password", "email", "groupIds"])?
    };
    problems.lift("groupIds", visit.t.common.groups);
    Ok(again(&NewPage {
        v: &visit,
        form: &form,
        problems,
        groups: groups_to_choose(&visit).await?,
        list: ListPlace::kept(&form, LIST),
    }))
}
