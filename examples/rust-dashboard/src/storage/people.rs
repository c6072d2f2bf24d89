//! People, which Portico calls users.

use portico::{
    model::User,
    storage::{Account, AccountKey, ListedUser, NewUser, Profile, ProviderSubject, Slice, UserFilter},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, ToSql, params};

use super::values::{limit, look, moment, provider, source};

pub fn are_there(db: &Connection) -> Result<bool> {
    db.query_row("SELECT EXISTS (SELECT * FROM people)", [], |row| row.get(0))
}

pub fn get(db: &Connection, id: &str) -> Result<Option<User>> {
    let sql = "SELECT * FROM people WHERE id = ?";
    db.prepare_cached(sql)?.query_row([id], user).optional()
}

fn user(row: &Row<'_>) -> Result<User> {
    Ok(User {
        id: row.get("id")?,
        name: row.get("login")?,
        email: row.get("mail")?,
        email_verified: row.get::<_, Option<i64>>("mail_verified_at")?.map(|at| at as u64),
        image: row.get("picture")?,
        provider: provider(&row.get::<_, String>("source")?)?,
        home_board_id: row.get("home")?,
        mobile_home_board_id: row.get("home_on_phone")?,
        first_day_of_week: row.get("week_begins_on")?,
        ping_icons_enabled: row.get("shows_pings")?,
        default_search_engine_id: row.get("engine")?,
        open_search_in_new_tab: row.get("opens_tabs")?,
    })
}

/// Names are compared byte by byte: as blobs, because SQLite's texts end at a zero byte.
const MATCHING: &str = "FROM people
    WHERE (?1 IS NULL OR source = ?1)
      AND (?2 IS NULL OR instr(CAST(login_key AS BLOB), ?2))
      AND (?3 IS NULL OR mail = ?3)
      AND (?4 IS NULL OR disabled = ?4)";

/// The bytes of text in a person of a list.
pub fn size(person: &ListedUser) -> usize {
    let optional = [&person.email, &person.image].into_iter().flatten();
    person.id.len() + person.name.len() + optional.map(String::len).sum::<usize>()
}

pub fn list(
    db: &Connection,
    filter: &UserFilter,
    slice: Slice,
    with_images: bool,
) -> Result<Vec<ListedUser>> {
    let sql = format!(
        "SELECT id, login, mail, mail_verified_at, source, disabled, iif(?5, picture, NULL) {MATCHING}
        ORDER BY login_key, id LIMIT ?6 OFFSET ?7"
    );
    let parameters = params![
        filter.provider.map(source),
        filter.name_contains.as_deref().map(str::as_bytes),
        filter.email,
        filter.disabled,
        with_images,
        limit(slice.limit),
        slice.offset,
    ];
    let person = |row: &Row<'_>| {
        Ok(ListedUser {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            email_verified: row.get::<_, Option<i64>>(3)?.map(|at| at as u64),
            provider: provider(&row.get::<_, String>(4)?)?,
            disabled: row.get(5)?,
            image: row.get(6)?,
        })
    };
    db.prepare_cached(&sql)?.query_map(parameters, person)?.collect()
}

pub fn count(db: &Connection, filter: &UserFilter) -> Result<u32> {
    let parameters = params![
        filter.provider.map(source),
        filter.name_contains.as_deref().map(str::as_bytes),
        filter.email,
        filter.disabled,
    ];
    db.prepare_cached(&format!("SELECT count(*) {MATCHING}"))?
        .query_row(parameters, |row| row.get(0))
}

pub fn get_account(db: &Connection, key: &AccountKey) -> Result<Option<Account>> {
    const ACCOUNT: &str = "SELECT id, login, source, disabled, password, password_version FROM people";
    let account = |row: &Row<'_>| {
        Ok(Account {
            id: row.get(0)?,
            name: row.get(1)?,
            provider: provider(&row.get::<_, String>(2)?)?,
            disabled: row.get(3)?,
            password_hash: row.get(4)?,
            password_version: row.get::<_, i64>(5)? as u64,
        })
    };
    let (condition, of, text) = match key {
        AccountKey::Id(id) => ("id = ?2 AND ?1 IS NULL", None, id),
        AccountKey::Name(name) => (
            "source = ?1 AND login_key = ?2",
            Some(name.provider),
            &name.name_key,
        ),
        AccountKey::Subject(subject) => (
            "id = (SELECT person FROM subjects WHERE source = ?1 AND subject = ?2)",
            Some(subject.provider),
            &subject.subject,
        ),
    };
    db.prepare_cached(&format!("{ACCOUNT} WHERE {condition}"))?
        .query_row(params![of.map(source), text], account)
        .optional()
}

pub fn insert(db: &Connection, new: &NewUser) -> Result<()> {
    let sql =
        "INSERT INTO people (id, source, login, login_key, mail, mail_verified_at, picture, password, look,
            home, home_on_phone, week_begins_on, shows_pings, engine, opens_tabs)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let user = &new.user;
    db.prepare_cached(sql)?.execute(params![
        user.id,
        source(user.provider),
        user.name,
        new.name_key,
        user.email,
        user.email_verified.map(moment),
        user.image,
        new.password_hash,
        look(new.color_scheme),
        user.home_board_id,
        user.mobile_home_board_id,
        user.first_day_of_week,
        user.ping_icons_enabled,
        user.default_search_engine_id,
        user.open_search_in_new_tab,
    ])?;
    Ok(())
}

pub fn insert_subject(db: &Connection, id: &str, subject: &ProviderSubject) -> Result<()> {
    let sql = "INSERT INTO subjects (person, source, subject) VALUES (?, ?, ?)";
    db.execute(sql, params![id, source(subject.provider), subject.subject])?;
    Ok(())
}

/// Sets these columns of a person. Returns whether there is one.
pub fn set(db: &Connection, id: &str, what: &str, values: &[&dyn ToSql]) -> Result<bool> {
    let sql = format!("UPDATE people SET {what} WHERE id = ?");
    let mut values = values.to_vec();
    values.push(&id);
    Ok(db.prepare_cached(&sql)?.execute(&values[..])? == 1)
}

pub fn set_profile(db: &Connection, id: &str, new: &Profile) -> Result<bool> {
    let verified = new.email_verified.map(moment);
    let values: [&dyn ToSql; 4] = [&new.name, &new.name_key, &new.email, &verified];
    set(
        db,
        id,
        "login = ?, login_key = ?, mail = ?, mail_verified_at = ?",
        &values,
    )
}

/// Disables a person, which ends their visits, or enables them.
pub fn set_disabled(db: &Connection, id: &str, disabled: bool) -> Result<bool> {
    if disabled {
        db.execute("DELETE FROM visits WHERE person = ?", [id])?;
    }
    set(db, id, "disabled = ?", &[&disabled])
}

/// Replaces a password, and ends the person's visits except the call's own.
pub fn set_password_if(
    db: &Connection,
    id: &str,
    old: Option<&str>,
    new: &str,
    visit: Option<&str>,
) -> Result<bool> {
    let sql = "UPDATE people SET password = ?3, password_version = password_version + 1
        WHERE id = ?1 AND password IS ?2";
    let replaced = db.prepare_cached(sql)?.execute(params![id, old, new])? == 1;
    if replaced {
        db.execute(
            "DELETE FROM visits WHERE person = ? AND id IS NOT ?",
            params![id, visit],
        )?;
    }
    Ok(replaced)
}

pub fn rehash_password_if(db: &Connection, id: &str, old: &str, new: &str) -> Result<bool> {
    let sql = "UPDATE people SET password = ?3 WHERE id = ?1 AND password = ?2";
    Ok(db.prepare_cached(sql)?.execute([id, old, new])? == 1)
}

/// The schema deletes what belongs to them.
pub fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(db
        .prepare_cached("DELETE FROM people WHERE id = ?")?
        .execute([id])?
        == 1)
}
