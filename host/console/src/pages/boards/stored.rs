//! A board, as the API returns and accepts it.

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::api::{Api, ApiError};

/// The sizes of items, in the order in which a button goes through them.
pub(super) const SIZES: [&str; 4] = ["1x1", "2x1", "2x2", "wide"];

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredBoard {
    pub id: String,
    pub name: String,
    pub slug: Option<String>,
    pub is_public: bool,
    pub sections: Vec<StoredSection>,
}

#[derive(Deserialize, Serialize, Debug, Clone, PartialEq)]
pub(crate) struct StoredSection {
    pub name: Option<String>,
    pub collapsed: bool,
    pub items: Vec<PlacedItem>,
}

#[derive(Deserialize, Serialize, Debug, Clone, PartialEq)]
pub(crate) struct PlacedItem {
    #[serde(flatten)]
    pub item: StoredItem,
    pub size: String,
}

#[derive(Deserialize, Serialize, Debug, Clone, PartialEq)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum StoredItem {
    App { app_id: String },
    Bookmarks { app_ids: Vec<String> },
    Note { text: String },
    Clock { time_zone: Option<String> },
}

impl StoredItem {
    /// The ids of its apps.
    pub fn app_ids(&self) -> &[String] {
        match self {
            Self::App { app_id } => std::slice::from_ref(app_id),
            Self::Bookmarks { app_ids } => app_ids,
            Self::Note { .. } | Self::Clock { .. } => &[],
        }
    }
}

impl StoredBoard {
    pub async fn read(api: &Api, id: &str) -> Result<Self, ApiError> {
        api.query("board.byId", json!({ "id": id })).await
    }

    /// The board with this short address.
    pub async fn at(api: &Api, slug: &str) -> Result<Self, ApiError> {
        api.query("board.bySlug", json!({ "slug": slug })).await
    }

    fn items(&self) -> impl Iterator<Item = &PlacedItem> {
        self.sections.iter().flat_map(|section| &section.items)
    }

    /// How many items it has.
    pub fn count(&self) -> usize {
        self.items().count()
    }

    /// The ids of the apps on it, as often as they are on it.
    pub fn app_ids(&self) -> Vec<&str> {
        let ids = self.items().flat_map(|placed| placed.item.app_ids());
        ids.map(String::as_str).collect()
    }

    /// A fingerprint, which differs for two states of a board: it shows a form whether the board is still as it was
    /// read.
    pub fn fingerprint(&self) -> String {
        let hash = Sha256::digest(json!(self).to_string().as_bytes());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
