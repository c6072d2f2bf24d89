//! The input of each procedure: mostly a good one, at times at a bound or beyond, at times about
//! records that do not exist, at times no input at all. A procedure without variations of its own has
//! the input of [`procedures`].

mod records;

use fastrand::Rng;
use portico_model::{Timestamp, time};
use portico_tests::NO_INPUT;
use portico_tests::clock::DAY;
use portico_tests::procedures::{self, PERMISSIONS, Records as _};
use serde_json::{Value, json};

use super::{
    steps::Caller,
    texts,
    world::{Named, Record, Records, World},
};

pub struct Inputs<'a> {
    pub rng: &'a mut Rng,
    pub world: &'a World,
    pub caller: &'a Caller,
    pub now: Timestamp,
}

impl Inputs<'_> {
    /// An input for this procedure; `None` if it takes no input.
    pub fn of(&mut self, procedure: &str) -> Option<Value> {
        let input = match procedure {
            "user.selectable" => match self.rng.u8(..3) {
                0 => return None,
                1 => json!({}),
                _ => json!({"excludeExternalProviders": self.rng.bool()}),
            },
            "user.search" => {
                let name = self.world.users.any(self.rng).map(|user| user.name.clone());
                self.search(name)
            }
            "app.search" => {
                let name = self.world.apps.any(self.rng).map(|app| app.name.clone());
                self.search(name)
            }
            "user.initUser" => self.account(),
            "user.register" => self.registration(),
            "user.create" => {
                let mut input = self.account();
                let count = self.count(3);
                input["groupIds"] = json!(self.ids(&self.world.groups, count));
                input
            }
            "user.setProfileImage" => {
                let image = (self.rng.u8(..5) != 0).then(|| texts::image(self.rng));
                json!({"userId": self.user(), "image": image})
            }
            "user.editProfile" => {
                let mut input = json!({"id": self.credentials_user(), "name": self.username()});
                self.maybe(&mut input, "email", texts::email);
                input
            }
            "user.changePassword" => self.password_change(),
            "user.changeHomeBoards" => json!({
                "userId": self.user(),
                "homeBoardId": self.nullable(&self.world.boards),
                "mobileHomeBoardId": self.nullable(&self.world.boards),
            }),
            "user.changeSearchPreferences" => json!({
                "userId": self.user(),
                "defaultSearchEngineId": self.nullable(&self.world.engines),
                "openInNewTab": self.rng.bool(),
            }),
            "user.changeColorScheme" => {
                json!({"colorScheme": self.rng.choice(["light", "dark", "auto"])})
            }
            "user.changeFirstDayOfWeek" => {
                let day = self.number(&[0, 6, 1, 3], &[-1, 7]);
                json!({"id": self.user(), "firstDayOfWeek": day})
            }
            "app.getPaginated" => {
                let page = self.number(&[1, 1, 2, 3, i32::MAX], &[0, -1]);
                let size = self.number(&[1, 2, 5, 100], &[0, 101]);
                let mut input = json!({"page": page, "pageSize": size});
                if self.rng.bool() {
                    let name = self.world.apps.any(self.rng).map(|app| app.name.clone());
                    input["search"] = json!(texts::query(self.rng, &name.unwrap_or_default()));
                }
                input
            }
            "audit.getPaginated" => self.audit(),
            "app.byIds" => {
                // 1,000 are allowed.
                let count = match self.rng.u8(..40) {
                    0 => 1000,
                    1 => 1001,
                    _ => self.count(8),
                };
                json!(self.ids(&self.world.apps, count))
            }
            "app.create" => self.new_app(false),
            "app.createMany" => {
                let count = match self.rng.u16(..300) {
                    0 => 1000,
                    1 => 1001,
                    2..10 => 0,
                    _ => 1 + self.count(4),
                };
                let apps: Vec<_> = (0..count).map(|_| self.new_app(true)).collect();
                json!(apps)
            }
            "app.update" => self.app_change(),
            "apiKeys.create" | "apiKeys.createOwn" => {
                let mut input = json!({});
                if procedure == "apiKeys.create" && self.rng.u8(..5) != 0 {
                    input["userId"] = json!(self.user());
                }
                if self.rng.bool() {
                    input["name"] = json!(self.label(64));
                }
                if self.rng.u8(..3) == 0 {
                    input["expiresAt"] = json!(self.date());
                }
                if self.rng.u8(..4) == 0 {
                    input["permissions"] = json!(["board-view-all", "app-create"]);
                }
                if self.rng.u8(..4) == 0 {
                    input["readOnly"] = json!(self.rng.bool());
                }
                input
            }
            "invite.createInvite" => {
                let mut input = json!({"expirationDate": self.date()});
                self.maybe(&mut input, "note", texts::name);
                if self.rng.bool() {
                    let count = self.count(3);
                    input["groupIds"] = json!(self.good_ids(&self.world.groups, count));
                }
                input
            }
            "invite.getByToken" => {
                let registration = self.registration();
                json!({"inviteId": registration["inviteId"], "token": registration["token"]})
            }
            "group.savePermissions" => {
                let count = self.count(4);
                let mut permissions = Vec::new();
                for _ in 0..count {
                    permissions.push(self.permission());
                }
                json!({"groupId": self.world.groups.id(self.rng), "permissions": permissions})
            }
            "board.create" | "board.update" => {
                let count = self.count(4);
                let items: Vec<_> = (0..count).map(|_| self.item()).collect();
                let mut input = json!({"name": self.label(64), "isPublic": self.rng.bool()});
                match self.rng.bool() {
                    true => input["items"] = json!(items),
                    false => input["sections"] = self.sections(items),
                }
                match self.rng.u8(..6) {
                    0 => input["slug"] = json!(self.slug()),
                    1 => input["slug"] = Value::Null,
                    _ => {}
                }
                if procedure == "board.update" {
                    input["id"] = json!(self.world.boards.id(self.rng));
                }
                input
            }
            "board.setDefaultHome" => {
                let mut input = json!({"groupId": null, "homeBoardId": null, "mobileHomeBoardId": null});
                if self.rng.bool() {
                    input["groupId"] = json!(self.world.groups.id(self.rng));
                }
                for field in ["homeBoardId", "mobileHomeBoardId"] {
                    if self.rng.u8(..3) != 0 {
                        input[field] = json!(self.world.boards.id(self.rng));
                    }
                }
                input
            }
            "board.share" => {
                let (users, groups) = (self.count(3), self.count(3));
                json!({
                    "boardId": self.world.boards.id(self.rng),
                    "users": self.shares(&self.world.users, users),
                    "groups": self.shares(&self.world.groups, groups),
                })
            }
            "searchEngine.create" | "searchEngine.update" => {
                let template = match self.rng.u8(..10) {
                    0 => "https://search.example/",
                    1 => "ftp://search.example/%s",
                    _ => "https://search.example/?q=%s",
                };
                let mut input = json!({
                    "name": self.label(64), "short": self.short(),
                    "urlTemplate": template, "iconUrl": "/icon.svg",
                });
                self.maybe(&mut input, "description", texts::name);
                if procedure == "searchEngine.update" {
                    input["id"] = json!(self.world.engines.id(self.rng));
                }
                input
            }
            "gate.update" => {
                let addresses = [
                    "https://wiki.home.example/",
                    "HTTPS://Wiki.home.example:443",
                    "http://bücher.example/a/",
                    "https://files.home.example/x",
                    "ftp://files.home.example/",
                ];
                let count = self.count(2);
                json!({
                    "id": self.world.apps.id(self.rng),
                    "addresses": self.rng.choose_multiple(addresses, count),
                    "isOpen": self.rng.bool(),
                })
            }
            "site.update" => {
                let mut input = procedures::row(procedure).input(self);
                if self.rng.bool() {
                    input["appVisibility"] = json!(self.rng.choice(["everyone", "boards"]));
                }
                if self.rng.bool() {
                    input["pingAllow"] =
                        json!(
                            self.rng
                                .choice([vec![], vec!["10.0.0.1/8", "*.lan"], vec!["nas:80"]])
                        );
                }
                input
            }
            "state.apply" => self.document(),
            other if other.starts_with("secondFactor.") => self.second_factor(other),
            other => procedures::row(other).input(self),
        };
        (input != NO_INPUT).then_some(input)
    }

    /// The caller's own id half of the time.
    pub fn user(&mut self) -> String {
        match self.caller {
            Caller::Vouched { id, .. } if self.rng.bool() => id.clone(),
            _ => self.world.users.id(self.rng),
        }
    }

    /// Mostly one whose name is kept here.
    fn credentials_user(&mut self) -> String {
        let users = self.world.users.there.iter().filter(|user| !user.external);
        match self.rng.choice(users.collect::<Vec<_>>()) {
            Some(user) if self.rng.u8(..3) != 0 => user.id.clone(),
            _ => self.user(),
        }
    }

    fn ids<T: Record>(&mut self, records: &Records<T>, count: usize) -> Vec<String> {
        (0..count).map(|_| records.id(self.rng)).collect()
    }

    /// One that is there, nearly always: one of several that is not there spoils the others.
    pub fn good_id<T: Record>(&mut self, records: &Records<T>) -> String {
        match records.any(self.rng) {
            Some(record) if self.rng.u8(..30) != 0 => record.id().to_owned(),
            _ => records.id(self.rng),
        }
    }

    fn good_ids<T: Record>(&mut self, records: &Records<T>, count: usize) -> Vec<String> {
        (0..count).map(|_| self.good_id(records)).collect()
    }

    /// Ids, some with the right to change the board.
    fn shares<T: Record>(&mut self, records: &Records<T>, count: usize) -> Vec<Value> {
        (0..count)
            .map(|_| match (self.good_id(records), self.rng.u8(..3)) {
                (id, 0) => json!(id),
                (id, right) => json!({"id": id, "mayChange": right == 1}),
            })
            .collect()
    }

    fn nullable(&mut self, records: &Records<Named>) -> Option<String> {
        (self.rng.u8(..4) != 0).then(|| records.id(self.rng))
    }

    fn count(&mut self, most: usize) -> usize {
        self.rng.usize(..=most)
    }

    fn number(&mut self, good: &[i32], bad: &[i32]) -> i32 {
        let numbers = if self.rng.u8(..8) == 0 { bad } else { good };
        numbers[self.rng.usize(..numbers.len())]
    }

    /// Absent, null or this.
    pub fn maybe(&mut self, input: &mut Value, field: &str, text: impl Fn(&mut Rng) -> String) {
        match self.rng.u8(..4) {
            0 => {}
            1 => input[field] = Value::Null,
            _ => input[field] = json!(text(self.rng)),
        }
    }

    pub fn label(&mut self, most: usize) -> String {
        match self.rng.u8(..20) {
            0 => texts::at_bound(self.rng, 1, most),
            1 => "line\nbreak".into(),
            _ => texts::name(self.rng),
        }
    }

    pub fn short(&mut self) -> String {
        let name = self.label(8);
        name.trim().chars().take(4 + self.rng.usize(..5)).collect()
    }

    fn username(&mut self) -> String {
        match self.rng.u8(..20) {
            0 => texts::at_bound(self.rng, 3, 255),
            1 => self
                .world
                .users
                .any(self.rng)
                .map_or_else(String::new, |user| user.name.clone()),
            _ => texts::name(self.rng),
        }
    }

    pub fn password(&mut self) -> String {
        match self.rng.u8(..24) {
            0 => texts::at_bound(self.rng, 8, 255),
            _ => format!("pässwörd {}", self.rng.u8(..4)),
        }
    }

    fn account(&mut self) -> Value {
        let mut input = json!({"username": self.username(), "password": self.password()});
        if self.rng.bool() {
            input["email"] = json!(texts::email(self.rng));
        }
        input
    }

    fn registration(&mut self) -> Value {
        let mut input = self.account();
        input["email"] = json!(if self.rng.u8(..8) == 0 {
            texts::email(self.rng)
        } else {
            "a@b".into()
        });
        let (id, token) = self.invite();
        let wrong = self.rng.u8(..8) == 0;
        input["inviteId"] = json!(id);
        input["token"] = json!(if wrong { "wrong".into() } else { token });
        input
    }

    fn password_change(&mut self) -> Value {
        let user_id = self.credentials_user();
        let mut input = json!({"userId": user_id, "password": self.password()});
        let user = self.world.users.there.iter().find(|user| user.id == user_id);
        match user.and_then(|user| user.password.clone()) {
            Some(password) if self.rng.u8(..5) != 0 => input["previousPassword"] = json!(password),
            Some(_) if self.rng.bool() => input["previousPassword"] = json!("not the password"),
            _ => {}
        }
        input
    }

    fn new_app(&mut self, is_draft: bool) -> Value {
        let mut input = json!({"name": self.label(64), "iconUrl": "/icon.svg"});
        if is_draft && self.rng.bool() {
            input["iconUrl"] = Value::Null;
        } else if self.rng.u8(..50) == 0 {
            input["iconUrl"] = json!(texts::at_bound(self.rng, 1, 65_536));
        } else if self.rng.u8(..20) == 0 {
            input["iconUrl"] = json!(texts::icon(self.rng));
        }
        self.maybe(&mut input, "description", |rng| match rng.u8(..30) {
            0 => texts::at_bound(rng, 0, 512),
            _ => format!("{}\n\tmore", texts::name(rng)),
        });
        self.links(&mut input);
        input
    }

    fn links(&mut self, input: &mut Value) {
        if self.rng.u8(..3) == 0 {
            self.maybe(input, "href", texts::url);
        }
        if self.rng.u8(..4) == 0 {
            self.maybe(input, "pingUrl", texts::url);
        }
    }

    fn app_change(&mut self) -> Value {
        let mut input = json!({"id": self.world.apps.id(self.rng)});
        if self.rng.u8(..3) != 0 {
            input["name"] = json!(self.label(64));
        }
        if self.rng.u8(..3) == 0 {
            input["iconUrl"] = json!(texts::name(self.rng));
        } else if self.rng.u8(..20) == 0 {
            input["iconUrl"] = json!(texts::icon(self.rng));
        }
        self.maybe(&mut input, "description", texts::name);
        self.links(&mut input);
        input
    }

    fn item(&mut self) -> Value {
        if self.rng.bool() {
            return json!({"kind": "app", "appId": self.good_id(&self.world.apps)});
        }
        let count = self.count(4);
        json!({"kind": "bookmarks", "appIds": self.good_ids(&self.world.apps, count)})
    }

    /// These items in sections, some with a size, and others that no app needs.
    fn sections(&mut self, items: Vec<Value>) -> Value {
        let mut sections = vec![json!({"items": [{"kind": "clock"}]})];
        for mut item in items {
            if self.rng.bool() {
                item["size"] = json!(self.size());
            }
            match self.rng.u8(..3) {
                0 => sections.push(json!({"name": self.label(64), "collapsed": true, "items": [item]})),
                1 => sections.push(json!({"items": [{"kind": "note", "text": texts::name(self.rng)}, item]})),
                _ => sections[0]["items"].as_array_mut().expect("a list").push(item),
            }
        }
        json!(sections)
    }

    pub fn size(&mut self) -> &'static str {
        ["1x1", "2x1", "2x2", "wide"][self.rng.usize(..4)]
    }

    /// One of few, so that boards have the same.
    pub fn slug(&mut self) -> &'static str {
        ["home", "kitchen", "tv-2"][self.rng.usize(..3)]
    }

    pub fn permission(&mut self) -> &'static str {
        match self.rng.u8(..20) {
            0 => "board-",
            _ => PERMISSIONS[self.rng.usize(..PERMISSIONS.len())],
        }
    }

    fn search(&mut self, name: Option<String>) -> Value {
        let query = texts::query(self.rng, &name.unwrap_or_default());
        let mut input = json!({"query": query});
        if self.rng.bool() {
            input["limit"] = json!(self.number(&[1, 2, 10, 100], &[0, 101]));
        }
        input
    }

    fn audit(&mut self) -> Value {
        let page = self.number(&[1, 1, 1, 2, 3, i32::MAX], &[0, -1]);
        let size = self.number(&[2, 5, 20, 100], &[0, 101]);
        let mut input = json!({"page": page, "pageSize": size});
        if self.rng.u8(..3) == 0 {
            input["actorId"] = json!(self.user());
        }
        if self.rng.u8(..3) == 0 {
            let procedures = [
                "app.create",
                "user.delete",
                "sign-in",
                "group.addMember",
                "nothing",
            ];
            input["procedure"] = json!(self.rng.choice(procedures));
        }
        if self.rng.u8(..3) == 0 {
            let outcomes = [
                "OK",
                "FORBIDDEN",
                "BAD_REQUEST",
                "NOT_FOUND",
                "CONFLICT",
                "nothing",
            ];
            input["outcome"] = json!(self.rng.choice(outcomes));
        }
        for key in ["from", "until"] {
            if self.rng.u8(..4) == 0 {
                input[key] = json!(self.date());
            }
        }
        input
    }

    fn date(&mut self) -> String {
        let date = match self.rng.u8(..8) {
            0 => self.now,
            1 => self.now - DAY,
            2 => return "9999-12-31T23:59:59.999Z".into(),
            3 => return "2026-06-01T12:00:00+02:00".into(),
            4 => return "2026-02-30T00:00:00Z".into(),
            5 => self.now + self.rng.u64(..DAY),
            _ => self.now + 100 * DAY,
        };
        time::format(date).expect("a date before the year 9999")
    }
}

/// Makes something of an input that may be wrong: a key gone, null, of another type; more than
/// asked for; or nothing at all.
pub fn distort(rng: &mut Rng, input: Option<Value>) -> Option<Value> {
    let Some(Value::Object(mut fields)) = input else {
        return rng.bool().then(|| json!([null]));
    };
    let names: Vec<_> = fields.keys().cloned().collect();
    let name = rng.choice(names)?;
    match rng.u8(..7) {
        0 => {
            fields.remove(&name);
        }
        1 => {
            fields.insert(name, Value::Null);
        }
        2 => {
            fields.insert(name, json!(2.5));
        }
        3 => {
            fields.insert(name, json!([{"a": "b"}]));
        }
        4 => {
            fields.insert(name, json!(texts::long(rng, 70_000)));
        }
        5 => {
            fields.insert("confirmPassword".into(), json!("more than asked for"));
        }
        _ => return None,
    }
    Some(Value::Object(fields))
}
