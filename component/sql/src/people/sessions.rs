//! Sessions: how one begins, who is in it, and when it ends.
//!
//! Invariants:
//! - A session begins in the transaction that reads the user's row under a lock: a password that is changed meanwhile, or a
//!   user who is disabled meanwhile, ends it or prevents it.
//! - Of a token there is only the hash.

use portico_model::Timestamp;
use portico_model::error::Error as Refused;
use portico_rules::refusal::Refusal;
use portico_storage::{
    AccountKey, Credential as Stored, CredentialKey, DashboardTransaction as _, SecretHash, Transaction as _,
    secrets,
};

use super::{Result, if_referred};
use crate::bindings::people::{Authenticated, Credential, NewSession, Person, Renewal, Session};
use crate::bindings::types::{Caller, UserCaller};
use crate::configuration;
use crate::environment::{self, log_warning};
use crate::executor::now;
use crate::note::Note;
use crate::transaction::{Failure, look_up, read, write};

/// Uses are noted once a minute.
const NOTED_AFTER: u64 = 60_000;

pub fn begin(user_id: &str, password_version: u64) -> Result<NewSession> {
    let secrets = environment::secrets();
    let moment = environment::now();
    let issued = secrets.session(secrets.id(moment));
    write(|transaction| {
        let times =
            configuration::get().map_err(|refusal| Refused::internal(std::io::Error::other(refusal)))?;
        let account = now(transaction.get_account(&AccountKey::Id(user_id.into())))?;
        let is_current =
            account.is_some_and(|account| !account.disabled && account.password_version == password_version);
        if !is_current {
            return Err(no_longer());
        }
        let ends_at = times.sessions.ends_at(moment);
        let session = portico_storage::Session {
            id: issued.id.clone(),
            user_id: user_id.into(),
            created_at: moment,
            last_used_at: moment,
            expires_at: times.sessions.expires_at(moment, ends_at),
            ends_at,
            browser: None,
            address: None,
        };
        now(transaction.delete_expired_sessions(moment))?;
        now(transaction.insert_session(&session, &issued.hash))
            .map_err(|error| if_referred(error, no_longer()))?;
        Ok(NewSession {
            id: issued.id.clone(),
            token: issued.text.clone(),
            ends_at,
        })
    })
}

fn no_longer() -> Failure {
    Refusal::UserChangedAtSignIn.into()
}

pub fn authenticate(secret: &str) -> Result<Option<Authenticated>> {
    let Some((key, hash)) = secrets::parse_own(secret) else {
        return Ok(None);
    };
    let moment = environment::now();
    let found = look_up(|transaction| Ok(now(transaction.find_credential(&key))?))?;
    let Some(found) = found.filter(|found| is_valid(found, &hash, moment)) else {
        return Ok(None);
    };
    let used_before = found.last_used_at.unwrap_or_default();
    if moment.saturating_sub(used_before) >= NOTED_AFTER {
        note_use(&found, moment);
    }
    let (credential, session_id) = match key {
        CredentialKey::Key(_) => (Credential::Key(found.id), None),
        CredentialKey::Session(_) => (Credential::Session(found.id.clone()), Some(found.id)),
    };
    Ok(Some(Authenticated {
        caller: caller(found.user_id, found.permissions, session_id),
        credential,
        expires_at: found.expires_at,
    }))
}

/// Keys that come from elsewhere do not exist here, nor do keys that may do less than their user, which a dashboard could not
/// tell: nothing here makes them.
fn is_valid(found: &Stored, hash: &SecretHash, moment: Timestamp) -> bool {
    let expired = found.expires_at.is_some_and(|expires_at| expires_at <= moment);
    !expired && found.imported.is_none() && !found.limits.are_set() && secrets::same(&found.secret, hash)
}

/// The call goes on if this fails: the session lasts less long then.
fn note_use(found: &Stored, moment: Timestamp) {
    let noted = write(|transaction| {
        match found.ends_at {
            Some(ends_at) => {
                let times = configuration::get()
                    .map_err(|refusal| Refused::internal(std::io::Error::other(refusal)))?;
                let expires_at = times.sessions.expires_at(moment, ends_at);
                now(transaction.touch_session(&found.id, moment, expires_at))?;
            }
            None => now(transaction.touch_key(&found.id, moment))?,
        }
        Ok(now(transaction.delete_expired_sessions(moment))?)
    });
    if noted.is_err() {
        log_warning("the use of a session or a key could not be noted");
    }
}

fn caller(user_id: String, permissions: Vec<String>, session_id: Option<String>) -> Caller {
    let note = Note {
        user_id: Some(user_id.clone()),
        session_id,
        next_token: None,
    };
    Caller {
        user: Some(UserCaller {
            id: user_id,
            permissions,
        }),
        context: note.write(),
    }
}

pub fn caller_of(user_id: &str) -> Result<Option<Caller>> {
    read(|transaction| {
        let account = now(transaction.get_account(&AccountKey::Id(user_id.into())))?;
        if account.is_none_or(|account| account.disabled) {
            return Ok(None);
        }
        let user = now(transaction.get_session_user(user_id))?;
        Ok(user.map(|user| caller(user.id, user.permissions, None)))
    })
}

pub fn renew_with_password(caller: Caller) -> Renewal {
    match Note::read(&caller.context) {
        Some(note) if note.session_id.is_some() => {
            let issued = environment::secrets().session(String::new());
            let note = Note {
                next_token: Some(issued.hash),
                ..note
            };
            Renewal {
                caller: Caller {
                    context: note.write(),
                    ..caller
                },
                token: issued.text,
            }
        }
        _ => Renewal {
            caller,
            token: String::new(),
        },
    }
}

pub fn end(token: &str) -> Result<()> {
    let Some((key @ CredentialKey::Session(_), _)) = secrets::parse_own(token) else {
        return Ok(());
    };
    write(|transaction| {
        if let Some(found) = now(transaction.find_credential(&key))? {
            now(transaction.delete_session(&found.id))?;
        }
        Ok(())
    })
}

pub fn end_others(user_id: &str, except: Option<&str>) -> Result<u32> {
    let ended = write(|transaction| Ok(now(transaction.delete_other_sessions(user_id, except))?))?;
    Ok(ended.try_into().unwrap_or(u32::MAX))
}

pub fn list(user_id: &str) -> Result<Vec<Session>> {
    let sessions = look_up(|transaction| Ok(now(transaction.list_sessions(user_id))?))?;
    let session = |session: portico_storage::Session| Session {
        id: session.id,
        created_at: session.created_at,
        last_used_at: session.last_used_at,
        expires_at: session.expires_at,
        ends_at: session.ends_at,
    };
    Ok(sessions.into_iter().map(session).collect())
}

pub fn get_person(user_id: &str) -> Result<Option<Person>> {
    let user = read(|transaction| Ok(now(transaction.get_session_user(user_id))?))?;
    Ok(user.map(|user| Person {
        id: user.id,
        name: user.name,
        email: user.email,
        image: user.image,
        provider: user.provider.into(),
        color_scheme: user.color_scheme.into(),
        permissions: user.permissions,
    }))
}

pub fn permissions_of(user_id: &str) -> Result<Vec<String>> {
    look_up(|transaction| Ok(now(transaction.list_permissions(user_id))?))
}
