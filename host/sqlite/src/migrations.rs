//! Brings a database to the version that this binary knows.
//!
//! `PRAGMA user_version` is the version of a database. A released migration never changes: a later change is a new one
//! at the end.

use anyhow::{Context, ensure};
use portico_storage::driver::made_earlier;
use rusqlite::{Connection, TransactionBehavior};
use tracing::info;

/// The version of an empty database after the first migration. Earlier versions are not upgraded.
pub(super) const FIRST: usize = 12;

const MIGRATIONS: [&str; 11] = [
    include_str!("migrations/0012_schema.sql"),
    include_str!("migrations/0013_rights.sql"),
    include_str!("migrations/0014_audit_groups.sql"),
    include_str!("migrations/0015_key_limits.sql"),
    include_str!("migrations/0016_looks.sql"),
    include_str!("migrations/0017_invites_and_sessions.sql"),
    include_str!("migrations/0018_sections.sql"),
    include_str!("migrations/0019_app_visibility.sql"),
    include_str!("migrations/0020_gate.sql"),
    include_str!("migrations/0021_second_factor.sql"),
    include_str!("migrations/0022_home_boards.sql"),
];

/// The version that this binary knows.
pub(super) const NEWEST: usize = newest(&MIGRATIONS);

/// Marks a database as Portico's ("Prtc"); the first migration sets it.
pub(super) const APPLICATION_ID: i64 = 0x5072_7463;

const fn newest(migrations: &[&str]) -> usize {
    FIRST + migrations.len() - 1
}

/// Runs the missing migrations. Refuses the database of another program, or of another version that this binary cannot
/// use.
pub(super) fn run(connection: &mut Connection) -> anyhow::Result<()> {
    run_missing(connection, &MIGRATIONS)
}

/// Runs those of these migrations that a database still lacks.
fn run_missing(connection: &mut Connection, migrations: &[&str]) -> anyhow::Result<()> {
    let application_id = number(connection, "PRAGMA application_id")?;
    let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
    ensure!(
        application_id == APPLICATION_ID || is_empty,
        "it is the database of another program: choose another data directory"
    );
    let (done, newest) = (version(connection)?, newest(migrations));
    if done == newest {
        return Ok(());
    }
    if done > 0 {
        info!(
            "bringing the tables from version {done} to {newest}: with a million records this may take half a minute"
        );
    }
    migrate(connection, migrations, done)
}

/// Whether the tables of a database of ours are of an earlier version.
pub(super) fn are_missing(connection: &Connection) -> anyhow::Result<bool> {
    let is_ours = number(connection, "PRAGMA application_id")? == APPLICATION_ID;
    Ok(is_ours && (1..NEWEST).contains(&version(connection)?))
}

/// The version of a database; 0 if it is empty. Refuses one that this binary cannot use.
pub(super) fn version(connection: &Connection) -> anyhow::Result<usize> {
    let version = number(connection, "PRAGMA user_version")?;
    let version = usize::try_from(version).context("its version is negative")?;
    ensure!(
        version <= NEWEST,
        "it is of version {version}, and this portico knows versions up to {NEWEST}: run the newer portico \
         that wrote it, or restore a backup from before the upgrade"
    );
    refuse_earlier(connection)?;
    Ok(version)
}

/// Refuses the database of an earlier build.
pub(super) fn refuse_earlier(connection: &Connection) -> anyhow::Result<()> {
    let version = number(connection, "PRAGMA user_version")?;
    ensure!(!(1..FIRST as i64).contains(&version), made_earlier(version));
    Ok(())
}

/// An empty database of a version, in memory.
pub(super) fn build(version: usize) -> anyhow::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let count = (version + 1).saturating_sub(FIRST);
    migrate(&mut connection, &MIGRATIONS[..count], 0)?;
    Ok(connection)
}

/// Brings a database of this version to that of the last of these migrations.
fn migrate(connection: &mut Connection, migrations: &[&str], done: usize) -> anyhow::Result<()> {
    // A migration that rebuilds a table drops it first, which must not delete the rows that refer to it.
    connection.pragma_update(None, "foreign_keys", false)?;
    for (version, migration) in (FIRST..).zip(migrations).filter(|(version, _)| *version > done) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(migration)?;
        let dangling = transaction.prepare("PRAGMA foreign_key_check")?.exists([])?;
        ensure!(!dangling, "a record refers to a missing record: restore a backup");
        transaction.pragma_update(None, "user_version", version as i64)?;
        transaction.commit()?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

pub(super) fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_NEXT: [&str; MIGRATIONS.len() + 1] = followed_by(
        "ALTER TABLE board ADD COLUMN colour TEXT;
         CREATE TABLE new_app (id TEXT NOT NULL PRIMARY KEY, label TEXT NOT NULL) STRICT;
         INSERT INTO new_app SELECT id, name FROM app; DROP TABLE app; ALTER TABLE new_app RENAME TO app",
    );

    /// All migrations, and this one.
    const fn followed_by(next: &str) -> [&str; MIGRATIONS.len() + 1] {
        let mut all = [next; MIGRATIONS.len() + 1];
        let mut index = 0;
        while index < MIGRATIONS.len() {
            all[index] = MIGRATIONS[index];
            index += 1;
        }
        all
    }

    /// A database with an app on a board.
    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection).unwrap();
        let records = "
            INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg');
            INSERT INTO board (id, name, name_key, is_public) VALUES ('b', 'Home', 'home', 1);
            INSERT INTO board_item (board_id, position, app_id) VALUES ('b', 0, 'a')";
        connection.execute_batch(records).unwrap();
        connection
    }

    fn version_of(connection: &Connection) -> i64 {
        number(connection, "PRAGMA user_version").unwrap()
    }

    #[test]
    fn the_next_version_keeps_every_record_and_is_refused_by_this_one() {
        let mut connection = database();
        run_missing(&mut connection, &WITH_NEXT).unwrap();
        assert_eq!(version_of(&connection), NEWEST as i64 + 1);
        let label = "SELECT label FROM board_item JOIN app ON app.id = app_id";
        let label: String = connection.query_row(label, [], |row| row.get(0)).unwrap();
        assert_eq!(label, "Jellyfin");
        assert_eq!(number(&connection, "PRAGMA foreign_keys").unwrap(), 1);
        let refusal = run(&mut connection).unwrap_err().to_string();
        assert!(refusal.contains(&format!("version {}", NEWEST + 1)), "{refusal}");
        assert!(refusal.contains(&format!("versions up to {NEWEST}")), "{refusal}");
    }

    /// A database of the first version with a board that is shared.
    #[test]
    fn a_share_of_the_first_version_becomes_one_that_only_shows_the_board() {
        let mut connection = build(FIRST).unwrap();
        let records = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
            INSERT INTO board (id, name, name_key, is_public, creator_id) VALUES ('b', 'Home', 'home', 0, 'u');
            INSERT INTO board_user (board_id, user_id) VALUES ('b', 'u');
            INSERT INTO board_group (board_id, group_id) VALUES ('b', 'g')";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        assert_eq!(version_of(&connection), NEWEST as i64);
        for (table, with) in [("board_user", "user_id = 'u'"), ("board_group", "group_id = 'g'")] {
            let kept =
                format!("SELECT count(*) FROM {table} WHERE board_id = 'b' AND {with} AND may_change = 0");
            assert_eq!(number(&connection, &kept).unwrap(), 1, "{table}");
        }
        assert_eq!(
            number(&connection, "SELECT count(*) FROM password_link").unwrap(),
            0
        );
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_row_of_the_audit_log_from_before_its_groups_stays_without_them() {
        let mut connection = build(FIRST + 1).unwrap();
        let row = "INSERT INTO audit (time, authentication, request_id, procedure, provider, created, outcome, times)
            VALUES (7, 'none', 'r', 'sign-in', 'oidc', 0, 'OK', 1)";
        connection.execute_batch(row).unwrap();
        run(&mut connection).unwrap();
        let kept = "SELECT count(*) FROM audit WHERE request_id = 'r' AND groups IS NULL";
        assert_eq!(number(&connection, kept).unwrap(), 1);
        let change = connection.execute_batch("UPDATE audit SET groups = 'x'");
        assert!(change.is_err(), "rows still never change");
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_key_from_before_its_limits_may_do_what_its_user_may() {
        let mut connection = build(FIRST + 2).unwrap();
        let records = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO api_key (id, secret_hash, user_id, created_at) VALUES ('k', x'07', 'u', 1)";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        let kept = "SELECT count(*) FROM api_key WHERE id = 'k' AND permissions IS NULL AND read_only = 0";
        assert_eq!(number(&connection, kept).unwrap(), 1);
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_database_from_before_looks_keeps_its_records_and_takes_pictures_of_its_users() {
        let mut connection = build(FIRST + 3).unwrap();
        let records = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg')";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        let picture = "
            INSERT INTO picture (id, content_type, uploader_id, uploaded_at, content) VALUES ('p', 'image/png', 'u', 7, x'00');
            INSERT INTO site (id, logo_id, density, wide_screens) VALUES ('site', 'p', 'icons', 1);
            DELETE FROM user_account";
        connection.execute_batch(picture).unwrap();
        let count = |sql| number(&connection, sql).unwrap();
        assert_eq!(count("SELECT count(*) FROM app"), 1);
        assert_eq!(count("SELECT count(*) FROM picture WHERE uploader_id IS NULL"), 1);
        let used = connection.execute_batch("DELETE FROM picture");
        assert!(used.is_err(), "the looks use it");
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn an_invite_from_before_has_no_note_and_no_groups_and_a_session_no_browser() {
        let mut connection = build(FIRST + 4).unwrap();
        let records = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
            INSERT INTO invite (id, token_hash, expires_at, creator_id) VALUES ('i', x'07', 9, 'u');
            INSERT INTO session (id, token_hash, user_id, created_at, expires_at, last_used_at, ends_at)
                VALUES ('s', x'08', 'u', 1, 9, 2, 9)";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        assert_eq!(version_of(&connection), NEWEST as i64);
        for kept in [
            "SELECT count(*) FROM invite WHERE id = 'i' AND token_hash = x'07' AND creator_id = 'u' AND note IS NULL",
            "SELECT count(*) FROM session WHERE id = 's' AND last_used_at = 2 AND browser IS NULL AND address IS NULL",
        ] {
            assert_eq!(number(&connection, kept).unwrap(), 1, "{kept}");
        }
        let given = "INSERT INTO invite_group VALUES ('i', 'g'); DELETE FROM user_group WHERE id = 'g'";
        connection.execute_batch(given).unwrap();
        assert_eq!(
            number(&connection, "SELECT count(*) FROM invite_group").unwrap(),
            0
        );
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_board_from_before_its_sections_has_one_with_its_items_in_their_order() {
        let mut connection = build(FIRST + 5).unwrap();
        let records = "
            INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg');
            INSERT INTO board (id, name, name_key, is_public) VALUES ('b', 'Home', 'home', 1);
            INSERT INTO board_item (board_id, position, app_id) VALUES ('b', 0, NULL), ('b', 1, 'a');
            INSERT INTO board_item_app (board_id, item_position, position, app_id) VALUES ('b', 0, 0, 'a')";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        let counts = [
            ("board", "slug IS NULL", 1),
            (
                "board_section",
                "board_id = 'b' AND position = 0 AND name IS NULL AND collapsed = 0",
                1,
            ),
            ("board_item", "section = 0 AND size = '1x1' AND kind IS NULL", 2),
            ("board_item_app", "item_position = 0 AND app_id = 'a'", 1),
        ];
        for (table, condition, count) in counts {
            let sql = format!("SELECT count(*) FROM {table} WHERE {condition}");
            assert_eq!(number(&connection, &sql).unwrap(), count, "{table}");
        }
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn in_a_database_from_before_it_was_stored_everyone_sees_every_app() {
        let mut connection = build(FIRST + 6).unwrap();
        let looks = "INSERT INTO site (id, name, density, wide_screens) VALUES ('site', 'Casa', 'icons', 0)";
        connection.execute_batch(looks).unwrap();
        run(&mut connection).unwrap();
        let kept = "SELECT count(*) FROM site WHERE name = 'Casa' AND density = 'icons' AND app_visibility = 'everyone'";
        assert_eq!(number(&connection, kept).unwrap(), 1);
        assert!(
            connection
                .execute_batch("UPDATE site SET app_visibility = 'x'")
                .is_err()
        );
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_user_from_before_has_no_second_factor_and_may_set_one_up() {
        let mut connection = build(FIRST + 8).unwrap();
        let user = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1)";
        connection.execute_batch(user).unwrap();
        run(&mut connection).unwrap();
        let factor = "
            INSERT INTO second_factor (id, user_id, kind, data, created_at) VALUES ('f', 'u', 'totp', 'A', 7);
            INSERT INTO recovery_code (user_id, number, code_hash) VALUES ('u', 0, x'07')";
        connection.execute_batch(factor).unwrap();
        connection.execute_batch("DELETE FROM user_account").unwrap();
        for table in ["second_factor", "recovery_code"] {
            let left = format!("SELECT count(*) FROM {table}");
            assert_eq!(number(&connection, &left).unwrap(), 0, "{table}");
        }
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn an_app_and_a_session_from_before_the_gate_have_nothing_of_it_and_take_it() {
        let mut connection = build(FIRST + 7).unwrap();
        let records = "
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO app (id, name, name_key, icon_url, href) VALUES ('a', 'Wiki', 'wiki', '/i.svg', 'https://w.example');
            INSERT INTO session (id, token_hash, user_id, created_at, expires_at, last_used_at, ends_at)
                VALUES ('s', x'08', 'u', 1, 9, 2, 9)";
        connection.execute_batch(records).unwrap();
        run(&mut connection).unwrap();
        let count = |sql: &str| number(&connection, sql).unwrap();
        assert_eq!(
            count("SELECT count(*) FROM app WHERE href = 'https://w.example'"),
            1
        );
        assert_eq!(count("SELECT count(*) FROM session WHERE last_used_at = 2"), 1);
        let set = "
            INSERT INTO app_gate VALUES ('a', 'https://x.example/', 1);
            INSERT INTO gate_pass VALUES ('s', x'09', x'08');
            DELETE FROM app; DELETE FROM session";
        connection.execute_batch(set).unwrap();
        assert_eq!(count("SELECT count(*) FROM app_gate"), 0);
        assert_eq!(count("SELECT count(*) FROM gate_pass"), 0);
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_database_from_before_default_homes_takes_them_and_keeps_the_pictures_of_its_boards() {
        let mut connection = build(FIRST + 9).unwrap();
        let [used, other] = ["a".repeat(64), "b".repeat(64)];
        let records = format!(
            "INSERT INTO user_group (id, name, name_key) VALUES ('g', 'Family', 'family');
            INSERT INTO board (id, name, name_key, is_public) VALUES ('b', 'Home', 'home', 1), ('c', 'Lab', 'lab', 0);
            INSERT INTO picture (id, content_type, uploaded_at, content)
                VALUES ('{used}', 'image/png', 7, x'00'), ('{other}', 'image/png', 7, x'00');
            INSERT INTO board_extras (board_id, extras)
                VALUES ('b', '{{\"logoImageUrl\":\"/api/pictures/{used}\"}}'), ('c', '{{\"x\":\"{other}\"}}')"
        );
        connection.execute_batch(&records).unwrap();
        run(&mut connection).unwrap();
        assert_eq!(version_of(&connection), NEWEST as i64);
        let count = |sql: &str| number(&connection, sql).unwrap();
        let kept =
            format!("SELECT count(*) FROM board_picture WHERE board_id = 'b' AND picture_id = '{used}'");
        assert_eq!(count(&kept), 1);
        assert_eq!(count("SELECT count(*) FROM board_picture"), 1);
        assert_eq!(count("SELECT count(*) FROM home_board"), 0);
        let set = "INSERT INTO home_board VALUES ('', NULL, 'c', NULL), ('g', 'g', 'c', 'b')";
        connection.execute_batch(set).unwrap();
        let of_another = connection.execute_batch("INSERT INTO home_board VALUES ('x', 'g', NULL, NULL)");
        assert!(of_another.is_err(), "a group has one");
        connection
            .execute_batch("DELETE FROM board WHERE id = 'c'")
            .unwrap();
        let left = "SELECT count(*) FROM home_board WHERE home_board_id IS NULL";
        assert_eq!(count(left), 2);
        let rest = "DELETE FROM user_group; DELETE FROM board";
        connection.execute_batch(rest).unwrap();
        assert_eq!(count("SELECT count(*) FROM home_board WHERE id <> ''"), 0);
        assert_eq!(count("SELECT count(*) FROM board_picture"), 0);
        crate::schema::check(&connection).unwrap();
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = database();
        let next = "DELETE FROM app; CREATE TABLE app (id TEXT)";
        run_missing(&mut connection, &followed_by(next)).unwrap_err();
        let dangling = "PRAGMA defer_foreign_keys = ON; DELETE FROM app";
        run_missing(&mut connection, &followed_by(dangling)).unwrap_err();
        assert_eq!(version_of(&connection), NEWEST as i64);
        assert_eq!(number(&connection, "SELECT count(*) FROM app").unwrap(), 1);
    }

    #[test]
    fn a_database_of_an_earlier_build_is_refused_with_what_to_do() {
        let mut connection = database();
        for version in 1..FIRST {
            connection
                .pragma_update(None, "user_version", version as i64)
                .unwrap();
            let refusal = run(&mut connection).unwrap_err().to_string();
            assert_eq!(refusal, made_earlier(version));
            assert_eq!(version_of(&connection), version as i64);
        }
    }
}
