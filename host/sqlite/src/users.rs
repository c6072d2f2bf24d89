//! Statements on users and their identities.

use rusqlite::{Connection, Result, Row, params};

use super::names::Names;
use super::query::{all, exists, first, run, sized};
use super::ranges::{Start, Table, start, total};
use super::values::{EnumText, TimestampMillis, limit, optional_timestamp};
use portico_model::{ColorScheme, HomeBoards, Provider, SearchPreferences, User};
use portico_storage::driver::AnswerSize;
use portico_storage::names::{MAX_PLACES, Search};
use portico_storage::{
    Account, AccountKey, ListedUser, NewUser, Profile, ProviderSubject, Slice, UserFilter,
};

pub(super) fn has_any(db: &Connection) -> Result<bool> {
    exists(db, "SELECT 1 FROM user", [])
}

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<User>> {
    let sql = "
        SELECT id, name, email, email_verified, image, provider, home_board_id, mobile_home_board_id,
            first_day_of_week, ping_icons_enabled, default_search_engine_id, open_search_in_new_tab
        FROM user WHERE id = ?1";
    first(db, sql, [id], |row| {
        Ok(User {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            email_verified: optional_timestamp(row, 3)?,
            image: row.get(4)?,
            provider: row.get::<_, EnumText<_>>(5)?.0,
            home_board_id: row.get(6)?,
            mobile_home_board_id: row.get(7)?,
            first_day_of_week: row.get(8)?,
            ping_icons_enabled: row.get(9)?,
            default_search_engine_id: row.get(10)?,
            open_search_in_new_tab: row.get(11)?,
        })
    })
}

/// The users that a filter matches, but for the email. The filter is one of a transaction that writes, of an email,
/// or of a long list: others are of everyone, or look into the names in memory.
macro_rules! matching {
    ($by_email:literal) => {
        concat!(
            " FROM user
            WHERE (?1 IS NULL OR provider = ?1) AND instr(name_key, ?2) > 0 AND (?4 IS NULL OR disabled = ?4)
                AND ",
            $by_email
        )
    };
}

const ANY_EMAIL: &str = matching!("?3 IS NULL");

/// A statement of its own, so that SQLite uses the index on email.
const BY_EMAIL: &str = matching!("email = ?3");

fn matching(filter: &UserFilter) -> &'static str {
    match filter.email {
        Some(_) => BY_EMAIL,
        None => ANY_EMAIL,
    }
}

pub(super) fn list(
    db: &Connection,
    names: Option<&Names>,
    filter: &UserFilter,
    slice: Slice,
    with_images: bool,
) -> Result<Vec<ListedUser>> {
    const COLUMNS: &str = "SELECT id, name, email, email_verified, provider, disabled, iif(?1, image, NULL)";
    let mut size = AnswerSize::default();
    if filter.is_everyone() {
        let Start { key, id, skipped } = start(db, Table::Users, slice.offset)?;
        let sql = format!(
            "{COLUMNS} FROM user WHERE (name_key, id) >= (?2, ?3) ORDER BY name_key, id LIMIT ?4 OFFSET ?5"
        );
        let values = params![with_images, key, id, limit(slice), skipped];
        return all(db, &sql, values, |row| sized(&mut size, listed(row)?));
    }
    if filter.email.is_none()
        && let Some(names) = names
        && let Some(limit) = slice.limit.filter(|limit| *limit <= MAX_PLACES)
    {
        let sql =
            format!("{COLUMNS} FROM user WHERE name_key = ?2 AND id >= ?3 ORDER BY id LIMIT ?5 OFFSET ?4");
        let mut users = Vec::new();
        for place in names.places(db, Search::of_users(filter), slice.offset, limit)? {
            let values = params![with_images, place.key, place.id, place.skipped, place.records];
            users.extend(all(db, &sql, values, |row| sized(&mut size, listed(row)?))?);
        }
        return Ok(users);
    }
    let sql = format!(
        "SELECT id, name, email, email_verified, provider, disabled, iif(?5, image, NULL) {}
        ORDER BY name_key, id LIMIT ?6 OFFSET ?7",
        matching(filter)
    );
    let values = params![
        filter.provider.map(EnumText),
        filter.name_contains.as_deref().unwrap_or_default(),
        filter.email,
        filter.disabled,
        with_images,
        limit(slice),
        slice.offset,
    ];
    all(db, &sql, values, |row| sized(&mut size, listed(row)?))
}

fn listed(row: &Row<'_>) -> Result<ListedUser> {
    Ok(ListedUser {
        id: row.get(0)?,
        name: row.get(1)?,
        email: row.get(2)?,
        email_verified: optional_timestamp(row, 3)?,
        provider: row.get::<_, EnumText<_>>(4)?.0,
        disabled: row.get(5)?,
        image: row.get(6)?,
    })
}

pub(super) fn count(db: &Connection, names: Option<&Names>, filter: &UserFilter) -> Result<u32> {
    if filter.is_everyone() {
        return total(db, Table::Users);
    }
    if let Some(names) = names.filter(|_| filter.email.is_none()) {
        return names.count(db, Search::of_users(filter));
    }
    let values = params![
        filter.provider.map(EnumText),
        filter.name_contains.as_deref().unwrap_or_default(),
        filter.email,
        filter.disabled,
    ];
    let sql = format!("SELECT count(*) {}", matching(filter));
    Ok(first(db, &sql, values, |row| row.get(0))?.unwrap_or_default())
}

pub(super) fn get_account(db: &Connection, key: &AccountKey) -> Result<Option<Account>> {
    const ACCOUNT: &str = "SELECT id, name, user.provider, disabled, password_hash, password_version";
    match key {
        AccountKey::Id(id) => {
            let sql = format!("{ACCOUNT} FROM user WHERE id = ?1");
            first(db, &sql, [id], account)
        }
        AccountKey::Name(name) => {
            let sql = format!("{ACCOUNT} FROM user WHERE provider = ?1 AND name_key = ?2");
            first(db, &sql, params![EnumText(name.provider), name.name_key], account)
        }
        AccountKey::Subject(subject) => {
            let sql = format!(
                "{ACCOUNT} FROM identity JOIN user ON user.id = identity.user_id
                WHERE identity.provider = ?1 AND subject = ?2"
            );
            let values = params![EnumText(subject.provider), subject.subject];
            first(db, &sql, values, account)
        }
    }
}

fn account(row: &Row<'_>) -> Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        name: row.get(1)?,
        provider: row.get::<_, EnumText<_>>(2)?.0,
        disabled: row.get(3)?,
        password_hash: row.get(4)?,
        password_version: row.get::<_, u32>(5)?.into(),
    })
}

pub(super) fn insert(db: &Connection, new: &NewUser) -> Result<()> {
    let sql = "
        INSERT INTO user (id, provider, name, name_key, email, email_verified, password_hash, color_scheme,
            home_board_id, mobile_home_board_id, first_day_of_week, ping_icons_enabled,
            default_search_engine_id, open_search_in_new_tab, image)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let user = &new.user;
    let values = params![
        user.id,
        EnumText(user.provider),
        user.name,
        new.name_key,
        user.email,
        user.email_verified.map(TimestampMillis),
        new.password_hash,
        EnumText(new.color_scheme),
        user.home_board_id,
        user.mobile_home_board_id,
        user.first_day_of_week,
        user.ping_icons_enabled,
        user.default_search_engine_id,
        user.open_search_in_new_tab,
        user.image,
    ];
    run(db, sql, values).map(drop)
}

pub(super) fn insert_identity(db: &Connection, user_id: &str, subject: &ProviderSubject) -> Result<()> {
    let sql = "INSERT INTO identity (provider, subject, user_id) VALUES (?1, ?2, ?3)";
    let values = params![EnumText(subject.provider), subject.subject, user_id];
    run(db, sql, values).map(drop)
}

pub(super) fn get_subject(db: &Connection, user_id: &str, provider: Provider) -> Result<Option<String>> {
    let sql = "SELECT subject FROM identity WHERE user_id = ?1 AND provider = ?2";
    first(db, sql, params![user_id, EnumText(provider)], |row| row.get(0))
}

pub(super) fn set_profile(db: &Connection, id: &str, profile: &Profile) -> Result<bool> {
    let sql = "UPDATE user SET name = ?2, name_key = ?3, email = ?4, email_verified = ?5 WHERE id = ?1";
    let verified = profile.email_verified.map(TimestampMillis);
    let values = params![id, profile.name, profile.name_key, profile.email, verified];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_image(db: &Connection, id: &str, image: Option<&str>) -> Result<bool> {
    let sql = "UPDATE user SET image = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, image])? > 0)
}

pub(super) fn set_home_boards(db: &Connection, id: &str, boards: &HomeBoards) -> Result<bool> {
    let sql = "UPDATE user SET home_board_id = ?2, mobile_home_board_id = ?3 WHERE id = ?1";
    let values = params![id, boards.home_board_id, boards.mobile_home_board_id];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_search_preferences(
    db: &Connection,
    id: &str,
    preferences: &SearchPreferences,
) -> Result<bool> {
    let sql = "UPDATE user SET default_search_engine_id = ?2, open_search_in_new_tab = ?3 WHERE id = ?1";
    let values = params![
        id,
        preferences.default_search_engine_id,
        preferences.open_in_new_tab
    ];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_color_scheme(db: &Connection, id: &str, scheme: ColorScheme) -> Result<bool> {
    let sql = "UPDATE user SET color_scheme = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, EnumText(scheme)])? > 0)
}

pub(super) fn set_ping_icons_enabled(db: &Connection, id: &str, enabled: bool) -> Result<bool> {
    let sql = "UPDATE user SET ping_icons_enabled = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, enabled])? > 0)
}

pub(super) fn set_first_day_of_week(db: &Connection, id: &str, day: u8) -> Result<bool> {
    let sql = "UPDATE user SET first_day_of_week = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, day])? > 0)
}

pub(super) fn set_disabled(db: &Connection, id: &str, disabled: bool) -> Result<bool> {
    let sql = "UPDATE user SET disabled = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, disabled])? > 0)
}

pub(super) fn set_password_if(db: &Connection, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
    // IS, because a user may have none yet.
    let sql = "
        UPDATE user SET password_hash = ?3, password_version = password_version + 1
        WHERE id = ?1 AND password_hash IS ?2";
    Ok(run(db, sql, params![id, old, new])? > 0)
}

pub(super) fn rehash_password_if(db: &Connection, id: &str, old: &str, new: &str) -> Result<bool> {
    let sql = "UPDATE user SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2";
    Ok(run(db, sql, params![id, old, new])? > 0)
}

/// The schema's cascades take the rest with it.
pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM user WHERE id = ?1", [id])? > 0)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::database::{create, open_file};

    #[test]
    fn a_user_is_found_by_email_through_the_index() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let db = open_file(&path).unwrap();
        let plan = |sql: &str| -> String {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let plan = db.query_row(&sql, [None::<i64>; 4], |row| row.get("detail"));
            plan.unwrap()
        };
        let by_email = plan(&format!("SELECT id {BY_EMAIL} ORDER BY name_key, id"));
        assert!(
            by_email.starts_with("SEARCH user USING INDEX user_by_email"),
            "{by_email}"
        );
        assert_eq!(
            plan(&format!("SELECT id {ANY_EMAIL} ORDER BY name_key, id")),
            "SCAN user USING COVERING INDEX user_by_name"
        );
    }
}
