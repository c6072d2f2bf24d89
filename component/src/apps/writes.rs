//! Creating, changing and deleting apps.

use alloc::string::String;
use alloc::vec::Vec;

use super::app_not_found;
use crate::access::authorise;
use crate::bindings::icons;
use crate::bindings::storage::StoredApp;
use crate::bindings::types::{App, AppChange, AppDraft, AppInput, Caller, Error, TextChange};
use crate::procedures::Procedure;
use crate::validate::change::OptionalText;
use crate::validate::{self, Checked, Issues, field, icon, number, text, url};
use crate::{environment, names, transaction};

/// The most apps of one call of `app.createMany`.
const MAX_APPS: usize = 1000;

/// `app.create`
pub fn create(caller: &Caller, input: &AppInput) -> Result<App, Error> {
    authorise(caller, Procedure::AppCreate)?;
    let mut issues = Issues::default();
    let mut app = check(
        &mut issues,
        &input.name,
        &input.description,
        &input.href,
        &input.ping_url,
    );
    app.icon_url = issues.check("iconUrl", icon::icon_url(&input.icon_url));
    issues.finish()?;

    app.id = environment::new_id();
    let stored = [stored(app)];
    transaction::write(|transaction| Ok(transaction.insert_apps(&stored)?))?;
    let [StoredApp { app, .. }] = stored;
    Ok(app)
}

/// `app.createMany`
pub fn create_many(caller: &Caller, inputs: &[AppDraft]) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppCreateMany)?;
    validate::whole(number::items(inputs.len(), 1..=MAX_APPS))?;
    let mut issues = Issues::default();
    let mut apps = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        issues.enter_item(index);
        let mut app = check(
            &mut issues,
            &input.name,
            &input.description,
            &input.href,
            &input.ping_url,
        );
        if let Some(icon_url) = &input.icon_url {
            app.icon_url = issues.check("iconUrl", icon::icon_url(icon_url));
        }
        apps.push(app);
    }
    issues.finish()?;

    find_icons(&mut apps);
    for (app, id) in apps.iter_mut().zip(environment::new_ids(inputs.len())) {
        app.id = id;
    }
    let stored: Vec<StoredApp> = apps.into_iter().map(stored).collect();
    transaction::write(|transaction| Ok(transaction.insert_apps(&stored)?))?;
    Ok(stored.into_iter().map(|stored| stored.app).collect())
}

/// `app.update`
pub fn update(caller: &Caller, change: &AppChange) -> Result<(), Error> {
    authorise(caller, Procedure::AppUpdate)?;
    let mut issues = Issues::default();
    let edit = AppEdit::check(
        &mut issues,
        change.name.as_deref(),
        change.icon_url.as_deref(),
        &change.description,
        &change.href,
        &change.ping_url,
    );
    issues.finish()?;

    transaction::write(|transaction| {
        let app = transaction.get_app(&change.id)?.ok_or_else(app_not_found)?;
        field("iconUrl", edit.check_icon(&app.icon_url))?;
        if !transaction.update_app(&stored(edit.applied_to(app)))? {
            return Err(app_not_found().into());
        }
        Ok(())
    })
}

/// `app.delete`
pub fn delete(caller: &Caller, id: &str) -> Result<(), Error> {
    authorise(caller, Procedure::AppDelete)?;
    transaction::write(|transaction| {
        transaction.delete_app(id)?;
        Ok(())
    })
}

/// What `create` and `createMany` check alike: an app, still without id and icon.
fn check(
    issues: &mut Issues,
    name: &str,
    description: &Option<String>,
    href: &Option<String>,
    ping_url: &Option<String>,
) -> App {
    let or_none = |value: &Option<String>, rule: OptionalText| value.as_deref().map_or(Ok(None), rule);
    App {
        id: String::new(),
        name: issues.check("name", text::app_name(name)),
        description: issues.check("description", or_none(description, text::description)),
        icon_url: String::new(),
        href: issues.check("href", or_none(href, url::href)),
        ping_url: issues.check("pingUrl", or_none(ping_url, url::ping_url)),
    }
}

/// A change of an app that keeps all rules, except that its icon has to pass
/// [`AppEdit::check_icon`].
pub(super) struct AppEdit {
    name: Option<String>,
    icon_url: Option<String>,
    description: TextChange,
    href: TextChange,
    ping_url: TextChange,
}

impl AppEdit {
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

    /// Refuses an icon that is not safe, unless the app has it already: it may be older than the
    /// rule.
    pub fn check_icon(&self, present: &str) -> Checked<()> {
        match &self.icon_url {
            Some(icon_url) if icon_url != present => icon::safe(icon_url),
            _ => Ok(()),
        }
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

/// Gives an icon to every app that has none yet: one that fits its name, or else the default.
fn find_icons(apps: &mut [App]) {
    let mut without: Vec<&mut App> = apps.iter_mut().filter(|app| app.icon_url.is_empty()).collect();
    if without.is_empty() {
        return;
    }
    let names: Vec<String> = without.iter().map(|app| app.name.clone()).collect();
    for (app, icon_url) in without.iter_mut().zip(icons_for(&names)) {
        app.icon_url = icon_url;
    }
}

/// For each name an icon that fits it, or else the default.
pub(super) fn icons_for(names: &[String]) -> Vec<String> {
    let mut found = icons::find(names).into_iter();
    let icons = names
        .iter()
        .map(|_| found.next().flatten().unwrap_or_else(icons::default_icon));
    icons.collect()
}

pub(super) fn stored(app: App) -> StoredApp {
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
        check(
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
        let app = check(
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
