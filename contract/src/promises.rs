//! What each version of the contract promises to the earlier ones with the same major number.

use anyhow::Context as _;
use wit_component::semver_check;
use wit_parser::{Resolve, WorldId, WorldItem};

use crate::text::Recorded;

/// Fails if the contract breaks the promise of an earlier version.
pub fn check_promises(contract: &Recorded, recorded: &[Recorded]) -> anyhow::Result<()> {
    let version = &contract.version;
    let earlier = recorded
        .iter()
        .map(|recorded| (&recorded.version, &recorded.text));
    let earlier = earlier.filter(|(earlier, _)| earlier.major == version.major && *earlier < version);
    for (earlier, text) in earlier {
        check_compatible(text, &contract.text).with_context(|| {
            format!(
                "{version} does not keep what {earlier} promised: undo it, or raise the first number of the version in \
                 wit/"
            )
        })?;
    }
    Ok(())
}

fn check_compatible(earlier: &str, later: &str) -> anyhow::Result<()> {
    // Two versions, so that both texts can be in one `Resolve`; after every `@since`.
    let (mut resolve, earlier) = parse(earlier, "9999.0.1")?;
    let (other, later) = parse(later, "9999.0.2")?;
    let later = resolve.merge(other)?.map_world(later, Default::default())?;
    semver_check(resolve.clone(), later, earlier)
        .context("a component of the later version does not run in a host of the earlier one")?;
    let known = export_names(&resolve, earlier);
    let worlds = &mut resolve.worlds;
    let interfaces = &resolve.interfaces;
    worlds[later].exports.retain(|_, item| match item {
        WorldItem::Interface { id, .. } => known.contains(&interfaces[*id].name),
        _ => false,
    });
    semver_check(resolve, earlier, later)
        .context("a component of the earlier version does not run in a host of the later one")
}

/// The names of the interfaces that a world exports.
fn export_names(resolve: &Resolve, world: WorldId) -> Vec<Option<String>> {
    let exports = resolve.worlds[world].exports.values();
    let interfaces = exports.filter_map(|item| match item {
        WorldItem::Interface { id, .. } => Some(&resolve.interfaces[*id]),
        _ => None,
    });
    interfaces.map(|interface| interface.name.clone()).collect()
}

/// Parses a text of the contract under this version.
fn parse(text: &str, version: &str) -> anyhow::Result<(Resolve, WorldId)> {
    let (header, rest) = text.split_once('\n').context("an empty text")?;
    let (name, _) = header
        .split_once('@')
        .context("a text that does not begin with its package")?;
    let mut resolve = Resolve::new();
    let package = resolve.push_source("recorded.wit", &format!("{name}@{version};\n{rest}"))?;
    let world = resolve.select_world(&[package], Some("plugin"))?;
    Ok((resolve, world))
}
