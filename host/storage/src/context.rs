//! On whose behalf a transaction runs.

use std::sync::Arc;

use crate::audit::AuditedCall;
use crate::authentication::Authentication;
use crate::dashboard_records::Session;
use crate::new_password::NewToken;

/// On whose behalf a transaction runs, and what else it does for the host.
#[derive(Clone)]
pub struct CallContext {
    /// The id of the user who calls.
    pub user_id: Option<String>,
    /// How they proved it.
    pub authentication: Authentication,
    /// The id of the request, which the log and error messages show.
    pub request_id: Arc<str>,
    /// The call that a write transaction records in the audit log before it commits; `None` if there is nothing to
    /// record.
    pub audit: Option<Arc<AuditedCall>>,
    /// Whether the caller's permissions do not let them view boards, whatever their user's do: they came with an API key
    /// that has fewer. Then they view what their user made, what is shared with their user, and what is public.
    pub views_by_shares: bool,
    /// The token that the call's session gets when its user's password is set; `None` if the session keeps its token.
    pub new_token: Option<Arc<NewToken>>,
}

impl CallContext {
    /// With this call to record.
    pub fn audited(self, call: Option<Arc<AuditedCall>>) -> Self {
        Self { audit: call, ..self }
    }

    /// Notes in the audited call that this session begins.
    pub fn signed_in(&self, session: &Session) {
        if let Some(call) = &self.audit {
            call.signed_in(session);
        }
    }

    /// The id of the session that the call came with.
    pub fn session_id(&self) -> Option<String> {
        match &self.authentication {
            Authentication::Session(id) => Some(id.clone()),
            _ => None,
        }
    }
}
