//! Every refusal that the document states of a procedure can be provoked.

use std::collections::BTreeSet;

use portico_model::App;
use portico_model::time::{Clock as _, SystemClock};
use portico_storage::StoredApp;
use portico_tests::second_factor::{code_at, set_up};
use portico_tests::{
    Client, Fixtures, MISSING, PASSWORD, Portico, administrator, new_user, procedures::picture,
};
use serde_json::{Value, json};

use super::{document, operations};

/// Refusals that take two requests at the same moment: a user is deleted, or a password is changed,
/// between two steps of a call. This test sends one request after the other, so it takes these as
/// provoked.
const RACES: [(&str, u16); 2] = [("user.changeColorScheme", 404), ("user.changePassword", 409)];

/// Refusals where passkeys are on, which they are not in these tests. `tests/sign_in/credentials/passkeys` is about these.
const WITH_PASSKEYS: [(&str, u16); 2] = [("secondFactor.addPasskey", 409), ("secondFactor.beginProof", 409)];

/// Refusals by the throttle, which is off in these tests.
/// `tests/sign_in/credentials/throttling.rs` is about these.
const THROTTLED: [(&str, u16); 6] = [
    ("invite.getByToken", 429),
    ("secondFactor.delete", 429),
    ("secondFactor.renewRecoveryCodes", 429),
    ("user.initUser", 429),
    ("user.register", 429),
    ("user.setPasswordByLink", 429),
];

/// Statuses about credentials or the form of requests, and those that no procedure intends.
const OTHERS: [u16; 11] = [200, 304, 400, 401, 403, 413, 414, 415, 500, 503, 504];

#[test]
fn every_documented_refusal_can_be_produced() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let root = admin.user_id.clone();
    // The administrator sets a second factor up after this call, which needs a user without one.
    let none = admin.mutate("secondFactor.renewRecoveryCodes", &json!({"code": "none"}));
    assert_eq!(none.status, 409, "{none}");
    let (secret, _) = set_up(&admin, SystemClock.now());
    let user = admin.user("alice").id;
    let disabled = admin.user("disabled").id;
    let disable = json!({"userId": disabled, "disabled": true});
    admin.mutate("user.setDisabled", &disable).assert_status(200);
    let group = admin.group("group", &[]);
    let board = admin.board("board", true);
    let other_board = admin.board("another board", true);
    admin.search_engine("engine", "e");
    let other_engine = admin.search_engine("another engine", "a");
    // As many keys as a user may make for themselves.
    for _ in 0..100 {
        admin.mutate("apiKeys.createOwn", &json!({})).assert_status(200);
    }
    // The bound is not for those that an administrator makes.
    admin.mutate("apiKeys.create", &json!({})).assert_status(200);
    // As many pictures as one user may have that nothing uses.
    for number in 0..50 {
        let image = json!({"image": picture(&number.to_string())});
        admin.mutate("picture.create", &image).assert_status(200);
    }
    let admins = admin.query("group.getAll", &Value::Null).data();
    let admins = admins.as_array().expect("groups").iter();
    let admins = admins
        .clone()
        .find(|group| group["permissions"] == json!(["admin"]))
        .expect("administrators")["id"]
        .clone();

    let account =
        |name: &str, groups: Value| json!({"username": name, "password": PASSWORD, "groupIds": groups});
    let by_id = json!({"id": MISSING});
    let engine = |id: &str, name: &str, short: &str| json!({"id": id, "name": name, "short": short, "urlTemplate": "https://x.example/%s", "iconUrl": "x"});
    #[rustfmt::skip]
    let table: Vec<(&str, u16, Value)> = vec![
        ("user.getById", 404, json!({"userId": MISSING})),
        ("user.create", 404, account("carol", json!([MISSING]))),
        ("user.create", 409, account("alice", json!([]))),
        ("user.register", 409, Value::Null),
        ("user.setProfileImage", 404, json!({"userId": MISSING, "image": null})),
        ("user.editProfile", 404, json!({"id": MISSING, "name": "mallory"})),
        ("user.editProfile", 409, json!({"id": user, "name": "root"})),
        ("user.changePassword", 404, json!({"userId": MISSING, "password": PASSWORD})),
        ("user.changeHomeBoards", 404, json!({"userId": user, "homeBoardId": MISSING, "mobileHomeBoardId": null})),
        ("user.changeSearchPreferences", 404,
            json!({"userId": user, "defaultSearchEngineId": MISSING, "openInNewTab": true})),
        ("user.changePingIconsEnabled", 404, json!({"id": MISSING, "pingIconsEnabled": true})),
        ("user.changeFirstDayOfWeek", 404, json!({"id": MISSING, "firstDayOfWeek": 1})),
        ("user.delete", 409, json!({"userId": root})),
        ("user.setDisabled", 404, json!({"userId": MISSING, "disabled": true})),
        ("user.setDisabled", 409, json!({"userId": root, "disabled": true})),
        ("app.byId", 404, by_id.clone()),
        ("board.setDefaultHome", 404, json!({"groupId": MISSING, "homeBoardId": null, "mobileHomeBoardId": null})),
        ("app.seenBy", 404, by_id.clone()),
        ("user.seenApps", 404, json!({"userId": MISSING, "page": 1, "pageSize": 5})),
        ("app.update", 404, by_id.clone()),
        ("apiKeys.create", 404, json!({"userId": MISSING})),
        ("apiKeys.delete", 404, json!({"apiKeyId": MISSING})),
        ("apiKeys.deleteOwn", 404, json!({"apiKeyId": MISSING})),
        ("apiKeys.createOwn", 409, json!({})),
        ("session.delete", 404, by_id.clone()),
        ("secondFactor.addTotp", 409, json!({"secret": secret, "code": code_at(&secret, SystemClock.now())})),
        ("secondFactor.delete", 404, json!({"id": MISSING, "code": "none"})),
        ("secondFactor.beginPasskey", 404, Value::Null),
        ("secondFactor.addPasskey", 404, json!({"name": "Phone", "credential": {
            "response": {"clientDataJSON": "", "attestationObject": ""}}})),
        ("secondFactor.beginProof", 404, Value::Null),
        ("secondFactor.rename", 404, json!({"id": MISSING, "name": "Phone"})),
        ("secondFactor.getOfUser", 404, json!({"userId": MISSING})),
        ("secondFactor.deleteOfUser", 404, json!({"userId": MISSING})),
        ("invite.createInvite", 404, json!({"expirationDate": "2999-12-31T00:00:00.000Z", "groupIds": [MISSING]})),
        ("invite.deleteInvite", 404, by_id.clone()),
        ("site.update", 404, json!({"startBoard": MISSING})),
        ("gate.byId", 404, by_id.clone()),
        ("gate.update", 404, json!({"id": MISSING, "addresses": [], "isOpen": false})),
        ("extras.saveOfUser", 404, json!({"id": MISSING, "extras": null})),
        ("extras.saveOfUser", 409, json!({"id": root, "extras": null, "version": "of another state"})),
        ("extras.saveOfBoard", 409, json!({"id": board, "extras": null, "name": "another board"})),
        ("extras.ofUser", 404, by_id.clone()),
        ("extras.ofBoard", 404, by_id.clone()),
        ("extras.saveOfBoard", 404, json!({"id": MISSING, "extras": null})),
        ("group.createGroup", 409, json!({"name": "group"})),
        ("group.rename", 404, json!({"groupId": MISSING, "name": "new"})),
        ("group.rename", 409, json!({"groupId": group, "name": "admins"})),
        ("group.deleteGroup", 404, by_id.clone()),
        ("group.deleteGroup", 409, json!({"id": admins})),
        ("group.savePermissions", 404, json!({"groupId": MISSING, "permissions": []})),
        ("group.savePermissions", 409, json!({"groupId": admins, "permissions": []})),
        ("group.addMember", 404, json!({"groupId": group, "userId": MISSING})),
        ("group.removeMember", 404, json!({"groupId": group, "userId": MISSING})),
        ("group.removeMember", 409, json!({"groupId": admins, "userId": root})),
        ("board.byId", 404, by_id.clone()),
        ("board.bySlug", 404, json!({"slug": "none"})),
        ("board.create", 404, json!({"name": "new", "isPublic": true, "items": [{"kind": "app", "appId": MISSING}]})),
        ("board.create", 409, json!({"name": "board", "isPublic": true, "items": []})),
        ("board.update", 404, json!({"id": MISSING, "name": "new", "isPublic": true, "items": []})),
        ("board.update", 409, json!({"id": other_board, "name": "board", "isPublic": true, "items": []})),
        ("board.share", 404, json!({"boardId": board, "users": [MISSING], "groups": []})),
        ("board.getShares", 404, json!({"boardId": MISSING})),
        (
            "board.getShareable",
            404,
            json!({"boardId": MISSING, "query": ""}),
        ),
        ("board.getRight", 404, by_id.clone()),
        ("user.createPasswordLink", 404, json!({"userId": MISSING})),
        ("user.createPasswordLink", 409, json!({"userId": disabled})),
        ("board.delete", 404, by_id.clone()),
        ("searchEngine.create", 409,
            json!({"name": "engine", "short": "x", "urlTemplate": "https://x.example/%s", "iconUrl": "x"})),
        ("searchEngine.byId", 404, by_id.clone()),
        ("searchEngine.update", 404, engine(MISSING, "new", "n")),
        ("searchEngine.update", 409, engine(&other_engine, "engine", "n")),
        ("searchEngine.delete", 404, by_id),
        ("picture.create", 409, json!({"image": picture("one more")})),
        ("state.apply", 409, json!({"groups": [{"name": "admins", "permissions": []}]})),
    ];

    let document = document(&server);
    let mut had = BTreeSet::from(RACES);
    had.extend(THROTTLED);
    had.insert(("secondFactor.renewRecoveryCodes", 409));
    had.extend(WITH_PASSKEYS);
    for (procedure, status, mut input) in table {
        if procedure == "user.register" {
            // The name is checked only if the invite is good.
            let invite = admin.invite();
            input = json!({"username": "alice", "password": PASSWORD, "email": "a@b",
                "inviteId": invite.id, "token": invite.token});
        }
        let path = &document["paths"][format!("/api/trpc/{procedure}")];
        let answer = if path.get("get").is_some() {
            admin.query(procedure, &input)
        } else {
            admin.mutate(procedure, &input)
        };
        answer.assert_status(status);
        had.insert((procedure, status));
    }

    // Lists that are too large for one answer.
    server.seed(async |transaction| {
        for number in 0..290 {
            let name = format!("large {number:03}");
            let mut user = new_user(&name, &name);
            user.user.image = Some("i".repeat(350_000));
            transaction.insert_user(&user).await.expect("a new user");
        }
        let apps: Vec<_> = (0..400)
            .map(|number| large_app(&format!("large {number}")))
            .collect();
        transaction.insert_apps(&apps).await.expect("new apps");
    });
    let ids: Vec<_> = (0..400).map(|number| format!("large {number}")).collect();
    let page = json!({"page": 1, "pageSize": 100});
    admin.query("user.getPaginated", &page).assert_status(200);
    admin.query("app.getPaginated", &page).assert_status(200);
    for (procedure, input, way_out) in [
        ("user.getAll", Value::Null, "user.getPaginated"),
        ("user.selectable", Value::Null, "user.search"),
        ("app.all", Value::Null, "app.getPaginated"),
        ("app.selectable", Value::Null, "app.getPaginated"),
        ("app.byIds", json!(ids), "fewer"),
        ("app.status", Value::Null, "app.getPaginated"),
    ] {
        let answer = admin.query(procedure, &input);
        assert!(answer.assert_status(409).text().contains(way_out), "{answer}");
        had.insert((procedure, 409));
    }

    let mut stated = BTreeSet::new();
    for (_, path, operation) in operations(&document) {
        let Some(procedure) = path.strip_prefix("/api/trpc/") else {
            continue;
        };
        stated.extend(statuses(operation).into_iter().map(|status| (procedure, status)));
    }
    assert_eq!(stated, had);
}

/// An app with the largest icon.
fn large_app(id: &str) -> StoredApp {
    let app = App {
        id: id.into(),
        name: id.into(),
        description: None,
        icon_url: "🎬".repeat(65_536),
        href: None,
        ping_url: None,
    };
    let name_key = id.into();
    StoredApp { app, name_key }
}

/// The refusals that an operation states, without those that all operations have.
fn statuses(operation: &Value) -> Vec<u16> {
    let answers = operation["responses"].as_object().expect("responses").keys();
    answers
        .map(|status| status.parse().expect("a status"))
        .filter(|status| !OTHERS.contains(status))
        .collect()
}

#[test]
fn rest_states_the_same_refusals_as_procedure_calls() {
    let server = Portico::start();
    let document = document(&server);
    let of = |id: &str| operations(&document).find(|(_, _, operation)| operation["operationId"] == *id);
    let mut compared = 0;
    for (_, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an id");
        if let Some((_, _, call)) = of(&format!("call{}{}", id[..1].to_uppercase(), &id[1..])) {
            assert_eq!(statuses(operation), statuses(call), "{path}");
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}
