//! `/groups`: the groups, which are the only source of permissions. One group is in [`one`].

mod one;

use askama::Template;
use axum::{Router, extract::Request, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PageResult, found_users::Found, paging::Pages};
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/groups", get(list))
        .route("/groups/new", get(new).post(create))
        .merge(one::routes())
}

const PAGE: usize = 50;

/// The permissions that a group may have, the strongest of each kind first.
pub(super) const PERMISSIONS: [&str; 8] = [
    "admin",
    "app-full-all",
    "app-modify-all",
    "app-create",
    "board-full-all",
    "board-modify-all",
    "board-view-all",
    "board-create",
];

/// A group, as the API returns it: with all members.
#[derive(Deserialize)]
pub(super) struct Group {
    pub id: String,
    pub name: String,
    pub permissions: Vec<String>,
    pub members: Vec<Found>,
}

impl Group {
    pub fn is_permitted(&self, permission: &str) -> bool {
        self.permissions.iter().any(|own| own == permission)
    }

    fn size(&self) -> usize {
        self.members.len()
    }
}

/// All groups, by name.
pub(super) async fn read_groups(api: &Api) -> Result<Vec<Group>, ApiError> {
    api.query("group.getAll", Value::Null).await
}

#[derive(Template)]
#[template(path = "groups/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    groups: Vec<Group>,
    total: usize,
    pages: Pages,
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let groups = read_groups(&visit.api).await?;
    let total = groups.len();
    let (groups, pages) = Pages::cut("/groups?", query.page(), PAGE, groups);
    Ok(page(&ListPage {
        v: &visit,
        groups,
        total,
        pages,
    }))
}

#[derive(Template)]
#[template(path = "groups/new.html")]
struct NewPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
}

async fn new(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    Ok(page(&NewPage {
        v: &visit,
        form: &Form::default(),
        problems: Problems::default(),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    #[derive(Deserialize)]
    struct Created {
        id: String,
    }
    let input = json!({ "name": form.text("name") });
    match visit.api.mutate::<Created>("group.createGroup", input).await {
        Ok(group) => Ok(see(&format!("{}?note=created", one::path(&group.id)))),
        Err(error) => {
            let problems = visit.problems(error, &["name"])?;
            Ok(again(&NewPage {
                v: &visit,
                form: &form,
                problems,
            }))
        }
    }
}
