//! The contract: the world `plugin` of `wit/`.

use wit_parser::{Resolve, SourceMap};

use super::world::World;

/// A test checks that these are all files of `wit/`.
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
