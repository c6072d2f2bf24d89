//! Compares what a component imports and exports with what this host offers and calls.

use super::problems::Causes;
use super::world::{Compatibility, Interface, World};

#[cfg(test)]
mod tests;

/// The result of comparing a component with the contract.
#[derive(Default)]
pub(super) struct Comparison {
    pub imports: Vec<Interface>,
    pub exports: Vec<Interface>,
    pub problems: Vec<String>,
}

/// Compares a component with the contract.
pub(super) fn compare(contract: &World, component: &World) -> Comparison {
    let mut comparison = Comparison::default();
    let mut causes = Causes::default();
    for theirs in component.imports() {
        let standing = match contract.imports().find(|ours| ours.is(&theirs)) {
            Some(ours) => causes.difference(&theirs, &ours, true),
            None if theirs.is_only_types() => Compatibility::Unused,
            None => {
                match contract.imports().find(|ours| ours.is_other_version_of(&theirs)) {
                    Some(_) => causes.other_version(&theirs),
                    None => causes.not_offered.push(theirs.name()),
                }
                Compatibility::Missing
            }
        };
        comparison.imports.push(theirs.described(standing));
    }
    for theirs in component.exports() {
        let standing = match contract.exports().find(|ours| ours.is(&theirs)) {
            Some(ours) => causes.difference(&theirs, &ours, false),
            None => Compatibility::Unused,
        };
        comparison.exports.push(theirs.described(standing));
    }
    for ours in contract.exports() {
        if component.exports().any(|theirs| theirs.is(&ours)) {
            continue;
        }
        match component
            .exports()
            .find(|theirs| theirs.is_other_version_of(&ours))
        {
            Some(theirs) => causes.other_version(&theirs),
            None => causes.lacking.push(ours.name()),
        }
        comparison.exports.push(ours.described(Compatibility::Missing));
    }
    comparison.problems = causes.into_problems(contract);
    comparison
}
