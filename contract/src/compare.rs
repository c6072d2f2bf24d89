//! Compares the contract with its recorded versions.

use std::fmt;

use anyhow::Context;
use semver::Version;
use wit_parser::{Resolve, WorldId};

use crate::text::Recorded;

/// How the contract compares with its recorded versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the recorded text of its version.
    Same,
    /// Its version was recorded with another text, whose components would run.
    NeedsLaterVersion(Version),
    /// Its version is this recorded one or compatible with it, but components of that would not run, for this
    /// reason.
    NeedsOtherVersion(Version, String),
    /// Its version is not recorded yet, and breaks no promise.
    NotRecorded,
}

/// Compares a text of the contract with every recorded one.
pub fn check(version: &Version, text: &str, recorded: &[Recorded]) -> anyhow::Result<Verdict> {
    let same = recorded.iter().find(|kept| kept.version == *version);
    if same.is_some_and(|kept| kept.text == text) {
        return Ok(Verdict::Same);
    }
    for kept in recorded
        .iter()
        .filter(|kept| is_compatible_with(version, &kept.version))
    {
        if let Err(error) = check_components(&kept.text, text) {
            let words = format!("{error:#}");
            return Ok(Verdict::NeedsOtherVersion(kept.version.clone(), words));
        }
    }
    Ok(match same {
        Some(kept) => Verdict::NeedsLaterVersion(kept.version.clone()),
        None => Verdict::NotRecorded,
    })
}

/// Whether a host of the first version must run components of the second.
fn is_compatible_with(version: &Version, earlier: &Version) -> bool {
    let line = |version: &Version| match version.major {
        0 => (0, version.minor),
        major => (major, 0),
    };
    line(version) == line(earlier) && earlier <= version
}

/// Fails if components of the old contract do not run in a host of the new one.
fn check_components(old: &str, new: &str) -> anyhow::Result<()> {
    let (mut resolve, old) = parse(old, "9999.0.1")?;
    let (other, new) = parse(new, "9999.0.2")?;
    let map = resolve.merge(other)?;
    let new = map.map_world(new, Default::default())?;
    wit_component::semver_check(resolve, old, new)
}

/// Parses a text of the contract under this version, so that two texts can be merged. It must be later than
/// every `@since`.
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
