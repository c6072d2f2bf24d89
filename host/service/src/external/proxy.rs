//! Users for whom a proxy in front vouches with each request.
//!
//! Invariants:
//! - A person is known by the name that the proxy has for them, at the issuer `proxy` of the provider `oidc`. No URL is
//!   written like that, so nobody of another issuer is the same person.
//! - No session begins: each request is looked at by itself, and a user who is disabled is refused with the next one.
//! - What the proxy says of a person is stored when it changes, and once an hour, in the transaction of a sign-in.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use portico_model::{
    Provider, Timestamp,
    error::{Code, Error},
};
use portico_storage::{SecretHash, hash_secret};

use super::{
    sign_in::{SignIn, take_up},
    vouched::{Admission, External, Groups, Linking, Vouched, unusable_account},
};
use crate::{
    identity::{self, Identity},
    resources::Resources,
};

/// The name of the issuer.
const ISSUER: &str = "proxy";

/// What a proxy says is stored anew after this time, in milliseconds.
const REFRESH: Timestamp = 60 * 60 * 1000;

/// A person who was refused is not looked at for this time, in milliseconds.
const REFUSED: Timestamp = 10 * 1000;

/// The most people who are remembered.
const MOST_KNOWN: usize = 10_000;

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

/// The people for whom a proxy has vouched.
#[derive(Default)]
pub struct ProxyUsers(Mutex<HashMap<String, Known>>);

struct Known {
    /// The hash of what the proxy said of them.
    said: SecretHash,
    at: Timestamp,
    /// Their user; `None` if they were refused.
    user_id: Option<String>,
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
        let now = resources.clock.now();
        let said = hash_secret(&format!("{user:?}"));
        match self.find(&user.user, &said, now) {
            Some(None) => return Err(unusable_account()),
            Some(Some(id)) => {
                if let Some(identity) = identity::of_vouched(resources, &id, request_id).await? {
                    return Ok(identity);
                }
            }
            None => {}
        }
        if !resources.has_users(request_id).await? {
            return Ok(Identity::anonymous());
        }
        let taken = Box::pin(self.take_up(resources, user, address, request_id)).await;
        let user_id = match taken {
            Ok(id) => Some(id),
            Err(error) if matches!(error.code, Code::Unauthorized | Code::Forbidden) => {
                let audit = &resources.audit;
                audit.refuse_sign_in(Provider::Oidc, None, address, request_id, &error);
                None
            }
            Err(error) => return Err(error),
        };
        self.remember(&user.user, said, now, user_id.clone());
        let found = match user_id {
            Some(id) => identity::of_vouched(resources, &id, request_id).await?,
            None => None,
        };
        found.ok_or_else(unusable_account)
    }

    /// Makes the person a user, or brings their user up to date. Returns the user's id.
    async fn take_up(
        &self,
        resources: &Resources,
        user: &ProxyUser,
        address: Option<IpAddr>,
        request_id: &str,
    ) -> Result<String, Error> {
        let mut sender = Identity::anonymous();
        sender.address = address;
        let request = SignIn {
            resources,
            times: None,
            sender: &sender,
            request_id,
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
            linking: Linking::Off,
            is_partial: true,
            admission: Admission::Granted,
            may_sign_up: user.may_sign_up,
        };
        Ok(take_up(&request, external).await?.id)
    }

    /// What is known of a person of whom the proxy says this: their user, or that they were refused.
    fn find(&self, user: &str, said: &SecretHash, now: Timestamp) -> Option<Option<String>> {
        let known = self.known();
        let known = known.get(user).filter(|known| known.said == *said)?;
        let lasts = known.user_id.as_ref().map_or(REFUSED, |_| REFRESH);
        // A clock that was set back does not make it last longer.
        let is_recent = (known.at..known.at.saturating_add(lasts)).contains(&now);
        is_recent.then(|| known.user_id.clone())
    }

    fn remember(&self, user: &str, said: SecretHash, at: Timestamp, user_id: Option<String>) {
        let mut known = self.known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(user.to_owned(), Known { said, at, user_id });
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_known_for_an_hour_and_refused_for_ten_seconds_as_long_as_the_proxy_says_the_same() {
        let users = ProxyUsers::default();
        let (one, other) = (hash_secret("one"), hash_secret("other"));
        users.remember("ada", one, 1_000, Some("id".into()));
        users.remember("eve", one, 1_000, None);
        for (user, said, now, expected) in [
            ("ada", one, 1_000, Some(Some("id".to_owned()))),
            ("ada", one, 1_000 + REFRESH - 1, Some(Some("id".into()))),
            ("ada", one, 1_000 + REFRESH, None),
            ("ada", one, 999, None),
            ("ada", other, 1_000, None),
            ("Ada", one, 1_000, None),
            ("eve", one, 1_000 + REFUSED - 1, Some(None)),
            ("eve", one, 1_000 + REFUSED, None),
            ("eve", other, 1_000, None),
        ] {
            assert_eq!(users.find(user, &said, now), expected, "{user} at {now}");
        }
        for number in 0..=MOST_KNOWN {
            users.remember(&number.to_string(), one, 1, None);
        }
        assert!(users.known().len() <= MOST_KNOWN);
    }
}
