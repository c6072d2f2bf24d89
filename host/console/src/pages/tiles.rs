//! Apps as people see them: tiles, and lists of bookmarks.

use serde::Deserialize;

use crate::visit::initial;

/// Schemes that run text, or open what is no page.
const NOT_OPENED: [&str; 6] = ["javascript", "vbscript", "data", "blob", "about", "file"];

/// An app, as the API answers it.
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
    /// Where the app is; empty if it has no link, or none that may be opened.
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

    pub fn initial(&self) -> String {
        initial(&self.name)
    }
}

/// Whether a stored URL is one that a link may have. (The component refuses others; this is a second lock.)
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
