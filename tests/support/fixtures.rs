//! What a scenario begins with. Each of these fails loudly if the service refuses it.
//!
//! A password costs tens of milliseconds to hash, so users act through API keys, which cost
//! nothing, and sign in only where a test is about that.

use serde_json::{Value, json};

use crate::{Anonymous, Client, Endpoint, Key, Portico, Session};

/// The password of every user that is made here. It must never come out of the service.
pub const PASSWORD: &str = "canary-Tr0ub4dor-&3";

/// An id that nothing has.
pub const MISSING: &str = "01890000-0000-7000-8000-000000000000";

/// Creates the first user, `root`, and signs in.
#[track_caller]
pub fn administrator(server: &Portico) -> Session {
    administrator_of(&server.anonymous())
}

/// The same, of a service that is reached in another way.
#[track_caller]
pub fn administrator_of(client: &Anonymous) -> Session {
    let account = json!({"username": "root", "password": PASSWORD, "email": "root@example.com"});
    client.mutate("user.initUser", &account).data();
    client.sign_in("root", PASSWORD)
}

/// A user who acts through an API key.
pub struct User {
    /// The user's id.
    pub id: String,
    /// The user's name.
    pub name: String,
    /// The user's key.
    pub key: Key,
}

impl Client for User {
    fn endpoint(&self) -> &Endpoint {
        self.key.endpoint()
    }

    fn credentials(&self) -> Vec<(String, String)> {
        self.key.credentials()
    }
}

/// An invite that can be used once.
#[derive(Clone)]
pub struct Invite {
    /// Its id.
    pub id: String,
    /// Its secret.
    pub token: String,
}

/// What an administrator can make.
pub trait Fixtures: Client {
    /// The output of a mutation that must succeed.
    #[track_caller]
    fn output_of(&self, procedure: &str, input: &Value) -> Value {
        self.mutate(procedure, input).data()
    }

    /// Calls a mutation and takes this text out of what it returns.
    #[track_caller]
    fn make(&self, procedure: &str, input: &Value, field: &str) -> String {
        let answer = self.mutate(procedure, input);
        match answer.data().get(field).and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => panic!("no {field}: {answer}"),
        }
    }

    /// A user without a permission.
    #[track_caller]
    fn user(&self, name: &str) -> User {
        self.user_in(name, &[])
    }

    /// A user with this permission, through a group of its own.
    #[track_caller]
    fn user_with(&self, name: &str, permission: &str) -> User {
        let group = self.group(&format!("{name}-group"), &[permission]);
        self.user_in(name, &[&group])
    }

    /// A user who is a member of these groups.
    #[track_caller]
    fn user_in(&self, name: &str, groups: &[&str]) -> User {
        let account = json!({"username": name, "password": PASSWORD, "groupIds": groups});
        let id = self.make("user.create", &account, "id");
        let key = self.key_of(&id);
        User {
            id,
            name: name.to_owned(),
            key,
        }
    }

    /// An API key of this user.
    #[track_caller]
    fn key_of(&self, user: &str) -> Key {
        let key = self.make("apiKeys.create", &json!({"userId": user}), "apiKey");
        Key::new(self.endpoint(), &key)
    }

    /// A group with these permissions.
    #[track_caller]
    fn group(&self, name: &str, permissions: &[&str]) -> String {
        let id = self.make("group.createGroup", &json!({"name": name}), "id");
        let input = json!({"groupId": id, "permissions": permissions});
        self.mutate("group.savePermissions", &input).assert_status(200);
        id
    }

    /// An invite that expires long after this test.
    #[track_caller]
    fn invite(&self) -> Invite {
        let answer = self.mutate(
            "invite.createInvite",
            &json!({"expirationDate": "2999-12-31T00:00:00.000Z"}),
        );
        let text = |field: &str| answer.data()[field].as_str().expect("a text").to_owned();
        Invite {
            id: text("id"),
            token: text("token"),
        }
    }

    /// An app with only what it must have.
    #[track_caller]
    fn app(&self, name: &str) -> String {
        self.make(
            "app.create",
            &json!({"name": name, "iconUrl": "/icon.svg"}),
            "appId",
        )
    }

    /// This many apps with this icon, `App 0` and so on; gives their ids.
    #[track_caller]
    fn apps(&self, count: usize, icon: &str) -> Vec<String> {
        let apps: Vec<_> = (0..count)
            .map(|number| json!({"name": format!("App {number}"), "iconUrl": icon}))
            .collect();
        // A request has room for this many apps with the largest icons.
        let made = apps.chunks(250).flat_map(|apps| {
            let made = self.output_of("app.createMany", &json!(apps));
            made.as_array().expect("apps").clone()
        });
        made.map(|app| app["id"].as_str().expect("an id").to_owned())
            .collect()
    }

    /// A board without items.
    #[track_caller]
    fn board(&self, name: &str, is_public: bool) -> String {
        self.board_of(name, is_public, &json!([]))
    }

    /// A board with these items.
    #[track_caller]
    fn board_of(&self, name: &str, is_public: bool, items: &Value) -> String {
        self.make(
            "board.create",
            &json!({"name": name, "isPublic": is_public, "items": items}),
            "id",
        )
    }

    /// A search engine.
    #[track_caller]
    fn search_engine(&self, name: &str, short: &str) -> String {
        let input = json!({
            "name": name, "short": short, "iconUrl": "/icon.svg",
            "urlTemplate": "https://search.example.com/?q=%s",
        });
        self.make("searchEngine.create", &input, "id")
    }

    /// One user as `user.getById` gives it.
    #[track_caller]
    fn profile(&self, user: &str) -> Value {
        self.query("user.getById", &json!({"userId": user})).data()
    }

    /// The names of all users, in the order given.
    #[track_caller]
    fn user_names(&self) -> Vec<String> {
        names(&self.query("user.getAll", &Value::Null).data())
    }

    /// The names of all apps, in the order given.
    #[track_caller]
    fn app_names(&self) -> Vec<String> {
        names(&self.query("app.all", &Value::Null).data())
    }
}

impl<C: Client + ?Sized> Fixtures for C {}

/// The names of these records, in the order given.
#[track_caller]
pub fn names(records: &Value) -> Vec<String> {
    let records = records.as_array().expect("a list");
    records
        .iter()
        .map(|record| record["name"].as_str().expect("a name").to_owned())
        .collect()
}
