//! Statements on users and their identities.

use rusqlite::{Connection, Result, Row, params};

use super::query::{all, exists, first, run};
use super::values::{EnumText, TimestampMillis, optional_timestamp};
use portico_model::{Provider, User, UserSummary};
use portico_storage::{Account, AccountKey, NewUser, UserChange, UserFilter};

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

const LIST: &str = "
    SELECT id, name, email, email_verified, image FROM user
    WHERE (?1 IS NULL OR provider = ?1) AND instr(name_key, ?2) > 0 AND ?3 IS NULL
    ORDER BY name_key, id LIMIT ?4";

/// The same with an email. A statement of its own, so that SQLite uses the index on email.
const LIST_BY_EMAIL: &str = "
    SELECT id, name, email, email_verified, image FROM user
    WHERE (?1 IS NULL OR provider = ?1) AND instr(name_key, ?2) > 0 AND email = ?3
    ORDER BY name_key, id LIMIT ?4";

pub(super) fn list(db: &Connection, filter: &UserFilter) -> Result<Vec<UserSummary>> {
    let sql = match filter.email {
        Some(_) => LIST_BY_EMAIL,
        None => LIST,
    };
    let contains = filter.name_contains.as_deref().unwrap_or_default();
    // To SQLite, -1 is no limit.
    let limit = filter.limit.map_or(-1, i64::from);
    let values = params![filter.provider.map(EnumText), contains, filter.email, limit];
    all(db, sql, values, |row| {
        Ok(UserSummary {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            email_verified: optional_timestamp(row, 3)?,
            image: row.get(4)?,
        })
    })
}

pub(super) fn find_account(db: &Connection, key: &AccountKey) -> Result<Option<Account>> {
    match key {
        AccountKey::Id(id) => {
            let sql = "SELECT id, name, provider, password_hash FROM user WHERE id = ?1";
            first(db, sql, [id], account)
        }
        AccountKey::Name((provider, name_key)) => {
            let sql = "
                SELECT id, name, provider, password_hash FROM user WHERE provider = ?1 AND name_key = ?2";
            first(db, sql, params![EnumText(*provider), name_key], account)
        }
        AccountKey::Subject((provider, subject)) => {
            let sql = "
                SELECT id, name, user.provider, password_hash
                FROM identity JOIN user ON user.id = identity.user_id
                WHERE identity.provider = ?1 AND subject = ?2";
            first(db, sql, params![EnumText(*provider), subject], account)
        }
    }
}

fn account(row: &Row<'_>) -> Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        name: row.get(1)?,
        provider: row.get::<_, EnumText<_>>(2)?.0,
        password_hash: row.get(3)?,
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

pub(super) fn insert_identity(
    db: &Connection,
    user_id: &str,
    provider: Provider,
    subject: &str,
) -> Result<()> {
    let sql = "INSERT INTO identity (provider, subject, user_id) VALUES (?1, ?2, ?3)";
    run(db, sql, params![EnumText(provider), subject, user_id]).map(drop)
}

pub(super) fn update(db: &Connection, id: &str, change: &UserChange) -> Result<bool> {
    let changed = match change {
        UserChange::Profile(profile) => {
            let sql = "
                UPDATE user SET name = ?2, name_key = ?3, email = ?4, email_verified = ?5 WHERE id = ?1";
            let verified = profile.email_verified.map(TimestampMillis);
            run(
                db,
                sql,
                params![id, profile.name, profile.name_key, profile.email, verified],
            )
        }
        UserChange::Image(image) => run(db, "UPDATE user SET image = ?2 WHERE id = ?1", params![id, image]),
        UserChange::HomeBoards(boards) => {
            let sql = "UPDATE user SET home_board_id = ?2, mobile_home_board_id = ?3 WHERE id = ?1";
            run(
                db,
                sql,
                params![id, boards.home_board_id, boards.mobile_home_board_id],
            )
        }
        UserChange::SearchPreferences(search) => {
            let sql = "
                UPDATE user SET default_search_engine_id = ?2, open_search_in_new_tab = ?3 WHERE id = ?1";
            run(
                db,
                sql,
                params![id, search.default_search_engine_id, search.open_in_new_tab],
            )
        }
        UserChange::ColorScheme(color_scheme) => run(
            db,
            "UPDATE user SET color_scheme = ?2 WHERE id = ?1",
            params![id, EnumText(*color_scheme)],
        ),
        UserChange::PingIconsEnabled(enabled) => run(
            db,
            "UPDATE user SET ping_icons_enabled = ?2 WHERE id = ?1",
            params![id, enabled],
        ),
        UserChange::FirstDayOfWeek(day) => run(
            db,
            "UPDATE user SET first_day_of_week = ?2 WHERE id = ?1",
            params![id, day],
        ),
    };
    Ok(changed? > 0)
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

pub(super) fn password_version(db: &Connection, id: &str) -> Result<Option<u32>> {
    first(
        db,
        "SELECT password_version FROM user WHERE id = ?1",
        [id],
        |row| row.get(0),
    )
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
        let by_email = plan(LIST_BY_EMAIL);
        assert!(
            by_email.starts_with("SEARCH user USING INDEX user_by_email"),
            "{by_email}"
        );
        assert_eq!(plan(LIST), "SCAN user USING INDEX user_by_name");
    }
}
