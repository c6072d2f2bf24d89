//! What a file is, by its beginning.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{bail, ensure};
use flate2::read::MultiGzDecoder;

use crate::limits::other_edition;

/// How much of a file is looked at.
const BEGINNING: u64 = 4096;
/// How a database of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Where a tar says that it is one, in its first header.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// What the file from an administrator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Database,
    /// A ZIP, as Homarr exports it or as people make it.
    Zip,
    /// A tar.
    Tar,
    /// A tar that is compressed with gzip.
    TarGz,
    /// A folder in which the database is.
    Folder,
}

impl FileKind {
    /// Looks at the beginning of a file, and refuses a file that can be none of these.
    pub fn of(file: &Path) -> anyhow::Result<Self> {
        let metadata = fs::metadata(file)?;
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        // Opening a pipe would wait for a writer.
        ensure!(
            metadata.is_file(),
            "it is neither a file nor a folder but a device: give Homarr's db.sqlite, or the ZIP of its backup"
        );
        let start = beginning(File::open(file)?)?;
        ensure!(!start.is_empty(), "it is empty");
        if start.starts_with(SQLITE) {
            return Ok(Self::Database);
        }
        if start.starts_with(b"PK\x03\x04") {
            return Ok(Self::Zip);
        }
        if start.get(TAR_MAGIC) == Some(b"ustar") {
            return Ok(Self::Tar);
        }
        refuse_dump(&start)?;
        if start.starts_with(GZIP) {
            return Ok(Self::TarGz);
        }
        bail!(
            "it is neither a database of SQLite nor a ZIP, tar or folder with one: give Homarr's db.sqlite, or the ZIP of \
             its backup"
        );
    }
}

/// How files begin that are compressed with gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// The beginning of a file.
pub(crate) fn beginning(file: impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(BEGINNING).read_to_end(&mut start)?;
    Ok(start)
}

/// Refuses a file that holds Homarr's data in a form that is not read, by its beginning: names the form, and the way out.
/// The file may be compressed.
pub(crate) fn refuse_dump(start: &[u8]) -> anyhow::Result<()> {
    if !start.starts_with(GZIP) {
        return refuse_unpacked_dump(start);
    }
    let mut unpacked = Vec::new();
    // What is there is enough: a beginning of a file ends in the middle.
    let _ = MultiGzDecoder::new(start)
        .take(BEGINNING)
        .read_to_end(&mut unpacked);
    ensure!(
        !unpacked.starts_with(SQLITE),
        "it is a database that is compressed by itself: unpack it (`gunzip`), and give what comes out"
    );
    refuse_unpacked_dump(&unpacked)
}

fn refuse_unpacked_dump(start: &[u8]) -> anyhow::Result<()> {
    let text = text_of(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let first = text.lines().next().unwrap_or_default();
    // Adminer names the database in its first line.
    let is_of_adminer =
        |names: &[&str]| first.starts_with("-- Adminer") && names.iter().any(|name| first.contains(name));
    // `pg_dump` begins its custom format with PGDMP.
    if start.starts_with(b"PGDMP") || has(&["PostgreSQL database"]) || is_of_adminer(&["PostgreSQL"]) {
        bail!(other_edition("PostgreSQL"));
    }
    let of_mysql = [
        "MySQL dump",
        "MariaDB dump",
        "mysqldump",
        "phpMyAdmin SQL Dump",
        "HeidiSQL",
        "/*!40101 SET",
    ];
    if has(&of_mysql) || is_of_adminer(&["MySQL", "MariaDB"]) {
        bail!(other_edition("MySQL"));
    }
    let is_of_sqlite = text.starts_with("PRAGMA foreign_keys") || text.starts_with("BEGIN TRANSACTION;");
    if is_of_sqlite || is_of_adminer(&["SQLite"]) {
        bail!(
            "it is a dump of a database of SQLite as SQL: make a database of it (`sqlite3 db.sqlite < dump.sql`), and give \
             that"
        );
    }
    if text.starts_with('{') && has(&["\"configProperties\"", "\"schemaVersion\""]) {
        bail!(
            "it is a board of Homarr 0.15 as JSON: import it into a Homarr 1 (Manage, Boards, Import), and give the \
             db.sqlite of that"
        );
    }
    Ok(())
}

/// The text at the beginning of a file. Windows' shell redirects output in UTF-16.
fn text_of(start: &[u8]) -> String {
    let Some(units) = start.strip_prefix(b"\xff\xfe") else {
        return String::from_utf8_lossy(start).into_owned();
    };
    let units = units
        .chunks_exact(2)
        .map(|two| u16::from_le_bytes([two[0], two[1]]));
    char::decode_utf16(units)
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn dumps_of_every_tool_are_named_also_compressed_and_in_utf_16() {
        let of_sqlite = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n";
        for (text, words) in [
            ("--\n-- PostgreSQL database dump\n--\n", "edition for PostgreSQL"),
            (
                "--\n-- PostgreSQL database cluster dump\n",
                "edition for PostgreSQL",
            ),
            (
                "-- Adminer 4.8.1 PostgreSQL 16.2 dump\n",
                "edition for PostgreSQL",
            ),
            ("-- MySQL dump 10.13  Distrib 8.0.36\n", "edition for MySQL"),
            (
                "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n",
                "edition for MySQL",
            ),
            ("-- phpMyAdmin SQL Dump\n-- version 5.2.1\n", "edition for MySQL"),
            ("-- Adminer 4.8.1 MySQL 8.0.36 dump\n", "edition for MySQL"),
            ("/*!40101 SET NAMES binary*/;\n", "edition for MySQL"),
            (of_sqlite, "sqlite3 db.sqlite < dump.sql"),
            (
                "{\"schemaVersion\": 2, \"configProperties\": {}}",
                "a board of Homarr 0.15",
            ),
        ] {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(text.as_bytes()).unwrap();
            // Bytes that cannot be compressed.
            let mut number = 1_u32;
            let rest: Vec<u8> = (0..8_000)
                .map(|_| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (number >> 24) as u8
                })
                .collect();
            packed.write_all(&rest).unwrap();
            let packed = packed.finish().unwrap();
            assert!(packed.len() as u64 > BEGINNING);
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let wide = [&b"\xff\xfe"[..], &wide].concat();
            for start in [text.as_bytes(), &packed[..BEGINNING as usize], &wide[..]] {
                let refused = refuse_dump(start).unwrap_err().to_string();
                assert!(refused.contains(words), "{text:?}: {refused}");
            }
        }
        for other in [
            &b"hello"[..],
            b"{\"a\": 1}",
            b"\x1f\x8b\x08\0no gzip",
            b"\xff\xfex",
            b"",
        ] {
            refuse_dump(other).unwrap();
        }
    }
}
