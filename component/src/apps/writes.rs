//! Creating, changing and deleting apps.

use alloc::string::String;
use alloc::vec::Vec;

use portico_rules::bounds;

use super::app::{AppEdit, app_not_found, check_new, icons_for, stored};
use crate::bindings::storage::{StoredApp, Viewer};
use crate::bindings::types::{App, AppChange, AppDraft, AppInput, Caller, Error};
use crate::environment;
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, get_app};
use crate::validate::{self, Issues, icon, number, text};

/// `app.create`
pub fn create(caller: &Caller, input: &AppInput) -> Result<App, Error> {
    authorise(caller, Procedure::AppCreate)?;
    let mut issues = Issues::default();
    let mut app = check_new(
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
    transaction::write(&caller.context, |transaction| {
        Ok(transaction.insert_apps(&stored)?)
    })?;
    let [StoredApp { app, .. }] = stored;
    Ok(app)
}

/// `app.createMany`
pub fn create_many(caller: &Caller, inputs: &[AppDraft]) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppCreateMany)?;
    validate::whole(number::items(inputs.len(), bounds::NEW_APPS))?;
    let mut issues = Issues::default();
    let mut apps = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        issues.enter_item(index);
        let mut app = check_new(
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
    transaction::write(&caller.context, |transaction| {
        Ok(transaction.insert_apps(&stored)?)
    })?;
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
    if !text::is_storable(&change.id) {
        return Err(app_not_found());
    }

    transaction::write(&caller.context, |transaction| {
        let app = get_app(transaction, &change.id, &Viewer::Everything)?.ok_or_else(app_not_found)?;
        let mut issues = Issues::default();
        edit.check_new(&mut issues, Some(&app));
        edit.check_new_link(&mut issues, &app);
        issues.finish()?;
        if !transaction.update_app(&stored(edit.applied_to(app)))? {
            return Err(app_not_found().into());
        }
        Ok(())
    })
}

/// `app.delete`
pub fn delete(caller: &Caller, id: &str) -> Result<(), Error> {
    authorise(caller, Procedure::AppDelete)?;
    if !text::is_storable(id) {
        return Ok(());
    }
    transaction::write(&caller.context, |transaction| {
        if get_app(transaction, id, &Viewer::Everything)?.is_some() {
            transaction.delete_app(id)?;
        }
        Ok(())
    })
}

/// Gives every app without an icon one that fits its name, or otherwise the default icon.
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
