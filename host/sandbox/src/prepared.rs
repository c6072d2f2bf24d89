//! A component on an engine, with everything that its instances have in common.

use std::sync::Arc;

use wasmtime::{
    Engine,
    component::{Component, HasSelf, InstancePre, Linker},
};

use crate::{
    bindings::Plugin,
    exports::{ExportIndices, TYPES_DIFFER},
    state::State,
};

pub(crate) struct Prepared {
    pub engine: Engine,
    pub component: Component,
    pub instances: InstancePre<State>,
    pub export_indices: Arc<ExportIndices>,
}

impl Prepared {
    /// Fails if the component imports or exports anything other than the contract says.
    pub fn new(engine: Engine, component: Component) -> anyhow::Result<Self> {
        let mut linker = Linker::new(&engine);
        Plugin::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        let differs = |error: wasmtime::Error| anyhow::Error::from(error).context(TYPES_DIFFER);
        let instances = linker.instantiate_pre(&component).map_err(differs)?;
        let export_indices = Arc::new(ExportIndices::new(&instances).map_err(differs)?);
        Ok(Self {
            engine,
            component,
            instances,
            export_indices,
        })
    }
}
