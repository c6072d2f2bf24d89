//! Second factors and recovery codes: who has which, what uses them up, and what ends them.

use portico_model::FactorKind;
use portico_storage::{Access, Authentication, Constraint, Error, SecondFactor, hash_secret};

use crate::store::{Store, context, user};

fn codes(id: &str, user_id: &str) -> SecondFactor {
    SecondFactor {
        id: id.into(),
        user_id: user_id.into(),
        kind: FactorKind::Totp,
        name: None,
        handle: None,
        data: format!("the secret of {id}"),
        created_at: 7,
        last_used_at: None,
        counter: Some(10),
    }
}

fn passkey(id: &str, user_id: &str, handle: &str) -> SecondFactor {
    SecondFactor {
        kind: FactorKind::Passkey,
        name: Some(format!("the key {id}")),
        handle: Some(handle.into()),
        counter: None,
        ..codes(id, user_id)
    }
}

/// ann has codes and a passkey, bob has codes.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    for id in ["ann", "bob", "cat"] {
        writer.insert_user(&user(id, id)).await.unwrap();
    }
    for factor in [codes("b", "bob"), passkey("k", "ann", "h"), codes("a", "ann")] {
        assert!(writer.insert_second_factor(&factor).await.unwrap());
    }
    let all = [1, 2, 3].map(|number| hash_secret(&format!("code {number}")));
    writer.set_recovery_codes("ann", &all).await.unwrap();
    writer.commit().await.unwrap();
}

pub async fn second_factors_read_back_by_id_and_a_passkey_by_its_handle(store: &Store) {
    fill(store).await;
    let mut reader = store.read().await;
    let of_ann = reader.list_second_factors("ann").await.unwrap();
    assert!(of_ann == [codes("a", "ann"), passkey("k", "ann", "h")]);
    assert!(reader.find_passkey("h").await.unwrap() == Some(passkey("k", "ann", "h")));
    assert!(reader.find_passkey("").await.unwrap().is_none());
    assert!(reader.list_second_factors("cat").await.unwrap().is_empty());
    let owners = reader.list_second_factor_owners().await.unwrap();
    let owners: Vec<_> = owners.iter().map(|(user, kind)| (user.as_str(), *kind)).collect();
    assert_eq!(
        owners,
        [
            ("ann", FactorKind::Passkey),
            ("ann", FactorKind::Totp),
            ("bob", FactorKind::Totp)
        ]
    );
}

pub async fn a_user_has_codes_of_one_app_and_a_handle_is_taken_once(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for taken in [
        codes("c", "ann"),
        passkey("c", "bob", "h"),
        passkey("c", "ann", "h"),
    ] {
        assert!(!writer.insert_second_factor(&taken).await.unwrap());
    }
    assert!(
        writer
            .insert_second_factor(&passkey("c", "bob", "other"))
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    // A user who is missing or disabled does not get one.
    let mut writer = store.write().await;
    assert!(writer.set_disabled("cat", true).await.unwrap());
    writer.commit().await.unwrap();
    for user_id in ["cat", "missing"] {
        let refused = store
            .write()
            .await
            .insert_second_factor(&codes("d", user_id))
            .await;
        let is_refused = matches!(refused, Err(Error::Constraint(Constraint::Reference)));
        assert!(is_refused, "{user_id}: {refused:?}");
    }
    let refused = store.write().await.set_recovery_codes("missing", &[]).await;
    assert!(matches!(refused, Err(Error::Constraint(Constraint::Reference))));
}

pub async fn a_counter_only_advances_and_data_is_replaced(store: &Store) {
    fill(store).await;
    for (id, counter, advances) in [
        ("a", 10, false),
        ("a", 9, false),
        ("a", 11, true),
        ("a", 11, false),
        ("k", 0, true),
        ("missing", 99, false),
    ] {
        let mut writer = store.write().await;
        assert_eq!(
            writer.advance_second_factor(id, counter, 50).await.unwrap(),
            advances,
            "{id} {counter}"
        );
        writer.commit().await.unwrap();
    }
    let mut writer = store.write().await;
    assert!(writer.update_second_factor("k", "another", 0, 60).await.unwrap());
    assert!(writer.rename_second_factor("ann", "k", "Phone").await.unwrap());
    assert!(!writer.rename_second_factor("bob", "k", "Mine").await.unwrap());
    assert!(
        !writer
            .rename_second_factor("ann", "missing", "Phone")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .update_second_factor("missing", "another", 0, 60)
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let found = store.read().await.list_second_factors("ann").await.unwrap();
    assert!(
        found[0]
            == SecondFactor {
                counter: Some(11),
                last_used_at: Some(50),
                ..codes("a", "ann")
            }
    );
    let expected = SecondFactor {
        name: Some("Phone".into()),
        data: "another".into(),
        counter: Some(0),
        last_used_at: Some(60),
        ..passkey("k", "ann", "h")
    };
    assert!(found[1] == expected);
}

pub async fn a_recovery_code_is_taken_once_and_new_ones_replace_all(store: &Store) {
    fill(store).await;
    let code = hash_secret("code 2");
    let mut writer = store.write().await;
    assert!(!writer.take_recovery_code("bob", &code).await.unwrap());
    assert!(writer.take_recovery_code("ann", &code).await.unwrap());
    assert!(!writer.take_recovery_code("ann", &code).await.unwrap());
    assert_eq!(writer.count_recovery_codes("ann").await.unwrap(), 2);
    writer.commit().await.unwrap();
    let mut writer = store.write().await;
    let new = hash_secret("new");
    writer.set_recovery_codes("ann", &[new]).await.unwrap();
    writer.commit().await.unwrap();
    let mut writer = store.write().await;
    assert!(
        !writer
            .take_recovery_code("ann", &hash_secret("code 1"))
            .await
            .unwrap()
    );
    assert!(writer.take_recovery_code("ann", &new).await.unwrap());
    drop(writer);
    assert_eq!(store.read().await.count_recovery_codes("ann").await.unwrap(), 1);
}

pub async fn of_many_that_use_the_same_code_at_once_one_does(store: &Store) {
    fill(store).await;
    let code = hash_secret("code 1");
    let tries: Vec<_> = (0..20)
        .map(|_| {
            let storage = store.storage.clone();
            tokio::spawn(async move {
                let context = context(Authentication::None);
                let mut writer = storage.begin_dashboard(Access::Write, &context).await.unwrap();
                let step = writer.advance_second_factor("a", 11, 50).await.unwrap();
                let taken = writer.take_recovery_code("ann", &code).await.unwrap();
                writer.commit().await.unwrap();
                (step, taken)
            })
        })
        .collect();
    let mut counts = (0, 0);
    for one in tries {
        let (step, taken) = one.await.unwrap();
        counts = (counts.0 + u32::from(step), counts.1 + u32::from(taken));
    }
    assert_eq!(counts, (1, 1));
}

pub async fn second_factors_go_one_by_one_and_with_their_user(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(!writer.delete_second_factor("bob", "a").await.unwrap());
    assert!(writer.delete_second_factor("ann", "a").await.unwrap());
    assert!(!writer.delete_second_factor("ann", "a").await.unwrap());
    writer.commit().await.unwrap();
    let mut writer = store.write().await;
    assert!(writer.delete_user("ann").await.unwrap());
    writer.commit().await.unwrap();
    // A user of the same id is another one.
    let mut writer = store.write().await;
    writer.insert_user(&user("ann", "ann")).await.unwrap();
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert!(reader.list_second_factors("ann").await.unwrap().is_empty());
    assert_eq!(reader.count_recovery_codes("ann").await.unwrap(), 0);
    let owners = reader.list_second_factor_owners().await.unwrap();
    assert_eq!(owners, [("bob".to_owned(), FactorKind::Totp)]);
}
