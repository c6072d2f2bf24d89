//! Permissions: teams (Portico's groups), invitations, pages (Portico's boards) and search engines.

use rusqlite::{Connection, OptionalExtension as _, Result, params};

use super::values::{hash, moment};

/// The permissions of a person, from all their teams.
pub fn permissions(db: &Connection, person: &str) -> Result<Vec<String>> {
    let sql =
        "SELECT DISTINCT may FROM team_rights JOIN team_members USING (team) WHERE person = ? ORDER BY may";
    db.prepare_cached(sql)?
        .query_map([person], |row| row.get(0))?
        .collect()
}

pub fn has_another_admin(db: &Connection, except: &str) -> Result<bool> {
    let sql =
        "SELECT EXISTS (SELECT * FROM team_rights JOIN team_members USING (team) JOIN people ON id = person
        WHERE may = 'admin' AND person <> ? AND NOT disabled)";
    db.query_row(sql, [except], |row| row.get(0))
}

/// Administrators are the members of a team, which is created with the first of them.
pub fn grant_admin(db: &Connection, person: &str) -> Result<()> {
    db.execute(
        "INSERT INTO teams (id, name) VALUES ('admins', 'admins') ON CONFLICT DO NOTHING",
        [],
    )?;
    let team: String = db.query_row("SELECT id FROM teams WHERE name = 'admins'", [], |row| row.get(0))?;
    db.execute(
        "INSERT OR IGNORE INTO team_rights (team, may) VALUES (?, 'admin')",
        [&team],
    )?;
    add_to_team(db, person, &team)?;
    Ok(())
}

pub fn add_to_team(db: &Connection, person: &str, team: &str) -> Result<bool> {
    let is_there: bool = db.query_row(
        "SELECT EXISTS (SELECT * FROM teams WHERE id = ?)",
        [team],
        |row| row.get(0),
    )?;
    if is_there {
        db.execute(
            "INSERT OR IGNORE INTO team_members (person, team) VALUES (?, ?)",
            [person, team],
        )?;
    }
    Ok(is_there)
}

pub fn has_invitation(db: &Connection, id: &str, token: &str, now: u64) -> Result<bool> {
    let sql = "SELECT token_hash FROM invitations WHERE id = ? AND ends_at > ?";
    let kept: Option<Vec<u8>> = db
        .prepare_cached(sql)?
        .query_row(params![id, moment(now)], |row| row.get(0))
        .optional()?;
    Ok(kept.is_some_and(|kept| same(&kept, &hash(token))))
}

/// Removes an invitation. Returns whether it was valid.
pub fn take_invitation(db: &Connection, id: &str, token: &str, now: u64) -> Result<bool> {
    Ok(has_invitation(db, id, token, now)? && db.execute("DELETE FROM invitations WHERE id = ?", [id])? == 1)
}

/// Compares in constant time.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

/// A page is visible to everyone if it is open; otherwise to its owner, to those with whom it is shared, and to those
/// with a permission for all pages.
pub fn may_see_page(db: &Connection, person: Option<&str>, page: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT * FROM pages WHERE id = ?2 AND (open OR owner = ?1
        OR EXISTS (SELECT * FROM page_people WHERE page = ?2 AND person = ?1)
        OR EXISTS (SELECT * FROM page_teams JOIN team_members USING (team) WHERE page = ?2 AND person = ?1)
        OR EXISTS (SELECT * FROM team_rights JOIN team_members USING (team) 
            WHERE person = ?1 AND may IN ('admin', 'board-view-all', 'board-modify-all', 'board-full-all'))))";
    db.prepare_cached(sql)?
        .query_row(params![person, page], |row| row.get(0))
}

pub fn has_engine(db: &Connection, id: &str) -> Result<bool> {
    db.query_row(
        "SELECT EXISTS (SELECT * FROM engines WHERE id = ?)",
        [id],
        |row| row.get(0),
    )
}
