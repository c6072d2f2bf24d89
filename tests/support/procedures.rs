//! Every procedure: who may call it, and a valid input. Written by hand from sections 4 and 5 of the specification, the row
//! "unspecified access" of the design and the list of the dashboard side. Nothing generates it and
//! nothing here is read from the service: that is its worth.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Anonymous, Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Session};
use serde_json::{Value, json};

/// Every permission that a group may hold.
pub const PERMISSIONS: [&str; 7] = [
    "admin",
    "app-create",
    "app-modify-all",
    "app-full-all",
    "board-view-all",
    "board-modify-all",
    "board-full-all",
];

/// Who gets past the access check.
pub enum Who {
    /// Anyone, signed in or not.
    Everyone,
    /// Nobody any more, once a user exists: FORBIDDEN for all.
    NobodyAfterOnboarding,
    /// Whoever is signed in.
    SignedIn,
    /// The user whom the call is about, and `admin` for any.
    OwnOrAdmin,
    /// Whoever is signed in, about what is their own; what is another's does not exist for them.
    OwnOnly,
    /// Who holds one of these permissions, even if it is the only one.
    Holders(&'static [&'static str]),
}

use Who::{Everyone, Holders, NobodyAfterOnboarding, OwnOnly, OwnOrAdmin, SignedIn};

const ADMIN: Who = Holders(&["admin"]);

/// The user whom a call is about.
#[expect(missing_docs, reason = "the names say it")]
pub struct Target {
    pub id: String,
    pub name: String,
}

/// What the inputs below refer to.
pub struct World {
    /// The first user.
    pub admin: Session,
    public_board: String,
    app: String,
    counter: AtomicU32,
    turns: AtomicU32,
}

impl World {
    /// An app and a board, made by this administrator.
    pub fn new(admin: Session) -> Self {
        let app = admin.app("The app");
        let public_board = admin.board("The public board", true);
        Self {
            admin,
            public_board,
            app,
            counter: AtomicU32::new(0),
            turns: AtomicU32::new(0),
        }
    }

    /// True and false in turn, so that a change is one also if the same was changed before.
    fn alternately(&self) -> bool {
        self.turns.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
    }

    /// A name that nothing has yet.
    pub fn name(&self) -> String {
        format!("thing-{}", self.counter.fetch_add(1, Ordering::Relaxed))
    }
}

/// One procedure: a valid input, so that whoever passes the access check gets a 200.
pub struct Row {
    /// As clients call it.
    pub name: &'static str,
    /// `query` or `mutation`.
    pub kind: &'static str,
    /// Method and path, if it stands in REST.
    pub rest: Option<(&'static str, &'static str)>,
    /// Who may call it.
    pub who: Who,
    /// Makes a valid input, and whatever it refers to.
    pub input: fn(&World, &Target) -> Value,
}

impl Row {
    const fn rest(mut self, method: &'static str, path: &'static str) -> Self {
        self.rest = Some((method, path));
        self
    }
}

const fn query(name: &'static str, who: Who, input: fn(&World, &Target) -> Value) -> Row {
    Row {
        name,
        kind: "query",
        rest: None,
        who,
        input,
    }
}

const fn mutation(name: &'static str, who: Who, input: fn(&World, &Target) -> Value) -> Row {
    Row {
        name,
        kind: "mutation",
        rest: None,
        who,
        input,
    }
}

const fn none(_: &World, _: &Target) -> Value {
    NO_INPUT
}

fn account(world: &World) -> Value {
    json!({"username": world.name(), "password": PASSWORD, "email": "new@example.com", "groupIds": []})
}

fn member_account(world: &World) -> Value {
    let groups = [0, 1].map(|_| world.admin.group(&world.name(), &[]));
    let mut input = account(world);
    input["groupIds"] = json!(groups);
    input
}

fn image(world: &World) -> Option<&'static str> {
    world
        .alternately()
        .then_some("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAIBAABBAQAOw==")
}

fn registration(world: &World) -> Value {
    let invite = world.admin.invite();
    let mut input = account(world);
    input["inviteId"] = invite.id.into();
    input["token"] = invite.token.into();
    input
}

/// The id of a new session of a user; of one who is not there, nothing's.
fn session_of(world: &World, user: &Target) -> Value {
    let credentials = json!({"username": user.name, "password": PASSWORD});
    // With the administrator's own session it would end that one.
    let nobody = Anonymous {
        door: world.admin.door().clone(),
    };
    let answer = nobody.post("/api/auth/sign-in", &credentials);
    let Some(token) = answer.json()["token"]
        .as_str()
        .map(|token| format!("Bearer {token}"))
    else {
        return json!(MISSING);
    };
    let path = "/api/trpc/session.getAll";
    let sessions = world.admin.send("GET", path, &[("authorization", &token)], None);
    let sessions = sessions.data();
    let mut sessions = sessions.as_array().expect("a list").iter();
    let current = sessions.find(|session| session["current"] == true);
    current.expect("the session")["id"].clone()
}

/// The table. `user.delete` is the last row, because it ends the caller where it is their own.
#[rustfmt::skip]
pub static TABLE: [Row; 52] = [
    // Section 4.1
    query("user.getAll", ADMIN, none).rest("GET", "/api/users"),
    query("user.selectable", SignedIn, |_, _| json!({"excludeExternalProviders": true}))
        .rest("GET", "/api/users/selectable"),
    query("user.search", ADMIN, |_, _| json!({"query": "a", "limit": 5})).rest("POST", "/api/users/search"),
    query("user.getById", OwnOrAdmin, |_, user| json!({"userId": user.id})).rest("GET", "/api/users/{userId}"),
    mutation("user.initUser", NobodyAfterOnboarding, |world, _| account(world)),
    mutation("user.register", Everyone, |world, _| registration(world)),
    mutation("user.create", ADMIN, |world, _| member_account(world)).rest("POST", "/api/users"),
    mutation("user.setProfileImage", OwnOrAdmin, |world, user| json!({"userId": user.id, "image": image(world)}))
        .rest("PUT", "/api/users/profileImage"),
    mutation("user.editProfile", OwnOrAdmin, |world, user|
        json!({"id": user.id, "name": user.name, "email": format!("{}@example.com", world.name())}))
        .rest("PUT", "/api/users/profile"),
    mutation("user.changePassword", OwnOrAdmin,
        |_, user| json!({"userId": user.id, "previousPassword": PASSWORD, "password": PASSWORD})),
    mutation("user.changeHomeBoards", OwnOrAdmin,
        |world, user| {
            let board = world.alternately().then_some(&world.public_board);
            json!({"userId": user.id, "homeBoardId": board, "mobileHomeBoardId": world.public_board})
        }),
    mutation("user.changeSearchPreferences", OwnOrAdmin,
        |world, user| json!({"userId": user.id, "defaultSearchEngineId": null, "openInNewTab": world.alternately()})),
    mutation("user.changeColorScheme", SignedIn, |world, _|
        json!({"colorScheme": if world.alternately() { "auto" } else { "light" }})),
    mutation("user.changePingIconsEnabled", OwnOrAdmin, |world, user|
        json!({"id": user.id, "pingIconsEnabled": world.alternately()})),
    mutation("user.changeFirstDayOfWeek", OwnOrAdmin, |world, user|
        json!({"id": user.id, "firstDayOfWeek": u8::from(world.alternately())})),
    // Section 4.2
    query("app.all", SignedIn, none).rest("GET", "/api/apps"),
    query("app.getPaginated", SignedIn, |_, _| json!({"page": 1, "pageSize": 5, "search": "a"}))
        .rest("GET", "/api/apps/paginated"),
    query("app.search", SignedIn, |_, _| json!({"query": "a", "limit": 5})).rest("GET", "/api/apps/search"),
    query("app.selectable", SignedIn, none).rest("GET", "/api/apps/selectable"),
    query("app.byId", Everyone, |world, _| json!({"id": world.app})).rest("GET", "/api/apps/{appId}"),
    query("app.byIds", Everyone, |world, _| json!([world.app])),
    mutation("app.create", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |_, _| json!({"name": "An app", "iconUrl": "/icon.svg"})).rest("POST", "/api/apps"),
    mutation("app.createMany", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |_, _| json!([{"name": "An app", "iconUrl": "/icon.svg"}, {"name": "Another app"}])),
    mutation("app.update", Holders(&["app-modify-all", "app-full-all", "admin"]),
        |world, _| json!({"id": world.app, "name": world.name()})).rest("PATCH", "/api/apps/{appId}"),
    mutation("app.delete", Holders(&["app-full-all", "admin"]), |world, _| json!({"id": world.admin.app("Doomed")}))
        .rest("DELETE", "/api/apps/{appId}"),
    // The dashboard side: admin only unless said.
    query("apiKeys.getAll", ADMIN, none),
    mutation("apiKeys.create", ADMIN, |_, user| json!({"userId": user.id})),
    mutation("apiKeys.delete", ADMIN, |world, user| {
        let key = world.admin.output_of("apiKeys.create", &json!({"userId": user.id}));
        json!({"apiKeyId": key["id"]})
    }),
    query("session.getAll", SignedIn, none),
    mutation("session.delete", OwnOnly, |world, user| json!({"id": session_of(world, user)})),
    query("invite.getAll", ADMIN, none).rest("GET", "/api/invites"),
    mutation("invite.createInvite", ADMIN, |_, _| json!({"expirationDate": "2999-12-31T00:00:00.000Z"}))
        .rest("POST", "/api/invites"),
    mutation("invite.deleteInvite", ADMIN, |world, _| json!({"id": world.admin.invite().id}))
        .rest("DELETE", "/api/invites/{id}"),
    query("group.getAll", ADMIN, none),
    mutation("group.createGroup", ADMIN, |world, _| json!({"name": world.name()})),
    mutation("group.deleteGroup", ADMIN, |world, _| json!({"id": world.admin.group(&world.name(), &[])})),
    mutation("group.savePermissions", ADMIN,
        |world, _| json!({"groupId": world.admin.group(&world.name(), &[]), "permissions": ["app-create"]})),
    mutation("group.addMember", ADMIN,
        |world, user| json!({"groupId": world.admin.group(&world.name(), &[]), "userId": user.id})),
    mutation("group.removeMember", ADMIN, |world, user| {
        let member = json!({"groupId": world.admin.group(&world.name(), &[]), "userId": user.id});
        world.admin.output_of("group.addMember", &member);
        member
    }),
    query("board.getAll", ADMIN, none),
    query("board.byId", Everyone, |world, _| json!({"id": world.public_board})),
    mutation("board.create", ADMIN, |world, _| json!({"name": world.name(), "isPublic": false, "items": []})),
    mutation("board.share", ADMIN, |world, user|
        json!({"boardId": world.admin.board(&world.name(), false), "users": [user.id], "groups": []})),
    mutation("board.delete", ADMIN, |world, _| json!({"id": world.admin.board(&world.name(), false)})),
    query("searchEngine.getAll", ADMIN, none),
    mutation("searchEngine.create", ADMIN, |world, _| {
        let name = world.name();
        let short = &name[name.len().saturating_sub(8)..];
        json!({"name": name, "short": short, "urlTemplate": "https://search.example.com/?q=%s", "iconUrl": "/icon.svg"})
    }),
    mutation("searchEngine.delete", ADMIN, |world, _| {
        let name = world.name();
        json!({"id": world.admin.search_engine(&name, &name[name.len().saturating_sub(8)..])})
    }),
    query("onboard.currentStep", Everyone, none),
    mutation("state.apply", ADMIN, |world, user| {
        let name = world.name();
        let short = &name[name.len().saturating_sub(8)..];
        json!({
            "groups": [{"name": name, "permissions": ["app-create"]}],
            "users": [
                {"name": user.name, "provider": "credentials", "email": format!("{short}@example.com"), "groups": [name]},
                {"name": name, "provider": "credentials"},
            ],
            "apps": [{"name": name, "href": "https://example.com/"}],
            "searchEngines": [
                {"name": name, "short": short, "urlTemplate": "https://search.example.com/?q=%s", "iconUrl": "/icon.svg"},
            ],
            "boards": [{"name": name, "creator": user.name, "items": [{"app": name}], "sharedWith": {"groups": [name]}}],
        })
    }),
    query("state.export", ADMIN, none),
    query("audit.getPaginated", ADMIN, |world, _| json!({"page": 1, "pageSize": 5, "actorId": world.admin.user_id})),
    mutation("user.delete", OwnOrAdmin, |_, user| json!({"userId": user.id})).rest("DELETE", "/api/users/{userId}"),
];
