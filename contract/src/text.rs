//! The contract as text: the present one and the recorded ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use semver::Version;
use wit_component::WitPrinter;
use wit_parser::{PackageId, Resolve, Stability, WorldItem};

/// The contract in `wit/`.
pub struct Contract {
    resolve: Resolve,
    package: PackageId,
}

impl Contract {
    /// Reads a folder of WIT.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut resolve = Resolve::new();
        let (package, _) = resolve.push_dir(folder)?;
        Ok(Self { resolve, package })
    }

    fn version(&self) -> anyhow::Result<Version> {
        let name = &self.resolve.packages[self.package].name;
        let version = name.version.clone();
        version.with_context(|| format!("the package {name} has no version"))
    }

    /// What is recorded of it.
    pub fn recorded(&self) -> anyhow::Result<Recorded> {
        let (version, text) = (self.version()?, self.text()?);
        Ok(Recorded { version, text })
    }

    /// The whole text with the interfaces that its worlds use of other packages, without comments.
    fn text(&self) -> anyhow::Result<String> {
        let mut resolve = self.resolve.clone();
        let others = keep_what_is_used(&mut resolve, self.package);
        let mut printer = WitPrinter::default();
        printer.emit_docs(false);
        printer.print(&resolve, self.package, &others)?;
        Ok(printer.output.to_string())
    }

    /// The package in the binary form of WebAssembly, which tools read without other files.
    pub fn encode(&self) -> anyhow::Result<Vec<u8>> {
        wit_component::encode(&self.resolve, self.package)
    }

    /// The text of its own package, with comments.
    pub(crate) fn described(&self) -> anyhow::Result<String> {
        let mut printer = WitPrinter::default();
        printer.print(&self.resolve, self.package, &[])?;
        Ok(printer.output.to_string())
    }
}

/// Removes from the other packages what the worlds of this one do not use, and since when they have the rest: a later
/// edition of them may say otherwise of the same functions. Returns those of which something is left.
fn keep_what_is_used(resolve: &mut Resolve, package: PackageId) -> Vec<PackageId> {
    let worlds = resolve.packages[package].worlds.values();
    let items = worlds.flat_map(|world| {
        let world = &resolve.worlds[*world];
        world.imports.values().chain(world.exports.values())
    });
    let used: BTreeSet<_> = items
        .filter_map(|item| match item {
            WorldItem::Interface { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    let mut others = Vec::new();
    for (id, other) in resolve.packages.iter_mut().filter(|(id, _)| *id != package) {
        other.worlds.clear();
        other.interfaces.retain(|_, interface| used.contains(interface));
        for interface in other.interfaces.values() {
            let interface = &mut resolve.interfaces[*interface];
            interface.stability = Stability::Unknown;
            for function in interface.functions.values_mut() {
                function.stability = Stability::Unknown;
            }
            for type_id in interface.types.values() {
                resolve.types[*type_id].stability = Stability::Unknown;
            }
        }
        if !other.interfaces.is_empty() {
            others.push(id);
        }
    }
    others
}

/// A recorded version of the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its version.
    pub version: Version,
    /// The whole text, without comments.
    pub text: String,
}

impl Recorded {
    /// All versions in a folder, the earliest first.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let mut all = Vec::new();
        for file in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "wit") {
                let name = path.file_stem().unwrap_or_default().display().to_string();
                let version = Version::parse(&name).with_context(|| format!("{}", path.display()))?;
                let text = fs::read_to_string(&path)?;
                all.push(Self { version, text });
            }
        }
        all.sort_by(|one, other| one.version.cmp(&other.version));
        Ok(all)
    }

    /// Writes it to a folder. Fails if the version is there with another text.
    pub fn write_to(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let path = folder.join(format!("{}.wit", self.version));
        if let Ok(present) = fs::read_to_string(&path) {
            ensure!(
                present == self.text,
                "{} is recorded already, and is another text: undo it, or raise the version of the package in wit/",
                self.version
            );
        }
        fs::write(&path, &self.text)?;
        Ok(path)
    }
}
