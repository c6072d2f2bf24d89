//! `portico restore`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use portico_model::time::{self, Clock, SystemClock};
use portico_server::data_dir::DataDir;
use portico_sqlite as sqlite;

use super::{
    database::require_file,
    output::print,
    progress::interruptible,
    settings::{DataArgs, Settings},
};

const HELP: &str = "\
The file is copied and checked before anything changes; it may be from an older version. If the command
is interrupted, the data directory holds either the old database or all of the new one. An existing
database is replaced only with --force, and is kept next to the new one.

The dashboard is again as it was when the backup was made: passwords are the old ones, deleted users
and API keys are back and valid, and used invites can be used again. All sessions end, and users sign
in again. Delete API keys that were withdrawn since.

Examples:
  portico restore /backups/portico.db --data /var/lib/portico
  portico restore /backups/portico.db --data /var/lib/portico --force";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Restore {
    /// A file that `portico backup` wrote
    file: PathBuf,
    /// Replace an existing database; it is kept under another name
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Restore {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        require_file(
            self.data.database(&settings)?.as_deref(),
            "put a dump back into a new database with `pg_restore --single-transaction --dbname=URL FILE`, which comes \
             with PostgreSQL, end all sessions with DELETE FROM session, and start the hosts with that database \
             (docs/backup.md)",
        )?;
        let file = self.file;
        let shown = file.display().to_string();
        // Checked before a data directory is created.
        std::fs::metadata(&file).with_context(|| format!("cannot restore {shown}"))?;
        let data = DataDir::open(&self.data.data.unwrap_or_else(|| settings.data()))?;
        let database = data.database();
        let now = time::format(SystemClock.now()).context("the clock is beyond the year 9999")?;
        let moment: String = now.chars().filter(|letter| *letter != ':').collect();
        let force = self.force;
        let restored = interruptible(move |go_on| sqlite::restore(&file, &database, force, &moment, go_on))?;
        print(&format!(
            "Restored {shown} into {}: {} users, {} apps",
            data.path().display(),
            restored.contents.users,
            restored.contents.apps
        ))?;
        if let Some(kept) = restored.kept {
            print(&format!("The database that was there is now {}", kept.display()))?;
        }
        print(&format!(
            "All sessions have ended ({}). Passwords, users, API keys and invites are those of the backup: see \
             `portico restore --help`",
            restored.sessions
        ))
    }
}
