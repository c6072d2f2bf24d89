//! Compares what a component imports and exports with what this host offers and calls.

use std::collections::BTreeMap;

use serde::Serialize;
use wit_parser::{
    Function, Interface as WitInterface, PackageName, Resolve, SourceMap, TypeDefKind, WorldId, WorldItem,
    WorldKey,
};

use super::types;

/// The contract. A test checks that these are all files of `wit/`.
const WIT: [(&str, &str); 11] = [
    ("apps.wit", include_str!("../../../../wit/apps.wit")),
    ("icons.wit", include_str!("../../../../wit/icons.wit")),
    ("log.wit", include_str!("../../../../wit/log.wit")),
    ("names.wit", include_str!("../../../../wit/names.wit")),
    ("procedures.wit", include_str!("../../../../wit/procedures.wit")),
    ("sign-in.wit", include_str!("../../../../wit/sign-in.wit")),
    ("state.wit", include_str!("../../../../wit/state.wit")),
    ("storage.wit", include_str!("../../../../wit/storage.wit")),
    ("types.wit", include_str!("../../../../wit/types.wit")),
    ("users.wit", include_str!("../../../../wit/users.wit")),
    ("world.wit", include_str!("../../../../wit/world.wit")),
];
const WIT_DEPENDENCIES: [(&str, &str); 2] = [
    (
        "wall-clock.wit",
        include_str!("../../../../wit/deps/clocks/wall-clock.wit"),
    ),
    (
        "random.wit",
        include_str!("../../../../wit/deps/random/random.wit"),
    ),
];

/// How many functions of an interface that differs are named.
const NAMED: usize = 3;

/// An interface of a component, beside this host's.
#[derive(Debug, Serialize)]
pub struct Interface {
    /// With package and version, such as `portico:dashboard/apps@1.0.0`.
    pub name: String,
    /// How many functions it has.
    pub functions: usize,
    /// How it compares with this host's.
    pub standing: Standing,
}

/// How an interface of a component compares with the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is the same.
    Fits,
    /// It has another type than this host's.
    Differs,
    /// An import that this host does not offer, or an export that the component lacks.
    Missing,
    /// An export that this host does not call, or an import of nothing but types.
    Unused,
}

/// The result of comparing a component with the contract.
#[derive(Default)]
pub(crate) struct Comparison {
    pub imports: Vec<Interface>,
    pub exports: Vec<Interface>,
    pub problems: Vec<String>,
}

/// A world of WIT: all imports and exports of something.
pub(crate) struct World {
    resolve: Resolve,
    id: WorldId,
}

impl World {
    pub fn new(resolve: Resolve, id: WorldId) -> Self {
        Self { resolve, id }
    }

    /// The world `plugin` of `wit/`.
    pub fn contract() -> anyhow::Result<Self> {
        Self::parse(str::to_owned)
    }

    fn parse(change: impl Fn(&str) -> String) -> anyhow::Result<Self> {
        let mut resolve = Resolve::new();
        for (name, text) in WIT_DEPENDENCIES {
            resolve.push_source(name, text)?;
        }
        let mut files = SourceMap::new();
        for (name, text) in WIT {
            files.push_str(name, change(text));
        }
        let group = files.parse().map_err(|(_, error)| error)?;
        let package = resolve.push_group(group)?;
        let id = resolve.select_world(&[package], Some("plugin"))?;
        Ok(Self { resolve, id })
    }

    /// Its package, with the version.
    pub fn package(&self) -> String {
        let package = self.resolve.worlds[self.id].package;
        package.map_or_else(String::new, |package| {
            self.resolve.packages[package].name.to_string()
        })
    }

    fn imports(&self) -> impl Iterator<Item = Item<'_>> {
        self.items(self.resolve.worlds[self.id].imports.iter())
    }

    fn exports(&self) -> impl Iterator<Item = Item<'_>> {
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

    /// Compares a component with this contract.
    pub fn compare(&self, component: &Self) -> Comparison {
        let mut comparison = Comparison::default();
        let mut causes = Causes::default();
        for theirs in component.imports() {
            let ours = self.imports().find(|ours| ours.is(&theirs));
            let standing = match &ours {
                Some(ours) => causes.difference(&theirs, ours, &theirs, ours),
                None if theirs.is_only_types() => Standing::Unused,
                None => {
                    match self.imports().find(|ours| ours.is_other_version_of(&theirs)) {
                        Some(_) => causes.other_version(&theirs),
                        None => causes.not_offered.push(theirs.name()),
                    }
                    Standing::Missing
                }
            };
            comparison.imports.push(theirs.stands(standing));
        }
        for theirs in component.exports() {
            let standing = match self.exports().find(|ours| ours.is(&theirs)) {
                Some(ours) => causes.difference(&theirs, &ours, &ours, &theirs),
                None => Standing::Unused,
            };
            comparison.exports.push(theirs.stands(standing));
        }
        for ours in self
            .exports()
            .filter(|ours| !component.exports().any(|theirs| theirs.is(ours)))
        {
            match component
                .exports()
                .find(|theirs| theirs.is_other_version_of(&ours))
            {
                Some(theirs) => causes.other_version(&theirs),
                None => causes.lacking.push(ours.name()),
            }
            comparison.exports.push(ours.stands(Standing::Missing));
        }
        comparison.problems = causes.into_problems(self);
        comparison
    }
}

/// One import or export of a world.
struct Item<'a> {
    resolve: &'a Resolve,
    key: &'a WorldKey,
    item: &'a WorldItem,
}

impl Item<'_> {
    fn name(&self) -> String {
        self.resolve.name_world_key(self.key)
    }

    fn interface(&self) -> Option<&WitInterface> {
        match self.item {
            WorldItem::Interface { id, .. } => Some(&self.resolve.interfaces[*id]),
            _ => None,
        }
    }

    fn package(&self) -> Option<&PackageName> {
        Some(&self.resolve.packages[self.interface()?.package?].name)
    }

    /// Whether this is the same, in a compatible version: a component that imports 1.0.2 may get 1.0.0
    /// here, but not 2.0.0.
    fn is(&self, other: &Item) -> bool {
        self.resolve.name_canonicalized_world_key(self.key)
            == other.resolve.name_canonicalized_world_key(other.key)
    }

    /// Whether this is the same in another version.
    fn is_other_version_of(&self, other: &Item) -> bool {
        let (Some(this), Some(that)) = (self.package(), other.package()) else {
            return false;
        };
        let name = |item: &Item| item.interface().and_then(|interface| interface.name.clone());
        (&this.namespace, &this.name, name(self)) == (&that.namespace, &that.name, name(other))
    }

    fn functions(&self) -> Vec<&Function> {
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
    fn is_only_types(&self) -> bool {
        self.functions().is_empty() && !self.has_resources()
    }

    fn stands(&self, standing: Standing) -> Interface {
        Interface {
            name: self.name(),
            functions: self.functions().len(),
            standing,
        }
    }
}

/// Why a component does not fit. Problems with one cause become one sentence.
#[derive(Default)]
struct Causes {
    not_offered: Vec<String>,
    lacking: Vec<String>,
    other_versions: BTreeMap<String, Vec<String>>,
    differing: Vec<String>,
}

impl Causes {
    fn other_version(&mut self, theirs: &Item) {
        let package = theirs.package().map(ToString::to_string).unwrap_or_default();
        let names = self.other_versions.entry(package).or_default();
        names.extend(theirs.interface().and_then(|interface| interface.name.clone()));
    }

    /// Compares every function that the user of an interface calls with the provider's.
    fn difference(&mut self, theirs: &Item, ours: &Item, user: &Item, provider: &Item) -> Standing {
        let provided = provider.functions();
        let component_uses = std::ptr::eq(user, theirs);
        let differences: Vec<_> = user
            .functions()
            .into_iter()
            .filter_map(|used| {
                let found = provided.iter().find(|function| function.name == used.name);
                let difference = match found {
                    None if component_uses => "this host does not offer it".into(),
                    None => "the component does not offer it".into(),
                    Some(found) => {
                        let (their_function, our_function) = if component_uses {
                            (used, *found)
                        } else {
                            (*found, used)
                        };
                        types::difference((theirs.resolve, their_function), (ours.resolve, our_function))?
                    }
                };
                Some(format!("`{}`: {difference}", used.name))
            })
            .collect();
        if differences.is_empty() {
            return Standing::Fits;
        }
        let mut text = format!("its {} is another than this host's: ", theirs.name());
        text.push_str(&differences[..differences.len().min(NAMED)].join("; "));
        if differences.len() > NAMED {
            text.push_str(&format!("; and {} more functions", differences.len() - NAMED));
        }
        self.differing.push(
            text + " (build it with the wit/ of this portico, or run the portico that it was built for)",
        );
        Standing::Differs
    }

    fn into_problems(self, contract: &World) -> Vec<String> {
        let mut problems = Vec::new();
        let names = |items: &mut dyn Iterator<Item = Item>| {
            let used = items.filter(|item| !item.is_only_types());
            used.map(|item| item.name()).collect::<Vec<_>>().join(", ")
        };
        for (package, interfaces) in self.other_versions {
            let interfaces = interfaces.join(", ");
            problems.push(format!(
                "it is made for {package} ({interfaces}), and this host speaks {}: run the portico that speaks the \
                 other, or build the component with the wit/ of this one",
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
                "it wants {}, which a component gets from no host of Portico; this one offers {}: {advice}",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_every_file_in_wit() {
        let wit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let mut files: Vec<_> = std::fs::read_dir(wit)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".wit"))
            .collect();
        files.sort();
        assert_eq!(files, WIT.map(|(name, _)| name));
    }

    /// The problems of a component whose contract has this change.
    #[track_caller]
    fn problems(old: &str, new: &str) -> Vec<String> {
        let contract = World::contract().unwrap();
        let found = std::cell::Cell::new(false);
        let changed = World::parse(|text| {
            found.set(found.get() || text.contains(old));
            text.replace(old, new)
        });
        assert!(found.get(), "{old} is not in wit/");
        contract.compare(&changed.unwrap()).problems
    }

    #[track_caller]
    fn assert_problem(old: &str, new: &str, words: &str) {
        let problems = problems(old, new);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].contains(words), "{words} is not in: {}", problems[0]);
    }

    #[test]
    fn differences_of_types_are_described() {
        let keys = "keys: func(names: list<string>) -> list<string>";
        let word = "parameter `names`: u32 where this host has string";
        assert_problem(keys, "keys: func(names: list<u32>) -> list<string>", word);
        let word = "parameter `names`: option<string> where this host has list<string>";
        assert_problem(keys, "keys: func(names: option<string>) -> list<string>", word);
        let word = "it has 2 parameters, and here it has 1";
        assert_problem(
            keys,
            "keys: func(names: list<string>, to: bool) -> list<string>",
            word,
        );
        assert_problem(keys, "keys: func(names: list<string>)", "it has no result");
        let word = "record `procedure`: it adds `costs`";
        assert_problem("hashes: bool,", "hashes: bool, costs: u32,", word);
        let word = "record `procedure`: field `hashes`: u8 where this host has bool";
        assert_problem("hashes: bool,", "hashes: u8,", word);
        assert_problem("        debug,\n", "", "enum `level`: it lacks `debug`");
        assert_problem(
            "        debug,\n",
            "        inform,\n",
            "it lacks `debug` and adds `inform`",
        );
        let order = "parameter `level`: string where this host has level";
        assert_problem(
            "level: level, message: string",
            "message: string, level: level",
            order,
        );
        let word = "variant `access`: case `one-of`: string where this host has list<string>";
        assert_problem("one-of(list<string>)", "one-of(string)", word);
    }

    #[test]
    fn what_either_side_lacks_is_described() {
        let word = "does not offer portico:dashboard/sign-in@1.0.0, which this host calls";
        assert_problem("export sign-in;", "", word);
        assert_problem(
            "write: func(",
            "shout: func(",
            "`shout`: this host does not offer it",
        );
        assert_problem(
            "keys: func(",
            "locks: func(",
            "`keys`: the component does not offer it",
        );
        let more = "interface log { more: func();";
        assert_problem("interface log {", more, "`more`: this host does not offer it");
        let version = "portico:dashboard@2.0.0";
        assert_problem("portico:dashboard@1.0.0", version, version);
    }

    #[test]
    fn compatible_differences_are_no_problem() {
        for (old, new) in [
            ("portico:dashboard@1.0.0", "portico:dashboard@1.0.4"),
            ("import icons;", ""),
            ("keys: func(names:", "keys: func(words:"),
            ("interface names {", "interface names { more: func();"),
            ("export names;", "export names; export more: func();"),
            (
                "import log;",
                "import log; import more: interface { record pair { a: u8, b: u8 } }",
            ),
        ] {
            assert_eq!(problems(old, new), [""; 0], "{new}");
        }
    }
}
