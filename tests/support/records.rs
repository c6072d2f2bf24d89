//! Records for storage, with only what they must have.
//!
//! Needs nothing but the crates of the model and of storage: crates that cannot depend on the rest of the tests'
//! support take this file in by its path.

use portico_model::{App, ColorScheme, Provider, Timestamp, User};
use portico_storage::{Authentication, CallContext, NewUser, Session, StoredApp};

/// The context of a call without a user.
pub fn context_of(authentication: Authentication) -> CallContext {
    CallContext {
        views_by_shares: false,
        user_id: None,
        authentication,
        request_id: "test".into(),
        audit: None,
        new_token: None,
    }
}

/// A user of Portico's own without a password, whose name-key is the name in lower case.
pub fn new_user(id: &str, name: &str) -> NewUser {
    NewUser {
        user: User {
            id: id.into(),
            name: name.into(),
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
        name_key: name.to_lowercase(),
        color_scheme: ColorScheme::Dark,
        password_hash: None,
    }
}

/// An app whose name-key is the name in lower case.
pub fn stored_app(id: &str, name: &str) -> StoredApp {
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

/// A session that began at 1, and ends when it expires.
pub fn session_until(id: &str, user_id: &str, expires_at: Timestamp) -> Session {
    Session {
        id: id.into(),
        user_id: user_id.into(),
        created_at: 1,
        last_used_at: 1,
        expires_at,
        ends_at: expires_at,
    }
}
