//! `/colors`: light or dark, from the menu of the account. The page on which it was chosen is shown again.

use axum::{Router, extract::Request, routing::get};
use serde_json::json;

use super::PageResult;
use crate::{respond::see, visit::Visitor};

pub(super) fn routes() -> Router {
    Router::new().route("/colors", get(async || see("/profile")).post(choose))
}

async fn choose(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let colors = json!({ "colorScheme": form.text("colorScheme") });
    visit.api.change("user.changeColorScheme", colors).await?;
    // Pages that only a form leads to are not opened again.
    let page = visit
        .came_from
        .as_deref()
        .filter(|page| page.starts_with('/') && !page.starts_with("//"));
    Ok(see(page.filter(|page| *page != "/colors").unwrap_or("/")))
}
