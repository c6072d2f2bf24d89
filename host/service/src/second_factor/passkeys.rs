//! Passkeys as factors: what a browser is asked for, what is kept of a passkey, and the proof that someone has it.
//!
//! A ceremony ends when its holder sends its challenge back, whatever comes with it: a challenge is never tried twice.

use std::sync::Arc;

use portico_model::{FactorKind, Issue, PathSegment, Timestamp, error::Error};
use portico_passkeys::{
    Assertion, Ceremonies, Ceremony, NewPasskey, NoRelyingParty, Passkey, Purpose, Refused, Registration,
    RelyingParty, UserVerification, bounds, challenge_in, decode, encode, user_handle,
};
use portico_rules::{refusal::Refusal, rule::Rule};
use portico_storage::{DashboardTransaction, SecondFactor, SharedRecords};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::info;

use super::setting_up::NewFactor;
use crate::{
    resources::Resources,
    shape::{
        NULLABLE_TEXT,
        Shape::{self, Anything, Named, Record, Text},
        Shaped, optional, records, required,
    },
    site::PublicUrl,
};

records! {
    /// What a browser says of a new passkey. Its `toJSON` has more.
    pub struct RegistrationParts {
        client_data: String = required("clientDataJSON", Text).about("What the browser says, in base64url."),
        attestation_object: String = required("attestationObject", Text)
            .about("What the authenticator says, in base64url. Its attestation is not read."),
    }

    /// A new passkey.
    pub struct SentRegistration {
        response: RegistrationParts = required("response", RegistrationParts::SHAPE).about("What was made."),
    }

    /// What a browser says of a passkey that was used.
    pub struct AssertionParts {
        client_data: String = required("clientDataJSON", Text).about("What the browser says, in base64url."),
        authenticator_data: String = required("authenticatorData", Text)
            .about("What the authenticator says, in base64url."),
        signature: String = required("signature", Text).about("The signature over both, in base64url."),
        user_handle: Option<String> = optional("userHandle", NULLABLE_TEXT)
            .about("The user's handle, in base64url, if the authenticator found the passkey by itself."),
    }

    /// A passkey that was used.
    pub struct SentAssertion {
        id: String = required("id", Text).about("The passkey's id, in base64url."),
        response: AssertionParts = required("response", AssertionParts::SHAPE).about("What was signed."),
    }
}

/// What `toJSON` of a new passkey has.
pub(crate) const REGISTRATION: Shape = Named("NewPasskeyCredential", &SentRegistration::SHAPE);
/// What `toJSON` of a passkey that was used has.
pub(crate) const ASSERTION: Shape = Named("PasskeyCredential", &SentAssertion::SHAPE);
/// What a browser is asked for.
pub(crate) const OPTIONS: Shape = Named(
    "PasskeyOptions",
    &Record(&[required("publicKey", Anything).about(
        "The options for `navigator.credentials.create` or `.get`, as `parseCreationOptionsFromJSON` and \
         `parseRequestOptionsFromJSON` of `PublicKeyCredential` read them. They are good for five minutes, and once.",
    )]),
);

/// The options of a ceremony.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Options {
    pub public_key: Value,
}

/// The passkeys of this service, for people who open it at its public URL.
pub struct Passkeys {
    party: RelyingParty,
    ceremonies: Ceremonies,
}

/// The proof that someone has a passkey. Its challenge was good, and is used up.
pub(crate) struct Proof {
    assertion: Assertion,
    challenge: Vec<u8>,
    request_id: Arc<str>,
    verification: UserVerification,
}

impl Passkeys {
    /// The passkeys of this relying party, whose ceremonies are in these records.
    pub(crate) fn new(party: RelyingParty, records: Arc<dyn SharedRecords>) -> Self {
        let ceremonies = Ceremonies::new(records);
        Self { party, ceremonies }
    }

    /// Those of this service.
    pub(crate) fn of(resources: &Resources) -> Result<&Self, Error> {
        let passkeys = resources.passkeys.as_deref();
        passkeys.ok_or_else(|| Refusal::PasskeysOff.into())
    }

    /// Begins to register a passkey of this user, who has these factors.
    pub(crate) async fn begin_registration(
        &self,
        resources: &Resources,
        user_id: &str,
        user_name: &str,
        factors: &[SecondFactor],
    ) -> Result<Options, Error> {
        let ceremony = registration_of(user_id);
        let challenge = self.ceremonies.begin(ceremony, &resources.secrets).await?;
        let public_key = self.party.creation_options(&NewPasskey {
            user_handle: &user_handle(user_id),
            user_name,
            present: &ids_of(factors),
            challenge: &challenge,
        });
        Ok(Options { public_key })
    }

    /// The passkey that ends a registration of this user, under this name.
    pub(crate) async fn register(
        &self,
        user_id: &str,
        sent: &SentRegistration,
        name: String,
        request_id: &str,
    ) -> Result<NewFactor, Error> {
        let parts = &sent.response;
        let registration = Registration::decode(&parts.client_data, &parts.attestation_object);
        let registration = registration.map_err(not_decoded)?;
        let registered = match challenge_in(&registration.client_data) {
            Ok(challenge) if self.ceremonies.end(&challenge, registration_of(user_id)).await? => {
                self.party.register(&registration, &challenge)
            }
            Ok(_) => Err(Refused::Challenge),
            Err(refused) => Err(refused),
        };
        let passkey = registered.map_err(|refused| {
            log(refused, user_id, request_id);
            Error::invalid_field("credential", Rule::NotNewPasskey)
        })?;
        Ok(NewFactor {
            kind: FactorKind::Passkey,
            name: Some(name),
            handle: Some(encode(&passkey.id)),
            data: written(&passkey),
            counter: Some(passkey.counter.into()),
        })
    }

    /// Begins to ask for a passkey: for one of these factors, or without any for every one that an authenticator finds.
    pub(crate) async fn begin_proof(
        &self,
        resources: &Resources,
        ceremony: Ceremony<'_>,
        factors: &[SecondFactor],
    ) -> Result<Options, Error> {
        let challenge = self.ceremonies.begin(ceremony, &resources.secrets).await?;
        let verification = verification_for(ceremony.purpose);
        let public_key = self
            .party
            .request_options(&challenge, &ids_of(factors), verification);
        Ok(Options { public_key })
    }

    /// Reads a proof that ends this ceremony; `None` if no ceremony, or another one, began with its challenge.
    pub(crate) async fn read_proof(
        &self,
        ceremony: Ceremony<'_>,
        sent: &SentAssertion,
        request_id: &Arc<str>,
    ) -> Result<Option<Proof>, Error> {
        let parts = &sent.response;
        let assertion = Assertion::decode(
            &sent.id,
            &parts.client_data,
            &parts.authenticator_data,
            &parts.signature,
            parts.user_handle.as_deref(),
        );
        let assertion = assertion.map_err(not_decoded)?;
        let Ok(challenge) = challenge_in(&assertion.client_data) else {
            return Ok(None);
        };
        let is_known = self.ceremonies.end(&challenge, ceremony).await?;
        Ok(is_known.then_some(Proof {
            assertion,
            challenge,
            request_id: request_id.clone(),
            verification: verification_for(ceremony.purpose),
        }))
    }

    /// Whether a proof is of this passkey. If so, its use is noted.
    pub(crate) async fn check(
        &self,
        transaction: &mut dyn DashboardTransaction,
        factor: &SecondFactor,
        proof: &Proof,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let Some(passkey) = self.verify(factor, proof)? else {
            return Ok(false);
        };
        let counter = u64::from(passkey.counter);
        // Another sign-in may have used the same counter meanwhile.
        let is_next = counter == 0
            || transaction
                .advance_second_factor(&factor.id, counter, now)
                .await?;
        Ok(is_next
            && transaction
                .update_second_factor(&factor.id, &written(&passkey), counter, now)
                .await?)
    }

    /// This passkey as it is after a proof of it; `None` if the proof is not of it.
    pub(crate) fn verify(&self, factor: &SecondFactor, proof: &Proof) -> Result<Option<Passkey>, Error> {
        let verified = self.party.verify(
            &proof.assertion,
            &proof.challenge,
            &read(factor)?,
            &user_handle(&factor.user_id),
            proof.verification,
        );
        Ok(match verified {
            Ok(verified) => Some(verified.passkey),
            Err(refused) => {
                log(refused, &factor.user_id, &proof.request_id);
                None
            }
        })
    }
}

impl Proof {
    /// The handle of the passkey that it claims to be from.
    pub fn handle(&self) -> String {
        encode(&self.assertion.id)
    }

    /// Whether its authenticator found the passkey by itself, and so says whose it is.
    pub fn names_user(&self) -> bool {
        self.assertion.user_handle.is_some()
    }
}

/// The relying party of people who open this URL.
pub fn relying_party(url: &PublicUrl) -> Result<RelyingParty, NoRelyingParty> {
    RelyingParty::new(&url.to_string(), "Portico")
}

fn registration_of(user_id: &str) -> Ceremony<'_> {
    Ceremony {
        purpose: Purpose::Registration,
        holder: user_id,
    }
}

/// A passkey alone is as good as a password and a second factor only if its authenticator has verified the person.
fn verification_for(purpose: Purpose) -> UserVerification {
    match purpose {
        Purpose::SignIn => UserVerification::Required,
        Purpose::Registration | Purpose::SecondFactor | Purpose::Proof => UserVerification::Preferred,
    }
}

/// The ids of the passkeys among these factors.
fn ids_of(factors: &[SecondFactor]) -> Vec<Vec<u8>> {
    let handles = factors.iter().filter_map(|factor| factor.handle.as_deref());
    handles.filter_map(|handle| decode(handle, bounds::ID)).collect()
}

/// What is kept of a passkey besides its id and its counter.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    public_key: String,
    can_be_copied: bool,
    is_copied: bool,
}

fn written(passkey: &Passkey) -> String {
    let kept = Kept {
        public_key: encode(&passkey.public_key),
        can_be_copied: passkey.can_be_copied,
        is_copied: passkey.is_copied,
    };
    // Texts and flags always become JSON.
    serde_json::to_string(&kept).unwrap_or_default()
}

fn read(factor: &SecondFactor) -> Result<Passkey, Error> {
    let kept: Kept = serde_json::from_str(&factor.data).map_err(Error::internal)?;
    let handle = factor.handle.as_deref().unwrap_or_default();
    let broken = || Error::internal(anyhow::anyhow!("the passkey {} cannot be read", factor.id));
    Ok(Passkey {
        id: decode(handle, bounds::ID).ok_or_else(broken)?,
        public_key: decode(&kept.public_key, bounds::PUBLIC_KEY).ok_or_else(broken)?,
        counter: u32::try_from(factor.counter.unwrap_or_default()).map_err(Error::internal)?,
        can_be_copied: kept.can_be_copied,
        is_copied: kept.is_copied,
    })
}

/// The refusal of a field of a credential that cannot be decoded.
fn not_decoded(field: &str) -> Error {
    let most = match field {
        "id" => bounds::ID,
        "clientDataJSON" => bounds::CLIENT_DATA,
        "attestationObject" => bounds::ATTESTATION_OBJECT,
        "authenticatorData" => bounds::AUTHENTICATOR_DATA,
        "signature" => bounds::SIGNATURE,
        _ => bounds::USER_HANDLE,
    };
    let inner: &[&str] = if field == "id" {
        &["id"]
    } else {
        &["response", field]
    };
    let path = ["credential"].iter().chain(inner);
    Error::invalid(vec![Issue {
        path: path.map(|step| PathSegment::Field((*step).to_owned())).collect(),
        message: Rule::NotBase64Url { most }.to_string(),
    }])
}

/// Notes why a passkey is refused, which its sender does not learn.
fn log(refused: Refused, user_id: &str, request_id: &str) {
    info!(
        request = request_id,
        user = user_id,
        "a passkey was refused: {refused}"
    );
}
