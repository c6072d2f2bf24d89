//! `portico copy`: from one database to another, whatever their drivers.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use portico_postgres::{PostgresStorage, copying as postgres};
use portico_server::data_dir::DataDir;
use portico_sqlite::copying as sqlite;
use portico_storage::copying::{Counts, RowReader, RowWriter, Step, copy};

use super::{
    copy_places::CopySettings,
    output::print,
    process::block_on,
    progress::{Progress, Signals},
    settings::Settings,
};

const HELP: &str = "\
Copies everything: users with the hashes of their passwords, identities, sessions, API keys, invites,
groups, boards, search engines, apps and the audit log. Users stay signed in, and keys stay valid.

The target has no data before: it is a data directory without a database, or a database of PostgreSQL
without Portico's records (its tables are created). Either all of the source is in it afterwards, or it
is as it was, whatever interrupts the command. At the end every record is read back on both sides and
compared. The source is not changed.

No host may use a data directory meanwhile. A source in PostgreSQL may be in use: the copy shows one
moment of it, and what is changed later is not in it. So stop the hosts, copy, and start them on the
target. A backup of SQLite is copied by restoring it into an empty data directory first.

Examples:
  PORTICO_COPY_TO='postgres://portico:PASSWORD@db.example/portico?sslmode=verify-full' \\
    portico copy --from sqlite:/var/lib/portico
  PORTICO_COPY_FROM='postgres://portico:PASSWORD@db.example/portico' portico copy --to sqlite:/var/lib/portico";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Copy {
    #[command(flatten)]
    places: CopySettings,
}

impl Copy {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        settings.start_log(true)?;
        let (from, to) = self.places.places(&settings.copy)?;
        let (from, to) = (
            DatabaseLocation::read(from, "from", "FROM")?,
            DatabaseLocation::read(to, "to", "TO")?,
        );
        let (source, target, counts) = block_on(run(from, to))?;
        let count = |name: &str| {
            let counts = counts.iter().find(|(table, _)| table.name == name);
            counts.map_or(0, |(_, count)| *count)
        };
        print(&format!(
            "Copied {source} to {target}: {} users, {} apps, {} boards, {} rows of the audit log; {} records \
             altogether, all of them compared",
            count("user_account"),
            count("app"),
            count("board"),
            count("audit"),
            counts.iter().map(|(_, count)| count).sum::<u64>()
        ))?;
        print("Start hosts only on the target from now on: what changes in the source does not follow")
    }
}

/// Copies. Returns the names of source and target, and how much was copied.
async fn run(from: DatabaseLocation, to: DatabaseLocation) -> anyhow::Result<(String, String, Counts)> {
    let mut signals = Signals::new()?;
    let copying = async {
        let mut source = from.open_source().await?;
        let mut target = to.open_target().await?;
        let mut progress = Progress::new();
        let mut shows = |step| progress.show(|| describe(step));
        let counts = copy(&mut *source.reader, &mut *target.writer, &mut shows).await;
        let counts = counts.with_context(|| cannot_copy(&source.shown, &target.shown))?;
        anyhow::Ok((source, target, counts))
    };
    let (source, target, counts) = tokio::select! {
        copied = copying => copied?,
        () = signals.received() => bail!("interrupted; nothing was written"),
    };
    // From here on a signal changes nothing: the handlers stay installed.
    let kept = target.writer.commit().await;
    kept.with_context(|| cannot_copy(&source.shown, &target.shown))?;
    Ok((source.shown, target.shown, counts))
}

fn cannot_copy(source: &str, target: &str) -> String {
    format!("cannot copy {source} to {target}")
}

fn describe(step: Step) -> String {
    let (what, done, all) = match step {
        Step::Copying(done, all) => ("copying", done, all),
        Step::Comparing(done, all) => ("comparing", done, all),
    };
    let percent = (done * 100).checked_div(all).unwrap_or(100);
    format!("{what}: {percent} % of {all} records")
}

/// Where a database is.
enum DatabaseLocation {
    /// SQLite, in this data directory.
    Data(PathBuf),
    /// PostgreSQL, at this URL.
    Url(String),
}

struct Source {
    reader: Box<dyn RowReader>,
    shown: String,
    /// Locked until the copy is done.
    _data: Option<DataDir>,
}

struct Destination {
    writer: Box<dyn RowWriter>,
    shown: String,
    _data: Option<DataDir>,
}

impl DatabaseLocation {
    /// Reads `sqlite:DIR` or `postgres://…`. The error does not repeat the text, because it may contain a password.
    fn read(text: Option<String>, flag: &str, variable: &str) -> anyhow::Result<Self> {
        let text = text.filter(|text| !text.is_empty());
        let text = text.with_context(|| {
            format!(
                "say with --{flag} (PORTICO_COPY_{variable}) what to copy {flag}: sqlite:DIR or postgres://…"
            )
        })?;
        match text.strip_prefix("sqlite:") {
            Some(folder) if !folder.is_empty() => Ok(Self::Data(folder.into())),
            None if PostgresStorage::is_url(&text) => Ok(Self::Url(text)),
            _ => bail!(
                "--{flag} (PORTICO_COPY_{variable}) is neither sqlite:DIR, with a data directory, nor \
                 postgres://USER:PASSWORD@HOST/DATABASE"
            ),
        }
    }

    async fn open_source(self) -> anyhow::Result<Source> {
        let folder = match self {
            Self::Data(folder) => folder,
            Self::Url(url) => {
                let reader = postgres::DatabaseReader::open(&url).await?;
                return Ok(Source {
                    shown: reader.shown().to_owned(),
                    reader: Box::new(reader),
                    _data: None,
                });
            }
        };
        let shown = folder.display();
        ensure!(
            !folder.is_file(),
            "{shown} is a file: give the data directory that holds it; a backup is restored into an empty one first"
        );
        ensure!(folder.is_dir(), "there is no data directory {shown}");
        ensure!(
            DataDir::has_database(&folder)?,
            "there is no database in {shown}: no host has worked there yet, or it is not the data directory"
        );
        let data = DataDir::open(&folder)?;
        Ok(Source {
            reader: Box::new(sqlite::DatabaseReader::open(&data.database())?),
            shown: format!("sqlite:{}", data.path().display()),
            _data: Some(data),
        })
    }

    async fn open_target(self) -> anyhow::Result<Destination> {
        let folder = match self {
            Self::Data(folder) => folder,
            Self::Url(url) => {
                let writer = postgres::DatabaseWriter::open(&url).await?;
                return Ok(Destination {
                    shown: writer.shown().to_owned(),
                    writer: Box::new(writer),
                    _data: None,
                });
            }
        };
        ensure!(
            !folder.is_file(),
            "{} is a file: name a folder, which becomes the data directory",
            folder.display()
        );
        let data = DataDir::open(&folder)?;
        Ok(Destination {
            writer: Box::new(sqlite::DatabaseWriter::create(&data.database())?),
            shown: format!("sqlite:{}", data.path().display()),
            _data: Some(data),
        })
    }
}
