//! Second factors: what steps set up, prove and remove them with, and what is known of them.

use fastrand::Rng;
use portico_model::Timestamp;
use portico_tests::{
    authenticator::Authenticator,
    clock::{MINUTE, NEW_YEAR, SECOND},
    procedures,
    second_factor::{STEP, code_at},
};
use serde_json::{Value, json};

use super::{
    inputs::Inputs,
    steps::{Action, Caller},
    world::{Record, Records, World, text},
};

/// Where people have passkeys.
pub const PUBLIC_URL: &str = "http://localhost";

/// The characters of a secret, which has as many.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// How long a challenge is good.
const PATIENCE: Timestamp = 5 * MINUTE;

/// A second factor.
#[derive(Clone, Default)]
pub struct Factor {
    pub id: String,
    pub user_id: String,
    /// That of codes.
    pub secret: Option<String>,
}

impl Record for Factor {
    fn id(&self) -> &str {
        &self.id
    }
}

/// What is known of second factors.
#[derive(Default)]
pub struct Factors {
    pub records: Records<Factor>,
    /// A user and a recovery code of theirs, used or not.
    recovery_codes: Vec<(String, String)>,
}

impl Factors {
    /// The ids of users who have one.
    pub fn owners(&self) -> Vec<String> {
        let owners = self.records.there.iter().map(|factor| factor.user_id.clone());
        owners.collect()
    }

    /// The ids of users who have a passkey.
    pub fn owners_of_passkeys(&self) -> Vec<String> {
        let passkeys = self.records.there.iter().filter(|factor| factor.secret.is_none());
        passkeys.map(|factor| factor.user_id.clone()).collect()
    }

    /// A code with which this user may prove who they are: mostly a good one; `None` if they have no second factor.
    pub fn code_of(&self, rng: &mut Rng, user_id: &str, now: Timestamp) -> Option<String> {
        let own = self
            .records
            .there
            .iter()
            .filter(|factor| factor.user_id == user_id);
        let own: Vec<_> = own.collect();
        rng.choice(&own)?;
        let recovery = self.recovery_codes.iter().filter(|(owner, _)| owner == user_id);
        let recovery = rng
            .choice(recovery.collect::<Vec<_>>())
            .map(|(_, code)| code.clone());
        let secret = own.iter().find_map(|factor| factor.secret.as_ref());
        let of_app = secret.map(|secret| code_at(secret, now + STEP * rng.u64(..2)));
        let code = match rng.u8(..8) {
            0 => None,
            1..4 => recovery.or(of_app),
            _ => of_app.or(recovery),
        };
        Some(code.unwrap_or_else(|| "000000".into()))
    }

    fn add_codes(&mut self, user_id: &str, output: &Value) {
        let codes = output["recoveryCodes"].as_array().into_iter().flatten();
        let codes = codes.map(|code| (user_id.to_owned(), text(code)));
        self.recovery_codes.extend(codes);
    }
}

impl World {
    /// Learns from a call of `secondFactor.*` that was answered.
    pub fn learn_factors(&mut self, procedure: &str, caller: &Caller, input: &Value, output: &Value) {
        let user_id = self.user_of(caller).cloned().unwrap_or_default();
        match procedure {
            "secondFactor.addTotp" | "secondFactor.addPasskey" => {
                self.factors.add_codes(&user_id, output);
                self.factors.records.add(Factor {
                    id: text(&output["id"]),
                    user_id,
                    secret: input["secret"].as_str().map(str::to_owned),
                });
            }
            "secondFactor.renewRecoveryCodes" => {
                self.factors.recovery_codes.retain(|(owner, _)| *owner != user_id);
                self.factors.add_codes(&user_id, output);
            }
            "secondFactor.delete" => {
                self.factors.records.remove(&text(&input["id"]));
                let kept = match caller {
                    Caller::Shows(token) => token.as_str(),
                    _ => "",
                };
                self.sessions
                    .remove_where(|session| session.user_id == user_id && session.text != kept);
            }
            "secondFactor.deleteOfUser" => {
                let user_id = text(&input["userId"]);
                self.factors
                    .records
                    .remove_where(|factor| factor.user_id == user_id);
                if output["deleted"] != 0 {
                    self.sessions.remove_where(|session| session.user_id == user_id);
                }
            }
            _ => {}
        }
    }
}

impl Inputs<'_> {
    /// An input for this procedure of `secondFactor.*`.
    pub fn second_factor(&mut self, procedure: &str) -> Value {
        match procedure {
            "secondFactor.addTotp" => {
                let letter = |_| char::from(BASE32[self.rng.usize(..BASE32.len())]);
                let secret: String = (0..BASE32.len()).map(letter).collect();
                let code = match self.rng.u8(..8) {
                    0 => "none".into(),
                    _ => code_at(&secret, self.now),
                };
                json!({"secret": secret, "code": code})
            }
            "secondFactor.delete" => json!({"id": self.own_factor(), "code": self.own_code()}),
            "secondFactor.renewRecoveryCodes" => json!({"code": self.own_code()}),
            "secondFactor.rename" => json!({"id": self.own_factor(), "name": self.label(64)}),
            "secondFactor.getOfUser" | "secondFactor.deleteOfUser" => {
                let owner = self.rng.choice(self.world.factors.owners());
                let owner = owner.filter(|_| self.rng.u8(..4) != 0);
                json!({"userId": owner.unwrap_or_else(|| self.user())})
            }
            other => procedures::row(other).input(self),
        }
    }

    /// Mostly one of the caller's own.
    fn own_factor(&mut self) -> String {
        let user = self.world.user_of(self.caller);
        let factors = &self.world.factors.records;
        let own = factors
            .there
            .iter()
            .filter(|factor| user == Some(&factor.user_id));
        match self.rng.choice(own.collect::<Vec<_>>()) {
            Some(own) if self.rng.u8(..8) != 0 => own.id.clone(),
            _ => factors.id(self.rng),
        }
    }

    fn own_code(&mut self) -> String {
        let user = self.world.user_of(self.caller).cloned().unwrap_or_default();
        let code = self.world.factors.code_of(self.rng, &user, self.now);
        code.unwrap_or_else(|| "000000".into())
    }
}

/// What follows when a browser was asked to make or to use a passkey: it does, and all have the same one. Also when.
pub fn with_passkey(
    rng: &mut Rng,
    world: &World,
    procedure: &str,
    caller: &Caller,
    output: &Value,
    now: Timestamp,
) -> (Timestamp, Action) {
    let mut authenticator = Authenticator::ed25519(PUBLIC_URL);
    let options = &output["publicKey"];
    let (procedure, input) = if procedure == "secondFactor.beginPasskey" {
        let credential = authenticator.create(options);
        (
            "secondFactor.addPasskey",
            json!({"name": "Phone", "credential": credential}),
        )
    } else {
        // It counts, unless a clock is set back.
        authenticator.counter = u32::try_from(now.saturating_sub(NEW_YEAR) / SECOND).ok();
        let credential = authenticator.get(options);
        let user = world.user_of(caller);
        let own = world
            .factors
            .records
            .there
            .iter()
            .filter(|factor| user == Some(&factor.user_id));
        match rng.choice(own.collect::<Vec<_>>()) {
            Some(own) if rng.bool() => (
                "secondFactor.delete",
                json!({"id": own.id, "credential": credential}),
            ),
            _ => (
                "secondFactor.renewRecoveryCodes",
                json!({"credential": credential}),
            ),
        }
    };
    let after = match rng.u8(..8) {
        0 => PATIENCE,
        _ => 1,
    };
    let action = Action::Call {
        procedure: procedure.into(),
        input: Some(input),
    };
    (now + after, action)
}
