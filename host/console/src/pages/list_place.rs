//! The place in a list from which a page was opened: its search and its page. Saving leads back to it.

use form_urlencoded::Serializer;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{form::Form, visit::Visit};

/// The name of the hidden field that keeps it.
pub(super) const FIELD: &str = "list";

/// The choices by which lists are filtered.
const FILTERS: [&str; 2] = ["provider", "disabled"];

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The address of a list, with its search and page.
pub(super) struct ListPlace(String);

impl ListPlace {
    /// What the address of this page keeps. Otherwise where the browser was when it opened the page, if that was the list
    /// with this path.
    pub fn of(visit: &Visit, path: &str) -> Self {
        let (_, query) = visit.here.split_once('?').unwrap_or_default();
        let mut query = form_urlencoded::parse(query.as_bytes()).take(100);
        match query.find(|(name, _)| name == FIELD) {
            Some((_, kept)) => Self::read(path, &kept),
            None => Self::read(path, visit.came_from.as_deref().unwrap_or_default()),
        }
    }

    /// The same, as a form keeps it.
    pub fn kept(form: &Form, path: &str) -> Self {
        Self::read(path, form.text(FIELD))
    }

    /// Takes from an address only what lists have, because anything can send one.
    fn read(path: &str, address: &str) -> Self {
        let query = address.split_once('?').filter(|(start, _)| *start == path);
        let (_, query) = query.unwrap_or_default();
        let mut kept = Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()).take(10) {
            let is_page =
                name == "page" && value.len() <= 7 && value.bytes().all(|byte| byte.is_ascii_digit());
            let is_filter = FILTERS.contains(&&*name) && value.len() <= 20 && is_word(&value);
            if is_page || is_filter || (name == "q" && value.len() <= 200 && !value.is_empty()) {
                kept.append_pair(&name, &value);
            }
        }
        let kept = kept.finish();
        let mark = if kept.is_empty() { "" } else { "?" };
        Self(format!("{path}{mark}{kept}"))
    }

    /// The address of a page that is reached from the list and keeps this place.
    pub fn kept_by(&self, page: &str) -> String {
        match self.0.contains('?') {
            false => page.to_owned(),
            true => format!(
                "{page}?{FIELD}={}",
                utf8_percent_encode(&self.0, NON_ALPHANUMERIC)
            ),
        }
    }

    /// The list with a note above it.
    pub fn with_note(&self, note: &str) -> String {
        noted(&self.0, note)
    }
}

/// The address of a page with a note above it.
pub(super) fn noted(page: &str, note: &str) -> String {
    let mark = if page.contains('?') { '&' } else { '?' };
    format!("{page}{mark}note={note}")
}

impl std::fmt::Display for ListPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ListPlace;

    #[test]
    fn only_search_and_page_of_the_same_list_are_kept() {
        let read = |address: &str| ListPlace::read("/apps", address).to_string();
        assert_eq!(read("/apps?q=a+b&page=3&note=saved"), "/apps?q=a+b&page=3");
        assert_eq!(
            read("/apps?provider=ldap&disabled=&x=y&page=2"),
            "/apps?provider=ldap&page=2"
        );
        let long = format!("/apps?q={}", "a".repeat(201));
        for other in [
            "",
            "/apps",
            "/users?q=a",
            "//evil.example?q=a",
            "/apps?page=x&x=y",
            &long,
        ] {
            assert_eq!(read(other), "/apps", "{other}");
        }
        assert_eq!(
            ListPlace::read("/apps", "/apps?q=%0d%0a").with_note("saved"),
            "/apps?q=%0D%0A&note=saved"
        );
        assert_eq!(ListPlace::read("/apps", "").kept_by("/apps/1"), "/apps/1");
        assert_eq!(
            ListPlace::read("/apps", "/apps?q=a&page=2").kept_by("/apps/1"),
            "/apps/1?list=%2Fapps%3Fq%3Da%26page%3D2"
        );
    }
}
