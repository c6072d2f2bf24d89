//! The ready storage as a component, and in one file with the rules.

use anyhow::{Context, Result};
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, NodeId};
use wit_component_of_wac::ComponentEncoder;

const STORAGE: &str = "portico:dashboard/storage@1.0.0";
const PEOPLE: &str = "portico:sql/people@0.1.0";

/// What the rules export.
const RULES: [&str; 6] = [
    "portico:dashboard/users@1.0.0",
    "portico:dashboard/apps@1.0.0",
    "portico:dashboard/sign-in@1.0.0",
    "portico:dashboard/procedures@1.0.0",
    "portico:dashboard/names@1.0.0",
    "portico:dashboard/state@1.0.0",
];

/// The component of a core module that wit-bindgen made.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ComponentEncoder::default();
    let encoder = encoder.validate(true).module(module);
    encoder
        .and_then(ComponentEncoder::encode)
        .context("the core module")
}

/// The rules over the ready storage: one component, which exports what the rules export, and `people`. Whatever else they
/// import, it imports too.
pub fn compose(rules: Vec<u8>, storage: Vec<u8>) -> Result<Vec<u8>> {
    let mut graph = CompositionGraph::new();
    let storage = instance(&mut graph, "portico:ready-storage", storage)?;
    let rules = instance(&mut graph, "portico:rules", rules)?;
    let data = graph.alias_instance_export(storage, STORAGE)?;
    graph.set_instantiation_argument(rules, STORAGE, data)?;
    let exports = RULES.map(|name| (rules, name));
    for (from, name) in exports.into_iter().chain([(storage, PEOPLE)]) {
        let exported = graph.alias_instance_export(from, name)?;
        graph.export(exported, name)?;
    }
    graph.encode(EncodeOptions::default()).context("the composition")
}

fn instance(graph: &mut CompositionGraph, name: &str, component: Vec<u8>) -> Result<NodeId> {
    let package = Package::from_bytes(name, None, component, graph.types_mut());
    let package = graph.register_package(package.with_context(|| name.to_owned())?)?;
    Ok(graph.instantiate(package))
}
