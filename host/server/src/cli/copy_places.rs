//! The settings of `portico copy`.

use clap::Args;
use serde::Deserialize;

use super::layers::layered;

/// From where to where; in the file under `[copy]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(default, deny_unknown_fields)]
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
    /// The target, written in the same way
    #[arg(
        long,
        env = "PORTICO_COPY_TO",
        hide_env_values = true,
        value_name = "DATABASE"
    )]
    pub to: Option<String>,
}

layered!(CopySettings { from, to });
