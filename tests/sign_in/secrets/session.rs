//! An ordinary session: every procedure called with success, every secret made and used.

use portico_tests::{Anonymous, Client, Finished, Fixtures, Key, MISSING, NO_INPUT, PASSWORD, Portico};
use portico_tests::{command, decode_stream, procedures::picture, run};
use serde_json::{Value, json};

use super::{
    factors,
    tape::{Recorded, Tape},
};

/// A password that every writer would have to escape.
const AWKWARD: &str = "kanari \"\\ö%+&/=ß😀 ";

/// Secrets that can still be used when the session is over.
pub struct Secrets {
    pub admin: Recorded<Key>,
    pub anonymous: Recorded<Anonymous>,
    pub root_password: String,
    pub session: String,
    pub key: String,
    pub invite: String,
    /// A password that no user has, as a user may mistype it.
    pub wrong_password: String,
}

/// Every procedure that there is.
pub fn procedures() -> Vec<Value> {
    let list = run(command().args(["procedures", "--json"]), "").succeeded();
    serde_json::from_str(&list).expect("a list of procedures")
}

/// A password that is hidden from now on.
pub fn password(tape: &Tape, number: u8) -> String {
    let password = format!("{AWKWARD}{number}");
    tape.hide(&format!("password {number}"), &password);
    password
}

pub fn live(tape: &Tape, server: &Portico) -> Secrets {
    tape.hide("the password of the fixtures", PASSWORD);
    let anonymous = tape.on(server.anonymous());
    let root_password = password(tape, 1);
    let root = json!({"username": "root", "password": root_password, "email": "root@example.com"});
    let root_id = anonymous.mutate("user.initUser", &root).data()["id"].clone();
    let session = sign_in(&anonymous, "root", &root_password);
    let admin = tape.on(server.key(&session));

    let key = admin.mutate("apiKeys.create", &json!({}));
    let key_id = key.json()["result"]["data"]["id"].clone();
    let key = admin.shows("a key", &key, "/result/data/apiKey");
    let by_key = tape.on(server.key(&key).in_api_key_header());
    by_key.query("app.all", &NO_INPUT).assert_status(200);

    let invite = people(tape, &admin, &anonymous);
    things(&admin);
    documents(tape, &admin);
    own(tape, server, &admin, &root_id);
    factors::live(tape, server, &admin);
    for procedure in procedures() {
        // What needs no input, and what says `none` is no input either.
        let may_be_none = procedure["input"]
            .as_str()
            .is_some_and(|input| input.ends_with("none"));
        if procedure["kind"] == "query" && may_be_none {
            admin.query(procedure["name"].as_str().expect("a name"), &NO_INPUT);
        }
    }
    for path in [
        "/api/users",
        "/api/users/selectable",
        "/api/apps",
        "/api/invites",
        "/api/auth/session",
    ] {
        admin.get(path).assert_status(200);
    }
    batches(tape, &admin);
    read_audit(&admin);

    let spare = admin.mutate("apiKeys.create", &json!({"userId": root_id}));
    let spare_id = spare.json()["result"]["data"]["id"].clone();
    admin.shows("a key that is deleted", &spare, "/result/data/apiKey");
    admin
        .mutate("apiKeys.delete", &json!({"apiKeyId": spare_id}))
        .assert_done();
    assert_ne!(spare_id, key_id);
    Secrets {
        admin,
        anonymous,
        root_password,
        session,
        key,
        invite,
        wrong_password: password(tape, 9),
    }
}

/// The token, which this answer shows.
pub fn sign_in(anonymous: &Recorded<Anonymous>, name: &str, password: &str) -> String {
    let body = json!({"username": name, "password": password});
    let answer = anonymous.post("/api/auth/sign-in", &body);
    anonymous.shows("a session", &answer, "/token")
}

/// Invites and users, by procedure calls and by REST; gives an invite that stays good.
fn people(tape: &Tape, admin: &Recorded<Key>, anonymous: &Recorded<Anonymous>) -> String {
    let date = json!({"expirationDate": "2999-12-31T00:00:00.000Z"});
    let invite = admin.mutate("invite.createInvite", &date);
    let token = admin.shows("an invite that is used", &invite, "/result/data/token");
    let held = json!({"inviteId": invite.data()["id"], "token": token});
    anonymous.query("invite.getByToken", &held).data();
    let guest = json!({
        "username": "guest", "password": password(tape, 2), "email": "g@example.com",
        "inviteId": invite.data()["id"], "token": token,
    });
    anonymous.mutate("user.register", &guest).data();
    // The same again: the invite is gone.
    anonymous
        .mutate("user.register", &guest)
        .assert_refused(403, "FORBIDDEN");

    let alice = json!({"username": "alice", "password": password(tape, 3), "groupIds": []});
    let alice_id = admin.mutate("user.create", &alice).data()["id"].clone();
    let bob = json!({"username": "bob", "password": password(tape, 4), "groupIds": []});
    admin.post("/api/users", &bob).assert_status(200);
    admin.post("/api/users", &bob).assert_refused(409, "CONFLICT");
    let new = json!({"userId": alice_id, "password": password(tape, 5)});
    admin.mutate("user.changePassword", &new).assert_done();
    let alice_only = json!({ "userId": alice_id });
    let link = admin.mutate("user.createPasswordLink", &alice_only);
    let token = admin.shows("a link for a new password", &link, "/result/data/token");
    let by_link = json!({"token": token, "password": password(tape, 6)});
    anonymous.mutate("user.setPasswordByLink", &by_link).data();
    anonymous
        .mutate("user.setPasswordByLink", &by_link)
        .assert_refused(403, "FORBIDDEN");
    let unused = admin.mutate("user.createPasswordLink", &alice_only);
    admin.shows("a link that is not used", &unused, "/result/data/token");
    let disabled = json!({"userId": alice_id, "disabled": true});
    admin.mutate("user.setDisabled", &disabled).assert_done();
    admin
        .mutate("user.delete", &json!({"userId": alice_id}))
        .assert_done();
    let query = json!({"query": ""});
    admin.query("user.search", &query).data();
    let page = json!({"page": 1, "pageSize": 100});
    admin.query("user.getPaginated", &page).data();
    admin.post("/api/users/search", &query).assert_status(200);

    let unused = admin.mutate("invite.createInvite", &date);
    admin.shows("an invite that is deleted", &unused, "/result/data/token");
    let id = unused.data()["id"].clone();
    admin
        .mutate("invite.deleteInvite", &json!({"id": id}))
        .assert_done();
    let by_rest = admin.post("/api/invites", &date);
    admin.shows("an invite", &by_rest, "/token")
}

/// Apps, groups, boards and search engines.
fn things(admin: &Recorded<Key>) {
    let app = admin.app("Jellyfin");
    let id = json!({"id": app});
    admin.mutate("app.createMany", &json!([{"name": "Two"}])).data();
    admin
        .mutate("app.update", &json!({"id": app, "name": "Three"}))
        .assert_done();
    admin.query("app.byId", &id).data();
    admin.query("app.byIds", &json!([app])).data();
    admin.query("app.search", &json!({"query": "e"})).data();
    admin
        .query("app.getPaginated", &json!({"page": 1, "pageSize": 5}))
        .data();
    let address = json!({"href": "http://127.0.0.1:9/"});
    admin.query("app.readAddress", &address).data();
    admin
        .mutate("picture.create", &json!({"image": picture("logo")}))
        .data();
    admin
        .mutate("site.update", &json!({"name": "Casa"}))
        .assert_done();

    let group = admin.group("Family", &["app-create"]);
    let user = admin.user("member");
    let member = json!({"groupId": group, "userId": user.id});
    admin.mutate("group.addMember", &member).assert_done();
    admin.mutate("group.removeMember", &member).assert_done();
    let board = admin.board("Home", true);
    let share = json!({"boardId": board, "users": [user.id], "groups": [group]});
    admin.mutate("board.share", &share).assert_done();
    admin.query("board.getShares", &json!({"boardId": board})).data();
    let names = json!({"boardId": board, "query": "e"});
    admin.query("board.getShareable", &names).data();
    admin.query("board.getRight", &json!({"id": board})).data();
    let home = json!({"groupId": group, "homeBoardId": board, "mobileHomeBoardId": null});
    admin.mutate("board.setDefaultHome", &home).assert_done();
    let other = json!({"id": board, "name": "Start", "isPublic": true, "slug": "start", "items": []});
    admin.mutate("board.update", &other).assert_done();
    admin.query("board.bySlug", &json!({"slug": "start"})).data();
    let name = json!({"groupId": group, "name": "Friends"});
    admin.mutate("group.rename", &name).assert_done();
    admin.query("app.seenBy", &id).data();
    let seen = json!({"userId": user.id, "page": 1, "pageSize": 5});
    admin.query("user.seenApps", &seen).data();
    admin.query("icon.search", &json!({"query": "a"})).data();
    admin.query("board.byId", &json!({"id": board})).data();
    for (of, id) in [("User", &user.id), ("Board", &board)] {
        let extras = json!({"id": id, "extras": "{}"});
        admin.mutate(&format!("extras.saveOf{of}"), &extras).assert_done();
        admin.query(&format!("extras.of{of}"), &json!({"id": id})).data();
    }
    let engine = admin.search_engine("Search", "s");
    let other = json!({
        "id": engine, "name": "Find", "short": "f", "urlTemplate": "https://find.example/%s", "iconUrl": "/find.svg",
    });
    admin.mutate("searchEngine.update", &other).assert_done();
    admin.query("searchEngine.byId", &json!({"id": engine})).data();
    for (procedure, id) in [
        ("group.deleteGroup", &group),
        ("board.delete", &board),
        ("searchEngine.delete", &engine),
        ("app.delete", &app),
    ] {
        admin.mutate(procedure, &json!({"id": id})).assert_done();
    }
}

/// Documents with passwords: one that is applied, twice, and some that break rules.
fn documents(tape: &Tape, admin: &Recorded<Key>) {
    let users = json!([{"name": "dora", "provider": "credentials", "password": password(tape, 13)}]);
    for dry_run in [true, false, false] {
        let document = json!({"users": users, "dryRun": dry_run});
        admin.mutate("state.apply", &document).data();
    }
    // The password in an entry that is wrong, in another field, where none may be, in all references.
    let secret = password(tape, 14);
    for wrong in [
        json!({"users": [{"name": "x", "provider": "credentials", "password": secret}]}),
        json!({"users": [{"name": "eva", "provider": "credentials", "password": secret.repeat(40)}]}),
        json!({"users": [{"name": "eva", "provider": "oidc", "password": secret}]}),
        json!({"users": [{"name": "eva", "provider": secret, "password": [secret]}]}),
        json!({"users": [{"name": "eva", "provider": "oidc", "emailVerified": secret, "image": secret}]}),
        json!({"users": {"name": "eva", "password": secret}, "apps": secret, "prune": secret}),
        json!({"groups": [{"name": "new", "permissions": [secret]}]}),
    ] {
        admin
            .mutate("state.apply", &wrong)
            .assert_refused(400, "BAD_REQUEST");
    }
    let users = json!([{"name": "eva", "provider": "credentials", "password": secret}]);
    let last_administrator = json!({"users": users, "groups": [{"name": "admins", "permissions": []}]});
    admin
        .mutate("state.apply", &last_administrator)
        .assert_refused(409, "CONFLICT");
    let script = json!({"users": users, "apps": [{"name": "new", "href": "javascript:"}]});
    admin
        .mutate("state.apply", &script)
        .assert_refused(400, "BAD_REQUEST");
}

/// A user's own profile; a password that is changed, and a session that ends.
fn own(tape: &Tape, server: &Portico, admin: &Recorded<Key>, root_id: &Value) {
    let carol = json!({"username": "carol", "password": password(tape, 6), "groupIds": []});
    let id = admin.mutate("user.create", &carol).data()["id"].clone();
    let anonymous = tape.on(server.anonymous());
    let token = sign_in(&anonymous, "carol", carol["password"].as_str().expect("a text"));
    let own = tape.on(server.key(&token));
    let change = json!({"userId": id, "previousPassword": carol["password"], "password": password(tape, 7)});
    own.mutate("user.changePassword", &change).assert_done();
    own.query("user.getById", &json!({"userId": id})).data();
    sign_in(&anonymous, "carol", change["password"].as_str().expect("a text"));
    let sessions = own.query("session.getAll", &NO_INPUT).data();
    let mut sessions = sessions.as_array().expect("a list").iter();
    let other = sessions.find(|session| session["current"] == false);
    let other = json!({"id": other.expect("the other session")["id"]});
    own.mutate("session.delete", &other).assert_done();
    own.mutate("session.deleteOthers", &NO_INPUT).data();
    let made = own.mutate("apiKeys.createOwn", &json!({"name": "laptop"}));
    own.shows("a key of one's own", &made, "/result/data/apiKey");
    let which = json!({"apiKeyId": made.data()["id"]});
    own.mutate("apiKeys.deleteOwn", &which).assert_done();
    let image = json!({"userId": id, "image": "data:image/png;base64,iVBORw0KGgo="});
    let (boards, engine) = (json!(null), json!(null));
    for (procedure, input) in [
        ("user.setProfileImage", image),
        ("user.editProfile", json!({"id": id, "name": "caroline"})),
        (
            "user.changeHomeBoards",
            json!({"userId": id, "homeBoardId": boards, "mobileHomeBoardId": boards}),
        ),
        (
            "user.changeSearchPreferences",
            json!({"userId": id, "defaultSearchEngineId": engine, "openInNewTab": true}),
        ),
        ("user.changeColorScheme", json!({"colorScheme": "light"})),
        (
            "user.changePingIconsEnabled",
            json!({"id": id, "pingIconsEnabled": true}),
        ),
        (
            "user.changeFirstDayOfWeek",
            json!({"id": id, "firstDayOfWeek": 0}),
        ),
    ] {
        own.mutate(procedure, &input).assert_done();
    }
    own.query("user.getById", &json!({"userId": root_id}))
        .assert_refused(403, "FORBIDDEN");

    let cookie = format!("theme=dark; portico_session={token}");
    let cookie = [("cookie", cookie.as_str())];
    anonymous
        .send("GET", "/api/auth/session", &cookie, None)
        .assert_status(200);
    anonymous
        .send("POST", "/api/auth/sign-out", &cookie, None)
        .assert_status(200);
    anonymous
        .send("GET", "/api/auth/session", &cookie, None)
        .assert_status(401);
}

/// Every row of the audit log.
pub fn read_audit(admin: &Recorded<Key>) {
    for page in 1.. {
        let answer = admin.query("audit.getPaginated", &json!({"page": page, "pageSize": 100}));
        if answer.data()["items"].as_array().expect("rows").is_empty() {
            assert!(page > 1, "nothing is recorded");
            return;
        }
    }
}

/// Secrets made and refused in batches, plain, streamed, and in superjson.
fn batches(tape: &Tape, admin: &Recorded<Key>) {
    let names = "/api/trpc/apiKeys.create,user.create,user.changePassword,apiKeys.create?batch=1";
    let (first, second) = (password(tape, 10), password(tape, 11));
    let input = json!({
        "0": {"name": "one"},
        "1": {"username": "root", "password": first, "groupIds": []},
        "2": {"userId": MISSING, "password": second},
        "3": {"name": 5},
    });
    let answer = admin.post(names, &input);
    answer.assert_status(207);
    admin.shows("a key of a batch", &answer, "/0/result/data/apiKey");

    let kinds = [
        ("content-type", "application/json"),
        ("trpc-accept", "application/jsonl"),
    ];
    let answer = admin.send("POST", names, &kinds, Some(input.to_string().as_bytes()));
    let streamed = decode_stream(&answer.text(), false);
    let key = streamed[&0]
        .pointer("/result/data/apiKey")
        .and_then(Value::as_str);
    tape.shown_last("a key of a stream", key.expect("a key"));

    let input = json!({"json": {"username": "root", "password": password(tape, 12), "groupIds": []}});
    admin.mutate("user.create", &input).assert_status(409);
    let answer = admin.mutate("apiKeys.create", &json!({"json": {"name": "two"}}));
    admin.shows("a key in superjson", &answer, "/result/data/json/apiKey");
}

/// Calls of the running host, good ones and bad ones.
pub fn call_from_the_command_line(
    tape: &Tape,
    server: &Portico,
    secrets: &Secrets,
    log: &str,
    log_format: &str,
) {
    let portico = |what: &str, arguments: &[&str], key: &str, input: &str| {
        let mut command = command();
        command
            .args(arguments)
            .env("PORTICO_LOG", log)
            .env("PORTICO_LOG_FORMAT", log_format)
            .env("PORTICO_KEY", key);
        let finished = run(&mut command, input);
        tape.record_command(what, &finished);
        finished
    };
    let url = format!("http://{}", server.address());
    let (url, key) = (url.as_str(), secrets.key.as_str());
    let call = |procedure: &str, key: &str, input: &str| {
        let what = format!("portico call {procedure}");
        portico(&what, &["call", procedure, "-", "--url", url], key, input)
    };
    portico("portico call --help", &["call", "--help"], key, "").succeeded();
    portico("portico call --wrong", &["call", "app.all", "--wrong"], key, "").failed();
    call("app.all", key, "null").succeeded();
    call("user.getAll", &secrets.session, "null").succeeded();
    call("user.getAll", &format!("{key}x"), "null").failed();
    let user =
        |name: &str| json!({"username": name, "password": password(tape, 20), "groupIds": []}).to_string();
    call("user.create", key, &user("from-afar")).succeeded();
    call("user.create", key, &user("from-afar")).failed();
    call("user.create", key, &user("from-afar")[..40]).failed();
    call("user.create", key, &user("x")).failed();
    call("no.such", key, &user("x")).failed();
    // No program listens there.
    let closed = ["call", "user.create", "-", "--url", "http://127.0.0.1:9"];
    portico("portico call to a closed port", &closed, key, &user("x")).failed();

    let created = call("apiKeys.create", key, "{}").succeeded();
    let created: Value = serde_json::from_str(&created).expect("JSON");
    tape.shown_last("a key from afar", created["apiKey"].as_str().expect("a key"));
}

/// Commands on the data directory, when no host runs on it.
pub fn recover(tape: &Tape, server: &Portico, log: &str, log_format: &str) {
    let data = server.data();
    let portico = |what: &str, arguments: &[&str], input: &str| -> Finished {
        let mut command = command();
        command
            .args(arguments)
            .arg("--data")
            .arg(&data)
            .env("PORTICO_LOG", log)
            .env("PORTICO_LOG_FORMAT", log_format);
        let finished = run(&mut command, input);
        tape.record_command(what, &finished);
        finished
    };
    let user = json!({"username": "local", "password": password(tape, 21), "groupIds": []}).to_string();
    let create = ["call", "user.create", "-"];
    portico("portico call user.create", &create, &user).succeeded();
    portico("portico call user.create again", &create, &user).failed();
    portico("portico call of broken JSON", &create, &user[..45]).failed();

    let said = portico("portico recover", &["recover", "bob"], "").succeeded();
    let new = said
        .split("The new password of bob is ")
        .nth(1)
        .expect("the password");
    let new = new.lines().next().expect("the password");
    tape.shown_last("the recovered password", new);

    let found = portico(
        "portico call user.search",
        &["call", "user.search", r#"{"query": "bob"}"#],
        "",
    );
    let found: Value = serde_json::from_str(&found.succeeded()).expect("JSON");
    let owner = json!({"userId": found[0]["id"]}).to_string();
    let created = portico(
        "portico call apiKeys.create",
        &["call", "apiKeys.create", &owner],
        "",
    );
    let created: Value = serde_json::from_str(&created.succeeded()).expect("JSON");
    tape.shown_last(
        "a key of the operator's",
        created["apiKey"].as_str().expect("a key"),
    );
}
