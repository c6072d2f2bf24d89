//! The operations of a sign-in on the directory: find the entry, check the password, list the groups.

use anyhow::{Context as _, bail, ensure};
use ldap3::{DerefAliases, Scope, SearchEntry, SearchOptions};

use super::{
    entry::Entry,
    settings::{Config, Groups},
    verdict::{SUCCESS, Verdict, ask_for_policy, describe, verdict},
    wire::Connection,
};

/// The most groups of a user.
const MAX_GROUPS: usize = 1000;

/// The result code of a search that found more entries than requested (RFC 4511, 4.1.9).
const SIZE_LIMIT_EXCEEDED: u32 = 4;

/// A connection that is bound with the service account.
pub(super) struct Directory<'a> {
    config: &'a Config,
    connection: Connection,
}

impl<'a> Directory<'a> {
    pub async fn open(config: &'a Config) -> anyhow::Result<Self> {
        let connection = config.server.connect().await?;
        let mut directory = Self { config, connection };
        directory.bind_as_service().await?;
        Ok(directory)
    }

    async fn bind_as_service(&mut self) -> anyhow::Result<()> {
        let Config {
            bind_dn,
            bind_password,
            ..
        } = self.config;
        let bound = self.connection.ldap.simple_bind(bind_dn, bind_password).await;
        let bound = bound.context("binding as ldap-bind-dn")?;
        ensure!(
            bound.rc == SUCCESS,
            "the directory rejects ldap-bind-dn and its password: {}",
            describe(&bound)
        );
        Ok(())
    }

    /// The entries that match this name: at most two.
    pub async fn find(&mut self, username: &str) -> anyhow::Result<Vec<Entry>> {
        // Enough to know that there is more than one.
        const MAX_ENTRIES: usize = 2;
        let config = self.config;
        let attributes = [
            &config.id_attribute,
            &config.name_attribute,
            &config.mail_attribute,
        ];
        let filter = config.user_filter.fill(username, "");
        let found = self
            .search(
                &config.users_base,
                config.users_scope,
                &filter,
                &attributes,
                MAX_ENTRIES,
            )
            .await;
        found.context("searching below ldap-users-base")
    }

    /// Checks the password of this entry. Afterwards the connection is no longer bound with the service
    /// account.
    pub async fn check(&mut self, dn: &str, password: &str) -> anyhow::Result<Verdict> {
        // With either of them empty it would be an anonymous bind, which succeeds.
        if dn.is_empty() || password.is_empty() {
            return Ok(Verdict::Refused("the name or the password is empty".into()));
        }
        let ldap = self.connection.ldap.with_controls(ask_for_policy());
        verdict(&ldap.simple_bind(dn, password).await?)
    }

    /// The names of the groups of this user.
    pub async fn groups(&mut self, groups: &Groups, dn: &str, name: &str) -> anyhow::Result<Vec<String>> {
        // Users may see fewer entries than the service account.
        self.bind_as_service().await?;
        let filter = groups.filter.fill(name, dn);
        let attributes = [&groups.name_attribute];
        let found = self
            .search(&groups.base, Scope::Subtree, &filter, &attributes, MAX_GROUPS + 1)
            .await
            .context("searching below ldap-groups-base")?;
        ensure!(
            found.len() <= MAX_GROUPS,
            "ldap-group-filter matches more than {MAX_GROUPS} groups"
        );
        let names = found.iter().flat_map(|group| group.texts(&groups.name_attribute));
        Ok(names.collect())
    }

    /// Searches this directory. Referrals to others are not followed.
    async fn search(
        &mut self,
        base: &str,
        scope: Scope,
        filter: &str,
        attributes: &[&String],
        most: usize,
    ) -> anyhow::Result<Vec<Entry>> {
        let options = SearchOptions::new()
            .deref(DerefAliases::Never)
            .sizelimit(i32::try_from(most)?)
            .timelimit(i32::try_from(self.config.time_limit.as_secs())?);
        let ldap = self.connection.ldap.with_search_options(options);
        let found = ldap.search(base, scope, filter, attributes).await?;
        let entries: Vec<Entry> = found
            .0
            .into_iter()
            .filter(|item| !item.is_ref() && !item.is_intermediate())
            .map(|item| SearchEntry::construct(item).into())
            .collect();
        match found.1.rc {
            SUCCESS => Ok(entries),
            SIZE_LIMIT_EXCEEDED if entries.len() >= most => Ok(entries),
            _ => bail!("{}", describe(&found.1)),
        }
    }
}
