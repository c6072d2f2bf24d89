//! Invites. Each lets one person register, until it expires.

use portico_model::Timestamp;
use portico_model::time::LATEST;
use portico_rules::{refusal::Missing, rule::Rule};
use portico_storage::DashboardTransaction as _;

use super::{Result, if_referred, input, not_found};
use crate::bindings::people::{Invite, NewInvite};
use crate::environment;
use crate::executor::now;
use crate::transaction::{answered, look_up, write};

pub fn create(creator: Option<String>, expires_at: Timestamp) -> Result<NewInvite> {
    let is_late = expires_at > LATEST;
    let problem = is_late.then_some(Rule::NotBeforeYear { year: 10_000 });
    answered(input::refuse_if("expires-at", problem))?;
    let secrets = environment::secrets();
    let issued = secrets.invite(secrets.id(environment::now()));
    let invite = portico_storage::NewInvite {
        id: issued.id.clone(),
        expiration_date: expires_at,
        creator_id: creator,
        note: None,
        group_ids: Vec::new(),
    };
    write(|transaction| {
        now(transaction.insert_invite(&invite, &issued.hash))
            .map_err(|error| if_referred(error, not_found(Missing::Creator)))
    })?;
    Ok(NewInvite {
        id: issued.id,
        token: issued.text,
    })
}

pub fn list() -> Result<Vec<Invite>> {
    let invites = look_up(|transaction| Ok(now(transaction.list_invites())?))?;
    let invite = |invite: portico_storage::Invite| Invite {
        id: invite.id,
        expires_at: invite.expiration_date,
        creator: invite.creator.map(Into::into),
    };
    Ok(invites.into_iter().map(invite).collect())
}

pub fn delete(id: &str) -> Result<()> {
    write(|transaction| Ok(now(transaction.delete_invite(id)).map(drop)?))
}
