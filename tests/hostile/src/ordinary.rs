//! The ordinary behaviour: apps, straight to and from storage.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::apps::Guest;
use crate::bindings::storage::{self, Access, AppFilter, Slice, StoredApp, Transaction, Viewer};
use crate::bindings::types::{App, AppChange, AppDraft, AppInput, AppPage, Caller, Error, ErrorCode, Id};
use crate::bindings::wasi::random::random;
use crate::misbehaviour::{self, Answer};
use crate::unused::unused;

/// Every refusal of storage becomes the same error.
fn refused(error: storage::Error) -> Error {
    failure(ErrorCode::Unavailable, &format!("{error:?}"))
}

pub fn failure(code: ErrorCode, message: &str) -> Error {
    Error {
        code,
        message: message.to_string(),
        issues: Vec::new(),
    }
}

pub fn app(id: &str, name: &str) -> App {
    App {
        id: id.into(),
        name: name.into(),
        description: None,
        icon_url: "/icon.svg".into(),
        href: None,
        ping_url: None,
    }
}

pub fn stored(app: App) -> StoredApp {
    StoredApp {
        name_key: app.name.to_lowercase(),
        app,
    }
}

fn write<T>(context: &str, work: impl Fn(&Transaction) -> Result<T, storage::Error>) -> Result<T, Error> {
    let transaction = storage::begin(Access::Write, context).map_err(refused)?;
    let answer = work(&transaction).map_err(refused)?;
    Transaction::commit(transaction).map_err(refused)?;
    Ok(answer)
}

fn list(caller: &Caller, name_contains: Option<&str>, limit: Option<u32>) -> Result<Vec<App>, Error> {
    let filter = AppFilter {
        viewer: Viewer::Everything,
        name_contains: name_contains.map(str::to_lowercase),
    };
    let slice = Slice { offset: 0, limit };
    let transaction = storage::begin(Access::Read, &caller.context).map_err(refused)?;
    transaction.list_apps(&filter, slice).map_err(refused)
}

impl Guest for Plugin {
    fn all(caller: Caller) -> Result<Vec<App>, Error> {
        list(&caller, None, None)
    }

    fn selectable(caller: Caller) -> Result<Vec<App>, Error> {
        list(&caller, None, None)
    }

    fn search(caller: Caller, query: String, limit: Option<u32>) -> Result<Vec<App>, Error> {
        match misbehaviour::of(&caller.context, &query) {
            Some(Answer::One(answer)) => answer.map(|app| [app].into()),
            Some(Answer::Many(apps)) => Ok(apps),
            None => list(&caller, Some(&query), Some(limit.unwrap_or(10))),
        }
    }

    fn by_id(caller: Caller, id: Id) -> Result<App, Error> {
        if let Some(Answer::One(answer)) = misbehaviour::of(&caller.context, &id) {
            return answer;
        }
        let transaction = storage::begin(Access::Read, &caller.context).map_err(refused)?;
        let app = transaction.get_app(&id, &Viewer::Everything).map_err(refused)?;
        app.ok_or_else(|| failure(ErrorCode::NotFound, "App not found"))
    }

    fn by_ids(caller: Caller, ids: Vec<Id>) -> Result<Vec<App>, Error> {
        let transaction = storage::begin(Access::Read, &caller.context).map_err(refused)?;
        transaction.get_apps(&ids, &Viewer::Everything).map_err(refused)
    }

    fn create(caller: Caller, input: AppInput) -> Result<App, Error> {
        let bytes = random::get_random_bytes(16);
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let app = app(&id, &input.name);
        write(&caller.context, |transaction| {
            transaction.insert_apps(&[stored(app.clone())])
        })?;
        Ok(app)
    }

    fn delete(caller: Caller, id: Id) -> Result<(), Error> {
        write(&caller.context, |transaction| transaction.delete_app(&id)).map(drop)
    }

    fn get_paginated(_: Caller, _: u32, _: u32, _: Option<String>) -> Result<AppPage, Error> {
        unused()
    }

    fn create_many(_: Caller, _: Vec<AppDraft>) -> Result<Vec<App>, Error> {
        unused()
    }

    fn update(_: Caller, _: AppChange) -> Result<(), Error> {
        unused()
    }
}
