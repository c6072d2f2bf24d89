//! Whether a sign-in has the second factor that it needs, within the transaction in which its session begins.

use portico_model::{FactorKind, Timestamp, error::Error};
use portico_rules::refusal::Refusal;
use portico_storage::{DashboardTransaction, SecondFactor};

use super::{
    codes::Typed,
    passkeys::{Passkeys, Proof},
    setting_up::{self, NewFactor},
    totp,
};
use crate::resources::Resources;

/// What a client has sent in addition to the right password.
pub(crate) enum Step {
    /// Nothing.
    Password,
    /// A code of an app, or a recovery code.
    Code(String),
    /// A passkey; `None` if its challenge was not for this sign-in.
    Passkey(Option<Proof>),
    /// A passkey alone, instead of a password.
    PasskeyAlone(Proof),
    /// Its first factor, which is set up now.
    SetUp(NewFactor),
}

impl Step {
    /// With the code that was sent, if one was. A field that was left empty has none.
    pub fn of(code: Option<String>) -> Self {
        let code = code.filter(|code| !code.trim().is_empty());
        code.map_or(Self::Password, Self::Code)
    }
}

/// Whether that is enough.
pub(crate) enum Taken {
    /// It is, and the recovery codes of the factor that was set up.
    Passed(Vec<String>),
    /// The user has no second factor and needs none: whatever was sent, the password is what counts.
    NotNeeded,
    Missing(MissingStep),
}

/// What is missing for a session to begin.
pub(crate) struct MissingStep {
    /// The kinds of factors that the user has.
    pub kinds: Vec<FactorKind>,
    pub refusal: Refusal,
}

impl MissingStep {
    /// Whether a factor was sent, and is wrong.
    pub fn is_wrong(&self) -> bool {
        matches!(self.refusal, Refusal::WrongSecondFactor | Refusal::WrongPasskey)
    }
}

/// Takes the step of a sign-in of this user. A code that fits is used up, and a factor that is set up is stored.
pub(crate) async fn take(
    resources: &Resources,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    step: &Step,
    now: Timestamp,
) -> Result<Taken, Error> {
    let factors = transaction.list_second_factors(user_id).await?;
    if let Step::PasskeyAlone(proof) = step {
        return match use_passkey(resources, transaction, &factors, proof, now).await? {
            true => Ok(Taken::Passed(Vec::new())),
            // No ticket: no password was typed.
            false => Err(Refusal::WrongPasskey.into()),
        };
    }
    if factors.is_empty() {
        if let Step::SetUp(factor) = step {
            let added = setting_up::add_first(resources, transaction, user_id, factor, now).await?;
            return Ok(Taken::Passed(added));
        }
        return Ok(
            match resources.second_factor.demands(transaction, user_id).await? {
                false => Taken::NotNeeded,
                true => Taken::Missing(MissingStep {
                    kinds: Vec::new(),
                    refusal: Refusal::SecondFactorToSetUp,
                }),
            },
        );
    }
    let refusal = match step {
        // A user who has one proves it: a ticket does not add another one.
        Step::Password | Step::SetUp(_) | Step::PasskeyAlone(_) => Refusal::SecondFactorNeeded,
        Step::Passkey(None) => Refusal::WrongPasskey,
        Step::Passkey(Some(proof)) => {
            match use_passkey(resources, transaction, &factors, proof, now).await? {
                true => return Ok(Taken::Passed(Vec::new())),
                false => Refusal::WrongPasskey,
            }
        }
        Step::Code(code) => match use_code(transaction, user_id, &factors, code, now).await? {
            true => return Ok(Taken::Passed(Vec::new())),
            false => Refusal::WrongSecondFactor,
        },
    };
    let kinds = kinds_of(&factors);
    Ok(Taken::Missing(MissingStep { kinds, refusal }))
}

/// Whether a code is one of this user's now. If so, it is used up.
pub(crate) async fn use_code(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    factors: &[SecondFactor],
    code: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    match Typed::read(code) {
        None => Ok(false),
        Some(Typed::Recovery(code)) => Ok(transaction.take_recovery_code(user_id, &code).await?),
        Some(Typed::OfApp(code)) => {
            let mut of_app = factors.iter().filter(|factor| factor.kind == FactorKind::Totp);
            let found = of_app.find_map(|factor| Some((factor, totp::step_of(&factor.data, &code, now)?)));
            match found {
                Some((factor, step)) => Ok(transaction.advance_second_factor(&factor.id, step, now).await?),
                None => Ok(false),
            }
        }
    }
}

/// Whether a proof is of a passkey of this user, who has these factors. If so, its use is noted.
pub(crate) async fn use_passkey(
    resources: &Resources,
    transaction: &mut dyn DashboardTransaction,
    factors: &[SecondFactor],
    proof: &Proof,
    now: Timestamp,
) -> Result<bool, Error> {
    let handle = proof.handle();
    let factor = factors
        .iter()
        .find(|factor| factor.handle.as_ref() == Some(&handle));
    match factor {
        Some(factor) => {
            Passkeys::of(resources)?
                .check(transaction, factor, proof, now)
                .await
        }
        None => Ok(false),
    }
}

fn kinds_of(factors: &[SecondFactor]) -> Vec<FactorKind> {
    let mut kinds: Vec<_> = factors.iter().map(|factor| factor.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
