//! Copies from one data directory into another one, what is refused, and what an interruption leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portico_tests::{Builder, Portico, command, run, under_limit, wait_until};
use rusqlite::Connection;
use tempfile::TempDir;

use super::everything::Everything;
use super::{assert_same, copy, copying, data, rows_in};

/// Starts the service on a data directory that is there.
pub fn start_on(folder: &Path) -> Portico {
    Builder::default()
        .without_flags()
        .environment("PORTICO_LISTEN", "127.0.0.1:0")
        .environment("PORTICO_DATA", folder.to_str().expect("a path of text"))
        .start()
}

/// The dashboard as a document.
fn export(folder: &Path) -> String {
    run(command().arg("export").arg("--data").arg(folder), "").succeeded()
}

struct Folders(TempDir);

impl Folders {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A data directory with an empty database.
    fn database(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("a folder");
        drop(portico_sqlite::SqliteStorage::open(&path.join("portico.db")).expect("a database"));
        path
    }
}

#[test]
fn a_copy_of_a_data_directory_is_the_same_dashboard() {
    let source = Everything::make();
    let folders = Folders::new();
    let target = folders.path("target");
    let (from, to) = (data(&source.server.data()), data(&target));
    let said = copy(&from, &to).succeeded();
    assert!(said.contains("5 users") && said.contains(&to), "{said}");
    assert_same(&source.rows, &rows_in(&target));
    assert_same(&source.rows, &rows_in(&source.server.data()));
    assert_eq!(export(&source.server.data()), export(&target));
    source.assert_alive(&start_on(&target));
}

#[test]
fn what_cannot_be_copied_is_refused_with_words() {
    let folders = Folders::new();
    let refused = |from: &str, to: &str, words: &[&str]| {
        let said = copy(from, to).failed();
        for word in words {
            assert!(said.contains(word), "{word} is not in:\n{said}");
        }
        assert!(!said.contains("s3cret"), "{said}");
    };
    let (target, good) = (folders.path("target"), folders.database("good"));
    let (to, from) = (data(&target), data(&good));
    refused("", &to, &["--from", "PORTICO_COPY_FROM"]);
    refused(&from, "", &["--to", "PORTICO_COPY_TO"]);
    refused(
        "mysql://ann:s3cret@here/x",
        &to,
        &["sqlite:DIR", "postgres://USER"],
    );
    let help = run(copying("postgres://ann:s3cret@here/x", &to).arg("--help"), "").succeeded();
    assert!(
        help.contains("PORTICO_COPY_FROM") && !help.contains("s3cret"),
        "{help}"
    );
    refused("sqlite:", &to, &["sqlite:DIR"]);
    refused(&data(&folders.path("none")), &to, &["no data directory"]);
    assert!(!folders.path("none").exists());
    std::fs::create_dir(folders.path("empty")).expect("a folder");
    refused(&data(&folders.path("empty")), &to, &["there is no database in"]);
    refused(
        &data(&good.join("portico.db")),
        &to,
        &["is a file", "data directory"],
    );
    assert!(!target.exists(), "a target was made for nothing");

    let change = |name: &str, change: &str| {
        let folder = folders.database(name);
        let database = Connection::open(folder.join("portico.db")).expect("a database");
        database.execute_batch(change).expect("a change");
        data(&folder)
    };
    refused(&change("newer", "PRAGMA user_version = 99"), &to, &["version 99"]);
    refused(
        &change("older", "PRAGMA user_version = 5"),
        &to,
        &["an earlier build (version 5)", "export it with that build"],
    );
    refused(
        &change("other", "PRAGMA application_id = 7"),
        &to,
        &["not a Portico database"],
    );
    let dangling = "PRAGMA foreign_keys = OFF; INSERT INTO group_member VALUES ('missing', 'missing')";
    refused(
        &change("dangling", dangling),
        &to,
        &["refers to a missing record of"],
    );
    let no_text =
        "INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', CAST(x'ff' AS TEXT), 'a', 'i')";
    refused(
        &change("no text", no_text),
        &to,
        &["app \"a\"", "its name", "UTF-8"],
    );
    std::fs::write(folders.database("text").join("portico.db"), "no database").expect("a file");
    refused(&data(&folders.path("text")), &to, &["not a database"]);
    assert!(!target.join("portico.db").exists() && !target.join("portico.db.copying").exists());

    refused(&from, &from, &["another portico"]);
    let other = folders.database("other target");
    refused(&from, &data(&other), &["there is a database in", "move"]);
    refused(&from, &data(&good.join("portico.db")), &["is a file"]);
    assert!(other.join("portico.db").exists());
    let server = start_on(&folders.path("served"));
    refused(&data(&server_data(&folders)), &to, &["another portico"]);
    refused(&from, &data(&server_data(&folders)), &["another portico"]);
    drop(server);
    copy(&from, &to).succeeded();
}

fn server_data(folders: &Folders) -> PathBuf {
    folders.path("served")
}

/// A database with so many apps that a copy takes a while.
fn many_apps(folders: &Folders) -> PathBuf {
    let folder = folders.database("many");
    let database = Connection::open(folder.join("portico.db")).expect("a database");
    let apps = "
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 30000)
        INSERT INTO app (id, name, name_key, icon_url, description)
            SELECT 'a' || n, 'App ' || n, 'app ' || n, '/i.svg', hex(zeroblob(500)) FROM number";
    database.execute_batch(apps).expect("apps");
    folder
}

#[test]
fn a_copy_that_is_killed_leaves_no_database_and_the_next_one_succeeds() {
    let folders = Folders::new();
    let source = many_apps(&folders);
    for signal in ["-KILL", "-INT", "-TERM"] {
        let target = folders.path(signal);
        let new = target.join("portico.db.copying");
        let mut command = copying(&data(&source), &data(&target));
        let child = command.stderr(Stdio::piped()).spawn().expect("start it");
        wait_until("the copy", || {
            std::fs::metadata(&new).is_ok_and(|file| file.len() > 5_000_000)
        });
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
        let ended = child.wait_with_output().expect("its end");
        assert!(!ended.status.success());
        assert!(!target.join("portico.db").exists(), "{signal}");
        let said = String::from_utf8_lossy(&ended.stderr);
        if signal != "-KILL" {
            assert!(said.contains("interrupted; nothing was written"), "{said}");
            assert!(!new.exists());
        }
        copy(&data(&source), &data(&target)).succeeded();
        assert!(!new.exists());
        assert!(rows_in(&target) == rows_in(&source), "{signal}");
    }
}

#[test]
fn a_copy_that_does_not_fit_leaves_nothing() {
    let folders = Folders::new();
    let (source, target) = (many_apps(&folders), folders.path("target"));
    let command = copying(&data(&source), &data(&target));
    let said = run(&mut under_limit(&command, "--fsize=1000000:1000000"), "").failed();
    assert!(said.contains("cannot") && said.contains("limit"), "{said}");
    let mut left: Vec<_> = std::fs::read_dir(&target).expect("the folder").collect();
    left.retain(|file| file.as_ref().expect("a file").file_name() != "lock");
    assert!(left.is_empty(), "{left:?}");
}
