//! Settings of apps.

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::layers::layered;

/// Who sees which app; in the file under `[apps]`.
#[derive(Args, Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct AppSettings {
    /// Which apps a caller sees [default: everyone]
    #[arg(long = "app-visibility", env = "PORTICO_APP_VISIBILITY", value_name = "WHO")]
    visibility: Option<Visibility>,
}

layered!(AppSettings { visibility });

impl AppSettings {
    /// Whether a caller sees only the apps on boards that they may view.
    pub fn by_board(self) -> bool {
        self.visibility == Some(Visibility::Boards)
    }
}

#[derive(Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Visibility {
    /// Every signed-in user sees all apps; by their ids, anyone
    Everyone,
    /// Callers see the apps on boards that they may view; those who may create apps or view all boards see all
    Boards,
}
