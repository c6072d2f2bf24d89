//! `portico backup`.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use portico_server::data_dir::DataDir;
use portico_sqlite as sqlite;

use super::{
    database::require_file,
    output::{complain, print},
    progress::interruptible,
    settings::{DataArgs, Settings},
};

const HELP: &str = "\
The copy shows the database at one moment, even if a host writes to it meanwhile. It gets its name only
after it has been checked. It contains everything: users with the hashes of their passwords, apps,
groups, boards, keys, invites. It is therefore readable for its owner only: keep it so. Icons and the
compiled component are not in it; they are created again.

Examples:
  portico backup /backups/portico-$(date +%F).db
  portico backup --data /var/lib/portico --force /backups/portico.db";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Backup {
    /// The file to write
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Backup {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        require_file(
            self.data.database(&settings)?.as_deref(),
            "copy it with `pg_dump --format=custom --file=FILE URL`, which comes with PostgreSQL",
        )?;
        let data = self.data.data.unwrap_or_else(|| settings.data());
        let (shown, shown_data) = (self.file.display().to_string(), data.display().to_string());
        let has_database = DataDir::has_database(&data)?;
        ensure!(
            data.is_dir(),
            "there is no data directory {shown_data}; say with --data where it is"
        );
        let database = DataDir::database_in(&data);
        ensure!(
            has_database,
            "there is no database in {shown_data}: no host has worked there yet, or it is not the data directory \
             (--data)"
        );
        let contents = interruptible(move |go_on| sqlite::backup(&database, &self.file, self.force, go_on))?;
        print(&format!(
            "Wrote {shown}: {} bytes, {} users, {} apps (version {} of the tables)",
            contents.bytes, contents.users, contents.apps, contents.version
        ))?;
        if let Some(problem) = contents.refused {
            complain(&format!("`portico restore` will refuse this copy: {problem}"));
        }
        print(&format!(
            "To put it in place, with no host running: portico restore {shown} --data {shown_data}"
        ))
    }
}
