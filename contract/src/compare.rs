//! Whether the contract keeps what was promised.

use std::fmt;

use anyhow::Context;
use semver::Version;
use wit_parser::{Resolve, WorldId};

use crate::text::Recorded;

/// How the contract stands to what was recorded of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what was recorded under its version.
    Same,
    /// It is another text under a version that was recorded; a component of that one would run.
    NeedsLaterVersion(Version),
    /// It is another text under a version that was recorded, or that may stand for one, and a
    /// component of that one would not run. In the words of the check.
    NeedsOtherVersion(Version, String),
    /// Its version was not recorded yet, and breaks no promise.
    NotRecorded,
}

/// Holds a text of the contract against every recorded one.
pub fn check(version: &Version, text: &str, recorded: &[Recorded]) -> anyhow::Result<Verdict> {
    let same = recorded.iter().find(|kept| kept.version == *version);
    if same.is_some_and(|kept| kept.text == text) {
        return Ok(Verdict::Same);
    }
    for kept in recorded.iter().filter(|kept| stands_for(version, &kept.version)) {
        if let Err(error) = compatible(&kept.text, text) {
            let words = format!("{error:#}");
            return Ok(Verdict::NeedsOtherVersion(kept.version.clone(), words));
        }
    }
    Ok(match same {
        Some(kept) => Verdict::NeedsLaterVersion(kept.version.clone()),
        None => Verdict::NotRecorded,
    })
}

/// Whether a host of the one version runs components of the other.
fn stands_for(version: &Version, earlier: &Version) -> bool {
    let line = |version: &Version| match version.major {
        0 => (0, version.minor),
        major => (major, 0),
    };
    line(version) == line(earlier) && earlier <= version
}

/// Whether a component of the old contract runs in a host of the new one.
fn compatible(old: &str, new: &str) -> anyhow::Result<()> {
    let (mut resolve, old) = parse(old, "0.0.1")?;
    let (other, new) = parse(new, "0.0.2")?;
    let map = resolve.merge(other)?;
    let new = map.map_world(new, Default::default())?;
    wit_component::semver_check(resolve, old, new)
}

/// Reads a text of the contract under another version, so that two of them have a place beside
/// each other.
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

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => write!(formatter, "the contract is as it was recorded"),
            Self::NeedsLaterVersion(version) => write!(
                formatter,
                "the contract is not {version} as it was recorded, but runs every component of it: raise the last \
                 number of the version in wit/, then `make record-contract`"
            ),
            Self::NeedsOtherVersion(version, words) => write!(
                formatter,
                "a component of {version} would not run any more ({words}): undo it, or raise the version in wit/ to \
                 one that does not stand for {version}, then `make record-contract`"
            ),
            Self::NotRecorded => write!(
                formatter,
                "this version is not recorded yet: `make record-contract`"
            ),
        }
    }
}
