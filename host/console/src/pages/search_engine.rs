//! A search engine, and where it searches.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// A search engine, as the API returns it.
#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Engine {
    pub id: String,
    pub name: String,
    pub short: String,
    pub url_template: String,
    pub icon_url: String,
    pub description: Option<String>,
}

impl Engine {
    pub fn icon(&self) -> String {
        portico_icons::engine_icon(&self.id, &self.icon_url, &self.name)
    }

    /// Its first page, if its template has a host.
    pub fn site(&self) -> Option<String> {
        let (scheme, rest) = self.url_template.trim().split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        let is_host = !host.is_empty() && !host.contains("%s");
        is_host.then(|| format!("{scheme}://{host}/"))
    }

    /// Where it searches for a text.
    pub fn address(&self, text: &str) -> String {
        let text = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        self.url_template.trim().replace("%s", &text)
    }
}
