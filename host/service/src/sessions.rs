//! How a session begins, whoever vouches for its user.

use std::time::Duration;

use portico_model::{Timestamp, error::Error};
use portico_storage::{Authentication, DashboardTransaction, Session};

use crate::{identity::Identity, service::Service};

/// How long sessions last.
#[derive(Clone, Copy, Debug)]
pub struct SessionTimes {
    /// A session that is not used for so long ends. Its use is noted once a minute.
    pub idle: Duration,
    /// A session ends so long after it began, however much it is used.
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
    /// When a session that begins now ends, however much it is used.
    pub(crate) fn ends_at(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.lifetime.as_millis() as Timestamp)
    }

    /// When a session that is used now expires.
    pub fn expires_at(&self, now: Timestamp, ends_at: Timestamp) -> Timestamp {
        now.saturating_add(self.idle.as_millis() as Timestamp)
            .min(ends_at)
    }
}

/// A session that began, as soon as the transaction is committed.
pub struct Begun {
    /// What its user shows from now on. It is nowhere else.
    pub token: String,
    /// What is kept.
    pub session: Session,
}

/// Begins a session of this user, who is there, for whoever sent the request. A session of the same user
/// that the request came in on ends: who signs in again forgets it, and so does the service.
pub async fn begin(
    service: &Service,
    times: &SessionTimes,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    sender: &Identity,
    now: Timestamp,
) -> Result<Begun, Error> {
    let issued = service.secrets.session(service.secrets.id(now));
    let ends_at = times.ends_at(now);
    let session = Session {
        id: issued.id,
        user_id: user_id.into(),
        created_at: now,
        last_used_at: now,
        expires_at: times.expires_at(now, ends_at),
        ends_at,
    };
    if let Authentication::Session(before) = &sender.authentication
        && sender.user_id() == Some(user_id)
    {
        transaction.delete_session(before).await?;
    }
    transaction.delete_expired_sessions(now).await?;
    transaction.insert_session(&session, &issued.hash).await?;
    Ok(Begun {
        token: issued.text,
        session,
    })
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
