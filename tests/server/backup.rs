//! `portico backup` while the service writes, and `portico restore`, which loses nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use portico_tests::{
    Builder, Client, Finished, Fixtures, PASSWORD, Portico, SetOnDrop, administrator, command, run,
    wait_until,
};
use serde_json::{Value, json};

const WRITERS: usize = 4;
const BATCH: usize = 5;

fn portico(arguments: &[&str], data: &Path) -> Finished {
    run(command().args(arguments).arg("--data").arg(data), "")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a text")
}

/// Starts the service on a data directory that is there.
fn start_on(data: &Path) -> Portico {
    Builder::default()
        .without_flags()
        .environment("PORTICO_LISTEN", "127.0.0.1:0")
        .environment("PORTICO_DATA", text(data))
        .start()
}

fn app_names(data: &Path) -> Vec<String> {
    let apps: Value = serde_json::from_str(&portico(&["call", "app.all"], data).succeeded()).expect("JSON");
    let apps = apps.as_array().expect("a list").iter();
    apps.map(|app| app["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn a_backup_made_while_four_connections_write_is_one_state_and_starts() {
    let server = Portico::start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).key;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("copy.db");

    let acknowledged: [AtomicUsize; WRITERS] = Default::default();
    let stop = AtomicBool::new(false);
    let least = thread::scope(|scope| {
        let _stop = SetOnDrop(&stop);
        for (writer, acknowledged) in acknowledged.iter().enumerate() {
            let (client, stop) = (server.key(&key), &stop);
            scope.spawn(move || {
                for batch in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let app = |item| json!({"name": format!("{writer} {batch} {item}"), "iconUrl": "/i.svg"});
                    let apps: Vec<_> = (0..BATCH).map(app).collect();
                    client.mutate("app.createMany", &json!(apps)).data();
                    acknowledged.store(batch + 1, Ordering::SeqCst);
                }
            });
        }
        wait_until("three batches of each writer", || {
            acknowledged.iter().all(|count| count.load(Ordering::SeqCst) >= 3)
        });
        let least: Vec<_> = acknowledged
            .iter()
            .map(|count| count.load(Ordering::SeqCst))
            .collect();
        let said = portico(&["backup", text(&file)], &server.data()).succeeded();
        assert!(
            said.contains("portico restore") && said.contains("1 users"),
            "{said}"
        );
        least
    });

    let data = folder.path().join("restored");
    let said = portico(&["restore", text(&file)], &data).succeeded();
    assert!(said.contains("sessions have ended"), "{said}");
    let restored = start_on(&data);
    let names = restored.key(&key).app_names();
    for (writer, least) in least.into_iter().enumerate() {
        let of_writer = |name: &&String| name.starts_with(&format!("{writer} "));
        let count = names.iter().filter(of_writer).count();
        let batches = count / BATCH;
        assert!(
            batches >= least,
            "{batches} of at least {least} that were acknowledged before"
        );
        assert_eq!(count % BATCH, 0, "a transaction by half");
        for batch in 0..batches {
            for item in 0..BATCH {
                let name = format!("{writer} {batch} {item}");
                assert!(
                    names.contains(&name),
                    "{name} is not there, and {batches} batches are"
                );
            }
        }
    }
    // Sessions ended, passwords are what they were.
    let token = &admin.token;
    restored
        .key(token)
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
    restored.sign_in("root", PASSWORD);
    // The service that was backed up continues as before.
    admin.get("/api/auth/session").assert_status(200);
}

#[test]
fn backup_and_restore_say_what_is_in_their_way() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let refused = |arguments: &[&str], data: &str, words: &[&str]| {
        let said = portico(arguments, &path(data)).failed();
        for word in words {
            assert!(said.contains(word), "{word} is not in:\n{said}");
        }
    };
    let copy = path("copy.db");
    let copy = text(&copy);
    refused(&["backup", copy], "none", &["no data directory", "--data"]);
    std::fs::create_dir(path("empty")).expect("a folder");
    refused(
        &["backup", copy],
        "empty",
        &["no database", "no host has worked there"],
    );
    assert!(!path("empty/portico.db").exists() && !path("none").exists());
    refused(&["restore", copy], "none", &["copy.db", "No such file"]);
    assert!(!path("none").exists(), "a data directory was made for nothing");

    let mut server = Portico::start();
    let admin = administrator(&server);
    portico(&["backup", copy], &server.data()).succeeded();
    let again = portico(&["backup", copy], &server.data()).failed();
    assert!(
        again.contains("already exists") && again.contains("--force"),
        "{again}"
    );
    admin.app("later");
    portico(&["backup", copy, "--force"], &server.data()).succeeded();

    // A link or a device is not the backup's to replace; reading a pipe would never end.
    let (link, pipe) = (path("link.db"), path("pipe"));
    std::os::unix::fs::symlink("copy.db", &link).expect("a link");
    let said = portico(&["backup", text(&link), "--force"], &server.data()).failed();
    assert!(said.contains("not a regular file"), "{said}");
    assert!(link.is_symlink());
    run(Command::new("mkfifo").arg(&pipe), "").succeeded();
    refused(&["restore", text(&pipe)], "new", &["not a regular file"]);

    // A running host keeps its data.
    let said = portico(&["restore", copy, "--force"], &server.data()).failed();
    assert!(
        said.contains("another portico works on the data directory"),
        "{said}"
    );
    server.stop().succeeded();
    let said = portico(&["restore", copy], &server.data()).failed();
    assert!(
        said.contains("a database already exists") && said.contains("--force"),
        "{said}"
    );
    let said = portico(&["restore", copy, "--force"], &server.data()).succeeded();
    let kept = said
        .split_whitespace()
        .find(|word| word.contains("portico.db.before-restore-"))
        .unwrap_or_else(|| panic!("where the old one is:\n{said}"));
    assert!(Path::new(kept).exists(), "{said}");
    server.start_again();
    assert_eq!(server.sign_in("root", PASSWORD).app_names(), ["later"]);
}

#[test]
fn a_restored_backup_is_the_same_dashboard() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [data, other, copy] = ["data", "other", "copy.db"].map(|name| folder.path().join(name));
    let document = json!({
        "groups": [{"name": "admins", "permissions": ["admin"]}, {"name": "family", "permissions": ["app-create"]}],
        "users": [
            {"name": "ada", "provider": "credentials", "email": "a@b.example", "password": PASSWORD, "groups": ["admins"]},
            {"name": "bob", "provider": "oidc", "groups": ["family"]},
        ],
        "apps": [{"name": "🦀 Crab", "iconUrl": "/i.svg"}, {"name": "ÅNGSTRÖM", "iconUrl": "/i.svg", "href": "ssh://x"}],
        "searchEngines": [{"name": "W", "short": "w", "urlTemplate": "https://w.example/?q=%s", "iconUrl": "/w.svg"}],
        "boards": [{"name": "Home", "creator": "ada", "items": [{"app": "🦀 Crab"}, {"bookmarks": ["ångström"]}],
                    "sharedWith": {"users": ["ada"], "groups": ["family"]}}],
    });
    run(
        command().args(["apply", "-", "--data"]).arg(&data),
        &document.to_string(),
    )
    .succeeded();
    let export = portico(&["export"], &data).succeeded();
    portico(&["backup", text(&copy)], &data).succeeded();
    portico(&["restore", text(&copy)], &other).succeeded();
    assert_eq!(portico(&["export"], &other).succeeded(), export);
    // What changed since is as it was.
    let pruned = json!({"apps": [], "prune": true}).to_string();
    run(command().args(["apply", "-", "--data"]).arg(&data), &pruned).succeeded();
    assert_ne!(portico(&["export"], &data).succeeded(), export);
    portico(&["restore", "--force", text(&copy)], &data).succeeded();
    assert_eq!(portico(&["export"], &data).succeeded(), export);
}

fn files_in(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("the folder");
    files
        .map(|file| file.expect("a file").file_name().into_string().expect("a text"))
        .collect()
}

#[test]
fn a_backup_that_a_signal_ends_leaves_nothing_and_a_killed_one_leaves_it_to_the_next() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, backups) = (folder.path().join("data"), folder.path().join("backups"));
    portico(&["call", "app.all"], &data).succeeded();
    std::fs::create_dir(&backups).expect("a folder");
    let copy = backups.join("copy.db");
    for signal in ["-HUP", "-QUIT", "-KILL"] {
        // While it is held, a backup has its temporary file and waits for the database.
        let held = rusqlite::Connection::open(data.join("portico.db")).expect("the database");
        held.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            .expect("hold it");
        // It waits for two seconds and then gives up. On a busy machine the signal may come too late.
        let status = (0..5).find_map(|_| {
            let mut backup = command();
            backup.args(["backup", text(&copy), "--data"]).arg(&data);
            let mut backup = backup.stderr(Stdio::null()).spawn().expect("start it");
            let mut has_ended = false;
            wait_until("its temporary file, or its end", || {
                has_ended = backup.try_wait().expect("its state").is_some();
                has_ended || !files_in(&backups).is_empty()
            });
            if has_ended {
                return None;
            }
            let id = backup.id().to_string();
            run(Command::new("kill").args([signal, &id]), "").succeeded();
            let is_in_time = !files_in(&backups).is_empty();
            let status = backup.wait().expect("it ended");
            is_in_time.then_some(status)
        });
        let status = status.expect("a signal while it waits");
        let left = files_in(&backups);
        if signal == "-KILL" {
            assert_eq!(left.len(), 1, "{left:?}");
        } else {
            assert_eq!((status.code(), left), (Some(1), Vec::new()), "{signal}: {status}");
        }
    }
    portico(&["backup", text(&copy)], &data).succeeded();
    assert_eq!(files_in(&backups), ["copy.db"]);
}

/// The name of the only kind of app in a database that must be whole.
#[track_caller]
fn state(database: &Path) -> (String, i64) {
    let database = rusqlite::Connection::open(database).expect("a database");
    let text = |sql: &str| -> rusqlite::Result<String> { database.query_row(sql, [], |row| row.get(0)) };
    assert_eq!(text("PRAGMA integrity_check").as_deref(), Ok("ok"));
    let count = "SELECT count(*) FROM app";
    let count = database.query_row(count, [], |row| row.get(0)).expect("a count");
    (
        text("SELECT group_concat(DISTINCT name) FROM app").expect("a name"),
        count,
    )
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_database_or_the_new_one() {
    const KILLS: u32 = 24;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copies = ["first", "second"].map(|name| {
        let data = folder.path().join(name);
        let app = json!({"name": name, "iconUrl": "/i.svg", "description": name.repeat(80)});
        let apps = json!(vec![app; 1000]).to_string();
        run(
            command()
                .args(["call", "app.createMany", "-", "--data"])
                .arg(&data),
            &apps,
        )
        .succeeded();
        let copy = folder.path().join(format!("{name}.db"));
        portico(&["backup", text(&copy)], &data).succeeded();
        copy
    });
    let data = folder.path().join("data");
    let database = data.join("portico.db");
    let started = Instant::now();
    portico(&["restore", text(&copies[0])], &data).succeeded();
    let whole = started.elapsed();

    let (mut old, mut new) = (0, 0);
    for kill in 0..KILLS {
        let before = state(&database);
        let (other, copy) = match &before.0[..] {
            "first" => ("second", &copies[1]),
            _ => ("first", &copies[0]),
        };
        let mut restore = command();
        restore
            .args(["restore", "--force", text(copy), "--data"])
            .arg(&data);
        let mut restore = restore.stdout(Stdio::null()).spawn().expect("start it");
        // From at once to after its end; the last one lives.
        if kill + 1 < KILLS {
            thread::sleep(whole * kill / (KILLS / 2));
            let _ = restore.kill();
        }
        restore.wait().expect("it ended");
        let after = state(&database);
        if after == before {
            old += 1;
        } else {
            assert_eq!(after, (other.to_owned(), 1000), "kill {kill}");
            new += 1;
        }
        for file in std::fs::read_dir(&data).expect("the data directory") {
            let name = file.expect("a file").file_name().into_string().expect("a text");
            if name.starts_with("portico.db.before-restore-") {
                let path = data.join(name);
                assert_eq!(state(&path).1, 1000, "what was kept is whole");
                std::fs::remove_file(path).expect("remove it");
            }
        }
    }
    assert!(
        old > 0 && new > 0,
        "{old} kills before, {new} after: too early or too late, all of them"
    );
    let left = state(&database).0;
    assert_eq!(app_names(&data)[..1], [left]);
}

#[test]
fn a_host_makes_backups_by_itself_and_one_of_them_can_be_restored() {
    let server = Builder::default()
        .environment("PORTICO_BACKUP_EVERY", "1d")
        .start();
    server.wait_for_log(0, "made the backup");
    let folder = server.data().join("backups");
    let names = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let [backup] = &names.collect::<Vec<_>>()[..] else {
        panic!("one backup");
    };
    let restored = tempfile::tempdir().expect("a temporary folder");
    portico(&["restore", text(backup)], &restored.path().join("data")).succeeded();
    assert_eq!(app_names(&restored.path().join("data")), [""; 0]);
}

#[test]
fn a_host_on_postgresql_is_told_that_its_backups_are_made_elsewhere() {
    let refused = run(
        command()
            .args([
                "serve",
                "--backup-every",
                "1d",
                "--database",
                "postgres://ada@127.0.0.1:1/home",
            ])
            .args(["--listen", "127.0.0.1:0"]),
        "",
    );
    assert!(refused.failed().contains("pg_dump"));
}
