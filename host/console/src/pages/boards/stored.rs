//! A board, as the API returns and accepts it.

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::api::{Api, ApiError};

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredBoard {
    pub name: String,
    pub is_public: bool,
    pub items: Vec<StoredItem>,
    sections: serde_json::Value,
}

#[derive(Deserialize, Serialize, Debug, Clone, PartialEq)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum StoredItem {
    App { app_id: String },
    Bookmarks { app_ids: Vec<String> },
    Note {},
    Clock {},
}

impl StoredItem {
    /// The ids of its apps.
    pub fn app_ids(&self) -> &[String] {
        match self {
            Self::App { app_id } => std::slice::from_ref(app_id),
            Self::Bookmarks { app_ids } => app_ids,
            Self::Note {} | Self::Clock {} => &[],
        }
    }
}

impl StoredBoard {
    pub async fn read(api: &Api, id: &str) -> Result<Self, ApiError> {
        api.query("board.byId", json!({ "id": id })).await
    }

    /// Whether it is a list of apps and bookmarks, without sections and sizes.
    pub fn is_list(&self) -> bool {
        let item = |item: &StoredItem| {
            let mut item = json!(item);
            item["size"] = "1x1".into();
            item
        };
        let items: Vec<_> = self.items.iter().map(item).collect();
        self.sections == json!([{ "name": null, "collapsed": false, "items": items }])
    }

    /// The ids of the apps on it, as often as they are on it.
    pub fn app_ids(&self) -> Vec<&str> {
        let ids = self.items.iter().flat_map(StoredItem::app_ids);
        ids.map(String::as_str).collect()
    }

    /// A fingerprint, which differs for two states of a board: it shows a form whether the board is still as it was
    /// read.
    pub fn fingerprint(&self) -> String {
        let hash = Sha256::digest(json!(self).to_string().as_bytes());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
