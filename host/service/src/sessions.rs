//! Sessions: how one begins, how its use is noted, and when it ends.

use std::time::Duration;

use portico_model::{Timestamp, error::Error, time::LATEST};
use portico_storage::{
    self as storage, Access, Authentication, CallContext, DashboardStorage, DashboardTransaction, Session,
    secrets::Secrets,
};

use crate::identity::Identity;

/// How long sessions last.
#[derive(Clone, Copy, Debug)]
pub struct SessionTimes {
    /// A session that is unused for this long ends. Its use is noted once a minute.
    pub idle: Duration,
    /// A session ends this long after it began, even if it is in use.
    pub lifetime: Duration,
}

impl Default for SessionTimes {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            idle: 7 * DAY,
            lifetime: 30 * DAY,
        }
    }
}

impl SessionTimes {
    /// When a session that begins now ends at the latest.
    pub(crate) fn ends_at(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.lifetime.as_millis() as Timestamp)
            .min(LATEST)
    }

    /// When a session that is used now expires, unless it is used again.
    pub fn expires_at(&self, now: Timestamp, ends_at: Timestamp) -> Timestamp {
        now.saturating_add(self.idle.as_millis() as Timestamp)
            .min(ends_at)
    }
}

/// A new session. It is valid once its transaction is committed.
pub struct IssuedSession {
    /// The token with which the client authenticates. Storage has only its hash.
    pub token: String,
    pub session: Session,
}

/// Begins a session of an existing user for the sender of a request. If a session of the same user authenticated the
/// request, that session ends, because its client replaces the token.
pub(crate) async fn begin(
    secrets: &Secrets,
    times: &SessionTimes,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    sender: &Identity,
    now: Timestamp,
) -> Result<IssuedSession, Error> {
    let issued = secrets.session(secrets.id(now));
    let ends_at = times.ends_at(now);
    let session = Session {
        id: issued.id,
        user_id: user_id.into(),
        created_at: now,
        last_used_at: now,
        expires_at: times.expires_at(now, ends_at),
        ends_at,
        browser: sender.browser.clone(),
        address: sender.address.map(|address| address.to_canonical()),
    };
    if let Authentication::Session(before) = &sender.authentication
        && sender.user_id() == Some(user_id)
    {
        transaction.delete_session(before).await?;
    }
    transaction.delete_expired_sessions(now).await?;
    transaction.insert_session(&session, &issued.hash).await?;
    Ok(IssuedSession {
        token: issued.text,
        session,
    })
}

/// Notes that a key or a session was used now. A session then expires at this time; `None` for a key.
pub async fn note_use(
    storage: &dyn DashboardStorage,
    context: &CallContext,
    id: &str,
    now: Timestamp,
    expires_at: Option<Timestamp>,
) -> storage::Result<()> {
    let mut transaction = storage.begin_dashboard(Access::Write, context).await?;
    match expires_at {
        Some(expires_at) => transaction.touch_session(id, now, expires_at).await?,
        None => transaction.touch_key(id, now).await?,
    }
    transaction.delete_expired_sessions(now).await?;
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_used_expires_later_but_not_after_its_end() {
        let times = SessionTimes {
            idle: Duration::from_secs(7),
            lifetime: Duration::from_secs(30),
        };
        assert_eq!(times.ends_at(1000), 31_000);
        assert_eq!(times.expires_at(2000, 31_000), 9000);
        assert_eq!(times.expires_at(29_000, 31_000), 31_000);
    }
}
