//! `/invites`: links with which people create their own accounts.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PageResult, found_users::Found, keys::unreadable_day, paging::Pages};
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invite {
    id: String,
    expiration_date: String,
    creator: Option<Found>,
}

impl Invite {
    fn is_expired(&self) -> bool {
        is_past(&self.expiration_date)
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
            let input = json!({ "expirationDate": end });
            visit.api.mutate::<Created>("invite.createInvite", input).await
        }
        Expiry::Never | Expiry::Unreadable => Err(unreadable_day(&visit)),
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
            let problems = visit.problems(error, &["until"])?;
            Ok(again(&list_page(&visit, 1, &form, problems).await?))
        }
    }
}

#[derive(Template)]
#[template(path = "invites/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    invite: Invite,
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.user()?;
    let invites: Vec<Invite> = visit.api.query("invite.getAll", Value::Null).await?;
    let invite = invites.into_iter().find(|invite| invite.id == id);
    let invite = invite.ok_or_else(ApiError::not_found)?;
    Ok(page(&DeletePage { v: &visit, invite }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    visit.form(request).await?;
    visit
        .api
        .change("invite.deleteInvite", json!({ "id": id }))
        .await?;
    Ok(see("/invites?note=deleted"))
}
