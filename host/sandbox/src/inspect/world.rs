//! All imports and exports of something, as WIT describes them.

use serde::Serialize;
use wit_parser::{
    Function, Interface as WitInterface, PackageName, Resolve, TypeDefKind, WorldId, WorldItem, WorldKey,
};

/// An interface of a component, beside this host's.
#[derive(Debug, Serialize)]
pub struct Interface {
    /// With package and version, such as `portico:dashboard/apps@1.0.0`.
    pub name: String,
    /// How many functions it has.
    pub functions: usize,
    /// How it compares with this host's.
    pub standing: Compatibility,
}

/// How an interface of a component compares with the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compatibility {
    /// It is the same.
    Fits,
    /// It has another type than this host's.
    Differs,
    /// An import that this host does not offer, or an export that the component lacks.
    Missing,
    /// An export that this host does not call, or an import of nothing but types.
    Unused,
}

/// A world of WIT: all imports and exports of something.
pub(super) struct World {
    resolve: Resolve,
    id: WorldId,
}

impl World {
    pub fn new(resolve: Resolve, id: WorldId) -> Self {
        Self { resolve, id }
    }

    /// Its package, with the version.
    pub fn package(&self) -> String {
        let package = self.resolve.worlds[self.id].package;
        package.map_or_else(String::new, |package| {
            self.resolve.packages[package].name.to_string()
        })
    }

    pub fn imports(&self) -> impl Iterator<Item = Item<'_>> {
        self.items(self.resolve.worlds[self.id].imports.iter())
    }

    pub fn exports(&self) -> impl Iterator<Item = Item<'_>> {
        self.items(self.resolve.worlds[self.id].exports.iter())
    }

    fn items<'a>(
        &'a self,
        items: impl Iterator<Item = (&'a WorldKey, &'a WorldItem)>,
    ) -> impl Iterator<Item = Item<'a>> {
        items.map(|(key, item)| Item {
            resolve: &self.resolve,
            key,
            item,
        })
    }
}

/// One import or export of a world.
pub(super) struct Item<'a> {
    pub resolve: &'a Resolve,
    key: &'a WorldKey,
    item: &'a WorldItem,
}

impl Item<'_> {
    pub fn name(&self) -> String {
        self.resolve.name_world_key(self.key)
    }

    pub fn interface(&self) -> Option<&WitInterface> {
        match self.item {
            WorldItem::Interface { id, .. } => Some(&self.resolve.interfaces[*id]),
            _ => None,
        }
    }

    pub fn package(&self) -> Option<&PackageName> {
        Some(&self.resolve.packages[self.interface()?.package?].name)
    }

    /// Whether this is the same, in a compatible version: a component that imports 1.0.2 may get 1.0.0
    /// here, but not 2.0.0.
    pub fn is(&self, other: &Item) -> bool {
        self.resolve.name_canonicalized_world_key(self.key)
            == other.resolve.name_canonicalized_world_key(other.key)
    }

    /// Whether this is the same in another version.
    pub fn is_other_version_of(&self, other: &Item) -> bool {
        let (Some(this), Some(that)) = (self.package(), other.package()) else {
            return false;
        };
        let name = |item: &Item| item.interface().and_then(|interface| interface.name.clone());
        (&this.namespace, &this.name, name(self)) == (&that.namespace, &that.name, name(other))
    }

    pub fn functions(&self) -> Vec<&Function> {
        match self.item {
            WorldItem::Function(function) => vec![function],
            WorldItem::Interface { id, .. } => self.resolve.interfaces[*id].functions.values().collect(),
            WorldItem::Type { .. } => Vec::new(),
        }
    }

    fn has_resources(&self) -> bool {
        let types = self
            .interface()
            .into_iter()
            .flat_map(|interface| interface.types.values());
        types
            .map(|id| &self.resolve.types[*id].kind)
            .any(|kind| matches!(kind, TypeDefKind::Resource))
    }

    /// Whether it holds nothing that a host would have to offer.
    pub fn is_only_types(&self) -> bool {
        self.functions().is_empty() && !self.has_resources()
    }

    pub fn described(&self, standing: Compatibility) -> Interface {
        Interface {
            name: self.name(),
            functions: self.functions().len(),
            standing,
        }
    }
}
