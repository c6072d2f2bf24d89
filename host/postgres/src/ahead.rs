//! The app that is read together with the caller, in one round trip, because the request is expected to ask for it next.
//!
//! Invariants:
//! - Only a look-up of the same request takes it: a transaction that reads several times sees one state, which began
//!   later.
//! - Nothing is read ahead where callers see different apps, since the caller is not known yet.
//! - If it cannot be read, the caller is found nevertheless, and the request reads it again when it asks for it.

use futures_util::future::join;

use super::transaction::PostgresTransaction;
use super::{apps, credentials};
use portico_model::App;
use portico_storage::{Access, Credential, CredentialKey};

/// What was read ahead.
struct Ahead {
    id: String,
    app: Option<App>,
}

impl PostgresTransaction {
    /// Finds a credential, and reads the app that the request is expected to ask for.
    pub(super) async fn find_with_app(
        &mut self,
        key: &CredentialKey,
        id: String,
    ) -> portico_storage::Result<Option<Credential>> {
        let db = self.read_credential().await?;
        // Polled in this order, and so sent in it.
        let (found, app) = join(credentials::find(db, key), apps::get(db, &id, None, false)).await;
        let app = self.tried(app).await;
        let found = self.ended(found).await?;
        if let Some(app) = app {
            self.snapshot().keep(Ahead { id, app });
        }
        Ok(found)
    }

    /// The id of the app that the request is expected to ask for, if it may be read now.
    pub(super) fn app_to_read_ahead(&self) -> Option<String> {
        if self.access() == Access::Write || self.resources().views_differ {
            return None;
        }
        self.snapshot().take_expected_app()
    }

    /// The app with this id, or that there is none; no answer if it was not read ahead.
    pub(super) fn take_read_ahead(&self, id: &str) -> Option<Option<App>> {
        if self.access() != Access::Lookup {
            return None;
        }
        let ahead: Ahead = self.snapshot().take()?;
        (ahead.id == id).then_some(ahead.app)
    }
}
