//! What continues a sign-in whose password was right: its ticket.

use portico_model::error::Error;
use portico_passkeys::{Ceremony, Purpose};
use portico_rules::refusal::Refusal;
use portico_storage::{Access, AccountKey, DashboardTransaction, SecondFactor};
use serde::Serialize;
use serde_json::Value;

use super::{
    completion::{Completed, Completion},
    credentials::{HeldTicket, Progress, SignInSettings},
    session::route,
};
use crate::{
    dashboard::checked_name,
    identity::Identity,
    procedures::{
        Call, Output,
        call::json,
        sign_in::{FACTOR_OPTIONS, FACTOR_REGISTRATION, SECRET},
    },
    second_factor::{
        Passkeys, Step, Ticket,
        passkeys::{Options, SentAssertion, SentRegistration},
        setting_up, totp,
    },
    service::{Service, report},
};

/// A new secret for an app, as text and as a URI.
#[derive(Serialize)]
pub(crate) struct NewSecret {
    secret: String,
    uri: String,
}

impl NewSecret {
    /// A secret for this user. Nothing is stored.
    pub async fn make(
        call: &Call,
        transaction: &mut dyn DashboardTransaction,
        user_id: &str,
    ) -> Result<Self, Error> {
        let key = AccountKey::Id(user_id.to_owned());
        let account = transaction.get_account(&key).await?;
        let account = account.ok_or_else(Error::unauthorized)?;
        let looks = transaction.get_looks().await?;
        let service = looks.name.as_deref().unwrap_or("Portico");
        let secret = totp::new_secret(&call.resources.secrets);
        let uri = totp::uri(&secret, service, &account.name);
        Ok(Self { secret, uri })
    }
}

/// How a sign-in goes on after its password.
pub(super) enum Next {
    /// A code of an app, or a recovery code.
    Code(String),
    /// A passkey of the user.
    Passkey(SentAssertion),
    /// Codes of an app as the first factor: their secret, and one of them.
    FirstCodes { secret: String, code: String },
    /// A passkey as the first factor, under this name.
    FirstPasskey {
        name: String,
        credential: SentRegistration,
    },
}

impl Next {
    /// The step that it is for the holder of this ticket.
    async fn step(self, call: &Call, held: &HeldTicket, ticket: &Ticket) -> Result<Step, Error> {
        let resources = &call.resources;
        Ok(match self {
            Self::Code(code) => Step::Code(code),
            Self::Passkey(sent) => {
                let passkeys = Passkeys::of(resources)?;
                let proof = passkeys.read_proof(ceremony(held), &sent, &call.request_id);
                Step::Passkey(proof.await?)
            }
            Self::FirstCodes { secret, code } => {
                Step::SetUp(setting_up::of_codes(&secret, &code, resources.clock.now())?)
            }
            Self::FirstPasskey { name, credential } => {
                let name = checked_name(&name)?;
                let passkeys = Passkeys::of(resources)?;
                let registered = passkeys.register(&ticket.user_id, &credential, name, &call.request_id);
                Step::SetUp(registered.await?)
            }
        })
    }
}

/// The ceremony of a passkey after a password.
fn ceremony(held: &HeldTicket) -> Ceremony<'_> {
    Ceremony {
        purpose: Purpose::SecondFactor,
        holder: &held.ticket,
    }
}

/// Goes on with a sign-in whose password was right.
pub(super) async fn go_on(
    call: &Call,
    held: &HeldTicket,
    next: Next,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<Completed, Error> {
    let ticket = look_up(call, &held.ticket).await?;
    progress.provider.get_or_init(|| ticket.provider);
    progress.user_id.get_or_init(|| ticket.user_id.clone());
    let step = next.step(call, held, &ticket).await?;
    let resources = &call.resources;
    let account = ticket.account;
    let attempt = resources
        .throttle
        .begin(Some(account), call.identity.address)
        .await?;
    let completion = Completion {
        resources,
        times: &settings.times,
        sender: &call.identity,
        request_id: &call.request_id,
    };
    let result = completion.run(ticket, step, Some(&held.ticket)).await;
    attempt.settle(&result).await;
    result
}

/// The ticket with this text. A text that is not a ticket counts as a failed attempt of the address. A ticket costs no attempt: others at
/// the address could otherwise come between its password and its second factor.
async fn look_up(call: &Call, text: &str) -> Result<Ticket, Error> {
    let resources = &call.resources;
    let ticket = resources.tickets.read(text).await;
    if ticket.is_err() {
        let attempt = resources.throttle.begin(None, call.identity.address).await?;
        attempt.settle(&ticket).await;
    }
    ticket
}

/// What the holder of a ticket asks for before the second step.
#[derive(Clone, Copy)]
pub enum Preparation {
    /// A secret for the app of a user who has no second factor.
    Secret,
    /// What a browser needs to use a passkey of the user.
    PasskeyOptions,
    /// What a browser needs to make the first passkey of a user who must have a second factor.
    PasskeyRegistration,
}

impl Preparation {
    /// The name of its row in the procedure table.
    fn route(self) -> &'static str {
        match self {
            Self::Secret => SECRET,
            Self::PasskeyOptions => FACTOR_OPTIONS,
            Self::PasskeyRegistration => FACTOR_REGISTRATION,
        }
    }

    async fn make(self, call: &Call, held: &HeldTicket) -> Result<Output, Error> {
        let ticket = look_up(call, &held.ticket).await?;
        let user_id = &ticket.user_id;
        match self {
            Self::Secret => {
                let mut transaction = begin(call).await?;
                json(&NewSecret::make(call, &mut *transaction, user_id).await?)
            }
            Self::PasskeyOptions => json(&passkey_options(call, held, user_id).await?),
            Self::PasskeyRegistration => json(&registration_options(call, user_id).await?),
        }
    }
}

/// Prepares the second step for the holder of the ticket that is the input.
pub async fn prepare(
    service: &Service,
    preparation: Preparation,
    input: Result<Option<Value>, Error>,
    sender: &Identity,
    request_id: &str,
) -> Result<Output, Error> {
    let name = preparation.route();
    let row = route(service, name)?;
    let read = || serde_json::from_value(row.input.check(input?)?).map_err(Error::internal);
    let held: HeldTicket = read().map_err(|error| report(error, name, request_id))?;
    let make = |call: Call| async move { preparation.make(&call, &held).await };
    service.call_with(row, sender, request_id, make).await
}

/// A transaction that reads, before anyone has signed in.
async fn begin(call: &Call) -> Result<Box<dyn DashboardTransaction>, Error> {
    let context = Identity::anonymous().context(call.request_id.clone());
    let storage = &call.resources.storage;
    Ok(storage.begin_dashboard(Access::Read, &context).await?)
}

/// Begins to ask for a passkey of the user of this ticket.
async fn passkey_options(call: &Call, held: &HeldTicket, user_id: &str) -> Result<Options, Error> {
    let passkeys = Passkeys::of(&call.resources)?;
    let mut transaction = begin(call).await?;
    let factors = transaction.list_second_factors(user_id).await?;
    drop(transaction);
    // Without one, a browser would look for every passkey that its user has here.
    if !factors.iter().any(SecondFactor::is_passkey) {
        return Err(Refusal::NoPasskey.into());
    }
    let begun = passkeys.begin_proof(&call.resources, ceremony(held), &factors);
    begun.await
}

/// Begins to register a passkey of this user.
pub(crate) async fn registration_options(call: &Call, user_id: &str) -> Result<Options, Error> {
    let passkeys = Passkeys::of(&call.resources)?;
    let mut transaction = begin(call).await?;
    let account = transaction
        .get_account(&AccountKey::Id(user_id.to_owned()))
        .await?;
    let account = account.ok_or_else(Error::unauthorized)?;
    let factors = transaction.list_second_factors(user_id).await?;
    drop(transaction);
    let begun = passkeys.begin_registration(&call.resources, user_id, &account.name, &factors);
    begun.await
}
