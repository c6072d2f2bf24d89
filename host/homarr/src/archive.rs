//! A ZIP: what Homarr exports as a backup, which is `db.sqlite` and `metadata.json`, which names the edition; or what
//! people make of Homarr's data folder.
//!
//! Invariant: before the archive is opened, its directory is known to be small; what is inflated is bounded.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use zip::ZipArchive;

use crate::entries::{DATABASE, only_database};
use crate::kinds::beginning;
use crate::limits::{IN_A_CHANGE, MOST_BYTES, copy_bounded, other_edition};

/// The most files in an archive. Homarr's have two; its data folder may have hundreds.
const MOST_ENTRIES: u16 = 4096;
/// The most bytes of `metadata.json`.
const MOST_METADATA: u64 = 64 << 10;

/// The end of every ZIP: its signature, and its length without a comment.
const END: [u8; 4] = *b"PK\x05\x06";
const END_LENGTH: usize = 22;
/// The longest comment.
const MOST_COMMENT: u64 = 65_535;
/// What precedes the end if there are more entries or bytes than the end can count.
const LARGE_END: [u8; 4] = *b"PK\x06\x07";
const LARGE_END_LENGTH: usize = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    db_dialect: Option<String>,
}

/// Writes the database of an archive, and its log if it has one. Returns the number of bytes.
pub fn extract(
    archive: &Path,
    into: &mut File,
    log: impl FnOnce() -> io::Result<File>,
) -> anyhow::Result<u64> {
    let mut file = File::open(archive)?;
    check_end(&mut file)?;
    file.seek(SeekFrom::Start(0))?;
    let mut archive = ZipArchive::new(file).context("the ZIP cannot be read: it is damaged")?;
    let names: Vec<String> = archive
        .file_names()
        .map(|name| name.map(|name| name.into_owned()))
        .collect::<Result<_, _>>()
        .context("the ZIP cannot be read: it is damaged")?;
    let start_of = |name: &str| beginning(archive.by_name(name).ok()?).ok();
    let database = only_database(names.iter().map(String::as_str), start_of)?.to_owned();
    let folder = database.strip_suffix(DATABASE).unwrap_or_default();
    refuse_other_editions(&mut archive, &format!("{folder}metadata.json"))?;
    let journal = archive.by_name(&format!("{database}-journal"));
    let is_open = journal.is_ok_and(|entry| entry.size() > 0);
    ensure!(!is_open, "{IN_A_CHANGE}");
    let cannot = "db.sqlite in the ZIP cannot be read";
    let mut entry = archive.by_name(&database).context(cannot)?;
    let mut bytes = copy_bounded(&mut entry, into, MOST_BYTES).context(cannot)?;
    into.flush()?;
    drop(entry);
    match archive.by_name(&format!("{database}-wal")) {
        Ok(mut entry) => bytes += copy_bounded(&mut entry, &mut log()?, MOST_BYTES).context(cannot)?,
        Err(zip::result::ZipError::FileNotFound) => {}
        Err(error) => return Err(error).context(cannot),
    }
    Ok(bytes)
}

/// The edition that the backup names, if it is not the one for SQLite. A backup without metadata is older.
fn refuse_other_editions(archive: &mut ZipArchive<File>, name: &str) -> anyhow::Result<()> {
    let Ok(entry) = archive.by_name(name) else {
        return Ok(());
    };
    let mut text = Vec::new();
    entry
        .take(MOST_METADATA)
        .read_to_end(&mut text)
        .context("metadata.json in the ZIP cannot be read")?;
    let metadata: Metadata =
        serde_json::from_slice(&text).context("metadata.json in the ZIP is not right")?;
    match metadata.db_dialect.as_deref() {
        None | Some("sqlite") => Ok(()),
        Some("mysql" | "mysql2" | "mariadb") => bail!(other_edition("MySQL")),
        Some("postgresql" | "postgres" | "node-postgres") => bail!(other_edition("PostgreSQL")),
        Some(other) => bail!("metadata.json in the ZIP names an unknown kind of database: {other:?}"),
    }
}

/// Refuses an archive with many entries: reading its directory would take memory for each.
fn check_end(file: &mut File) -> anyhow::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.min(MOST_COMMENT + (END_LENGTH + LARGE_END_LENGTH) as u64);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = Vec::new();
    file.take(tail).read_to_end(&mut bytes)?;
    let ends = bytes.windows(4).enumerate().filter(|(_, four)| **four == END);
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    ensure!(!ends.is_empty(), "the ZIP is not complete: it has no end");
    for at in ends {
        // The archive may be read by any of them, so none may count many entries.
        let count = bytes
            .get(at + 10..at + 12)
            .map(|two| u16::from_le_bytes([two[0], two[1]]));
        ensure!(
            count.is_none_or(|count| count <= MOST_ENTRIES),
            "the ZIP has more than {MOST_ENTRIES} files: give the backup that Homarr exports"
        );
    }
    ensure!(
        !bytes.windows(4).any(|four| four == LARGE_END),
        "the ZIP is of the kind for many or large files (ZIP64): give the backup that Homarr exports"
    );
    Ok(())
}
