//! What a component imports and exports.

use serde::Serialize;
use wit_parser::{Resolve, TypeDefKind, WorldId, WorldItem, WorldKey};

/// An interface of a component, next to this host's.
#[derive(Clone, Debug, Serialize)]
pub struct Interface {
    /// With package and version, such as `portico:dashboard/apps@1.0.0`.
    pub name: String,
    pub functions: usize,
    /// How it compares with this host's.
    pub standing: Compatibility,
    /// Whether it contains nothing that a host would have to offer.
    #[serde(skip)]
    pub(super) is_only_types: bool,
}

/// How an interface of a component compares with the host's, by name and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compatibility {
    /// The host has it in a compatible version.
    Fits,
    /// An import that this host does not offer, or an export that the component lacks.
    Missing,
    /// An export that this host does not call, or an import of nothing but types.
    Unused,
}

/// All imports and exports of a component.
pub(super) struct World {
    pub imports: Vec<Interface>,
    pub exports: Vec<Interface>,
}

impl World {
    pub fn new(resolve: &Resolve, id: WorldId) -> Self {
        let world = &resolve.worlds[id];
        let described = |(key, item)| Interface::new(resolve, key, item);
        Self {
            imports: world.imports.iter().map(described).collect(),
            exports: world.exports.iter().map(described).collect(),
        }
    }
}

impl Interface {
    fn new(resolve: &Resolve, key: &WorldKey, item: &WorldItem) -> Self {
        let is_resource = |id| matches!(resolve.types[id].kind, TypeDefKind::Resource);
        let (functions, has_resources) = match item {
            WorldItem::Function(_) => (1, false),
            WorldItem::Type { id, .. } => (0, is_resource(*id)),
            WorldItem::Interface { id, .. } => {
                let interface = &resolve.interfaces[*id];
                let has_resources = interface.types.values().any(|id| is_resource(*id));
                (interface.functions.len(), has_resources)
            }
        };
        Self {
            name: resolve.name_world_key(key),
            functions,
            standing: Compatibility::Unused,
            is_only_types: functions == 0 && !has_resources,
        }
    }

    /// Whether one may replace the other: a component that imports 1.0.2 or 1.1.0 may get 1.0.0 here, but not 2.0.0.
    pub fn is(&self, other: &Self) -> bool {
        line(&self.name) == line(&other.name)
    }

    /// Whether this is another version of the same interface.
    pub fn is_other_version_of(&self, other: &Self) -> bool {
        let without_version = |name: &'_ str| name.split('@').next().map(str::to_owned);
        without_version(&self.name) == without_version(&other.name)
    }

    /// The package with its version, and the name in it; `None` for what is not in a package.
    pub fn in_package(&self) -> Option<(String, &str)> {
        let (package, interface) = self.name.split_once('/')?;
        match interface.split_once('@') {
            Some((interface, version)) => Some((format!("{package}@{version}"), interface)),
            None => Some((package.to_owned(), interface)),
        }
    }
}

/// The name, with as much of its version as compatible versions have in common.
fn line(name: &str) -> &str {
    let Some((package, version)) = name.split_once('@') else {
        return name;
    };
    let common = match version.split('.').collect::<Vec<_>>()[..] {
        _ if version.contains(['-', '+']) => version.len(),
        ["0", "0", ..] => version.len(),
        ["0", minor, ..] => "0.".len() + minor.len(),
        [major, ..] => major.len(),
        [] => 0,
    };
    &name[..package.len() + 1 + common]
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn compatible_versions_have_one_line() {
        for (name, expected) in [
            ("portico:dashboard/apps@1.0.0", "portico:dashboard/apps@1"),
            ("portico:dashboard/apps@1.10.7", "portico:dashboard/apps@1"),
            ("portico:dashboard/apps@12.0.0", "portico:dashboard/apps@12"),
            ("wasi:random/random@0.2.6", "wasi:random/random@0.2"),
            ("a:b/c@0.0.1", "a:b/c@0.0.1"),
            ("a:b/c@1.0.0-rc.1", "a:b/c@1.0.0-rc.1"),
            ("ask", "ask"),
        ] {
            assert_eq!(line(name), expected);
        }
    }
}
