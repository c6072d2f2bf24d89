//! The invite with which a person who arrives from a provider becomes a user.

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_storage::{Access, SecretHash, hash_secret};
use serde::{Deserialize, Serialize};

use crate::{identity::Identity, resources::Resources};

/// An invite, and the hash of the secret that its holder has sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub id: String,
    pub token: SecretHash,
}

impl Invitation {
    /// The invite with this id and this token. It is not used up: the transaction that makes the user takes it. `FORBIDDEN`
    /// if there is none, or if it has expired.
    pub async fn open(resources: &Resources, id: &str, token: &str, request_id: &str) -> Result<Self, Error> {
        let context = Identity::anonymous().context(request_id);
        let invitation = Self {
            id: id.to_owned(),
            token: hash_secret(token),
        };
        let mut transaction = resources.storage.begin_dashboard(Access::Read, &context).await?;
        let found = transaction.find_invite(id, &invitation.token).await?;
        let now = resources.clock.now();
        match found {
            Some(invite) if invite.expiration_date > now => Ok(invitation),
            _ => Err(Refusal::InvalidInvite.into()),
        }
    }
}
