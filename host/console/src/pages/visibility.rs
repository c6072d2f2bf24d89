//! `/manage/visibility`: who sees which app. The pages of an app and of a user show what follows from it.

use askama::Template;
use axum::{Router, extract::Request, routing::get};
use serde::Deserialize;
use serde_json::json;

use super::{
    PageResult,
    home_boards::{self, HomeChoice},
    segment,
};
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Visit, Visitor},
};

/// How many apps a page of what a user sees has.
pub(super) const PAGE: usize = 20;

pub(super) fn routes() -> Router {
    Router::new().route("/manage/visibility", get(show).post(save))
}

#[derive(Template)]
#[template(path = "visibility.html")]
struct VisibilityPage<'a> {
    v: &'a Visit,
    chosen: &'a str,
    home: HomeChoice,
    section: &'a str,
    problems: Problems,
}

impl VisibilityPage<'_> {
    fn chosen(&self) -> &str {
        self.chosen
    }

    fn is_refused(&self, section: &str) -> bool {
        self.section == section
    }
}

async fn show(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    let home = HomeChoice::read(&visit, None, None).await?;
    Ok(page(&VisibilityPage {
        v: &visit,
        chosen: &visit.looks().app_visibility,
        home,
        section: "",
        problems: Problems::default(),
    }))
}

async fn save(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form(request).await?;
    let is_home = form.text("section") == "home";
    let problems = match is_home {
        true => home_boards::store(&visit, None, &form).await?,
        false => match store(&visit.api, &form).await {
            Ok(()) => Problems::default(),
            Err(error) => visit.problems(error, &[])?,
        },
    };
    if problems.is_empty() {
        return Ok(see("/manage/visibility?note=saved"));
    }
    let home = HomeChoice::read(&visit, None, is_home.then_some(&form)).await?;
    Ok(again(&VisibilityPage {
        v: &visit,
        chosen: match is_home {
            true => &visit.looks().app_visibility,
            false => form.text("appVisibility"),
        },
        home,
        section: form.text("section"),
        problems,
    }))
}

/// Stores what a form says about who sees which app.
pub(super) async fn store(api: &Api, form: &Form) -> Result<(), ApiError> {
    let input = json!({ "appVisibility": form.text("appVisibility") });
    api.change("site.update", input).await
}

/// Who sees an app.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenBy {
    pub by_everyone: bool,
    pub by_strangers: bool,
    pub boards: Vec<SeenOn>,
    board_count: usize,
    pub groups_that_see_all: Vec<Named>,
    groups_that_see_all_count: usize,
}

/// A board that an app is on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenOn {
    pub id: String,
    pub name: String,
    pub is_public: bool,
    pub creator: Option<Named>,
    pub users: Vec<Named>,
    user_count: usize,
    pub groups: Vec<Named>,
    group_count: usize,
}

/// A user or a group.
#[derive(Deserialize)]
pub(super) struct Named {
    pub id: String,
    pub name: String,
}

impl Named {
    pub fn segment(&self) -> String {
        segment(&self.id)
    }
}

impl SeenBy {
    pub async fn read(api: &Api, app_id: &str) -> Result<Self, ApiError> {
        api.query("app.seenBy", json!({ "id": app_id })).await
    }

    /// How many boards are not named.
    pub fn more_boards(&self) -> usize {
        self.board_count.saturating_sub(self.boards.len())
    }

    /// How many groups that see every app are not named.
    pub fn more_groups(&self) -> usize {
        let named = self.groups_that_see_all.len();
        self.groups_that_see_all_count.saturating_sub(named)
    }
}

impl SeenOn {
    pub fn segment(&self) -> String {
        segment(&self.id)
    }

    /// How many users and groups with which it is shared are not named.
    pub fn more(&self) -> usize {
        (self.user_count + self.group_count).saturating_sub(self.users.len() + self.groups.len())
    }
}

/// What a user sees.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seen {
    pub everything: Option<String>,
    pub items: Vec<SeenApp>,
    pub total_count: usize,
}

/// An app that a user sees.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenApp {
    pub id: String,
    pub name: String,
    icon_url: String,
    pub boards: Vec<Through>,
    board_count: usize,
}

/// A board through which they see it.
#[derive(Deserialize)]
pub(super) struct Through {
    pub id: String,
    pub name: String,
    pub by: String,
    pub group: Option<Named>,
}

impl Seen {
    pub async fn read(api: &Api, user_id: &str, number: u32) -> Result<Self, ApiError> {
        let input = json!({ "userId": user_id, "page": number, "pageSize": PAGE });
        api.query("user.seenApps", input).await
    }
}

impl SeenApp {
    pub fn icon(&self) -> String {
        portico_icons::app_icon(&self.id, &self.icon_url, &self.name)
    }

    pub fn initial(&self) -> String {
        crate::visit::initial(&self.name)
    }

    pub fn segment(&self) -> String {
        segment(&self.id)
    }

    pub fn more_boards(&self) -> usize {
        self.board_count.saturating_sub(self.boards.len())
    }
}

impl Through {
    pub fn segment(&self) -> String {
        segment(&self.id)
    }

    /// Why the user may view the board, in words.
    pub fn why(&self, v: &Visit) -> String {
        let t = &v.t.visibility;
        match (&*self.by, &self.group) {
            ("creator", _) => t.by_creator.into(),
            ("user", _) => t.by_user.into(),
            ("group", Some(group)) => v.fill(t.by_group, &group.name),
            _ => t.by_public.into(),
        }
    }
}
