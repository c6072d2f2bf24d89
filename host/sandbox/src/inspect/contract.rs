//! The contract: the world `plugin` of `wit/`.

use wit_parser::{Resolve, SourceMap};

use super::world::World;

/// A file of the contract, which `build.rs` has written without comments, and its name.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

/// A test checks that these are all files of `wit/`.
const WIT: [(&str, &str); 11] = [
    file!("apps.wit"),
    file!("icons.wit"),
    file!("log.wit"),
    file!("names.wit"),
    file!("procedures.wit"),
    file!("sign-in.wit"),
    file!("state.wit"),
    file!("storage.wit"),
    file!("types.wit"),
    file!("users.wit"),
    file!("world.wit"),
];
const WIT_DEPENDENCIES: [(&str, &str); 2] = [file!("wall-clock.wit"), file!("random.wit")];

/// The contract of this host.
pub(super) fn contract() -> anyhow::Result<World> {
    parse(str::to_owned)
}

/// The contract after this change to its files.
pub(super) fn parse(change: impl Fn(&str) -> String) -> anyhow::Result<World> {
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
    Ok(World::new(resolve, id))
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
}
