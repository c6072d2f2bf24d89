//! The apps that fit a text, as far as they fit on one page.

use serde_json::{Value, json};

use super::tiles::Apps;
use crate::api::{Api, ApiError};

/// The most tiles on one page. With more apps, the page shows the first of them and a way to the others.
const MOST_TILES: usize = 1_000;

/// Apps on a page, if not all are on one: the largest page of the API.
pub(super) const PAGE: usize = 100;

/// The apps that fit a text, and whether these are all of them, on one page. Of more than fit on one page, those with the
/// text in their names, and the page with this number.
pub(super) async fn apps(api: &Api, text: &str, number: u32) -> Result<(Apps, bool), ApiError> {
    let input = json!({ "page": number, "pageSize": PAGE, "search": "" });
    let mut apps: Apps = api.query("app.getPaginated", input).await?;
    if apps.total > MOST_TILES {
        if !text.is_empty() {
            let input = json!({ "page": number, "pageSize": PAGE, "search": text });
            apps = api.query("app.getPaginated", input).await?;
        }
        return Ok((apps, false));
    }
    if apps.total > apps.items.len() {
        apps.items = api.query("app.all", Value::Null).await?;
    }
    let text = text.to_lowercase();
    apps.items.retain(|app| app.fits(&text));
    apps.total = apps.items.len();
    Ok((apps, true))
}
