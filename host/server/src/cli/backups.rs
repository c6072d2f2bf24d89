//! Settings of the backups that a host makes by itself.

use std::{num::NonZero, path::PathBuf};

use anyhow::ensure;
use clap::Args;
use portico_server::{backups::Backups, data_dir::DataDir};
use serde::Deserialize;

use super::{
    front::{Span, from_text},
    layers::layered,
};

const DEFAULT_KEEP: NonZero<usize> = NonZero::new(7).unwrap();

/// How often the host copies its database; in the file under `[backup]`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct BackupSettings {
    /// Copy the database in the data directory this often (12h, 1d), and check each copy
    /// [default: never]
    #[arg(long = "backup-every", env = "PORTICO_BACKUP_EVERY", value_name = "TIME")]
    #[serde(deserialize_with = "from_text")]
    every: Option<Span>,
    /// How many of these copies stay; when there is a new one, the oldest goes [default: 7]
    #[arg(long = "backup-keep", env = "PORTICO_BACKUP_KEEP", value_name = "COUNT")]
    keep: Option<NonZero<usize>>,
    /// Where they are; better on another disk [default: `backups` in the data directory]
    #[arg(long = "backup-folder", env = "PORTICO_BACKUP_FOLDER", value_name = "DIR")]
    folder: Option<PathBuf>,
}

layered!(BackupSettings { every, keep, folder });

impl BackupSettings {
    /// Refuses backups of a database that is not in the data directory.
    pub fn check(&self, database: Option<&str>) -> anyhow::Result<()> {
        ensure!(
            self.every.is_none() || database.is_none(),
            "--backup-every copies the database in the data directory, and the database is PostgreSQL's: let its server \
             make the backups, for example with pg_dump"
        );
        Ok(())
    }

    /// The backups to make of the database in this data directory; `None`: none.
    pub fn backups(&self, data: &DataDir) -> Option<Backups> {
        let every = self.every?;
        let folder = self
            .folder
            .clone()
            .filter(|folder| !folder.as_os_str().is_empty());
        Some(Backups {
            database: data.database(),
            folder: folder.unwrap_or_else(|| data.path().join("backups")),
            every: every.duration(),
            keep: self.keep.unwrap_or(DEFAULT_KEEP),
        })
    }
}
