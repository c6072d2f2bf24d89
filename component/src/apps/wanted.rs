//! Apps as a document states them: see `wit/state.wit`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use portico_rules::bounds;
use portico_rules::rule::Rule;

use super::app::{AppEdit, icons_for, stored};
use crate::bindings::exports::portico::dashboard::state::WantedApp;
use crate::bindings::icons;
use crate::bindings::storage::{Constraint, Error as StorageError, Viewer};
use crate::bindings::types::{App, Error, Id, Issue};
use crate::transaction::{self, Failure};
use crate::validate::{self, Checked, Issues, number, text};
use crate::{environment, error};

/// Refuses apps that break a rule.
pub fn check(apps: &[WantedApp]) -> Result<(), Error> {
    edits(apps).map(drop)
}

/// For each name, an icon.
pub fn find_icons(names: &[String]) -> Result<Vec<String>, Error> {
    validate::whole(number::items(names.len(), bounds::ENTRIES))?;
    Ok(icons_for(names))
}

/// Creates or changes these apps.
pub fn put(context: &str, apps: &[WantedApp]) -> Result<Vec<Id>, Error> {
    let edits = edits(apps)?;
    let without = apps.iter().filter(|app| app.id.is_none()).count();
    let mut new_ids = environment::new_ids(without).into_iter();
    let ids: Vec<Id> = apps
        .iter()
        .filter_map(|app| app.id.clone().or_else(|| new_ids.next()))
        .collect();
    transaction::write(context, |transaction| {
        let present = transaction.get_apps(&ids, &Viewer::Everything)?;
        let mut present: BTreeMap<Id, App> = present.into_iter().map(|app| (app.id.clone(), app)).collect();
        let mut issues = Issues::default();
        for (index, (id, edit)) in ids.iter().zip(&edits).enumerate() {
            issues.enter_item(index);
            edit.check_new(&mut issues, present.get(id));
        }
        issues.finish()?;
        let mut new = Vec::new();
        for (id, edit) in ids.iter().zip(&edits) {
            let Some(before) = present.remove(id) else {
                new.push(stored(created(edit, id)));
                continue;
            };
            let after = edit.applied_to(before.clone());
            if after != before {
                transaction.update_app(&stored(after))?;
            }
        }
        if !new.is_empty() {
            transaction.insert_apps(&new).map_err(unusable_id)?;
        }
        Ok(())
    })?;
    Ok(ids)
}

/// No id of the document is in use, so one of them is an id that storage cannot hold.
fn unusable_id(error: StorageError) -> Failure {
    match error {
        StorageError::Constraint(Constraint::Id) => {
            let issue = Issue {
                path: Vec::new(),
                message: Rule::NotStorableIds.into(),
            };
            error::bad_request([issue].into()).into()
        }
        other => other.into(),
    }
}

fn edits(apps: &[WantedApp]) -> Result<Vec<AppEdit>, Error> {
    validate::whole(number::items(apps.len(), bounds::ENTRIES))?;
    let mut issues = Issues::default();
    let mut ids = BTreeSet::new();
    let mut edits = Vec::with_capacity(apps.len());
    for (index, app) in apps.iter().enumerate() {
        issues.enter_item(index);
        if let Some(id) = &app.id {
            issues.check("id", text::line(id, bounds::GIVEN_ID).map(drop));
            issues.check("id", each_once(ids.insert(id)));
        }
        edits.push(AppEdit::check(
            &mut issues,
            Some(&app.name),
            app.icon_url.as_deref(),
            &app.description,
            &app.href,
            &app.ping_url,
        ));
    }
    issues.finish()?;
    Ok(edits)
}

fn each_once(is_new: bool) -> Checked<()> {
    if is_new { Ok(()) } else { Err(Rule::NotOnce) }
}

fn created(edit: &AppEdit, id: &Id) -> App {
    let blank = App {
        id: id.clone(),
        name: String::new(),
        description: None,
        icon_url: String::new(),
        href: None,
        ping_url: None,
    };
    let mut app = edit.applied_to(blank);
    if app.icon_url.is_empty() {
        app.icon_url = icons::default_icon();
    }
    app
}
