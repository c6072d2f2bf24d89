//! Searches in memory: right after whatever other hosts have changed, in whatever state the transaction reads.
//!
//! Pages and counts are compared with lists without an end, which a statement of PostgreSQL finds.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use portico_model::Provider;
use portico_postgres::PostgresStorage;
use portico_storage::{
    Access, AppFilter, DashboardTransaction, Error, Slice, Transaction, UserFilter, Viewer,
};
use tokio::time::timeout;

use crate::postgresql::Postgresql;
use crate::records::{app, count_apps, dashboard, insert, user, write};

/// Far more than any of these waits takes.
const SOON: Duration = Duration::from_secs(60);

/// A database with ranges of few names, and a host on it.
async fn open(server: &Postgresql) -> (PostgresStorage, String) {
    let url = server.create_database("home");
    let storage = PostgresStorage::open(&url).await.unwrap();
    server.run("home", "UPDATE range_state SET most = 4, fold_every = 3");
    (storage, url)
}

fn apps_with(text: &str) -> AppFilter {
    AppFilter {
        viewer: Viewer::Everything,
        name_contains: Some(text.into()),
    }
}

/// One of few names, so that many records have the same.
fn any_name(random: &mut Rng) -> String {
    const PARTS: [&str; 6] = ["a", "ab", "straße", "ß", "ω", "100%_"];
    let mut part = || PARTS[random.usize(..PARTS.len())];
    format!("{}{}", part(), part())
}

/// One change of apps and one of users, whose ids are those of at most 60 records.
async fn change(writer: &mut dyn Transaction, random: &mut Rng, grows: bool) {
    let id = format!("{:02}", random.u8(..60));
    let exists = writer.get_app(&id, &Viewer::Everything).await.unwrap().is_some();
    match random.u8(..if grows { 5 } else { 9 }) {
        0..3 if !exists => {
            writer.insert_apps(&[app(&id, &any_name(random))]).await.unwrap();
            let mut new = user(&id);
            new.user.provider = [Provider::Credentials, Provider::Oidc, Provider::Ldap][random.usize(..3)];
            new.name_key = format!("{} {id}", any_name(random));
            writer.insert_user(&new).await.unwrap();
        }
        0..4 if exists => {
            assert!(writer.update_app(&app(&id, &any_name(random))).await.unwrap());
        }
        4 => {
            let disabled = random.bool();
            assert_eq!(writer.set_disabled(&id, disabled).await, Ok(exists));
        }
        5.. => {
            assert_eq!(writer.delete_app(&id).await, Ok(exists));
            assert_eq!(writer.delete_user(&id).await, Ok(exists));
        }
        _ => {}
    }
}

/// Asserts that pages and counts of searches are parts of what a statement finds.
async fn check(reader: &mut dyn DashboardTransaction, random: &mut Rng, when: &str) {
    for text in ["", "a", "ß", "aa", "00%_", "raß", "abω", "x"] {
        let filter = apps_with(text);
        let all = reader.list_apps(&filter, Slice::ALL).await.unwrap();
        let (offset, limit) = (random.u32(..all.len() as u32 + 2), random.u32(..7));
        let slice = Slice {
            offset,
            limit: Some(limit),
        };
        let page = reader.list_apps(&filter, slice).await.unwrap();
        let expected: Vec<_> = all.iter().skip(offset as usize).take(limit as usize).collect();
        assert_eq!(
            page.iter().collect::<Vec<_>>(),
            expected,
            "{when}: {text:?}, {slice:?}"
        );
        let count = reader.count_apps(&filter).await.unwrap();
        assert_eq!(count as usize, all.len(), "{when}: how many apps with {text:?}");
    }
    for provider in [None, Some(Provider::Oidc)] {
        for disabled in [None, Some(true), Some(false)] {
            for text in ["", "ab", "raß"] {
                let filter = UserFilter {
                    provider,
                    name_contains: Some(text.into()),
                    email: None,
                    disabled,
                };
                let count = reader.count_users(&filter).await.unwrap();
                let all = reader.list_users(&filter, Slice::ALL, false).await.unwrap();
                assert_eq!(count as usize, all.len(), "{when}: {filter:?}");
                let (offset, limit) = (random.u32(..all.len() as u32 + 2), random.u32(..7));
                let slice = Slice {
                    offset,
                    limit: Some(limit),
                };
                let page = reader.list_users(&filter, slice, false).await.unwrap();
                let expected: Vec<_> = all.iter().skip(offset as usize).take(limit as usize).collect();
                assert_eq!(
                    page.iter().collect::<Vec<_>>(),
                    expected,
                    "{when}: {filter:?}, {slice:?}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn searches_are_right_after_every_change_of_another_host() {
    let server = Postgresql::start();
    let (first, url) = open(&server).await;
    let second = PostgresStorage::open(&url).await.unwrap();
    let small = PostgresStorage::open(&url)
        .await
        .unwrap()
        .with_memory_for_names(9_000);
    let hosts = [
        ("the first", first),
        ("the second", second),
        ("one with little memory", small),
    ];
    let mut random = Rng::with_seed(17);
    for by in 0..150 {
        let (_, writes) = &hosts[random.usize(..hosts.len())];
        let mut writer = write(writes).await;
        for _ in 0..=random.u8(..3) {
            change(&mut *writer, &mut random, by % 75 < 45).await;
        }
        if by % 3 == 0 {
            for (name, host) in &hosts {
                let when = format!("{name}, before change {by} is committed");
                check(&mut *dashboard(host, Access::Read).await, &mut random, &when).await;
            }
        }
        let is_kept = random.u8(..4) > 0;
        if is_kept {
            writer.commit().await.unwrap();
        } else {
            drop(writer);
        }
        for (name, host) in &hosts {
            let when = format!("{name}, after change {by} (kept: {is_kept})");
            check(&mut *dashboard(host, Access::Read).await, &mut random, &when).await;
        }
    }
    let ranges: u32 = server
        .run("home", "SELECT count(*) FROM app_range")
        .parse()
        .unwrap();
    assert!(ranges > 1, "there is no more than one range");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn an_earlier_state_is_searched_beside_a_later_one() {
    let server = Postgresql::start();
    let (storage, url) = open(&server).await;
    let other = PostgresStorage::open(&url).await.unwrap();
    for number in 0..20 {
        insert(&storage, &format!("ab {number:02}")).await.unwrap();
    }
    let mut earlier = dashboard(&storage, Access::Read).await;
    assert_eq!(earlier.count_apps(&apps_with("ab")).await, Ok(20));
    for id in ["ab 07", "ab 08"] {
        let mut writer = write(&other).await;
        assert_eq!(writer.delete_app(id).await, Ok(true));
        writer.commit().await.unwrap();
    }
    for _ in 0..2 {
        let mut later = dashboard(&storage, Access::Read).await;
        assert_eq!(later.count_apps(&apps_with("ab")).await, Ok(18));
        assert_eq!(earlier.count_apps(&apps_with("ab")).await, Ok(20));
        let page = earlier
            .list_apps(&apps_with("b 0"), Slice::first(9))
            .await
            .unwrap();
        assert_eq!(page.len(), 9);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn names_of_which_the_version_is_the_same_are_not_read_again() {
    let server = Postgresql::start();
    let (storage, _) = open(&server).await;
    for number in 0..6 {
        insert(&storage, &format!("name {number}")).await.unwrap();
    }
    let count = async |text: &str| {
        let mut reader = dashboard(&storage, Access::Lookup).await;
        reader.count_apps(&apps_with(text)).await.unwrap()
    };
    assert_eq!((count("am").await, count("xy").await), (6, 0));
    // What no host does: no version tells of it.
    let rename = "
        ALTER TABLE app DISABLE TRIGGER USER; UPDATE app SET name_key = 'xy ' || id;
        ALTER TABLE app ENABLE TRIGGER USER";
    server.run("home", rename);
    assert_eq!((count("am").await, count("xy").await), (6, 0));
    // A change of each of them.
    server.run("home", "UPDATE app_range SET version = version + 1");
    assert_eq!((count("am").await, count("xy").await), (6, 6));
}

/// A table that nothing else reads until this is dropped.
struct LockedTable {
    input: Option<ChildStdin>,
    psql: Child,
}

impl LockedTable {
    fn new(server: &Postgresql, table: &str) -> Self {
        let mut psql = Command::new("psql");
        let mut psql = server
            .reached_by(&mut psql)
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--dbname", "home"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = psql.stdin.take().unwrap();
        writeln!(input, "BEGIN; LOCK TABLE {table}; SELECT 'locked';").unwrap();
        let mut answer = [0; 7];
        psql.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
        Self {
            input: Some(input),
            psql,
        }
    }
}

impl Drop for LockedTable {
    fn drop(&mut self) {
        drop(self.input.take());
        self.psql.wait().unwrap();
    }
}

/// Counts the users with this text in their names, in many calls at once, while names cannot be read.
async fn assert_that_calls_wait_without_a_connection(text: &str) {
    let server = Postgresql::start();
    let (storage, url) = open(&server).await;
    let mut writer = write(&storage).await;
    for number in 0..100 {
        writer
            .insert_user(&user(&format!("user {number:03}")))
            .await
            .unwrap();
    }
    writer.insert_apps(&[app("a", "a")]).await.unwrap();
    writer.commit().await.unwrap();
    let ranges: u32 = server
        .run("home", "SELECT count(*) FROM user_account_range")
        .parse()
        .unwrap();
    assert!(ranges > 20, "there are {ranges} ranges");
    // A host that has read nothing yet.
    let storage = Arc::new(PostgresStorage::open(&url).await.unwrap());
    let locked = LockedTable::new(&server, "user_account");
    let filter = UserFilter {
        name_contains: Some(text.into()),
        ..UserFilter::default()
    };
    let searches: Vec<_> = (0..40)
        .map(|_| {
            let (storage, filter) = (storage.clone(), filter.clone());
            tokio::spawn(async move {
                let mut reader = dashboard(&storage, Access::Lookup).await;
                reader.count_users(&filter).await
            })
        })
        .collect();
    // Only the one that reads the names for all of them is left.
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let ended = Instant::now() + SOON;
    for _ in 0..3 {
        while server.run("home", waits) != "1" {
            assert!(Instant::now() < ended, "{} wait", server.run("home", waits));
        }
    }
    for _ in 0..50 {
        let mut reader = dashboard(&storage, Access::Lookup).await;
        let found = timeout(SOON, reader.get_app("a", &Viewer::Everything)).await;
        assert!(found.expect("a connection").unwrap().is_some());
    }
    assert_eq!(server.run("home", waits), "1");
    drop(locked);
    for search in searches {
        assert_eq!(search.await.unwrap(), Ok(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn callers_that_wait_until_names_are_read_hold_no_connection() {
    assert_that_calls_wait_without_a_connection("er").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_count_that_takes_long_by_an_index_waits_until_names_are_read() {
    assert_that_calls_wait_without_a_connection("user").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn names_that_are_loaded_are_not_read_by_searches() {
    let server = Postgresql::start();
    let (storage, url) = open(&server).await;
    let mut writer = write(&storage).await;
    for number in 0..100 {
        let name = format!("name {number:03}");
        writer.insert_user(&user(&name)).await.unwrap();
        writer.insert_apps(&[app(&name, &name)]).await.unwrap();
    }
    writer.commit().await.unwrap();
    let storage = PostgresStorage::open(&url).await.unwrap();
    storage.load_names().await;
    // What reads apps or users now waits.
    let _locked = LockedTable::new(&server, "app, user_account");
    for text in ["am", "name"] {
        let mut reader = dashboard(&storage, Access::Read).await;
        let apps = timeout(SOON, reader.count_apps(&apps_with(text))).await;
        assert_eq!(apps.expect("no wait"), Ok(100));
        let filter = UserFilter {
            name_contains: Some(text.into()),
            disabled: Some(false),
            ..UserFilter::default()
        };
        let users = timeout(SOON, reader.count_users(&filter)).await;
        assert_eq!(users.expect("no wait"), Ok(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_text_with_an_index_is_found_while_names_are_not_read_yet() {
    let server = Postgresql::start();
    let (storage, url) = open(&server).await;
    let mut writer = write(&storage).await;
    let apps: Vec<_> = (0..200)
        .map(|number| app(&format!("{number}"), &format!("app {number:03}")))
        .collect();
    writer.insert_apps(&apps).await.unwrap();
    writer.commit().await.unwrap();
    let storage = PostgresStorage::open(&url).await.unwrap();
    for _ in 0..20 {
        let mut reader = dashboard(&storage, Access::Read).await;
        assert_eq!(reader.count_apps(&apps_with("pp 1")).await, Ok(100));
        let page = reader
            .list_apps(&apps_with("199"), Slice::first(10))
            .await
            .unwrap();
        assert_eq!(page.len(), 1);
    }
}

/// Waits until a host has connections again.
async fn wait_until_served(storage: &PostgresStorage) {
    let served = async {
        while matches!(count_apps(storage).await, Err(Error::Unavailable(_))) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, served).await.expect("the server is back");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn searches_are_right_after_changes_were_lost_with_a_server() {
    let server = Postgresql::start();
    let (storage, _) = open(&server).await;
    for number in 0..20 {
        insert(&storage, &format!("name {number:02}")).await.unwrap();
    }
    let (data, earlier) = (server.folder().join("data"), server.folder().join("earlier"));
    // So that nothing but the changes themselves tells the two servers apart.
    server.run("home", "UPDATE range_state SET fold_every = 1000000");
    // What a standby would have that follows no more.
    server.crash();
    let copied = Command::new("cp").arg("-a").args([&data, &earlier]).status();
    assert!(copied.unwrap().success());
    server.start_again();
    let mut random = Rng::with_seed(3);
    let when = ["at the server that is lost", "at the one that replaces it"];
    for (round, when) in when.into_iter().enumerate() {
        wait_until_served(&storage).await;
        // As many changes in the same ranges, but of other names.
        for number in 0..9 {
            insert(&storage, &format!("name {:02} x{round}", number * 2))
                .await
                .unwrap();
            check(&mut *dashboard(&storage, Access::Read).await, &mut random, when).await;
        }
        let mut reader = dashboard(&storage, Access::Read).await;
        for searched in 0..2 {
            let expected = if searched == round { 9 } else { 0 };
            let count = reader
                .count_apps(&apps_with(&format!("x{searched}")))
                .await
                .unwrap();
            assert_eq!(count, expected, "{when}");
        }
        drop(reader);
        if round == 0 {
            server.crash();
            fs::remove_dir_all(&data).unwrap();
            fs::rename(&earlier, &data).unwrap();
            server.start_again();
        }
    }
}
