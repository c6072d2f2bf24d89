//! The query string of a page.

use axum::{extract::FromRequestParts, http::request::Parts};

/// The longest text of a query string that is read, in bytes. Pages repeat such texts, also in their links.
const MOST_OF_QUERY: usize = 1 << 10;

/// The query string of a page.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub fn read(parts: &Parts) -> Self {
        let query = parts.uri.query().unwrap_or_default();
        let fields = form_urlencoded::parse(query.as_bytes()).take(100);
        let fields = fields.filter(|(_, value)| value.len() <= MOST_OF_QUERY);
        Self(fields.map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// A key's text; empty if it is absent or too long.
    pub fn text(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        let found = fields.find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value)
    }

    /// Whether a key is there, with or without a text.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }

    /// All texts of a key.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.0.iter().filter(move |(field, _)| field == name);
        fields.map(|(_, value)| value.as_str())
    }

    /// The number of a page, from 1.
    pub fn page(&self) -> u32 {
        let page = self.text("page").parse().unwrap_or(1);
        u32::clamp(page, 1, 1_000_000)
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::read(parts))
    }
}
