//! Users as a document states them: see `wit/state.wit`.

use alloc::string::String;
use alloc::vec::Vec;

use portico_rules::bounds;
use portico_rules::rule::Rule;

use super::profile::profile_after;
use super::user::{NEW_USERS_COLOR_SCHEME, account_key, name_taken, new_user};
use crate::bindings::exports::portico::dashboard::state::{Secret, TimestampChange, WantedUser};
use crate::bindings::storage::{AccountKey, Error as StorageError, NewUser, Profile, Transaction};
use crate::bindings::types::{Error, Id, Issue, PathSegment, Provider, TextChange, User};
use crate::transaction::{self, Failure};
use crate::validate::change::OptionalText;
use crate::validate::email::optional_email;
use crate::validate::{self, Checked, Issues, image, number, username};
use crate::{environment, error, password};

/// Refuses users that break a rule.
pub fn check(users: &[WantedUser]) -> Result<(), Error> {
    edits(users, Secrets::AsStated).map(drop)
}

/// Checks a password and hashes it.
pub fn hash(password: &str) -> Result<String, Error> {
    let password = validate::field("password", validate::password::password(password))?;
    Ok(password::hash(&password))
}

/// Creates or changes these users.
pub fn put(context: &str, users: &[WantedUser]) -> Result<Vec<Id>, Error> {
    let edits = edits(users, Secrets::Hashed)?;
    let new_ids = environment::new_ids(users.len());
    transaction::write(context, |transaction| {
        let mut issues = Issues::default();
        for (index, edit) in edits.iter().enumerate() {
            issues.enter_item(index);
            issues.check("name", edit.check_name(transaction)?);
            issues.check("image", edit.check_image(transaction)?);
        }
        issues.finish()?;
        let entries = edits.iter().zip(&new_ids).enumerate();
        entries
            .map(|(index, (edit, new_id))| edit.put(transaction, new_id, index))
            .collect()
    })
}

/// The form in which a secret must be.
#[derive(Clone, Copy)]
enum Secrets {
    AsStated,
    Hashed,
}

impl Secrets {
    fn check(self, provider: Provider, secret: Option<&Secret>) -> Checked<Option<String>> {
        match (provider, secret, self) {
            (_, None, _) => Ok(None),
            (Provider::Oidc | Provider::Ldap, ..) => Err(Rule::OfProvider),
            (_, Some(Secret::Password(password)), Self::AsStated) => {
                validate::password::password(password).map(|_| None)
            }
            (_, Some(Secret::Password(_)), Self::Hashed) => Err(Rule::NotHashed),
            (_, Some(Secret::Hash(hash)), _) => Ok(Some(hash.clone())),
        }
    }
}

fn edits(users: &[WantedUser], secrets: Secrets) -> Result<Vec<UserEdit>, Error> {
    validate::whole(number::items(users.len(), bounds::ENTRIES))?;
    let mut issues = Issues::default();
    let mut edits = Vec::with_capacity(users.len());
    for (index, user) in users.iter().enumerate() {
        issues.enter_item(index);
        edits.push(UserEdit::check(&mut issues, user, secrets));
    }
    issues.finish()?;
    Ok(edits)
}

/// A user whose fields satisfy all rules.
struct UserEdit {
    provider: Provider,
    name: String,
    email: TextChange,
    email_verified: TimestampChange,
    image: TextChange,
    /// The same as it is stored if the user does not have it yet.
    new_image: Checked<TextChange>,
    password_hash: Option<String>,
    disabled: Option<bool>,
}

impl UserEdit {
    fn check(issues: &mut Issues, user: &WantedUser, secrets: Secrets) -> Self {
        let name = issues.check("name", username::username_of(user.provider, &user.name));
        let email = issues.check("email", user.email.checked(optional_email));
        let image = issues.check("image", user.image.checked(image_rule(user.provider)));
        Self {
            provider: user.provider,
            name,
            email,
            email_verified: user.email_verified,
            new_image: image.checked(|image| image::new(image).map(Some)),
            image,
            password_hash: issues.check("password", secrets.check(user.provider, user.secret.as_ref())),
            disabled: user.disabled,
        }
    }

    fn key(&self) -> AccountKey {
        account_key(self.provider, &self.name)
    }

    /// Refuses a name that a new user may not have, unless a user already has it, because it may be older than the
    /// rule.
    fn check_name(&self, transaction: &Transaction) -> Result<Checked<()>, Failure> {
        let visible = username::visible(&self.name);
        if visible.is_err() && transaction.get_account(&self.key())?.is_some() {
            return Ok(Ok(()));
        }
        Ok(visible)
    }

    /// Refuses an image that a new user may not have, unless the user already has it.
    fn check_image(&self, transaction: &Transaction) -> Result<Checked<()>, Failure> {
        let (Err(problem), TextChange::Set(image)) = (&self.new_image, &self.image) else {
            return Ok(Ok(()));
        };
        let present = match transaction.get_account(&self.key())? {
            Some(account) => transaction.get_user(&account.id)?,
            None => None,
        };
        let has_it = present.is_some_and(|user| user.image.as_ref() == Some(image));
        Ok(if has_it { Ok(()) } else { Err(problem.clone()) })
    }

    /// The image from now on. One that the user has stays as it is, because it may be older than the rules of new ones.
    fn image_after(&self, present: Option<&str>) -> Option<String> {
        let kept = self.image.clone().applied_to(present.map(Into::into));
        match &self.new_image {
            Ok(new) if kept.as_deref() != present => new.clone().applied_to(None),
            _ => kept,
        }
    }

    fn put(&self, transaction: &Transaction, new_id: &Id, index: usize) -> Result<Id, Failure> {
        let Some(account) = transaction.get_account(&self.key())? else {
            self.insert(transaction, new_id, index)?;
            return Ok(new_id.clone());
        };
        let present = transaction.get_user(&account.id)?;
        let present = present.ok_or(StorageError::Retry)?;
        let profile = self.profile(&present, index)?;
        if (&profile.name, &profile.email, profile.email_verified)
            != (&present.name, &present.email, present.email_verified)
        {
            transaction
                .set_profile(&present.id, &profile)
                .map_err(name_taken)?;
        }
        let image = self.image_after(present.image.as_deref());
        if image != present.image {
            transaction.set_image(&present.id, image.as_deref())?;
        }
        if let Some(disabled) = self.disabled
            && disabled != account.disabled
        {
            transaction.set_disabled(&present.id, disabled)?;
        }
        Ok(present.id)
    }

    fn insert(&self, transaction: &Transaction, id: &Id, index: usize) -> Result<(), Failure> {
        let blank = new_user(id.clone(), self.provider, self.name.clone());
        let profile = self.profile(&blank, index)?;
        let user = NewUser {
            name_key: profile.name_key,
            color_scheme: NEW_USERS_COLOR_SCHEME,
            password_hash: self.password_hash.clone(),
            user: User {
                email: profile.email,
                email_verified: profile.email_verified,
                image: self.image_after(None),
                ..blank
            },
        };
        transaction.insert_user(&user).map_err(name_taken)?;
        if self.disabled == Some(true) {
            transaction.set_disabled(id, true)?;
        }
        Ok(())
    }

    /// The profile from now on.
    fn profile(&self, present: &User, index: usize) -> Result<Profile, Error> {
        let mut profile = profile_after(&self.name, &self.email, present);
        match self.email_verified {
            TimestampChange::Keep => {}
            TimestampChange::Clear => profile.email_verified = None,
            TimestampChange::Set(_) if profile.email.is_none() => return Err(verified_without_email(index)),
            TimestampChange::Set(moment) => profile.email_verified = Some(moment),
        }
        Ok(profile)
    }
}

fn image_rule(provider: Provider) -> OptionalText {
    fn own(value: &str) -> Checked<Option<String>> {
        or_none(value, image::data_uri)
    }
    fn external(value: &str) -> Checked<Option<String>> {
        or_none(value, image::external)
    }
    match provider {
        Provider::Credentials => own,
        Provider::Oidc | Provider::Ldap => external,
    }
}

fn or_none(value: &str, rule: fn(&str) -> Checked<String>) -> Checked<Option<String>> {
    if value.trim().is_empty() {
        Ok(None)
    } else {
        rule(value).map(Some)
    }
}

fn verified_without_email(index: usize) -> Error {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    error::bad_request(Vec::from([Issue {
        path: [
            PathSegment::Index(index),
            PathSegment::Field("emailVerified".into()),
        ]
        .into(),
        message: Rule::VerifiedWithoutEmail.into(),
    }]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(provider: Provider) -> WantedUser {
        WantedUser {
            provider,
            name: " Alice ".into(),
            email: TextChange::Keep,
            email_verified: TimestampChange::Keep,
            image: TextChange::Keep,
            secret: None,
            disabled: None,
        }
    }

    fn broken(user: WantedUser, secrets: Secrets) -> Vec<String> {
        let mut issues = Issues::default();
        issues.enter_item(3);
        UserEdit::check(&mut issues, &user, secrets);
        let found = issues
            .finish()
            .err()
            .map(|error| error.issues)
            .unwrap_or_default();
        let field = |issue: Issue| match issue.path.last() {
            Some(PathSegment::Field(name)) => name.clone(),
            other => panic!("{other:?}"),
        };
        found.into_iter().map(field).collect()
    }

    #[test]
    fn the_rules_are_those_of_accounts_and_profile_images() {
        assert_eq!(broken(wanted(Provider::Credentials), Secrets::AsStated), [""; 0]);
        let all = WantedUser {
            name: "a\0".into(),
            email: TextChange::Set("nonsense".into()),
            image: TextChange::Set("https://example.com/alice.png".into()),
            secret: Some(Secret::Password("short".into())),
            ..wanted(Provider::Credentials)
        };
        assert_eq!(
            broken(all, Secrets::AsStated),
            ["name", "email", "image", "password"]
        );
    }

    #[test]
    fn an_external_user_may_have_a_link_as_image_and_has_no_password() {
        let external = WantedUser {
            image: TextChange::Set("https://example.com/alice.png".into()),
            ..wanted(Provider::Oidc)
        };
        assert_eq!(broken(external.clone(), Secrets::AsStated), [""; 0]);
        let with_secret = |secret| WantedUser {
            secret: Some(secret),
            ..external.clone()
        };
        let password = with_secret(Secret::Password("correct horse".into()));
        assert_eq!(broken(password, Secrets::AsStated), ["password"]);
        assert_eq!(
            broken(with_secret(Secret::Hash("$".into())), Secrets::Hashed),
            ["password"]
        );
    }

    #[test]
    fn only_a_hash_is_written() {
        let plain = WantedUser {
            secret: Some(Secret::Password("correct horse".into())),
            ..wanted(Provider::Credentials)
        };
        assert_eq!(broken(plain.clone(), Secrets::AsStated), [""; 0]);
        assert_eq!(broken(plain, Secrets::Hashed), ["password"]);
    }

    #[test]
    fn an_email_is_verified_only_where_there_is_one() {
        let edit = |email, email_verified| {
            let user = WantedUser {
                email,
                email_verified,
                ..wanted(Provider::Credentials)
            };
            UserEdit::check(&mut Issues::default(), &user, Secrets::AsStated)
        };
        let present = User {
            email: Some("a@b".into()),
            email_verified: Some(5),
            ..new_user("id".into(), Provider::Credentials, "alice".into())
        };
        let set = |email: &str| TextChange::Set(email.into());
        for (email, verified, after) in [
            (TextChange::Keep, TimestampChange::Keep, Some(5)),
            (TextChange::Keep, TimestampChange::Clear, None),
            (TextChange::Keep, TimestampChange::Set(7), Some(7)),
            (set("a@b"), TimestampChange::Keep, Some(5)),
            (set("c@d"), TimestampChange::Keep, None),
            (set("c@d"), TimestampChange::Set(7), Some(7)),
            (TextChange::Clear, TimestampChange::Keep, None),
        ] {
            let profile = edit(email, verified).profile(&present, 0).unwrap();
            assert_eq!(profile.email_verified, after);
        }
        let refusal = edit(TextChange::Clear, TimestampChange::Set(7))
            .profile(&present, 2)
            .unwrap_err();
        assert_eq!(
            refusal.message,
            "Input validation failed: [2].emailVerified must be null where there is no email"
        );
    }
}
