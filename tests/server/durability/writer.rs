//! A client that writes at random and knows which facts must hold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use portico_tests::{Anonymous, Client, Key, PASSWORD, Random};
use serde_json::{Value, json};

use super::facts::Facts;

/// With more facts than this a writer rather deletes.
const MANY: usize = 250;

/// What a call makes of the facts: of each key the new value, or that it goes.
type Change = BTreeMap<String, Option<String>>;

/// One call, and what it does if it succeeds.
struct Step {
    /// Whose key it is sent with: a fact's key; none for the writer's own.
    sender: Option<String>,
    procedure: &'static str,
    input: Value,
    change: Change,
    /// The records that it makes, and where in the answer their ids stand.
    made: Vec<(String, String)>,
    /// Where in the answer the secret of the (only) record stands.
    secret: Option<&'static str>,
}

/// A client with records of its own, which no other client touches.
pub struct Writer {
    number: usize,
    steps: usize,
    random: Random,
    anonymous: Anonymous,
    own_key: Key,
    /// The writer's user.
    email: String,
    /// A group of the writer's with `admin`; its id.
    deputies: (String, String),
    /// The last response.
    pub facts: Facts,
    /// The ids of the records that these facts are about.
    pub ids: BTreeMap<String, String>,
    /// The keys and invite tokens that were shown.
    secrets: BTreeMap<String, String>,
    /// The procedure that was called and not answered, and what it changes.
    on_its_way: Option<(&'static str, Change)>,
    /// How often each procedure has succeeded: at least, and at most. A call that was not answered and changes
    /// nothing may have succeeded.
    pub succeeded: BTreeMap<&'static str, (usize, usize)>,
}

impl Writer {
    pub fn new(
        number: usize,
        random: Random,
        anonymous: Anonymous,
        own_key: Key,
        email: String,
        deputies: (String, String),
    ) -> Self {
        Self {
            number,
            steps: 0,
            random,
            anonymous,
            own_key,
            email,
            deputies,
            facts: Facts::new(),
            ids: BTreeMap::new(),
            secrets: BTreeMap::new(),
            on_its_way: None,
            succeeded: BTreeMap::new(),
        }
    }

    /// Writes until the service no longer responds, or responds that it cannot reach its database, which it may do only
    /// after `is_struck`. Calls `answered` after each response.
    pub fn write_until_killed(&mut self, is_struck: &AtomicBool, answered: impl Fn()) {
        let may_fail = |status| status == 503 && is_struck.load(Ordering::SeqCst);
        self.write_while(|| true, may_fail, answered);
    }

    /// The same while `goes_on`. An answer with a status that `may_fail` counts as none.
    pub fn write_while(
        &mut self,
        goes_on: impl Fn() -> bool,
        may_fail: impl Fn(u16) -> bool,
        answered: impl Fn(),
    ) {
        while goes_on() {
            let step = self.next_step();
            let path = format!("/api/trpc/{}", step.procedure);
            let headers = [("content-type", "application/json")];
            let body = step.input.to_string();
            let key;
            let sender: &dyn Client = match &step.sender {
                Some(fact) if fact.is_empty() => &self.anonymous,
                Some(fact) => {
                    key = Key::new(self.own_key.endpoint(), &self.secrets[fact]);
                    &key
                }
                None => &self.own_key,
            };
            match sender.try_send("POST", &path, &headers, Some(body.as_bytes())) {
                Ok(answer) if !may_fail(answer.status) => {
                    let data = answer.data();
                    for (fact, pointer) in &step.made {
                        if let Some(id) = data.pointer(pointer).and_then(Value::as_str) {
                            self.ids.insert(fact.clone(), id.to_owned());
                        }
                        if let Some(secret) = step.secret.and_then(|name| data[name].as_str()) {
                            self.secrets.insert(fact.clone(), secret.to_owned());
                        }
                    }
                    apply(&mut self.facts, step.change);
                    self.count(step.procedure, (1, 1));
                    answered();
                }
                Ok(_) | Err(_) => {
                    self.on_its_way = Some((step.procedure, step.change));
                    return;
                }
            }
        }
    }

    /// Finds out what happened to the call without a response: it was done if all of it is there. Anything else would
    /// not match the facts then.
    pub fn settle(&mut self, observed: &Facts) {
        let is_done = |change: &Change| {
            change
                .iter()
                .all(|(key, value)| observed.get(key) == value.as_ref())
        };
        if let Some((procedure, change)) = self.on_its_way.take().filter(|(_, change)| is_done(change)) {
            let before = &self.facts;
            let changes_nothing = change
                .iter()
                .all(|(key, value)| before.get(key) == value.as_ref());
            self.count(procedure, (usize::from(!changes_nothing), 1));
            apply(&mut self.facts, change);
        }
    }

    fn count(&mut self, procedure: &'static str, (least, most): (usize, usize)) {
        let count = self.succeeded.entry(procedure).or_default();
        *count = (count.0 + least, count.1 + most);
    }

    /// Keeps only the ids and secrets of what is there.
    pub fn forget_what_is_gone(&mut self) {
        self.ids.retain(|fact, _| self.facts.contains_key(fact));
        self.secrets.retain(|fact, _| self.facts.contains_key(fact));
    }

    fn next_step(&mut self) -> Step {
        self.steps += 1;
        loop {
            let choice = if self.facts.len() > MANY {
                20 + self.random.below(8)
            } else {
                self.random.below(28)
            };
            let step = match choice {
                0..=3 => Some(self.create_app()),
                4 => Some(self.create_apps()),
                5 | 6 => self.update_app(),
                7 => self.create_user(),
                8 => self.register(),
                9 | 10 => self.change_user(),
                11 => Some(self.create_group()),
                12 => self.save_permissions(),
                13 | 14 => self.add_member(),
                15 => self.create_key(),
                16 => Some(self.create_invite()),
                17 | 18 => Some(self.create_board()),
                19 => self.share_board(),
                20 => self.remove_member(),
                21 => self.delete("key", "apiKeys.delete", "apiKeyId"),
                22 => self.delete("invite", "invite.deleteInvite", "id"),
                23 => self.delete("group", "group.deleteGroup", "id"),
                24 => self.delete("board", "board.delete", "id"),
                25 => self.delete("user", "user.delete", "userId"),
                _ => self.delete("app", "app.delete", "id"),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    // What there is

    /// A name that nothing has had yet.
    fn handle(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.number, self.steps)
    }

    /// The records of one kind.
    fn all(&self, kind: &str) -> Vec<String> {
        let keys = self.facts.keys();
        keys.filter_map(|key| key.strip_prefix(kind)?.strip_prefix(' ').map(str::to_owned))
            .collect()
    }

    fn any(&mut self, kind: &str) -> Option<String> {
        let all = self.all(kind);
        self.random.pick(&all).cloned()
    }

    fn some(&mut self, kind: &str, most: usize) -> Vec<String> {
        let mut all = self.all(kind);
        let count = self.random.below(most + 1).min(all.len());
        (0..count)
            .map(|_| all.swap_remove(self.random.below(all.len())))
            .collect()
    }

    fn id(&self, kind: &str, handle: &str) -> &str {
        &self.ids[&format!("{kind} {handle}")]
    }

    fn ids(&self, kind: &str, handles: &[String]) -> Vec<&str> {
        handles.iter().map(|handle| self.id(kind, handle)).collect()
    }

    /// The writer, or a user with a key who may do the same; with their email.
    fn any_administrator(&mut self) -> (Option<String>, String) {
        let deputy = |key: &String| {
            let email = &self.facts[&format!("key {key}")];
            let member = format!("member {} {email}", self.deputies.0);
            let is_usable =
                self.secrets.contains_key(&format!("key {key}")) && self.facts.contains_key(&member);
            is_usable.then(|| (Some(format!("key {key}")), email.clone()))
        };
        let deputies: Vec<_> = self.all("key").iter().filter_map(deputy).collect();
        match self.random.pick(&deputies) {
            Some(deputy) => deputy.clone(),
            None => (None, self.email.clone()),
        }
    }

    // Apps

    fn create_app(&mut self) -> Step {
        let handle = self.handle("app");
        Step::new("app.create", new_app(&handle)).makes("app", &handle, new_app_value(&handle), "/appId")
    }

    fn create_apps(&mut self) -> Step {
        let first = self.handle("app");
        let handles = (0..2 + self.random.below(6)).map(|number| format!("{first}-{number}"));
        let handles: Vec<_> = handles.collect();
        let apps: Vec<_> = handles.iter().map(|handle| new_app(handle)).collect();
        handles.iter().enumerate().fold(
            Step::new("app.createMany", json!(apps)),
            |step, (index, handle)| {
                step.makes("app", handle, new_app_value(handle), &format!("/{index}/appId"))
            },
        )
    }

    fn update_app(&mut self) -> Option<Step> {
        let handle = self.any("app")?;
        let (name, href) = (
            format!("İ ẞ {}", self.steps),
            format!("https://example.com/{}", self.steps),
        );
        let input = json!({"id": self.id("app", &handle), "name": name, "href": href});
        Some(Step::new("app.update", input).sets(format!("app {handle}"), format!("{name} {href}")))
    }

    // Users

    fn create_user(&mut self) -> Option<Step> {
        let (name, mut groups) = (self.handle("user"), self.some("group", 2));
        let mut ids: Vec<_> = self
            .ids("group", &groups)
            .into_iter()
            .map(str::to_owned)
            .collect();
        if self.random.below(3) == 0 {
            groups.push(self.deputies.0.clone());
            ids.push(self.deputies.1.clone());
        }
        let email = format!("{name}@example.com");
        let input = json!({"username": name, "email": email, "password": PASSWORD, "groupIds": ids});
        let step = Step::new("user.create", input).makes("user", &email, format!("{name} 1"), "/id");
        Some(groups.iter().fold(step, |step, group| {
            step.sets(format!("member {group} {email}"), String::new())
        }))
    }

    fn register(&mut self) -> Option<Step> {
        let invite = self.any("invite")?;
        let fact = format!("invite {invite}");
        let token = self.secrets.get(&fact)?;
        let name = self.handle("guest");
        let email = format!("{name}@example.com");
        let input = json!({
            "username": name, "email": email, "password": PASSWORD, "inviteId": self.ids[&fact], "token": token,
        });
        let mut step = Step::new("user.register", input)
            .makes("user", &email, format!("{name} 1"), "/id")
            .removes(fact);
        step.sender = Some(String::new());
        Some(step)
    }

    fn change_user(&mut self) -> Option<Step> {
        let email = self.any("user")?;
        let fact = format!("user {email}");
        let (name, day) = self.facts[&fact].split_once(' ')?;
        if self.random.below(2) == 0 {
            let other_day = (day.parse::<usize>().ok()? + 1) % 7;
            let input = json!({"id": self.ids[&fact], "firstDayOfWeek": other_day});
            Some(
                Step::new("user.changeFirstDayOfWeek", input)
                    .sets(fact.clone(), format!("{name} {other_day}")),
            )
        } else {
            let name = self.handle("straße");
            let input = json!({"id": self.ids[&fact], "name": name});
            Some(Step::new("user.editProfile", input).sets(fact.clone(), format!("{name} {day}")))
        }
    }

    // Groups

    fn create_group(&mut self) -> Step {
        let name = self.handle("GRUPPE");
        Step::new("group.createGroup", json!({"name": name})).makes("group", &name, String::new(), "/id")
    }

    fn save_permissions(&mut self) -> Option<Step> {
        let group = self.any("group")?;
        let choices = [
            "",
            "app-create",
            "app-create board-view-all",
            "app-create app-full-all app-modify-all",
        ];
        let permissions = choices[self.random.below(choices.len())];
        let list: Vec<_> = permissions.split_whitespace().collect();
        let input = json!({"groupId": self.id("group", &group), "permissions": list});
        Some(Step::new("group.savePermissions", input).sets(format!("group {group}"), permissions.to_owned()))
    }

    fn add_member(&mut self) -> Option<Step> {
        let (group, user) = (self.any("group")?, self.any("user")?);
        let input = json!({"groupId": self.id("group", &group), "userId": self.id("user", &user)});
        Some(Step::new("group.addMember", input).sets(format!("member {group} {user}"), String::new()))
    }

    fn remove_member(&mut self) -> Option<Step> {
        let member = self.any("member")?;
        let (group, user) = member.split_once(' ')?;
        let group_id = match group == self.deputies.0 {
            true => &self.deputies.1,
            false => self.id("group", group),
        };
        let input = json!({"groupId": group_id, "userId": self.id("user", user)});
        Some(Step::new("group.removeMember", input).removes(format!("member {member}")))
    }

    // Keys and invites

    fn create_key(&mut self) -> Option<Step> {
        let (name, user) = (self.handle("key"), self.any("user")?);
        let input = json!({"name": name, "userId": self.id("user", &user)});
        let mut step = Step::new("apiKeys.create", input).makes("key", &name, user, "/id");
        step.secret = Some("apiKey");
        Some(step)
    }

    fn create_invite(&mut self) -> Step {
        let (sender, email) = self.any_administrator();
        let day = 1 + self.number;
        let (seconds, milliseconds) = (self.steps / 1000, self.steps % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let date = format!("2999-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z");
        let mut step = Step::new("invite.createInvite", json!({"expirationDate": date}))
            .makes("invite", &date, email, "/id");
        step.sender = sender;
        step.secret = Some("token");
        step
    }

    // Boards

    fn create_board(&mut self) -> Step {
        let (sender, email) = self.any_administrator();
        let name = self.handle("Ǆ");
        let mut facts = Vec::new();
        let mut items = Vec::new();
        for position in 0..self.random.below(4) {
            let apps = self.some("app", 3);
            if let [app] = &apps[..] {
                items.push(json!({"kind": "app", "appId": self.id("app", app)}));
                facts.push((format!("item {name} {position}"), app.clone()));
                continue;
            }
            items.push(json!({"kind": "bookmarks", "appIds": self.ids("app", &apps)}));
            facts.push((format!("item {name} {position}"), String::new()));
            let marks = apps.iter().enumerate();
            facts.extend(
                marks.map(|(index, app)| (format!("bookmark {name} {position} {index}"), app.clone())),
            );
        }
        let input = json!({"name": name, "isPublic": true, "items": items});
        let mut step = Step::new("board.create", input).makes("board", &name, format!("1 {email}"), "/id");
        step.sender = sender;
        facts
            .into_iter()
            .fold(step, |step, (key, value)| step.sets(key, value))
    }

    fn share_board(&mut self) -> Option<Step> {
        let board = self.any("board")?;
        let (users, groups) = (self.some("user", 3), self.some("group", 2));
        let input = json!({
            "boardId": self.id("board", &board), "users": self.ids("user", &users),
            "groups": self.ids("group", &groups),
        });
        let earlier = self
            .facts
            .keys()
            .filter(|key| key.starts_with(&format!("share {board} ")));
        let step = earlier.fold(Step::new("board.share", input), |step, key| {
            step.removes(key.clone())
        });
        let with = users.iter().chain(&groups);
        Some(with.fold(step, |step, who| {
            step.sets(format!("share {board} {who}"), String::new())
        }))
    }

    // Deletions, with what goes along

    fn delete(&mut self, kind: &str, procedure: &'static str, id_field: &str) -> Option<Step> {
        let handle = self.any(kind)?;
        let record = format!("{kind} {handle}");
        let input = json!({id_field: self.ids[&record]});
        let mut step = Step::new(procedure, input).removes(record.clone());
        for (key, value) in &self.facts {
            let words: Vec<_> = key.split(' ').collect();
            let goes_along = match (kind, words[0]) {
                ("user", "member" | "share") | ("group", "share") => words[2] == handle,
                ("user", "key" | "invite") | ("app", "item" | "bookmark") => *value == handle,
                ("group", "member") | ("board", "item" | "bookmark" | "share") => words[1] == handle,
                _ => false,
            };
            if goes_along {
                step = step.removes(key.clone());
            } else if (kind, words[0]) == ("user", "board") && value.ends_with(&format!(" {handle}")) {
                step = step.sets(key.clone(), value.replace(&handle, ""));
            }
        }
        Some(step)
    }
}

impl Step {
    fn new(procedure: &'static str, input: Value) -> Self {
        Self {
            sender: None,
            procedure,
            input,
            change: Change::new(),
            made: Vec::new(),
            secret: None,
        }
    }

    /// It makes this record, whose id is there in the response.
    fn makes(mut self, kind: &str, handle: &str, value: String, pointer: &str) -> Self {
        let fact = format!("{kind} {handle}");
        self.made.push((fact.clone(), pointer.to_owned()));
        self.sets(fact, value)
    }

    fn sets(mut self, fact: String, value: String) -> Self {
        self.change.insert(fact, Some(value));
        self
    }

    fn removes(mut self, fact: String) -> Self {
        self.change.insert(fact, None);
        self
    }
}

fn new_app(handle: &str) -> Value {
    json!({"name": format!("Äpp {handle}"), "description": handle, "iconUrl": "/i.svg"})
}

fn new_app_value(handle: &str) -> String {
    format!("Äpp {handle} ")
}

fn apply(facts: &mut Facts, change: Change) {
    for (key, value) in change {
        match value {
            Some(value) => facts.insert(key, value),
            None => facts.remove(&key),
        };
    }
}
