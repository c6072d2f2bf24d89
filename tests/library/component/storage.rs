//! The component over storage that refuses, or that others change in the meantime.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use async_trait::async_trait;
use portico_model::{
    AppInput, ColorScheme, PasswordChange,
    error::{Code, Error as Refusal},
};
use portico_storage::{
    Access, AccountKey, AppFilter, CallContext, Error, Result, Slice, Storage, Transaction, UserFilter,
    Viewer, memory::MemoryStorage,
};

use super::harness::{Harness, account, admin, anonymous, call, user};

/// Refuses the first transactions, this many, and then begins them as asked.
struct Refusing {
    storage: Arc<MemoryStorage>,
    refusals: AtomicU32,
    error: Error,
}

#[async_trait]
impl Storage for Refusing {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let one_less = |left: u32| left.checked_sub(1);
        match self
            .refusals
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
        {
            Ok(_) => Err(self.error.clone()),
            Err(_) => self.storage.begin(access, context).await,
        }
    }
}

fn harness(refusals: u32, error: Error) -> Harness {
    let storage = Arc::new(MemoryStorage::new());
    let refusing = Refusing {
        storage: storage.clone(),
        refusals: AtomicU32::new(refusals),
        error,
    };
    Harness::over(storage, Arc::new(refusing))
}

fn jellyfin() -> AppInput {
    AppInput {
        name: "Jellyfin".into(),
        icon_url: "/icon.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    }
}

#[tokio::test]
async fn a_transaction_that_lost_to_another_is_tried_again() {
    let harness = harness(5, Error::Retry);
    let app = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap();
    assert_eq!(
        harness
            .dashboard()
            .await
            .get_app(&app.id, &Viewer::Everything)
            .await
            .unwrap()
            .unwrap(),
        app
    );
}

#[tokio::test]
async fn after_five_more_tries_the_call_is_refused() {
    let harness = harness(6, Error::Retry);
    let refusal = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap_err();
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    assert_eq!(
        harness
            .dashboard()
            .await
            .count_apps(&AppFilter::EVERYTHING)
            .await
            .unwrap(),
        0
    );
}

#[tokio::test]
async fn the_reason_of_a_storage_failure_stays_in_the_log() {
    let harness = harness(1, Error::Unavailable("disk /dev/sda1 is full".into()));
    let refusal = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap_err();
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    assert!(!refusal.message.contains("sda1"), "{}", refusal.message);
}

/// What happens to the hash of every user's password while the component does something else between looking
/// and writing.
#[derive(Clone, Copy)]
enum Change {
    /// Another password is set.
    Password,
    /// It is replaced by another hash of the same password, as signing in does it.
    Hash,
}

struct Meanwhile(Arc<MemoryStorage>, Change);

#[async_trait]
impl Storage for Meanwhile {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let mut transaction = self.0.begin(access, context).await?;
        if access != Access::Write {
            return Ok(transaction);
        }
        let everyone = UserFilter::default();
        for user in transaction.list_users(&everyone, Slice::ALL, false).await? {
            let found = transaction.get_account(&AccountKey::Id(user.id)).await?;
            let account = found.expect("the user");
            let old = account.password_hash.as_deref().expect("a hash");
            let (id, new) = (&account.id, "another hash");
            let replaced = match self.1 {
                Change::Password => transaction.set_password_if(id, Some(old), new).await?,
                Change::Hash => transaction.rehash_password_if(id, old, new).await?,
            };
            assert!(replaced);
        }
        transaction.commit().await?;
        self.0.begin(access, context).await
    }
}

/// Ada changes her password, and meanwhile something else changes its hash. Returns the answer, and the hash that
/// is stored then.
async fn change_password(meanwhile: Change) -> (std::result::Result<(), Refusal>, String) {
    let storage = Arc::new(MemoryStorage::new());
    let harness = Harness::over(storage.clone(), Arc::new(Meanwhile(storage, meanwhile)));
    let id = call!(
        harness,
        portico_dashboard_users.call_init_user(&anonymous(), &account("ada"))
    )
    .unwrap();
    let change = PasswordChange {
        user_id: id.clone(),
        previous_password: Some("correct horse".into()),
        password: "battery staple".into(),
    };
    let answer = call!(
        harness,
        portico_dashboard_users.call_change_password(&user(&id, &[]), &change)
    );
    let account = harness
        .dashboard()
        .await
        .get_account(&AccountKey::Id(id))
        .await
        .unwrap();
    (answer, account.unwrap().password_hash.unwrap())
}

#[tokio::test]
async fn of_two_who_change_a_password_the_later_one_is_told_of_the_conflict() {
    let (answer, hash) = change_password(Change::Password).await;
    let refusal = answer.unwrap_err();
    assert_eq!(refusal.code, Code::Conflict, "{refusal}");
    assert!(refusal.message.contains("meanwhile"), "{refusal}");
    assert_eq!(hash, "another hash", "the earlier one stays");
}

#[tokio::test]
async fn a_password_whose_hash_is_replaced_meanwhile_is_still_the_one_that_was_checked() {
    let (answer, hash) = change_password(Change::Hash).await;
    answer.expect("the password is the same");
    assert!(hash.starts_with("$argon2id$"), "{hash}");
}

#[tokio::test]
async fn a_user_who_was_deleted_meanwhile_has_no_color_scheme_to_change() {
    let harness = Harness::new();
    let refusal = call!(
        harness,
        portico_dashboard_users.call_change_color_scheme(&user("gone", &[]), ColorScheme::Light)
    )
    .unwrap_err();
    assert_eq!(refusal.code, Code::NotFound, "{refusal}");
}

#[tokio::test]
async fn a_query_that_is_longer_than_any_name_is_answered_without_storage() {
    // Storage that begins no transaction.
    let harness = harness(u32::MAX, Error::Unavailable("it was asked".into()));
    let (apps, users) = ("a".repeat(257), "a".repeat(4 * 255 + 1));
    let found = call!(harness, portico_dashboard_apps.call_search(&admin(), &apps, None));
    assert_eq!(found.unwrap(), []);
    let page = call!(
        harness,
        portico_dashboard_apps.call_get_paginated(&admin(), 1, 10, Some(&apps))
    )
    .unwrap();
    assert_eq!((page.items.len(), page.total_count), (0, 0));
    let found = call!(
        harness,
        portico_dashboard_users.call_search(&admin(), &users, None)
    );
    assert_eq!(found.unwrap().len(), 0);
    // A shorter query does ask.
    let asked = call!(harness, portico_dashboard_apps.call_search(&admin(), "a", None));
    assert_eq!(asked.unwrap_err().code, Code::ServiceUnavailable);
}
