//! Authentication: by a password, or by an identity provider.

use alloc::string::String;

use crate::bindings::exports::portico::dashboard::sign_in as contract;
use crate::bindings::storage::{
    Account, AccountKey, Constraint, Error as StorageError, NewUser, Profile, Transaction, UserChange,
    UserFilter,
};
use crate::bindings::types::{Error, Id, Provider, Timestamp, User};
use crate::plugin::Plugin;
use crate::transaction::{self, Failure};
use crate::users::{NEW_USERS_COLOR_SCHEME, name_taken, new_user};
use crate::validate::password::MAX as PASSWORD_MAX;
use crate::validate::username::{MAX as USERNAME_MAX, username, visible};
use crate::validate::{self, Checked, Issues, image, text};
use crate::{environment, error, names, password};
use contract::{Identity, Linking, SignedIn};

/// The most characters of a provider's subject.
const SUBJECT_MAX: usize = 1024;

impl contract::Guest for Plugin {
    fn password(username: String, password: String) -> Result<SignedIn, Error> {
        by_password(&username, &password)
    }

    fn external(identity: Identity, linking: Linking) -> Result<SignedIn, Error> {
        by_provider(identity, linking)
    }
}

/// Every failure has the same answer and takes the same work.
fn by_password(username: &str, password: &str) -> Result<SignedIn, Error> {
    // A name or a password that is too long for any user is neither looked up nor hashed, so that long
    // inputs cost nothing. A dashboard may hold names that are too short for new users.
    let name = names::key_to_find(username.trim(), USERNAME_MAX)
        .and_then(|key| text::line(&key, 1..=USERNAME_MAX).ok());
    let password = text::length(password, 0..=PASSWORD_MAX)
        .is_ok()
        .then_some(password);
    let account = match (name, password) {
        (Some(name), Some(_)) => {
            let key = AccountKey::Name((Provider::Credentials, name));
            transaction::read(|transaction| Ok(transaction.find_account(&key)?))?
        }
        _ => None,
    };
    let hash = account
        .as_ref()
        .and_then(|account| account.password_hash.as_deref());
    let password = password.unwrap_or_default();
    let fits = password::verify(password, hash);
    match account {
        Some(account) if fits => {
            replace_outdated(&account, password);
            Ok(SignedIn {
                id: account.id,
                name: account.name,
            })
        }
        _ => Err(error::unauthorized("Wrong username or password")),
    }
}

/// Replaces an outdated hash while the password is at hand. A failure does not matter: the next sign-in
/// tries again.
fn replace_outdated(account: &Account, password: &str) {
    let Some(old) = account.password_hash.as_deref() else {
        return;
    };
    if password::is_outdated(old) {
        let new = password::hash(password);
        let _ =
            transaction::write(|transaction| Ok(transaction.rehash_password_if(&account.id, old, &new)?));
    }
}

fn by_provider(identity: Identity, linking: Linking) -> Result<SignedIn, Error> {
    let person = Person::check(identity)?;
    let now = environment::now();
    transaction::write(|transaction| {
        if !transaction.has_users()? {
            return Err(error::forbidden("The first user is created by onboarding").into());
        }
        let subject = AccountKey::Subject((person.provider, person.subject.clone()));
        let linked = match transaction.find_account(&subject)? {
            Some(account) if account.provider == person.provider => {
                let id = person.bring_up_to_date(transaction, account.id, now)?;
                return Ok(person.signed_in(id));
            }
            Some(account) => Some((account.id, account.name)),
            None => person.link(transaction, linking)?,
        };
        match linked {
            Some((id, name)) => Ok(SignedIn { id, name }),
            None => Ok(person.signed_in(person.insert(transaction, now)?)),
        }
    })
}

/// A person as the provider describes them. An email or a picture that breaks a rule is left out, and
/// they can still sign in.
struct Person {
    provider: Provider,
    subject: String,
    name: String,
    email: Option<String>,
    email_verified: bool,
    image: Option<String>,
}

impl Person {
    fn check(identity: Identity) -> Result<Self, Error> {
        let mut issues = Issues::default();
        issues.check("provider", external(identity.provider));
        issues.check("subject", text::length(&identity.subject, 1..=SUBJECT_MAX));
        let name = issues.check("name", username(&identity.name));
        issues.finish()?;
        Ok(Self {
            provider: identity.provider,
            subject: identity.subject,
            name,
            email: identity
                .email
                .and_then(|email| validate::email::email(&email).ok()),
            email_verified: identity.email_verified,
            image: identity.image.and_then(|picture| image::external(&picture).ok()),
        })
    }

    fn signed_in(&self, id: Id) -> SignedIn {
        SignedIn {
            id,
            name: self.name.clone(),
        }
    }

    /// Links the person to the user of `credentials` with the same email, if linking allows it. Returns that
    /// user's id and name.
    fn link(&self, transaction: &Transaction, linking: Linking) -> Result<Option<(Id, String)>, Failure> {
        let Some(email) = self.email.as_ref().filter(|_| self.email_verified) else {
            return Ok(None);
        };
        if linking == Linking::Off {
            return Ok(None);
        }
        let users = transaction.list_users(&UserFilter {
            provider: Some(Provider::Credentials),
            name_contains: None,
            email: Some(email.clone()),
            limit: Some(2),
        })?;
        // If two users have the same email, it does not tell which of them it is.
        let Ok([user]) = <[_; 1]>::try_from(users) else {
            return Ok(None);
        };
        if linking == Linking::Verified && user.email_verified.is_none() {
            return Ok(None);
        }
        let linked = transaction.insert_identity(&user.id, self.provider, &self.subject);
        linked.map_err(|error| match error {
            StorageError::Constraint(Constraint::Identity) => Failure::from(error::conflict(
                "Another account of the provider is linked to the user",
            )),
            other => other.into(),
        })?;
        Ok(Some((user.id, user.name)))
    }

    fn insert(&self, transaction: &Transaction, now: Timestamp) -> Result<Id, Failure> {
        validate::field("name", visible(&self.name))?;
        let id = environment::new_id();
        let user = User {
            email: self.email.clone(),
            email_verified: self.verified_since(None, now),
            image: self.image.clone(),
            ..new_user(id.clone(), self.provider, self.name.clone())
        };
        let user = NewUser {
            user,
            name_key: names::key(&self.name),
            color_scheme: NEW_USERS_COLOR_SCHEME,
            password_hash: None,
        };
        transaction.insert_user(&user).map_err(name_taken)?;
        transaction
            .insert_identity(&id, self.provider, &self.subject)
            .map_err(|error| match error {
                // Another call inserted the same person at the same moment: the next attempt finds them.
                StorageError::Constraint(Constraint::Identity) => StorageError::Retry,
                other => other,
            })?;
        Ok(id)
    }

    fn bring_up_to_date(&self, transaction: &Transaction, id: Id, now: Timestamp) -> Result<Id, Failure> {
        let Some(user) = transaction.get_user(&id)? else {
            return Err(StorageError::Retry.into());
        };
        if self.name != names::key(&user.name) {
            validate::field("name", visible(&self.name))?;
        }
        let profile = Profile {
            name: self.name.clone(),
            name_key: names::key(&self.name),
            email: self.email.clone(),
            email_verified: self.verified_since(Some(&user), now),
        };
        if (&profile.name, &profile.email, profile.email_verified)
            != (&user.name, &user.email, user.email_verified)
        {
            transaction
                .update_user(&id, &UserChange::Profile(profile))
                .map_err(name_taken)?;
        }
        let image = self.image_after(user.image.as_deref());
        if image != user.image {
            transaction.update_user(&id, &UserChange::Image(image))?;
        }
        Ok(id)
    }

    /// When the email was verified: the first time, as long as it stays the same.
    fn verified_since(&self, user: Option<&User>, now: Timestamp) -> Option<Timestamp> {
        let since = user
            .filter(|user| user.email == self.email)
            .and_then(|user| user.email_verified);
        (self.email.is_some() && self.email_verified).then(|| since.unwrap_or(now))
    }

    /// The provider's picture, unless the user has set an image: that is a data URI.
    fn image_after(&self, present: Option<&str>) -> Option<String> {
        match present {
            Some(present) if image::data_uri(present).is_ok() => Some(present.into()),
            _ => self.image.clone(),
        }
    }
}

fn external(provider: Provider) -> Checked<()> {
    match provider {
        Provider::Oidc | Provider::Ldap => Ok(()),
        Provider::Credentials => Err(String::from("must be an external provider")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            provider: Provider::Oidc,
            subject: "https://issuer 42".into(),
            name: " Alice ".into(),
            email: Some("alice@example.com".into()),
            email_verified: true,
            image: Some("https://example.com/alice.png".into()),
        }
    }

    #[test]
    fn a_name_from_a_provider_keeps_the_rules_of_usernames() {
        assert_eq!(
            Person::check(identity())
                .ok()
                .map(|person| person.name)
                .as_deref(),
            Some("alice")
        );
        let error = Person::check(Identity {
            provider: Provider::Credentials,
            subject: String::new(),
            name: "a\0".into(),
            ..identity()
        });
        assert_eq!(error.err().map(|error| error.issues.len()), Some(3));
        assert!(
            Person::check(Identity {
                subject: "s".repeat(1025),
                ..identity()
            })
            .is_err()
        );
    }

    #[test]
    fn an_email_or_a_picture_that_breaks_a_rule_is_left_out() {
        let person = Person::check(Identity {
            email: Some("nonsense".into()),
            image: Some("javascript:alert(1)".into()),
            ..identity()
        });
        let person = person.ok().unwrap();
        assert_eq!((person.email.as_deref(), person.image.as_deref()), (None, None));
        assert_eq!(person.verified_since(None, 9), None);
    }

    #[test]
    fn an_email_is_verified_since_the_first_time() {
        let person = Person::check(identity()).ok().unwrap();
        let user = |email: &str| User {
            email: Some(email.into()),
            email_verified: Some(5),
            ..new_user("id".into(), Provider::Oidc, "alice".into())
        };
        assert_eq!(person.verified_since(None, 9), Some(9));
        assert_eq!(
            person.verified_since(Some(&user("alice@example.com")), 9),
            Some(5)
        );
        assert_eq!(person.verified_since(Some(&user("old@example.com")), 9), Some(9));
        let unverified = Person::check(Identity {
            email_verified: false,
            ..identity()
        })
        .ok()
        .unwrap();
        assert_eq!(
            unverified.verified_since(Some(&user("alice@example.com")), 9),
            None
        );
    }

    #[test]
    fn a_picture_follows_the_provider_unless_the_user_set_one() {
        let person = Person::check(identity()).ok().unwrap();
        let link = Some("https://example.com/alice.png".into());
        let own = "data:image/gif;base64,R0lGODdh";
        assert_eq!(person.image_after(None), link);
        assert_eq!(person.image_after(Some("https://example.com/old.png")), link);
        assert_eq!(person.image_after(Some(own)).as_deref(), Some(own));
        let without = Person::check(Identity {
            image: None,
            ..identity()
        })
        .ok()
        .unwrap();
        assert_eq!(without.image_after(Some("https://example.com/old.png")), None);
    }
}
