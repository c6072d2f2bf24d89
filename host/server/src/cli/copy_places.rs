//! The settings of `portico copy`.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::secret::read_layered;

/// From where to where; in the file under `[copy]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct CopySettings {
    /// The source: sqlite:DIR with a data directory, or postgres://USER:PASSWORD@HOST/DATABASE. A
    /// password is safer in the environment, where `ps` does not show it
    #[arg(
        long,
        env = "PORTICO_COPY_FROM",
        hide_env_values = true,
        value_name = "DATABASE"
    )]
    pub from: Option<String>,
    /// The file with the source, written in the same way
    #[arg(long, env = "PORTICO_COPY_FROM_FILE", value_name = "FILE")]
    pub from_file: Option<PathBuf>,
    /// The target, written in the same way
    #[arg(
        long,
        env = "PORTICO_COPY_TO",
        hide_env_values = true,
        value_name = "DATABASE"
    )]
    pub to: Option<String>,
    /// The file with the target
    #[arg(long, env = "PORTICO_COPY_TO_FILE", value_name = "FILE")]
    pub to_file: Option<PathBuf>,
}

impl CopySettings {
    /// Source and target, from `self` or, where it has none, from `fallback`.
    pub fn places(&self, fallback: &Self) -> anyhow::Result<(Option<String>, Option<String>)> {
        let from = |settings: &Self| (settings.from.clone(), settings.from_file.clone());
        let to = |settings: &Self| (settings.to.clone(), settings.to_file.clone());
        let read = |setting, (text, file): Place, (other_text, other_file): Place| {
            let own = (text.as_deref(), file.as_deref());
            read_layered(setting, own, (other_text.as_deref(), other_file.as_deref()))
        };
        Ok((
            read("from", from(self), from(fallback))?,
            read("to", to(self), to(fallback))?,
        ))
    }
}

/// The text of a place, and the file with it.
type Place = (Option<String>, Option<PathBuf>);
