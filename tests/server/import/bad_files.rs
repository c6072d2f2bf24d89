//! Files that are no database of Homarr, damaged, or made to do harm: a clear error, and an unchanged Portico.

use std::path::Path;

use portico_tests::{command, run};
use rusqlite::Connection;
use serde_json::json;

use super::{NEWEST, Workspace, created, export, import, report};

/// What every import here starts from.
const DOCUMENT: &str = r#"{
    "groups": [{"name": "operators", "permissions": ["admin"]}],
    "users": [{"name": "root", "provider": "credentials", "groups": ["operators"]}]
}"#;

/// A data directory with an administrator.
fn data(place: &Workspace) -> std::path::PathBuf {
    let data = place.path("data");
    let mut command = command();
    run(command.args(["apply", "-", "--data"]).arg(&data), DOCUMENT).succeeded();
    data
}

/// Checks that each of these files is refused with these words, without a change.
#[track_caller]
fn assert_refused(data: &Path, files: &[(&Path, &str)]) {
    let before = export(data);
    for (file, words) in files {
        let said = import(file, data, &[]).failed();
        assert!(
            said.contains(words),
            "{}: {words} is not in:\n{said}",
            file.display()
        );
        assert!(!said.contains('\u{1b}'), "a control character is shown:\n{said}");
        assert_eq!(export(data), before, "{}", file.display());
    }
}

#[test]
fn files_of_other_kinds_are_refused_with_the_way_out() {
    let place = Workspace::new();
    let data = data(&place);
    let write = |name: &str, bytes: &[u8]| {
        let path = place.path(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let missing = place.path("missing.sqlite");
    let empty = write("empty.sqlite", b"");
    let text = write("text.sqlite", b"hello");
    let postgresql = write("dump.sql", b"--\n-- PostgreSQL database dump\n--\n");
    let custom = write("dump.pg", b"PGDMP\x01\x0e");
    let mysql = write("mysql.sql", b"-- MySQL dump 10.13  Distrib 8.0.36\n");
    let dump = write("dump-lite.sql", b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
    let admin = write("phpmyadmin.sql", b"-- phpMyAdmin SQL Dump\n-- version 5.2.1\n");
    let board = write(
        "default.json",
        b"{\"schemaVersion\": 2, \"configProperties\": {\"name\": \"default\"}}",
    );
    let packed = write("packed.gz", b"\x1f\x8b\x08\0no gzip");
    let folder = place.path("folder");
    std::fs::create_dir(&folder).expect("a folder");
    // Sorted by their names, the board comes first.
    let dumps = place.folder.path().to_owned();
    let own = data.join("portico.db");
    assert_refused(
        &data,
        &[
            (&missing, "cannot import"),
            (&empty, "it is empty"),
            (&text, "neither a database of SQLite nor a ZIP"),
            (&postgresql, "edition for PostgreSQL"),
            (&custom, "edition for PostgreSQL"),
            (&mysql, "portico apply"),
            (&dump, "sqlite3 db.sqlite < dump.sql"),
            (&admin, "edition for MySQL"),
            (&board, "a board of Homarr 0.15"),
            (&packed, "the tar cannot be read"),
            (&folder, "there is no db.sqlite in it"),
            (&dumps, "a board of Homarr 0.15"),
            (&own, "not a database of Homarr: there"),
        ],
    );
}

#[test]
fn a_database_that_is_cut_or_overwritten_is_refused() {
    let place = Workspace::new();
    let data = data(&place);
    let bytes = std::fs::read(place.everything()).expect("the database");
    let write = |name: &str, bytes: &[u8]| {
        let path = place.path(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let cut = write("cut.sqlite", &bytes[..bytes.len() / 2]);
    let header = write("header.sqlite", &bytes[..100]);
    let name = write("name.sqlite", b"SQLite format 3\0");
    let mut overwritten = bytes.clone();
    overwritten[4096..16 * 4096].fill(0xff);
    let overwritten = write("overwritten.sqlite", &overwritten);
    assert_refused(
        &data,
        &[
            (&cut, "cannot import"),
            (&header, "cannot import"),
            (&name, "cannot import"),
            (&overwritten, "cannot import"),
        ],
    );
}

#[test]
fn an_unknown_schema_is_refused_with_what_was_found() {
    let place = Workspace::new();
    let data = data(&place);
    let migrations = "DELETE FROM __drizzle_migrations WHERE created_at";
    let older = place.database("older.sqlite", NEWEST, &format!("{migrations} > 1735651175378"));
    let hole = place.database("hole.sqlite", NEWEST, &format!("{migrations} = 1746821779051"));
    let first = "UPDATE __drizzle_migrations SET created_at = 1695874816934 WHERE created_at = 1715334238443";
    let before = place.database("before.sqlite", NEWEST, first);
    let none = place.database("none.sqlite", NEWEST, "DROP TABLE __drizzle_migrations");
    let column = place.database(
        "column.sqlite",
        NEWEST,
        "ALTER TABLE \"app\" DROP COLUMN \"href\"",
    );
    let table = place.database("table.sqlite", NEWEST, "DROP TABLE \"invite\"");
    assert_refused(
        &data,
        &[
            (&older, "20 migrations, the last of 2024-12-31"),
            (&older, "start a newer Homarr on it once"),
            (&hole, "some of them are not Homarr's"),
            (&before, "a time before Homarr 1"),
            (&none, "there is no table __drizzle_migrations"),
            (&column, "the table app has no column href"),
            (&table, "the table invite is missing"),
        ],
    );
}

#[test]
fn code_in_a_database_does_not_run() {
    let place = Workspace::new();
    let data = data(&place);
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let view = place.database(
        "view.sqlite",
        NEWEST,
        &format!("ALTER TABLE \"app\" RENAME TO hidden; CREATE VIEW \"app\" AS {endless}"),
    );
    let virtual_table = place.database(
        "virtual.sqlite",
        NEWEST,
        "DROP TABLE \"invite\"; PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'invite', 'invite',
            0, 'CREATE VIRTUAL TABLE \"invite\" USING fts5(id, token, expiration_date, creator_id)')",
    );
    let generated = place.database(
        "generated.sqlite",
        NEWEST,
        "DROP TABLE \"serverSetting\"; CREATE TABLE \"serverSetting\" (setting_key TEXT,
            value TEXT GENERATED ALWAYS AS (printf('%.*c', 900000000, 'x')) VIRTUAL);
        INSERT INTO \"serverSetting\" (setting_key) VALUES ('board')",
    );
    let blob = place.database(
        "blob.sqlite",
        NEWEST,
        "INSERT INTO \"app\" VALUES (x'00', x'00', NULL, '', '', '')",
    );
    let utf8 = place.database(
        "utf8.sqlite",
        NEWEST,
        "INSERT INTO \"app\" VALUES ('a', CAST(x'ff1b' AS TEXT), NULL, '', '', '')",
    );
    assert_refused(
        &data,
        &[
            (&view, "the table app is missing, or is none that Homarr makes"),
            (
                &virtual_table,
                "the table invite is missing, or is none that Homarr makes",
            ),
            (
                &generated,
                "the table serverSetting is missing, or is none that Homarr makes",
            ),
            (&blob, "app.id in row 1 is Blob and no text"),
            (&utf8, "app.name in row 1 is no UTF-8"),
        ],
    );
}

#[test]
fn triggers_and_hostile_texts_are_only_data() {
    let place = Workspace::new();
    let data = data(&place);
    let sql = "
        CREATE TRIGGER t AFTER INSERT ON \"user\" BEGIN DELETE FROM \"group\"; END;
        CREATE INDEX i ON \"app\" (lower(\"name\"));
        INSERT INTO \"user\" (id, name, email, provider) VALUES
            ('one', char(27) || '[31mred' || char(0) || char(8238), 'a@b' || char(10), 'credentials'),
            ('operator', 'mallory', NULL, 'credentials'), ('', 'nobody', NULL, 'credentials');
        INSERT INTO \"board\" (id, name) VALUES ('loop', '''; DROP TABLE user; --');
        INSERT INTO \"layout\" (id, name, board_id, column_count) VALUES ('l', 'L', 'loop', 1);
        INSERT INTO \"section\" (id, board_id, kind) VALUES ('a', 'loop', 'dynamic'), ('b', 'loop', 'dynamic');
        INSERT INTO \"section_layout\" VALUES ('a', 'l', 'b', 0, 0, 1, 1), ('b', 'l', 'a', 0, 0, 1, 1);
        INSERT INTO \"app\" VALUES ('app', 'App', NULL, '/a.svg', NULL, NULL);
        INSERT INTO \"item\" (id, board_id, kind, options) VALUES ('i', 'loop', 'app', '{\"json\": {\"appId\": \"app\"}}');
        INSERT INTO \"item_layout\" VALUES ('i', 'a', 'l', 9223372036854775807, -9223372036854775807, 1, 1);";
    let file = place.database("hostile.sqlite", NEWEST, sql);
    let said = import(&file, &data, &["--dry-run"]).succeeded();
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
    let report = report(&file, &data, &[]);
    assert_eq!(created(&report), [0, 1, 1, 0, 1, 0, 0]);
    let after = export(&data);
    assert_eq!(after["boards"][0]["items"], json!([{"app": "App"}]));
    assert_eq!(after["users"][0]["name"], "[31mred");
    let db = Connection::open(data.join("portico.db")).expect("the database");
    let sound: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("a check");
    assert_eq!(sound, "ok");
}

#[test]
fn links_without_a_scheme_are_named_and_texts_lose_what_changes_directions() {
    let place = Workspace::new();
    let data = data(&place);
    let sql = "
        INSERT INTO \"app\" VALUES
            ('nas', 'NAS', 'a' || char(8238) || 'b', '/n.svg', 'nas:5000', NULL),
            ('rtl', char(8294) || 'Media' || char(8207), NULL, '/m.svg', NULL, NULL);
        INSERT INTO \"board\" (id, name) VALUES ('home', 'ho' || char(8234) || 'me');
        INSERT INTO \"group\" (id, name, position) VALUES ('family', 'fam' || char(8297) || 'ily', 1);";
    let file = place.database("directions.sqlite", NEWEST, sql);
    let report = report(&file, &data, &[]);
    let notes = report["notes"].as_array().expect("notes").iter();
    let kept: Vec<_> = notes.filter(|note| note["what"] == "kept").collect();
    assert_eq!(kept.len(), 1, "{report}");
    assert_eq!(kept[0]["name"], "NAS");
    assert_eq!(
        kept[0]["text"],
        "its href must be an absolute URL: did you mean http://nas:5000?"
    );
    let after = export(&data);
    let (nas, media) = (&after["apps"][1], &after["apps"][0]);
    assert_eq!(
        (&nas["name"], &nas["href"], &nas["description"]),
        (&json!("NAS"), &json!("nas:5000"), &json!("ab"))
    );
    assert_eq!(media["name"], "Media\u{200f}", "the mark stays");
    assert_eq!(after["boards"][0]["name"], "home");
    assert!(
        after["groups"]
            .as_array()
            .expect("groups")
            .iter()
            .any(|group| group["name"] == "family")
    );
}

#[test]
fn a_change_that_homarr_did_not_finish_is_left_to_homarr() {
    let place = Workspace::new();
    let data = data(&place);
    let file = place.everything();
    std::fs::write(place.path("db.sqlite-journal"), b"a journal").expect("a file");
    assert_refused(&data, &[(&file, "start Homarr, stop it, and try again")]);
}
