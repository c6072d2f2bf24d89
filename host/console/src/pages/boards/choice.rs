//! The apps to choose from for a board: all that the reader sees, in pages.

use std::collections::HashSet;

use serde_json::json;

use super::{
    super::tiles::{App, Apps},
    draft::Draft,
};
use crate::api::{Api, ApiError};

/// Apps on a page.
const PAGE: usize = 50;

/// The apps on a page, and what is known of them.
#[derive(Default)]
pub(super) struct Choice {
    pub apps: Vec<App>,
    pub total: usize,
    pub page: u32,
    pub last: u32,
    /// The apps that are on the board.
    present: HashSet<String>,
    picked: HashSet<String>,
    /// Those that are ticked on other pages.
    pub elsewhere: Vec<String>,
}

impl Choice {
    pub async fn read(api: &Api, query: &str, page: u32) -> Result<Self, ApiError> {
        let input = |page: u32| json!({ "page": page, "pageSize": PAGE, "search": query });
        let mut found: Apps = api.query("app.getPaginated", input(page)).await?;
        let last = u32::try_from(found.total.div_ceil(PAGE).max(1)).unwrap_or(u32::MAX);
        if page > last {
            found = api.query("app.getPaginated", input(last)).await?;
        }
        Ok(Self {
            apps: found.items,
            total: found.total,
            page: page.min(last),
            last,
            ..Self::default()
        })
    }

    /// The same, for this draft and with these apps ticked.
    pub fn with(self, draft: &Draft, picked: &[String]) -> Self {
        let here: HashSet<&str> = self.apps.iter().map(|app| app.id.as_str()).collect();
        let elsewhere = picked.iter().filter(|id| !here.contains(id.as_str()));
        Self {
            elsewhere: elsewhere.cloned().collect(),
            present: draft.app_ids().map(str::to_owned).collect(),
            picked: picked.iter().cloned().collect(),
            ..self
        }
    }

    pub fn is_present(&self, app: &App) -> bool {
        self.present.contains(&app.id)
    }

    pub fn is_picked(&self, app: &App) -> bool {
        self.picked.contains(&app.id)
    }
}
