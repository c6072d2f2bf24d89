//! Statements on apps.
//!
//! The full-text index `app_search` lacks the newest names: it ends at the number in `app_search_state`.
//! Statements that use it also read the names after that. In a transaction that only reads, a text that
//! was counted is never looked up in the index again.
//!
//! A text that the index does not find quickly is looked for in the names in memory (`names.rs`), if there are
//! any: a transaction that writes passes over all names in the database.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rusqlite::{Connection, Params, Result, Row, params};

use super::names::Names;
use super::query::{all, exists, first, run, sized};
use super::ranges::{Start, Table, start, total};
use super::values::{NO_LIMIT, limit};
use super::views::SEEN;
use portico_model::App;
use portico_storage::driver::{AnswerSize, View};
use portico_storage::names::{ANY_KIND, MAX_PLACES, Search};
use portico_storage::{Slice, StoredApp};

pub(super) fn get(db: &Connection, id: &str, view: Option<&View>) -> Result<Option<App>> {
    let Some(view) = view else {
        let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?1";
        return first(db, sql, [id], app);
    };
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let seen = &*SEEN;
        format!("SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?2 AND {seen}")
    });
    first(db, &SQL, params![view.user_id, id], app)
}

pub(super) fn get_many(db: &Connection, ids: &[String], view: Option<&View>) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    let mut size = AnswerSize::default();
    ids.into_iter()
        .filter_map(|id| get(db, id, view).transpose())
        .map(|app| sized(&mut size, app?))
        .collect()
}

pub(super) fn list(db: &Connection, names: Option<&Names>, contains: &str, slice: Slice) -> Result<Vec<App>> {
    if contains.is_empty() {
        let Start { key, id, skipped } = start(db, Table::Apps, slice.offset)?;
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            WHERE (name_key, id) >= (?1, ?2)
            ORDER BY name_key, id LIMIT ?3 OFFSET ?4";
        return all_sized(db, sql, params![key, id, limit(slice), skipped]);
    }
    match rare_trigram(db, contains)? {
        Some(trigram) => by_numbers(
            db,
            &rare_hits(db, contains, &trigram, limit(slice), slice.offset)?,
        ),
        None => common_page(db, names, contains, slice),
    }
}

/// The same in a view that does not show all apps.
pub(super) fn list_seen(db: &Connection, view: &View, contains: &str, slice: Slice) -> Result<Vec<App>> {
    if let Some(trigram) = rare_trigram(db, contains)? {
        let hits = rare_hits(db, contains, &trigram, NO_LIMIT, 0)?;
        let seen = seen_among(db, view, hits)?;
        let most = slice.limit.map_or(usize::MAX, |limit| limit as usize);
        return by_numbers(db, seen.iter().skip(slice.offset as usize).take(most));
    }
    let seen = &*SEEN;
    let sql = format!(
        "SELECT id, name, description, icon_url, href, ping_url FROM app
        WHERE instr(name_key, ?2) > 0 AND {seen}
        ORDER BY name_key, id LIMIT ?3 OFFSET ?4"
    );
    all_sized(
        db,
        &sql,
        params![view.user_id, contains, limit(slice), slice.offset],
    )
}

/// How many apps of a view have a name that contains this text.
pub(super) fn count_seen(db: &Connection, view: &View, contains: &str) -> Result<u32> {
    if let Some(trigram) = rare_trigram(db, contains)? {
        let hits = rare_hits(db, contains, &trigram, NO_LIMIT, 0)?;
        return Ok(seen_among(db, view, hits)?.len() as u32);
    }
    let seen = &*SEEN;
    let sql = format!("SELECT count(*) FROM app WHERE instr(name_key, ?2) > 0 AND {seen}");
    number(db, &sql, params![view.user_id, contains])
}

/// The numbers of those apps that are in the view, in the same order.
fn seen_among(db: &Connection, view: &View, numbers: Vec<i64>) -> Result<Vec<i64>> {
    let seen = &*SEEN;
    let sql = format!("SELECT 1 FROM app WHERE number = ?2 AND {seen}");
    let mut among = Vec::new();
    for number in numbers {
        if exists(db, &sql, params![view.user_id, number])? {
            among.push(number);
        }
    }
    Ok(among)
}

/// All apps of a statement; fails if they have too much text.
fn all_sized(db: &Connection, sql: &str, values: impl Params) -> Result<Vec<App>> {
    let mut size = AnswerSize::default();
    all(db, sql, values, |row| sized(&mut size, app(row)?))
}

/// The numbers of the apps whose name contains a text, in order. Looks only at the names with this
/// trigram, and at those that are not in the index yet.
fn rare_hits(db: &Connection, contains: &str, trigram: &str, limit: i64, offset: u32) -> Result<Vec<i64>> {
    // Numbers first, and the apps of one page after that: a sort holds every column that it answers, also
    // the icons. The plus keeps SQLite from walking all names in the order of their index.
    let sql = "
        SELECT number FROM app
        WHERE number IN (
            SELECT rowid FROM app_search WHERE app_search MATCH ?2
            UNION ALL
            SELECT number FROM app WHERE number > (SELECT up_to FROM app_search_state)
        ) AND instr(name_key, ?1) > 0
        ORDER BY +name_key, id LIMIT ?3 OFFSET ?4";
    all(db, sql, params![contains, trigram, limit, offset], |row| {
        row.get(0)
    })
}

/// A page of the apps whose name contains a text. Looks at all names in order until the page is full.
fn common_page(db: &Connection, names: Option<&Names>, contains: &str, slice: Slice) -> Result<Vec<App>> {
    if let Some(names) = names
        && let Some(limit) = slice.limit.filter(|limit| *limit <= MAX_PLACES)
    {
        let places = names.places(db, by_name(contains), slice.offset, limit)?;
        let mut size = AnswerSize::default();
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            WHERE name_key = ?1 AND id >= ?2 ORDER BY id LIMIT ?4 OFFSET ?3";
        let mut apps = Vec::new();
        for place in places {
            let values = params![place.key, place.id, place.skipped, place.records];
            apps.extend(all(db, sql, values, |row| sized(&mut size, app(row)?))?);
        }
        return Ok(apps);
    }
    let sql = "
        SELECT id, name, description, icon_url, href, ping_url FROM app
        WHERE instr(name_key, ?1) > 0
        ORDER BY name_key, id LIMIT ?2 OFFSET ?3";
    all_sized(db, sql, params![contains, limit(slice), slice.offset])
}

fn by_name(contains: &str) -> Search {
    Search::new(contains, ANY_KIND)
}

fn by_numbers<'a>(db: &Connection, numbers: impl IntoIterator<Item = &'a i64>) -> Result<Vec<App>> {
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE number = ?1";
    let mut size = AnswerSize::default();
    let numbers = numbers.into_iter();
    numbers
        .filter_map(|number| first(db, sql, [number], app).transpose())
        .map(|app| sized(&mut size, app?))
        .collect()
}

/// What is known of a text that was counted: a page of its hits needs no second look into the index. Valid in the
/// transaction that counted them, as long as it does not write.
pub(super) struct Counted {
    text: String,
    /// All hits in order, if they are few.
    numbers: Option<Vec<i64>>,
}

impl Counted {
    /// A slice of the hits of this text; none if another text was counted.
    pub fn list(
        &self,
        db: &Connection,
        names: Option<&Names>,
        contains: &str,
        slice: Slice,
    ) -> Option<Result<Vec<App>>> {
        if contains != self.text {
            return None;
        }
        let Some(numbers) = &self.numbers else {
            return Some(common_page(db, names, contains, slice));
        };
        let most = slice.limit.map_or(usize::MAX, |limit| limit as usize);
        Some(by_numbers(
            db,
            numbers.iter().skip(slice.offset as usize).take(most),
        ))
    }
}

/// How many names contain this text; and what a page of them can use, unless the text is empty.
pub(super) fn count(
    db: &Connection,
    names: Option<&Names>,
    contains: &str,
) -> Result<(u32, Option<Counted>)> {
    if contains.is_empty() {
        return Ok((total(db, Table::Apps)?, None));
    }
    let (count, numbers) = match (rare_trigram(db, contains)?, names) {
        (Some(trigram), _) => {
            let numbers = rare_hits(db, contains, &trigram, NO_LIMIT, 0)?;
            (numbers.len() as u32, Some(numbers))
        }
        (None, Some(names)) => (names.count(db, by_name(contains))?, None),
        (None, None) => {
            let sql = "SELECT count(*) FROM app WHERE instr(name_key, ?1) > 0";
            (number(db, sql, [contains])?, None)
        }
    };
    let text = contains.to_owned();
    Ok((count, Some(Counted { text, numbers })))
}

fn number(db: &Connection, sql: &str, values: impl Params) -> Result<u32> {
    Ok(first(db, sql, values, |row| row.get(0))?.unwrap_or_default())
}

/// How many trigrams of a text are looked up. Each takes some tens of microseconds.
const MAX_TRIGRAMS: usize = 8;

/// How many characters of a text are considered: callers may send a text of any length.
const MAX_CHARACTERS: usize = 256;

/// Three characters of this text that few names contain, as a query of the index. None if every trigram
/// that is tried is common, or the index cannot hold it.
///
/// Searching the index for the whole text takes longer the more common its trigrams are and the more
/// they repeat: for 64 times the same letter in 100,000 such names more than a second. The alternative, a
/// pass over all names, takes some 15 ms there for any text.
fn rare_trigram(db: &Connection, text: &str) -> Result<Option<String>> {
    /// The index does not tell the last three of these apart, and ends a text at the first.
    const NOT_INDEXED: [char; 4] = ['\0', '\u{fffd}', '\u{fffe}', '\u{ffff}'];
    let characters: Vec<char> = text.chars().take(MAX_CHARACTERS).collect();
    let mut seen = BTreeSet::new();
    let mut trigrams: Vec<_> = characters
        .windows(3)
        .filter(|trigram| seen.insert(*trigram))
        .collect();
    trigrams.retain(|trigram| !trigram.iter().any(|character| NOT_INDEXED.contains(character)));
    // Spread over the whole text.
    let step = trigrams.len().div_ceil(MAX_TRIGRAMS).max(1);
    for trigram in trigrams.into_iter().step_by(step) {
        let trigram = String::from_iter(trigram).replace('"', "\"\"");
        let query = format!("\"{trigram}\"");
        if is_rare(db, &query)? {
            return Ok(Some(query));
        }
    }
    Ok(None)
}

/// Whether the index finds few enough names that looking at each of them is quicker than walking all names
/// in order until a page is full. (With 300 hits among 100,000 names, ten are among the first 3,000.)
fn is_rare(db: &Connection, query: &str) -> Result<bool> {
    const FEW: i64 = 300;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM app_search WHERE app_search MATCH ?1 LIMIT ?2)";
    let count: Option<i64> = first(db, sql, params![query, FEW], |row| row.get(0))?;
    Ok(count.is_some_and(|count| count < FEW))
}

pub(super) fn insert(db: &Connection, new: &StoredApp) -> Result<()> {
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    run(db, sql, values(new)).map(drop)
}

pub(super) fn update(db: &Connection, new: &StoredApp) -> Result<bool> {
    let sql = "
        UPDATE app SET name = ?2, name_key = ?3, description = ?4, icon_url = ?5, href = ?6, ping_url = ?7
        WHERE id = ?1";
    Ok(run(db, sql, values(new))? > 0)
}

fn values(StoredApp { app, name_key }: &StoredApp) -> impl Params {
    (
        &app.id,
        &app.name,
        name_key,
        &app.description,
        &app.icon_url,
        &app.href,
        &app.ping_url,
    )
}

/// The schema's cascades remove it from boards.
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

    use portico_storage::names::MOST_BYTES;
    use tempfile::TempDir;

    use super::*;
    use crate::database::{create, open_file};

    const PAGES: [(u32, Option<u32>); 8] = [
        (0, Some(10)),
        (3, Some(20)),
        (3, Some(2)),
        (90, Some(10)),
        (95, Some(10)),
        (200, Some(1)),
        (1029, Some(10)),
        (5, None),
    ];

    fn database(names: &[String]) -> (Connection, TempDir) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let db = open_file(&path).unwrap();
        crate::ranges::tests::make_small(&db);
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
    fn a_search_finds_what_a_pass_over_all_names_finds() {
        // Trigrams that are common, that are rare, that repeat, and that are in names not indexed yet (64
        // names are indexed at once).
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
        let names_in_memory = Names::new(Table::Apps, MOST_BYTES);
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
            for names in [None, Some(&names_in_memory)] {
                let (counted, known) = count(&db, names, &text).unwrap();
                assert_eq!(counted as usize, expected.len(), "{text:?}");
                for (offset, limit) in PAGES {
                    let slice = Slice { offset, limit };
                    let ids: Vec<_> = list(&db, names, &text, slice).unwrap();
                    let ids: Vec<_> = ids.into_iter().map(|app| app.id).collect();
                    let most = limit.map_or(usize::MAX, |limit| limit as usize);
                    let page = expected.iter().skip(offset as usize).take(most);
                    let page: Vec<_> = page.map(|(_, id)| id.clone()).collect();
                    assert_eq!(ids, page, "{text:?} {offset} {limit:?}");
                    let counted = known
                        .as_ref()
                        .and_then(|known| known.list(&db, names, &text, slice));
                    assert_eq!(counted.is_some(), !text.is_empty(), "{text:?} {offset}");
                    if let Some(counted) = counted {
                        let counted: Vec<_> = counted.unwrap().into_iter().map(|app| app.id).collect();
                        assert_eq!(counted, page, "{text:?} {offset} {limit:?}");
                    }
                    let another = format!("{text}, another");
                    let another = known
                        .as_ref()
                        .and_then(|known| known.list(&db, names, &another, slice));
                    assert!(another.is_none(), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_search_for_a_long_text_of_one_letter_is_quick() {
        let (db, _directory) = database(&vec!["a".repeat(64); 1_000]);
        let began = Instant::now();
        for length in [60, 64, 65, 20_000] {
            let text = "a".repeat(length);
            let expected = if length > 64 { 0 } else { 1_000 };
            assert_eq!(count(&db, None, &text).unwrap().0, expected);
            let found = list(&db, None, &text, Slice::first(10)).unwrap();
            assert_eq!(found.len(), expected.min(10) as usize);
        }
        // It takes three milliseconds. Searching the index for the whole text took 24 seconds.
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
