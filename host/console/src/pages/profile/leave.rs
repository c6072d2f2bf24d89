//! `/profile/delete`: users delete their own account.

use askama::Template;
use axum::{Router, extract::Request, routing::get};
use serde_json::json;

use super::PageResult;
use crate::{
    form::Problems,
    respond::{again, page, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/profile/delete", get(show).post(leave))
}

#[derive(Template)]
#[template(path = "profile/delete.html")]
struct LeavePage<'a> {
    v: &'a Visit,
    problems: Problems,
}

async fn show(visit: Visitor) -> PageResult {
    visit.user()?;
    Ok(page(&LeavePage {
        v: &visit,
        problems: Problems::default(),
    }))
}

async fn leave(visit: Visitor, request: Request) -> PageResult {
    let user = visit.user()?;
    let form = visit.form(request).await?;
    let mut problems = Problems::default();
    if !form.is_ticked("sure") {
        problems.add("sure", visit.t.profile.tick_first);
        return Ok(again(&LeavePage { v: &visit, problems }));
    }
    match visit
        .api
        .change("user.delete", json!({ "userId": user.id }))
        .await
    {
        Ok(()) => Ok(see("/sign-in?note=account-deleted")),
        Err(error) => {
            let problems = visit.problems(error, &[])?;
            Ok(again(&LeavePage { v: &visit, problems }))
        }
    }
}
