//! The providers by which people sign in, where no one does with a password that Portico stores.

use std::collections::BTreeSet;

use portico_model::{Provider, error::Error};
use portico_storage::{ADMIN, AccountKey, DashboardTransaction};

/// The issuers and the directory that are set up now.
#[derive(Clone, Debug, Default)]
pub struct WaysIn {
    /// What the subjects of their people begin with.
    prefixes: Vec<String>,
    has_directory: bool,
}

impl WaysIn {
    /// These issuers, and a directory if there is one.
    pub fn new<'a>(issuers: impl IntoIterator<Item = &'a str>, has_directory: bool) -> Self {
        let prefixes = issuers.into_iter().map(|issuer| format!("{issuer} "));
        Self {
            prefixes: prefixes.collect(),
            has_directory,
        }
    }

    /// Whether an enabled administrator is known at one of them. A subject of another issuer does not count.
    pub(crate) async fn has_administrator(
        &self,
        transaction: &mut dyn DashboardTransaction,
    ) -> Result<bool, Error> {
        let groups = transaction.list_groups().await?.into_iter();
        let groups = groups.filter(|group| group.permissions.iter().any(|held| held == ADMIN));
        let members: BTreeSet<String> = groups
            .flat_map(|group| group.members.into_iter().map(|member| member.id))
            .collect();
        for id in members {
            let account = transaction.get_account(&AccountKey::Id(id.clone())).await?;
            if account.is_none_or(|account| account.disabled) {
                continue;
            }
            for provider in [Provider::Oidc, Provider::Ldap] {
                let subject = transaction.get_subject(&id, provider).await?;
                if subject.is_some_and(|subject| self.knows(provider, &subject)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn knows(&self, provider: Provider, subject: &str) -> bool {
        match provider {
            Provider::Oidc => self.prefixes.iter().any(|prefix| subject.starts_with(prefix)),
            Provider::Ldap => self.has_directory,
            Provider::Credentials => false,
        }
    }
}
