//! The procedures of the interface `apps`.

mod app;
mod reads;
pub mod wanted;
mod writes;

use alloc::string::String;
use alloc::vec::Vec;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::apps as contract;
use crate::bindings::types::{App, AppChange, AppDraft, AppInput, AppPage, Caller, Error, Id};

impl contract::Guest for Plugin {
    fn all(caller: Caller) -> Result<Vec<App>, Error> {
        reads::all(&caller)
    }

    fn get_paginated(
        caller: Caller,
        page: u32,
        page_size: u32,
        search: Option<String>,
    ) -> Result<AppPage, Error> {
        reads::get_paginated(&caller, page, page_size, search.as_deref())
    }

    fn search(caller: Caller, query: String, limit: Option<u32>) -> Result<Vec<App>, Error> {
        reads::search(&caller, &query, limit)
    }

    fn selectable(caller: Caller) -> Result<Vec<App>, Error> {
        reads::selectable(&caller)
    }

    fn by_id(caller: Caller, id: Id) -> Result<App, Error> {
        reads::by_id(&caller, &id)
    }

    fn by_ids(caller: Caller, ids: Vec<Id>) -> Result<Vec<App>, Error> {
        reads::by_ids(&caller, ids)
    }

    fn create(caller: Caller, input: AppInput) -> Result<App, Error> {
        writes::create(&caller, &input)
    }

    fn create_many(caller: Caller, inputs: Vec<AppDraft>) -> Result<Vec<App>, Error> {
        writes::create_many(&caller, &inputs)
    }

    fn update(caller: Caller, change: AppChange) -> Result<(), Error> {
        writes::update(&caller, &change)
    }

    fn delete(caller: Caller, id: Id) -> Result<(), Error> {
        writes::delete(&caller, &id)
    }
}
