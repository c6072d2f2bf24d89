//! The ZIP of a backup: what Homarr exports, and what looks like it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{Workspace, expected, export, import};

const METADATA: &[u8] = br#"{"homarrVersion": "1.73.0", "dbDialect": "sqlite", "encryptionKey": "00"}"#;

/// A ZIP with these files.
fn archive(path: PathBuf, files: &[(&str, &[u8])]) -> PathBuf {
    let mut zip = ZipWriter::new(File::create(&path).expect("a file"));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in files {
        zip.start_file(*name, options).expect("an entry");
        zip.write_all(bytes).expect("the entry");
    }
    zip.finish().expect("the end");
    path
}

/// Checks that the file is refused with these words, and that nothing was imported.
#[track_caller]
fn assert_refused(place: &Workspace, file: &Path, words: &str) {
    let said = import(file, &place.path("data"), &[]).failed();
    assert!(said.contains(words), "{words} is not in:\n{said}");
}

#[test]
fn a_backup_is_read_like_the_database_in_it() {
    let place = Workspace::new();
    let database = std::fs::read(place.everything()).expect("the database");
    let files: [(&str, &[u8]); 2] = [("db.sqlite", &database), ("metadata.json", METADATA)];
    let file = archive(place.path("backup.zip"), &files);
    import(&file, &place.path("data"), &[]).succeeded();
    assert_eq!(export(&place.path("data")), expected());
    let left: Vec<_> = std::fs::read_dir(place.path("data"))
        .expect("the folder")
        .flatten()
        .collect();
    let names: Vec<_> = left.iter().map(std::fs::DirEntry::file_name).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().starts_with(".portico-homarr")),
        "{names:?}"
    );
}

#[test]
fn an_archive_of_something_else_is_refused() {
    let place = Workspace::new();
    let database = std::fs::read(place.everything()).expect("the database");
    for (name, files, words) in [
        (
            "empty.zip",
            vec![("readme.txt", &b"x"[..])],
            "there is no db.sqlite in the ZIP",
        ),
        ("text.zip", vec![("db.sqlite", &b"text"[..])], "not one of SQLite"),
        (
            "mysql.zip",
            vec![
                ("db.sqlite", &database[..]),
                ("metadata.json", &br#"{"dbDialect": "mysql2"}"#[..]),
            ],
            "edition for MySQL",
        ),
        (
            "postgresql.zip",
            vec![
                ("db.sqlite", &database[..]),
                ("metadata.json", &br#"{"dbDialect": "postgresql"}"#[..]),
            ],
            "edition for PostgreSQL",
        ),
        (
            "metadata.zip",
            vec![("db.sqlite", &database[..]), ("metadata.json", &b"no json"[..])],
            "metadata.json in the ZIP is not right",
        ),
    ] {
        let file = archive(place.path(name), &files);
        assert_refused(&place, &file, words);
    }
    let names: Vec<String> = (0..100).map(|number| format!("{number}.txt")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &b""[..])).collect();
    let file = archive(place.path("many.zip"), &files);
    assert_refused(&place, &file, "more than 64 files");

    let good = archive(place.path("good.zip"), &[("db.sqlite", &database)]);
    let bytes = std::fs::read(good).expect("the archive");
    let cut = place.path("cut.zip");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("a file");
    assert_refused(&place, &cut, "the ZIP is not complete");
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 200].fill(0);
    let file = place.path("damaged.zip");
    std::fs::write(&file, damaged).expect("a file");
    assert_refused(&place, &file, "cannot be read");
    assert_eq!(
        export(&place.path("data"))["users"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn a_bomb_is_given_up_when_it_has_become_too_large() {
    let place = Workspace::new();
    let path = place.path("bomb.zip");
    let mut zip = ZipWriter::new(File::create(&path).expect("a file"));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("db.sqlite", options).expect("an entry");
    zip.write_all(b"SQLite format 3\0").expect("the beginning");
    let zeros = vec![0; 1 << 20];
    for _ in 0..520 {
        zip.write_all(&zeros).expect("zeros");
    }
    zip.finish().expect("the end");
    assert!(
        std::fs::metadata(&path).expect("the file").len() < 4 << 20,
        "it is no bomb"
    );
    assert_refused(&place, &path, "larger than 512 MiB");
}
