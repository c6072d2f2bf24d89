//! The app that is read together with the caller, in one round trip, because the request is expected to ask for it next.
//!
//! Invariants:
//! - Only the next transaction of the request has it, and only a look-up uses it: what a request reads after it has written
//!   is newer, and a transaction that reads several times sees one state.
//! - Nothing is read ahead where callers see different apps, since the caller is not known yet.
//! - If it cannot be read, the caller is found nevertheless, and the request reads it again when it asks for it. If another
//!   session has locked the table, both wait for it, and so the request waits twice as long as for one statement.

use futures_util::future::join;

use super::transaction::PostgresTransaction;
use super::values::is_storable;
use super::{apps, credentials};
use portico_model::App;
use portico_storage::{Access, Credential, CredentialKey};

/// What was read ahead.
pub(super) struct Ahead {
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
        let found = self.ended(found).await;
        if let Some(app) = self.tried(app).await {
            self.snapshot().keep(Ahead { id, app });
        }
        found
    }

    /// The id of the app that the request is expected to ask for, if it may be read now.
    pub(super) fn app_to_read_ahead(&self) -> Option<String> {
        if self.access() == Access::Write || self.is_begun() || self.resources().views_differ {
            return None;
        }
        self.snapshot().take_expected_app().filter(|id| is_storable(id))
    }

    /// The app with this id, or that there is none; no answer if it was not read ahead.
    pub(super) fn take_read_ahead(&mut self, id: &str) -> Option<Option<App>> {
        let ahead = self.take_ahead()?;
        (self.access() == Access::Lookup && ahead.id == id).then_some(ahead.app)
    }
}
