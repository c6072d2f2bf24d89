//! The component's part in a state: users, apps and names, in lists of any length.

use std::sync::Arc;

use portico_model::{
    Id, Issue, PathSegment,
    error::{Code, Error},
};
use portico_sandbox::{Instance, Permit, WantedApp, WantedUser};
use portico_storage::Storage;

use super::{super::validate::Fields, snapshot::Keys};
use crate::procedures::Call;

/// The most entries of one call, by the contract.
const MOST: usize = 1000;
/// Names in one call.
const MOST_NAMES: usize = 10_000;

/// Calls the component's functions one after the other, in a turn that is waited for once: inside a
/// transaction nobody may wait for those who wait for its end.
pub(super) struct Component<'a> {
    call: &'a Call,
    /// None after a call that came to no end.
    turn: Option<Permit>,
    storage: Arc<dyn Storage>,
}

/// Calls a function in a fresh instance.
macro_rules! ask {
    ($self:ident, $interface:ident.$function:ident($($argument:expr),*)) => {{
        let mut instance = $self.enter().await?;
        let (plugin, store) = instance.parts()?;
        let answer = plugin.$interface().$function(store, $($argument),*).await;
        let answer = instance.answer(answer);
        $self.turn = Some(instance.leave());
        answer
    }};
}

impl<'a> Component<'a> {
    pub async fn new(call: &'a Call) -> Result<Self, Error> {
        Ok(Self {
            call,
            turn: Some(call.service.sandbox.turn(&call.context()).await?),
            storage: call.service.storage.clone(),
        })
    }

    /// From here on the caller holds a transaction that others wait for.
    pub fn stop_waiting(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.stop_waiting();
        }
    }

    /// From here on, transactions are those of this storage.
    pub fn enter_within(&mut self, storage: Arc<dyn Storage>) {
        self.storage = storage;
    }

    fn take_turn(&mut self) -> Result<Permit, Error> {
        let turn = self.turn.take();
        turn.ok_or_else(|| Error::internal(anyhow::anyhow!("the turn is lost")))
    }

    async fn enter(&mut self) -> Result<Instance, Error> {
        let turn = self.take_turn()?;
        let sandbox = &self.call.service.sandbox;
        sandbox
            .enter_within(turn, self.call.context(), self.storage.clone())
            .await
    }

    /// Learns the keys of names that are not known yet.
    pub async fn learn(&mut self, keys: &mut Keys, names: Vec<String>) -> Result<(), Error> {
        for names in names.chunks(MOST_NAMES) {
            let mut instance = self.enter().await?;
            let (plugin, store) = instance.parts()?;
            let answer = plugin.portico_dashboard_names().call_keys(store, names).await;
            keys.learn(names.to_vec(), instance.answer(answer.map(Ok))?);
            self.turn = Some(instance.leave());
        }
        Ok(())
    }

    /// Notes which users break a rule.
    pub async fn check_users(&mut self, fields: &mut Fields, users: &[WantedUser]) -> Result<(), Error> {
        let caller = self.call.caller();
        for (index, users) in users.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_check_users(caller, users));
            note(fields, answer, "users", index * MOST)?;
        }
        Ok(())
    }

    /// Notes which apps break a rule.
    pub async fn check_apps(&mut self, fields: &mut Fields, apps: &[WantedApp]) -> Result<(), Error> {
        let caller = self.call.caller();
        for (index, apps) in apps.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_check_apps(caller, apps));
            note(fields, answer, "apps", index * MOST)?;
        }
        Ok(())
    }

    /// With a permit of its own for each password, so that others may hash between two of a document.
    pub async fn hash_password(&mut self, password: &str) -> Result<String, Error> {
        let service = &self.call.service;
        let _permit_to_hash = service.turn_to_hash(self.call.identity.address).await?;
        let mut instance = service.sandbox.enter_to_hash(self.call.context()).await?;
        let (plugin, store) = instance.parts()?;
        let state = plugin.portico_dashboard_state();
        let answer = state
            .call_hash_password(store, self.call.caller(), password)
            .await;
        instance.answer(answer)
    }

    /// For each name an icon, or the default one.
    pub async fn find_icons(&mut self, names: &[String]) -> Result<Vec<String>, Error> {
        let caller = self.call.caller();
        let mut icons = Vec::with_capacity(names.len());
        for names in names.chunks(MOST) {
            let answer = ask!(self, portico_dashboard_state.call_find_icons(caller, names));
            icons.extend(answer?);
        }
        Ok(icons)
    }

    pub async fn put_users(&mut self, users: &[WantedUser]) -> Result<Vec<Id>, Error> {
        let caller = self.call.caller();
        let mut ids = Vec::with_capacity(users.len());
        for (index, users) in users.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_put_users(caller, users));
            ids.extend(answer.map_err(|error| placed(error, "users", index * MOST))?);
        }
        Ok(ids)
    }

    pub async fn put_apps(&mut self, apps: &[WantedApp]) -> Result<Vec<Id>, Error> {
        let caller = self.call.caller();
        let mut ids = Vec::with_capacity(apps.len());
        for (index, apps) in apps.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_put_apps(caller, apps));
            ids.extend(answer.map_err(|error| placed(error, "apps", index * MOST))?);
        }
        Ok(ids)
    }

    pub async fn delete_users(&mut self, ids: &[Id]) -> Result<(), Error> {
        for ids in ids.chunks(MOST) {
            let mut instance = self.enter().await?;
            for id in ids {
                let (plugin, store) = instance.parts()?;
                let users = plugin.portico_dashboard_users();
                let answer = users.call_delete(store, self.call.caller(), id).await;
                instance.answer(answer)?;
            }
            self.turn = Some(instance.leave());
        }
        Ok(())
    }

    pub async fn delete_apps(&mut self, ids: &[Id]) -> Result<(), Error> {
        for ids in ids.chunks(MOST) {
            let mut instance = self.enter().await?;
            for id in ids {
                let (plugin, store) = instance.parts()?;
                let apps = plugin.portico_dashboard_apps();
                let answer = apps.call_delete(store, self.call.caller(), id).await;
                instance.answer(answer)?;
            }
            self.turn = Some(instance.leave());
        }
        Ok(())
    }
}

/// Adds the issues of a refusal to those that there are.
fn note(fields: &mut Fields, answer: Result<(), Error>, list: &str, offset: usize) -> Result<(), Error> {
    match answer {
        Err(error) if error.code == Code::BadRequest => {
            for issue in placed(error, list, offset).issues {
                fields.refuse_at(issue.path, issue.message);
            }
            Ok(())
        }
        answer => answer,
    }
}

/// The refusal of a part of a list, with the places in the whole document.
fn placed(error: Error, list: &str, offset: usize) -> Error {
    if error.code != Code::BadRequest {
        return error;
    }
    let issues = error.issues.into_iter().map(|issue| {
        let mut path = issue.path;
        if let Some(PathSegment::Index(index)) = path.first_mut() {
            *index += offset as u32;
        }
        path.insert(0, PathSegment::Field(list.into()));
        Issue { path, ..issue }
    });
    Error::invalid(issues.collect())
}
