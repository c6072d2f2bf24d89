//! Disks that are full or cannot be written, and files that may not grow: a message that says what to
//! do, at start and while running, and nothing lost.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use portico_tests::{
    Answer, Builder, Client, Fixtures, Key, Portico, administrator, can_mount, command, mount_namespace, raw,
    run, set_limit, under_limit,
};
use serde_json::json;

/// The data directory on a disk of its own, of this size.
fn small_disk(size: &str) -> String {
    format!("mount -t tmpfs -o size={size} none \"$DATA\"")
}

/// The same with what was in the data directory before.
fn copied_to(disk: &str) -> String {
    format!("exec 3<\"$DATA\"; {disk}; cp -a /proc/self/fd/3/. \"$DATA\"; exec 3<&-")
}

/// A data directory with an administrator and an app, closed.
fn some_data() -> Portico {
    let mut server = Portico::start();
    administrator(&server).app("An app");
    assert!(server.stop().status.success());
    server
}

/// Starts the service on a disk where it cannot work, and gives its output.
#[track_caller]
fn refusal(script: &str, data: &Path) -> String {
    let mut serve = command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data);
    let mut inside = mount_namespace(&serve, script);
    let finished = run(inside.env("DATA", data), "");
    assert_eq!(finished.status.code(), Some(1), "{}", finished.text());
    let text = finished.failed();
    assert!(
        text.contains(data.to_str().expect("a text")),
        "it names the place:\n{text}"
    );
    text
}

fn create_app(client: &dyn Client, name: &str) -> Answer {
    let app = json!({"name": name, "iconUrl": "/i.svg", "description": "x".repeat(500)});
    client.send_allowing_5xx("POST", "/api/trpc/app.create", Some(&app))
}

/// Fills the disk up to the last byte; gives what to remove.
fn fill(folder: &Path) -> PathBuf {
    let ballast = folder.join("ballast");
    let mut file = File::create(&ballast).expect("a file");
    for size in [1 << 16, 1 << 12, 1] {
        while file.write(&vec![0; size]).is_ok() {}
    }
    ballast
}

fn ready(server: &Portico) -> Answer {
    server
        .anonymous()
        .send_allowing_5xx("GET", "/api/health/ready", None)
}

/// Creates apps until one is refused because there is no room, and checks that reading goes on; gives the
/// names of the apps, and the refusal.
#[track_caller]
fn use_all_room(server: &Portico, admin: &Key) -> (Vec<String>, Answer) {
    let mut names = Vec::new();
    let refused = loop {
        let name = format!("app {:03}", names.len());
        let answer = create_app(admin, &name);
        if answer.status != 200 {
            break answer;
        }
        names.push(name);
        assert!(names.len() < 500, "there is no limit");
    };
    refused.assert_unavailable();
    // What had been answered is there; reading goes on, signing in (which writes) does not.
    assert_eq!(admin.app_names(), names);
    ready(server).assert_unavailable();
    assert_eq!(server.anonymous().get("/api/health/live").status, 200);
    (names, refused)
}

/// Checks that changes are made again, now that there is room.
#[track_caller]
fn use_new_room(server: &Portico, admin: &Key, mut names: Vec<String>) {
    ready(server).assert_status(200);
    create_app(admin, "later").assert_status(200);
    names.push("later".to_owned());
    assert_eq!(admin.app_names(), names);
}

#[test]
fn a_disk_that_fills_up_stops_changes_until_there_is_room() {
    if !can_mount() {
        return;
    }
    let mut server = Builder::default().in_namespace(&small_disk("4m")).start();
    let admin = administrator(&server).bearer();
    // The disk as it is seen in there.
    let data = PathBuf::from(format!(
        "/proc/{}/root{}",
        server.process_id(),
        server.data().display()
    ));
    ready(&server).assert_status(200);

    let ballast = fill(&data);
    let (names, refused) = use_all_room(&server, &admin);
    fs::remove_file(ballast).expect("free some space");
    use_new_room(&server, &admin, names);
    let database = rusqlite::Connection::open(data.join("portico.db")).expect("the database");
    let sound: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("a check");
    assert_eq!(sound, "ok");
    drop(database);

    let id = refused
        .header("x-request-id")
        .expect("the request's id")
        .to_owned();
    let file = server.data().join("portico.db").display().to_string();
    let log = server.stop().text();
    let advice = format!("cannot use the database {file}: the disk that holds it is full; free some space");
    assert!(log.contains(&advice), "what to do:\n{log}");
    assert!(log.contains(&id), "the request {id}:\n{log}");
}

#[test]
fn a_limit_on_the_size_of_files_stops_changes_until_it_is_raised() {
    let mut server = Portico::start();
    let admin = administrator(&server).bearer();
    let size = |name: &str| fs::metadata(server.data().join(name)).expect("a file").len();
    // Room for a few apps in the log.
    let limit = size("portico.db").max(size("portico.db-wal")) + 200_000;
    set_limit(server.process_id(), &format!("--fsize={limit}:"));
    let (names, _) = use_all_room(&server, &admin);
    assert!(!names.is_empty());
    set_limit(server.process_id(), "--fsize=unlimited:");
    use_new_room(&server, &admin, names);
    let stopped = server.stop();
    let log = stopped.text();
    assert!(stopped.status.success(), "{log}");
    assert!(
        log.contains("portico.db") && log.contains("ulimit -f"),
        "what to do:\n{log}"
    );
}

#[test]
fn a_start_under_a_limit_on_the_size_of_files_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serve = command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path());
    for limit in ["--fsize=100", "--fsize=65536"] {
        let finished = run(&mut under_limit(&serve, limit), "");
        assert_eq!(finished.status.code(), Some(1), "{limit}: {}", finished.text());
        let text = finished.failed();
        assert!(
            text.contains("ulimit -f") && text.contains("portico.db"),
            "{limit}:\n{text}"
        );
    }
}

/// Ends a process with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_log_that_takes_no_more_costs_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let mut serve = command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "debug", "--data"])
        .arg(folder.path().join("data"))
        .stdout(Stdio::piped())
        .stderr(File::create(&log).expect("a file"));
    let mut serve = Ended(serve.spawn().expect("start it"));
    let mut line = String::new();
    let stdout = serve.0.stdout.take().expect("its standard output");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let address = line.split(['/', ' ']).find(|word| word.starts_with("127.0.0.1:"));
    let address = address.expect("where it listens");
    let live = || {
        let request = raw::head("GET", "/api/health/live", &[]);
        raw::send(address, request.as_bytes()).assert_status(200);
        fs::metadata(&log).expect("the log").len()
    };
    let before = live();
    assert!(live() > before, "requests are not logged");
    set_limit(serve.0.id(), "--fsize=1:");
    let full = live();
    assert_eq!(live(), full);
}

#[test]
fn a_start_on_a_full_disk_says_so() {
    if !can_mount() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = refusal(&small_disk("64k"), folder.path());
    assert!(text.contains("is full; free some space"), "{text}");

    let server = some_data();
    let script = format!(
        "{}; dd if=/dev/zero of=\"$DATA/ballast\" bs=4k 2>/dev/null || true",
        copied_to(&small_disk("1m"))
    );
    let text = refusal(&script, &server.data());
    assert!(text.contains("is full; free some space"), "{text}");
}

#[test]
fn a_start_where_nothing_can_be_written_says_so() {
    if !can_mount() {
        return;
    }
    let server = some_data();
    let copied = copied_to(&small_disk("4m"));
    let folder = format!("{copied}; mount -o remount,bind,ro \"$DATA\"");
    let text = refusal(&folder, &server.data());
    assert!(text.contains("read-only") && text.contains("--data"), "{text}");

    let file = format!(
        "{copied}; mount --bind \"$DATA/portico.db\" \"$DATA/portico.db\"
         mount -o remount,bind,ro \"$DATA/portico.db\""
    );
    let text = refusal(&file, &server.data());
    assert!(
        text.contains("portico.db") && text.contains("read-only"),
        "{text}"
    );

    let parent = "mount -t tmpfs -o ro none \"$(dirname \"$DATA\")\"";
    let text = refusal(parent, &server.data());
    assert!(text.contains("read-only") && text.contains("--data"), "{text}");
}
