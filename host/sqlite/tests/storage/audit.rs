//! The audit log: the rows that write transactions add, and how rows are listed and removed.

use std::sync::Arc;

use portico_model::time::{Clock, SystemClock};
use portico_storage::nested::Enclosing;
use portico_storage::{
    Access, AuditEntry, AuditFilter, AuditPrune, AuditRow, AuditedCall, Authentication, CallContext,
};

use crate::store::{Store, app, context, user};

fn audited(call: AuditedCall) -> (CallContext, Arc<AuditedCall>) {
    let call = Arc::new(call);
    let context = context(Authentication::None).audited(Some(call.clone()));
    (context, call)
}

fn call() -> AuditedCall {
    let entry = AuditEntry::new("procedure", "request").by(Some("ann"), &Authentication::Key("key".into()));
    AuditedCall::new(entry, Arc::new(SystemClock))
}

async fn rows(store: &Store, filter: AuditFilter) -> Vec<AuditRow> {
    let mut reader = store.read().await;
    let rows = reader.list_audit(&filter, 0, 1000).await.unwrap();
    assert_eq!(reader.count_audit(&filter).await.unwrap(), rows.len() as u64);
    rows
}

pub async fn a_commit_writes_its_row_with_the_created_record_as_target(store: &Store) {
    let (context, call) = audited(call());
    let started = SystemClock.now();
    let mut writer = store.storage.begin(Access::Write, &context).await.unwrap();
    writer
        .insert_apps(&[app("first", "a"), app("second", "b")])
        .await
        .unwrap();
    assert!(!call.is_written());
    writer.commit().await.unwrap();
    assert!(call.is_written());
    let rows = rows(store, AuditFilter::default()).await;
    assert_eq!(rows.len(), 1);
    let entry = rows[0].entry.clone();
    assert!((started..=SystemClock.now()).contains(&entry.time));
    let expected = AuditEntry {
        time: entry.time,
        target: Some("first".into()),
        created: 2,
        ..AuditEntry::new("procedure", "request").by(Some("ann"), &Authentication::Key("key".into()))
    };
    assert_eq!(entry, expected);
}

pub async fn a_transaction_that_is_not_committed_has_no_row(store: &Store) {
    let (context, call) = audited(call());
    let mut dropped = store.storage.begin(Access::Write, &context).await.unwrap();
    dropped.insert_apps(&[app("a", "a")]).await.unwrap();
    drop(dropped);
    let mut failed = store.storage.begin(Access::Write, &context).await.unwrap();
    failed.insert_user(&user("u", "ann")).await.unwrap();
    failed.insert_user(&user("v", "ann")).await.unwrap_err();
    failed.commit().await.unwrap_err();
    let reader = store.storage.begin(Access::Read, &context).await.unwrap();
    reader.commit().await.unwrap();
    assert!(!call.is_written());
    assert_eq!(rows(store, AuditFilter::default()).await, []);
}

pub async fn a_changed_record_that_the_input_does_not_name_is_the_target(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    writer.commit().await.unwrap();
    let (context, _) = audited(call());
    let mut changes = store.storage.begin(Access::Write, &context).await.unwrap();
    changes.set_ping_icons_enabled("u", true).await.unwrap();
    changes.commit().await.unwrap();
    let rows = rows(store, AuditFilter::default()).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].entry.target.as_deref(), Some("u"));
}

pub async fn a_transaction_with_parts_has_one_row(store: &Store) {
    let (context, call) = audited(call());
    let whole = store.storage.begin_dashboard(Access::Write, &context).await;
    let enclosing = Enclosing::new(whole.unwrap());
    for id in ["a", "b"] {
        let storage = enclosing.storage();
        let mut part = storage.begin(Access::Write, &context).await.unwrap();
        part.insert_apps(&[app(id, id)]).await.unwrap();
        part.commit().await.unwrap();
    }
    call.summarise("created 2".into());
    enclosing.commit().await.unwrap();
    let rows = rows(store, AuditFilter::default()).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].entry.target.as_deref(), rows[0].entry.created),
        (Some("created 2"), 2)
    );
}

pub async fn rows_are_filtered_and_removed_the_oldest_first(store: &Store) {
    let entry = |time, outcome: &str| AuditEntry {
        time,
        outcome: outcome.into(),
        ..AuditEntry::new("procedure", "request")
    };
    let mut writer = store.write().await;
    for (time, outcome) in [
        (30, "OK"),
        (10, "FORBIDDEN"),
        (20, "OK"),
        (40, "FORBIDDEN"),
        (20, "OK"),
    ] {
        writer.insert_audit(&entry(time, outcome)).await.unwrap();
    }
    writer.commit().await.unwrap();
    let times = async |filter: AuditFilter| {
        let rows = rows(store, filter).await;
        rows.iter()
            .map(|row| (row.entry.time, row.number))
            .collect::<Vec<_>>()
    };
    let all = AuditFilter::default;
    assert_eq!(times(all()).await, [(40, 4), (30, 1), (20, 5), (20, 3), (10, 2)]);
    let outcome = |outcome: &str| Some(outcome.to_owned());
    assert_eq!(
        times(AuditFilter {
            outcome: outcome("FORBIDDEN"),
            ..all()
        })
        .await,
        [(40, 4), (10, 2)]
    );
    let middle = AuditFilter {
        from: Some(20),
        until: Some(30),
        ..all()
    };
    assert_eq!(times(middle).await, [(20, 5), (20, 3)]);
    assert_eq!(
        times(AuditFilter {
            actor_id: Some("ann".into()),
            ..all()
        })
        .await,
        []
    );
    let mut reader = store.read().await;
    let page = reader.list_audit(&all(), 1, 2).await.unwrap();
    assert_eq!(page.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 5]);
    drop(reader);

    let remove = async |which, most| {
        let mut writer = store.write().await;
        let removed = writer.prune_audit(which, most).await.unwrap();
        writer.commit().await.unwrap();
        removed
    };
    assert_eq!(remove(AuditPrune::Before(20), 9).await, 1);
    assert_eq!(remove(AuditPrune::Any, 1).await, 1);
    assert_eq!(times(all()).await, [(40, 4), (30, 1), (20, 5)]);
    assert_eq!(remove(AuditPrune::Refusals, 9).await, 1);
    assert_eq!(times(all()).await, [(30, 1), (20, 5)]);
}
