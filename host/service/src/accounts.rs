//! Reads the accounts that sign-in and onboarding need.

use portico_model::{Provider, error::Error};
use portico_rules::refusal::Refusal;
use portico_storage::{Access, Account, AccountKey, CallContext, ProviderName, SessionUser, Transaction};
use tracing::warn;

use crate::{identity::Identity, resources::Resources, sign_in::WaysIn};

/// The users that exist, as far as onboarding needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingUsers {
    /// No users: onboarding is open.
    None,
    /// Some users, but no administrator.
    Some,
    /// Some users, and at least one administrator.
    Administrator,
}

pub(crate) async fn admin_exists(transaction: &mut dyn Transaction) -> Result<bool, Error> {
    // No user has this id, so every administrator counts as another one.
    let no_user = "";
    Ok(transaction.has_another_admin(no_user).await?)
}

impl Resources {
    pub async fn has_users(&self, request_id: &str) -> Result<bool, Error> {
        let context = Identity::anonymous().context(request_id);
        let mut transaction = self.storage.begin(Access::Read, &context).await?;
        Ok(transaction.has_users().await?)
    }

    /// Refuses a sign-in by an external provider while no user exists.
    pub async fn require_users(&self, request_id: &str) -> Result<(), Error> {
        if self.has_users(request_id).await? {
            return Ok(());
        }
        Err(Refusal::OnboardingFirst.into())
    }

    /// Whether any user exists, and whether one of them is an administrator.
    pub async fn existing_users(&self, request_id: &str) -> Result<ExistingUsers, Error> {
        let context = Identity::anonymous().context(request_id);
        let mut transaction = self.storage.begin(Access::Read, &context).await?;
        if admin_exists(&mut *transaction).await? {
            return Ok(ExistingUsers::Administrator);
        }
        Ok(if transaction.has_users().await? {
            ExistingUsers::Some
        } else {
            ExistingUsers::None
        })
    }

    /// Says by which providers people sign in, where passwords are off, before the first of them does. Returns whether an
    /// enabled administrator is one of them.
    pub async fn leave_only(&self, ways_in: WaysIn, request_id: &str) -> Result<bool, Error> {
        let context = Identity::anonymous().context(request_id);
        let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
        let ways_in = self.ways_in.get_or_init(|| ways_in);
        ways_in.has_administrator(&mut *transaction).await
    }

    /// Says in the log if no administrator is left who can sign in, where passwords are off.
    pub(crate) async fn warn_without_administrator(&self, request_id: &str) {
        let Some(ways_in) = self.ways_in.get() else {
            return;
        };
        let context = Identity::operator().context(request_id);
        let look = async {
            let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
            ways_in.has_administrator(&mut *transaction).await
        };
        if let Ok(false) = self.in_time(look).await {
            warn!(
                request = request_id,
                "no administrator is left who can sign in: passwords are off, and none is known at a provider that is set up. Give \
                 a user of the provider admin while an administrator still has a session, or start with --password-sign-in \
                 administrators"
            );
        }
    }

    /// The account of this provider with this name-key.
    pub async fn find_account_by_key(
        &self,
        provider: Provider,
        name_key: &str,
        context: &CallContext,
    ) -> Result<Option<Account>, Error> {
        let key = AccountKey::Name(ProviderName {
            provider,
            name_key: name_key.to_owned(),
        });
        let mut transaction = self.storage.begin(Access::Lookup, context).await?;
        Ok(transaction.get_account(&key).await?)
    }

    /// The users with this name, of each provider at most one. The one of `credentials` comes first.
    pub async fn find_users(&self, name: &str, context: &CallContext) -> Result<Vec<SessionUser>, Error> {
        let mut users = Vec::new();
        let name_key = self.sandbox.name_key(context.clone(), name.trim()).await?;
        for provider in [Provider::Credentials, Provider::Oidc, Provider::Ldap] {
            let account = self.find_account_by_key(provider, &name_key, context).await?;
            if let Some(account) = account {
                let mut transaction = self.storage.begin_dashboard(Access::Read, context).await?;
                users.extend(transaction.get_session_user(&account.id).await?);
            }
        }
        Ok(users)
    }
}
