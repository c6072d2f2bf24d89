//! A copy of a database, made while others write to it.
//!
//! Invariants:
//! - The copy is the state at one moment: it is read in one transaction, which in write-ahead mode sees no later commit
//!   and blocks no writer.
//! - A file under the name of the copy is complete, checked and on the disk.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::connection::{become_one_file, connect, connect_alone};
use super::health::{explain, explain_any, first_few};
use super::migrations::{APPLICATION_ID, number, refuse_earlier};
use super::schema;
use super::temporary::Temporary;

/// Pages copied between two calls of `go_on`: 1 MiB.
const PAGES: i32 = 256;
/// The prefix of the names of unfinished copies.
const TEMPORARY: &str = ".portico-backup-";

/// What a copy holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Its length in bytes.
    pub bytes: u64,
    /// The version of its tables.
    pub version: i64,
    /// How many users.
    pub users: u64,
    /// How many apps.
    pub apps: u64,
    /// Why `restore` will refuse the copy: another program changed the tables. `None` if it will accept the copy.
    pub refused: Option<String>,
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// This many bytes are copied, of this many.
    Copying(u64, u64),
    /// Everything is copied and is being checked.
    Checking,
}

/// Copies a database into a file that only its owner may read.
///
/// `go_on` gets the progress; if it returns false, the copy stops and nothing is left behind. An existing file is
/// replaced only if `overwrite` is true.
pub fn backup(
    database: &Path,
    file: &Path,
    overwrite: bool,
    go_on: &mut dyn FnMut(Step) -> bool,
) -> anyhow::Result<Contents> {
    let shown = file.display();
    let file = std::path::absolute(file)?;
    let exists = || format!("{shown} already exists: choose another name, or replace it with --force");
    ensure!(!file.is_dir(), "{shown} is a folder: name a file in it");
    ensure!(overwrite || !file.try_exists()?, exists());
    let folder = file.parent().context("a file has a folder")?;
    ensure!(
        folder.is_dir(),
        "folder {} does not exist: create it",
        folder.display()
    );
    ensure!(
        !belongs_to(database, &file)?,
        "{shown} belongs to the data directory itself: choose another name"
    );

    // A rename would replace a device or a link itself.
    ensure!(
        std::fs::symlink_metadata(&file).map_or(true, |there| there.is_file()),
        "{shown} is not a regular file: choose another name"
    );

    let copy = Temporary::create(folder, TEMPORARY, 0o600)
        .with_context(|| format!("cannot write in the folder {}", folder.display()))?;
    let source = connect(&std::path::absolute(database)?, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(explain)
        .and_then(|source| is_ours(&source).map(|()| source))
        .with_context(|| format!("cannot back up {}", database.display()))?;
    let contents = copy_into(&source, copy.path(), Origin::Host, go_on)
        .with_context(|| format!("cannot back up {} to {shown}", database.display()))?;
    match copy.place(&file, overwrite) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!(exists()),
        placed => placed.with_context(|| format!("cannot write {shown}"))?,
    }
    Ok(contents)
}

/// What Portico keeps in the folder of its database, in addition to files that are named like the database.
const NEIGHBOURS: [&str; 3] = ["cache", "icons", "lock"];

/// Whether the database, or something that Portico or SQLite puts next to it, may have this name or be in a folder of
/// this name.
pub fn belongs_to(database: &Path, file: &Path) -> anyhow::Result<bool> {
    let folder = std::fs::canonicalize(file.parent().context("a file has a folder")?)?;
    let home = std::fs::canonicalize(database.parent().context("a database has a folder")?)?;
    let text = |name: &OsStr| name.to_string_lossy().into_owned();
    let path = folder.join(file.file_name().unwrap_or_default());
    let Some(first) = path.strip_prefix(&home).ok().and_then(|path| path.iter().next()) else {
        return Ok(false);
    };
    let first = text(first);
    let own = text(database.file_name().unwrap_or_default());
    Ok((folder == home && first.starts_with(&own)) || NEIGHBOURS.contains(&first.as_str()))
}

/// Refuses a database of another program, or of an earlier build.
pub(super) fn is_ours(connection: &Connection) -> anyhow::Result<()> {
    let application_id = number(connection, "PRAGMA application_id").map_err(explain)?;
    ensure!(
        application_id == APPLICATION_ID,
        "it is not a Portico database, or it is empty"
    );
    refuse_earlier(connection).map_err(explain_any)
}

/// Who wrote the database that is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The host, in its data directory.
    Host,
    /// Possibly an attacker.
    Untrusted,
}

/// Copies a database into an empty file, which then needs no companion file, and checks the copy. If anyone may have
/// written the database, its schema is checked before anything else is read.
pub(super) fn copy_into(
    source: &Connection,
    file: &Path,
    origin: Origin,
    go_on: &mut dyn FnMut(Step) -> bool,
) -> anyhow::Result<Contents> {
    // It sees one state from its first read until it ends.
    let snapshot = source.unchecked_transaction().map_err(explain)?;
    number(&snapshot, "SELECT count(*) FROM sqlite_schema").map_err(explain)?;
    let page = number(&snapshot, "PRAGMA page_size")? as u64;

    let mut copy = connect_alone(file)?;
    // An incomplete copy is worthless: it is made durable once it is complete.
    copy.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
    let pages = Backup::new(&snapshot, &mut copy)?;
    loop {
        let step = pages.step(PAGES).map_err(explain)?;
        let progress = pages.progress();
        let (all, left) = (progress.pagecount as u64, progress.remaining as u64);
        ensure!(
            go_on(Step::Copying((all - left) * page, all * page)),
            "interrupted; nothing was written"
        );
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => bail!("another program holds the database: try again when it is done"),
        }
    }
    drop(pages);
    if origin == Origin::Untrusted {
        schema::limit_for_schema(&mut copy)?;
    }
    ensure!(become_one_file(&copy)?, "the copy does not become one file");
    ensure!(go_on(Step::Checking), "interrupted; nothing was written");
    let schema = schema::check(&copy).map_err(explain_any);
    let refused = match origin {
        Origin::Host => schema.err().map(|error| format!("{error:#}")),
        Origin::Untrusted => {
            schema?;
            schema::limit_for_content(&mut copy, std::fs::metadata(file)?.len())?;
            None
        }
    };
    check(&copy)?;
    let texts = check_texts(&copy);
    let refused = match origin {
        Origin::Host => refused.or_else(|| texts.err().map(|error| format!("{error:#}"))),
        Origin::Untrusted => {
            texts?;
            None
        }
    };
    let contents = Contents {
        refused,
        ..contents(&copy, file)?
    };
    copy.close().map_err(|(_, error)| explain(error))?;
    Ok(contents)
}

/// Refuses a damaged database.
pub(super) fn check(connection: &Connection) -> anyhow::Result<()> {
    let texts = |sql: &str| -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    let mut broken = texts("PRAGMA integrity_check(100)").map_err(explain)?;
    broken.retain(|text| text != "ok");
    let references = "SELECT 'a row of ' || \"table\" || ' refers to a missing record of ' || parent
                      FROM pragma_foreign_key_check";
    broken.extend(texts(references).map_err(explain)?);
    if broken.is_empty() {
        return Ok(());
    }
    bail!("the database is damaged: {}", first_few(broken));
}

/// Refuses texts that are not UTF-8: SQLite stores any bytes as a text, and a row that holds some cannot be read.
fn check_texts(connection: &Connection) -> anyhow::Result<()> {
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut broken = Vec::new();
    for table in tables {
        let mut rows = connection.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\"")))?;
        let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut found = vec![false; columns.len()];
        let mut rows = rows.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            for (column, found) in found.iter_mut().enumerate() {
                if let ValueRef::Text(text) = row.get_ref(column)? {
                    *found |= std::str::from_utf8(text).is_err();
                }
            }
        }
        let found = columns.iter().zip(found).filter(|(_, found)| *found);
        broken.extend(found.map(|(column, _)| format!("{table}.{column} holds a text that is not UTF-8")));
    }
    if broken.is_empty() {
        return Ok(());
    }
    bail!("the database is damaged: {}", first_few(broken));
}

fn contents(connection: &Connection, file: &Path) -> anyhow::Result<Contents> {
    Ok(Contents {
        bytes: std::fs::metadata(file)?.len(),
        version: number(connection, "PRAGMA user_version")?,
        users: number(connection, "SELECT count(*) FROM user_account")? as u64,
        apps: number(connection, "SELECT count(*) FROM app")? as u64,
        refused: None,
    })
}
