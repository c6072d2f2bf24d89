//! What is known to exist, so that steps use it: learned from the responses.

use fastrand::Rng;
use portico_tests::MISSING;
use portico_tests::procedures::{Row, row};
use serde_json::Value;

use super::{
    second_factors::Factors,
    side::Outcome,
    steps::{Action, Caller, Step},
};

/// Records of one kind.
#[derive(Default)]
pub struct Records<T> {
    pub there: Vec<T>,
    pub gone: Vec<T>,
}

pub trait Record: Clone {
    fn id(&self) -> &str;
}

#[derive(Clone, Default)]
pub struct Named {
    pub id: String,
    pub name: String,
}

#[derive(Clone, Default)]
pub struct User {
    pub id: String,
    pub name: String,
    /// Those of `credentials`.
    pub password: Option<String>,
    /// The others.
    pub external: bool,
}

/// A key, a session or an invite: what is found by its id and shown by its secret.
#[derive(Clone, Default)]
pub struct Secret {
    pub id: String,
    pub text: String,
    pub user_id: String,
}

impl Record for Named {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Record for User {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Record for Secret {
    fn id(&self) -> &str {
        &self.id
    }
}

impl<T: Record> Records<T> {
    pub fn any(&self, rng: &mut Rng) -> Option<&T> {
        rng.choice(&self.there)
    }

    /// Mostly the id of one that is there; now and then of one that is gone, or of none at all.
    pub fn id(&self, rng: &mut Rng) -> String {
        let found = match rng.u8(..16) {
            0 => None,
            1 => rng.choice(&self.gone),
            _ => rng.choice(&self.there),
        };
        found.map_or_else(|| MISSING.to_owned(), |record| record.id().to_owned())
    }

    pub fn add(&mut self, record: T) {
        if !self.there.iter().any(|known| known.id() == record.id()) {
            self.there.push(record);
        }
    }

    pub fn remove(&mut self, id: &str) {
        if let Some(place) = self.there.iter().position(|record| record.id() == id) {
            self.gone.push(self.there.swap_remove(place));
        }
    }

    pub fn remove_where(&mut self, gone: impl Fn(&T) -> bool) {
        let (gone, there) = self.there.drain(..).partition(gone);
        self.there = there;
        self.gone.extend::<Vec<T>>(gone);
    }
}

#[derive(Default)]
pub struct World {
    pub users: Records<User>,
    pub apps: Records<Named>,
    pub groups: Records<Named>,
    pub boards: Records<Named>,
    pub engines: Records<Named>,
    pub invites: Records<Secret>,
    pub keys: Records<Secret>,
    /// By their tokens, which are their ids here.
    pub sessions: Records<Secret>,
    /// By the ids that `session.getAll` has listed.
    pub listed_sessions: Records<Secret>,
    /// The tokens of links for a new password, used or not.
    pub password_links: Vec<String>,
    pub factors: Factors,
    pub subjects: Vec<String>,
    /// A group and a user in it; some have left.
    pub members: Vec<(String, String)>,
    /// What was exported last.
    pub exported: Option<Value>,
}

impl World {
    /// Whom a caller is.
    pub fn user_of<'a>(&'a self, caller: &'a Caller) -> Option<&'a String> {
        match caller {
            Caller::Vouched { id, .. } => Some(id),
            Caller::Shows(shown) => {
                let secrets = self.sessions.there.iter().chain(&self.keys.there);
                let mut secrets = secrets.filter(|secret| secret.text == *shown);
                secrets.next().map(|secret| &secret.user_id)
            }
            Caller::Anonymous | Caller::Operator => None,
        }
    }

    /// Learns from what was answered. What it does not see (a key that expires) it is wrong about:
    /// those are the callers and records that are no longer what they were.
    pub fn learn(&mut self, step: &Step, outcome: &Outcome) {
        if outcome.code != "OK" {
            self.learn_refusal(step);
            return;
        }
        let output = outcome.json();
        match &step.action {
            Action::Call { procedure, input } => {
                let input = input.clone().unwrap_or_default();
                self.learn_call(row(procedure), &step.caller, &input, &output);
            }
            Action::SignIn { .. } => {
                let body = &output["body"];
                let user_id = text(&body["user"]["id"]);
                let token = text(&body["token"]);
                if let Caller::Shows(before) = &step.caller
                    && self.user_of(&step.caller) == Some(&user_id)
                {
                    self.sessions.remove(before);
                }
                self.sessions.add(Secret {
                    id: token.clone(),
                    text: token,
                    user_id,
                });
            }
            Action::SignOut => {
                if let Caller::Shows(token) = &step.caller {
                    self.sessions.remove(token);
                }
            }
            Action::ExternalSignIn(external) => {
                self.users.add(User {
                    id: text(&output["id"]),
                    name: text(&output["name"]),
                    password: None,
                    external: true,
                });
                if !self.subjects.contains(&external.subject) {
                    self.subjects.push(external.subject.clone());
                }
            }
            Action::Session | Action::UseKey { .. } => {}
        }
    }

    /// Sessions end in many ways: if a refusal shows that one has ended, it is not tried again.
    fn learn_refusal(&mut self, step: &Step) {
        match (&step.action, &step.caller) {
            (
                Action::Call {
                    procedure,
                    input: Some(input),
                },
                _,
            ) if procedure == "session.delete" => {
                self.listed_sessions.remove(&text(&input["id"]));
            }
            (Action::Session | Action::SignOut, Caller::Shows(token)) => self.sessions.remove(token),
            _ => {}
        }
    }

    fn learn_call(&mut self, row: &Row, caller: &Caller, input: &Value, output: &Value) {
        match row.name {
            "user.initUser" | "user.register" | "user.create" => {
                self.users.add(User {
                    id: text(&output["id"]),
                    name: text(&input["username"]),
                    password: Some(text(&input["password"])),
                    external: false,
                });
                if row.name == "user.register" {
                    self.invites.remove(&text(&input["inviteId"]));
                }
            }
            "user.changePassword" => {
                let user_id = text(&input["userId"]);
                if self.user_of(caller) != Some(&user_id) {
                    self.keys.remove_where(|key| key.user_id == user_id);
                }
                let users = self.users.there.iter_mut();
                for user in users.filter(|user| user.id == user_id) {
                    user.password = Some(text(&input["password"]));
                }
                self.sessions.remove_where(|session| session.user_id == user_id);
            }
            "user.createPasswordLink" => self.password_links.push(text(&output["token"])),
            "user.setPasswordByLink" => {
                let user_id = text(&output["id"]);
                self.keys.remove_where(|key| key.user_id == user_id);
                self.sessions.remove_where(|session| session.user_id == user_id);
                let users = self.users.there.iter_mut();
                for user in users.filter(|user| user.id == user_id) {
                    user.password = Some(text(&input["password"]));
                }
            }
            "user.editProfile" => {
                let users = self.users.there.iter_mut();
                for user in users.filter(|user| input["id"] == *user.id) {
                    user.name = text(&input["name"]);
                }
            }
            "user.delete" => {
                self.remove_user(&text(&input["userId"]));
            }
            "app.createMany" => {
                for app in output.as_array().into_iter().flatten() {
                    self.apps.add(Named {
                        id: text(&app["id"]),
                        name: text(&app["name"]),
                    });
                }
            }
            // The group `admins` comes from onboarding, which does not tell its id.
            "group.getAll" => {
                for group in output.as_array().into_iter().flatten() {
                    self.groups.add(Named {
                        id: text(&group["id"]),
                        name: text(&group["name"]),
                    });
                }
            }
            "group.addMember" => {
                self.members
                    .push((text(&input["groupId"]), text(&input["userId"])));
            }
            "session.getAll" => {
                let user_id = self.user_of(caller).cloned().unwrap_or_default();
                self.listed_sessions
                    .remove_where(|session| session.user_id == user_id);
                for session in output.as_array().into_iter().flatten() {
                    self.listed_sessions.add(Secret {
                        id: text(&session["id"]),
                        text: String::new(),
                        user_id: user_id.clone(),
                    });
                }
            }
            "session.deleteOthers" => {
                let user_id = self.user_of(caller).cloned().unwrap_or_default();
                self.listed_sessions
                    .remove_where(|session| session.user_id == user_id);
            }
            "session.delete" => self.listed_sessions.remove(&text(&input["id"])),
            "invite.createInvite" => self.invites.add(Secret {
                id: text(&output["id"]),
                text: text(&output["token"]),
                user_id: String::new(),
            }),
            "invite.deleteInvite" => self.invites.remove(&text(&input["id"])),
            "apiKeys.create" | "apiKeys.createOwn" => {
                let of_caller = self.user_of(caller).cloned().unwrap_or_default();
                let user_id = input["userId"].as_str().map_or(of_caller, str::to_owned);
                self.keys.add(Secret {
                    id: text(&output["id"]),
                    text: text(&output["apiKey"]),
                    user_id,
                });
            }
            "apiKeys.delete" | "apiKeys.deleteOwn" => self.keys.remove(&text(&input["apiKeyId"])),
            "state.export" => self.exported = Some(output.clone()),
            "state.apply" if output["dryRun"] == false => self.learn_report(input, output),
            name if row.area() == "secondFactor" => self.learn_factors(name, caller, input, output),
            // Nothing is asked of a picture later.
            "picture.create" => {}
            _ if row.creates() => {
                let (id, name) = (text(&row.target(input, output, "")), text(&input["name"]));
                self.named(row.area()).add(Named { id, name });
            }
            name if name.contains(".delete") => {
                let id = text(&row.target(input, output, ""));
                self.named(row.area()).remove(&id);
            }
            _ => {}
        }
    }

    fn learn_report(&mut self, document: &Value, report: &Value) {
        let entries = |part: &str| report[part].as_array().cloned().unwrap_or_default();
        for entry in entries("created") {
            let (id, name) = (text(&entry["id"]), text(&entry["name"]));
            match entry["kind"].as_str().unwrap_or_default() {
                "user" => {
                    let mut users = document["users"].as_array().into_iter().flatten();
                    let user = users.find(|user| text(&user["name"]).trim() == name);
                    let password = user.and_then(|user| user["password"].as_str());
                    self.users.add(User {
                        id,
                        name,
                        password: password.map(str::to_owned),
                        external: entry["provider"] != "credentials",
                    });
                }
                kind => self.named(kind).add(Named { id, name }),
            }
        }
        for entry in entries("removed") {
            let id = text(&entry["id"]);
            match entry["kind"].as_str().unwrap_or_default() {
                "user" => self.remove_user(&id),
                kind => self.named(kind).remove(&id),
            }
        }
    }

    /// A user goes with their keys, sessions and second factors.
    fn remove_user(&mut self, id: &str) {
        self.users.remove(id);
        self.factors.records.remove_where(|factor| factor.user_id == id);
        self.keys.remove_where(|key| key.user_id == id);
        self.sessions.remove_where(|session| session.user_id == id);
    }

    fn named(&mut self, kind: &str) -> &mut Records<Named> {
        match kind {
            "group" => &mut self.groups,
            "app" => &mut self.apps,
            "searchEngine" => &mut self.engines,
            "board" => &mut self.boards,
            other => panic!("unknown kind {other}"),
        }
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
