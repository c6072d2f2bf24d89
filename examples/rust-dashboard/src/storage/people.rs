//! People, which Portico calls users.

use portico::{
    model::{Provider, User, UserSummary},
    storage::{Account, AccountKey, NewUser, UserChange, UserFilter},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

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
pub fn list(db: &Connection, filter: &UserFilter) -> Result<Vec<UserSummary>> {
    let sql = "SELECT id, login, mail, mail_verified_at, picture FROM people
        WHERE (?1 IS NULL OR source = ?1)
          AND (?2 IS NULL OR instr(CAST(login_key AS BLOB), ?2))
          AND (?3 IS NULL OR mail = ?3)
        ORDER BY login_key, id LIMIT ?4";
    let parameters = params![
        filter.provider.map(source),
        filter.name_contains.as_deref().map(str::as_bytes),
        filter.email,
        limit(filter.limit),
    ];
    let summary = |row: &Row<'_>| {
        Ok(UserSummary {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            email_verified: row.get::<_, Option<i64>>(3)?.map(|at| at as u64),
            image: row.get(4)?,
        })
    };
    db.prepare_cached(sql)?.query_map(parameters, summary)?.collect()
}

pub fn find_account(db: &Connection, key: &AccountKey) -> Result<Option<Account>> {
    const ACCOUNT: &str = "SELECT id, login, source, password FROM people";
    let account = |row: &Row<'_>| {
        Ok(Account {
            id: row.get(0)?,
            name: row.get(1)?,
            provider: provider(&row.get::<_, String>(2)?)?,
            password_hash: row.get(3)?,
        })
    };
    let (condition, of, text) = match key {
        AccountKey::Id(id) => ("id = ?2 AND ?1 IS NULL", None, id),
        AccountKey::Name((provider, key)) => ("source = ?1 AND login_key = ?2", Some(provider), key),
        AccountKey::Subject((provider, subject)) => (
            "id = (SELECT person FROM subjects WHERE source = ?1 AND subject = ?2)",
            Some(provider),
            subject,
        ),
    };
    db.prepare_cached(&format!("{ACCOUNT} WHERE {condition}"))?
        .query_row(params![of.copied().map(source), text], account)
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

pub fn insert_subject(db: &Connection, id: &str, provider: Provider, subject: &str) -> Result<()> {
    let sql = "INSERT INTO subjects (person, source, subject) VALUES (?, ?, ?)";
    db.execute(sql, params![id, source(provider), subject])?;
    Ok(())
}

pub fn change(db: &Connection, id: &str, change: &UserChange) -> Result<bool> {
    let set = |what: &str, values: &[&dyn rusqlite::ToSql]| {
        let sql = format!("UPDATE people SET {what} WHERE id = ?");
        let mut values = values.to_vec();
        values.push(&id);
        Ok(db.prepare_cached(&sql)?.execute(&values[..])? == 1)
    };
    match change {
        UserChange::Profile(new) => set(
            "login = ?, login_key = ?, mail = ?, mail_verified_at = ?",
            &[
                &new.name,
                &new.name_key,
                &new.email,
                &new.email_verified.map(moment),
            ],
        ),
        UserChange::Image(image) => set("picture = ?", &[image]),
        UserChange::HomeBoards(boards) => set(
            "home = ?, home_on_phone = ?",
            &[&boards.home_board_id, &boards.mobile_home_board_id],
        ),
        UserChange::SearchPreferences(search) => set(
            "engine = ?, opens_tabs = ?",
            &[&search.default_search_engine_id, &search.open_in_new_tab],
        ),
        UserChange::ColorScheme(scheme) => set("look = ?", &[&look(*scheme)]),
        UserChange::PingIconsEnabled(enabled) => set("shows_pings = ?", &[enabled]),
        UserChange::FirstDayOfWeek(day) => set("week_begins_on = ?", &[day]),
    }
}

/// Replaces a password, and ends the person's visits except the call's own.
pub fn set_password_if(
    db: &Connection,
    id: &str,
    old: Option<&str>,
    new: &str,
    visit: Option<&str>,
) -> Result<bool> {
    let sql = "UPDATE people SET password = ?3, password_round = (SELECT round + 1 FROM password_rounds)
        WHERE id = ?1 AND password IS ?2";
    let replaced = db.prepare_cached(sql)?.execute(params![id, old, new])? == 1;
    if replaced {
        db.execute("UPDATE password_rounds SET round = round + 1", [])?;
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
