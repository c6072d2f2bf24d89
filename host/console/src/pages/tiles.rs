//! Apps as people see them: tiles, and lists of bookmarks.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;

use super::segment;
use crate::{
    api::{Api, ApiError},
    visit::initial,
};

/// Ids in one call, so that they fit into the head of a request.
const IDS_AT_ONCE: usize = 500;

/// Schemes that run text, or open something that is not a page.
const NOT_OPENED: [&str; 6] = ["javascript", "vbscript", "data", "blob", "about", "file"];

/// A board, as lists of boards have it.
#[derive(Deserialize)]
pub(crate) struct BoardLink {
    pub id: String,
    pub name: String,
}

/// An app, as the API returns it.
#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
pub(crate) struct App {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub icon_url: String,
    pub href: Option<String>,
    pub ping_url: Option<String>,
}

impl App {
    /// Where the app is; empty if it has no link that may be opened.
    pub fn link(&self) -> &str {
        self.href
            .as_deref()
            .filter(|href| may_be_opened(href))
            .unwrap_or_default()
    }

    pub fn about(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    pub fn ping(&self) -> &str {
        self.ping_url.as_deref().unwrap_or_default()
    }

    /// The address of its icon on this host.
    pub fn icon(&self) -> String {
        portico_icons::app_icon(&self.id, &self.icon_url)
    }

    /// Where the app is managed.
    pub fn path(&self) -> String {
        app_path(&self.id)
    }

    pub fn initial(&self) -> String {
        initial(&self.name)
    }
}

/// Where an app is managed.
pub(super) fn app_path(id: &str) -> String {
    format!("/apps/{}", segment(id))
}

/// One page of a list of apps.
#[derive(Deserialize)]
pub(crate) struct Apps {
    pub items: Vec<App>,
    /// How many there are on all pages.
    #[serde(rename = "totalCount")]
    pub total: usize,
}

/// The apps with these ids, by id. Apps that are deleted, or that the caller does not see, are absent.
pub(crate) async fn by_ids(api: &Api, mut ids: Vec<&str>) -> Result<HashMap<String, App>, ApiError> {
    ids.sort_unstable();
    ids.dedup();
    let mut found = HashMap::new();
    let mut rest: Vec<&[&str]> = ids.chunks(IDS_AT_ONCE).collect();
    while let Some(ids) = rest.pop() {
        match api.query::<Vec<App>>("app.byIds", json!(ids)).await {
            Ok(apps) => found.extend(apps.into_iter().map(|app| (app.id.clone(), app))),
            // Apps with large icons do not fit into one response.
            Err(error) if error.status.as_u16() == 409 && ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                rest.extend([first, second]);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Whether a stored URL may be used in a link. (The component refuses others; this is a second check.)
pub(crate) fn may_be_opened(href: &str) -> bool {
    let plain: String = href
        .chars()
        .filter(|letter| !letter.is_control() && !letter.is_whitespace())
        .collect();
    let Some((scheme, _)) = plain.split_once(':') else {
        return false;
    };
    let scheme = scheme.to_ascii_lowercase();
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme && !scheme.is_empty() && !NOT_OPENED.contains(&scheme.as_str())
}

#[cfg(test)]
mod tests {
    use super::may_be_opened;

    #[test]
    fn links_that_run_text_are_not_shown_as_links() {
        for good in ["https://nas.example", "HTTP://a", "ssh://host", "mailto:a@b.c"] {
            assert!(may_be_opened(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//host",
            "/path",
            "",
            "\u{1}javascript:x",
        ] {
            assert!(!may_be_opened(bad), "{bad:?}");
        }
    }
}
