//! Apps as people see them: tiles, and lists of bookmarks.

use std::collections::HashMap;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::segment;
use crate::{
    api::{Api, ApiError},
    links::may_be_opened,
    visit::initial,
};

/// Ids in one call, so that they fit into the head of a request.
const IDS_AT_ONCE: usize = 500;

/// The most apps that are ticked on a page at once.
pub(super) const MOST_PICKED: usize = 1_000;

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
    /// The mark that says whether it can be reached, as HTML; empty if it has none.
    #[serde(skip)]
    pub status: String,
}

impl App {
    /// Where the app is; empty if it has no link that may be opened.
    pub fn link(&self) -> &str {
        self.href
            .as_deref()
            .filter(|href| may_be_opened(href))
            .unwrap_or_default()
    }

    /// Whether a text that was typed is in its name, its description or the host of its link. The text is in lower case.
    pub fn fits(&self, text: &str) -> bool {
        let host = self.link().split("//").nth(1).unwrap_or_default();
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        [&self.name, self.about(), host]
            .iter()
            .any(|part| part.to_lowercase().contains(text))
    }

    pub fn about(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    pub fn ping(&self) -> &str {
        self.ping_url.as_deref().unwrap_or_default()
    }

    /// The address of its icon on this host.
    pub fn icon(&self) -> String {
        portico_icons::app_icon(&self.id, &self.icon_url, &self.name)
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
pub(crate) async fn by_ids(api: &Api, ids: Vec<&str>) -> Result<HashMap<String, App>, ApiError> {
    let apps: Vec<App> = in_parts(api, "app.byIds", ids).await?;
    Ok(apps.into_iter().map(|app| (app.id.clone(), app)).collect())
}

/// What a query returns for all of these ids, which do not fit into one call.
pub(super) async fn in_parts<T: DeserializeOwned + Send + 'static>(
    api: &Api,
    procedure: &str,
    mut ids: Vec<&str>,
) -> Result<Vec<T>, ApiError> {
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::new();
    let mut rest: Vec<&[&str]> = ids.chunks(IDS_AT_ONCE).collect();
    while let Some(ids) = rest.pop() {
        match api.query::<Vec<T>>(procedure, json!(ids)).await {
            Ok(part) => found.extend(part),
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
