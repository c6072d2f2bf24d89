//! The operations of a sign-in on the directory: find the entry, check the password, list the groups.

use anyhow::{Context as _, bail, ensure};
use ldap3::{
    DerefAliases, LdapResult, Scope, SearchEntry, SearchOptions,
    controls::{PagedResults, RawControl},
};

use super::{
    entry::{self, Entry},
    fault::failure,
    settings::{Config, Groups},
    sid,
    verdict::{SUCCESS, Verdict, ask_for_policy, verdict},
    wire::{self, Connection},
};

/// The most bytes of the names of a user's groups.
const MAX_NAMES: usize = 1 << 20;

/// The groups of a page. Active Directory returns at most 1,000 entries at once.
const PAGE: i32 = 500;
/// The paged results control (RFC 2696).
const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";

/// The result code of a search that found more entries than requested (RFC 4511, 4.1.9).
const SIZE_LIMIT_EXCEEDED: u32 = 4;
/// That of a search below an entry that is not there.
const NO_SUCH_OBJECT: u32 = 32;

/// What says which group is a user's primary one.
const OBJECT_SID: &str = "objectSid";
const PRIMARY_GROUP_ID: &str = "primaryGroupID";

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
        match bound.rc {
            SUCCESS => Ok(()),
            _ => Err(failure(&bound, &format!("ldap-bind-dn {bind_dn:?}"))),
        }
    }

    /// Tries what sign-ins need: the bases, and the filters with a name that no entry has. Returns the bases that cannot be
    /// seen: what is below them may still be.
    pub async fn check(config: &'a Config) -> anyhow::Result<Vec<String>> {
        const NO_ONE: &str = "portico-checks-the-filter";
        let mut directory = Self::open(config).await?;
        let mut hidden = Vec::new();
        hidden.extend(
            directory
                .hidden_base("ldap-users-base", &config.users_base)
                .await?,
        );
        directory.find(NO_ONE).await?;
        if let Some(groups) = &config.groups {
            hidden.extend(directory.hidden_base("ldap-groups-base", &groups.base).await?);
            // A SID that no group has.
            let nothing = groups.has_primary.then(|| vec![0; 12]);
            directory
                .groups(groups, &config.users_base, NO_ONE, nothing.as_deref())
                .await?;
        }
        Ok(hidden)
    }

    /// The setting and the base, if the directory does not show the entry. An error if it says that there is none.
    async fn hidden_base(&mut self, setting: &str, base: &str) -> anyhow::Result<Option<String>> {
        let what = format!("{setting} {base:?}");
        let none = "1.1".to_owned();
        let search = Search {
            base,
            scope: Scope::Base,
            filter: "(objectClass=*)",
            attributes: &[&none],
            what: &what,
            may_be_gone: false,
        };
        let found = self.search(&search, 1).await?;
        Ok(found.is_empty().then_some(what))
    }

    /// The entries that match this name: at most two.
    pub async fn find(&mut self, username: &str) -> anyhow::Result<Vec<Entry>> {
        let config = self.config;
        let filter = config.user_filter.fill(username, "");
        self.find_users(&config.users_base, config.users_scope, &filter)
            .await
    }

    /// The entry with this id, if it is where users are searched for, and their filter finds it by any name.
    pub async fn find_by_id(&mut self, id: &str) -> anyhow::Result<Option<Entry>> {
        let config = self.config;
        let (attribute, any) = (&config.id_attribute, config.user_filter.fill_with_any());
        let found = if entry::is_dn(attribute) {
            if !entry::is_in_scope(id, &config.users_base, config.users_scope) {
                return Ok(None);
            }
            self.find_users(id, Scope::Base, &any).await?
        } else {
            let Some(value) = entry::id_in_filter(attribute, id) else {
                return Ok(None);
            };
            let filter = format!("(&{any}({attribute}={value}))");
            self.find_users(&config.users_base, config.users_scope, &filter)
                .await?
        };
        let mut found = found.into_iter();
        Ok(found.find(|entry| entry.id(attribute).as_deref() == Some(id)))
    }

    /// The users that match this filter: at most two.
    async fn find_users(&mut self, base: &str, scope: Scope, filter: &str) -> anyhow::Result<Vec<Entry>> {
        // Enough to know that there is more than one.
        const MAX_ENTRIES: usize = 2;
        let config = self.config;
        let (sid, primary_group) = (OBJECT_SID.to_owned(), PRIMARY_GROUP_ID.to_owned());
        let mut attributes = vec![
            &config.id_attribute,
            &config.name_attribute,
            &config.mail_attribute,
        ];
        if config.groups.as_ref().is_some_and(|groups| groups.has_primary) {
            attributes.extend([&sid, &primary_group]);
        }
        let search = Search {
            base,
            scope,
            filter,
            attributes: &attributes,
            what: &format!("ldap-users-base {:?}", config.users_base),
            // That of one user.
            may_be_gone: base != config.users_base,
        };
        self.search(&search, MAX_ENTRIES).await
    }

    /// Checks the password of this entry. Afterwards the connection is no longer bound with the service
    /// account.
    pub async fn check_password(&mut self, dn: &str, password: &str) -> anyhow::Result<Verdict> {
        // With either of them empty it would be an anonymous bind, which succeeds.
        if dn.is_empty() || password.is_empty() {
            return Ok(Verdict::Refused("the name or the password is empty".into()));
        }
        let ldap = self.connection.ldap.with_controls(ask_for_policy());
        verdict(&ldap.simple_bind(dn, password).await?)
    }

    /// The names of the groups of this user, and of the group with this SID.
    pub async fn groups(
        &mut self,
        groups: &Groups,
        dn: &str,
        name: &str,
        sid: Option<&[u8]>,
    ) -> anyhow::Result<Vec<String>> {
        // Users may see fewer entries than the service account.
        self.bind_as_service().await?;
        let mut filter = groups.filter.fill(name, dn);
        if let Some(sid) = sid {
            filter = format!("(|{filter}({OBJECT_SID}={}))", sid::escaped(sid));
        }
        let attributes = [&groups.name_attribute];
        let search = Search {
            base: &groups.base,
            scope: Scope::Subtree,
            filter: &filter,
            attributes: &attributes,
            what: &format!("ldap-groups-base {:?}", groups.base),
            may_be_gone: false,
        };
        let (mut names, mut bytes, mut cookie) = (Vec::new(), 0, Vec::new());
        loop {
            let page = RawControl::from(PagedResults { size: PAGE, cookie });
            let (entries, result) = self.request(&search, SearchOptions::new(), vec![page]).await?;
            if result.rc != SUCCESS {
                return Err(failure(&result, search.what));
            }
            for name in entries
                .iter()
                .flat_map(|group| group.texts(&groups.name_attribute))
            {
                bytes += name.len();
                ensure!(
                    bytes <= MAX_NAMES,
                    "ldap-group-filter matches groups whose names are longer than 1 MiB together"
                );
                names.push(name);
            }
            cookie = next_page(&result)?;
            if cookie.is_empty() {
                return Ok(names);
            }
        }
    }

    /// Searches for at most this many entries.
    async fn search(&mut self, search: &Search<'_>, most: usize) -> anyhow::Result<Vec<Entry>> {
        let options = SearchOptions::new().sizelimit(i32::try_from(most)?);
        let (entries, result) = self.request(search, options, Vec::new()).await?;
        match result.rc {
            SUCCESS => Ok(entries),
            SIZE_LIMIT_EXCEEDED if entries.len() >= most => Ok(entries),
            NO_SUCH_OBJECT if search.may_be_gone => Ok(Vec::new()),
            _ => Err(failure(&result, search.what)),
        }
    }

    /// Searches this directory. Referrals to others are not followed.
    async fn request(
        &mut self,
        search: &Search<'_>,
        options: SearchOptions,
        controls: Vec<RawControl>,
    ) -> anyhow::Result<(Vec<Entry>, LdapResult)> {
        let options = options
            .deref(DerefAliases::Never)
            .timelimit(i32::try_from(self.config.time_limit.as_secs())?);
        let ldap = self.connection.ldap.with_search_options(options);
        let ldap = ldap.with_controls(controls);
        let found = ldap.search(
            search.base,
            search.scope,
            search.filter,
            search.attributes.to_vec(),
        );
        let found = found
            .await
            .with_context(|| format!("searching below {}", search.what))?;
        let entries = found
            .0
            .into_iter()
            .filter(|item| !item.is_ref() && !item.is_intermediate())
            .map(|item| SearchEntry::construct(item).into());
        Ok((entries.collect(), found.1))
    }
}

/// The SID of the primary group of a user. An error if the entry does not say it.
pub(super) fn primary_group(entry: &Entry) -> Result<Vec<u8>, String> {
    let missing = |attribute: &str| {
        let dn = &entry.dn;
        format!(
            "the entry {dn:?} has no valid {attribute} that ldap-bind-dn can see, and ldap-primary-group is on"
        )
    };
    let number = entry
        .texts(PRIMARY_GROUP_ID)
        .next()
        .and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| missing(PRIMARY_GROUP_ID))?;
    let sid = entry.bytes(OBJECT_SID);
    let group = sid.and_then(|sid| sid::primary_group(sid, number));
    group.ok_or_else(|| missing(OBJECT_SID))
}

/// A search, and the setting that it is about.
struct Search<'s> {
    base: &'s str,
    scope: Scope,
    filter: &'s str,
    attributes: &'s [&'s String],
    what: &'s str,
    /// Whether there need not be an entry of the base's name.
    may_be_gone: bool,
}

/// The cookie with which the next page is requested, empty after the last one. (The parser of the library panics if the
/// control is malformed.)
fn next_page(result: &LdapResult) -> anyhow::Result<Vec<u8>> {
    let mut controls = result.ctrls.iter().map(|control| &control.1);
    let value = controls.find(|control| control.ctype == PAGED_RESULTS);
    let Some(value) = value.and_then(|control| control.val.as_deref()) else {
        return Ok(Vec::new());
    };
    // SEQUENCE { size INTEGER, cookie OCTET STRING }
    match wire::parts(value).context("the control of paged results")?[..] {
        [(0x30, _), (0x02, _), (0x04, cookie)] => Ok(cookie.to_vec()),
        _ => bail!("the control of paged results has another form"),
    }
}

#[cfg(test)]
mod tests {
    use ldap3::controls::Control;

    use super::*;

    #[test]
    fn the_cookie_of_a_page_is_read_and_a_malformed_control_is_an_error() {
        let next = |value: Option<&[u8]>| {
            let raw = RawControl {
                ctype: PAGED_RESULTS.into(),
                crit: false,
                val: value.map(<[u8]>::to_vec),
            };
            next_page(&LdapResult {
                rc: SUCCESS,
                matched: String::new(),
                text: String::new(),
                refs: Vec::new(),
                ctrls: vec![Control(None, raw)],
            })
        };
        assert_eq!(next(None).unwrap(), b"");
        assert_eq!(next(Some(b"\x30\x05\x02\x01\x00\x04\x00")).unwrap(), b"");
        assert_eq!(next(Some(b"\x30\x07\x02\x01\x00\x04\x02ab")).unwrap(), b"ab");
        for malformed in [&b"x"[..], b"", b"\x30\x00", b"\x30\x07\x02\x01\x00\x04\x02a"] {
            assert!(next(Some(malformed)).is_err(), "{malformed:?}");
        }
    }
}
