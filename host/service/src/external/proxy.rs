//! Users for whom a proxy in front vouches with each request.
//!
//! Invariants:
//! - A person is known by the name that the proxy has for them, at the issuer `proxy` of the provider `oidc`. No URL is
//!   written like that, so nobody of another issuer is the same person.
//! - No session begins: each request is looked at by itself, and a user who is disabled is refused with the next one.
//! - What the proxy says of a person is stored when it changes, and once an hour, in the transaction of a sign-in: a group
//!   that it takes away at once, and everything else at most once a minute. So headers that change with each request
//!   cause no write with each: only what was added can be taken away.
//! - Whatever else changes their memberships, such as another host to which the proxy said something else: one that this
//!   host did not store is gone with the next request.
//! - Of requests of one person at the same time, one stores what the proxy says, and the others find that.

use std::{
    array,
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portico_model::{
    Provider, Timestamp,
    error::{Code, Error},
};
use portico_storage::Access;

use super::{
    sign_in::{SignIn, find_user, take_up},
    vouched::{Admission, External, Groups, Linking, SignUp, Vouched, unusable_account},
};
use crate::{
    identity::{self, Identity},
    resources::Resources,
};

/// The name of the issuer.
pub(super) const ISSUER: &str = "proxy";

/// Whether a subject of the provider `oidc` is that of a person for whom a proxy vouches.
pub(crate) fn is_of_proxy(subject: &str) -> bool {
    subject
        .split_once(' ')
        .is_some_and(|(issuer, _)| issuer == ISSUER)
}

/// What a proxy says is stored anew after this time, in milliseconds.
const REFRESH: Timestamp = 60 * 60 * 1000;

/// What is not taken away is stored at most once in this time, in milliseconds.
const ADDED: Timestamp = 60 * 1000;

/// A person who was refused is not looked at for this time, in milliseconds.
const REFUSED: Timestamp = 10 * 1000;

/// The most people who are remembered.
const MOST_KNOWN: usize = 10_000;

/// How many people can be stored at the same time, at most. Some wait for others without need.
const TURNS: usize = 64;

/// A person, as a proxy describes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyUser {
    /// What identifies them at the proxy.
    pub user: String,
    /// Their name here.
    pub name: String,
    /// Their email, if the proxy says it.
    pub email: Option<String>,
    /// The names of their groups, if the proxy manages them.
    pub groups: Option<Vec<String>>,
    /// Whether a person who has no user yet becomes a new one.
    pub may_sign_up: bool,
}

impl ProxyUser {
    /// The same, without the groups that are not among those of `now`.
    fn without_groups_that_left(&self, now: &Self) -> Self {
        let remaining: HashSet<&String> = now.groups.iter().flatten().collect();
        let mut less = self.clone();
        if let Some(groups) = &mut less.groups {
            groups.retain(|group| remaining.contains(group));
        }
        less
    }
}

/// The people for whom a proxy has vouched.
pub struct ProxyUsers {
    known: Mutex<HashMap<String, Known>>,
    /// Held while a person is stored: which one is by the hash of what identifies them.
    turns: [tokio::sync::Mutex<()>; TURNS],
    hasher: RandomState,
}

impl Default for ProxyUsers {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            turns: array::from_fn(|_| tokio::sync::Mutex::default()),
            hasher: RandomState::new(),
        }
    }
}

struct Known {
    /// What the proxy said of them, as it was stored.
    said: ProxyUser,
    at: Timestamp,
    /// When all that it said was stored.
    whole_at: Timestamp,
    /// Their user; `None` if they were refused.
    user: Option<KnownUser>,
}

/// The user of a person, as they were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownUser {
    id: String,
    /// The ids of their groups.
    memberships: Vec<String>,
}

/// What is done about a person of whom the proxy says something.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// They were refused a moment ago.
    Refuse,
    /// Nothing: this user is theirs.
    Use(KnownUser),
    /// All that it says is stored.
    Store,
    /// Only this is stored: what was stored, without the groups that it takes away.
    Reduce(ProxyUser),
}

impl ProxyUsers {
    /// The sender of a request, for whom a proxy vouches. Anonymous as long as no user exists.
    pub async fn identify(
        &self,
        resources: &Resources,
        user: &ProxyUser,
        address: Option<IpAddr>,
        request_id: &str,
    ) -> Result<Identity, Error> {
        if let Recalled::Identity(identity) = self.recall(resources, user, request_id).await? {
            return Ok(*identity);
        }
        let turn = self.hasher.hash_one(&user.user) as usize % TURNS;
        let _turn = resources
            .in_time(async { Ok(self.turns[turn].lock().await) })
            .await?;
        let reduced = match self.recall(resources, user, request_id).await? {
            Recalled::Identity(identity) => return Ok(*identity),
            Recalled::Reduced(less) => Some(less),
            Recalled::Nothing => None,
        };
        let said = reduced.as_ref().unwrap_or(user);
        if !resources.has_users(request_id).await? {
            return Ok(Identity::anonymous());
        }
        let now = resources.clock.now();
        let known = self.take_up(resources, said, address, request_id).await?;
        self.remember(said, now, known.clone(), reduced.is_none());
        let found = match known {
            Some(known) => find(resources, &known.id, request_id).await?,
            None => None,
        };
        let (identity, _) = found.ok_or_else(unusable_account)?;
        Ok(identity)
    }

    /// The user whom the person is known as, if nothing is to be stored.
    async fn recall(
        &self,
        resources: &Resources,
        user: &ProxyUser,
        request_id: &str,
    ) -> Result<Recalled, Error> {
        let now = resources.clock.now();
        let known = match self.next(user, now) {
            Next::Refuse => return Err(unusable_account()),
            Next::Store => return Ok(Recalled::Nothing),
            Next::Reduce(less) => return Ok(Recalled::Reduced(less)),
            Next::Use(known) => known,
        };
        let Some((identity, memberships)) = find(resources, &known.id, request_id).await? else {
            return Ok(Recalled::Nothing);
        };
        let says_groups = user.groups.is_some();
        let is_stored = |group: &String| known.memberships.contains(group);
        if says_groups && !memberships.iter().all(is_stored) {
            return Ok(Recalled::Nothing);
        }
        // One that is gone comes back as what is new does: once a minute.
        let is_less = memberships.len() < known.memberships.len();
        if says_groups && is_less && self.may_store_all(user, now) {
            return Ok(Recalled::Nothing);
        }
        Ok(Recalled::Identity(Box::new(identity)))
    }

    /// Makes the person a user, or brings their user up to date; `None` if they are refused.
    async fn take_up(
        &self,
        resources: &Resources,
        user: &ProxyUser,
        address: Option<IpAddr>,
        request_id: &str,
    ) -> Result<Option<KnownUser>, Error> {
        let mut sender = Identity::anonymous();
        sender.address = address;
        let audit = &resources.audit;
        let request = SignIn {
            resources,
            times: None,
            sender: &sender,
            request_id,
            invitation: None,
        };
        let external = External {
            identity: Vouched {
                provider: Provider::Oidc,
                subject: format!("{ISSUER} {}", user.user),
                name: user.name.clone(),
                email: user.email.clone(),
                email_verified: false,
                image: None,
            },
            groups: user.groups.clone().map_or(Groups::Own, Groups::Stated),
            group_rules: Arc::default(),
            linking: Linking::Off,
            is_partial: true,
            states_verification: true,
            admission: Admission::Granted,
            sign_up: match user.may_sign_up {
                true => SignUp::On,
                false => SignUp::Off,
            },
        };
        let identity = external.identity.clone();
        match Box::pin(take_up(&request, external)).await {
            Ok((user, memberships)) => {
                audit.signed_in(Provider::Oidc);
                let id = user.id;
                Ok(Some(KnownUser { id, memberships }))
            }
            Err(error) if matches!(error.code, Code::Unauthorized | Code::Forbidden) => {
                let user_id = find_user(resources, &identity, request_id).await;
                audit.refuse_vouched(user_id.unwrap_or_default(), address, request_id, &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What is done about a person of whom the proxy says this.
    fn next(&self, user: &ProxyUser, now: Timestamp) -> Next {
        let is_within = |at: Timestamp, lasts| is_within(at, lasts, now);
        let known = self.known();
        let Some(known) = known.get(&user.user) else {
            return Next::Store;
        };
        let Some(found) = &known.user else {
            let is_same = known.said == *user && is_within(known.at, REFUSED);
            return if is_same { Next::Refuse } else { Next::Store };
        };
        if known.said == *user && is_within(known.at, REFRESH) {
            return Next::Use(found.clone());
        }
        if !is_within(known.whole_at, ADDED) {
            return Next::Store;
        }
        let less = known.said.without_groups_that_left(user);
        if less == known.said {
            Next::Use(found.clone())
        } else {
            Next::Reduce(less)
        }
    }

    /// Whether all that the proxy says of a person was stored long enough ago.
    fn may_store_all(&self, user: &ProxyUser, now: Timestamp) -> bool {
        let known = self.known();
        let known = known.get(&user.user);
        known.is_none_or(|known| !is_within(known.whole_at, ADDED, now))
    }

    /// Remembers what was stored, or that the person was refused. `is_whole` if it was all that the proxy said.
    fn remember(&self, said: &ProxyUser, at: Timestamp, user: Option<KnownUser>, is_whole: bool) {
        let mut known = self.known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let before = known.get(&said.user).map(|known| known.whole_at);
        let whole_at = before.filter(|_| !is_whole).unwrap_or(at);
        let said = said.clone();
        let person = Known {
            said,
            at,
            whole_at,
            user,
        };
        known.insert(person.said.user.clone(), person);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a person at this moment.
enum Recalled {
    /// Their user: nothing is to be stored.
    Identity(Box<Identity>),
    /// All that the proxy says is to be stored.
    Nothing,
    /// Only this is.
    Reduced(ProxyUser),
}

/// A user, and the ids of their groups; `None` if there is no such user, or if they are disabled.
async fn find(
    resources: &Resources,
    user_id: &str,
    request_id: &str,
) -> Result<Option<(Identity, Vec<String>)>, Error> {
    let context = Identity::anonymous().context(request_id);
    let storage = &resources.storage;
    let mut transaction = storage.begin_dashboard(Access::Read, &context).await?;
    let identity = identity::find_vouched(&mut *transaction, user_id).await?;
    if identity.caller.is_none() {
        return Ok(None);
    }
    let memberships = transaction.list_memberships(user_id).await?;
    Ok(Some((identity, memberships)))
}

/// Whether a moment is less than this long ago. A clock that was set back does not make anything last longer.
fn is_within(at: Timestamp, lasts: Timestamp, now: Timestamp) -> bool {
    (at..at.saturating_add(lasts)).contains(&now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(user: &str, groups: &[&str]) -> ProxyUser {
        ProxyUser {
            user: user.into(),
            name: user.into(),
            email: None,
            groups: Some(groups.iter().map(|name| (*name).to_owned()).collect()),
            may_sign_up: true,
        }
    }

    fn known_user() -> Option<KnownUser> {
        let (id, memberships) = ("id".into(), Vec::new());
        Some(KnownUser { id, memberships })
    }

    #[test]
    fn a_person_is_known_for_an_hour_and_refused_for_ten_seconds_as_long_as_the_proxy_says_the_same() {
        let users = ProxyUsers::default();
        let (ada, eve) = (person("ada", &["a"]), person("eve", &["a"]));
        users.remember(&ada, 1_000, known_user(), true);
        users.remember(&eve, 1_000, None, true);
        let known = || Next::Use(known_user().unwrap());
        for (user, now, expected) in [
            (&ada, 1_000, known()),
            (&ada, 1_000 + REFRESH - 1, known()),
            (&ada, 1_000 + REFRESH, Next::Store),
            (&ada, 999, Next::Store),
            (&person("Ada", &["a"]), 1_000, Next::Store),
            (&eve, 1_000 + REFUSED - 1, Next::Refuse),
            (&eve, 1_000 + REFUSED, Next::Store),
            (&person("eve", &[]), 1_000, Next::Store),
        ] {
            assert_eq!(users.next(user, now), expected, "{user:?} at {now}");
        }
        for number in 0..=MOST_KNOWN {
            users.remember(&person(&number.to_string(), &[]), 1, None, true);
        }
        assert!(users.known().len() <= MOST_KNOWN);
    }

    #[test]
    fn what_the_proxy_takes_away_counts_at_once_and_what_it_adds_once_a_minute() {
        let users = ProxyUsers::default();
        let known = || Next::Use(known_user().unwrap());
        let named = |name: &str, groups: &[&str]| ProxyUser {
            name: name.into(),
            email: Some("new@example.com".into()),
            ..person("ada", groups)
        };
        users.remember(&person("ada", &["a", "b"]), 0, known_user(), true);
        for (said, now, expected) in [
            (person("ada", &["b", "a"]), 1, known()),
            (person("ada", &["a", "b", "c"]), ADDED - 1, known()),
            (person("ada", &["a", "b", "c"]), ADDED, Next::Store),
            (named("Ada", &["a", "b"]), ADDED - 1, known()),
            (named("Ada", &["a", "b"]), ADDED, Next::Store),
            // Another group instead of one: only the one goes.
            (named("Ada", &["a", "c"]), 1, Next::Reduce(person("ada", &["a"]))),
        ] {
            assert_eq!(users.next(&said, now), expected, "{said:?} at {now}");
        }
        // However the headers change, there are as many writes in a minute as groups, and one.
        let mut writes = 0;
        for now in 1..1_000 {
            let said = person("ada", [&["a"][..], &["b"], &["c"], &["a", "b"]][now as usize % 4]);
            match users.next(&said, now) {
                Next::Use(_) => {}
                Next::Reduce(less) => {
                    writes += 1;
                    users.remember(&less, now, known_user(), false);
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(writes <= 2, "{writes}");
        assert_eq!(users.next(&person("ada", &["a", "b"]), ADDED), Next::Store);
    }
}
