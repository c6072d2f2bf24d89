//! Database files that are no good: a message with the file's name, what happened to it and what to
//! do, and never a new, empty database in its place.

use std::fs;
use std::path::Path;

use portico_tests::{Builder, Client, Fixtures, Portico, administrator, command, run};

const PAGE: usize = 4096;
const RESTORE: &str = "portico restore BACKUP --force";

/// A closed service with a database of some dozens of pages.
fn some_data(server: &mut Portico) {
    let admin = administrator(server);
    admin.apps(500, "/i.svg");
    assert!(server.stop().status.success());
}

/// The files in a folder, with what they hold.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder)
        .expect("the data directory")
        .map(|file| file.expect("a file"));
    let mut files: Vec<_> = files
        .map(|file| {
            (
                file.file_name().into_string().expect("a text"),
                fs::read(file.path()).expect("a file that can be read"),
            )
        })
        .collect();
    files.sort();
    files
}

/// `serve` and `call` refuse these data with code 1 and all of these words, and touch nothing.
#[track_caller]
fn assert_refused(data: &Path, words: &[&str]) {
    let before = files(data);
    let file = data.join("portico.db").display().to_string();
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["call", "app.all"]] {
        let finished = run(command().args(arguments).arg("--data").arg(data), "");
        assert_eq!(
            finished.status.code(),
            Some(1),
            "{arguments:?}: {}",
            finished.text()
        );
        let text = finished.failed();
        for word in words.iter().chain([&file.as_str()]) {
            assert!(
                text.contains(word),
                "{arguments:?} does not say {word:?}:\n{text}"
            );
        }
    }
    assert!(files(data) == before, "something was written");
}

#[test]
fn a_database_that_is_no_good_is_refused_and_left_alone() {
    let mut server = Portico::start();
    some_data(&mut server);
    let (data, file) = (server.data(), server.data().join("portico.db"));
    let good = fs::read(&file).expect("the database");
    assert!(good.len() > 20 * PAGE, "{} bytes", good.len());

    for length in [good.len() - PAGE, good.len() / 2, PAGE, 100] {
        fs::write(&file, &good[..length]).expect("cut it");
        assert_refused(&data, &["damaged", RESTORE]);
    }
    let mut garbage = good.clone();
    garbage[..100].fill(0xA5);
    fs::write(&file, &garbage).expect("spoil its beginning");
    assert_refused(&data, &["not a database", RESTORE]);
    fs::write(&file, "").expect("empty it");
    assert_refused(&data, &["empty", RESTORE, "start over"]);

    // `PRAGMA user_version` is at offset 60, `application_id` at 68.
    let mut newer = good.clone();
    newer[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&file, &newer).expect("make it newer");
    assert_refused(&data, &["version 9999", "newer portico"]);
    let mut other = good.clone();
    other[68..72].copy_from_slice(&[0; 4]);
    fs::write(&file, &other).expect("make it another program's");
    assert_refused(&data, &["another program", "another data directory"]);

    fs::remove_file(&file).expect("remove it");
    fs::write(data.join("portico.db-wal"), "changes").expect("leave its log");
    assert_refused(&data, &["is gone", RESTORE, "start over"]);
    fs::remove_file(data.join("portico.db-wal")).expect("remove its log");

    // With the good file back it starts: the refusals were about the damage.
    fs::write(&file, &good).expect("put it back");
    server.start_again();
}

/// Puts garbage where a page of the middle was.
fn spoil(file: &Path, pages: impl IntoIterator<Item = usize>) {
    let mut bytes = fs::read(file).expect("the database");
    for page in pages {
        bytes[page * PAGE..][..PAGE].fill(0xA5);
    }
    // In place, so that a process that has the file open sees it.
    fs::OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .expect("write it");
}

#[test]
fn a_damaged_page_is_found_by_the_next_start() {
    let mut server = Portico::start();
    some_data(&mut server);
    let file = server.data().join("portico.db");
    let good = fs::read(&file).expect("the database");
    let pages = good.len() / PAGE;
    for page in [2, pages / 2, pages - 1] {
        spoil(&file, [page]);
        let mut serve = command();
        serve
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(server.data());
        let finished = run(&mut serve, "");
        assert_eq!(finished.status.code(), Some(1), "{}", finished.text());
        let text = finished.failed();
        for words in [file.to_str().expect("a text"), "the database is damaged", RESTORE] {
            assert!(
                text.contains(words),
                "page {page}: it does not say {words:?}:\n{text}"
            );
        }
        fs::write(&file, &good).expect("put it back");
    }
}

#[test]
fn damage_that_comes_to_light_while_running_is_said() {
    let mut server = Builder::default().environment("PORTICO_LOG", "debug").start();
    some_data(&mut server);
    server.start_again();
    server.wait_for_log(0, "the database is sound");
    let file = server.data().join("portico.db");
    let pages = fs::metadata(&file).expect("the database").len() as usize / PAGE;
    // Not the pages of the users: the service must not count as ready because those can be read.
    spoil(&file, pages / 2..pages);

    let ready = || {
        server
            .anonymous()
            .send_allowing_5xx("GET", "/api/health/ready", None)
    };
    let id = "018f0000-0000-7000-8000-000000000000";
    let answer = server
        .anonymous()
        .send_allowing_5xx("GET", &format!("/api/apps/{id}"), None);
    answer.assert_unavailable();
    ready().assert_unavailable();
    let advice = format!(
        "cannot use the database {}: the database is damaged",
        file.display()
    );
    let line = server.wait_for_log(0, &advice);
    assert!(line.contains(RESTORE), "what to do: {line}");
}

#[test]
fn a_damaged_compiled_component_is_made_anew() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let folder = cache.path().to_str().expect("a path that is text");
    let mut server = Builder::default().environment("PORTICO_CACHE", folder).start();
    let admin = administrator(&server);
    admin.app("An app");
    assert!(server.stop().status.success());
    let [(name, bytes)] = &mut files(cache.path())[..] else {
        panic!("one file");
    };
    let whole = bytes.clone();
    let middle = bytes.len() / 2;
    bytes[middle..][..PAGE].fill(0);
    assert_ne!(*bytes, whole);
    fs::write(cache.path().join(&*name), &*bytes).expect("damage it");

    server.start_again();
    let line = server.wait_for_log(0, "is made anew");
    assert!(line.contains(&*name) && line.contains("it is damaged"), "{line}");
    assert_eq!(
        admin.query("app.all", &serde_json::Value::Null).data()[0]["name"],
        "An app"
    );
    assert!(files(cache.path())[0].1 == whole, "it was not written again");
}
