//! Settings of the compatibility with other dashboards.

use clap::Args;
use serde::Deserialize;

use super::layers::layered;

/// Which clients of other dashboards are served; in the file under `[compat]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct CompatSettings {
    /// Serve the clients of Homarr unmodified. Every procedure call then answers superjson
    /// (docs/homarr-clients.md)
    #[arg(
        long = "compat-homarr",
        env = "PORTICO_COMPAT_HOMARR",
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true"
    )]
    pub homarr: Option<bool>,
}

layered!(CompatSettings { homarr });
