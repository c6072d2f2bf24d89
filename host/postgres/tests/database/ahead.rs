//! The app that is read together with the caller.

use portico_postgres::PostgresStorage;
use portico_storage::{Access, ApiKey, CredentialKey, DashboardStorage, Snapshot, Storage, Viewer};

use crate::postgresql::Postgresql;
use crate::records::{context, dashboard, insert, rename, user};

const KEY: &str = "key";

/// A new database with a user who has a key, and with these apps.
async fn open(server: &Postgresql, apps: &[&str]) -> PostgresStorage {
    let storage = PostgresStorage::open(&server.create_database("home")).await;
    let storage = storage.unwrap();
    let mut writer = dashboard(&storage, Access::Write).await;
    writer.insert_user(&user("ada")).await.unwrap();
    let key = ApiKey {
        id: KEY.into(),
        name: None,
        user_id: "ada".into(),
        created_at: 1,
        expires_at: None,
        last_used_at: None,
    };
    writer.insert_key(&key, &[7; 32]).await.unwrap();
    writer.commit().await.unwrap();
    for id in apps {
        insert(&storage, id).await.unwrap();
    }
    storage
}

/// Finds the caller of a request that is expected to read this app.
async fn request(storage: &PostgresStorage, expected: &str) -> Snapshot {
    let snapshot = Snapshot::default().expecting_app(Some(expected.into()));
    let context = context().within(snapshot.share());
    let mut transaction = storage.begin_dashboard(Access::Read, &context).await.unwrap();
    let found = transaction
        .find_credential(&CredentialKey::Key(KEY.into()))
        .await
        .unwrap();
    assert_eq!(found.expect("the key").user_id, "ada");
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
    let storage = open(&server, &["wiki", "files"]).await;
    let requests = [
        request(&storage, "wiki").await,
        request(&storage, "wiki").await,
        request(&storage, "files").await,
        request(&storage, "none").await,
        request(&storage, "wiki").await,
    ];
    rename(&storage, "wiki", "renamed").await.unwrap();
    insert(&storage, "none").await.unwrap();
    let [looks_up, reads, expects_another, found_none, writes] = &requests;
    for expected in ["wiki", "renamed"] {
        let found = name(&storage, looks_up, Access::Lookup, "wiki").await;
        assert_eq!(found.as_deref(), Some(expected));
    }
    for (request, access) in [(reads, Access::Read), (expects_another, Access::Lookup)] {
        let found = name(&storage, request, access, "wiki").await;
        assert_eq!(found.as_deref(), Some("renamed"));
    }
    for access in [Access::Write, Access::Lookup] {
        let found = name(&storage, writes, access, "wiki").await;
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
    let storage = open(&server, &["wiki"]).await.with_apps_by_board(true);
    let request = request(&storage, "wiki").await;
    rename(&storage, "wiki", "renamed").await.unwrap();
    let found = name(&storage, &request, Access::Lookup, "wiki").await;
    assert_eq!(found.as_deref(), Some("renamed"));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_caller_is_found_even_if_the_app_cannot_be_read() {
    let server = Postgresql::start();
    let storage = open(&server, &["wiki"]).await;
    server.run("home", "ALTER TABLE app RENAME TO hidden");
    let request = request(&storage, "wiki").await;
    server.run("home", "ALTER TABLE hidden RENAME TO app");
    let found = name(&storage, &request, Access::Lookup, "wiki").await;
    assert_eq!(found.as_deref(), Some("wiki"));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn an_id_that_no_app_can_have_is_not_sent() {
    let server = Postgresql::start();
    let storage = open(&server, &[]).await;
    let refused = "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'home'";
    let before = server.run("home", refused);
    request(&storage, "\0").await;
    drop(storage);
    // The counts are written when a session ends.
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'home' AND pid <> pg_backend_pid()";
    while server.run("home", others) != "0" {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.run("home", refused), before);
}
