//! The client data: what the browser itself says of a ceremony, as JSON whose bytes the authenticator signs.

use serde::Deserialize;

use crate::{Refused, bounds, encoding};

/// Other keys may be there: browsers add some, so that the JSON is not compared with a template.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<String>,
}

/// The challenge in client data that is not checked yet: with it the ceremony is found.
pub fn challenge_in(client_data: &[u8]) -> Result<Vec<u8>, Refused> {
    ClientData::read(client_data)?.challenge()
}

impl ClientData {
    pub fn read(bytes: &[u8]) -> Result<Self, Refused> {
        if bytes.len() > bounds::CLIENT_DATA {
            return Err(Refused::TooLarge);
        }
        serde_json::from_slice(bytes).map_err(|_| Refused::ClientData)
    }

    fn challenge(&self) -> Result<Vec<u8>, Refused> {
        encoding::decode(&self.challenge, bounds::CLIENT_DATA).ok_or(Refused::ClientData)
    }

    /// Checks that it is of this ceremony, with this challenge, asked for by a page of this origin.
    pub fn check(&self, ceremony: &str, challenge: &[u8], origin: &str) -> Result<(), Refused> {
        if self.r#type != ceremony {
            return Err(Refused::OtherCeremony);
        }
        // The challenge is not a secret: the sender knows it.
        if self.challenge()? != challenge {
            return Err(Refused::Challenge);
        }
        if self.origin != origin {
            return Err(Refused::Origin);
        }
        if self.cross_origin || self.top_origin.is_some() {
            return Err(Refused::Framed);
        }
        Ok(())
    }
}
