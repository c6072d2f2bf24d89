//! The exports of an instance.
//!
//! Looking up one function and comparing its type takes a fraction of a microsecond; looking up all of them takes
//! longer than most calls. The first call of an instance looks up only its own function, the second one the whole
//! interface, once. `Sandbox::describe` looks everything up, so a wrong type is found at the start.

use std::collections::HashMap;

use wasmtime::{
    Store, bail,
    component::{
        self, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Lower, TypedFunc,
        types::ComponentItem,
    },
    error::Context as _,
    format_err,
};

use crate::{
    bindings::{
        Plugin, PluginIndices,
        exports::portico::dashboard::{apps, users},
    },
    state::State,
};

/// What to do about a component whose interfaces have the right names but other types.
pub(crate) const TYPES_DIFFER: &str = "its functions have other types than those of this host: build it with the wit/ \
                                       of this portico, or run the portico that it was built for";

/// Where a component has its exports.
pub(crate) struct ExportIndices {
    plugin: PluginIndices,
    apps: apps::GuestIndices,
    users: users::GuestIndices,
    /// By their names in the bindings: `portico_dashboard_apps.call_by_id`.
    functions: HashMap<String, ComponentExportIndex>,
}

impl ExportIndices {
    /// Fails if an export is missing.
    pub fn new(component: &InstancePre<State>) -> wasmtime::Result<Self> {
        Ok(Self {
            plugin: PluginIndices::new(component)?,
            apps: apps::GuestIndices::new(component)?,
            users: users::GuestIndices::new(component)?,
            functions: functions(component)?,
        })
    }
}

/// The interfaces that procedures call: in the contract, and in the bindings.
const INTERFACES: [(&str, &str); 2] = [
    ("portico:dashboard/apps@1.0.0", "portico_dashboard_apps"),
    ("portico:dashboard/users@1.0.0", "portico_dashboard_users"),
];

fn functions(component: &InstancePre<State>) -> wasmtime::Result<HashMap<String, ComponentExportIndex>> {
    let (engine, component) = (component.engine(), component.component());
    let mut functions = HashMap::new();
    for (interface, name) in INTERFACES {
        let found = component.get_export(None, interface);
        let Some((ComponentItem::ComponentInstance(exports), index)) = found else {
            bail!("there is no {interface}");
        };
        for (function, _) in exports.exports(engine) {
            if let Some(index) = component.get_export_index(Some(&index), function) {
                functions.insert(format!("{name}.call_{}", function.replace('-', "_")), index);
            }
        }
    }
    Ok(functions)
}

/// The exports of one instance that were looked up. Boxed, because they are kilobytes and an instance is
/// moved from call to call.
pub(crate) struct Exports {
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

    /// The function with this name; fails if it has another type.
    pub fn function<Params, Answer>(
        &self,
        name: &str,
        indices: &ExportIndices,
        store: &mut Store<State>,
    ) -> wasmtime::Result<TypedFunc<Params, (Answer,)>>
    where
        Params: ComponentNamedList + Lower,
        Answer: Lift,
        (Answer,): ComponentNamedList + Lift,
    {
        let index = indices.functions.get(name);
        let index = index.ok_or_else(|| format_err!("there is no function {name}"))?;
        self.instance.get_typed_func(store, index)
    }

    pub fn plugin(&mut self, indices: &ExportIndices, store: &mut Store<State>) -> wasmtime::Result<&Plugin> {
        let load = || indices.plugin.load(store, &self.instance);
        looked_up(&mut self.plugin, load)
    }

    pub fn apps(
        &mut self,
        indices: &ExportIndices,
        store: &mut Store<State>,
    ) -> wasmtime::Result<&apps::Guest> {
        let load = || indices.apps.load(store, &self.instance);
        looked_up(&mut self.apps, load)
    }

    pub fn users(
        &mut self,
        indices: &ExportIndices,
        store: &mut Store<State>,
    ) -> wasmtime::Result<&users::Guest> {
        let load = || indices.users.load(store, &self.instance);
        looked_up(&mut self.users, load)
    }
}

fn looked_up<T>(
    kept: &mut Option<Box<T>>,
    load: impl FnOnce() -> wasmtime::Result<T>,
) -> wasmtime::Result<&T> {
    match kept {
        Some(found) => Ok(found),
        None => Ok(kept.insert(Box::new(load().context(TYPES_DIFFER)?))),
    }
}
