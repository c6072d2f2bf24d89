//! What storage refuses: answers with too much text, and ids that are in use.

use portico_model::Provider;
use portico_storage::driver::LARGEST_ANSWER;
use portico_storage::{
    AppFilter, Constraint, Error, Result, Slice, StoredApp, Transaction, UserFilter, Viewer,
};

use crate::store::{Store, app, texts, user};

/// The characters of the largest image.
const IMAGE: usize = 350_000;
/// The first number of such images that is too large for one answer.
const TOO_MANY: usize = 286;

/// An app with this many bytes of text.
fn large(number: usize, bytes: usize) -> StoredApp {
    let mut large = app(&format!("{number:03}"), &format!("app {number:03}"));
    large.app.icon_url.clear();
    large.app.href = Some("h".repeat(1_000));
    large.app.ping_url = Some("p".repeat(1_000));
    // Two bytes each.
    large.app.description = Some("ü".repeat(1_000));
    let others = large.app.id.len() + large.app.name.len() + 4_000;
    large.app.icon_url = "x".repeat(bytes - others);
    large
}

pub async fn a_list_with_too_much_text_is_refused_before_a_record_is_read(store: &Store) {
    let mut writer = store.write().await;
    let apps: Vec<_> = (0..TOO_MANY).map(|number| large(number, IMAGE)).collect();
    writer.insert_apps(&apps).await.unwrap();
    for number in 0..TOO_MANY {
        let mut user = user(&format!("{number:03}"), &format!("user {number:03}"));
        user.user.image = Some("i".repeat(IMAGE));
        writer.insert_user(&user).await.unwrap();
    }
    writer.commit().await.unwrap();
    store.make_names_unreadable();

    let reader = async || store.read().await;
    let filter = AppFilter::EVERYTHING;
    let apps = reader().await.list_apps(&filter, Slice::ALL).await;
    assert_eq!(apps.map(|apps| apps.len()), Err(Error::TooLarge));
    for provider in [None, Some(Provider::Credentials)] {
        let filter = UserFilter {
            provider,
            ..UserFilter::default()
        };
        let users = reader().await.list_users(&filter, Slice::ALL, true).await;
        let count = users.map(|users| users.len());
        assert_eq!(count, Err(Error::TooLarge), "{provider:?}");
    }
}

pub async fn an_answer_may_have_exactly_as_much_text_as_the_contract_says(store: &Store) {
    let mut writer = store.write().await;
    let apps: Vec<_> = (0..10).map(|number| large(number, LARGEST_ANSWER / 10)).collect();
    writer.insert_apps(&apps).await.unwrap();
    let ids: Vec<_> = apps.iter().map(|app| app.app.id.clone()).collect();
    let items = vec![portico_storage::BoardItem::Bookmarks { app_ids: ids.clone() }];
    let mut public = crate::store::board("public", None, items);
    public.board.is_public = true;
    assert!(writer.insert_board(&public, "public").await.unwrap());
    writer.commit().await.unwrap();
    // Of all apps, and of those that a viewer sees.
    let assert_counts = async |expected: Result<usize>| {
        for viewer in [Viewer::Everything, Viewer::Anonymous] {
            let filter = AppFilter {
                viewer: viewer.clone(),
                ..AppFilter::EVERYTHING
            };
            let listed = store.read().await.list_apps(&filter, Slice::ALL).await;
            assert_eq!(listed.map(|apps| apps.len()), expected, "{viewer:?}");
            let by_ids = store.read().await.get_apps(&ids, &viewer).await;
            assert_eq!(by_ids.map(|apps| apps.len()), expected, "{viewer:?}");
        }
    };
    assert_counts(Ok(10)).await;
    let mut writer = store.write().await;
    assert!(
        writer
            .update_app(&large(9, LARGEST_ANSWER / 10 + 1))
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    assert_counts(Err(Error::TooLarge)).await;
}

/// Inserts and commits as the component does, which may insert only at the commit.
async fn insert_apps(mut writer: Box<dyn Transaction>, apps: &[StoredApp]) -> Result<()> {
    writer.insert_apps(apps).await?;
    writer.commit().await
}

pub async fn an_id_of_an_app_is_used_once(store: &Store) {
    let first = store.write_as_component().await;
    insert_apps(first, &[app("a", "first")]).await.unwrap();
    // Few apps and many, and an id twice in one list.
    let many: Vec<_> = (0..900).map(|number| app(&format!("n{number}"), "new")).collect();
    let new = |apps: &[StoredApp], last: &str| [apps, &[app(last, "second")]].concat();
    for apps in [
        new(&[], "a"),
        new(&many[..2], "a"),
        new(&many[..2], "n1"),
        new(&many[..20], "a"),
        new(&many, "a"),
        new(&many, "n7"),
    ] {
        let refused = insert_apps(store.write_as_component().await, &apps).await;
        assert_eq!(refused, Err(Error::Constraint(Constraint::Id)), "{}", apps.len());
        let mut writer = store.write().await;
        let refused = writer.insert_apps(&apps).await;
        assert_eq!(refused, Err(Error::Constraint(Constraint::Id)), "{}", apps.len());
    }
    let mut reader = store.read().await;
    let apps = reader
        .list_apps(&AppFilter::EVERYTHING, Slice::ALL)
        .await
        .unwrap();
    assert_eq!(apps, [app("a", "first").app]);
}

/// Transactions that insert at their commits share one commit; if one of them is refused, the others succeed.
pub async fn an_id_that_is_in_use_refuses_no_other_transaction(store: &Store) {
    let ids = texts(&["a", "b", "a", "c", "b", "d"]);
    let insert = async |id: &String| insert_apps(store.write_as_component().await, &[app(id, id)]).await;
    let inserted = futures_util::future::join_all(ids.iter().map(insert)).await;
    let refused = Err(Error::Constraint(Constraint::Id));
    for wanted in ["a", "b", "c", "d"] {
        let answers = ids.iter().zip(&inserted).filter(|(id, _)| *id == wanted);
        let (done, others): (Vec<_>, Vec<_>) = answers.partition(|(_, answer)| answer.is_ok());
        assert_eq!(done.len(), 1, "{wanted}: {inserted:?}");
        assert!(
            others.iter().all(|(_, answer)| **answer == refused),
            "{wanted}: {inserted:?}"
        );
    }
    assert_eq!(store.read().await.count_apps(&AppFilter::EVERYTHING).await, Ok(4));
}
