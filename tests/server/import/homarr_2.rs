//! Databases of Homarr 2, and of a newer one than is known.

use portico_tests::{Client, Portico, administrator};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{NEWEST, Workspace, created, export, fixture, import, report};

/// A household on Homarr 2, with what these statements add.
fn household(place: &Workspace, more: &str) -> std::path::PathBuf {
    let sql = [&fixture("steps-2.sql"), &fixture("household-2.sql"), more].concat();
    place.database("two.sqlite", NEWEST, &sql)
}

/// Another board than everyone's for people who are not signed in, and an app whose link has no scheme.
const MORE: &str = "
    INSERT INTO \"board\" (\"id\", \"name\", \"is_public\") VALUES ('boardhall', 'Hall', 1);
    INSERT INTO \"group\" (\"id\", \"name\", \"home_board_id\", \"position\") VALUES ('groupall', 'everyone', 'boardtwo', -1);
    INSERT INTO \"serverSetting\" VALUES ('board', '{\"json\": {\"homeBoardId\": \"boardhall\"}}');
    UPDATE \"app\" SET \"href\" = 'nas:5000' WHERE \"id\" = 'appnas';";

#[test]
fn a_household_on_homarr_2_comes_along_with_keys_of_every_form() {
    let place = Workspace::new();
    let file = household(&place, MORE);
    let mut server = Portico::start();
    server.stop();
    let url = ["--public-url", "https://home.example"];
    let first = report(&file, &server.data(), &url);
    assert_eq!(created(&first), [2, 1, 2, 0, 2, 3, 0]);
    assert_eq!(first["schema"]["migration"], "0048_add_fixed_board_scaling");
    assert_eq!(first["schema"]["newerMigrations"], 0);
    let notes = first["notes"].to_string();
    assert!(notes.contains("did you mean http://nas:5000"), "{notes}");
    assert!(
        notes.contains("its name is written \\\"ann\\\" in Portico"),
        "{notes}"
    );
    let document = export(&server.data());
    let apps = document["apps"].as_array().expect("apps");
    let router = apps.iter().find(|app| app["name"] == "Router").expect("the app");
    assert_eq!(router["href"], "https://home.example/router");
    assert_eq!(router["iconUrl"], "data:image/png;base64,iVBORw==");

    let site = &document["site"];
    assert_eq!(
        (&site["name"], &site["accentColor"]),
        (&json!("Casa Ann"), &json!("#0d47a1"))
    );
    assert_eq!(document["homeBoard"], "Two");
    assert_eq!(site["startBoard"], "Hall");
    let logo = document["pictures"][0]["id"].as_str().expect("a logo");
    assert_eq!(site["logo"], logo);
    // The other one is in a notebook and in CSS.
    let db = Connection::open(server.data().join("portico.db")).expect("the database");
    let pictures: u32 = db
        .query_row("SELECT count(*) FROM picture", [], |row| row.get(0))
        .expect("pictures");
    assert_eq!(pictures, 2);
    drop(db);

    // The second time nothing is kept that is here already.
    let second = report(&file, &server.data(), &url);
    assert_eq!(created(&second), [0; 7]);
    let notes = second["notes"].to_string();
    assert!(!notes.contains("nas:5000"), "{notes}");
    assert_eq!(export(&server.data()), document);

    server.start_again();
    let okid2 = format!("okid2.{}", "0123456789abcdef".repeat(4));
    let keys = [
        "halos-bootstrap.halos-bootstrap-rotate-me-on-first-boot-abc123",
        "okid1.ABCDEFabcdef",
        &okid2,
    ];
    let imported = |id: &str| -> Option<String> {
        let db = Connection::open(server.data().join("portico.db")).expect("the database");
        let sql = "SELECT imported_hash FROM api_key WHERE id = ?1";
        db.query_row(sql, [id], |row| row.get(0)).expect("the key")
    };
    for key in keys {
        let (id, secret) = key.split_once('.').expect("a key");
        for wrong in [
            format!("{id}.x{secret}"),
            format!("{id}{secret}"),
            format!("{id}."),
        ] {
            server
                .key(&wrong)
                .get("/api/apps")
                .assert_refused(401, "UNAUTHORIZED");
        }
        assert!(imported(id).is_some(), "{id}");
        for _ in 0..2 {
            let script = server.key(key).in_api_key_header();
            let apps = script.get("/api/apps").assert_status(200).json();
            assert_eq!(apps.as_array().map(Vec::len), Some(2), "{id}");
            assert_eq!(imported(id), None, "{id}");
        }
        server
            .key(&format!("{key}x"))
            .get("/api/apps")
            .assert_refused(401, "UNAUTHORIZED");
    }
    // A key of such a form is listed and deleted like every key.
    let script = server.key(keys[0]);
    script
        .mutate("apiKeys.delete", &json!({"apiKeyId": "okid1"}))
        .assert_status(200);
    server
        .key(keys[1])
        .get("/api/apps")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_private_board_of_the_same_name_is_not_the_first_page_of_people_who_are_not_signed_in() {
    let place = Workspace::new();
    let file = household(&place, MORE);
    let mut server = Portico::start();
    let board = json!({ "name": "Hall", "isPublic": false, "items": [] });
    let root = administrator(&server);
    root.mutate("board.create", &board).assert_status(200);
    server.stop();
    let notes = report(&file, &server.data(), &[])["notes"].to_string();
    assert!(
        notes.contains("the board of its name here is not public"),
        "{notes}"
    );
    assert_eq!(export(&server.data())["site"]["startBoard"], Value::Null);
}

#[test]
fn a_database_that_is_newer_than_known_comes_along_and_what_is_new_is_named() {
    let place = Workspace::new();
    let more = "
        INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', 1800000000000), ('', 1800000000001);
        CREATE TABLE \"uptime_daily\" (\"id\" TEXT);
        INSERT INTO \"uptime_daily\" VALUES ('a');
        ALTER TABLE \"app\" ADD \"tags\" TEXT DEFAULT 'x';";
    let file = household(&place, more);
    let report = report(&file, &place.path("data"), &["--dry-run"]);
    assert_eq!(created(&report), [1, 1, 2, 0, 1, 3, 0]);
    assert_eq!(report["schema"]["newerMigrations"], 2);
    let notes = report["notes"].as_array().expect("notes");
    let texts: Vec<&str> = notes.iter().filter_map(|note| note["text"].as_str()).collect();
    for text in [
        "what is new in 2 migrations after 0048_add_fixed_board_scaling",
        "1 row of the table \"uptime_daily\", which is newer",
        "the column \"tags\" of app, which is newer",
    ] {
        assert!(
            texts.iter().any(|known| known.starts_with(text)),
            "{text} is not in:\n{}",
            texts.join("\n")
        );
    }
}

#[test]
fn a_path_needs_the_public_url_to_stay_a_link() {
    let place = Workspace::new();
    let file = household(&place, "");
    let said = import(&file, &place.path("data"), &["--dry-run"]).succeeded();
    assert!(
        said.contains("with --public-url it stays a link to this host"),
        "{said}"
    );
    let url = ["--dry-run", "--public-url", "https://home.example/path"];
    let said = import(&file, &place.path("data"), &url).failed();
    assert!(said.contains("without a path"), "{said}");
    assert_eq!(export(&place.path("data"))["users"], Value::Array(Vec::new()));
}
