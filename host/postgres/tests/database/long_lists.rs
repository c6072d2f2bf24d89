//! Lists that a thread of low priority reads: in portions, with a cursor.

use std::sync::Arc;
use std::thread;

use portico_postgres::PostgresStorage;
use portico_storage::{Access, AppFilter, Error, Slice, Storage, Viewer, priority};
use tokio::runtime::Handle;

use crate::postgresql::Postgresql;
use crate::records::{app, context, dashboard, write};

/// One with a database of so many apps. Their ids, in order, are also the order of their names.
async fn storage_with(server: &Postgresql, apps: usize) -> (Arc<PostgresStorage>, Vec<String>) {
    let database = server.create_database(&format!("apps_{apps}"));
    let storage = PostgresStorage::open(&database).await.unwrap();
    let ids: Vec<_> = (0..apps).map(|number| format!("app {number:05}")).collect();
    let apps: Vec<_> = ids.iter().map(|id| app(id, id)).collect();
    for apps in apps.chunks(1_000) {
        let mut writer = write(&storage).await;
        writer.insert_apps(apps).await.unwrap();
        writer.commit().await.unwrap();
    }
    (Arc::new(storage), ids)
}

/// What the function answers on a thread of low priority.
async fn on_low_priority<T: Send + 'static, F: Future<Output = T>>(
    running: impl FnOnce() -> F + Send + 'static,
) -> T {
    let runtime = Handle::current();
    let running = move || {
        priority::lower_priority();
        runtime.block_on(running())
    };
    let thread = thread::spawn(running);
    tokio::task::spawn_blocking(|| thread.join().unwrap())
        .await
        .unwrap()
}

/// The last statement of the transaction that is open.
fn last_statement(server: &Postgresql) -> String {
    let sql = "SELECT query FROM pg_stat_activity WHERE state = 'idle in transaction'";
    server.run("postgres", sql)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_list_is_whole_wherever_its_portions_end() {
    let server = Arc::new(Postgresql::start());
    for apps in [0, 1, 31, 32, 33, 63, 64, 65, 2_000] {
        let (storage, ids) = storage_with(&server, apps).await;
        for access in [Access::Lookup, Access::Read] {
            let (storage, server, ids) = (storage.clone(), server.clone(), ids.clone());
            let reading = async move || {
                let mut reader = storage.begin(access, &context()).await.unwrap();
                // The second has the same cursor's name.
                for _ in 0..2 {
                    let listed = reader
                        .list_apps(&AppFilter::EVERYTHING, Slice::ALL)
                        .await
                        .unwrap();
                    let listed: Vec<_> = listed.into_iter().map(|app| app.id).collect();
                    assert_eq!(listed, ids, "{access:?}");
                    assert_eq!(last_statement(&server), "CLOSE list");
                }
                let some = &ids[ids.len() / 2..];
                let found = reader.get_apps(some, &Viewer::Everything).await.unwrap();
                assert_eq!(found.len(), some.len());
            };
            on_low_priority(reading).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn other_threads_read_lists_at_once() {
    let server = Postgresql::start();
    let (storage, ids) = storage_with(&server, 300).await;
    let mut reader = storage.begin(Access::Read, &context()).await.unwrap();
    let listed = reader
        .list_apps(&AppFilter::EVERYTHING, Slice::ALL)
        .await
        .unwrap();
    assert_eq!(listed.len(), ids.len());
    assert!(last_statement(&server).starts_with("SELECT "));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn after_a_list_that_is_too_large_the_storage_reads_and_writes_on() {
    let server = Postgresql::start();
    let (storage, ids) = storage_with(&server, 2_000).await;
    let long = "x".repeat(60_000);
    let large = server.run(
        "apps_2000",
        &format!("UPDATE app SET description = '{long}' RETURNING 1"),
    );
    assert_eq!(large.lines().count(), ids.len());
    let reading = storage.clone();
    let reading = async move || {
        let mut reader = reading.begin(Access::Lookup, &context()).await.unwrap();
        let listed = reader.list_apps(&AppFilter::EVERYTHING, Slice::ALL).await;
        assert!(
            matches!(listed, Err(Error::TooLarge)),
            "{:?}",
            listed.map(|apps| apps.len())
        );
    };
    on_low_priority(reading).await;
    let writing = storage.clone();
    let one = async move || {
        let mut reader = dashboard(&writing, Access::Read).await;
        assert_eq!(reader.list_groups().await.unwrap().len(), 0);
        drop(reader);
        let mut writer = write(&writing).await;
        writer.insert_apps(&[app("another", "another")]).await.unwrap();
        writer.commit().await.unwrap();
    };
    on_low_priority(one).await;
    assert_eq!(server.run("apps_2000", "SELECT count(*) FROM app"), "2001");
}
