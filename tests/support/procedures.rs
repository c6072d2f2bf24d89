//! Every procedure: who may call it, and a good input. This is the one place in which tests say so.
//!
//! The table is written by hand. Nothing generates it, and nothing in it is read from the service, so it can
//! disagree with the service. A test in `tests/api/access.rs` compares it with the
//! service's own table, so a procedure without a row fails.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{Answer, Client, NO_INPUT, PASSWORD, escape, trpc_query_path};

/// Every permission that a group may hold.
pub const PERMISSIONS: [&str; 8] = [
    "admin",
    "app-create",
    "app-modify-all",
    "app-full-all",
    "board-create",
    "board-view-all",
    "board-modify-all",
    "board-full-all",
];

/// Which callers pass the access check.
pub enum Who {
    /// All, signed in or not.
    Everyone,
    /// All until a user exists; after that the answer to every caller is FORBIDDEN.
    Onboarding,
    /// Every user who is signed in.
    SignedIn,
    /// The user whom the call is about, and `admin` for any user.
    OwnOrAdmin,
    /// Every user who is signed in, for records of their own; the records of others do not exist for them.
    OwnOnly,
    /// Every user who is signed in and sends a code of their second factor, or a passkey. The users of these tests have none, so
    /// they are refused with this status.
    WithCode(u16),
    /// Users with one of these permissions, even if it is their only one.
    Holders(&'static [&'static str]),
    /// The same for a board that someone else has made. Others do not learn whether it exists, unless they may view it.
    OnBoard(&'static [&'static str]),
}

use Who::{Everyone, Holders, OnBoard, Onboarding, OwnOnly, OwnOrAdmin, SignedIn, WithCode};

const ADMIN: Who = Holders(&["admin"]);
const CHANGES_APPS: Who = Holders(&["app-modify-all", "app-full-all", "admin"]);
const CHANGES_BOARDS: Who = OnBoard(&["board-modify-all", "board-full-all", "admin"]);
const OWNS_BOARDS: Who = OnBoard(&["board-full-all", "admin"]);

/// The records that inputs refer to, each by its id unless stated otherwise.
pub trait Records {
    /// The user whom the call is about.
    fn user(&mut self) -> String;
    /// The name of that user.
    fn user_name(&mut self) -> String;
    /// An app.
    fn app(&mut self) -> String;
    /// A board that everyone may see.
    fn board(&mut self) -> String;
    /// The short address of a board.
    fn board_slug(&mut self) -> String;
    /// A group.
    fn group(&mut self) -> String;
    /// The name of a group.
    fn group_name(&mut self) -> String;
    /// An app that the call may delete.
    fn spare_app(&mut self) -> String;
    /// A board that the call may change or delete.
    fn spare_board(&mut self) -> String;
    /// A group that the call may change or delete, without members.
    fn spare_group(&mut self) -> String;
    /// A search engine that the call may delete.
    fn spare_search_engine(&mut self) -> String;
    /// An API key that the call may delete.
    fn spare_key(&mut self) -> String;
    /// An API key, of the user whom the call is about, that the call may delete.
    fn spare_own_key(&mut self) -> String {
        self.spare_key()
    }
    /// An invite that the call may delete.
    fn spare_invite(&mut self) -> String;
    /// A session, of the user whom the call is about, that the call may delete.
    fn spare_session(&mut self) -> String;
    /// A group, and a user who is a member of it.
    fn membership(&mut self) -> (String, String);
    /// An invite that can be used: its id and its token.
    fn invite(&mut self) -> (String, String);
    /// The token of a link with which the user whom the call is about sets a new password.
    fn password_link(&mut self) -> String;
    /// A name that no record has.
    fn name(&mut self) -> String;
    /// True at one call and false at the next, so that a call changes something also if the same call was
    /// made before.
    fn flag(&mut self) -> bool;
    /// The user who reads the audit log.
    fn reader(&mut self) -> String;
}

/// Which record a successful mutation is about, and how many it creates.
#[derive(Clone, Copy)]
pub enum About {
    /// The record whose id is `id` in the output or else in the input, or else the input's `userId`,
    /// `groupId` and so on after the area. It is created if the name says so.
    Rule,
    /// The first of the records in the output, all of which are created.
    First,
    /// The caller.
    Caller,
    /// The user whom the input names.
    User,
    /// The group that the input names.
    Group,
    /// The session that the input names, with its address and browser.
    Session,
    /// No record: what the report in the output counts, for the input of this registry.
    Report,
    /// No record: the dashboard as a whole.
    Nothing,
}

/// One procedure. A caller who passes the access check gets a 200 for the input.
pub struct Row {
    /// As clients call it.
    pub name: &'static str,
    /// `query` or `mutation`.
    pub kind: &'static str,
    /// Method and path, if it has a REST route.
    pub rest: Option<(&'static str, &'static str)>,
    /// Who may call it.
    pub who: Who,
    /// Which record it is about.
    pub about: About,
    /// How often a random sequence calls it, in relation to the others. A call that hashes a password costs
    /// a hundred times as much as another one, and is made just often enough.
    pub weight: u32,
    input: Input,
}

type Input = fn(&mut dyn Records) -> Value;

impl Row {
    const fn rest(mut self, method: &'static str, path: &'static str) -> Self {
        self.rest = Some((method, path));
        self
    }

    const fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    const fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The part of its name before the dot.
    pub fn area(&self) -> &'static str {
        self.name.split_once('.').expect("AREA.FUNCTION").0
    }

    /// A good input that refers to these records; [`NO_INPUT`] for a procedure that takes none.
    pub fn input(&self, records: &mut dyn Records) -> Value {
        (self.input)(records)
    }

    /// Calls it as a procedure.
    #[track_caller]
    pub fn call(&self, client: &dyn Client, input: &Value) -> Answer {
        match self.kind {
            "query" => client.send("GET", &trpc_query_path(self.name, input), &[], None),
            _ => client.send_json("POST", &format!("/api/trpc/{}", self.name), input),
        }
    }

    /// Calls it at its REST route.
    #[track_caller]
    pub fn call_rest(&self, client: &dyn Client, input: &Value) -> Answer {
        let (method, template) = self.rest.expect("a route");
        let mut input = input.clone();
        let mut path = template.to_owned();
        while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
            // The route's name for the id is not always the procedure's.
            let name = &path[start + 1..end];
            let keys = input.as_object_mut().expect("an object");
            let id = keys.remove(name).or_else(|| keys.remove("id")).expect("the id");
            let id = escape(id.as_str().expect("a text"));
            path = format!("{}{id}{}", &path[..start], &path[end + 1..]);
        }
        match (method, &input) {
            ("GET" | "DELETE", Value::Object(keys)) if !keys.is_empty() => {
                let pairs = keys.iter().map(|(key, value)| match value {
                    Value::String(text) => format!("{key}={}", escape(text)),
                    other => format!("{key}={other}"),
                });
                let path = format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"));
                client.send(method, &path, &[], None)
            }
            ("GET" | "DELETE", _) => client.send(method, &path, &[], None),
            _ => client.send_json(method, &path, &input),
        }
    }

    /// The record that a successful call by this caller is about, as the audit log names it.
    #[track_caller]
    pub fn target(&self, input: &Value, output: &Value, caller: &str) -> Value {
        match self.about {
            About::Rule => {
                let area = self.area();
                let key = format!("{}Id", area.strip_suffix('s').unwrap_or(area));
                let places = [output.get("id"), input.get("id"), input.get(key)];
                match places.into_iter().flatten().next() {
                    Some(id) => id.clone(),
                    None => panic!("add .about() to the row of {}", self.name),
                }
            }
            About::First => output[0]["id"].clone(),
            About::Caller => caller.into(),
            About::User => input["userId"].clone(),
            About::Group => input["groupId"].clone(),
            About::Session => format!("{} 127.0.0.1 ureq", input["id"].as_str().expect("an id")).into(),
            About::Report => COUNTS.into(),
            About::Nothing => Value::Null,
        }
    }

    /// How many records a successful call creates.
    #[track_caller]
    pub fn created(&self, output: &Value) -> usize {
        match self.about {
            About::First => output.as_array().expect("records").len(),
            // And the picture, which no report names.
            About::Report => output["created"].as_array().expect("records").len() + 1,
            About::Rule | About::Caller | About::User | About::Group | About::Session | About::Nothing => {
                self.creates().into()
            }
        }
    }

    /// Whether it creates one record.
    pub fn creates(&self) -> bool {
        let is_account = ["user.register", "user.initUser"].contains(&self.name);
        matches!(self.about, About::Rule) && (is_account || self.name.contains(".create"))
    }
}

/// The row of this procedure.
#[track_caller]
pub fn row(name: &str) -> &'static Row {
    let row = TABLE.iter().find(|row| row.name == name);
    row.unwrap_or_else(|| panic!("{name} has no row in tests/support/procedures.rs"))
}

const fn query(name: &'static str, who: Who, input: Input) -> Row {
    Row {
        name,
        kind: "query",
        rest: None,
        who,
        about: About::Rule,
        weight: 20,
        input,
    }
}

const fn mutation(name: &'static str, who: Who, input: Input) -> Row {
    Row {
        name,
        kind: "mutation",
        rest: None,
        who,
        about: About::Rule,
        weight: 20,
        input,
    }
}

fn none(_: &mut dyn Records) -> Value {
    NO_INPUT
}

fn account(records: &mut dyn Records) -> Value {
    json!({"username": records.name(), "password": PASSWORD, "email": "new@example.com", "groupIds": []})
}

fn member_account(records: &mut dyn Records) -> Value {
    let mut input = account(records);
    input["groupIds"] = json!([records.spare_group(), records.spare_group()]);
    input
}

fn registration(records: &mut dyn Records) -> Value {
    let (id, token) = records.invite();
    let mut input = account(records);
    input["inviteId"] = id.into();
    input["token"] = token.into();
    input
}

fn image(records: &mut dyn Records) -> Option<&'static str> {
    records
        .flag()
        .then_some("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAIBAABBAQAOw==")
}

/// A picture of one pixel that nothing else has: its unused colours are letters of a name.
pub fn picture(name: &str) -> String {
    let mut colors = name.as_bytes().to_vec();
    colors.resize(48, 0);
    let gif = [
        &b"GIF89a\x01\0\x01\0\x83\0\0"[..],
        &colors,
        b",\0\0\0\0\x01\0\x01\0\0\x04\x02\x10\x04\0;",
    ]
    .concat();
    format!("data:image/gif;base64,{}", STANDARD.encode(&gif))
}

/// A short of a search engine: the end of a name, reversed. Names are numbered at their ends.
pub(crate) fn short(name: &str) -> String {
    name.chars().rev().take(8).collect()
}

fn search_engine(name: &str) -> Value {
    json!({"name": name, "short": short(name), "urlTemplate": "https://search.example.com/?q=%s", "iconUrl": "/icon.svg"})
}

/// What `state.apply` counts for [`document`].
const COUNTS: &str = "created 5, changed 1, removed 0";

/// Creates one record of each kind, and gives the user another email and a group.
fn document(records: &mut dyn Records) -> Value {
    let (name, user, group) = (records.name(), records.user_name(), records.group_name());
    let creator = json!({"name": user, "provider": "credentials"});
    json!({
        "groups": [{"name": name, "permissions": ["app-create"]}],
        "users": [
            {"name": name, "provider": "credentials", "email": "new@example.com"},
            {"name": user, "provider": "credentials", "email": format!("{name}@example.com"), "groups": [group]},
        ],
        "apps": [{"id": name, "name": name, "iconUrl": "/icon.svg", "href": "https://example.com/"}],
        "searchEngines": [search_engine(&name)],
        "boards": [{
            "name": name,
            "creator": creator,
            "slug": null,
            "sections": [{"name": "Media", "items": [
                {"bookmarks": [{"id": records.app()}], "size": "wide"}, {"note": "Milk"}, {"clock": {}}]}],
            "sharedWith": {"users": [creator], "groups": [group]},
        }],
        "pictures": [{"image": picture(&name)}],
    })
}

/// The table. `user.delete` is the last row, because a caller may delete itself with it.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    // wit/users.wit
    query("user.getAll", ADMIN, none).rest("GET", "/api/users"),
    query("user.getPaginated", ADMIN, |_|
        json!({"page": 1, "pageSize": 5, "search": "a", "provider": "credentials", "disabled": false}))
        .rest("GET", "/api/users/paginated").weight(25),
    query("user.selectable", SignedIn, |_| json!({"excludeExternalProviders": true}))
        .rest("GET", "/api/users/selectable"),
    query("user.search", ADMIN, |_| json!({"query": "a", "limit": 5})).rest("POST", "/api/users/search")
        .weight(40),
    query("user.getById", OwnOrAdmin, |it| json!({"userId": it.user()})).rest("GET", "/api/users/{userId}")
        .weight(30),
    mutation("user.initUser", Onboarding, account).weight(1),
    mutation("user.register", Everyone, registration).weight(10),
    mutation("user.create", ADMIN, member_account).rest("POST", "/api/users").weight(8),
    mutation("user.setProfileImage", OwnOrAdmin, |it| json!({"userId": it.user(), "image": image(it)}))
        .rest("PUT", "/api/users/profileImage"),
    mutation("user.editProfile", OwnOrAdmin, |it|
        json!({"id": it.user(), "name": it.user_name(), "email": format!("{}@example.com", it.name())}))
        .rest("PUT", "/api/users/profile").weight(30),
    mutation("user.changePassword", OwnOrAdmin,
        |it| json!({"userId": it.user(), "previousPassword": PASSWORD, "password": PASSWORD})).weight(8),
    mutation("user.changeHomeBoards", OwnOrAdmin,
        |it| {
            let (board, is_home) = (it.board(), it.flag());
            json!({"userId": it.user(), "homeBoardId": is_home.then_some(&board), "mobileHomeBoardId": board})
        }).weight(30),
    mutation("user.changeSearchPreferences", OwnOrAdmin,
        |it| json!({"userId": it.user(), "defaultSearchEngineId": null, "openInNewTab": it.flag()})),
    mutation("user.changeColorScheme", SignedIn, |it|
        json!({"colorScheme": if it.flag() { "auto" } else { "light" }})).about(About::Caller).weight(15),
    mutation("user.changePingIconsEnabled", OwnOrAdmin, |it|
        json!({"id": it.user(), "pingIconsEnabled": it.flag()})).weight(15),
    mutation("user.changeFirstDayOfWeek", OwnOrAdmin, |it|
        json!({"id": it.user(), "firstDayOfWeek": u8::from(it.flag())})).weight(15),
    mutation("user.setDisabled", ADMIN, |it| json!({"userId": it.user(), "disabled": false}))
        .rest("PATCH", "/api/users/{userId}/disabled").weight(10),
    mutation("user.createPasswordLink", ADMIN, |it| json!({"userId": it.user()})).weight(12),
    mutation("user.setPasswordByLink", Everyone, |it|
        json!({"token": it.password_link(), "password": PASSWORD})).weight(4),
    // wit/apps.wit
    query("app.all", SignedIn, none).rest("GET", "/api/apps"),
    query("app.getPaginated", SignedIn, |_| json!({"page": 1, "pageSize": 5, "search": "a"}))
        .rest("GET", "/api/apps/paginated").weight(40),
    query("app.search", SignedIn, |_| json!({"query": "a", "limit": 5})).rest("GET", "/api/apps/search")
        .weight(40),
    query("app.selectable", SignedIn, none).rest("GET", "/api/apps/selectable").weight(10),
    query("app.byId", Everyone, |it| json!({"id": it.app()})).rest("GET", "/api/apps/{appId}"),
    query("app.byIds", Everyone, |it| json!([it.app()])).weight(25),
    query("app.status", Everyone, |it| json!([it.app()])).rest("GET", "/api/apps/status").weight(10),
    mutation("app.create", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |_| json!({"name": "An app", "iconUrl": "/icon.svg"})).rest("POST", "/api/apps").weight(50),
    mutation("app.createMany", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |_| json!([{"name": "An app", "iconUrl": "/icon.svg"}, {"name": "Another app"}])).about(About::First),
    mutation("app.update", Holders(&["app-modify-all", "app-full-all", "admin"]),
        |it| json!({"id": it.app(), "name": it.name()})).rest("PATCH", "/api/apps/{appId}").weight(40),
    mutation("app.delete", Holders(&["app-full-all", "admin"]), |it| json!({"id": it.spare_app()}))
        .rest("DELETE", "/api/apps/{appId}").weight(35),
    // The dashboard side: admin only unless stated otherwise.
    query("apiKeys.getAll", ADMIN, none).weight(10),
    query("apiKeys.getOwn", SignedIn, none).rest("GET", "/api/apiKeys/own").weight(10),
    mutation("apiKeys.create", ADMIN, |it| json!({"userId": it.user()})).weight(25),
    mutation("apiKeys.createOwn", SignedIn, |_| json!({"name": "My laptop"})).rest("POST", "/api/apiKeys/own"),
    mutation("apiKeys.deleteOwn", OwnOnly, |it| json!({"apiKeyId": it.spare_own_key()}))
        .rest("DELETE", "/api/apiKeys/own/{apiKeyId}").weight(8),
    mutation("apiKeys.delete", ADMIN, |it| json!({"apiKeyId": it.spare_key()})).weight(8),
    query("session.getAll", SignedIn, none).weight(25),
    mutation("session.delete", OwnOnly, |it| json!({"id": it.spare_session()})).about(About::Session).weight(50),
    mutation("session.deleteOthers", SignedIn, |it| {
        it.spare_session();
        NO_INPUT
    }).rest("DELETE", "/api/sessions/others").about(About::Caller).weight(3),
    query("secondFactor.getOwn", SignedIn, none).rest("GET", "/api/secondFactors/own").weight(10),
    query("secondFactor.newSecret", SignedIn, none).rest("GET", "/api/secondFactors/own/secret").weight(3),
    mutation("secondFactor.addTotp", WithCode(400), |_| json!({"secret": "A", "code": "none"}))
        .rest("POST", "/api/secondFactors/own/totp").weight(25),
    mutation("secondFactor.delete", WithCode(404), |it| json!({"id": it.app(), "code": "none"}))
        .rest("POST", "/api/secondFactors/own/{id}/delete").weight(8),
    mutation("secondFactor.renewRecoveryCodes", WithCode(409), |_| json!({"code": "none"}))
        .rest("POST", "/api/secondFactors/own/recoveryCodes").weight(6),
    mutation("secondFactor.beginPasskey", WithCode(404), none).rest("POST", "/api/secondFactors/own/passkeys/options").weight(12),
    mutation("secondFactor.addPasskey", WithCode(404), |_| json!({"name": "Phone", "credential": {
        "response": {"clientDataJSON": "", "attestationObject": ""}}}))
        .rest("POST", "/api/secondFactors/own/passkeys").weight(2),
    mutation("secondFactor.rename", WithCode(404), |it| json!({"id": it.app(), "name": "Phone"}))
        .rest("PATCH", "/api/secondFactors/own/{id}").weight(6),
    mutation("secondFactor.beginProof", WithCode(404), none).rest("POST", "/api/secondFactors/own/proof").weight(10),
    query("secondFactor.getOfUser", ADMIN, |it| json!({"userId": it.user()}))
        .rest("GET", "/api/users/{userId}/secondFactors").weight(5),
    mutation("secondFactor.deleteOfUser", ADMIN, |it| json!({"userId": it.user()}))
        .rest("DELETE", "/api/users/{userId}/secondFactors").about(About::User).weight(5),
    query("invite.getAll", ADMIN, none).rest("GET", "/api/invites").weight(10),
    query("invite.getByToken", Everyone, |it| {
        let (id, token) = it.invite();
        json!({"inviteId": id, "token": token})
    })
    .weight(10),
    mutation("invite.createInvite", ADMIN, |it|
        json!({"expirationDate": "2999-12-31T00:00:00.000Z", "groupIds": [it.group()]}))
        .rest("POST", "/api/invites").weight(25),
    mutation("invite.deleteInvite", ADMIN, |it| json!({"id": it.spare_invite()}))
        .rest("DELETE", "/api/invites/{id}").weight(8),
    query("group.getAll", ADMIN, none).rest("GET", "/api/groups"),
    mutation("group.createGroup", ADMIN, |it| json!({"name": it.name()})).rest("POST", "/api/groups"),
    mutation("group.rename", ADMIN, |it| json!({"groupId": it.spare_group(), "name": it.name()}))
        .rest("PATCH", "/api/groups/{groupId}"),
    mutation("group.deleteGroup", ADMIN, |it| json!({"id": it.spare_group()}))
        .rest("DELETE", "/api/groups/{groupId}").weight(10),
    mutation("group.savePermissions", ADMIN,
        |it| json!({"groupId": it.spare_group(), "permissions": ["app-create"]}))
        .rest("PUT", "/api/groups/{groupId}/permissions").weight(25),
    mutation("group.addMember", ADMIN,
        |it| json!({"groupId": it.spare_group(), "userId": it.user()}))
        .rest("PUT", "/api/groups/{groupId}/members/{userId}").weight(35),
    mutation("group.removeMember", ADMIN, |it| {
        let (group, user) = it.membership();
        json!({"groupId": group, "userId": user})
    }).rest("DELETE", "/api/groups/{groupId}/members/{userId}"),
    query("board.getAll", ADMIN, none).weight(10),
    query("board.getVisible", Everyone, none).rest("GET", "/api/boards"),
    query("board.byId", Everyone, |it| json!({"id": it.board()})).rest("GET", "/api/boards/{id}").weight(30),
    query("board.bySlug", Everyone, |it| json!({"slug": it.board_slug()}))
        .rest("GET", "/api/boards/by-slug/{slug}").weight(12),
    query("board.getChangeable", SignedIn, none).weight(12),
    query("board.getRight", Everyone, |it| json!({"id": it.board()})).weight(12),
    mutation("board.create", Holders(&["board-create", "board-full-all", "admin"]), |it|
        json!({"name": it.name(), "isPublic": false, "items": [{"kind": "app", "appId": it.app()}]}))
        .rest("POST", "/api/boards").weight(22),
    mutation("board.update", CHANGES_BOARDS, |it|
        json!({"id": it.spare_board(), "name": it.name(), "isPublic": false, "slug": null, "sections": [
            {"name": "Media", "collapsed": true, "items": [{"kind": "bookmarks", "appIds": [it.app()], "size": "2x2"}]},
            {"items": [{"kind": "note", "text": "Milk"}, {"kind": "clock", "timeZone": "Europe/Berlin"}]}]}))
        .rest("PUT", "/api/boards/{id}"),
    query("board.getShares", OWNS_BOARDS, |it| json!({"boardId": it.board()}))
        .rest("GET", "/api/boards/{boardId}/shares").weight(12),
    query("board.getShareable", OWNS_BOARDS, |it|
        json!({"boardId": it.board(), "query": "a", "limit": 5})).weight(12),
    mutation("board.share", OWNS_BOARDS, |it|
        json!({"boardId": it.spare_board(), "users": [{"id": it.user(), "mayChange": it.flag()}],
            "groups": [it.group()]}))
        .rest("PUT", "/api/boards/{boardId}/shares").weight(40),
    mutation("board.delete", OWNS_BOARDS, |it| json!({"id": it.spare_board()})).rest("DELETE", "/api/boards/{id}")
        .weight(9),
    query("board.getHome", Everyone, none).weight(12),
    query("board.getDefaultHomes", ADMIN, none).weight(5),
    mutation("board.setDefaultHome", ADMIN, |it|
        json!({"groupId": it.group(), "homeBoardId": it.board(), "mobileHomeBoardId": null})).about(About::Group).weight(8),
    query("extras.ofUser", OwnOrAdmin, |it| json!({"id": it.user()})).weight(12),
    mutation("extras.saveOfUser", OwnOrAdmin, |it| json!({"id": it.user(), "extras": it.name()})),
    query("extras.ofBoard", Everyone, |it| json!({"id": it.board()})).weight(12),
    mutation("extras.saveOfBoard", CHANGES_BOARDS, |it|
        json!({"id": it.spare_board(), "extras": it.name(), "name": it.name(), "isPublic": false,
            "items": [{"kind": "bookmarks", "appIds": [it.app()]}]})),
    query("gate.getAll", CHANGES_APPS, none).weight(10),
    query("gate.byId", CHANGES_APPS, |it| json!({"id": it.app()})).rest("GET", "/api/apps/{id}/gate").weight(10),
    mutation("gate.update", CHANGES_APPS, |it| {
        json!({"id": it.app(), "addresses": ["https://wiki.home.example/"], "isOpen": it.flag()})
    }).rest("PUT", "/api/apps/{id}/gate"),
    query("searchEngine.getAll", ADMIN, none).weight(10),
    query("searchEngine.getSelectable", SignedIn, none).rest("GET", "/api/searchEngines").weight(10),
    query("searchEngine.byId", SignedIn, |it| json!({"id": it.spare_search_engine()}))
        .rest("GET", "/api/searchEngines/{id}").weight(10),
    mutation("searchEngine.create", ADMIN, |it| search_engine(&it.name())),
    mutation("searchEngine.update", ADMIN, |it| {
        let mut input = search_engine(&it.name());
        input["id"] = it.spare_search_engine().into();
        input
    }).rest("PUT", "/api/searchEngines/{id}"),
    mutation("searchEngine.delete", ADMIN, |it| json!({"id": it.spare_search_engine()})).weight(8),
    query("site.get", Everyone, none).rest("GET", "/api/site").weight(10),
    mutation("site.update", ADMIN, |it|
        json!({"name": it.name(), "accentColor": "#336699", "density": if it.flag() { "icons" } else { "compact" },
            "pingAllow": ["nas.home.example"]}))
        .rest("PATCH", "/api/site").about(About::Nothing).weight(10),
    mutation("picture.create", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |it| json!({"image": picture(&it.name())})).rest("POST", "/api/pictures").weight(10),
    query("icon.search", SignedIn, |_| json!({"query": "a", "limit": 5})).rest("GET", "/api/icons/search")
        .weight(5),
    query("app.readAddress", Holders(&["app-create", "app-modify-all", "app-full-all", "admin"]),
        |_| json!({"href": "http://127.0.0.1:9/"}))
        .rest("GET", "/api/apps/read-address").weight(5),
    query("app.seenBy", ADMIN, |it| json!({"id": it.app()})).rest("GET", "/api/apps/{id}/seen-by").weight(5),
    query("user.seenApps", ADMIN, |it| json!({"userId": it.user(), "page": 1, "pageSize": 5}))
        .rest("GET", "/api/users/{userId}/apps").weight(5),
    query("onboard.currentStep", Everyone, none).weight(5),
    mutation("state.apply", ADMIN, document).about(About::Report).weight(12),
    query("state.export", ADMIN, none).weight(6),
    query("audit.getPaginated", ADMIN, |it| json!({"page": 1, "pageSize": 5, "actorId": it.reader()})),
    mutation("user.delete", OwnOrAdmin, |it| json!({"userId": it.user()})).rest("DELETE", "/api/users/{userId}")
        .weight(12),
];
