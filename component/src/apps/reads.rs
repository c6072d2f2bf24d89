//! Reading apps: all, by page, found by name, by id.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use portico_rules::bounds;
use portico_rules::refusal::Refusal;

use super::app::app_not_found;
use crate::access::viewer;
use crate::bindings::storage::{AppFilter, Slice};
use crate::bindings::types::{App, AppPage, Caller, Error, Id};
use crate::names;
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, get_app, too_large};
use crate::validate::{self, field, number, text};

/// `app.all`
pub fn all(caller: &Caller) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppAll)?;
    list_all(caller)
}

/// `app.selectable`
pub fn selectable(caller: &Caller) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppSelectable)?;
    list_all(caller)
}

/// `app.getPaginated`
pub fn get_paginated(
    caller: &Caller,
    page: u32,
    page_size: u32,
    search: Option<&str>,
) -> Result<AppPage, Error> {
    authorise(caller, Procedure::AppGetPaginated)?;
    let slice = number::slice(page, page_size)?;
    let searched = names::key_to_find(search.unwrap_or("").trim(), *bounds::APP_NAME.end());
    let Some(name_contains) = searched else {
        return Ok(AppPage {
            items: Vec::new(),
            total_count: 0,
        });
    };
    let filter = AppFilter {
        viewer: viewer(caller),
        name_contains: Some(name_contains),
    };
    let (items, total_count) = transaction::read_page(
        &caller.context,
        slice,
        |transaction| transaction.count_apps(&filter),
        |transaction, slice| transaction.list_apps(&filter, slice),
    )?;
    Ok(AppPage { items, total_count })
}

/// `app.search`
pub fn search(caller: &Caller, query: &str, limit: Option<u32>) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppSearch)?;
    let limit = field("limit", number::limit(limit))?;
    let Some(name_contains) = names::key_to_find(query.trim(), *bounds::APP_NAME.end()) else {
        return Ok(Vec::new());
    };
    let filter = AppFilter {
        viewer: viewer(caller),
        name_contains: Some(name_contains),
    };
    let slice = Slice {
        offset: 0,
        limit: Some(limit),
    };
    transaction::lookup(&caller.context, |transaction| {
        Ok(transaction.list_apps(&filter, slice)?)
    })
}

/// `app.byId`
pub fn by_id(caller: &Caller, id: &str) -> Result<App, Error> {
    authorise(caller, Procedure::AppById)?;
    if !text::is_storable(id) {
        return Err(app_not_found());
    }
    let viewer = viewer(caller);
    transaction::lookup(&caller.context, |transaction| {
        get_app(transaction, id, &viewer)?.ok_or_else(|| app_not_found().into())
    })
}

/// `app.byIds`
pub fn by_ids(caller: &Caller, ids: Vec<Id>) -> Result<Vec<App>, Error> {
    authorise(caller, Procedure::AppByIds)?;
    validate::whole(number::items(ids.len(), bounds::ENTRIES))?;
    let ids = each_once(ids);
    let viewer = viewer(caller);
    let apps = transaction::lookup(&caller.context, |transaction| {
        let apps = transaction.get_apps(&ids, &viewer);
        apps.map_err(|error| too_large(error, Refusal::AskedAppsTooLarge))
    })?;
    Ok(in_order(apps, &ids))
}

fn list_all(caller: &Caller) -> Result<Vec<App>, Error> {
    let filter = AppFilter {
        viewer: viewer(caller),
        name_contains: None,
    };
    let slice = Slice {
        offset: 0,
        limit: None,
    };
    transaction::lookup(&caller.context, |transaction| {
        let apps = transaction.list_apps(&filter, slice);
        apps.map_err(|error| too_large(error, Refusal::AppsTooLarge))
    })
}

/// The same ids without repetitions and without those that storage cannot hold, in the order of their first
/// occurrences.
fn each_once(ids: Vec<Id>) -> Vec<Id> {
    let mut seen = BTreeSet::new();
    let mut is_new = |id: &Id| text::is_storable(id) && seen.insert(id.clone());
    ids.into_iter().filter(|id| is_new(id)).collect()
}

/// The apps in the order of these ids.
fn in_order(apps: Vec<App>, ids: &[Id]) -> Vec<App> {
    let mut by_id: BTreeMap<Id, App> = apps.into_iter().map(|app| (app.id.clone(), app)).collect();
    ids.iter().filter_map(|id| by_id.remove(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: &str) -> App {
        App {
            id: id.into(),
            name: "name".into(),
            description: None,
            icon_url: "icon".into(),
            href: None,
            ping_url: None,
        }
    }

    #[test]
    fn apps_come_in_the_order_asked_each_once_and_unknown_ones_are_left_out() {
        let asked = ["c", "a", "x", "c", "b\0", "b", "a"].map(Id::from).to_vec();
        let ids = each_once(asked);
        assert_eq!(ids, ["c", "a", "x", "b"]);
        let found = in_order(vec![app("a"), app("b"), app("c")], &ids);
        assert_eq!(found, [app("c"), app("a"), app("b")]);
    }
}
