//! Statements on users and their identities.

use rusqlite::{Connection, Result, Row, params};

use super::matching::Matching;
use super::query::{all, exists, first, run, sized};
use super::values::{EnumText, TimestampMillis, optional_timestamp, provider_text};
use portico_model::{ColorScheme, HomeBoards, Provider, SearchPreferences, User};
use portico_storage::driver::AnswerSize;
use portico_storage::{
    Account, AccountKey, ListedUser, NewUser, Profile, ProviderSubject, Slice, UserFilter, hash_secret,
};

pub(super) fn has_any(db: &Connection) -> Result<bool> {
    exists(db, "SELECT 1 FROM user_account", [])
}

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<User>> {
    let sql = "
        SELECT id, name, email, email_verified, image, provider, home_board_id, mobile_home_board_id,
            first_day_of_week, ping_icons_enabled, default_search_engine_id, open_search_in_new_tab
        FROM user_account WHERE id = ?1";
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

/// The users that a filter matches.
fn matching(filter: &UserFilter) -> Matching {
    let mut matching = Matching::default();
    if let Some(provider) = filter.provider {
        matching.compare("provider =", provider_text(provider).to_owned());
    }
    matching.require_name(filter.name_contains.as_deref().unwrap_or_default());
    if let Some(email) = &filter.email {
        matching.compare("email =", email.clone());
    }
    if let Some(disabled) = filter.disabled {
        matching.compare("disabled =", disabled);
    }
    matching
}

pub(super) fn list(
    db: &Connection,
    filter: &UserFilter,
    slice: Slice,
    with_images: bool,
) -> Result<Vec<ListedUser>> {
    let image = if with_images {
        "image"
    } else {
        "CAST(NULL AS text)"
    };
    let columns = format!("id, name, email, email_verified, provider, disabled, {image}");
    let mut matching = matching(filter);
    let sql = matching.select(&columns, "user_account", slice);
    let mut size = AnswerSize::default();
    all(db, &sql, matching.values(), |row| sized(&mut size, listed(row)?))
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

pub(super) fn count(db: &Connection, filter: &UserFilter) -> Result<u32> {
    let matching = matching(filter);
    let sql = format!("SELECT count(*) FROM user_account {}", matching.condition());
    Ok(first(db, &sql, matching.values(), |row| row.get(0))?.unwrap_or_default())
}

pub(super) fn get_account(db: &Connection, key: &AccountKey) -> Result<Option<Account>> {
    const ACCOUNT: &str =
        "SELECT id, name, user_account.provider, disabled, password_hash, password_version FROM user_account";
    match key {
        AccountKey::Id(id) => {
            let sql = format!("{ACCOUNT} WHERE id = ?1");
            first(db, &sql, [id], account)
        }
        AccountKey::Name(name) => {
            let sql = format!("{ACCOUNT} WHERE provider = ?1 AND name_key = ?2");
            first(db, &sql, params![EnumText(name.provider), name.name_key], account)
        }
        AccountKey::Subject(subject) => {
            let sql = format!(
                "{ACCOUNT} JOIN identity ON user_account.id = identity.user_id
                WHERE identity.provider = ?1 AND subject_hash = ?2 AND subject = ?3"
            );
            let hash = hash_secret(&subject.subject);
            let values = params![EnumText(subject.provider), hash, subject.subject];
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
        password_version: row.get::<_, i64>(5)?.unsigned_abs(),
    })
}

pub(super) fn insert(db: &Connection, new: &NewUser) -> Result<()> {
    let sql = "
        INSERT INTO user_account (id, provider, name, name_key, email, email_verified, password_hash, color_scheme,
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
    let sql = "INSERT INTO identity (provider, subject_hash, subject, user_id) VALUES (?1, ?2, ?3, ?4)";
    let hash = hash_secret(&subject.subject);
    let values = params![EnumText(subject.provider), hash, subject.subject, user_id];
    run(db, sql, values).map(drop)
}

pub(super) fn get_subject(db: &Connection, user_id: &str, provider: Provider) -> Result<Option<String>> {
    let sql = "SELECT subject FROM identity WHERE user_id = ?1 AND provider = ?2";
    first(db, sql, params![user_id, EnumText(provider)], |row| row.get(0))
}

pub(super) fn set_profile(db: &Connection, id: &str, profile: &Profile) -> Result<bool> {
    let sql =
        "UPDATE user_account SET name = ?2, name_key = ?3, email = ?4, email_verified = ?5 WHERE id = ?1";
    let verified = profile.email_verified.map(TimestampMillis);
    let values = params![id, profile.name, profile.name_key, profile.email, verified];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_image(db: &Connection, id: &str, image: Option<&str>) -> Result<bool> {
    let sql = "UPDATE user_account SET image = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, image])? > 0)
}

pub(super) fn set_home_boards(db: &Connection, id: &str, boards: &HomeBoards) -> Result<bool> {
    let sql = "UPDATE user_account SET home_board_id = ?2, mobile_home_board_id = ?3 WHERE id = ?1";
    let values = params![id, boards.home_board_id, boards.mobile_home_board_id];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_search_preferences(
    db: &Connection,
    id: &str,
    preferences: &SearchPreferences,
) -> Result<bool> {
    let sql =
        "UPDATE user_account SET default_search_engine_id = ?2, open_search_in_new_tab = ?3 WHERE id = ?1";
    let values = params![
        id,
        preferences.default_search_engine_id,
        preferences.open_in_new_tab
    ];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn set_color_scheme(db: &Connection, id: &str, scheme: ColorScheme) -> Result<bool> {
    let sql = "UPDATE user_account SET color_scheme = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, EnumText(scheme)])? > 0)
}

pub(super) fn set_ping_icons_enabled(db: &Connection, id: &str, enabled: bool) -> Result<bool> {
    let sql = "UPDATE user_account SET ping_icons_enabled = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, enabled])? > 0)
}

pub(super) fn set_first_day_of_week(db: &Connection, id: &str, day: u8) -> Result<bool> {
    let sql = "UPDATE user_account SET first_day_of_week = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, day])? > 0)
}

pub(super) fn set_disabled(db: &Connection, id: &str, disabled: bool) -> Result<bool> {
    let sql = "UPDATE user_account SET disabled = ?2 WHERE id = ?1";
    Ok(run(db, sql, params![id, disabled])? > 0)
}

pub(super) fn set_password_if(db: &Connection, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
    // IS, because a user may have none yet.
    let sql = "
        UPDATE user_account SET password_hash = ?3, password_version = password_version + 1
        WHERE id = ?1 AND password_hash IS ?2";
    Ok(run(db, sql, params![id, old, new])? > 0)
}

pub(super) fn rehash_password_if(db: &Connection, id: &str, old: &str, new: &str) -> Result<bool> {
    let sql = "UPDATE user_account SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2";
    Ok(run(db, sql, params![id, old, new])? > 0)
}

/// The schema's cascades take the rest with it.
pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM user_account WHERE id = ?1", [id])? > 0)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::database::{create, open_file};

    #[test]
    fn users_are_found_by_email_or_without_reading_those_before_a_page() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let db = open_file(&path).unwrap();
        let plan = |filter: &UserFilter| -> String {
            let mut matching = matching(filter);
            let sql = matching.select("id", "user_account", Slice::first(10));
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let steps = all(&db, &sql, matching.values(), |row| row.get::<_, String>("detail"));
            steps.unwrap().join("; ")
        };
        let by_email = UserFilter {
            email: Some("ann@example.com".into()),
            ..UserFilter::default()
        };
        let steps = plan(&by_email);
        assert!(
            steps.contains("SEARCH user_account USING INDEX user_account_by_email"),
            "{steps}"
        );
        let by_provider = UserFilter {
            provider: Some(Provider::Oidc),
            disabled: Some(false),
            name_contains: Some("a".into()),
            ..UserFilter::default()
        };
        for filter in [UserFilter::default(), by_provider] {
            let steps = plan(&filter);
            assert!(
                steps.contains("SCAN user_account USING COVERING INDEX user_account_by_name"),
                "{steps}"
            );
        }
    }
}
