//! Who may call what, written by hand from sections 4 and 5 of the specification, the row
//! "unspecified access" of the design and the list of the dashboard side. Nothing generates it and
//! nothing here is read from the service: that is its worth.

use std::sync::atomic::{AtomicU32, Ordering};

use portico_tests::{Fixtures, NO_INPUT, PASSWORD, Session};
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
    /// Who holds one of these permissions, even if it is the only one.
    Holders(&'static [&'static str]),
}

use Who::{Everyone, Holders, NobodyAfterOnboarding, OwnOrAdmin, SignedIn};

const ADMIN: Who = Holders(&["admin"]);

/// The user whom a call is about.
pub struct Target {
    pub id: String,
    pub name: String,
}

/// What the inputs below refer to.
pub struct World {
    pub admin: Session,
    pub public_board: String,
    pub app: String,
    counter: AtomicU32,
}

impl World {
    pub fn new(admin: Session) -> Self {
        let app = admin.app("The app");
        let public_board = admin.board("The public board", true);
        Self {
            admin,
            public_board,
            app,
            counter: AtomicU32::new(0),
        }
    }

    /// A name that nothing has yet.
    fn name(&self) -> String {
        format!("thing-{}", self.counter.fetch_add(1, Ordering::Relaxed))
    }
}

/// One procedure: a valid input, so that whoever passes the access check gets a 200.
pub struct Row {
    pub name: &'static str,
    pub kind: &'static str,
    pub rest: Option<(&'static str, &'static str)>,
    pub who: Who,
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

fn registration(world: &World) -> Value {
    let invite = world.admin.invite();
    let mut input = account(world);
    input["inviteId"] = invite.id.into();
    input["token"] = invite.token.into();
    input
}

/// The table. `user.delete` is the last row, because it ends the caller where it is their own.
#[rustfmt::skip]
pub static TABLE: [Row; 49] = [
    // Section 4.1
    query("user.getAll", ADMIN, none).rest("GET", "/api/users"),
    query("user.selectable", SignedIn, |_, _| json!({"excludeExternalProviders": true}))
        .rest("GET", "/api/users/selectable"),
    query("user.search", ADMIN, |_, _| json!({"query": "a", "limit": 5})).rest("POST", "/api/users/search"),
    query("user.getById", OwnOrAdmin, |_, user| json!({"userId": user.id})).rest("GET", "/api/users/{userId}"),
    mutation("user.initUser", NobodyAfterOnboarding, |world, _| account(world)),
    mutation("user.register", Everyone, |world, _| registration(world)),
    mutation("user.create", ADMIN, |world, _| account(world)).rest("POST", "/api/users"),
    mutation("user.setProfileImage", OwnOrAdmin, |_, user| json!({"userId": user.id, "image": null}))
        .rest("PUT", "/api/users/profileImage"),
    mutation("user.editProfile", OwnOrAdmin, |_, user| json!({"id": user.id, "name": user.name, "email": "e@example.com"}))
        .rest("PUT", "/api/users/profile"),
    mutation("user.changePassword", OwnOrAdmin,
        |_, user| json!({"userId": user.id, "previousPassword": PASSWORD, "password": PASSWORD})),
    mutation("user.changeHomeBoards", OwnOrAdmin,
        |world, user| json!({"userId": user.id, "homeBoardId": world.public_board, "mobileHomeBoardId": null})),
    mutation("user.changeSearchPreferences", OwnOrAdmin,
        |_, user| json!({"userId": user.id, "defaultSearchEngineId": null, "openInNewTab": true})),
    mutation("user.changeColorScheme", SignedIn, |_, _| json!({"colorScheme": "auto"})),
    mutation("user.changePingIconsEnabled", OwnOrAdmin, |_, user| json!({"id": user.id, "pingIconsEnabled": true})),
    mutation("user.changeFirstDayOfWeek", OwnOrAdmin, |_, user| json!({"id": user.id, "firstDayOfWeek": 0})),
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
        |_, _| json!([{"name": "An app", "iconUrl": "/icon.svg"}])),
    mutation("app.update", Holders(&["app-modify-all", "app-full-all", "admin"]),
        |world, _| json!({"id": world.app, "name": "Another name"})).rest("PATCH", "/api/apps/{appId}"),
    mutation("app.delete", Holders(&["app-full-all", "admin"]), |world, _| json!({"id": world.admin.app("Doomed")}))
        .rest("DELETE", "/api/apps/{appId}"),
    // The dashboard side: admin only unless said.
    query("apiKeys.getAll", ADMIN, none),
    mutation("apiKeys.create", ADMIN, |_, user| json!({"userId": user.id})),
    mutation("apiKeys.delete", ADMIN, |world, user| {
        let key = world.admin.output_of("apiKeys.create", &json!({"userId": user.id}));
        json!({"apiKeyId": key["id"]})
    }),
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
    mutation("state.apply", ADMIN, |_, user| json!({"users": [{"name": user.name, "provider": "credentials"}]})),
    query("state.export", ADMIN, none),
    mutation("user.delete", OwnOrAdmin, |_, user| json!({"userId": user.id})).rest("DELETE", "/api/users/{userId}"),
];
