//! Why a component does not fit this host, in sentences.

use std::collections::BTreeMap;

use wit_parser::Function;

use super::types;
use super::world::{Compatibility, Item, World};

/// How many functions of an interface that differ are named.
const NAMED: usize = 3;

/// Why a component does not fit. Problems with one cause become one sentence.
#[derive(Default)]
pub(super) struct Causes {
    pub not_offered: Vec<String>,
    pub lacking: Vec<String>,
    other_versions: BTreeMap<String, Vec<String>>,
    differing: Vec<String>,
}

impl Causes {
    pub fn other_version(&mut self, theirs: &Item) {
        let package = theirs.package().map(ToString::to_string).unwrap_or_default();
        let names = self.other_versions.entry(package).or_default();
        names.extend(theirs.interface().and_then(|interface| interface.name.clone()));
    }

    /// Compares every function that one side of an interface calls with the other side's: an import is
    /// called by the component, an export by this host.
    pub fn difference(&mut self, theirs: &Item, ours: &Item, component_calls: bool) -> Compatibility {
        let (called, provided) = match component_calls {
            true => (theirs.functions(), ours.functions()),
            false => (ours.functions(), theirs.functions()),
        };
        let difference = |called: &Function| {
            let found = provided.iter().find(|function| function.name == called.name);
            let difference = match found {
                None if component_calls => "this host does not offer it".into(),
                None => "the component does not offer it".into(),
                Some(found) => {
                    let (their_function, our_function) = match component_calls {
                        true => (called, *found),
                        false => (*found, called),
                    };
                    types::difference((theirs.resolve, their_function), (ours.resolve, our_function))?
                }
            };
            Some(format!("`{}`: {difference}", called.name))
        };
        let differences: Vec<_> = called.into_iter().filter_map(difference).collect();
        if differences.is_empty() {
            return Compatibility::Fits;
        }
        let mut text = format!("its {} differs from this host's: ", theirs.name());
        text.push_str(&differences[..differences.len().min(NAMED)].join("; "));
        if differences.len() > NAMED {
            text.push_str(&format!("; and {} more functions", differences.len() - NAMED));
        }
        self.differing.push(
            text + " (build it with the wit/ of this portico, or run the portico that it was built for)",
        );
        Compatibility::Differs
    }

    pub fn into_problems(self, contract: &World) -> Vec<String> {
        let mut problems = Vec::new();
        let names = |items: &mut dyn Iterator<Item = Item>| {
            let used = items.filter(|item| !item.is_only_types());
            used.map(|item| item.name()).collect::<Vec<_>>().join(", ")
        };
        for (package, interfaces) in self.other_versions {
            let interfaces = interfaces.join(", ");
            problems.push(format!(
                "it is made for {package} ({interfaces}), and this host supports {}: run a portico that supports the \
                 other version, or build the component with the wit/ of this one",
                contract.package()
            ));
        }
        if !self.not_offered.is_empty() {
            let wasi = self.not_offered.iter().any(|name| name.starts_with("wasi:"));
            let advice = if wasi {
                "build it without files, environment, standard input and output (an ordinary standard library brings \
                 them along)"
            } else {
                "build it for the world `plugin` of wit/"
            };
            problems.push(format!(
                "it imports {}, which Portico does not provide; this host offers {}: {advice}",
                self.not_offered.join(", "),
                names(&mut contract.imports())
            ));
        }
        if !self.lacking.is_empty() {
            problems.push(format!(
                "it does not offer {}, which this host calls: build it for the world `plugin` of wit/, which exports {}",
                self.lacking.join(", "),
                names(&mut contract.exports())
            ));
        }
        problems.extend(self.differing);
        problems
    }
}
