//! Documents for `state.apply`: new names, and names that exist in another form; references that match
//! one record, two or none; lists that prune; earlier exports.

use serde_json::{Value, json};

use super::{
    inputs::Inputs,
    texts,
    world::{Named, Records, User},
};

impl Inputs<'_> {
    /// A document: mostly a small one, now and then one with dozens of entries.
    pub fn document(&mut self) -> Value {
        let mut document = match &self.world.exported {
            Some(exported) if self.rng.u8(..4) == 0 => self.with_less(exported),
            _ => self.new_document(),
        };
        if self.rng.u8(..10) == 0 {
            document["prune"] = json!(true);
        }
        if self.rng.u8(..4) == 0 {
            document["dryRun"] = json!(true);
        }
        document
    }

    /// An export, of which at times a list or an entry is missing.
    fn with_less(&mut self, exported: &Value) -> Value {
        let mut document = exported.clone();
        let lists = ["groups", "users", "apps", "searchEngines", "boards"];
        let list = self.rng.choice(lists).unwrap_or("apps");
        match self.rng.u8(..4) {
            0 => drop(document.as_object_mut().and_then(|lists| lists.remove(list))),
            1 => {
                if let Some(entries) = document[list].as_array_mut()
                    && !entries.is_empty()
                {
                    entries.swap_remove(self.rng.usize(..entries.len()));
                }
            }
            _ => {}
        }
        document
    }

    fn new_document(&mut self) -> Value {
        let mut document = json!({});
        // What follows refers to what is listed before.
        if self.rng.bool() {
            document["groups"] = self.list(3, Self::wanted_group);
        }
        if self.rng.bool() {
            document["users"] = self.list(3, Self::wanted_user);
        }
        if self.rng.bool() {
            let most = if self.rng.u8(..20) == 0 { 60 } else { 4 };
            document["apps"] = self.list(most, Self::wanted_app);
        }
        if self.rng.u8(..3) == 0 {
            document["searchEngines"] = self.list(2, Self::wanted_engine);
        }
        if self.rng.bool() {
            let listed = document["apps"].as_array().cloned().unwrap_or_default();
            document["boards"] = self.list(2, |inputs| inputs.wanted_board(&listed));
        }
        // The last administrator loses what makes them one, or there is a first one.
        match self.rng.u8(..16) {
            0 => document["groups"] = json!([{"name": "admins", "permissions": []}]),
            1 | 2 => {
                document["groups"] = json!([{"name": "Admins", "permissions": ["admin"]}]);
                document["users"] = json!([{"name": "first", "provider": "ldap", "groups": ["ADMINS"]}]);
            }
            _ => {}
        }
        document
    }

    fn list(&mut self, most: usize, mut entry: impl FnMut(&mut Self) -> Value) -> Value {
        let count = self.rng.usize(..=most);
        (0..count).map(|_| entry(self)).collect()
    }

    fn wanted_group(&mut self) -> Value {
        let mut group = json!({"name": self.known_or_new(&self.world.groups)});
        if self.rng.bool() {
            let count = self.rng.usize(..3);
            group["permissions"] = (0..count).map(|_| json!(self.permission())).collect();
        }
        group
    }

    fn wanted_user(&mut self) -> Value {
        let known = self.world.users.any(self.rng).cloned();
        let mut user = match known {
            Some(user) if self.rng.bool() => self.user_name(&user),
            _ => {
                let providers = ["oidc", "ldap", "credentials"];
                json!({"name": texts::name(self.rng), "provider": self.rng.choice(providers)})
            }
        };
        let is_credentials = user["provider"] == "credentials";
        if is_credentials && self.rng.u8(..4) == 0 || self.rng.u8(..40) == 0 {
            user["password"] = json!(self.password());
        }
        if self.rng.u8(..4) == 0 {
            self.maybe(&mut user, "email", texts::email);
        }
        if self.rng.u8(..8) == 0 {
            self.maybe(&mut user, "emailVerified", |_| "2026-01-31T12:00:00.000Z".into());
        }
        if self.rng.u8(..8) == 0 {
            self.maybe(&mut user, "image", texts::image);
        }
        if self.rng.u8(..3) == 0 {
            user["groups"] = self.group_names();
        }
        user
    }

    fn wanted_app(&mut self) -> Value {
        let mut app = json!({"name": self.known_or_new(&self.world.apps)});
        match self.rng.u8(..8) {
            0..3 => app["id"] = json!(self.world.apps.id(self.rng)),
            3 => app["id"] = json!(format!("own {}", self.rng.u8(..4))),
            _ => {}
        }
        if self.rng.bool() {
            app["iconUrl"] = json!("/icon.svg");
        }
        self.maybe(&mut app, "description", texts::name);
        if self.rng.u8(..6) == 0 {
            self.maybe(&mut app, "href", texts::url);
        }
        app
    }

    fn wanted_engine(&mut self) -> Value {
        let mut engine = json!({
            "name": self.known_or_new(&self.world.engines), "short": self.short(),
            "urlTemplate": "https://search.example/?q=%s", "iconUrl": "/icon.svg",
        });
        self.maybe(&mut engine, "description", texts::name);
        engine
    }

    fn wanted_board(&mut self, listed: &[Value]) -> Value {
        let mut board = json!({"name": self.known_or_new(&self.world.boards)});
        if self.rng.bool() {
            board["isPublic"] = json!(self.rng.bool());
        }
        match self.rng.u8(..4) {
            0 => board["creator"] = Value::Null,
            1 => board["creator"] = self.reference_to_user(),
            _ => {}
        }
        match self.rng.u8(..4) {
            0 => board["slug"] = Value::Null,
            1 => board["slug"] = json!(self.slug()),
            _ => {}
        }
        match self.rng.u8(..4) {
            0 => board["items"] = self.wanted_items(listed),
            1 => {
                board["sections"] = self.list(3, |inputs| {
                    let mut section = json!({"items": inputs.wanted_items(listed)});
                    inputs.maybe(&mut section, "name", texts::name);
                    section
                });
            }
            _ => {}
        }
        match self.rng.u8(..4) {
            0 => board["sharedWith"] = Value::Null,
            1 => board["sharedWith"] = json!({"users": self.list(2, Self::reference_to_user)}),
            2 => board["sharedWith"] = json!({"groups": self.group_names()}),
            _ => {}
        }
        board
    }

    fn wanted_items(&mut self, listed: &[Value]) -> Value {
        self.list(3, |inputs| {
            let mut item = match inputs.rng.u8(..8) {
                0 => json!({"note": texts::name(inputs.rng)}),
                1 => json!({"clock": {}}),
                2..5 => json!({"app": inputs.reference_to_app(listed)}),
                _ => json!({"bookmarks": inputs.list(3, |inputs| inputs.reference_to_app(listed))}),
            };
            if inputs.rng.u8(..3) == 0 {
                item["size"] = json!(inputs.size());
            }
            item
        })
    }

    /// By id, or by a name that may be another's as well.
    fn reference_to_app(&mut self, listed: &[Value]) -> Value {
        match (self.rng.u8(..8), self.rng.choice(listed)) {
            (0, _) => json!(self.known_or_new(&self.world.apps)),
            (1..4, Some(app)) if app.get("id").is_none() => app["name"].clone(),
            _ => json!({"id": self.good_id(&self.world.apps)}),
        }
    }

    /// By name and provider, or by a name that may be another's as well.
    fn reference_to_user(&mut self) -> Value {
        match self.world.users.any(self.rng).cloned() {
            Some(user) if self.rng.u8(..4) == 0 => json!(texts::form(self.rng, &user.name)),
            Some(user) => self.user_name(&user),
            None => json!("mallory"),
        }
    }

    fn user_name(&mut self, user: &User) -> Value {
        let provider = match user.external {
            false => "credentials",
            true if self.rng.u8(..3) == 0 => "ldap",
            true => "oidc",
        };
        json!({"name": texts::form(self.rng, &user.name), "provider": provider})
    }

    fn group_names(&mut self) -> Value {
        self.list(2, |inputs| match inputs.world.groups.any(inputs.rng) {
            Some(group) if inputs.rng.u8(..20) != 0 => json!(texts::form(inputs.rng, &group.name)),
            _ => json!(texts::name(inputs.rng)),
        })
    }

    /// The name of one that is there, in any form, or another one.
    fn known_or_new(&mut self, records: &Records<Named>) -> String {
        match records.any(self.rng) {
            Some(record) if self.rng.bool() => texts::form(self.rng, &record.name),
            _ => self.label(64),
        }
    }
}
