//! Pages, counts and searches beside what one pass over all records finds, with ranges of a few records.

use fastrand::Rng;
use portico_model::Provider;
use portico_storage::names::MOST_BYTES;
use portico_storage::{NewUser, Slice, UserFilter};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{create, open_file};
use crate::names::Names;
use crate::query::{all, run};
use crate::ranges::{self, Table};
use crate::tests::records::{new_user as user, stored_app as app};
use crate::{apps, users};

fn database() -> (Connection, TempDir) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("portico.db");
    create(&path).unwrap();
    let db = open_file(&path).unwrap();
    ranges::tests::make_small(&db);
    (db, directory)
}

/// Few different names, so that many records have the same.
fn name(random: &mut Rng) -> String {
    const PARTS: [&str; 6] = ["a", "ab", "straße", "ß", "ω", "100%_"];
    let mut part = || PARTS[random.usize(..PARTS.len())];
    format!("{}{}", part(), part())
}

/// One change of apps and one of users; the ids are those of at most 60 records.
fn change(db: &Connection, random: &mut Rng, by: u64) {
    let id = format!("{:02}", random.u8(..60));
    match random.u8(..if by % 200 < 120 { 5 } else { 9 }) {
        0..3 => {
            let exists = apps::get(db, &id, None).unwrap().is_some();
            if !exists {
                apps::insert(db, &app(&id, &name(random))).unwrap();
                // Another user of the provider may have the name.
                let _ = users::insert(db, &random_user(random, &id));
            }
        }
        3 => drop(apps::update(db, &app(&id, &name(random))).unwrap()),
        4 => {
            let sql = "UPDATE OR IGNORE user SET name_key = ?2, disabled = NOT disabled WHERE id = ?1";
            run(db, sql, [&id, &name(random)]).unwrap();
        }
        _ => {
            apps::delete(db, &id).unwrap();
            users::delete(db, &id).unwrap();
        }
    }
}

fn random_user(random: &mut Rng, id: &str) -> NewUser {
    let mut user = user(id, &format!("{}{}", name(random), random.u8(..10)));
    user.user.provider = [Provider::Credentials, Provider::Oidc, Provider::Ldap][random.usize(..3)];
    user
}

/// The ids that a statement answers.
fn ids(db: &Connection, sql: &str) -> Vec<String> {
    all(db, sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn pages_counts_and_searches_are_right_after_every_change() {
    let (db, _directory) = database();
    let (apps_in_memory, users_in_memory) = (
        Names::new(Table::Apps, MOST_BYTES),
        // Most ranges have no room.
        Names::new(Table::Users, 9_000),
    );
    let mut random = Rng::with_seed(17);
    let mut most_ranges = 0;
    for by in 0..1_000 {
        run(&db, "BEGIN", []).unwrap();
        change(&db, &mut random, by);
        let kept = random.u8(..4) > 0;
        run(&db, if kept { "COMMIT" } else { "ROLLBACK" }, []).unwrap();
        ranges::tests::check(&db, "app");
        ranges::tests::check(&db, "user");
        most_ranges = most_ranges.max(ids(&db, "SELECT first_key FROM app_range").len());

        let everything = ids(&db, "SELECT id FROM app ORDER BY name_key, id");
        for offset in 0..=everything.len() + 1 {
            let slice = Slice {
                offset: offset as u32,
                limit: Some(3),
            };
            let page = apps::list(&db, None, "", slice).unwrap();
            let page: Vec<_> = page.into_iter().map(|app| app.id).collect();
            let expected: Vec<_> = everything.iter().skip(offset).take(3).cloned().collect();
            assert_eq!(page, expected, "apps after {by} changes, from {offset} on");
        }
        let (counted, _) = apps::count(&db, None, "").unwrap();
        assert_eq!(counted as usize, everything.len());

        for text in ["a", "ß", "aa", "ω", "aße", "00%_", "x", "abω"] {
            let sql = format!("SELECT id FROM app WHERE instr(name_key, '{text}') > 0 ORDER BY name_key, id");
            let expected = ids(&db, &sql);
            let (counted, _) = apps::count(&db, Some(&apps_in_memory), text).unwrap();
            assert_eq!(
                counted as usize,
                expected.len(),
                "apps with {text:?} after {by} changes"
            );
            let offset = random.u32(..12);
            let slice = Slice {
                offset,
                limit: Some(5),
            };
            let page = apps::list(&db, Some(&apps_in_memory), text, slice).unwrap();
            let page: Vec<_> = page.into_iter().map(|app| app.id).collect();
            let expected: Vec<_> = expected.into_iter().skip(offset as usize).take(5).collect();
            assert_eq!(
                page, expected,
                "apps with {text:?} after {by} changes, from {offset} on"
            );
        }
        for provider in [None, Some(Provider::Oidc), Some(Provider::Ldap)] {
            for disabled in [None, Some(true), Some(false)] {
                for text in ["", "ab"] {
                    let filter = UserFilter {
                        provider,
                        name_contains: Some(text.into()),
                        email: None,
                        disabled,
                    };
                    let offset = random.u32(..6);
                    let slice = Slice {
                        offset,
                        limit: Some(4),
                    };
                    // Without names in memory, all of it is one statement of SQLite.
                    let expected = users::list(&db, None, &filter, Slice::ALL, false).unwrap();
                    let names = Some(&users_in_memory);
                    let counted = users::count(&db, names, &filter).unwrap();
                    assert_eq!(counted as usize, expected.len(), "{filter:?} after {by} changes");
                    let page = users::list(&db, names, &filter, slice, false).unwrap();
                    let expected: Vec<_> = expected.into_iter().skip(offset as usize).take(4).collect();
                    assert_eq!(page, expected, "{filter:?} after {by} changes, from {offset} on");
                }
            }
        }
    }
    assert!(most_ranges > 10, "there were {most_ranges} ranges at most");
}

#[test]
fn an_earlier_state_is_searched_beside_a_later_one() {
    let (db, directory) = database();
    for number in 0..20 {
        apps::insert(&db, &app(&format!("{number:02}"), "ab")).unwrap();
    }
    let names = Names::new(Table::Apps, MOST_BYTES);
    let earlier = open_file(&directory.path().join("portico.db")).unwrap();
    run(&earlier, "BEGIN", []).unwrap();
    let count = |db: &Connection| apps::count(db, Some(&names), "ab").unwrap().0;
    assert_eq!(count(&earlier), 20);
    apps::delete(&db, "07").unwrap();
    apps::delete(&db, "08").unwrap();
    for _ in 0..2 {
        assert_eq!((count(&db), count(&earlier)), (18, 20));
    }
    run(&earlier, "COMMIT", []).unwrap();
    assert_eq!(count(&earlier), 18);
}

#[test]
fn ranges_are_divided_anew_alike() {
    let (db, _directory) = database();
    for number in 0..9_000 {
        apps::insert(&db, &app(&format!("{number:04}"), &format!("{}", number % 7))).unwrap();
    }
    ranges::tests::check(&db, "app");
    ranges::fill(&db).unwrap();
    ranges::tests::check(&db, "app");
    ranges::tests::check(&db, "user");
    assert_eq!(ids(&db, "SELECT first_id FROM app_range").len(), 3);
}
