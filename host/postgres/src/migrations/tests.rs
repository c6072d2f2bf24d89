//! A next version, of which only the migration exists.

use std::time::Duration;

use tokio_postgres::{Config, NoTls};

use super::*;
use crate::PostgresStorage;

#[path = "../../../../tests/support/postgresql.rs"]
mod postgresql;

use postgresql::Postgresql;

const NEXT: Migration = Migration {
    sql: "ALTER TABLE app ADD COLUMN label text; UPDATE app SET label = name",
    oldest: NEWEST + 1,
};

/// All migrations, and this one.
fn followed_by(next: Migration) -> Vec<Migration> {
    MIGRATIONS.into_iter().chain([next]).collect()
}

/// A database of this version with an app; and its URL.
async fn database(server: &Postgresql) -> String {
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    let app = "INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg')";
    server.run("home", app);
    url
}

async fn connect(url: &str, name: &str) -> Client {
    let mut config: Config = url.parse().unwrap();
    let (client, connection) = config.application_name(name).connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
#[ignore = "make test-all"]
async fn the_next_version_keeps_every_record_and_ends_the_connections_of_hosts_that_are_too_old_for_it() {
    let server = Postgresql::shared();
    let url = database(&server).await;
    let (this, next) = (
        format!("home portico/{NEWEST}"),
        format!("portico/{}", NEWEST + 1),
    );
    let mut connections = Vec::new();
    for name in [&this, &next, "psql", "portico"] {
        connections.push((name, connect(&url, name).await));
    }
    // It is in a transaction.
    connections[0]
        .1
        .batch_execute("BEGIN; SELECT id FROM app")
        .await
        .unwrap();
    let client = connect(&url, &next).await;
    let migrations = followed_by(NEXT);
    let run_missing = run_missing(&client, &migrations);
    let migrated = tokio::time::timeout(Duration::from_secs(60), run_missing).await;
    migrated.expect("it does not wait").unwrap();
    let versions = "SELECT version || ' ' || oldest FROM portico_version";
    let newer = NEWEST + 1;
    assert_eq!(server.run("home", versions), format!("{newer} {newer}"));
    assert_eq!(server.run("home", "SELECT label FROM app"), "Jellyfin");
    for (name, client) in &connections {
        let is_old = **name == this;
        assert_eq!(client.simple_query("SELECT 1").await.is_err(), is_old, "{name}");
    }
    let refusal = run(&client).await.unwrap_err().to_string();
    assert!(refusal.contains(&format!("version {newer}")), "{refusal}");
    assert!(refusal.contains(&format!("versions up to {NEWEST}")), "{refusal}");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_share_of_the_first_version_becomes_one_that_only_shows_the_board() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..1]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true);
        INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
        INSERT INTO board (id, name, name_key, is_public, creator_id) VALUES ('b', 'Home', 'home', false, 'u');
        INSERT INTO board_user (board_id, user_id) VALUES ('b', 'u');
        INSERT INTO board_group (board_id, group_id) VALUES ('b', 'g')";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let versions = "SELECT version || ' ' || oldest FROM portico_version";
    assert_eq!(server.run("home", versions), format!("{NEWEST} 16"));
    for (table, with) in [("board_user", "user_id = 'u'"), ("board_group", "group_id = 'g'")] {
        let kept = format!("SELECT count(*) FROM {table} WHERE board_id = 'b' AND {with} AND NOT may_change");
        assert_eq!(server.run("home", &kept), "1", "{table}");
    }
    assert_eq!(server.run("home", "SELECT count(*) FROM password_link"), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_row_of_the_audit_log_from_before_its_groups_stays_without_them() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..2]).await.unwrap();
    let row =
        "INSERT INTO audit (time, authentication, request_id, procedure, provider, created, outcome, times)
        VALUES (7, 'none', 'r', 'sign-in', 'oidc', 0, 'OK', 1)";
    server.run("home", row);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept = "SELECT count(*) FROM audit WHERE request_id = 'r' AND groups IS NULL";
    assert_eq!(server.run("home", kept), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_key_from_before_its_limits_may_do_what_its_user_may() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..3]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true);
        INSERT INTO api_key (id, secret_hash, user_id, created_at) VALUES ('k', '\\x07', 'u', 1)";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept = "SELECT count(*) FROM api_key WHERE id = 'k' AND permissions IS NULL AND NOT read_only";
    assert_eq!(server.run("home", kept), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_from_before_looks_keeps_its_records_and_takes_pictures_of_its_users() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..4]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true);
        INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg')";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let picture = "
        INSERT INTO picture (id, content_type, uploader_id, uploaded_at, content)
            VALUES ('p', 'image/png', 'u', 7, '\\x00');
        INSERT INTO site (id, logo_id, density, wide_screens) VALUES ('site', 'p', 'icons', true);
        DELETE FROM user_account";
    server.run("home", picture);
    assert_eq!(server.run("home", "SELECT count(*) FROM app"), "1");
    let kept = "SELECT count(*) FROM picture WHERE uploader_id IS NULL";
    assert_eq!(server.run("home", kept), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn an_invite_from_before_has_no_note_and_no_groups_and_a_session_no_browser() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..5]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true);
        INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
        INSERT INTO invite (id, token_hash, expires_at, creator_id) VALUES ('i', 'x', 9, 'u');
        INSERT INTO session (id, token_hash, user_id, created_at, expires_at, last_used_at, ends_at)
            VALUES ('s', 'y', 'u', 1, 9, 2, 9)";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept = "SELECT (SELECT count(*) FROM invite WHERE note IS NULL AND creator_id = 'u')
        + (SELECT count(*) FROM session WHERE browser IS NULL AND address IS NULL AND last_used_at = 2)";
    assert_eq!(server.run("home", kept), "2");
    server.run(
        "home",
        "INSERT INTO invite_group VALUES ('i', 'g'); DELETE FROM user_group",
    );
    assert_eq!(server.run("home", "SELECT count(*) FROM invite_group"), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_board_from_before_its_sections_has_one_with_its_items_in_their_order() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..6]).await.unwrap();
    let records = "
        INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg');
        INSERT INTO board (id, name, name_key, is_public) VALUES ('b', 'Home', 'home', true);
        INSERT INTO board_item (board_id, position, app_id) VALUES ('b', 0, NULL), ('b', 1, 'a');
        INSERT INTO board_item_app (board_id, item_position, position, app_id) VALUES ('b', 0, 0, 'a')";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    for (table, condition, count) in [
        ("board", "slug IS NULL", "1"),
        (
            "board_section",
            "board_id = 'b' AND position = 0 AND name IS NULL AND NOT collapsed",
            "1",
        ),
        ("board_item", "section = 0 AND size = '1x1' AND kind IS NULL", "2"),
        ("board_item_app", "item_position = 0 AND app_id = 'a'", "1"),
    ] {
        let sql = format!("SELECT count(*) FROM {table} WHERE {condition}");
        assert_eq!(server.run("home", &sql), count, "{table}");
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn in_a_database_from_before_it_was_stored_everyone_sees_every_app() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..7]).await.unwrap();
    let looks = "INSERT INTO site (id, name, density, wide_screens) VALUES ('site', 'Casa', 'icons', false)";
    server.run("home", looks);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept =
        "SELECT count(*) FROM site WHERE name = 'Casa' AND density = 'icons' AND app_visibility = 'everyone'";
    assert_eq!(server.run("home", kept), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn an_app_and_a_session_from_before_the_gate_have_nothing_of_it_and_take_it() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..8]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true);
        INSERT INTO app (id, name, name_key, icon_url, href) VALUES ('a', 'Wiki', 'wiki', '/i.svg', 'https://w.example');
        INSERT INTO session (id, token_hash, user_id, created_at, expires_at, last_used_at, ends_at)
            VALUES ('s', '\\x08', 'u', 1, 9, 2, 9)";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept = "SELECT (SELECT count(*) FROM app WHERE href = 'https://w.example')
        + (SELECT count(*) FROM session WHERE token_hash = '\\x08' AND last_used_at = 2)";
    assert_eq!(server.run("home", kept), "2");
    let both = "SELECT (SELECT count(*) FROM app_gate) + (SELECT count(*) FROM gate_pass)";
    assert_eq!(server.run("home", both), "0");
    let set = "
        INSERT INTO app_gate VALUES ('a', 'https://x.example/', true);
        INSERT INTO gate_pass VALUES ('s', '\\x09', '\\x08')";
    server.run("home", set);
    assert_eq!(server.run("home", both), "2");
    server.run("home", "DELETE FROM app; DELETE FROM session");
    assert_eq!(server.run("home", both), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_user_from_before_has_no_second_factor_and_may_set_one_up() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..9]).await.unwrap();
    let records = "
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, false, true)";
    server.run("home", records);
    drop(PostgresStorage::open(&url).await.unwrap());
    assert_eq!(server.run("home", "SELECT name FROM user_account"), "ada");
    let both = "SELECT (SELECT count(*) FROM second_factor) + (SELECT count(*) FROM recovery_code)";
    assert_eq!(server.run("home", both), "0");
    let factor = "
        INSERT INTO second_factor (id, user_id, kind, data, created_at) VALUES ('f', 'u', 'totp', 'A', 7);
        INSERT INTO recovery_code (user_id, number, code_hash) VALUES ('u', 0, '\\x07')";
    server.run("home", factor);
    assert_eq!(server.run("home", both), "2");
    server.run("home", "DELETE FROM user_account");
    assert_eq!(server.run("home", both), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_from_before_default_homes_takes_them_and_keeps_the_pictures_of_its_boards() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let client = connect(&url, "first").await;
    run_missing(&client, &MIGRATIONS[..10]).await.unwrap();
    let [used, other] = ["a".repeat(64), "b".repeat(64)];
    let records = format!(
        "INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
        INSERT INTO board (id, name, name_key, is_public) VALUES ('b', 'Home', 'home', true), ('c', 'Lab', 'lab', false);
        INSERT INTO picture (id, content_type, uploaded_at, content)
            VALUES ('{used}', 'image/png', 7, '\\x00'), ('{other}', 'image/png', 7, '\\x00');
        INSERT INTO board_extras (board_id, extras)
            VALUES ('b', '{{\"logoImageUrl\":\"/api/pictures/{used}\"}}'), ('c', '{{\"x\":\"{other}\"}}')"
    );
    server.run("home", &records);
    drop(PostgresStorage::open(&url).await.unwrap());
    let kept = "SELECT board_id || ' ' || picture_id FROM board_picture";
    assert_eq!(server.run("home", kept), format!("b {used}"));
    let set = "INSERT INTO home_board VALUES ('', NULL, 'c', NULL), ('g', 'g', 'c', 'b');
        DELETE FROM board WHERE id = 'c'";
    server.run("home", set);
    let left = "SELECT count(*) FROM home_board WHERE home_board_id IS NULL";
    assert_eq!(server.run("home", left), "2");
    server.run("home", "DELETE FROM user_group; DELETE FROM board");
    let left =
        "SELECT (SELECT count(*) FROM home_board WHERE id <> '') + (SELECT count(*) FROM board_picture)";
    assert_eq!(server.run("home", left), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_migration_that_fails_changes_nothing() {
    let server = Postgresql::shared();
    let url = database(&server).await;
    let wrong = Migration {
        sql: "DELETE FROM app; CREATE TABLE app (id text)",
        ..NEXT
    };
    let client = connect(&url, "next").await;
    let migrations = followed_by(wrong);
    run_missing(&client, &migrations).await.unwrap_err();
    let version = "SELECT version FROM portico_version";
    assert_eq!(server.run("home", version), NEWEST.to_string());
    assert_eq!(server.run("home", "SELECT count(*) FROM app"), "1");
    drop(PostgresStorage::open(&url).await.unwrap());
}
