//! A dashboard with more text than one answer of storage may have.

use std::sync::Arc;

use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, DashboardStorage, Error, Slice, UserFilter};
use portico_tests::{Fixtures, Listening, TestService, administrator_of, new_user};
use serde_json::json;

use super::{apply, export, named};

/// The first number of largest images that is more than an answer may have is 286.
const USERS: usize = 290;

#[test]
fn more_text_than_one_answer_may_have_is_exported_and_applied() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = SqliteStorage::open(&folder.path().join("portico.db")).expect("a database");
    let storage = Arc::new(storage);
    let Listening { client, runtime, .. } = TestService::over(storage.clone()).listen();
    let admin = administrator_of(&client);
    let image = format!("data:image/png;base64,iVBORw0KGgoA{}", "A".repeat(349_964));
    let context = Identity::operator().context("test");
    runtime.block_on(async {
        let mut transaction = storage.begin_dashboard(Access::Write, &context).await.unwrap();
        for number in 0..USERS {
            let name = format!("user {number:03}");
            let mut user = new_user(&name, &name);
            user.user.image = Some(image.clone());
            transaction.insert_user(&user).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let mut transaction = storage.begin_dashboard(Access::Write, &context).await.unwrap();
        let all = transaction
            .list_users(&UserFilter::default(), Slice::ALL, true)
            .await;
        assert_eq!(all.map(|users| users.len()), Err(Error::TooLarge));
        assert!(transaction.commit().await.is_err(), "what failed is committed");
    });

    let document = export(&admin);
    let images = document["users"].as_array().expect("users").iter();
    assert_eq!(images.filter(|user| user["image"] == image).count(), USERS);
    // All of them are read again in the transaction that writes.
    let report = apply(
        &admin,
        &json!({"apps": [{"name": "New", "iconUrl": "/icon.svg"}]}),
    );
    assert_eq!(named(&report, "created"), ["app New"]);
    assert_eq!(admin.app_names(), ["New"]);
}
