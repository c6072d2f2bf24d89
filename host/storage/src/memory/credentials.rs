//! Keys and sessions in memory, as a request is looked up.

use super::dashboard::owned;
use super::state::State;
use crate::dashboard_records::{Credential, CredentialKey, KeyLimits};

impl State {
    /// A key or a session, with its user's permissions.
    pub fn credential(&self, key: &CredentialKey) -> Option<Credential> {
        let found = match key {
            CredentialKey::Key(id) => self.keys.get(id).map(|row| Credential {
                id: row.key.id.clone(),
                secret: row.secret,
                imported: row.imported.clone(),
                user_id: row.key.user_id.clone(),
                permissions: Vec::new(),
                limits: row.key.limits.clone(),
                expires_at: row.key.expires_at,
                last_used_at: row.key.last_used_at,
                ends_at: None,
            }),
            CredentialKey::Session(token) => {
                let found = self.sessions.values().find(|(_, kept)| kept == token);
                found.map(|(session, kept)| Credential {
                    id: session.id.clone(),
                    secret: *kept,
                    imported: None,
                    user_id: session.user_id.clone(),
                    permissions: Vec::new(),
                    limits: KeyLimits::default(),
                    expires_at: Some(session.expires_at),
                    last_used_at: Some(session.last_used_at),
                    ends_at: Some(session.ends_at),
                })
            }
        };
        found.map(|credential| Credential {
            permissions: owned(self.permissions(&credential.user_id)),
            ..credential
        })
    }
}
