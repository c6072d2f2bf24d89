//! The component's part in a state: its calls for users, apps and names, in lists of any length.

use std::sync::Arc;

use portico_model::{
    Id, Issue, PathSegment,
    error::{Code, Error},
};
use portico_rules::bounds;
use portico_sandbox::{CallPermit, Instance, WantedApp, WantedUser};
use portico_storage::Storage;

use super::{super::validate::Fields, snapshot::Keys};
use crate::procedures::Call;

/// The most entries of one call, by the contract.
const MOST: usize = *bounds::ENTRIES.end();
/// Names in one call.
const MOST_NAMES: usize = 10_000;

/// Calls the component's functions one after the other, with one permit for which it waits once. Inside a transaction
/// it must not wait for a permit, because calls that hold one may wait for that transaction to end.
pub(super) struct Component<'a> {
    call: &'a Call,
    /// `None` after a call that did not finish.
    permit: Option<CallPermit>,
    storage: Arc<dyn Storage>,
}

/// Calls a function in a fresh instance.
macro_rules! ask {
    ($self:ident, $interface:ident.$function:ident($($argument:expr),*)) => {{
        let mut instance = $self.enter().await?;
        let (plugin, store) = instance.parts()?;
        let answer = plugin.$interface().$function(store, $($argument),*).await;
        let answer = instance.read_result(answer);
        $self.permit = Some(instance.leave());
        answer
    }};
}

impl<'a> Component<'a> {
    pub async fn new(call: &'a Call) -> Result<Self, Error> {
        Ok(Self {
            call,
            permit: Some(call.resources.sandbox.acquire_permit().await?),
            storage: call.resources.storage.clone(),
        })
    }

    /// From now on the caller holds a write transaction, for which other calls wait.
    pub fn stop_waiting(&mut self) {
        if let Some(permit) = &mut self.permit {
            permit.stop_waiting();
        }
    }

    /// From now on the component uses this storage.
    pub fn enter_within(&mut self, storage: Arc<dyn Storage>) {
        self.storage = storage;
    }

    fn take_permit(&mut self) -> Result<CallPermit, Error> {
        let permit = self.permit.take();
        permit.ok_or_else(|| Error::internal(anyhow::anyhow!("an earlier call did not give its permit back")))
    }

    async fn enter(&mut self) -> Result<Instance, Error> {
        let permit = self.take_permit()?;
        let sandbox = &self.call.resources.sandbox;
        sandbox
            .enter_within(permit, self.call.context(), self.storage.clone())
            .await
    }

    /// Lets the component compute the keys of these names, and adds them.
    pub async fn learn(&mut self, keys: &mut Keys, names: Vec<String>) -> Result<(), Error> {
        for names in names.chunks(MOST_NAMES) {
            let mut instance = self.enter().await?;
            let (plugin, store) = instance.parts()?;
            let answer = plugin.portico_dashboard_names().call_keys(store, names).await;
            keys.learn(names.to_vec(), instance.read_result(answer.map(Ok))?);
            self.permit = Some(instance.leave());
        }
        Ok(())
    }

    /// Adds an issue for each user that breaks a rule.
    pub async fn check_users(&mut self, fields: &mut Fields, users: &[WantedUser]) -> Result<(), Error> {
        let caller = self.call.caller();
        for (index, users) in users.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_check_users(&caller, users));
            note(fields, answer, "users", index * MOST)?;
        }
        Ok(())
    }

    /// Adds an issue for each app that breaks a rule.
    pub async fn check_apps(&mut self, fields: &mut Fields, apps: &[WantedApp]) -> Result<(), Error> {
        let caller = self.call.caller();
        for (index, apps) in apps.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_check_apps(&caller, apps));
            note(fields, answer, "apps", index * MOST)?;
        }
        Ok(())
    }

    /// Waits for a permit to hash for each password, so that other calls can hash between two passwords of one
    /// document.
    pub async fn hash_password(&mut self, password: &str) -> Result<String, Error> {
        let resources = &self.call.resources;
        let _permit_to_hash = resources.acquire_hash_permit(self.call.identity.address).await?;
        let mut instance = resources.sandbox.enter_to_hash(self.call.context()).await?;
        let (plugin, store) = instance.parts()?;
        let state = plugin.portico_dashboard_state();
        let answer = state
            .call_hash_password(store, &self.call.caller(), password)
            .await;
        instance.read_result(answer)
    }

    /// Looks up an icon for each name, or uses the default icon.
    pub async fn find_icons(&mut self, names: &[String]) -> Result<Vec<String>, Error> {
        let caller = self.call.caller();
        let mut icons = Vec::with_capacity(names.len());
        for names in names.chunks(MOST) {
            let answer = ask!(self, portico_dashboard_state.call_find_icons(&caller, names));
            icons.extend(answer?);
        }
        Ok(icons)
    }

    pub async fn put_users(&mut self, users: &[WantedUser]) -> Result<Vec<Id>, Error> {
        let caller = self.call.caller();
        let mut ids = Vec::with_capacity(users.len());
        for (index, users) in users.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_put_users(&caller, users));
            ids.extend(answer.map_err(|error| placed(error, "users", index * MOST))?);
        }
        Ok(ids)
    }

    pub async fn put_apps(&mut self, apps: &[WantedApp]) -> Result<Vec<Id>, Error> {
        let caller = self.call.caller();
        let mut ids = Vec::with_capacity(apps.len());
        for (index, apps) in apps.chunks(MOST).enumerate() {
            let answer = ask!(self, portico_dashboard_state.call_put_apps(&caller, apps));
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
                let answer = users.call_delete(store, &self.call.caller(), id).await;
                instance.read_result(answer)?;
            }
            self.permit = Some(instance.leave());
        }
        Ok(())
    }

    pub async fn delete_apps(&mut self, ids: &[Id]) -> Result<(), Error> {
        for ids in ids.chunks(MOST) {
            let mut instance = self.enter().await?;
            for id in ids {
                let (plugin, store) = instance.parts()?;
                let apps = plugin.portico_dashboard_apps();
                let answer = apps.call_delete(store, &self.call.caller(), id).await;
                instance.read_result(answer)?;
            }
            self.permit = Some(instance.leave());
        }
        Ok(())
    }
}

/// Adds the issues of a refusal.
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

/// The refusal of a part of a list, with its paths as the whole document has them.
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
