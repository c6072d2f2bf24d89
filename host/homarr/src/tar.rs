//! A tar with Homarr's data folder, which may be compressed.
//!
//! Invariants: at most [`MOST_UNPACKED`] bytes are unpacked, and no entry is written except the database and its log. The
//! archive is read twice: once for the names, and once for the content.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use flate2::read::MultiGzDecoder;

use crate::entries::{MOST_LOOKED_INTO, may_be_dump, only_database};
use crate::kinds::beginning;
use crate::limits::{IN_A_CHANGE, MOST_BYTES, copy_bounded};

/// The most bytes of a whole archive, unpacked.
const MOST_UNPACKED: u64 = 2 << 30;
/// The most entries, and bytes of a name.
const MOST_ENTRIES: usize = 20_000;
const MOST_NAME: u64 = 4096;
/// The most bytes of the list of a file's attributes, in which its name is.
const MOST_ATTRIBUTES: u64 = 64 << 10;
/// Headers and contents fill up blocks of this many bytes.
const BLOCK: u64 = 512;

/// Writes the database of an archive, and its log if it has one. Returns the number of bytes.
pub fn extract(
    archive: &Path,
    is_compressed: bool,
    into: &mut File,
    mut log: impl FnMut() -> io::Result<File>,
) -> anyhow::Result<u64> {
    let mut names = Vec::new();
    let mut starts: Vec<(String, Vec<u8>)> = Vec::new();
    for_each_file(archive, is_compressed, |name, content| {
        ensure!(
            names.len() < MOST_ENTRIES,
            "the tar has more than {MOST_ENTRIES} files: give the file db.sqlite itself"
        );
        names.push(name.to_owned());
        if may_be_dump(name) && starts.len() < MOST_LOOKED_INTO {
            starts.push((name.to_owned(), beginning(content)?));
        }
        Ok(())
    })?;
    let start_of = |name: &str| {
        let start = starts.iter().find(|(known, _)| known == name);
        start.map(|(_, start)| start.clone())
    };
    let database = only_database(names.iter().map(String::as_str), start_of)?.to_owned();
    let (of_log, of_journal) = (format!("{database}-wal"), format!("{database}-journal"));
    let mut bytes = 0;
    for_each_file(archive, is_compressed, |name, mut content| {
        if name == database {
            bytes += copy_bounded(&mut content, into, MOST_BYTES)?;
        } else if name == of_log {
            bytes += copy_bounded(&mut content, &mut log()?, MOST_BYTES)?;
        } else if name == of_journal {
            ensure!(content.read(&mut [0])? == 0, "{IN_A_CHANGE}");
        }
        Ok(())
    })?;
    into.flush()?;
    ensure!(
        bytes <= 2 * MOST_BYTES,
        "the database is larger than Homarr's are"
    );
    Ok(bytes)
}

/// Calls this for each regular file, with its name and its content.
fn for_each_file(
    archive: &Path,
    is_compressed: bool,
    mut take: impl FnMut(&str, &mut dyn Read) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let file = File::open(archive)?;
    let unpacked: Box<dyn Read> = match is_compressed {
        true => Box::new(MultiGzDecoder::new(io::BufReader::new(file))),
        false => Box::new(io::BufReader::new(file)),
    };
    let mut unpacked = unpacked.take(MOST_UNPACKED);
    let mut long_name: Option<String> = None;
    loop {
        let mut header = [0; BLOCK as usize];
        if let Err(error) = unpacked.read_exact(&mut header) {
            let is_end = error.kind() == io::ErrorKind::UnexpectedEof && unpacked.limit() > 0;
            ensure!(
                is_end || unpacked.limit() > 0,
                "the tar has more than {} GiB",
                MOST_UNPACKED >> 30
            );
            return Err(error).context("the tar cannot be read: it is damaged, or not a tar");
        }
        if header.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        ensure!(
            is_header(&header),
            "the compressed file is not a tar, or it is damaged: give db.sqlite itself"
        );
        let size = number(&header[124..136]).context("the tar has an entry of an unreadable size")?;
        let mut content = (&mut unpacked).take(size);
        match header[156] {
            b'L' => long_name = Some(text(&mut content, size, MOST_NAME)?),
            b'x' => long_name = path_of_pax(&text(&mut content, size, MOST_ATTRIBUTES)?),
            b'0' | 0 => {
                let name = long_name.take().unwrap_or_else(|| name_of(&header));
                take(&name, &mut content)?;
            }
            _ => long_name = None,
        }
        let rest = content.limit();
        let skipped = rest + size.next_multiple_of(BLOCK) - size;
        let copied = io::copy(&mut (&mut unpacked).take(skipped), &mut io::sink())?;
        ensure!(
            copied == skipped,
            "the tar is not complete, or has more than {} GiB",
            MOST_UNPACKED >> 30
        );
    }
}

/// Whether a header has the right checksum: the sum of its bytes, with blanks where the checksum is.
fn is_header(header: &[u8; BLOCK as usize]) -> bool {
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            if (148..156).contains(&at) {
                32
            } else {
                u64::from(*byte)
            }
        })
        .sum();
    number(&header[148..156]) == Some(sum)
}

/// An octal number. Those of more than 8 GiB are binary, and not read.
fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches(['\0', ' ']);
    if digits.is_empty() {
        return Some(0);
    }
    u64::from_str_radix(digits, 8).ok()
}

fn name_of(header: &[u8]) -> String {
    let field = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    let (name, prefix) = (field(&header[..100]), field(&header[345..500]));
    // The older GNU format has other things where the prefix is.
    match header[257..265] == *b"ustar\x0000" && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

/// The content of an entry that holds a name, or a list of attributes.
fn text(content: &mut impl Read, size: u64, most: u64) -> anyhow::Result<String> {
    if size > most {
        bail!("the tar has a name, or a list of attributes, of more than {most} bytes");
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

/// The path in a list of `LENGTH KEY=VALUE` lines.
fn path_of_pax(records: &str) -> Option<String> {
    let path = records.lines().find_map(|line| line.split_once(" path="));
    path.map(|(_, path)| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a tar.
    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum::<u64>() + 8 * 32;
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        let mut entry = header.to_vec();
        entry.extend_from_slice(content);
        entry.resize(entry.len().next_multiple_of(512), 0);
        entry
    }

    fn extracted(entries: &[Vec<u8>]) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
        let folder = tempfile::tempdir()?;
        let archive = folder.path().join("a.tar");
        std::fs::write(&archive, entries.concat())?;
        let (database, log) = (folder.path().join("database"), folder.path().join("log"));
        let mut into = File::create(&database)?;
        extract(&archive, false, &mut into, || File::create(&log))?;
        Ok((std::fs::read(database)?, std::fs::read(log).unwrap_or_default()))
    }

    #[test]
    fn the_database_and_its_log_are_taken_in_either_order() {
        let long = format!("{}/db/db.sqlite", "a".repeat(120));
        let end = || vec![0; 1024];
        let folder = || entry("appdata/", b'5', b"");
        for entries in [
            [
                folder(),
                entry("appdata/db.sqlite-wal", b'0', b"log"),
                entry("appdata/db.sqlite", b'0', b"database"),
                end(),
            ]
            .to_vec(),
            [
                entry("appdata/db.sqlite", 0, b"database"),
                entry("other/db.sqlite-wal", b'0', b"no"),
                entry("appdata/db.sqlite-wal", b'0', b"log"),
                end(),
            ]
            .to_vec(),
            [
                entry("x", b'L', format!("{long}\0").as_bytes()),
                entry("short", b'0', b"database"),
                entry(
                    "x",
                    b'x',
                    format!("99 path={long}-wal\n20 comment={}\n", "y".repeat(9000)).as_bytes(),
                ),
                entry("short", b'0', b"log"),
                end(),
            ]
            .to_vec(),
        ] {
            let (database, log) = extracted(&entries).unwrap();
            assert_eq!((&database[..], &log[..]), (&b"database"[..], &b"log"[..]));
        }
    }

    #[test]
    fn a_tar_that_is_cut_or_overwritten_or_has_two_databases_is_refused() {
        let refused = |entries: &[Vec<u8>]| extracted(entries).unwrap_err().to_string();
        let database = || entry("db.sqlite", b'0', b"database");
        assert!(refused(&[database()]).contains("damaged"));
        let mut cut = database();
        cut.truncate(600);
        assert!(refused(&[cut]).contains("not complete"));
        let mut wrong = database();
        wrong[0] = b'x';
        assert!(refused(&[wrong, vec![0; 1024]]).contains("not a tar"));
        let two = [database(), entry("old/db.sqlite", b'0', b"x"), vec![0; 1024]];
        assert!(refused(&two).contains("several databases"));
        let dump = [
            entry("backup/homarr.sql", b'0', b"--\n-- PostgreSQL database dump\n"),
            vec![0; 1024],
        ];
        assert!(refused(&dump).contains("edition for PostgreSQL"));
    }
}
