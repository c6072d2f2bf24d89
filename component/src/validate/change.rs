//! Changes that keep, remove or replace a text.

use alloc::string::String;

use super::issues::Checked;
use crate::bindings::types::TextChange;

/// The rule of a text that may be absent.
pub type OptionalText = fn(&str) -> Checked<Option<String>>;

impl Default for TextChange {
    fn default() -> Self {
        Self::Keep
    }
}

impl TextChange {
    /// The change with its text checked. A text that is empty after trimming clears.
    pub fn checked(&self, rule: OptionalText) -> Checked<Self> {
        match self {
            Self::Keep => Ok(Self::Keep),
            Self::Clear => Ok(Self::Clear),
            Self::Set(text) => Ok(rule(text)?.map_or(Self::Clear, Self::Set)),
        }
    }

    /// The text that it sets.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Set(text) => Some(text),
        }
    }

    /// The text after the change.
    pub fn applied_to(self, present: Option<String>) -> Option<String> {
        match self {
            Self::Keep => present,
            Self::Clear => None,
            Self::Set(text) => Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::{email, url};

    fn set(text: &str) -> TextChange {
        TextChange::Set(text.into())
    }

    #[test]
    fn a_change_keeps_clears_or_sets() {
        let present = || Some(String::from("old"));
        assert_eq!(TextChange::Keep.applied_to(present()), present());
        assert_eq!(TextChange::Clear.applied_to(present()), None);
        assert_eq!(set("new").applied_to(None).as_deref(), Some("new"));
    }

    #[test]
    fn an_empty_text_clears_and_only_a_text_that_is_set_is_checked() {
        assert_eq!(set("  ").checked(url::href), Ok(TextChange::Clear));
        assert_eq!(set(" https://a ").checked(url::href), Ok(set("https://a")));
        assert_eq!(TextChange::Keep.checked(url::href), Ok(TextChange::Keep));
        assert_eq!(TextChange::Clear.checked(url::href), Ok(TextChange::Clear));
        assert!(set("nonsense").checked(url::href).is_err());
        assert_eq!(set(" ").checked(email::optional_email), Ok(TextChange::Clear));
        assert!(set("nonsense").checked(email::optional_email).is_err());
    }
}
