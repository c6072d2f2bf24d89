//! `secondFactor.*`: the second factors of the caller, and of other users for administrators.
//!
//! Invariants:
//! - To remove their own factor, or to get new recovery codes, users need a code or a passkey: a session that was left open
//!   must not be enough. Codes are counted by the throttle like passwords.
//! - To add a factor to those that are there, they must have signed in recently: with a factor of their own, people who find a
//!   session or a key could otherwise remove the others.
//! - Removing one ends the user's other sessions.
//! - No answer has the secret of a second factor that is set up.

use portico_model::{
    FactorKind, Provider, Timestamp,
    error::{Code, Error},
    time,
};
use portico_passkeys::{Ceremony, Purpose};
use portico_rules::{
    refusal::{Missing, Refusal},
    rule::{Plain, Rule},
};
use portico_storage::{Access, AccountKey, Authentication, DashboardTransaction, SecondFactor};
use serde::Serialize;

use super::transaction::require_found;
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
        sign_in::{NEW_SECRET, RECOVERY_CODES},
    },
    second_factor::{
        Passkeys,
        passkeys::{self, ASSERTION, SentAssertion},
        setting_up, use_code, use_passkey,
    },
    shape::{
        NULLABLE_DATE, NULLABLE_TEXT,
        Shape::{self, Boolean, Choice, Date, Integer, List, Named, Nothing, Nullable, Record, Text},
        Shaped, optional, records, required,
    },
    sign_in::NewSecret,
    throttle::ThrottledAccount,
};

/// How long after signing in a user may add a further second factor.
const RECENT: Timestamp = 10 * 60 * 1000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Factors {
    factors: Vec<Entry>,
    recovery_codes: u64,
    required: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: String,
    kind: FactorKind,
    name: Option<String>,
    #[serde(serialize_with = "time::serialize")]
    created_at: Timestamp,
    #[serde(serialize_with = "time::serialize_option")]
    last_used_at: Option<Timestamp>,
}

impl From<SecondFactor> for Entry {
    fn from(factor: SecondFactor) -> Self {
        Self {
            id: factor.id,
            kind: factor.kind,
            name: factor.name,
            created_at: factor.created_at,
            last_used_at: factor.last_used_at,
        }
    }
}

/// A factor that was added, with recovery codes if it is the first one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Added {
    pub id: String,
    pub recovery_codes: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Renewed {
    recovery_codes: Vec<String>,
}

#[derive(Serialize)]
struct Removed {
    deleted: usize,
}

records! {
    struct NewTotp {
        secret: String = required("secret", Text).about("The secret that `secondFactor.newSecret` has given."),
        code: String = required("code", Text).about("The code that the app shows for it now."),
    }

    struct Delete {
        id: String = required("id", Text).about("The second factor's id."),
        ..proof: Proof,
    }

    struct Proof {
        code: Option<String> = optional("code", NULLABLE_TEXT)
            .about("A code of the caller's app, or a recovery code."),
        credential: Option<SentAssertion> = optional("credential", Nullable(&ASSERTION))
            .about("Instead of a code: a passkey of the caller, used for the options of `secondFactor.beginProof`."),
    }

    struct OfUser {
        user_id: String = required("userId", Text).about("The user's id."),
    }
}

const FACTORS: Shape = Named(
    "SecondFactors",
    &Record(&[
        required(
            "factors",
            List(&Named(
                "SecondFactor",
                &Record(&[
                    required("id", Text).about("Its id."),
                    required("kind", Choice(&FactorKind::NAMES))
                        .about("`totp`: codes of an authenticator app; `passkey`."),
                    required("name", NULLABLE_TEXT).about("The name that its user gave it."),
                    required("createdAt", Date).about("When it was set up."),
                    required("lastUsedAt", NULLABLE_DATE).about("When it was last used; null = never."),
                ]),
            )),
        )
        .about("The second factors, by id."),
        required("recoveryCodes", Integer).about("How many recovery codes are left."),
        required("required", Boolean)
            .about("Whether the user must have a second factor (`--second-factor`)."),
    ]),
);

pub(super) const ADDED: Shape = Named(
    "AddedSecondFactor",
    &Record(&[
        required("id", Text).about("The second factor's id."),
        required("recoveryCodes", RECOVERY_CODES).about(
            "Codes for when the second factor is lost, each good once. They are shown only here, and made with the first second \
             factor; otherwise empty.",
        ),
    ]),
);

const MADE_CODES: &str =
    "Codes for when the second factor is lost, each good once. They are shown only here.";

pub(super) static ROWS: &[Row] = &[
    query("secondFactor.getOwn", Nothing, FACTORS, |call| Box::pin(get_own(call)))
        .protected()
        .about("The caller's own second factors, without their secrets.")
        .at("GET", "/api/secondFactors/own"),
    query("secondFactor.newSecret", Nothing, NEW_SECRET, |call| {
        Box::pin(new_secret(call))
    })
    .protected()
    .about(
        "A new secret for an app of the caller. Nothing is stored before `secondFactor.addTotp`, and `FORBIDDEN` is as there.",
    )
    .at("GET", "/api/secondFactors/own/secret")
    .refuses(&[Code::Forbidden]),
    mutation(
        "secondFactor.addTotp",
        NewTotp::SHAPE,
        ADDED,
        |call| Box::pin(add_totp(call)),
    )
    .protected()
    .about(
        "Sets up an authenticator app as a second factor of the caller, once it shows the right code. `CONFLICT`: the caller \
         has such an app, or 10 second factors; `FORBIDDEN`: the caller signs in at an issuer, or has a second factor and \
         did not sign in within the last ten minutes.",
    )
    .at("POST", "/api/secondFactors/own/totp")
    .refuses(&[Code::Conflict, Code::Forbidden]),
    mutation("secondFactor.delete", Delete::SHAPE, Nothing, |call| {
        Box::pin(delete(call))
    })
    .protected()
    .about(
        "Removes one of the caller's own second factors, and with the last one the recovery codes. It ends the caller's other \
         sessions. `FORBIDDEN`: the code is wrong or was used before.",
    )
    .at("POST", "/api/secondFactors/own/{id}/delete")
    .refuses(&[Code::Forbidden, Code::NotFound, Code::TooManyRequests]),
    mutation(
        "secondFactor.renewRecoveryCodes",
        Proof::SHAPE,
        Named(
            "RecoveryCodes",
            &Record(&[required("recoveryCodes", RECOVERY_CODES).about(MADE_CODES)]),
        ),
        |call| Box::pin(renew_codes(call)),
    )
    .protected()
    .about(
        "Makes ten new recovery codes of the caller; the earlier ones end. `FORBIDDEN`: the code is wrong or was used before; \
         `CONFLICT`: the caller has no second factor.",
    )
    .at("POST", "/api/secondFactors/own/recoveryCodes")
    .refuses(&[Code::Conflict, Code::Forbidden, Code::TooManyRequests]),
    query("secondFactor.getOfUser", OfUser::SHAPE, FACTORS, |call| {
        Box::pin(get_of_user(call))
    })
    .about("The second factors of a user, without their secrets.")
    .at("GET", "/api/users/{userId}/secondFactors")
    .refuses(&[Code::NotFound]),
    mutation(
        "secondFactor.deleteOfUser",
        OfUser::SHAPE,
        Named(
            "RemovedSecondFactors",
            &Record(&[required("deleted", Integer).about("How many it removed.")]),
        ),
        |call| Box::pin(delete_of_user(call)),
    )
    .about(
        "Removes all second factors and recovery codes of a user who has lost them, and ends the user's sessions. `FORBIDDEN`: \
         the caller's own, which need a code (`secondFactor.delete`).",
    )
    .at("DELETE", "/api/users/{userId}/secondFactors")
    .refuses(&[Code::Forbidden, Code::NotFound]),
];

async fn get_own(call: Call) -> Result<Output, Error> {
    // The operator is not a user, and has none.
    let user_id = call.identity.user_id().unwrap_or_default().to_owned();
    read(&call, &user_id).await
}

async fn get_of_user(mut call: Call) -> Result<Output, Error> {
    let OfUser { user_id } = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    require_user(&mut *transaction, &user_id).await?;
    drop(transaction);
    read(&call, &user_id).await
}

async fn read(call: &Call, user_id: &str) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let account = transaction
        .get_account(&AccountKey::Id(user_id.to_owned()))
        .await?;
    let factors = transaction.list_second_factors(user_id).await?;
    let recovery_codes = transaction.count_recovery_codes(user_id).await?;
    let policy = call.resources.second_factor;
    let required = account.is_some_and(|account| account.provider != Provider::Oidc)
        && policy.demands(&mut *transaction, user_id).await?;
    json(&Factors {
        factors: factors.into_iter().map(Entry::from).collect(),
        recovery_codes,
        required,
    })
}

async fn new_secret(call: Call) -> Result<Output, Error> {
    let user_id = own_id(&call)?;
    let mut transaction = call.begin(Access::Read).await?;
    check_provider(&mut *transaction, &user_id).await?;
    // Otherwise people would set up an app that is then refused.
    if !transaction.list_second_factors(&user_id).await?.is_empty() {
        check_recent(&call, &mut *transaction, &user_id).await?;
    }
    json(&NewSecret::make(&call, &mut *transaction, &user_id).await?)
}

async fn add_totp(mut call: Call) -> Result<Output, Error> {
    let NewTotp { secret, code } = call.input()?;
    let user_id = own_id(&call)?;
    let resources = &call.resources;
    let now = resources.clock.now();
    let factor = setting_up::of_codes(&secret, &code, now)?;
    let mut transaction = call.begin(Access::Write).await?;
    check_provider(&mut *transaction, &user_id).await?;
    let (id, recovery_codes) = setting_up::add(resources, &mut *transaction, &user_id, &factor, now).await?;
    if recovery_codes.is_empty() {
        check_recent(&call, &mut *transaction, &user_id).await?;
    }
    transaction.commit().await?;
    json(&Added { id, recovery_codes })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let Delete { id, proof } = call.input()?;
    let user_id = own_id(&call)?;
    let mut reading = call.begin(Access::Read).await?;
    let own = reading.list_second_factors(&user_id).await?;
    drop(reading);
    if own.iter().all(|factor| factor.id != id) {
        // Another user's counts as missing.
        return Err(Error::not_found(Missing::SecondFactor));
    }
    change_with_proof(&call, &user_id, proof, Change::Remove(id)).await?;
    json(&())
}

async fn renew_codes(mut call: Call) -> Result<Output, Error> {
    let proof: Proof = call.input()?;
    let user_id = own_id(&call)?;
    let mut reading = call.begin(Access::Read).await?;
    if reading.list_second_factors(&user_id).await?.is_empty() {
        return Err(Refusal::NoSecondFactor.into());
    }
    drop(reading);
    json(&Renewed {
        recovery_codes: change_with_proof(&call, &user_id, proof, Change::RenewCodes).await?,
    })
}

async fn delete_of_user(mut call: Call) -> Result<Output, Error> {
    let OfUser { user_id } = call.input()?;
    if call.identity.user_id() == Some(&user_id) {
        return Err(Refusal::OwnSecondFactor.into());
    }
    let mut transaction = call.begin(Access::Write).await?;
    require_user(&mut *transaction, &user_id).await?;
    let factors = transaction.list_second_factors(&user_id).await?;
    let ids: Vec<_> = factors.into_iter().map(|factor| factor.id).collect();
    setting_up::remove(&mut *transaction, &user_id, &ids, None).await?;
    transaction.commit().await?;
    json(&Removed { deleted: ids.len() })
}

/// What a proof is, once it is read.
enum Shown {
    Code(String),
    /// `None` if its challenge was not for this.
    Passkey(Option<passkeys::Proof>),
}

/// Reads a proof. The challenge of a passkey is used up.
async fn read_proof(call: &Call, user_id: &str, proof: Proof) -> Result<Shown, Error> {
    if let Some(code) = proof.code {
        return Ok(Shown::Code(code));
    }
    let Some(sent) = proof.credential else {
        let noun = Plain::Text.into();
        return Err(Error::invalid_field("code", Rule::Required { noun }));
    };
    let passkeys = Passkeys::of(&call.resources)?;
    let proof = passkeys.read_proof(proof_by(user_id), &sent, &call.request_id);
    Ok(Shown::Passkey(proof.await?))
}

/// The ceremony of a passkey before a change.
pub(super) fn proof_by(user_id: &str) -> Ceremony<'_> {
    Ceremony {
        purpose: Purpose::Proof,
        holder: user_id,
    }
}

/// What the caller needs a code or a passkey for.
enum Change {
    /// Removing the factor of this id.
    Remove(String),
    /// New recovery codes.
    RenewCodes,
}

/// Counts the attempt, uses the code or the passkey, and makes the change: all or nothing. Returns new recovery codes.
async fn change_with_proof(
    call: &Call,
    user_id: &str,
    proof: Proof,
    change: Change,
) -> Result<Vec<String>, Error> {
    let throttle = &call.resources.throttle;
    let account = ThrottledAccount::of_second_factor(user_id);
    let attempt = throttle.begin(Some(account), call.identity.address).await?;
    let changed = make(call, user_id, proof, change).await;
    attempt.settle(&changed).await;
    changed
}

async fn make(call: &Call, user_id: &str, proof: Proof, change: Change) -> Result<Vec<String>, Error> {
    let shown = read_proof(call, user_id, proof).await?;
    let resources = &call.resources;
    let context = call.context();
    let mut transaction = call.begin(Access::Write).await?;
    let factors = transaction.list_second_factors(user_id).await?;
    let now = resources.clock.now();
    match shown {
        Shown::Code(code) => {
            if !use_code(&mut *transaction, user_id, &factors, &code, now).await? {
                return Err(Refusal::WrongOwnSecondFactor.into());
            }
        }
        Shown::Passkey(proof) => {
            let proof = proof.ok_or(Refusal::WrongOwnPasskey)?;
            if !use_passkey(resources, &mut *transaction, &factors, &proof, now).await? {
                return Err(Refusal::WrongOwnPasskey.into());
            }
        }
    }
    let recovery_codes = match change {
        Change::RenewCodes => setting_up::renew_codes(resources, &mut *transaction, user_id).await?,
        Change::Remove(id) => {
            let kept = context.session_id();
            require_found(
                setting_up::remove(&mut *transaction, user_id, &[id], kept.as_deref()).await?,
                Missing::SecondFactor,
            )?;
            Vec::new()
        }
    };
    transaction.commit().await?;
    Ok(recovery_codes)
}

pub(super) fn own_id(call: &Call) -> Result<String, Error> {
    let user_id = call.identity.user_id().map(str::to_owned);
    user_id.ok_or_else(|| Refusal::OperatorIsNoUser.into())
}

async fn require_user(transaction: &mut dyn DashboardTransaction, user_id: &str) -> Result<(), Error> {
    let account = transaction
        .get_account(&AccountKey::Id(user_id.to_owned()))
        .await?;
    account.map(drop).ok_or_else(|| Error::not_found(Missing::User))
}

/// Refuses a caller who has a second factor already, and did not sign in recently. A key never does.
pub(super) async fn check_recent(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<(), Error> {
    if let Authentication::Session(current) = &call.identity.authentication {
        let now = call.resources.clock.now();
        let sessions = transaction.list_sessions(user_id).await?;
        let session = sessions.iter().find(|session| session.id == *current);
        if session.is_some_and(|session| now.saturating_sub(session.created_at) < RECENT) {
            return Ok(());
        }
    }
    Err(Refusal::RecentSignInNeeded.into())
}

/// Refuses users whose second factor is a matter of the issuer.
pub(super) async fn check_provider(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<(), Error> {
    let account = transaction
        .get_account(&AccountKey::Id(user_id.to_owned()))
        .await?;
    match account.ok_or_else(Error::unauthorized)?.provider {
        Provider::Credentials | Provider::Ldap => Ok(()),
        Provider::Oidc => Err(Refusal::SecondFactorElsewhere.into()),
    }
}
