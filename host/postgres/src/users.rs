//! Statements on users and their identities.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::Connection;
use super::matching::Matching;
use super::query::{Result, Value, all_planned, exists, first, run, sized};
use super::search::Search;
use super::values::{
    check_new_id, color_scheme_text, count as count_of, is_storable, optional_millis, optional_timestamp,
    provider, provider_text, unexpected,
};
use portico_model::{ColorScheme, HomeBoards, Provider, SearchPreferences, User};
use portico_storage::driver::AnswerSize;
use portico_storage::{
    Account, AccountKey, ListedUser, NewUser, Profile, ProviderSubject, Slice, UserFilter, hash_secret,
};

/// Locks a row until the transaction ends. What refers to it can be inserted meanwhile.
pub(super) const LOCKED: &str = " FOR NO KEY UPDATE";

pub(super) async fn has_any(db: &Connection) -> Result<bool> {
    exists(db, "SELECT 1 FROM user_account", &[]).await
}

pub(super) async fn get(db: &Connection, id: &str, locked: bool) -> Result<Option<User>> {
    let sql = format!(
        "SELECT id, name, email, email_verified, image, provider, home_board_id, mobile_home_board_id,
            first_day_of_week, ping_icons_enabled, default_search_engine_id, open_search_in_new_tab
        FROM user_account WHERE id = $1{}",
        if locked { LOCKED } else { "" }
    );
    first(db, &sql, &[&id], |row| {
        Ok(User {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            email: row.try_get(2)?,
            email_verified: optional_timestamp(row, 3)?,
            image: row.try_get(4)?,
            provider: provider(row, 5)?,
            home_board_id: row.try_get(6)?,
            mobile_home_board_id: row.try_get(7)?,
            first_day_of_week: u8::try_from(row.try_get::<_, i64>(8)?)
                .map_err(|_| unexpected("a day of the week"))?,
            ping_icons_enabled: row.try_get(9)?,
            default_search_engine_id: row.try_get(10)?,
            open_search_in_new_tab: row.try_get(11)?,
        })
    })
    .await
}

/// The users that a filter matches, whose names a search finds.
fn matching(filter: &UserFilter, search: &Search) -> Matching {
    let mut matching = Matching::default();
    if let Some(provider) = filter.provider {
        matching.compare("provider =", provider_text(provider), Type::TEXT);
    }
    search.require(&mut matching);
    match &filter.email {
        Some(email) if is_storable(email) => matching.compare("email =", email.clone(), Type::TEXT),
        // No user has an email that cannot be stored.
        Some(_) => matching.require("FALSE"),
        None => {}
    }
    if let Some(disabled) = filter.disabled {
        matching.compare("disabled =", disabled, Type::BOOL);
    }
    matching
}

pub(super) async fn list(
    db: &Connection,
    filter: &UserFilter,
    search: &Search,
    slice: Slice,
    with_images: bool,
) -> Result<Vec<ListedUser>> {
    let image = if with_images {
        "image"
    } else {
        "CAST(NULL AS text)"
    };
    let columns = format!("id, name, email, email_verified, provider, disabled, {image}");
    let mut matching = matching(filter, search);
    let sql = matching.select(&columns, "user_account", slice);
    let mut size = AnswerSize::default();
    all_planned(db, &sql, &matching.values(), move |row| {
        sized(&mut size, listed(row)?)
    })
    .await
}

fn listed(row: &Row) -> Result<ListedUser> {
    Ok(ListedUser {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        email: row.try_get(2)?,
        email_verified: optional_timestamp(row, 3)?,
        provider: provider(row, 4)?,
        disabled: row.try_get(5)?,
        image: row.try_get(6)?,
    })
}

pub(super) async fn count(db: &Connection, filter: &UserFilter, search: &Search) -> Result<u32> {
    let matching = matching(filter, search);
    let sql = format!("SELECT count(*) FROM user_account {}", matching.condition());
    let counts = all_planned(db, &sql, &matching.values(), |row| count_of(row, 0)).await?;
    Ok(counts.into_iter().sum::<u64>().try_into().unwrap_or(u32::MAX))
}

pub(super) async fn get_account(db: &Connection, key: &AccountKey, locked: bool) -> Result<Option<Account>> {
    const ACCOUNT: &str =
        "SELECT id, name, user_account.provider, disabled, password_hash, password_version FROM user_account";
    match key {
        AccountKey::Id(id) => {
            let locked = if locked { LOCKED } else { "" };
            let sql = format!("{ACCOUNT} WHERE id = $1{locked}");
            first(db, &sql, &[id], account).await
        }
        AccountKey::Name(name) => {
            let sql = format!("{ACCOUNT} WHERE provider = $1 AND name_key = $2");
            first(
                db,
                &sql,
                &[&provider_text(name.provider), &name.name_key],
                account,
            )
            .await
        }
        AccountKey::Subject(subject) => {
            let sql = format!(
                "{ACCOUNT} JOIN identity ON user_account.id = identity.user_id
                WHERE identity.provider = $1 AND subject_hash = $2 AND subject = $3"
            );
            let hash = hash_secret(&subject.subject);
            let values: [Value<'_>; 3] = [&provider_text(subject.provider), &&hash[..], &subject.subject];
            first(db, &sql, &values, account).await
        }
    }
}

fn account(row: &Row) -> Result<Account> {
    Ok(Account {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        provider: provider(row, 2)?,
        disabled: row.try_get(3)?,
        password_hash: row.try_get(4)?,
        password_version: count_of(row, 5)?,
    })
}

pub(super) async fn insert(db: &Connection, new: &NewUser) -> Result<()> {
    check_new_id(&new.user.id)?;
    let sql = "
        INSERT INTO user_account (id, provider, name, name_key, email, email_verified, password_hash,
            color_scheme, home_board_id, mobile_home_board_id, first_day_of_week, ping_icons_enabled,
            default_search_engine_id, open_search_in_new_tab, image)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let user = &new.user;
    let values: [Value<'_>; 15] = [
        &user.id,
        &provider_text(user.provider),
        &user.name,
        &new.name_key,
        &user.email,
        &optional_millis(user.email_verified)?,
        &new.password_hash,
        &color_scheme_text(new.color_scheme),
        &user.home_board_id,
        &user.mobile_home_board_id,
        &i64::from(user.first_day_of_week),
        &user.ping_icons_enabled,
        &user.default_search_engine_id,
        &user.open_search_in_new_tab,
        &user.image,
    ];
    run(db, sql, &values).await.map(drop)
}

pub(super) async fn insert_identity(db: &Connection, user_id: &str, subject: &ProviderSubject) -> Result<()> {
    let sql = "INSERT INTO identity (provider, subject_hash, subject, user_id) VALUES ($1, $2, $3, $4)";
    let hash = hash_secret(&subject.subject);
    let values: [Value<'_>; 4] = [
        &provider_text(subject.provider),
        &&hash[..],
        &subject.subject,
        &user_id,
    ];
    run(db, sql, &values).await.map(drop)
}

pub(super) async fn get_subject(
    db: &Connection,
    user_id: &str,
    provider: Provider,
) -> Result<Option<String>> {
    let sql = "SELECT subject FROM identity WHERE user_id = $1 AND provider = $2";
    let values: [Value<'_>; 2] = [&user_id, &provider_text(provider)];
    first(db, sql, &values, |row| Ok(row.try_get(0)?)).await
}

pub(super) async fn set_profile(db: &Connection, id: &str, profile: &Profile) -> Result<bool> {
    let sql = "
        UPDATE user_account SET name = $2, name_key = $3, email = $4, email_verified = $5 WHERE id = $1";
    let verified = optional_millis(profile.email_verified)?;
    let values: [Value<'_>; 5] = [&id, &profile.name, &profile.name_key, &profile.email, &verified];
    Ok(run(db, sql, &values).await? > 0)
}

pub(super) async fn set_image(db: &Connection, id: &str, image: Option<&str>) -> Result<bool> {
    let sql = "UPDATE user_account SET image = $2 WHERE id = $1";
    Ok(run(db, sql, &[&id, &image]).await? > 0)
}

pub(super) async fn set_home_boards(db: &Connection, id: &str, boards: &HomeBoards) -> Result<bool> {
    let sql = "UPDATE user_account SET home_board_id = $2, mobile_home_board_id = $3 WHERE id = $1";
    let values: [Value<'_>; 3] = [&id, &boards.home_board_id, &boards.mobile_home_board_id];
    Ok(run(db, sql, &values).await? > 0)
}

pub(super) async fn set_search_preferences(
    db: &Connection,
    id: &str,
    preferences: &SearchPreferences,
) -> Result<bool> {
    let sql = "
        UPDATE user_account SET default_search_engine_id = $2, open_search_in_new_tab = $3 WHERE id = $1";
    let values: [Value<'_>; 3] = [
        &id,
        &preferences.default_search_engine_id,
        &preferences.open_in_new_tab,
    ];
    Ok(run(db, sql, &values).await? > 0)
}

pub(super) async fn set_color_scheme(db: &Connection, id: &str, scheme: ColorScheme) -> Result<bool> {
    let sql = "UPDATE user_account SET color_scheme = $2 WHERE id = $1";
    Ok(run(db, sql, &[&id, &color_scheme_text(scheme)]).await? > 0)
}

pub(super) async fn set_ping_icons_enabled(db: &Connection, id: &str, enabled: bool) -> Result<bool> {
    let sql = "UPDATE user_account SET ping_icons_enabled = $2 WHERE id = $1";
    Ok(run(db, sql, &[&id, &enabled]).await? > 0)
}

pub(super) async fn set_first_day_of_week(db: &Connection, id: &str, day: u8) -> Result<bool> {
    let sql = "UPDATE user_account SET first_day_of_week = $2 WHERE id = $1";
    Ok(run(db, sql, &[&id, &i64::from(day)]).await? > 0)
}

pub(super) async fn set_disabled(db: &Connection, id: &str, disabled: bool) -> Result<bool> {
    let sql = "UPDATE user_account SET disabled = $2 WHERE id = $1";
    Ok(run(db, sql, &[&id, &disabled]).await? > 0)
}

pub(super) async fn set_password_if(db: &Connection, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
    // A user may have none yet.
    let sql = "
        UPDATE user_account SET password_hash = $3, password_version = password_version + 1
        WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2";
    Ok(run(db, sql, &[&id, &old, &new]).await? > 0)
}

pub(super) async fn rehash_password_if(db: &Connection, id: &str, old: &str, new: &str) -> Result<bool> {
    let sql = "UPDATE user_account SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
    Ok(run(db, sql, &[&id, &old, &new]).await? > 0)
}

/// The schema's cascades take the rest with it.
pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM user_account WHERE id = $1", &[&id]).await? > 0)
}
