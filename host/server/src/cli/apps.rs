//! Settings of apps.

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::layers::layered;

/// Who sees which app, whatever is stored; in the file under `[apps]`.
#[derive(Args, Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct AppSettings {
    /// Which apps a caller sees [default: as chosen in the console, where it is everyone at first]
    #[arg(long = "app-visibility", env = "PORTICO_APP_VISIBILITY", value_name = "WHO")]
    visibility: Option<Visibility>,
}

layered!(AppSettings { visibility });

impl AppSettings {
    /// Whether a caller sees only the apps on boards that they may view; `None` if that is as stored.
    pub fn by_board(self) -> Option<bool> {
        self.visibility.map(|visibility| visibility == Visibility::Boards)
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
