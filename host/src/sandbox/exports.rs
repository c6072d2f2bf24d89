//! What an instance offers.
//!
//! To look a function up and to compare its type takes a part of a microsecond, so all of them
//! take longer than most calls: what procedures call is looked up interface by interface, when it
//! is called first. `Sandbox::describe` looks everything up, so what does not fit is found at the
//! start.

use wasmtime::{
    Store,
    component::{self, InstancePre},
};

use super::{
    State,
    bindings::{
        Plugin, PluginIndices,
        exports::portico::dashboard::{apps, users},
    },
};

/// Where a component has its exports.
pub(super) struct Places {
    plugin: PluginIndices,
    apps: apps::GuestIndices,
    users: users::GuestIndices,
}

impl Places {
    /// Fails if an export is missing.
    pub fn new(component: &InstancePre<State>) -> wasmtime::Result<Self> {
        Ok(Self {
            plugin: PluginIndices::new(component)?,
            apps: apps::GuestIndices::new(component)?,
            users: users::GuestIndices::new(component)?,
        })
    }
}

/// The exports of one instance, as far as they were looked up: kilobytes, which stay where they are
/// while the instance goes from call to call.
pub(super) struct Exports {
    instance: component::Instance,
    plugin: Option<Box<Plugin>>,
    apps: Option<Box<apps::Guest>>,
    users: Option<Box<users::Guest>>,
}

impl Exports {
    pub fn new(instance: component::Instance) -> Self {
        Self {
            instance,
            plugin: None,
            apps: None,
            users: None,
        }
    }

    pub fn plugin(&mut self, places: &Places, store: &mut Store<State>) -> wasmtime::Result<&Plugin> {
        let load = || places.plugin.load(store, &self.instance);
        looked_up(&mut self.plugin, load)
    }

    pub fn apps(&mut self, places: &Places, store: &mut Store<State>) -> wasmtime::Result<&apps::Guest> {
        let load = || places.apps.load(store, &self.instance);
        looked_up(&mut self.apps, load)
    }

    pub fn users(&mut self, places: &Places, store: &mut Store<State>) -> wasmtime::Result<&users::Guest> {
        let load = || places.users.load(store, &self.instance);
        looked_up(&mut self.users, load)
    }
}

fn looked_up<T>(
    kept: &mut Option<Box<T>>,
    load: impl FnOnce() -> wasmtime::Result<T>,
) -> wasmtime::Result<&T> {
    match kept {
        Some(found) => Ok(found),
        None => Ok(kept.insert(Box::new(load()?))),
    }
}
