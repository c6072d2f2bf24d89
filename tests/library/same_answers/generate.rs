//! Random steps: which procedure, who calls it, at what time; `inputs.rs` says with what.

use std::collections::HashMap;

use fastrand::Rng;
use portico_model::{Provider, Timestamp, time};
use portico_sandbox::Access;
use portico_service::table::Table;
use portico_tests::MISSING;
use portico_tests::clock::{DAY, NEW_YEAR};
use portico_tests::procedures::{PERMISSIONS, TABLE};
use serde_json::{Value, json};

use super::{
    inputs::{Inputs, distort},
    second_factors,
    side::Outcome,
    steps::{Action, Caller, External, Step},
    texts,
    world::{Records, Secret, User, World},
};

/// How often sequences take the steps that are no procedures, in relation to the weights of the procedures.
///
/// A new procedure needs an arm in `World::learn_call` if what it changes does not follow from its row, and
/// one in `inputs.rs` if its input is to be more than the good one of the registry.
const OTHER_STEPS: &[(&str, u32)] = &[
    (SIGN_IN, 8),
    (SIGN_OUT, 3),
    (SESSION, 10),
    (EXTERNAL, 40),
    (USE_KEY, 10),
];

const SIGN_IN: &str = "(sign-in)";
const SIGN_OUT: &str = "(sign-out)";
const SESSION: &str = "(session)";
const EXTERNAL: &str = "(external sign-in)";
const USE_KEY: &str = "(use of a key)";

/// All steps, each with its weight.
fn weights() -> impl Iterator<Item = (&'static str, u32)> {
    let procedures = TABLE.iter().map(|row| (row.name, row.weight));
    procedures.chain(OTHER_STEPS.iter().copied())
}

/// The names of all steps.
/// How long a session lasts that is not used.
const SESSION_TIME: Timestamp = 7 * DAY;

/// How far ahead something is made use of at the moment at which it expires.
const NEAR: Timestamp = 30 * DAY;

pub struct Generator {
    rng: Rng,
    world: World,
    access: HashMap<String, Access>,
    now: Timestamp,
    /// What comes next, if it was decided before.
    plan: Option<Plan>,
}

/// To use what has just been made: a session at once, or anything at the moment at which it expires, or
/// right before or after.
struct Plan {
    at: Timestamp,
    caller: Caller,
    action: Action,
}

impl Generator {
    pub fn new(seed: u64, table: &Table) -> Self {
        let access = table
            .iter()
            .map(|procedure| (procedure.name.to_owned(), procedure.access.clone()));
        Self {
            rng: Rng::with_seed(seed),
            world: World::default(),
            access: access.collect(),
            now: NEW_YEAR,
            plan: None,
        }
    }

    /// Learns what a step has changed.
    pub fn learn(&mut self, step: &Step, outcome: &Outcome) {
        self.world.learn(step, outcome);
        // Without a plan for every sign-in, few sessions would be used while they last.
        let is_begun = [
            "(sign-in)",
            "secondFactor.beginPasskey",
            "secondFactor.beginProof",
        ];
        let has_plan = is_begun.contains(&step.action.name()) || self.rng.bool();
        if outcome.code == "OK" && has_plan {
            self.plan = self.plan_for(step, &outcome.json());
        }
    }

    fn plan_for(&mut self, step: &Step, output: &Value) -> Option<Plan> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (at, caller, action) = match &step.action {
            Action::SignIn { .. } => {
                let shows = Caller::Shows(text(&output["body"]["token"]));
                let after = match self.rng.u8(..6) {
                    0 => SESSION_TIME,
                    _ => 2,
                };
                (step.at + after, shows, Action::Session)
            }
            Action::Call { procedure, .. }
                if ["secondFactor.beginPasskey", "secondFactor.beginProof"].contains(&procedure.as_str()) =>
            {
                let (rng, caller) = (&mut self.rng, step.caller.clone());
                let (at, action) =
                    second_factors::with_passkey(rng, &self.world, procedure, &caller, output, step.at);
                (at, caller, action)
            }
            Action::Call { procedure, input } => {
                let input = input.as_ref()?;
                match procedure.as_str() {
                    "invite.createInvite" => {
                        let registration = json!({
                            "username": texts::name(&mut self.rng), "password": "pässwörd", "email": "a@b",
                            "inviteId": output["id"], "token": output["token"],
                        });
                        let register = Action::Call {
                            procedure: "user.register".into(),
                            input: Some(registration),
                        };
                        let expires_at = time::parse(input["expirationDate"].as_str()?)?;
                        (expires_at, Caller::Anonymous, register)
                    }
                    "apiKeys.create" | "apiKeys.createOwn" => {
                        let shows = Caller::Shows(text(&output["apiKey"]));
                        let look = Action::Call {
                            procedure: "app.selectable".into(),
                            input: None,
                        };
                        (time::parse(input["expiresAt"].as_str()?)?, shows, look)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        // A step far ahead would end everything else as well.
        let is_near = (step.at..=step.at + NEAR).contains(&at);
        is_near.then(|| Plan {
            at: at - 1 + self.rng.u64(..3),
            caller,
            action,
        })
    }

    /// The next step.
    pub fn step(&mut self, number: usize) -> Step {
        let (caller, action) = match self.plan.take() {
            Some(plan) => {
                self.now = plan.at;
                (plan.caller, plan.action)
            }
            None => {
                self.pass_time();
                let name = self.choose();
                self.action(name)
            }
        };
        Step {
            number,
            at: self.now,
            seed: self.rng.u64(..),
            caller,
            action,
        }
    }

    /// Often no time passes, so that the order of ids is that of their random bytes; at times so much
    /// that keys and sessions expire; now and then a clock is set back.
    fn pass_time(&mut self) {
        self.now = match self.rng.u16(..1000) {
            0..500 => self.now,
            500..800 => self.now + self.rng.u64(1..5),
            800..970 => self.now + self.rng.u64(1..60_000),
            970..985 => self.now - self.rng.u64(1..60_000),
            985..998 => self.now + self.rng.u64(1..DAY),
            _ => self.now + 31 * DAY,
        };
    }

    fn choose(&mut self) -> &'static str {
        // Before the first user exists most calls are refused: this should not last too long.
        if self.world.users.there.is_empty() && self.rng.u8(..8) == 0 {
            return "user.initUser";
        }
        let mut place = self.rng.u32(..weights().map(|(_, weight)| weight).sum::<u32>());
        for (name, weight) in weights() {
            match place.checked_sub(weight) {
                Some(rest) => place = rest,
                None => return name,
            }
        }
        unreachable!("the place is within the sum of all weights")
    }

    fn action(&mut self, name: &'static str) -> (Caller, Action) {
        match name {
            SIGN_IN => self.sign_in(),
            SIGN_OUT => (self.shows_session(), Action::SignOut),
            SESSION => (self.shows_session(), Action::Session),
            EXTERNAL => (Caller::Anonymous, Action::ExternalSignIn(self.external())),
            USE_KEY => {
                let id = self.world.keys.id(&mut self.rng);
                (Caller::Anonymous, Action::UseKey { id })
            }
            procedure => self.call(procedure),
        }
    }

    fn call(&mut self, procedure: &str) -> (Caller, Action) {
        let caller = self.caller(procedure);
        let mut inputs = Inputs {
            rng: &mut self.rng,
            world: &self.world,
            caller: &caller,
            now: self.now,
        };
        let mut input = inputs.of(procedure);
        if self.rng.u8(..14) == 0 {
            input = distort(&mut self.rng, input);
        }
        let procedure = procedure.to_owned();
        (caller, Action::Call { procedure, input })
    }

    /// Mostly a caller with access, else any caller.
    fn caller(&mut self, procedure: &str) -> Caller {
        let is_any = self.rng.u8(..7) == 0;
        // Permissions that a dashboard vouches for are not enough for a document: they must be stored.
        if procedure == "state.apply" && !is_any && self.rng.u8(..4) != 0 {
            return Caller::Operator;
        }
        // Only users with sessions can list some, only those who have listed some can end one, and only users
        // with keys or second factors can change one of their own.
        let owners_of =
            |owned: &Records<Secret>| owned.there.iter().map(|secret| secret.user_id.clone()).collect();
        let owners = match procedure {
            "session.getAll" | "session.deleteOthers" => owners_of(&self.world.sessions),
            "session.delete" => owners_of(&self.world.listed_sessions),
            "apiKeys.deleteOwn" => owners_of(&self.world.keys),
            "secondFactor.delete" | "secondFactor.renewRecoveryCodes" => self.world.factors.owners(),
            "secondFactor.rename" | "secondFactor.beginProof" => self.world.factors.owners_of_passkeys(),
            _ => Vec::new(),
        };
        if !is_any && let Some(id) = self.rng.choice(owners) {
            return Caller::Vouched {
                id,
                permissions: Vec::new(),
            };
        }
        match self.access.get(procedure) {
            Some(Access::OneOf(permissions)) if !is_any => {
                let permission = self.rng.choice(permissions).cloned().unwrap_or_default();
                self.holder(permission)
            }
            Some(Access::OwnUserOr(_)) if !is_any => match self.rng.bool() {
                true => self.holder("admin".into()),
                false => self.vouched(Vec::new()),
            },
            Some(Access::Protected) if !is_any => match self.rng.u8(..3) {
                0 => Caller::Operator,
                1 => self.vouched(Vec::new()),
                _ => self.shows(),
            },
            _ => self.any_caller(),
        }
    }

    fn holder(&mut self, permission: String) -> Caller {
        match self.rng.u8(..4) {
            0 => Caller::Operator,
            // The first is an administrator in most states; their keys are the oldest.
            1 => match self.world.keys.there.first() {
                Some(key) => Caller::Shows(key.text.clone()),
                None => Caller::Operator,
            },
            _ => self.vouched(vec![permission]),
        }
    }

    fn any_caller(&mut self) -> Caller {
        match self.rng.u8(..8) {
            0 | 1 => Caller::Anonymous,
            2 => Caller::Operator,
            3 | 4 => self.shows(),
            5 => {
                let id = self
                    .world
                    .users
                    .gone
                    .last()
                    .map_or(MISSING, |user| &user.id)
                    .to_owned();
                let permissions = self.permissions();
                Caller::Vouched { id, permissions }
            }
            _ => {
                let permissions = self.permissions();
                self.vouched(permissions)
            }
        }
    }

    fn permissions(&mut self) -> Vec<String> {
        let count = self.rng.usize(..3);
        let permissions = PERMISSIONS.into_iter().chain(["not-a-permission"]);
        self.rng
            .choose_multiple(permissions, count)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    fn vouched(&mut self, permissions: Vec<String>) -> Caller {
        let id = match self.world.users.any(&mut self.rng) {
            Some(user) => user.id.clone(),
            None => MISSING.to_owned(),
        };
        Caller::Vouched { id, permissions }
    }

    /// A key or a session: valid, ended, or invented.
    fn shows(&mut self) -> Caller {
        let secrets = if self.rng.bool() {
            &self.world.keys
        } else {
            &self.world.sessions
        };
        let secret = match self.rng.u8(..10) {
            0 => self.rng.choice(&secrets.gone),
            _ => self.rng.choice(&secrets.there),
        };
        match secret {
            Some(secret) => Caller::Shows(secret.text.clone()),
            None => Caller::Shows("portico_0123456789abcdef.made-up".into()),
        }
    }

    /// No key: over HTTP its use is noted in the background, at an unknown moment. (The use of
    /// a session is too, but `side.rs` notes it before.)
    fn shows_session(&mut self) -> Caller {
        let sessions = &self.world.sessions;
        let session = match self.rng.u8(..8) {
            0 => self.rng.choice(&sessions.gone),
            _ => self.rng.choice(&sessions.there),
        };
        session.map_or(Caller::Anonymous, |session| Caller::Shows(session.text.clone()))
    }

    fn sign_in(&mut self) -> (Caller, Action) {
        let users = self.world.users.there.iter();
        let known: Vec<&User> = users.filter(|user| user.password.is_some()).collect();
        let user = self.rng.choice(known);
        let code = user.and_then(|user| self.world.factors.code_of(&mut self.rng, &user.id, self.now));
        let (username, password) = match user {
            Some(user) if self.rng.u8(..6) != 0 => {
                let name = match self.rng.u8(..3) {
                    0 => texts::form(&mut self.rng, &user.name),
                    _ => user.name.clone(),
                };
                (name, user.password.clone().unwrap_or_default())
            }
            Some(user) => (user.name.clone(), "not the password".into()),
            None => (texts::name(&mut self.rng), "not the password".into()),
        };
        let caller = match self.rng.u8(..3) {
            0 => self.shows_session(),
            _ => Caller::Anonymous,
        };
        let action = Action::SignIn {
            username,
            password,
            code,
        };
        (caller, action)
    }

    fn external(&mut self) -> External {
        let rng = &mut self.rng;
        let subject = match rng.choice(&self.world.subjects) {
            Some(subject) if rng.bool() => subject.clone(),
            _ => format!("https://issuer.example {}", rng.u16(..)),
        };
        External {
            provider: match rng.u8(..20) {
                0 => Provider::Credentials,
                1..8 => Provider::Ldap,
                _ => Provider::Oidc,
            },
            subject,
            name: texts::name(rng),
            email: rng.bool().then(|| texts::email(rng)),
            email_verified: rng.bool(),
            image: (rng.u8(..3) == 0).then(|| texts::image(rng)),
        }
    }
}
