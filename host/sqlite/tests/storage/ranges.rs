//! Pages and counts where the order of names is divided into ranges: with equal names, across the borders of ranges,
//! after changes of every kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;
use portico_model::Provider;
use portico_storage::{
    AppFilter, DashboardStorage, DashboardTransaction, NewUser, Profile, Slice, UserFilter, Viewer,
};
use tokio::task::JoinSet;

use crate::store::{Store, app, context, user};

/// One of few names.
fn any_name(random: &mut Rng) -> String {
    const PARTS: [&str; 6] = ["a", "ab", "ö", "ß", "ω", "%_"];
    let mut part = || PARTS[random.usize(..PARTS.len())];
    format!("{}{}", part(), part())
}

fn any_page(random: &mut Rng, records: usize) -> Slice {
    Slice {
        offset: random.u32(..records as u32 + 2),
        limit: Some(random.u32(..9)),
    }
}

/// What there should be: the name-keys of apps, and those, providers and states of users, by their ids.
#[derive(Clone, Default)]
struct Records {
    apps: BTreeMap<String, String>,
    users: BTreeMap<String, (String, Provider, bool)>,
}

impl Records {
    /// Makes one change of each, here and in the storage.
    async fn change(&mut self, writer: &mut dyn DashboardTransaction, random: &mut Rng, grows: bool) {
        let id = format!("{:02}", random.u8(..60));
        match random.u8(..if grows { 5 } else { 9 }) {
            0..3 if !self.apps.contains_key(&id) => {
                let name = any_name(random);
                writer.insert_apps(&[app(&id, &name)]).await.unwrap();
                self.apps.insert(id.clone(), name);
                let provider = [Provider::Credentials, Provider::Oidc, Provider::Ldap][random.usize(..3)];
                let name = format!("{} {id}", any_name(random));
                let mut user: NewUser = user(&id, &name);
                user.user.provider = provider;
                writer.insert_user(&user).await.unwrap();
                self.users.insert(id, (name, provider, false));
            }
            0..3 => {
                let name = any_name(random);
                assert!(writer.update_app(&app(&id, &name)).await.unwrap());
                self.apps.insert(id, name);
            }
            3 => {
                if let Some((name, ..)) = self.users.get_mut(&id) {
                    *name = format!("{} {id}", any_name(random));
                    let profile = Profile {
                        name: name.clone(),
                        name_key: name.clone(),
                        email: None,
                        email_verified: None,
                    };
                    assert!(writer.set_profile(&id, &profile).await.unwrap());
                }
            }
            4 => {
                if let Some((.., disabled)) = self.users.get_mut(&id) {
                    *disabled = !*disabled;
                    assert!(writer.set_disabled(&id, *disabled).await.unwrap());
                }
            }
            _ => {
                let exists = self.apps.remove(&id).is_some();
                assert_eq!(writer.delete_app(&id).await.unwrap(), exists);
                let exists = self.users.remove(&id).is_some();
                assert_eq!(writer.delete_user(&id).await.unwrap(), exists);
            }
        }
    }

    /// The ids of the apps whose name-keys contain a text, in order.
    fn apps_with(&self, text: &str) -> Vec<String> {
        let found = self.apps.iter().filter(|(_, name)| name.contains(text));
        let ordered: BTreeSet<_> = found.map(|(id, name)| (name, id)).collect();
        ordered.into_iter().map(|(_, id)| id.clone()).collect()
    }

    /// The ids of the users that a filter without an email matches, in order.
    fn users_with(&self, filter: &UserFilter) -> Vec<String> {
        let found = self.users.iter().filter(|(_, (name, provider, disabled))| {
            name.contains(filter.name_contains.as_deref().unwrap_or_default())
                && filter.provider.is_none_or(|wanted| wanted == *provider)
                && filter.disabled.is_none_or(|wanted| wanted == *disabled)
        });
        let ordered: BTreeSet<_> = found.map(|(id, (name, ..))| (name, id)).collect();
        ordered.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

fn on_page(ids: &[String], slice: Slice) -> &[String] {
    let from = ids.len().min(slice.offset as usize);
    let most = slice.limit.map_or(usize::MAX, |limit| limit as usize);
    &ids[from..ids.len().min(from.saturating_add(most))]
}

async fn check(reader: &mut dyn DashboardTransaction, records: &Records, random: &mut Rng) {
    for text in ["", "a", "ß", "aa", "%_", "ab%", "x"] {
        let filter = AppFilter {
            viewer: Viewer::Everything,
            name_contains: Some(text.into()),
        };
        let expected = records.apps_with(text);
        let count = reader.count_apps(&filter).await.unwrap();
        assert_eq!(count as usize, expected.len(), "how many apps with {text:?}");
        for slice in [
            any_page(random, expected.len()),
            any_page(random, expected.len()),
            Slice::ALL,
        ] {
            let page = reader.list_apps(&filter, slice).await.unwrap();
            let page: Vec<_> = page.into_iter().map(|app| app.id).collect();
            assert_eq!(page, on_page(&expected, slice), "apps with {text:?}: {slice:?}");
        }
    }
    for provider in [None, Some(Provider::Oidc)] {
        for disabled in [None, Some(true)] {
            for text in ["", "ab", "ß 1"] {
                let filter = UserFilter {
                    provider,
                    name_contains: Some(text.into()),
                    email: None,
                    disabled,
                };
                let expected = records.users_with(&filter);
                let count = reader.count_users(&filter).await.unwrap();
                assert_eq!(count as usize, expected.len(), "{filter:?}");
                for slice in [any_page(random, expected.len()), Slice::ALL] {
                    let page = reader.list_users(&filter, slice, false).await.unwrap();
                    let page: Vec<_> = page.into_iter().map(|user| user.id).collect();
                    assert_eq!(page, on_page(&expected, slice), "{filter:?}: {slice:?}");
                }
            }
        }
    }
}

pub async fn pages_and_counts_are_right_after_every_change(store: &Store) {
    store.make_ranges_small();
    let (mut random, mut records) = (Rng::with_seed(17), Records::default());
    for by in 0..200 {
        let mut writer = store.write().await;
        let mut changed = records.clone();
        for _ in 0..=random.u8(..3) {
            changed.change(&mut *writer, &mut random, by % 100 < 60).await;
        }
        if by % 10 == 0 {
            // What a transaction has not committed yet.
            check(&mut *writer, &changed, &mut random).await;
        }
        if random.u8(..4) > 0 {
            writer.commit().await.unwrap();
            records = changed;
        } else {
            drop(writer);
        }
        if by % 4 == 0 {
            check(&mut *store.read().await, &records, &mut random).await;
        }
    }
    // More at once than a range may have.
    let mut writer = store.write().await;
    let many: Vec<_> = (100..400)
        .map(|id| app(&format!("{id}"), &any_name(&mut random)))
        .collect();
    writer.insert_apps(&many).await.unwrap();
    writer.commit().await.unwrap();
    records
        .apps
        .extend(many.into_iter().map(|new| (new.app.id, new.name_key)));
    check(&mut *store.read().await, &records, &mut random).await;
}

/// Each writer has apps of its own, and no commit waits for a reader.
pub async fn pages_and_counts_are_right_beside_writers(store: &Store) {
    const WRITERS: u64 = 6;
    store.make_ranges_small();
    let is_over = Arc::new(AtomicBool::new(false));
    let (storage, over) = (store.storage.clone(), is_over.clone());
    let reader = tokio::spawn(async move {
        while !over.load(Ordering::SeqCst) {
            count_in_pages(&*storage).await;
        }
    });
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let storage = store.storage.clone();
        writers.spawn(async move { write_alone(&*storage, number).await });
    }
    let mut expected = 0;
    while let Some(apps) = writers.join_next().await {
        expected += apps.unwrap();
    }
    is_over.store(true, Ordering::SeqCst);
    reader.await.unwrap();
    assert_eq!(count_in_pages(&*store.storage).await, expected);
}

/// Answers how many apps it has left.
async fn write_alone(storage: &dyn DashboardStorage, number: u64) -> usize {
    let (mut random, mut mine) = (Rng::with_seed(number), BTreeSet::new());
    for _ in 0..60 {
        let id = format!("{number}-{}", random.u8(..20));
        let access = portico_storage::Access::Write;
        let mut writer = storage
            .begin(access, &context(portico_storage::Authentication::None))
            .await
            .unwrap();
        if !mine.contains(&id) {
            writer
                .insert_apps(&[app(&id, &any_name(&mut random))])
                .await
                .unwrap();
            mine.insert(id);
        } else if random.bool() {
            assert!(
                writer
                    .update_app(&app(&id, &any_name(&mut random)))
                    .await
                    .unwrap()
            );
        } else {
            assert!(writer.delete_app(&id).await.unwrap());
            mine.remove(&id);
        }
        writer.commit().await.unwrap();
    }
    mine.len()
}

/// How many apps there are in one state, whose pages have each of them once.
async fn count_in_pages(storage: &dyn DashboardStorage) -> usize {
    let access = portico_storage::Access::Read;
    let context = context(portico_storage::Authentication::None);
    let mut reader = storage.begin(access, &context).await.unwrap();
    let everything = AppFilter::EVERYTHING;
    let count = reader.count_apps(&everything).await.unwrap() as usize;
    let mut ids = Vec::new();
    while ids.len() < count {
        let slice = Slice {
            offset: ids.len() as u32,
            limit: Some(7),
        };
        let page = reader.list_apps(&everything, slice).await.unwrap();
        assert!(!page.is_empty(), "a page after {} of {count}", ids.len());
        ids.extend(page.into_iter().map(|app| app.id));
    }
    let all = reader.list_apps(&everything, Slice::ALL).await.unwrap();
    let all: Vec<_> = all.into_iter().map(|app| app.id).collect();
    assert_eq!(ids, all);
    count
}

pub async fn a_name_is_nowhere_after_its_deletion_although_a_range_began_with_it(store: &Store) {
    store.make_ranges_small();
    let name = |number: u32| format!("name {number:02}");
    for number in 0..40 {
        let mut writer = store.write().await;
        let id = format!("id {number:02}");
        writer.insert_apps(&[app(&id, &name(number))]).await.unwrap();
        writer
            .insert_user(&user(&format!("user {id}"), &name(number + 50)))
            .await
            .unwrap();
        writer.commit().await.unwrap();
    }
    for number in 0..40 {
        let mut writer = store.write().await;
        let id = format!("id {number:02}");
        assert!(writer.delete_app(&id).await.unwrap());
        assert!(writer.delete_user(&format!("user {id}")).await.unwrap());
        writer.commit().await.unwrap();
        for text in [name(number), name(number + 50), format!("user {id}"), id] {
            store.assert_nowhere(&text);
        }
    }
}
