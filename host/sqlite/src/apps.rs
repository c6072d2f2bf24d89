//! Statements on apps.
//!
//! The index of words, `app_search`, has all names but the newest ones (`app_search_state` says up to
//! which): statements that use it read those.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row, params};

use super::query::{all, first, run};
use portico_model::App;
use portico_storage::{AppFilter, StoredApp};

/// The names that contain ?1, among those that have the trigram ?2 and those not in the index yet.
macro_rules! among_few {
    () => {
        "
        FROM app
        WHERE number IN (
            SELECT rowid FROM app_search WHERE app_search MATCH ?2
            UNION ALL
            SELECT number FROM app WHERE number > (SELECT up_to FROM app_search_state)
        ) AND instr(name_key, ?1) > 0"
    };
}

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<App>> {
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?1";
    first(db, sql, [id], app)
}

pub(super) fn get_many(db: &Connection, ids: &[String]) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    ids.into_iter().filter_map(|id| get(db, id).transpose()).collect()
}

pub(super) fn list(db: &Connection, filter: &AppFilter) -> Result<Vec<App>> {
    let contains = filter.name_contains.as_deref().unwrap_or_default();
    // To SQLite, -1 is no limit.
    let limit = filter.limit.map_or(-1, i64::from);
    let offset = filter.offset;
    if contains.is_empty() {
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            ORDER BY name_key, id LIMIT ?1 OFFSET ?2";
        return all(db, sql, [limit, offset.into()], app);
    }
    let Some(trigram) = rare_trigram(db, contains)? else {
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            WHERE instr(name_key, ?1) > 0
            ORDER BY name_key, id LIMIT ?2 OFFSET ?3";
        return all(db, sql, params![contains, limit, offset], app);
    };
    // First which, and only of those the rest: a sort holds all that it is to answer, icons as well.
    // The plus keeps SQLite from going through all names because they are in order.
    let sql = concat!(
        "SELECT number ",
        among_few!(),
        " ORDER BY +name_key, id LIMIT ?3 OFFSET ?4"
    );
    let values = params![contains, trigram, limit, offset];
    let numbers: Vec<i64> = all(db, sql, values, |row| row.get(0))?;
    by_numbers(db, &numbers)
}

fn by_numbers(db: &Connection, numbers: &[i64]) -> Result<Vec<App>> {
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE number = ?1";
    let apps = numbers.iter();
    apps.filter_map(|number| first(db, sql, [number], app).transpose())
        .collect()
}

/// The first hits of a text that was counted, so that their page needs no second pass over the names.
/// Only for the transaction that counted them, and only if it does not write.
pub(super) struct FirstHits {
    text: String,
    numbers: Vec<i64>,
    /// Whether there are no more.
    is_all: bool,
}

/// The most hits that are remembered: the largest page.
const REMEMBERED: i64 = 100;

impl FirstHits {
    /// The apps of this filter, if they are among those that were counted.
    pub fn list(&self, db: &Connection, filter: &AppFilter) -> Option<Result<Vec<App>>> {
        if filter.name_contains.as_ref() != Some(&self.text) {
            return None;
        }
        let (from, limit) = (filter.offset as usize, filter.limit? as usize);
        let to = from.saturating_add(limit);
        if to > self.numbers.len() && !self.is_all {
            return None;
        }
        let to = to.min(self.numbers.len());
        Some(by_numbers(db, self.numbers.get(from..to).unwrap_or_default()))
    }
}

/// How many names contain this; with the first of them where that takes a pass over all names.
pub(super) fn count_and_remember(db: &Connection, name_contains: &str) -> Result<(u32, Option<FirstHits>)> {
    if name_contains.is_empty() || rare_trigram(db, name_contains)?.is_some() {
        return Ok((count(db, name_contains)?, None));
    }
    let sql = "
        SELECT number, name_key, id FROM app WHERE instr(name_key, ?1) > 0 ORDER BY name_key, id LIMIT ?2";
    let hits: Vec<(i64, String, String)> = all(db, sql, params![name_contains, REMEMBERED], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let is_all = (hits.len() as i64) < REMEMBERED;
    let mut count = hits.len() as u32;
    if let Some((_, name_key, id)) = hits.last().filter(|_| !is_all) {
        let sql = "
            SELECT count(*) FROM app
            WHERE (name_key, id) > (?2, ?3) AND instr(name_key, ?1) > 0";
        let rest: Option<u32> = first(db, sql, [name_contains, name_key, id], |row| row.get(0))?;
        count += rest.unwrap_or_default();
    }
    let remembered = FirstHits {
        text: name_contains.to_owned(),
        numbers: hits.into_iter().map(|(number, ..)| number).collect(),
        is_all,
    };
    Ok((count, Some(remembered)))
}

fn count(db: &Connection, name_contains: &str) -> Result<u32> {
    let count = if name_contains.is_empty() {
        // By pages, which is quicker than by rows.
        first(db, "SELECT count(*) FROM app", [], |row| row.get(0))
    } else if let Some(trigram) = rare_trigram(db, name_contains)? {
        let sql = concat!("SELECT count(*) ", among_few!());
        first(db, sql, [name_contains, &trigram], |row| row.get(0))
    } else {
        let sql = "SELECT count(*) FROM app WHERE instr(name_key, ?1) > 0";
        first(db, sql, [name_contains], |row| row.get(0))
    };
    Ok(count?.unwrap_or_default())
}

/// How many trigrams of a text are looked up. Each takes some tens of microseconds.
const TRIGRAMS: usize = 8;

/// How many characters of a text are considered: callers may send any text.
const LOOKED_AT: usize = 256;

/// Three characters of this text that are in few names, as a query of the index; none where there are
/// none, or none that the index knows.
///
/// To look for the whole text by the index would take as long as its trigrams are common and repeat:
/// for 64 times the same letter in 100,000 such names more than a second. Going through all names, the
/// way if there is no such trigram, takes some 15 ms there, whatever the text.
fn rare_trigram(db: &Connection, text: &str) -> Result<Option<String>> {
    /// It takes the last of these for one another.
    const NOT_KNOWN: [char; 4] = ['\0', '\u{fffd}', '\u{fffe}', '\u{ffff}'];
    let characters: Vec<char> = text.chars().take(LOOKED_AT).collect();
    let mut seen = BTreeSet::new();
    let mut trigrams: Vec<_> = characters
        .windows(3)
        .filter(|trigram| seen.insert(*trigram))
        .collect();
    trigrams.retain(|trigram| !trigram.iter().any(|character| NOT_KNOWN.contains(character)));
    // From all over the text.
    let among = trigrams.len().div_ceil(TRIGRAMS).max(1);
    for trigram in trigrams.into_iter().step_by(among) {
        let trigram = String::from_iter(trigram).replace('"', "\"\"");
        let query = format!("\"{trigram}\"");
        if is_in_few(db, &query)? {
            return Ok(Some(query));
        }
    }
    Ok(None)
}

/// Whether the index finds so few names that looking at each is quicker than going through all names in
/// order until there are enough. (Of 100,000 names with 300 hits, ten are among the first 3,000.)
fn is_in_few(db: &Connection, query: &str) -> Result<bool> {
    const FEW: i64 = 300;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM app_search WHERE app_search MATCH ?1 LIMIT ?2)";
    let count: Option<i64> = first(db, sql, params![query, FEW], |row| row.get(0))?;
    Ok(count.is_some_and(|count| count < FEW))
}

pub(super) fn insert(db: &Connection, new: &StoredApp) -> Result<()> {
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let StoredApp { app, name_key } = new;
    let values = params![
        app.id,
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url
    ];
    run(db, sql, values).map(drop)
}

pub(super) fn update(db: &Connection, new: &StoredApp) -> Result<bool> {
    let sql = "
        UPDATE app SET name = ?2, name_key = ?3, description = ?4, icon_url = ?5, href = ?6, ping_url = ?7
        WHERE id = ?1";
    let StoredApp { app, name_key } = new;
    let values = params![
        app.id,
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url
    ];
    Ok(run(db, sql, values)? > 0)
}

/// The schema's cascades take it off the boards.
pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM app WHERE id = ?1", [id])? > 0)
}

fn app(row: &Row<'_>) -> Result<App> {
    Ok(App {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        icon_url: row.get(3)?,
        href: row.get(4)?,
        ping_url: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tempfile::TempDir;

    use super::*;
    use crate::{create, open_file};

    fn database(names: &[String]) -> (Connection, TempDir) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let db = open_file(&path).unwrap();
        run(&db, "BEGIN", []).unwrap();
        for (number, name) in names.iter().enumerate() {
            let app = App {
                id: format!("{number:06}"),
                name: name.clone(),
                description: None,
                icon_url: "icon".into(),
                href: None,
                ping_url: None,
            };
            let name_key = name.clone();
            insert(&db, &StoredApp { app, name_key }).unwrap();
        }
        run(&db, "COMMIT", []).unwrap();
        (db, directory)
    }

    #[test]
    fn a_search_finds_what_a_look_at_every_name_finds() {
        // Trigrams that are common and that are rare, that repeat, and in names that are not in the
        // index yet: 64 are taken in at once.
        let names: Vec<String> = (0..1030)
            .map(|number| match number % 6 {
                0 => "a".repeat(1 + number % 64),
                1 => "ab".repeat(1 + number % 32),
                2 => format!("node-{number:04}"),
                3 => format!("www.{}.example", char::from(b'a' + (number % 26) as u8)),
                4 => "😀".repeat(1 + number % 9),
                _ => format!("she said \"{}\" and 100%_*^", number * 7919),
            })
            .collect();
        let (db, _directory) = database(&names);
        let mut texts: Vec<String> = names.iter().step_by(37).cloned().collect();
        texts.extend(
            names
                .iter()
                .step_by(41)
                .map(|name| name.chars().skip(2).take(9).collect()),
        );
        texts.extend(names.iter().step_by(43).map(|name| format!("{name}b")));
        let others = [
            "",
            "a",
            "aa",
            "aaa",
            "aab",
            "aba",
            "\"",
            "\"1",
            "\" a",
            "%_*",
            "*^",
            "AND",
            "a\0a",
            "\u{fffd}aaa",
        ];
        texts.extend(others.map(String::from));
        texts.push("a".repeat(100_000));
        for text in texts {
            let mut expected: Vec<_> = names
                .iter()
                .enumerate()
                .filter(|(_, name)| name.contains(&text))
                .map(|(number, name)| (name, format!("{number:06}")))
                .collect();
            expected.sort();
            assert_eq!(count(&db, &text).unwrap() as usize, expected.len(), "{text:?}");
            let (counted, hits) = count_and_remember(&db, &text).unwrap();
            assert_eq!(counted as usize, expected.len(), "{text:?}");
            for (offset, limit) in [(0, 10), (3, 2), (90, 10), (95, 10), (200, 1)] {
                let filter = AppFilter {
                    name_contains: Some(text.clone()),
                    offset,
                    limit: Some(limit),
                };
                if let Some(remembered) = hits.as_ref().and_then(|hits| hits.list(&db, &filter)) {
                    assert_eq!(
                        remembered.unwrap(),
                        list(&db, &filter).unwrap(),
                        "{text:?} {offset}"
                    );
                }
            }
            let filter = AppFilter {
                name_contains: Some(text.clone()),
                offset: 3,
                limit: Some(20),
            };
            let found = list(&db, &filter).unwrap();
            let found: Vec<_> = found.into_iter().map(|app| app.id).collect();
            let expected: Vec<_> = expected.into_iter().skip(3).take(20).map(|(_, id)| id).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_of_one_letter_is_looked_for_as_quickly_as_any() {
        let (db, _directory) = database(&vec!["a".repeat(64); 1_000]);
        let began = Instant::now();
        for length in [60, 64, 65, 20_000] {
            let text = "a".repeat(length);
            let expected = if length > 64 { 0 } else { 1_000 };
            assert_eq!(count(&db, &text), Ok(expected));
            let filter = AppFilter {
                name_contains: Some(text),
                offset: 0,
                limit: Some(10),
            };
            assert_eq!(list(&db, &filter).unwrap().len(), expected.min(10) as usize);
        }
        // Three milliseconds. By the index it took 24 seconds.
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}
