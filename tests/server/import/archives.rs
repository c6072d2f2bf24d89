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
fn a_change_that_homarr_did_not_finish_is_not_read_from_an_archive() {
    let place = Workspace::new();
    let folder = data_folder(&place);
    let database = std::fs::read(folder.join("db/db.sqlite")).expect("the database");
    std::fs::write(folder.join("db/db.sqlite-journal"), b"a journal").expect("a file");
    let zip = archive(
        place.path("in-a-change.zip"),
        &[
            ("db/db.sqlite", &database),
            ("db/db.sqlite-journal", b"a journal"),
        ],
    );
    let packed = std::process::Command::new("tar")
        .current_dir(place.folder.path())
        .args(["-czf", "in-a-change.tar.gz", "appdata"])
        .status();
    assert!(packed.expect("tar").success());
    for file in [zip, place.path("in-a-change.tar.gz")] {
        assert_refused(&place, &file, "start Homarr, stop it, and try again");
    }
}

/// Homarr's data folder as people have it: its database in `db/`, with a log, and what macOS adds.
fn data_folder(place: &Workspace) -> PathBuf {
    let folder = place.path("appdata");
    std::fs::create_dir_all(folder.join("db")).expect("a folder");
    std::fs::create_dir_all(folder.join("redis")).expect("a folder");
    std::fs::write(folder.join("redis/dump.rdb"), b"REDIS").expect("a file");
    std::fs::copy(place.everything(), folder.join("db/db.sqlite")).expect("the database");
    folder
}

#[test]
fn the_data_folder_is_read_itself_and_as_people_pack_it() {
    let place = Workspace::new();
    let folder = data_folder(&place);
    let database = std::fs::read(folder.join("db/db.sqlite")).expect("the database");
    let zip = archive(
        place.path("macos.zip"),
        &[
            ("appdata/db/db.sqlite", &database),
            ("__MACOSX/appdata/db/db.sqlite", b"AppleDouble"),
            ("__MACOSX/appdata/db/._db.sqlite", b"AppleDouble"),
        ],
    );
    let mut packed = vec![folder, zip];
    for (name, flags) in [("a.tar.gz", "-czf"), ("a.tar", "-cf")] {
        let status = std::process::Command::new("tar")
            .current_dir(place.folder.path())
            .args([flags, name, "appdata"])
            .status();
        assert!(status.expect("tar runs").success());
        packed.push(place.path(name));
    }
    for (number, file) in packed.iter().enumerate() {
        let data = place.path(&format!("data-{number}"));
        import(file, &data, &[]).succeeded();
        assert_eq!(export(&data), expected(), "{}", file.display());
    }
}

#[test]
fn the_log_in_an_archive_is_read_as_well() {
    let place = Workspace::new();
    let file = place.everything();
    let db = rusqlite::Connection::open(&file).expect("the database");
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        UPDATE \"app\" SET \"name\" = 'Renamed' WHERE \"id\" = 'appnas'",
    )
    .expect("a change");
    let read = |suffix: &str| std::fs::read(place.path(&format!("db.sqlite{suffix}"))).expect("a file");
    let (database, log) = (read(""), read("-wal"));
    let files: [(&str, &[u8]); 2] = [("db/db.sqlite-wal", &log), ("db/db.sqlite", &database)];
    let zip = archive(place.path("with-log.zip"), &files);
    let data = place.path("data");
    import(&zip, &data, &[]).succeeded();
    let apps = export(&data)["apps"].to_string();
    assert!(apps.contains("\"Renamed\""), "{apps}");
    drop(db);
}

#[test]
fn two_databases_in_one_are_refused() {
    let place = Workspace::new();
    let folder = data_folder(&place);
    std::fs::create_dir(folder.join("old")).expect("a folder");
    std::fs::copy(folder.join("db/db.sqlite"), folder.join("old/db.sqlite")).expect("a copy");
    assert_refused(&place, &folder, "several databases");
    let files: [(&str, &[u8]); 2] = [("a/db.sqlite", b"x"), ("b/db.sqlite", b"y")];
    let zip = archive(place.path("two.zip"), &files);
    assert_refused(&place, &zip, "several databases");
}

#[test]
fn an_archive_of_something_else_is_refused() {
    let place = Workspace::new();
    let database = std::fs::read(place.everything()).expect("the database");
    for (name, files, words) in [
        (
            "empty.zip",
            vec![("readme.txt", &b"x"[..])],
            "there is no db.sqlite in it",
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
    let names: Vec<String> = (0..4097).map(|number| format!("{number}.txt")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &b""[..])).collect();
    let file = archive(place.path("many.zip"), &files);
    assert_refused(&place, &file, "more than 4096 files");

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
