//! Records, and transactions that write them.

use portico_model::{App, ColorScheme, Provider, User};
use portico_postgres::PostgresStorage;
use portico_storage::{
    Access, AppFilter, Authentication, CallContext, DashboardStorage, DashboardTransaction, NewUser, Result,
    Session, SharedSnapshot, Storage, StoredApp, Transaction, Viewer,
};

pub fn context() -> CallContext {
    CallContext {
        user_id: None,
        authentication: Authentication::None,
        request_id: "test".into(),
        audit: None,
        snapshot: SharedSnapshot::default(),
        new_token: None,
    }
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

pub fn app(id: &str, name: &str) -> StoredApp {
    StoredApp {
        app: App {
            id: id.into(),
            name: name.into(),
            description: None,
            icon_url: "icon".into(),
            href: None,
            ping_url: None,
        },
        name_key: name.to_lowercase(),
    }
}

pub fn user(id: &str) -> NewUser {
    NewUser {
        user: User {
            id: id.into(),
            name: id.into(),
            email: None,
            email_verified: None,
            image: None,
            provider: Provider::Credentials,
            home_board_id: None,
            mobile_home_board_id: None,
            first_day_of_week: 1,
            ping_icons_enabled: false,
            default_search_engine_id: None,
            open_search_in_new_tab: true,
        },
        name_key: id.into(),
        color_scheme: ColorScheme::Dark,
        password_hash: Some("old".into()),
    }
}

pub fn session(id: &str, user_id: &str) -> Session {
    Session {
        id: id.into(),
        user_id: user_id.into(),
        created_at: 1,
        last_used_at: 1,
        expires_at: 1_000_000,
        ends_at: 1_000_000,
    }
}
