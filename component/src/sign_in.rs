//! Authentication: by a password, or by an identity provider.

use alloc::format;
use alloc::string::String;

use portico_rules::bounds;
use portico_rules::refusal::Refusal;
use portico_rules::rule::Rule;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::sign_in as contract;
use crate::bindings::storage::{
    Account, AccountKey, Constraint, Error as StorageError, NewUser, Profile, ProviderSubject, Slice,
    Transaction, UserFilter,
};
use crate::bindings::types::{Context, Error, Provider, Timestamp, User};
use crate::password::{self, Fit};
use crate::transaction::{self, Failure};
use crate::users::{NEW_USERS_COLOR_SCHEME, account_key, name_taken, new_user};
use crate::validate::username::{username_of, visible};
use crate::validate::{self, Checked, Issues, image, text};
use crate::{environment, error, names};
use contract::{Identity, Linking, SignedIn};

/// The most characters that the name of a user has.
const USERNAME_MAX: usize = *bounds::USERNAME.end();
/// The most characters of a provider's subject.
const SUBJECT_MAX: usize = 1024;

impl contract::Guest for Plugin {
    fn password(context: Context, username: String, password: String) -> Result<SignedIn, Error> {
        by_password(&context, &username, &password)
    }

    fn external(context: Context, identity: Identity, linking: Linking) -> Result<SignedIn, Error> {
        by_provider(&context, identity, linking)
    }
}

/// Every failure returns the same error after the same work.
fn by_password(context: &str, username: &str, password: &str) -> Result<SignedIn, Error> {
    // A name that is too long for any user is not looked up. A dashboard may have names that are too short for new users.
    let name = names::key_to_find(username.trim(), USERNAME_MAX)
        .and_then(|key| text::line(&key, 1..=USERNAME_MAX).ok());
    let account = match name {
        Some(name) => {
            let key = account_key(Provider::Credentials, &name);
            transaction::lookup(context, |transaction| Ok(transaction.get_account(&key)?))?
        }
        None => None,
    };
    let hash = account
        .as_ref()
        .and_then(|account| account.password_hash.as_deref());
    let fit = password::verify(password, hash);
    match account {
        Some(account) if fit != Fit::No && !account.disabled => {
            replace_outdated(context, &account, password, fit);
            Ok(signed_in(account))
        }
        _ => Err(wrong_password()),
    }
}

fn signed_in(account: Account) -> SignedIn {
    SignedIn {
        id: account.id,
        name: account.name,
        password_version: account.password_version,
    }
}

/// The error for an unknown user, a wrong password and a disabled user, for every provider.
fn wrong_password() -> Error {
    Refusal::WrongPassword.into()
}

/// Replaces an outdated hash, or one of another form of the password, while the password is known. A failure does not
/// matter, because the next sign-in tries again.
fn replace_outdated(context: &str, account: &Account, password: &str, fit: Fit) {
    let Some(old) = account.password_hash.as_deref() else {
        return;
    };
    if fit == Fit::AsSent || password::is_outdated(old) {
        let new = password::hash(password);
        let _ = transaction::write(context, |transaction| {
            Ok(transaction.rehash_password_if(&account.id, old, &new)?)
        });
    }
}

fn by_provider(context: &str, identity: Identity, linking: Linking) -> Result<SignedIn, Error> {
    let person = Person::check(identity)?;
    let now = environment::now();
    transaction::write(context, |transaction| {
        if !transaction.has_users()? {
            return Err(Refusal::OnboardingFirst.into());
        }
        let Some(account) = person.find(transaction, linking)? else {
            return person.insert(transaction, now);
        };
        if account.disabled {
            return Err(wrong_password().into());
        }
        if account.provider != person.provider {
            return Ok(signed_in(account));
        }
        let name = person.bring_up_to_date(transaction, &account.id, now)?;
        Ok(SignedIn {
            name,
            ..signed_in(account)
        })
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
        issues.check("subject", subject(&identity.subject));
        let name = issues.check("name", username_of(identity.provider, &identity.name));
        issues.finish()?;
        Ok(Self {
            provider: identity.provider,
            subject: identity.subject,
            name,
            email: identity
                .email
                .and_then(|email| validate::email::email(&email).ok()),
            email_verified: identity.email_verified,
            image: identity
                .image
                .and_then(|picture| image::new(&image::external(&picture).ok()?).ok()),
        })
    }

    fn subject(&self) -> ProviderSubject {
        ProviderSubject {
            provider: self.provider,
            subject: self.subject.clone(),
        }
    }

    /// The account of this person. At the first sign-in it may be an existing one: that of a user of `credentials` with
    /// the same email, or of a user who was created for this person.
    fn find(&self, transaction: &Transaction, linking: Linking) -> Result<Option<Account>, Failure> {
        if let Some(account) = transaction.get_account(&AccountKey::Subject(self.subject()))? {
            return Ok(Some(account));
        }
        match self.link(transaction, linking)? {
            Some(account) => Ok(Some(account)),
            None => self.adopt(transaction, linking),
        }
    }

    /// Links the person to the user of `credentials` with the same email, if linking allows it. Returns that
    /// user's account.
    fn link(&self, transaction: &Transaction, linking: Linking) -> Result<Option<Account>, Failure> {
        let Some(email) = self.email_to_link(linking) else {
            return Ok(None);
        };
        let filter = UserFilter {
            provider: Some(Provider::Credentials),
            name_contains: None,
            email: Some(email.into()),
            disabled: None,
        };
        let two = Slice {
            offset: 0,
            limit: Some(2),
        };
        let users = transaction.list_users(&filter, two, false)?;
        // If two users have the same email, it does not say which of them the person is.
        let Ok([user]) = <[_; 1]>::try_from(users) else {
            return Ok(None);
        };
        if !is_linked(linking, user.email_verified) {
            return Ok(None);
        }
        let linked = transaction.insert_identity(&user.id, &self.subject());
        linked.map_err(|error| match error {
            StorageError::Constraint(Constraint::Identity) => Failure::from(Refusal::ProviderAccountTaken),
            other => other.into(),
        })?;
        Ok(transaction.get_account(&AccountKey::Id(user.id))?)
    }

    /// Links the person to the provider's user with the same name who has no subject yet: `state.put-users` creates
    /// such users. In a directory the name is enough, because the directory decides who has it. At an issuer people may
    /// choose their names, so there the email must also be the same, and linking must allow it. Returns that user's
    /// account.
    fn adopt(&self, transaction: &Transaction, linking: Linking) -> Result<Option<Account>, Failure> {
        let Some(account) = transaction.get_account(&account_key(self.provider, &self.name))? else {
            return Ok(None);
        };
        if self.provider != Provider::Ldap {
            let user = transaction.get_user(&account.id)?.ok_or(StorageError::Retry)?;
            let email = self.email_to_link(linking);
            if email.is_none() || email != user.email.as_deref() || !is_linked(linking, user.email_verified) {
                return Err(error::name_taken().into());
            }
        }
        let linked = transaction.insert_identity(&account.id, &self.subject());
        linked.map_err(|error| match error {
            // Another person of the provider has been this user.
            StorageError::Constraint(Constraint::Identity) => error::name_taken().into(),
            other => Failure::from(other),
        })?;
        Ok(Some(account))
    }

    /// The email by which the person may be linked to a user, if linking allows that.
    fn email_to_link(&self, linking: Linking) -> Option<&str> {
        let email = self.email.as_deref();
        email.filter(|_| self.email_verified && linking != Linking::Off)
    }

    fn insert(&self, transaction: &Transaction, now: Timestamp) -> Result<SignedIn, Failure> {
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
            .insert_identity(&id, &self.subject())
            .map_err(|error| match error {
                // Another call has inserted the same person at the same moment: the next attempt finds them.
                StorageError::Constraint(Constraint::Identity) => StorageError::Retry,
                other => other,
            })?;
        Ok(SignedIn {
            id,
            name: self.name.clone(),
            password_version: 0,
        })
    }

    /// Updates what the provider says of a known person, and returns the name that the user has then.
    fn bring_up_to_date(
        &self,
        transaction: &Transaction,
        id: &str,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let Some(user) = transaction.get_user(id)? else {
            return Err(StorageError::Retry.into());
        };
        let name = self.name_after(transaction, &user)?;
        let profile = Profile {
            name_key: names::key(&name),
            name: name.clone(),
            email: self.email.clone(),
            email_verified: self.verified_since(Some(&user), now),
        };
        if (&profile.name, &profile.email, profile.email_verified)
            != (&user.name, &user.email, user.email_verified)
        {
            transaction.set_profile(id, &profile).map_err(name_taken)?;
        }
        let image = self.image_after(user.image.as_deref());
        if image != user.image {
            transaction.set_image(id, image.as_deref())?;
        }
        Ok(name)
    }

    /// The name that a known person has from now on: the provider's, unless another user has it. Two people may have
    /// swapped their names there, and neither is to be locked out.
    fn name_after(&self, transaction: &Transaction, user: &User) -> Result<String, Failure> {
        if self.name == names::key(&user.name) {
            return Ok(self.name.clone());
        }
        validate::field("name", visible(&self.name))?;
        let holder = transaction.get_account(&account_key(self.provider, &self.name))?;
        if holder.is_some_and(|holder| holder.id != user.id) {
            environment::log_warning(&format!(
                "the provider gives a user the name {:?}, which another user has: they keep the name {:?} ({})",
                self.name, user.name, user.id
            ));
            return Ok(user.name.clone());
        }
        Ok(self.name.clone())
    }

    /// When the email was first verified, as long as it stays the same.
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

/// Whether a user is linked whose email is the person's and was verified here at this moment.
fn is_linked(linking: Linking, verified: Option<Timestamp>) -> bool {
    match linking {
        Linking::Off => false,
        Linking::Verified => verified.is_some(),
        Linking::Unverified => true,
    }
}

fn subject(subject: &str) -> Checked<()> {
    text::length(subject, 1..=SUBJECT_MAX)?;
    match text::is_storable(subject) {
        true => Ok(()),
        false => Err(Rule::NulCharacter),
    }
}

fn external(provider: Provider) -> Checked<()> {
    match provider {
        Provider::Oidc | Provider::Ldap => Ok(()),
        Provider::Credentials => Err(Rule::NotExternalProvider),
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
        for subject in ["s".repeat(1025), "a\0b".into()] {
            let identity = Identity {
                subject,
                ..identity()
            };
            assert!(Person::check(identity).is_err());
        }
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
