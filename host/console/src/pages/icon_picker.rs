//! Choosing an icon: a field with its URL, and a search by name whose results are choices of the same form.
//!
//! Without JavaScript the search is a button that shows the form again, with what was typed. With it, `/icon-search`
//! returns the results while people type. A picture can be uploaded instead; it is stored at once, and the form has its address.

use askama::Template;
use axum::{Router, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;

use super::{PageResult, pictures, presses_search};
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    looks::is_picture,
    respond::page,
    visit::{Query, Visit, Visitor, initial},
};

/// How many icons a search shows.
const MOST_FOUND: usize = 24;

/// The longest URL of an icon that can be shown before it is used, in bytes: the address of its preview contains it.
const LONGEST_PREVIEWED: usize = 4096;

pub(super) fn routes() -> Router {
    Router::new().route("/icon-search", get(search))
}

/// An icon, as the API returns it.
#[derive(Deserialize)]
pub(super) struct Icon {
    pub name: String,
    pub url: String,
}

impl Icon {
    pub fn preview(&self) -> String {
        preview(&self.url)
    }

    pub fn initial(&self) -> String {
        initial(&self.name)
    }
}

/// The part of a form that chooses an icon.
#[derive(Default)]
pub(super) struct Picker {
    /// The URL in the field.
    pub url: String,
    /// The name that was searched for.
    pub query: String,
    /// The icons that were found; `None` before a search.
    pub found: Option<Vec<Icon>>,
    /// Whether no collection of icons could be asked.
    pub is_unreachable: bool,
}

impl Picker {
    /// The part of a form that is shown again. Repeats its search.
    pub async fn of(api: &Api, form: &Form) -> Self {
        let query = form.shown("icon-query").trim();
        Self {
            url: form.shown(field(form)).into(),
            ..Self::searched(api, query).await
        }
    }

    /// What a search finds, of which nothing is chosen. The form is useful without it.
    async fn searched(api: &Api, query: &str) -> Self {
        let mut picker = Self {
            query: query.into(),
            ..Self::default()
        };
        if query.is_empty() {
            return picker;
        }
        let input = json!({ "query": query, "limit": MOST_FOUND });
        let found = api.query("icon.search", input).await;
        picker.is_unreachable = found.is_err();
        picker.found = Some(found.unwrap_or_default());
        picker
    }

    pub fn preview(&self) -> String {
        preview(&self.url)
    }
}

/// The first icon that a name finds.
pub(super) async fn by_name(api: &Api, name: &str) -> Option<String> {
    let found = Picker::searched(api, name.trim()).await.found?;
    found.into_iter().next().map(|icon| icon.url)
}

/// The icon of exactly this name.
pub(super) async fn named(api: &Api, name: &str) -> Option<String> {
    let found = Picker::searched(api, name).await.found?;
    let icon = found.into_iter().find(|icon| icon.name == name);
    icon.map(|icon| icon.url)
}

/// Whether a form was sent to search for icons rather than to save.
pub(super) fn is_search(form: &Form) -> bool {
    presses_search(form, "icon-query", "find-icon")
}

/// The field with a picture to upload.
const FILE: &str = "icon-file";

/// Stores the picture that was chosen in a form, and puts its address into the field of the icon's URL.
pub(super) async fn take_upload(visit: &Visit, form: &mut Form) -> Result<Problems, ApiError> {
    let mut problems = Problems::default();
    if form.file(FILE).is_none() {
        return Ok(problems);
    }
    match pictures::store(visit, form, FILE).await? {
        Ok(picture) => {
            form.set("icon-choice", String::new());
            form.set("iconUrl", picture.url);
        }
        Err(problem) => problems.add("iconUrl", problem),
    }
    Ok(problems)
}

/// The icon's URL in a form that was sent: a chosen result, or otherwise the text of the field.
pub(super) fn chosen(form: &Form) -> &str {
    form.text(field(form))
}

/// The field with the icon's URL.
fn field(form: &Form) -> &'static str {
    match form.optional("icon-choice") {
        Some(_) => "icon-choice",
        None => "iconUrl",
    }
}

/// The address at which an icon is shown before an app has it; empty if there is no such address.
fn preview(icon_url: &str) -> String {
    let icon_url = icon_url.trim();
    let scheme = icon_url
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match scheme.as_str() {
        _ if icon_url
            .strip_prefix(portico_icons::PICTURES)
            .is_some_and(is_picture) =>
        {
            icon_url.into()
        }
        "data" if icon_url.starts_with("data:image/") => icon_url.into(),
        "http" | "https" if icon_url.len() <= LONGEST_PREVIEWED => {
            format!(
                "/icons/preview?url={}",
                utf8_percent_encode(icon_url, NON_ALPHANUMERIC)
            )
        }
        _ => String::new(),
    }
}

#[derive(Template)]
#[template(path = "icons_found.html")]
struct FoundIcons<'a> {
    v: &'a Visit,
    picker: Picker,
}

async fn search(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let text = query.text("icon-query").trim();
    let picker = Picker::searched(&visit.api, text).await;
    Ok(page(&FoundIcons { v: &visit, picker }))
}

#[cfg(test)]
mod tests {
    use super::preview;

    #[test]
    fn pictures_come_from_this_host_or_from_their_own_url() {
        assert_eq!(preview("data:image/png;base64,AA"), "data:image/png;base64,AA");
        assert_eq!(
            preview(" https://a.example/i.svg "),
            "/icons/preview?url=https%3A%2F%2Fa%2Eexample%2Fi%2Esvg"
        );
        let uploaded = format!("/api/pictures/{}", "0a".repeat(32));
        assert_eq!(preview(&uploaded), uploaded);
        let long = format!("https://a.example/{}", "a".repeat(4096));
        for none in [
            "",
            "/i.svg",
            "/api/pictures/../x",
            "data:text/html,x",
            "javascript:alert(1)",
            &long,
        ] {
            assert_eq!(preview(none), "", "{none}");
        }
    }
}
