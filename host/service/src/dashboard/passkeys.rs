//! `secondFactor.*` of passkeys: the caller adds one in two steps, renames it, and proves that they have one. The others are in
//! `second_factors.rs`.

use portico_model::error::{Code, Error};
use portico_rules::{
    bounds,
    refusal::{Missing, Refusal},
};
use portico_storage::{Access, SecondFactor};

use super::{
    second_factors::{ADDED, Added, check_provider, check_recent, own_id, proof_by},
    transaction::require_found,
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Recorded, Row, mutation},
    },
    second_factor::{
        Passkeys,
        passkeys::{OPTIONS, REGISTRATION, SentRegistration},
        setting_up,
    },
    shape::{
        Shape::{Nothing, Text},
        Shaped, records, required,
    },
    sign_in::registration_options,
};

records! {
    struct NewPasskey {
        name: String = required("name", LABEL)
            .about("What its user calls it, such as the device that has it: 1 to 64 characters on one line, trimmed."),
        credential: SentRegistration = required("credential", REGISTRATION)
            .about("What `navigator.credentials.create` has given for the options, as its `toJSON` writes it."),
    }

    struct Rename {
        id: String = required("id", Text).about("The passkey's id."),
        name: String = required("name", LABEL).about("Its new name: 1 to 64 characters on one line, trimmed."),
    }
}

pub(super) static ROWS: &[Row] = &[
    mutation("secondFactor.beginPasskey", Nothing, OPTIONS, |call| {
        Box::pin(begin(call))
    })
    .protected()
    .recorded(Recorded::Changes)
    .about(
        "Begins to add a passkey of the caller, and returns what a browser needs to make it. `NOT_FOUND`: passkeys are off, \
         because the public URL is not set, or not one at which browsers make passkeys; `FORBIDDEN`: as for \
         `secondFactor.addPasskey`.",
    )
    .at("POST", "/api/secondFactors/own/passkeys/options")
    .refuses(&[Code::Forbidden, Code::NotFound]),
    mutation("secondFactor.addPasskey", NewPasskey::SHAPE, ADDED, |call| {
        Box::pin(add(call))
    })
    .protected()
    .about(
        "Adds a passkey of the caller, which a browser has made for the options of `secondFactor.beginPasskey`. `CONFLICT`: \
         the passkey is known, or the caller has 10 second factors; `FORBIDDEN`: the caller signs in at an issuer, or has a \
         second factor and did not sign in within the last ten minutes; `NOT_FOUND`: passkeys are off.",
    )
    .at("POST", "/api/secondFactors/own/passkeys")
    .refuses(&[Code::Conflict, Code::Forbidden, Code::NotFound]),
    mutation("secondFactor.rename", Rename::SHAPE, Nothing, |call| {
        Box::pin(rename(call))
    })
    .protected()
    .about("Renames one of the caller's own passkeys. Another's does not exist for them: `NOT_FOUND`.")
    .at("PATCH", "/api/secondFactors/own/{id}")
    .refuses(&[Code::NotFound]),
    mutation("secondFactor.beginProof", Nothing, OPTIONS, |call| {
        Box::pin(begin_proof(call))
    })
    .protected()
    .recorded(Recorded::Changes)
    .about(
        "Begins to prove that the caller has one of their passkeys, and returns what a browser needs to use it. What it gives \
         is the `credential` of `secondFactor.delete` and `secondFactor.renewRecoveryCodes`. `CONFLICT`: the caller has no \
         passkey; `NOT_FOUND`: passkeys are off.",
    )
    .at("POST", "/api/secondFactors/own/proof")
    .refuses(&[Code::Conflict, Code::NotFound]),
];

async fn begin(call: Call) -> Result<Output, Error> {
    let user_id = own_id(&call)?;
    let mut transaction = call.begin(Access::Read).await?;
    check_provider(&mut *transaction, &user_id).await?;
    // Otherwise an authenticator would make one that is then refused.
    if !transaction.list_second_factors(&user_id).await?.is_empty() {
        check_recent(&call, &mut *transaction, &user_id).await?;
    }
    drop(transaction);
    json(&registration_options(&call, &user_id).await?)
}

async fn add(mut call: Call) -> Result<Output, Error> {
    let NewPasskey { name, credential } = call.input()?;
    let name = checked_name(&name)?;
    let user_id = own_id(&call)?;
    let resources = &call.resources;
    let passkeys = Passkeys::of(resources)?;
    let factor = passkeys.register(&user_id, &credential, name, &call.request_id);
    let factor = factor.await?;
    let mut transaction = call.begin(Access::Write).await?;
    check_provider(&mut *transaction, &user_id).await?;
    let now = resources.clock.now();
    let (id, recovery_codes) = setting_up::add(resources, &mut *transaction, &user_id, &factor, now).await?;
    if recovery_codes.is_empty() {
        check_recent(&call, &mut *transaction, &user_id).await?;
    }
    transaction.commit().await?;
    json(&Added { id, recovery_codes })
}

async fn rename(mut call: Call) -> Result<Output, Error> {
    let Rename { id, name } = call.input()?;
    let name = checked_name(&name)?;
    let user_id = own_id(&call)?;
    let mut transaction = call.begin(Access::Write).await?;
    let renamed = transaction.rename_second_factor(&user_id, &id, &name).await?;
    require_found(renamed, Missing::SecondFactor)?;
    transaction.commit().await?;
    json(&())
}

async fn begin_proof(call: Call) -> Result<Output, Error> {
    let user_id = own_id(&call)?;
    let passkeys = Passkeys::of(&call.resources)?;
    let mut transaction = call.begin(Access::Read).await?;
    let factors = transaction.list_second_factors(&user_id).await?;
    drop(transaction);
    if !factors.iter().any(SecondFactor::is_passkey) {
        return Err(Refusal::NoPasskey.into());
    }
    let begun = passkeys.begin_proof(&call.resources, proof_by(&user_id), &factors);
    json(&begun.await?)
}

/// The name of a passkey, if it is one.
pub(crate) fn checked_name(name: &str) -> Result<String, Error> {
    let mut fields = Fields::default();
    fields.keeps_direction("name", name, None);
    let name = fields.label("name", name, bounds::LABEL);
    fields.check()?;
    Ok(name)
}
