//! The app that is read together with the caller.

use portico_postgres::PostgresStorage;
use portico_storage::{Access, CredentialKey, DashboardStorage, Snapshot, Storage, Viewer};

use crate::postgresql::Postgresql;
use crate::records::{context, insert, rename};

const UNKNOWN: &str = "unknown";

/// Looks up the caller of a request that is expected to read this app.
async fn request(storage: &PostgresStorage, expected: &str) -> Snapshot {
    let snapshot = Snapshot::default().expecting_app(Some(expected.into()));
    let context = context().within(snapshot.share());
    let transaction = storage.begin_dashboard(Access::Read, &context).await;
    let found = transaction
        .unwrap()
        .find_credential(&CredentialKey::Key(UNKNOWN.into()))
        .await;
    assert_eq!(found, Ok(None));
    snapshot
}

/// The name of the app, as the request reads it in its next transaction.
async fn name(storage: &PostgresStorage, request: &Snapshot, access: Access, id: &str) -> Option<String> {
    let context = context().within(request.share());
    let mut transaction = storage.begin(access, &context).await.unwrap();
    let app = transaction.get_app(id, &Viewer::Everything).await.unwrap();
    app.map(|app| app.name)
}

#[tokio::test]
#[ignore = "make test-all"]
async fn an_app_that_is_read_with_the_caller_is_answered_once_to_a_look_up() {
    let server = Postgresql::start();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    for id in ["wiki", "files"] {
        insert(&storage, id).await.unwrap();
    }
    let requests = [
        request(&storage, "wiki").await,
        request(&storage, "wiki").await,
        request(&storage, "files").await,
        request(&storage, "none").await,
    ];
    rename(&storage, "wiki", "renamed").await.unwrap();
    insert(&storage, "none").await.unwrap();
    let [looks_up, reads, expects_another, found_none] = &requests;
    for expected in ["wiki", "renamed"] {
        let found = name(&storage, looks_up, Access::Lookup, "wiki").await;
        assert_eq!(found.as_deref(), Some(expected));
    }
    for (request, access) in [(reads, Access::Read), (expects_another, Access::Lookup)] {
        let found = name(&storage, request, access, "wiki").await;
        assert_eq!(found.as_deref(), Some("renamed"));
    }
    for expected in [None, Some("none")] {
        let found = name(&storage, found_none, Access::Lookup, "none").await;
        assert_eq!(found.as_deref(), expected);
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn nothing_is_read_with_the_caller_where_callers_see_different_apps() {
    let server = Postgresql::start();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap()
        .with_apps_by_board(true);
    insert(&storage, "wiki").await.unwrap();
    let request = request(&storage, "wiki").await;
    rename(&storage, "wiki", "renamed").await.unwrap();
    let found = name(&storage, &request, Access::Lookup, "wiki").await;
    assert_eq!(found.as_deref(), Some("renamed"));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_caller_is_found_even_if_the_app_cannot_be_read() {
    let server = Postgresql::start();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    insert(&storage, "wiki").await.unwrap();
    server.run("home", "ALTER TABLE app RENAME TO hidden");
    let request = request(&storage, "wiki").await;
    server.run("home", "ALTER TABLE hidden RENAME TO app");
    let found = name(&storage, &request, Access::Lookup, "wiki").await;
    assert_eq!(found.as_deref(), Some("wiki"));
}
