//! Compares what a component imports and exports with what this host offers and calls, by name and version, and says in
//! sentences why it does not fit. wasmtime checks the types when it loads the component.

use std::collections::BTreeMap;

use super::{
    contract,
    world::{Compatibility, Interface, World},
};

/// The result of comparing a component with the contract.
#[derive(Default)]
pub(super) struct Comparison {
    pub imports: Vec<Interface>,
    pub exports: Vec<Interface>,
    pub problems: Vec<String>,
}

/// Why a component does not fit. Problems with one cause become one sentence.
#[derive(Default)]
struct Causes {
    /// Interfaces, by their package with its version.
    other_versions: BTreeMap<String, Vec<String>>,
    not_offered: Vec<String>,
    lacking: Vec<String>,
}

/// Compares a component with the one inside, which imports all that this host offers and exports all that it calls.
pub(super) fn compare(ours: &World, theirs: World) -> Comparison {
    let mut causes = Causes::default();
    let World {
        mut imports,
        mut exports,
    } = theirs;
    for import in &mut imports {
        if ours.imports.iter().any(|ours| ours.is(import)) {
            import.standing = Compatibility::Fits;
        } else if !import.is_only_types {
            import.standing = Compatibility::Missing;
            match ours.imports.iter().any(|ours| ours.is_other_version_of(import)) {
                true => causes.other_version(import),
                false => causes.not_offered.push(import.name.clone()),
            }
        }
    }
    for ours in &ours.exports {
        if let Some(export) = exports.iter_mut().find(|export| ours.is(export)) {
            export.standing = Compatibility::Fits;
            continue;
        }
        match exports.iter().find(|export| ours.is_other_version_of(export)) {
            Some(export) => causes.other_version(export),
            None => causes.lacking.push(ours.name.clone()),
        }
        exports.push(Interface {
            standing: Compatibility::Missing,
            ..ours.clone()
        });
    }
    Comparison {
        imports,
        exports,
        problems: causes.into_problems(ours),
    }
}

impl Causes {
    fn other_version(&mut self, theirs: &Interface) {
        if let Some((package, interface)) = theirs.in_package() {
            let interfaces = self.other_versions.entry(package).or_default();
            interfaces.push(interface.to_owned());
        }
    }

    fn into_problems(self, ours: &World) -> Vec<String> {
        let mut problems = Vec::new();
        let names = |interfaces: &[Interface]| {
            let used = interfaces.iter().filter(|interface| !interface.is_only_types);
            used.map(|interface| &interface.name[..])
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (package, interfaces) in self.other_versions {
            problems.push(format!(
                "it is made for {package} ({}), and this host supports {}: run a portico that supports the other \
                 version, or build the component with the wit/ of this one",
                interfaces.join(", "),
                contract()
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
                names(&ours.imports)
            ));
        }
        if !self.lacking.is_empty() {
            problems.push(format!(
                "it does not offer {}, which this host calls: build it for the world `plugin` of wit/, which exports {}",
                self.lacking.join(", "),
                names(&ours.exports)
            ));
        }
        problems
    }
}
