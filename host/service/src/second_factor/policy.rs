//! Who must have a second factor.

use portico_model::error::Error;
use portico_storage::{ADMIN, DashboardTransaction};

/// Who must have a second factor to sign in with a password. Sessions and keys that exist stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondFactorPolicy {
    /// No user.
    #[default]
    Optional,
    /// Administrators.
    Administrators,
    /// Every user.
    Everyone,
}

impl SecondFactorPolicy {
    /// Whether this user must have one.
    pub(crate) async fn demands(
        self,
        transaction: &mut dyn DashboardTransaction,
        user_id: &str,
    ) -> Result<bool, Error> {
        Ok(match self {
            Self::Optional => false,
            Self::Everyone => true,
            Self::Administrators => {
                let user = transaction.get_session_user(user_id).await?;
                user.is_some_and(|user| user.permissions.iter().any(|held| held == ADMIN))
            }
        })
    }
}
