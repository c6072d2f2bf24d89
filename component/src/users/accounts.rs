//! New accounts: of the first administrator, with an invite, and by an administrator.
//!
//! Each procedure looks before it hashes, and checks the same again in the transaction that inserts. So if only one of
//! several concurrent calls may succeed, only one does.

use alloc::collections::BTreeSet;
use alloc::string::String;

use portico_rules::bounds;
use portico_rules::refusal::Refusal;

use super::user::{NEW_USERS_COLOR_SCHEME, account_key, name_taken, new_user};
use crate::bindings::storage::{NewUser, Transaction};
use crate::bindings::types::{Caller, Error, Id, NewAccount, Provider, Registration, User};
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, Failure};
use crate::validate::{self, Issues, number, text, username::new_username};
use crate::{environment, error, names, password};

/// `user.initUser`
pub fn init_user(caller: &Caller, account: &NewAccount) -> Result<Id, Error> {
    authorise(caller, Procedure::UserInitUser)?;
    // Before the input is checked: once a user exists, this procedure reveals nothing else.
    transaction::lookup(&caller.context, require_no_users)?;
    let mut issues = Issues::default();
    let account = Account::check(&mut issues, account, Email::Optional);
    issues.finish()?;

    let user = account.into_new_user();
    transaction::write(&caller.context, |transaction| {
        require_no_users(transaction)?;
        transaction.insert_user(&user).map_err(name_taken)?;
        transaction.grant_admin(&user.user.id)?;
        Ok(())
    })?;
    Ok(user.user.id)
}

/// `user.register`
pub fn register(caller: &Caller, registration: &Registration) -> Result<Id, Error> {
    authorise(caller, Procedure::UserRegister)?;
    let mut issues = Issues::default();
    let account = Account::check(&mut issues, &registration.account, Email::Required);
    issues.finish()?;

    let Registration { invite_id, token, .. } = registration;
    require_invite(text::is_storable(invite_id) && text::is_storable(token))?;
    transaction::read(&caller.context, |transaction| {
        require_invite(transaction.has_invite(invite_id, token, environment::now())?)?;
        require_free_name(transaction, &account.username)
    })?;

    let user = account.into_new_user();
    transaction::write(&caller.context, |transaction| {
        // A refusal after this leaves the invite as it was: the transaction ends without a commit.
        require_invite(transaction.take_invite(invite_id, token, environment::now())?)?;
        transaction.insert_user(&user).map_err(name_taken)
    })?;
    Ok(user.user.id)
}

/// `user.create`
pub fn create(caller: &Caller, account: &NewAccount, group_ids: &[Id]) -> Result<Id, Error> {
    authorise(caller, Procedure::UserCreate)?;
    let mut issues = Issues::default();
    let account = Account::check(&mut issues, account, Email::Optional);
    issues.check("groupIds", number::items(group_ids.len(), bounds::ENTRIES));
    issues.finish()?;

    transaction::lookup(&caller.context, |transaction| {
        require_free_name(transaction, &account.username)
    })?;

    let user = account.into_new_user();
    let group_ids: BTreeSet<&Id> = group_ids.iter().collect();
    transaction::write(&caller.context, |transaction| {
        transaction.insert_user(&user).map_err(name_taken)?;
        for group_id in &group_ids {
            if !text::is_storable(group_id) || !transaction.add_to_group(&user.user.id, group_id)? {
                let id = error::excerpt(group_id);
                return Err(Refusal::GroupNotFound { id }.into());
            }
        }
        Ok(())
    })?;
    Ok(user.user.id)
}

/// A new account whose fields satisfy all rules.
struct Account {
    username: String,
    password: String,
    email: Option<String>,
}

/// Whether a new account needs an email.
enum Email {
    Required,
    Optional,
}

impl Account {
    fn check(issues: &mut Issues, account: &NewAccount, needs: Email) -> Self {
        let username = issues.check("username", new_username(&account.username));
        let password = issues.check("password", validate::password::password(&account.password));
        let email = account.email.as_deref().unwrap_or("");
        let email = match needs {
            Email::Required => issues.check("email", validate::email::email(email).map(Some)),
            Email::Optional => issues.check("email", validate::email::optional_email(email)),
        };
        Self {
            username,
            password,
            email,
        }
    }

    /// Hashes the password. Never inside a transaction.
    fn into_new_user(self) -> NewUser {
        NewUser {
            password_hash: Some(password::hash(&self.password)),
            name_key: names::key(&self.username),
            color_scheme: NEW_USERS_COLOR_SCHEME,
            user: User {
                email: self.email,
                ..new_user(environment::new_id(), Provider::Credentials, self.username)
            },
        }
    }
}

fn require_no_users(transaction: &Transaction) -> Result<(), Failure> {
    if transaction.has_users()? {
        Err(Refusal::OnboardingOver.into())
    } else {
        Ok(())
    }
}

/// The message is the same for every reason, so that it does not reveal which invites exist.
fn require_invite(fits: bool) -> Result<(), Error> {
    if fits {
        Ok(())
    } else {
        Err(Refusal::InvalidInvite.into())
    }
}

fn require_free_name(transaction: &Transaction, username: &str) -> Result<(), Failure> {
    let key = account_key(Provider::Credentials, username);
    match transaction.get_account(&key)? {
        Some(_) => Err(error::name_taken().into()),
        None => Ok(()),
    }
}
