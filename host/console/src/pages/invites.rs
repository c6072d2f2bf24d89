//! `/invites`: links with which people create their own accounts.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult, found_users::Found, groups::Group, keys::refused_day, list_place::ListPlace, paging::Pages,
    users::groups_to_choose,
};
use crate::{
    api::ApiError,
    form::{Form, Problems},
    respond::{again, page, see},
    site::origin,
    times::{Expiry, is_past},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/invites", get(list).post(create))
        .route("/invites/{id}/delete", get(ask).post(delete))
}

const PAGE: usize = 50;

/// The list of invites.
const LIST: &str = "/invites";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invite {
    pub id: String,
    expiration_date: String,
    creator: Option<Found>,
    note: Option<String>,
    groups: Vec<Found>,
}

impl Invite {
    fn is_expired(&self) -> bool {
        is_past(&self.expiration_date)
    }

    /// What it is called: for whom it is, or its id.
    pub fn title(&self) -> &str {
        self.note.as_deref().unwrap_or(&self.id)
    }

    fn groups(&self) -> String {
        let names: Vec<&str> = self.groups.iter().map(|group| &group.name[..]).collect();
        names.join(", ")
    }
}

#[derive(Template)]
#[template(path = "invites/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
    /// The link that was just created. It is shown only here.
    link: Option<String>,
    invites: Vec<Invite>,
    total: usize,
    pages: Pages,
    /// Those that an invite may give.
    groups: Vec<Group>,
}

impl ListPage<'_> {
    fn is_given(&self, group: &Group) -> bool {
        self.form.all("groupIds").any(|id| id == group.id)
    }
}

async fn list_page<'a>(
    visit: &'a Visit,
    number: u32,
    form: &'a Form,
    problems: Problems,
) -> Result<ListPage<'a>, ApiError> {
    let mut invites: Vec<Invite> = visit.api.query("invite.getAll", Value::Null).await?;
    invites.sort_by(|one, other| other.expiration_date.cmp(&one.expiration_date));
    let total = invites.len();
    let (invites, pages) = Pages::cut("/invites?", number, PAGE, invites);
    Ok(ListPage {
        v: visit,
        form,
        problems,
        link: None,
        invites,
        total,
        pages,
        groups: groups_to_choose(visit).await?,
    })
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let form = Form::default();
    Ok(page(
        &list_page(&visit, query.page(), &form, Problems::default()).await?,
    ))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    #[derive(Deserialize)]
    struct Created {
        id: String,
        token: String,
    }
    visit.user()?;
    let origin = origin(request.headers(), visit.console.public_url.as_ref());
    let form = visit.form(request).await?;
    let created = match Expiry::of(&form) {
        Expiry::At(end) => {
            let groups: Vec<&str> = form.all("groupIds").collect();
            let input = json!({ "expirationDate": end, "note": form.text("note"), "groupIds": groups });
            visit.api.mutate::<Created>("invite.createInvite", input).await
        }
        // The API accepts such a day, but a person has mistyped it.
        Expiry::Past => Err(refused_day(visit.t.keys.past_day)),
        Expiry::Never | Expiry::Unreadable => Err(refused_day(visit.t.keys.not_a_day)),
    };
    match created {
        Ok(Created { id, token }) => {
            let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let query = format!("invite={}&token={}", encoded(&id), encoded(&token));
            let none = Form::default();
            let mut shown = list_page(&visit, 1, &none, Problems::default()).await?;
            shown.link = Some(format!("{origin}/register?{query}"));
            Ok(page(&shown))
        }
        Err(error) => {
            // A group that was chosen is gone.
            let mut problems = match error.status {
                StatusCode::NOT_FOUND => Problems::of(&error, &[], |text| visit.say(text)),
                _ => visit.problems(error, &["until", "note", "groupIds"])?,
            };
            problems.lift("groupIds", visit.t.common.groups);
            Ok(again(&list_page(&visit, 1, &form, problems).await?))
        }
    }
}

#[derive(Template)]
#[template(path = "invites/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    invite: Invite,
    list: ListPlace,
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.user()?;
    let invites: Vec<Invite> = visit.api.query("invite.getAll", Value::Null).await?;
    let invite = invites.into_iter().find(|invite| invite.id == id);
    let invite = invite.ok_or_else(ApiError::not_found)?;
    let list = ListPlace::of(&visit, LIST);
    Ok(page(&DeletePage {
        v: &visit,
        invite,
        list,
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    visit
        .api
        .change("invite.deleteInvite", json!({ "id": id }))
        .await?;
    Ok(see(&ListPlace::kept(&form, LIST).with_note("deleted")))
}
