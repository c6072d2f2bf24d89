//! What the procedures of apps have in common: how an app is checked and stored.

use alloc::string::String;
use alloc::vec::Vec;

use portico_rules::refusal::Missing;

use crate::bindings::icons;
use crate::bindings::storage::StoredApp;
use crate::bindings::types::{App, Error, TextChange};
use crate::validate::change::OptionalText;
use crate::validate::{Issues, icon, text, url};
use crate::{error, names};

/// There is no such app.
pub fn app_not_found() -> Error {
    error::not_found(Missing::App)
}

/// Checks the texts of a new app, which has no id and no icon yet.
pub fn check_new(
    issues: &mut Issues,
    name: &str,
    description: &Option<String>,
    href: &Option<String>,
    ping_url: &Option<String>,
) -> App {
    let or_none = |value: &Option<String>, rule: OptionalText| value.as_deref().map_or(Ok(None), rule);
    App {
        id: String::new(),
        name: issues.check("name", text::new_app_name(name)),
        description: issues.check("description", or_none(description, text::new_description)),
        icon_url: String::new(),
        href: issues.check("href", or_none(href, url::new_href)),
        ping_url: issues.check("pingUrl", or_none(ping_url, url::ping_url)),
    }
}

/// A change of an app that satisfies all rules; its values also have to pass [`AppEdit::check_new`].
pub struct AppEdit {
    name: Option<String>,
    icon_url: Option<String>,
    description: TextChange,
    href: TextChange,
    ping_url: TextChange,
}

impl AppEdit {
    /// Notes every broken rule in the issues.
    pub fn check(
        issues: &mut Issues,
        name: Option<&str>,
        icon_url: Option<&str>,
        description: &TextChange,
        href: &TextChange,
        ping_url: &TextChange,
    ) -> Self {
        Self {
            name: issues.check("name", name.map(text::app_name).transpose()),
            icon_url: issues.check("iconUrl", icon_url.map(icon::line).transpose()),
            description: issues.check("description", description.checked(text::description)),
            href: issues.check("href", href.checked(url::href)),
            ping_url: issues.check("pingUrl", ping_url.checked(url::ping_url)),
        }
    }

    /// Refuses values that no new app may have, unless the app already has them, because they may be older than the rule.
    pub fn check_new(&self, issues: &mut Issues, present: Option<&App>) {
        let name = changed(self.name.as_deref(), present.map(|app| &*app.name));
        issues.check("name", name.map_or(Ok(()), text::keeps_direction));
        let present_one = present.and_then(|app| app.description.as_deref());
        let description = changed(self.description.text(), present_one);
        issues.check("description", description.map_or(Ok(()), text::keeps_direction));
        let icon_url = changed(self.icon_url.as_deref(), present.map(|app| &*app.icon_url));
        issues.check("iconUrl", icon_url.map_or(Ok(()), icon::safe));
    }

    /// The same for a link without its scheme. A document may have one: its host reports it.
    pub fn check_new_link(&self, issues: &mut Issues, present: &App) {
        let href = changed(self.href.text(), present.href.as_deref());
        issues.check("href", href.map_or(Ok(()), url::followed));
    }

    /// The app after the change.
    pub fn applied_to(&self, app: App) -> App {
        App {
            id: app.id,
            name: self.name.clone().unwrap_or(app.name),
            icon_url: self.icon_url.clone().unwrap_or(app.icon_url),
            description: self.description.clone().applied_to(app.description),
            href: self.href.clone().applied_to(app.href),
            ping_url: self.ping_url.clone().applied_to(app.ping_url),
        }
    }
}

/// A value that is set and that is not the present one.
fn changed<'a>(set: Option<&'a str>, present: Option<&str>) -> Option<&'a str> {
    set.filter(|set| present != Some(*set))
}

/// For each name, an icon that fits it, or otherwise the default icon.
pub fn icons_for(names: &[String]) -> Vec<String> {
    let mut found = icons::find(names).into_iter();
    let icons = names
        .iter()
        .map(|_| found.next().flatten().unwrap_or_else(icons::default_icon));
    icons.collect()
}

/// The app with its name-key.
pub fn stored(app: App) -> StoredApp {
    StoredApp {
        name_key: names::key(&app.name),
        app,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_broken_rules_of_an_app_are_found() {
        let mut issues = Issues::default();
        check_new(
            &mut issues,
            "",
            &Some("\0".into()),
            &Some("x".into()),
            &Some("ftp://x".into()),
        );
        let fields = issues.finish().unwrap_err().issues.len();
        assert_eq!(fields, 4);
    }

    #[test]
    fn absent_and_empty_texts_of_an_app_are_none() {
        let mut issues = Issues::default();
        let app = check_new(
            &mut issues,
            " Name ",
            &Some(" ".into()),
            &Some(String::new()),
            &None,
        );
        assert!(issues.finish().is_ok());
        assert_eq!(
            (app.name.as_str(), app.description, app.href, app.ping_url),
            ("Name", None, None, None)
        );
    }
}
