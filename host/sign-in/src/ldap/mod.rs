//! Sign-in with the password that a directory (LDAP) knows.
//!
//! Invariants:
//! - What people type is only ever a value: of a filter, or the password of a bind. It is never
//!   logged.
//! - Nobody is signed in by an anonymous bind: neither the password nor the entry's name is empty.
//! - An account whose password must be changed first is refused, even if the directory accepts the bind.
//! - Whoever is refused is told the same, whatever the reason, and not sooner than after a second.
//! - Nothing is hashed. Connections are few, waiting for one is bounded, and so is every answer.

mod directory;
mod entry;
mod filter;
mod settings;
mod verdict;
mod wire;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::anyhow;
use async_trait::async_trait;
use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_service::external::{Directory as Vouches, External, Linking, Login, Vouched};
use portico_service::{
    fair_semaphore::FairSemaphore,
    identity::Identity,
    throttle::{LoginAttempt, Source, ThrottledAccount},
};
use tokio::time::{Instant, sleep_until, timeout_at};
use tracing::{info, warn};

pub use self::settings::LdapSettings;
use self::{directory::Directory, entry::Entry, settings::Config, verdict::Verdict, wire::Security};

/// Connections to the directory at once.
const CONNECTIONS: usize = 16;

/// A refusal takes at least so long: a name that nobody has would be refused sooner than a wrong
/// password, which the directory has to check.
const REFUSAL: Duration = Duration::from_secs(1);

/// Characters of a name and of a password that are sent to the directory.
const LONGEST_NAME: usize = 255;
const LONGEST_PASSWORD: usize = 1024;

/// A directory that vouches for users.
pub struct Ldap {
    config: Config,
    connections: Arc<FairSemaphore<Option<Source>>>,
}

impl Ldap {
    /// Fails with the name of the setting that is wrong. Connects to nothing yet.
    pub fn new(settings: LdapSettings) -> anyhow::Result<Self> {
        let config = Config::new(settings)?;
        if matches!(config.server.security, Security::Plain) {
            warn!("LDAP: passwords travel to the directory as they are");
        }
        Ok(Self {
            config,
            connections: FairSemaphore::new(CONNECTIONS),
        })
    }

    async fn within_the_limit(&self, login: &Login<'_>, begun: Instant) -> Result<External, Error> {
        let is_text = |text: &str, most| (1..=most).contains(&text.chars().count());
        let (username, password) = (login.username, login.password);
        // A directory may read a password up to its first NUL, and take none for an anonymous bind.
        if !is_text(username, LONGEST_NAME)
            || username.contains(char::is_control)
            || !is_text(password, LONGEST_PASSWORD)
            || password.contains('\0')
        {
            return Err(refused("nobody has this name or this password"));
        }
        let limit = self.config.time_limit;
        let (seconds, deadline) = (limit.as_secs(), begun + limit);
        let turn = self.connections.take(login.address.map(Source::from));
        // Whoever comes to it later would have no time left to ask.
        let _turn = timeout_at(begun + limit / 2, turn).await.map_err(|_| {
            let too_many = "Too many sign-ins at once; try again in a moment";
            Error::new(Code::ServiceUnavailable, too_many).retry_after(seconds)
        })?;
        let asked = timeout_at(deadline, self.ask(login)).await;
        asked.unwrap_or_else(|_| Err(unreachable(anyhow!("no answer within {seconds} seconds"))))
    }

    async fn ask(&self, login: &Login<'_>) -> Result<External, Error> {
        let mut directory = Directory::open(&self.config).await.map_err(unreachable)?;
        let found = directory.find(login.username).await.map_err(unreachable)?;
        let entry = match &found[..] {
            [] => return Err(refused("no entry fits the name")),
            [entry] => entry,
            entries => {
                let entries: Vec<_> = entries.iter().map(|entry| &entry.dn).collect();
                return Err(refused(format!("more than one entry fits the name: {entries:?}")));
            }
        };
        let identity = self.identity(entry)?;

        let count = self.count(login, &identity.name).await?;
        login.is_open.store(true, Ordering::Relaxed);
        let proves = match directory.check(&entry.dn, login.password).await {
            Ok(Verdict::Accepted) => Ok(()),
            Ok(Verdict::Refused(why)) => Err(refused(format!("{:?}: {why}", entry.dn))),
            Err(error) => Err(unreachable(error)),
        };
        login.is_open.store(!directory_said(&proves), Ordering::Relaxed);
        if let Some(count) = count.filter(|_| directory_said(&proves)) {
            count.settle(&proves);
        }
        proves?;

        let groups = match &self.config.groups {
            Some(groups) => {
                let names = directory.groups(groups, &entry.dn, &identity.name).await;
                Some(names.map_err(unreachable)?)
            }
            None => None,
        };
        Ok(External {
            identity,
            groups,
            // A directory does not say that an email is verified.
            linking: Linking::Off,
        })
    }

    /// What the directory says of the user. That an email is theirs, it does not.
    fn identity(&self, entry: &Entry) -> Result<Vouched, Error> {
        let lacks = |attribute: &str| {
            let dn = &entry.dn;
            refused(format!(
                "the entry {dn:?} has no {attribute}, or not one that is good"
            ))
        };
        let id = &self.config.id_attribute;
        let name = &self.config.name_attribute;
        Ok(Vouched {
            provider: Provider::Ldap,
            subject: entry.id(id).ok_or_else(|| lacks(id))?,
            name: entry.texts(name).next().ok_or_else(|| lacks(name))?,
            email: entry.texts(&self.config.mail_attribute).next(),
            email_verified: false,
            image: None,
        })
    }

    /// A filter, or the way in which the directory compares names, may fit an entry by many names.
    /// They are one account: a try at another of them counts as one at the entry's own name too.
    /// That it has to wait is not told, as a name that nobody has would not.
    async fn count(&self, login: &Login<'_>, name: &str) -> Result<Option<LoginAttempt>, Error> {
        let resources = login.resources;
        let context = Identity::anonymous().context(login.request_id);
        let name_key = resources.sandbox.name_key(context, name.trim()).await?;
        if name_key == login.name_key {
            return Ok(None);
        }
        let account = ThrottledAccount::new(Provider::Ldap, &name_key);
        let begun = resources.throttle.begin(Some(account), login.address);
        begun
            .map(Some)
            .map_err(|_| refused("too many tries at the entry"))
    }
}

#[async_trait]
impl Vouches for Ldap {
    fn label(&self) -> &str {
        &self.config.label
    }

    async fn authenticate(&self, login: &Login<'_>) -> Result<External, Error> {
        let begun = Instant::now();
        let mut answer = self.within_the_limit(login, begun).await;
        if let Err(error) = &mut answer
            && error.code == Code::Unauthorized
        {
            if let Some(reason) = error.cause.take() {
                info!(request = login.request_id, "LDAP: sign-in refused: {reason}");
            }
            sleep_until(begun + REFUSAL).await;
        }
        answer
    }
}

impl fmt::Debug for Ldap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(formatter)
    }
}

/// Whether it took the password or refused it.
fn directory_said(proves: &Result<(), Error>) -> bool {
    !matches!(proves, Err(error) if error.code == Code::ServiceUnavailable)
}

/// The words of the provider `credentials`. The reason is for the log.
fn refused(reason: impl Into<String>) -> Error {
    Error {
        cause: Some(anyhow!(reason.into())),
        ..Error::new(Code::Unauthorized, "Wrong username or password")
    }
}

fn unreachable(cause: anyhow::Error) -> Error {
    Error {
        cause: Some(cause.context("LDAP")),
        ..Error::new(
            Code::ServiceUnavailable,
            "The directory cannot be reached; try again later",
        )
    }
}
