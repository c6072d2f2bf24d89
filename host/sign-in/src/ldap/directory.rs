//! The questions that a sign-in asks the directory.

use anyhow::{Context as _, bail, ensure};
use ldap3::{DerefAliases, Scope, SearchEntry, SearchOptions};

use super::{
    entry::Entry,
    settings::{Config, Groups},
    verdict::{SUCCESS, Verdict, ask_for_policy, describe, verdict},
    wire::Connection,
};

/// The most groups that somebody may be in.
const GROUPS: usize = 1000;

/// The result code of a search that found more than was asked for (RFC 4511, 4.1.9).
const SIZE_LIMIT_EXCEEDED: u32 = 4;

/// A connection on which the service is known to the directory.
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
            "the directory does not take ldap-bind-dn and its password: {}",
            describe(&bound)
        );
        Ok(())
    }

    /// The entries that this name fits: at most two.
    pub async fn find(&mut self, username: &str) -> anyhow::Result<Vec<Entry>> {
        const ONE_TOO_MANY: usize = 2;
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
                ONE_TOO_MANY,
            )
            .await;
        found.context("searching below ldap-users-base")
    }

    /// Whether the user with this entry may sign in with this password. Afterwards the connection is no
    /// longer bound as the service.
    pub async fn check(&mut self, dn: &str, password: &str) -> anyhow::Result<Verdict> {
        // Either of them empty would be an anonymous bind, which succeeds.
        if dn.is_empty() || password.is_empty() {
            return Ok(Verdict::Refused("the name or the password is empty".into()));
        }
        let ldap = self.connection.ldap.with_controls(ask_for_policy());
        verdict(&ldap.simple_bind(dn, password).await?)
    }

    /// The names of the groups of this user.
    pub async fn groups(&mut self, groups: &Groups, dn: &str, name: &str) -> anyhow::Result<Vec<String>> {
        // Users may see less than the service.
        self.bind_as_service().await?;
        let filter = groups.filter.fill(name, dn);
        let attributes = [&groups.name_attribute];
        let found = self
            .search(&groups.base, Scope::Subtree, &filter, &attributes, GROUPS + 1)
            .await
            .context("searching below ldap-groups-base")?;
        ensure!(
            found.len() <= GROUPS,
            "ldap-group-filter fits more than {GROUPS} groups"
        );
        let names = found.iter().flat_map(|group| group.texts(&groups.name_attribute));
        Ok(names.collect())
    }

    /// Entries of this directory; where it refers to others, they are not asked.
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
