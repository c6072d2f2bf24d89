//! Sign-in with the password in a directory (LDAP).
//!
//! Invariants:
//! - Input from users is used only as a value in a filter or as the password of a bind. It is never logged.
//! - An anonymous bind signs no one in: neither the password nor the entry's name is ever empty.
//! - An account whose password must be changed first is refused, even if the directory accepts the bind.
//! - All refusals of a password are the same error, and take at least a second.
//! - Who signs in without their password must be found by their id and the filter for users, and be in the required group.
//! - Nothing is hashed. The number of connections, the time to wait for one and the size of responses are limited.

mod directory;
mod entry;
mod fault;
mod filter;
mod settings;
mod sid;
mod verdict;
mod wire;

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::anyhow;
use async_trait::async_trait;
use portico_model::refusal::Refusal;
use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_service::{
    external::{self, Admission, DirectoryUser, External, Groups, Linking, Login, SignUp, Vouched},
    fair_semaphore::FairSemaphore,
    identity::Identity,
    throttle::{LoginAttempt, Source, ThrottledAccount},
};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tracing::{info, warn};

pub use self::settings::LdapSettings;
use self::{
    directory::Directory, entry::Entry, fault::is_set_up_wrong, settings::Config, verdict::Verdict,
    wire::Security,
};

/// The most concurrent connections to the directory.
const CONNECTIONS: usize = 16;

/// The shortest time until a refusal. Otherwise an unknown name would be refused faster than a wrong
/// password, which the directory has to check.
const MIN_REFUSAL_TIME: Duration = Duration::from_secs(1);

/// The longest name and password that are sent to the directory, in characters.
const MAX_NAME: usize = 255;
const MAX_PASSWORD: usize = 1024;

/// Sign-in with a directory.
pub struct Ldap {
    config: Config,
    connections: Arc<FairSemaphore<Option<Source>>>,
}

impl Ldap {
    /// Fails if a setting is wrong, and names it. Does not connect yet.
    pub fn new(settings: LdapSettings) -> anyhow::Result<Self> {
        let config = Config::new(settings)?;
        if matches!(config.server.security, Security::Plain) {
            warn!("LDAP: passwords are sent to the directory unencrypted");
        }
        Ok(Self {
            config,
            connections: FairSemaphore::new(CONNECTIONS),
        })
    }

    /// Tries what sign-ins need, as the service account: bind, bases and filters.
    pub async fn check(&self) -> anyhow::Result<()> {
        let limit = self.config.time_limit;
        let _permit = self.connections.acquire(None).await;
        let checked = timeout(limit, Directory::check(&self.config)).await;
        checked.unwrap_or_else(|_| Err(anyhow!("no answer within {} seconds", limit.as_secs())))
    }

    /// The same, and logs the result.
    pub async fn log_check(&self) {
        match self.check().await {
            Ok(()) => info!("LDAP: the directory answers; bind, bases and filters are right"),
            Err(error) => warn!("LDAP: no one can sign in by the directory: {error:#}"),
        }
    }

    async fn authenticate_in_time(&self, login: &Login<'_>, started: Instant) -> Result<External, Error> {
        let is_text = |text: &str, most| (1..=most).contains(&text.chars().count());
        let (username, password) = (login.username, login.password);
        // A directory may read a password only up to its first NUL. An empty one is an anonymous bind.
        if !is_text(username, MAX_NAME)
            || username.contains(char::is_control)
            || !is_text(password, MAX_PASSWORD)
            || password.contains('\0')
        {
            return Err(refused("the name or the password is not one that can be sent"));
        }
        self.in_time(login.address, started, self.ask(login)).await
    }

    /// Asks the directory for this address, once there is a connection for it.
    async fn in_time<T>(
        &self,
        address: Option<IpAddr>,
        started: Instant,
        ask: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.config.time_limit;
        let (seconds, deadline) = (limit.as_secs(), started + limit);
        let permit = self.connections.acquire(address.map(Source::from));
        // After half the limit, too little time would be left for the directory.
        let _permit = timeout_at(started + limit / 2, permit)
            .await
            .map_err(|_| Error::from(Refusal::TooManySignIns).retry_after(seconds))?;
        let asked = timeout_at(deadline, ask).await;
        asked.unwrap_or_else(|_| Err(unreachable(anyhow!("no answer within {seconds} seconds"))))
    }

    /// Whether the person with this id may sign in, as far as the directory says so without their password.
    async fn look_up(&self, subject: &str) -> Result<Admission, Error> {
        let mut directory = Directory::open(&self.config).await.map_err(unreachable)?;
        let found = directory.find_by_id(subject).await.map_err(unreachable)?;
        let Some(entry) = found else {
            let gone = "ldap-user-filter does not find the entry of the user any more";
            return Ok(Admission::Denied(gone.into()));
        };
        let (Some(groups), Some(_)) = (&self.config.groups, &self.config.required_group) else {
            return Ok(Admission::Granted);
        };
        let Ok(identity) = self.identity(&entry) else {
            return Ok(Admission::Denied(format!(
                "the entry {:?} has no valid name",
                entry.dn
            )));
        };
        let groups = groups_of(&mut directory, groups, &entry, &identity.name).await?;
        Ok(self.admission(&groups))
    }

    async fn ask(&self, login: &Login<'_>) -> Result<External, Error> {
        let mut directory = Directory::open(&self.config).await.map_err(unreachable)?;
        let found = directory.find(login.username).await.map_err(unreachable)?;
        let entry = match &found[..] {
            [] => return Err(refused("no entry matches the name")),
            [entry] => entry,
            entries => {
                let entries: Vec<_> = entries.iter().map(|entry| &entry.dn).collect();
                return Err(refused(format!(
                    "more than one entry matches the name: {entries:?}"
                )));
            }
        };
        let identity = self.identity(entry)?;

        let attempt = self.count_for_entry(login, &identity.name).await?;
        login.is_open.store(true, Ordering::Relaxed);
        let checked = match directory.check_password(&entry.dn, login.password).await {
            Ok(Verdict::Accepted) => Ok(()),
            Ok(Verdict::Refused(why)) => Err(refused(format!("{:?}: {why}", entry.dn))),
            Err(error) => Err(unreachable(error)),
        };
        login.is_open.store(!is_verdict(&checked), Ordering::Relaxed);
        if let Some(attempt) = attempt.filter(|_| is_verdict(&checked)) {
            attempt.settle(&checked).await;
        }
        checked?;

        let groups = match &self.config.groups {
            Some(groups) => groups_of(&mut directory, groups, entry, &identity.name).await?,
            None => Groups::Own,
        };
        let admission = self.admission(&groups);
        Ok(External {
            identity,
            groups,
            group_rules: self.config.group_rules.clone(),
            // A directory does not vouch for emails, so no user can be linked by email.
            linking: Linking::Off,
            is_partial: false,
            admission,
            sign_up: self.config.sign_up(),
        })
    }

    /// Whether these groups contain the required one, by its name in any case, as directories compare names.
    fn admission(&self, groups: &Groups) -> Admission {
        let Some(required) = &self.config.required_group else {
            return Admission::Granted;
        };
        let is_it = |name: &String| name.to_lowercase() == required.to_lowercase();
        match groups {
            Groups::Stated(names) if names.iter().any(is_it) => Admission::Granted,
            Groups::Unknown(why) => Admission::Unknown(why.clone()),
            _ => Admission::Denied(format!("the entry is not in the group {required:?}")),
        }
    }

    /// The identity in an entry. Its email does not count as verified.
    fn identity(&self, entry: &Entry) -> Result<Vouched, Error> {
        let lacks = |attribute: &str| {
            let dn = &entry.dn;
            refused(format!("the entry {dn:?} has no valid {attribute}"))
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

    /// If an attempt has another name than the entry's own, counts it for the entry's own name too. An entry may match
    /// many names, through the filter or through how the directory compares names, but it is one account. If the
    /// account has to wait, the error does not say so, just as it would not for an unknown name.
    async fn count_for_entry(&self, login: &Login<'_>, name: &str) -> Result<Option<LoginAttempt>, Error> {
        let resources = login.resources;
        let context = Identity::anonymous().context(login.request_id);
        let name_key = resources.sandbox.name_key(context, name.trim()).await?;
        if name_key == login.name_key {
            return Ok(None);
        }
        let account = ThrottledAccount::new(Provider::Ldap, &name_key);
        let attempt = resources.throttle.begin(Some(account), login.address).await;
        attempt.map(Some).map_err(|error| match error.code {
            Code::TooManyRequests => refused("too many tries at the entry"),
            _ => error,
        })
    }
}

/// The names of the groups of an entry. If the primary one is not known, memberships stay.
async fn groups_of(
    directory: &mut Directory<'_>,
    groups: &settings::Groups,
    entry: &Entry,
    name: &str,
) -> Result<Groups, Error> {
    let sid = match groups.has_primary.then(|| directory::primary_group(entry)) {
        None => None,
        Some(Ok(sid)) => Some(sid),
        Some(Err(why)) => return Ok(Groups::Unknown(why)),
    };
    let names = directory.groups(groups, &entry.dn, name, sid.as_deref()).await;
    Ok(Groups::Stated(names.map_err(unreachable)?))
}

#[async_trait]
impl external::Directory for Ldap {
    fn label(&self) -> &str {
        &self.config.label
    }

    fn sign_up(&self) -> SignUp {
        self.config.sign_up()
    }

    async fn authenticate(&self, login: &Login<'_>) -> Result<External, Error> {
        let started = Instant::now();
        let mut answer = self.authenticate_in_time(login, started).await;
        if let Err(error) = &mut answer
            && error.code == Code::Unauthorized
        {
            if let Some(reason) = error.cause.take() {
                info!(request = login.request_id, "LDAP: sign-in refused: {reason}");
            }
            sleep_until(started + MIN_REFUSAL_TIME).await;
        }
        answer
    }

    async fn still_has(&self, user: &DirectoryUser<'_>) -> Result<bool, Error> {
        let asked = self.look_up(user.subject);
        match self.in_time(user.address, Instant::now(), asked).await? {
            Admission::Granted => Ok(true),
            Admission::Denied(why) | Admission::Unknown(why) => {
                info!(
                    request = user.request_id,
                    "LDAP: sign-in with a passkey refused: {why}"
                );
                Ok(false)
            }
        }
    }
}

impl fmt::Debug for Ldap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(formatter)
    }
}

/// Whether the directory accepted or refused the password.
fn is_verdict(checked: &Result<(), Error>) -> bool {
    !matches!(checked, Err(error) if error.code == Code::ServiceUnavailable)
}

/// The same message as for the provider `credentials`. The reason is for the log.
fn refused(reason: impl Into<String>) -> Error {
    Error {
        cause: Some(anyhow!(reason.into())),
        ..Refusal::WrongPassword.into()
    }
}

fn unreachable(cause: anyhow::Error) -> Error {
    let refusal = if is_set_up_wrong(&cause) {
        Refusal::DirectoryMisconfigured
    } else {
        Refusal::DirectorySilent
    };
    Error {
        cause: Some(cause.context("LDAP")),
        ..refusal.into()
    }
}
