//! What continues a sign-in whose password was right: its ticket.

use portico_model::error::Error;
use portico_storage::{Access, AccountKey, DashboardTransaction};
use serde::Serialize;
use serde_json::Value;

use super::{
    completion::{Completed, Completion},
    credentials::{HeldTicket, Progress, SignInSettings},
    session::route,
};
use crate::{
    identity::Identity,
    procedures::{Call, Output, call::json, sign_in::SECRET},
    second_factor::{Step, Ticket, totp},
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

/// Goes on with this step, which is made once the ticket is known to be good.
pub(super) async fn go_on(
    call: &Call,
    held: &HeldTicket,
    step: impl FnOnce(&Call) -> Result<Step, Error>,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<Completed, Error> {
    let ticket = look_up(call, &held.ticket).await?;
    progress.provider.get_or_init(|| ticket.provider);
    progress.user_id.get_or_init(|| ticket.user_id.clone());
    let step = step(call)?;
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

/// The ticket with this text. A text of none counts as a failed attempt of the address.
async fn look_up(call: &Call, text: &str) -> Result<Ticket, Error> {
    let resources = &call.resources;
    let attempt = resources.throttle.begin(None, call.identity.address).await?;
    let ticket = resources.tickets.read(text).await;
    attempt.settle(&ticket).await;
    ticket
}

/// Reads the input of [`new_secret`].
pub fn read_ticket(
    service: &Service,
    input: Result<Option<Value>, Error>,
    request_id: &str,
) -> Result<HeldTicket, Error> {
    let read = || {
        let input = route(service, SECRET)?.input.check(input?)?;
        serde_json::from_value(input).map_err(Error::internal)
    };
    read().map_err(|error| report(error, SECRET, request_id))
}

/// A secret for the user of a ticket, who has no second factor.
pub async fn new_secret(
    service: &Service,
    held: HeldTicket,
    identity: &Identity,
    request_id: &str,
) -> Result<Output, Error> {
    let make = |call: Call| async move {
        let ticket = look_up(&call, &held.ticket).await?;
        let context = Identity::anonymous().context(call.request_id.clone());
        let storage = &call.resources.storage;
        let mut transaction = storage.begin_dashboard(Access::Read, &context).await?;
        json(&NewSecret::make(&call, &mut *transaction, &ticket.user_id).await?)
    };
    service
        .call_with(route(service, SECRET)?, identity, request_id, make)
        .await
}
