//! Icons by name: the host's side of the contract's interface `icons`.

use async_trait::async_trait;
use serde::Serialize;

/// The icon of an app whose name fits no other icon, unless the settings name another one.
pub use portico_model::DEFAULT_ICON;

/// Finds icons.
#[async_trait]
pub trait Icons: Send + Sync + 'static {
    /// For each name, the URL of an icon that fits it, or `None`.
    async fn find(&self, names: &[String]) -> Vec<Option<String>>;

    /// The icons whose names contain this text, the best first, at most `limit`. For people who choose one; the
    /// component does not call this.
    /// `None` if no collection of icons can be reached.
    async fn search(&self, _text: &str, _limit: usize) -> Option<Vec<NamedIcon>> {
        Some(Vec::new())
    }

    /// What the page at a URL says of itself, by the rules by which icons are fetched; the component does not call this.
    async fn page(&self, _url: &str) -> Result<Page, NoPage> {
        Err(NoPage::NoAnswer)
    }

    /// The URL of the variant of an icon that its collection made for a dark ground, or for a light one: the icon's own if
    /// it has none. `None` if it is not known at the moment. For pages; the component does not call this.
    async fn variant(&self, url: &str, _on_dark: bool) -> Option<String> {
        Some(url.to_owned())
    }

    /// The icon for names that fit no other icon.
    fn default_icon(&self) -> String;
}

/// What a page says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its title, on one line.
    pub title: Option<String>,
    /// The name of its application or site.
    pub application: Option<String>,
    /// The URL of its icon, which is a picture.
    pub icon_url: Option<String>,
}

/// Why a page says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPage {
    /// Nothing is fetched from its address.
    NotAllowed,
    /// Its host did not answer, or not with a page.
    NoAnswer,
    /// Too many pages are being read.
    Busy,
}

/// An icon that people may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedIcon {
    /// Lower-case words joined by `-`.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// Finds nothing.
#[derive(Debug)]
pub struct NoIcons {
    default_icon: String,
}

impl NoIcons {
    /// The default icon, which must not be empty.
    pub fn new(default_icon: impl Into<String>) -> Self {
        Self {
            default_icon: default_icon.into(),
        }
    }
}

#[async_trait]
impl Icons for NoIcons {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        vec![None; names.len()]
    }

    fn default_icon(&self) -> String {
        self.default_icon.clone()
    }
}
