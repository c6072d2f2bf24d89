//! Records, and transactions that write them.

use portico_model::App;
use portico_postgres::PostgresStorage;
use portico_storage::{
    Access, AppFilter, Authentication, CallContext, DashboardStorage, DashboardTransaction, NewUser, Result,
    Session, Storage, StoredApp, Transaction, Viewer,
};

pub use crate::records_to_store::stored_app as app;
use crate::records_to_store::{context_of, new_user, session_until};

pub fn context() -> CallContext {
    context_of(Authentication::None)
}

/// A write transaction as the component begins it.
pub async fn write(storage: &PostgresStorage) -> Box<dyn Transaction> {
    storage.begin(Access::Write, &context()).await.unwrap()
}

/// One as the dashboard side begins it.
pub async fn dashboard(storage: &PostgresStorage, access: Access) -> Box<dyn DashboardTransaction> {
    storage.begin_dashboard(access, &context()).await.unwrap()
}

pub async fn count_apps(storage: &PostgresStorage) -> Result<u32> {
    let mut reader = storage.begin(Access::Lookup, &context()).await?;
    reader.count_apps(&AppFilter::EVERYTHING).await
}

/// Creates an app in a transaction of its own.
pub async fn insert(storage: &PostgresStorage, id: &str) -> Result<()> {
    let mut writer = storage.begin(Access::Write, &context()).await?;
    writer.insert_apps(&[app(id, id)]).await?;
    writer.commit().await
}

/// Renames an app as `app.update` does: reads it and replaces it.
pub async fn rename(storage: &PostgresStorage, id: &str, name: &str) -> Result<bool> {
    let mut writer = storage.begin(Access::Write, &context()).await?;
    let Some(app) = writer.get_app(id, &Viewer::Everything).await? else {
        return Ok(false);
    };
    let app = App {
        name: name.into(),
        ..app
    };
    let name_key = name.to_lowercase();
    writer.update_app(&StoredApp { app, name_key }).await?;
    writer.commit().await?;
    Ok(true)
}

/// A user who has a password.
pub fn user(id: &str) -> NewUser {
    NewUser {
        password_hash: Some("old".into()),
        ..new_user(id, id)
    }
}

pub fn session(id: &str, user_id: &str) -> Session {
    session_until(id, user_id, 1_000_000)
}
