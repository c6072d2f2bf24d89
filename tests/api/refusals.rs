//! Every rule and every refusal, provoked by a call, and what the console makes of it in its languages.
//!
//! A sentence that no call here provokes fails the test, unless `ELSEWHERE` says what does.

mod gate;
mod second_factors;

use std::collections::BTreeSet;
use std::sync::Arc;

use portico_console::translate;
use portico_http::{HttpLimits, ProxySignIn};
use portico_model::time::{Clock as _, SystemClock};
use portico_rules::refusal::Refusal;
use portico_rules::rule::Rule;
use portico_service::identity::Identity;
use portico_service::sign_in::PasswordSignIn;
use portico_service::throttle::Throttle;
use portico_storage::memory::MemoryStorage;
use portico_storage::{Access, DashboardStorage as _, MemoryRecords, NewPicture, Picture};
use portico_tests::procedures::picture;
use portico_tests::{Answer, Client, Fixtures, MISSING, PASSWORD, TestService, administrator_of, repository};
use serde_json::{Value, json};

/// What is provoked by no call of one client to a sound service, and where it is instead.
const ELSEWHERE: &[(&str, &str)] = &[
    // Of the component alone: the host never calls it so.
    ("Rule::NotExternalProvider", "component/src/sign_in.rs"),
    ("Rule::NotHashed", "component/src/users/wanted.rs"),
    ("Rule::NotOnce", "component/src/apps/wanted.rs"),
    ("Rule::NotStorableIds", "component/src/apps/wanted.rs"),
    ("SignInFirst", "component/src/procedures.rs"),
    // No input has a number without bounds.
    ("Rule::NumberOutside", "host/service/src/shape/tests.rs"),
    // Of the component with a storage of its own, which no service of a test runs.
    ("Rule::EachOnOneLine", "component/sql/tests/ready_storage"),
    ("Rule::NotBeforeYear", "component/sql/tests/ready_storage"),
    ("UserChangedAtSignIn", "tests/sign_in/second_factor/middle.rs"),
    // With a key that may less than its user.
    ("KeyOnlyReads", "tests/api/limited_keys.rs"),
    ("LimitedKeyMakesKeys", "tests/api/limited_keys.rs"),
    ("LimitedKeySignIn", "tests/api/limited_keys.rs"),
    ("LimitedKeyOwnAccess", "tests/api/limited_keys.rs"),
    // With an issuer or a directory.
    ("Rule::NotPathOfHost", "tests/sign_in/oidc/attacks.rs"),
    ("Rule::NotVisiblePath", "tests/sign_in/oidc/attacks.rs"),
    ("Rule::PathTooLong", "tests/sign_in/oidc/attacks.rs"),
    ("InFrame", "tests/sign_in/oidc/attacks.rs"),
    ("NotOpened", "tests/sign_in/oidc/attacks.rs"),
    ("OnboardingFirst", "tests/sign_in/oidc"),
    ("ProviderSignOutOff", "tests/sign_in/oidc/sign_out.rs"),
    ("QueryKeyTwice", "tests/sign_in/oidc/attacks.rs"),
    ("ProviderSilent", "tests/sign_in/oidc/trouble.rs"),
    ("ProviderMisconfigured", "tests/sign_in/oidc/trouble.rs"),
    ("ProviderGroups", "host/service/src/external/groups.rs"),
    ("ProviderAccount", "tests/sign_in/oidc"),
    ("InviteNeeded", "tests/sign_in/oidc/invites.rs"),
    ("ProviderAccountTaken", "tests/library/component/linking.rs"),
    // With a passkey.
    (
        "Rule::NotBase64Url",
        "tests/sign_in/credentials/passkeys/attacks.rs",
    ),
    (
        "Rule::NotNewPasskey",
        "tests/sign_in/credentials/passkeys/attacks.rs",
    ),
    ("NoPasskey", "tests/sign_in/credentials/passkeys/signing_in.rs"),
    ("WrongPasskey", "tests/sign_in/credentials/passkeys/attacks.rs"),
    ("WrongOwnPasskey", "tests/sign_in/credentials/passkeys/own.rs"),
    ("SignInNotConfirmed", "tests/sign_in/oidc/attacks.rs"),
    ("DirectorySilent", "tests/sign_in/ldap/ailing.rs"),
    ("DirectoryMisconfigured", "tests/sign_in/ldap/refusals.rs"),
    // When two calls meet.
    ("PasswordChanged", "tests/api/races.rs"),
    ("ListedNameTaken", "host/service/src/dashboard/state/apply.rs"),
    ("StateChanged", "tests/api/state"),
    // With more than one answer or body may hold, or more than the service can do at once.
    ("UsersTooLarge", "tests/library"),
    ("AppsTooLarge", "tests/library"),
    ("AskedAppsTooLarge", "tests/library"),
    ("AnswerTooLarge", "component/src/transaction.rs"),
    ("AnswersTooLarge", "tests/api/trpc.rs"),
    ("BodyCut", "tests/server/hostile_clients"),
    ("BodyTooSlow", "tests/server/hostile_clients"),
    ("BodyTooLate", "tests/server/hostile_clients"),
    ("TooMuchAtOnce", "host/service/src/second_runtime.rs"),
    ("TooManySignIns", "tests/sign_in/ldap/ailing.rs"),
    ("TooManyKeysToCheck", "host/service/src/imported_keys.rs"),
    ("TooManyPasswords", "host/service/src/resources.rs"),
    ("TooManyLongCalls", "tests/api/long_calls.rs"),
    ("TooManyLargeCalls", "tests/library/sandbox/limits.rs"),
    ("TooManyAnswers", "host/http/src/trpc/turns.rs"),
    ("CallTooLong", "tests/library/sandbox/limits.rs"),
    ("CallTooBusy", "tests/library/sandbox/limits.rs"),
    ("CallKeptOthers", "tests/library/sandbox"),
    ("ClientLeft", "tests/api/audit"),
    // When storage, the component or a collection of icons fails.
    ("NoIconCollection", "tests/server/icon_sources.rs"),
    ("StorageBusy", "tests/library/component/collisions.rs"),
    ("StorageUnavailable", "tests/library/faults"),
    ("Internal", "component/src/transaction.rs"),
    ("InternalOf", "tests/library/sandbox"),
];

/// What calls were told: names of refusals, and of rules with `Rule::`.
#[derive(Default)]
struct Said(BTreeSet<String>);

impl Said {
    /// Takes the sentences of an answer, and checks each in German.
    #[track_caller]
    fn hear(&mut self, answer: &Answer) {
        let error = answer.error();
        match error["issues"].as_array() {
            Some(issues) => issues.iter().for_each(|issue| self.rule(text(&issue["message"]))),
            None => self.refusal(text(&error["message"])),
        }
    }

    #[track_caller]
    fn rule(&mut self, message: &str) {
        let Some(rule) = Rule::parse(message) else {
            panic!("not one of the rules: {message}");
        };
        assert_eq!(rule.to_string(), message);
        in_german(message);
        self.0.insert(name_of_rule(rule.name()));
    }

    #[track_caller]
    fn refusal(&mut self, message: &str) {
        // A failure names its request.
        let plain = message
            .split_once(" (request ")
            .map_or(message, |(plain, _)| plain);
        let Some(refusal) = Refusal::parse(plain) else {
            panic!("not one of the refusals: {message}");
        };
        assert_eq!(refusal.to_string(), plain);
        in_german(message);
        self.0.insert(refusal.name().to_owned());
    }
}

#[track_caller]
fn in_german(message: &str) {
    assert_ne!(translate(message, "de"), message);
    assert_eq!(translate(message, "en"), message);
}

fn name_of_rule(name: &str) -> String {
    format!("Rule::{name}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn every_rule_and_refusal_is_provoked_and_said_in_german() {
    let mut said = Said::default();
    before_a_user_exists(&mut said);
    rules_of_records(&mut said);
    rules_of_documents(&mut said);
    refusals_of_calls(&mut said);
    of_the_operator(&mut said);
    limits(&mut said);
    pictures(&mut said);
    other_ways_to_sign_in(&mut said);
    second_factors::provoke(&mut said);
    gate::provoke(&mut said);
    for (_, path) in ELSEWHERE {
        assert!(repository().join(path).exists(), "{path} is not there any more");
    }
    let rules = Rule::NAMES.iter().map(|name| name_of_rule(name));
    let all: BTreeSet<String> = rules
        .chain(Refusal::NAMES.iter().map(|name| name.to_string()))
        .collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE.iter().map(|(name, _)| name.to_string()).collect();
    let missing: Vec<_> = all
        .difference(&said.0)
        .filter(|name| !elsewhere.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no call provokes {missing:?}");
    let needless: Vec<_> = elsewhere
        .iter()
        .filter(|name| said.0.contains(*name) || !all.contains(*name))
        .collect();
    assert!(
        needless.is_empty(),
        "a call provokes, or there is not, {needless:?}"
    );
}

fn service() -> TestService {
    TestService::over(Arc::new(MemoryStorage::new()))
}

fn before_a_user_exists(said: &mut Said) {
    let listening = service().listen();
    let browser = |origin: &str, host: &str| {
        let headers = [("origin", origin), ("host", host)];
        listening
            .client
            .send("GET", "/api/trpc/onboard.currentStep", &headers, None)
    };
    said.hear(&browser("http://evil.example", "evil.example"));
    let here = listening.client.endpoint().address();
    said.hear(&browser("http://evil.example", &here));
}

fn rules_of_records(said: &mut Said) {
    let listening = service().listen();
    let admin = administrator_of(&listening.client);
    let app = |field: &str, value: &str| {
        let mut app = json!({"name": "An app", "iconUrl": "/icon.svg"});
        app[field] = value.into();
        admin.mutate("app.create", &app)
    };
    for (field, value) in [
        ("name", ""),
        ("name", &*"a".repeat(65)),
        ("name", "a\u{1}b"),
        ("name", "a\u{202e}b"),
        ("href", "nas:5000"),
        ("href", "C:\\films"),
        ("href", "nas"),
        ("href", "javascript:alert(1)"),
        ("pingUrl", "ftp://nas.example"),
        ("iconUrl", "data:text/html,x"),
    ] {
        said.hear(&app(field, value));
    }
    let user = |username: &str, email: &str| {
        let account = json!({"username": username, "password": PASSWORD, "email": email, "groupIds": []});
        admin.mutate("user.create", &account)
    };
    for (name, email) in [("ab", ""), ("ab\u{200b}c", ""), ("abc", "x")] {
        said.hear(&user(name, email));
    }
    let engine = |field: &str, value: &str| {
        let mut engine = json!({
            "name": "Wiki", "short": "w", "iconUrl": "/icon.svg", "urlTemplate": "https://wiki.example/%s",
        });
        engine[field] = value.into();
        admin.mutate("searchEngine.create", &engine)
    };
    said.hear(&engine("urlTemplate", "x"));
    said.hear(&engine("description", "a\u{1}b"));
    for name in ["", "a\u{1}b", "a\0b"] {
        said.hear(&admin.mutate("group.createGroup", &json!({"name": name})));
    }
    let me = &admin.user_id;
    // A PNG that says that it is 9,000 pixels wide and high.
    let vast = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAIygAACMoCAYAAAA=";
    for image in [
        "x",
        "data:image/bmp;base64,AAAA",
        "data:image/png;base64,A",
        "data:image/png;base64,AAAA",
        vast,
    ] {
        said.hear(&admin.mutate("user.setProfileImage", &json!({"userId": me, "image": image})));
    }
    said.hear(&admin.query("app.search", &json!({"query": "", "limit": 0})));
    said.hear(&admin.query("app.getPaginated", &json!({"page": 0, "pageSize": 10})));
    said.hear(&admin.mutate("app.createMany", &json!([])));
    let many = vec![json!({"kind": "app", "appId": MISSING}); 1001];
    said.hear(&admin.mutate(
        "board.create",
        &json!({"name": "b", "isPublic": false, "items": many}),
    ));
    rules_of_boards(said, &admin, &many);
    rules_of_looks(said, &admin);
    said.hear(&admin.mutate("app.create", &json!({"iconUrl": "/icon.svg"})));
    said.hear(&admin.mutate("app.create", &json!({"name": 5, "iconUrl": "/icon.svg"})));
    said.hear(&admin.send_text("POST", "/api/trpc/app.create", r#"{"name": "a", "name": "b"}"#));
    said.hear(&admin.mutate(
        "user.changePassword",
        &json!({"userId": me, "password": PASSWORD}),
    ));
    let elsewhere = json!({"username": "root", "password": PASSWORD, "provider": "ldap"});
    said.hear(&listening.client.post("/api/auth/sign-in", &elsewhere));
    said.hear(&admin.mutate("apiKeys.create", &json!({"readonly": true})));
    let past = json!({"expiresAt": "2001-01-01T00:00:00.000Z"});
    said.hear(&admin.mutate("apiKeys.create", &past));
    let short_lived = json!({"userId": me, "expiresAt": "2998-01-01T00:00:00.000Z"});
    let key = listening
        .client
        .key(&admin.make("apiKeys.create", &short_lived, "apiKey"));
    said.hear(&key.mutate(
        "apiKeys.createOwn",
        &json!({"expiresAt": "2999-01-01T00:00:00.000Z"}),
    ));
}

fn rules_of_boards(said: &mut Said, admin: &impl Client, many: &[Value]) {
    let note = json!({"kind": "note", "text": "a".repeat(8000)});
    for (key, value) in [
        ("items", json!([{"kind": "x"}])),
        ("items", json!([{"kind": "clock", "timeZone": "x y"}])),
        ("items", json!(vec![&note; 17])),
        ("sections", json!([{"items": many}])),
        ("slug", json!("-")),
    ] {
        let mut board = json!({"name": "b", "isPublic": false});
        board[key] = value;
        said.hear(&admin.mutate("board.create", &board));
    }
    let both = json!({"name": "b", "isPublic": false, "items": [note], "sections": []});
    said.hear(&admin.mutate("board.create", &both));
}

fn rules_of_looks(said: &mut Said, admin: &impl Client) {
    said.hear(&admin.mutate("site.update", &json!({"accentColor": "red"})));
    said.hear(&admin.mutate("site.update", &json!({"logo": "x"})));
    for host in ["http://nas.lan", "127.0.0.1"] {
        said.hear(&admin.mutate("site.update", &json!({"pingAllow": [host]})));
    }
    for body in ["AAAA", &*"A".repeat(3 << 19)] {
        let image = format!("data:image/png;base64,{body}");
        said.hear(&admin.mutate("picture.create", &json!({"image": image})));
    }
}

fn rules_of_documents(said: &mut Said) {
    let listening = service().listen();
    let admin = administrator_of(&listening.client);
    for _ in 0..2 {
        admin.app("Twin");
    }
    let oidc = |more: Value| {
        let mut user = json!({"name": "root", "provider": "oidc"});
        for (key, value) in more.as_object().into_iter().flatten() {
            user[key] = value.clone();
        }
        json!({"users": [user]})
    };
    let board = |more: Value| {
        let mut board = json!({"name": "Home"});
        for (key, value) in more.as_object().into_iter().flatten() {
            board[key] = value.clone();
        }
        json!({"boards": [board]})
    };
    admin.output_of("state.apply", &oidc(json!({})));
    let people: Vec<_> = (0..201)
        .map(|number| json!({"name": format!("user{number}"), "provider": "credentials", "password": PASSWORD}))
        .collect();
    for document in [
        oidc(json!({"password": PASSWORD})),
        oidc(json!({"emailVerified": "2026-01-01T00:00:00.000Z"})),
        oidc(json!({"image": "x"})),
        oidc(json!({"groups": ["none"]})),
        json!({"groups": [{"name": "a"}, {"name": "a"}]}),
        json!({"apps": [{"name": "a"}, {"name": "a"}]}),
        json!({"apps": [{"name": "Twin"}]}),
        json!({"users": people}),
        json!({"pictures": [{"id": "0".repeat(64), "image": picture("one")}]}),
        json!({"homeBoard": "none"}),
        json!({"site": {"startBoard": "none"}}),
        board(json!({"items": [{}]})),
        board(json!({"items": [], "sections": []})),
        board(json!({"creator": "nobody"})),
        board(json!({"creator": "root"})),
        board(json!({"items": [{"app": {"id": MISSING}}]})),
        board(json!({"items": [{"app": "none"}]})),
        board(json!({"items": [{"app": "Twin"}]})),
    ] {
        said.hear(&admin.mutate("state.apply", &document));
    }
}

fn refusals_of_calls(said: &mut Said) {
    let listening = service().listen();
    let anonymous = &listening.client;
    let admin = administrator_of(anonymous);
    let bob = admin.user_with("bob", "board-create");
    let (me, public) = (admin.user_id.clone(), admin.board("Public", true));
    let account = json!({"username": "bob", "password": PASSWORD, "email": "bob@example.com"});
    said.hear(&anonymous.query("app.all", &Value::Null));
    said.hear(&anonymous.post(
        "/api/auth/sign-in",
        &json!({"username": "root", "password": "wrong"}),
    ));
    said.hear(&anonymous.mutate("user.initUser", &account));
    let mut registration = account.clone();
    (registration["inviteId"], registration["token"]) = (MISSING.into(), "x".into());
    said.hear(&anonymous.mutate("user.register", &registration));
    let link = json!({"token": "x", "password": PASSWORD});
    said.hear(&anonymous.mutate("user.setPasswordByLink", &link));
    said.hear(&anonymous.get("/api/nonsense"));
    said.hear(&anonymous.get("/api/auth/oidc/start"));

    said.hear(&bob.query("user.getAll", &Value::Null));
    said.hear(&bob.query("user.getById", &json!({"userId": me})));
    said.hear(&bob.query("extras.ofUser", &json!({"id": me})));
    said.hear(&bob.mutate("board.delete", &json!({"id": public})));
    let change = json!({"id": public, "name": "Public", "isPublic": true, "items": []});
    said.hear(&bob.mutate("board.update", &change));
    said.hear(&bob.mutate(
        "board.create",
        &json!({"name": "b", "isPublic": true, "items": []}),
    ));

    let foreign = |headers: &[(&str, &str)]| {
        let body = json!({"colorScheme": "dark"}).to_string();
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        admin.send(
            "POST",
            "/api/trpc/user.changeColorScheme",
            &all,
            Some(body.as_bytes()),
        )
    };
    said.hear(&foreign(&[("sec-fetch-site", "cross-site")]));
    said.hear(&foreign(&[("origin", "http://evil.example")]));

    said.hear(&admin.mutate("user.createPasswordLink", &json!({"userId": me})));
    let mut new = account.clone();
    new["groupIds"] = json!([]);
    said.hear(&admin.mutate("user.create", &new));
    (new["username"], new["groupIds"]) = ("carol".into(), json!([MISSING]));
    said.hear(&admin.mutate("user.create", &new));
    let wrong = json!({"userId": me, "previousPassword": "wrong", "password": PASSWORD});
    said.hear(&admin.mutate("user.changePassword", &wrong));
    admin.output_of("user.setDisabled", &json!({"userId": bob.id, "disabled": true}));
    said.hear(&admin.mutate("user.createPasswordLink", &json!({"userId": bob.id})));
    said.hear(&admin.mutate("user.delete", &json!({"userId": me})));
    said.hear(&admin.mutate("user.setDisabled", &json!({"userId": me, "disabled": true})));
    let groups = admin.query("group.getAll", &Value::Null).data();
    let admins = groups.as_array().into_iter().flatten();
    let mut admins = admins.filter(|group| group["permissions"].to_string().contains("\"admin\""));
    let admins = text(&admins.next().expect("the administrators")["id"]).to_owned();
    said.hear(&admin.mutate("group.removeMember", &json!({"groupId": admins, "userId": me})));
    let nobody = json!({"groups": [], "users": [], "prune": true});
    said.hear(&admin.mutate("state.apply", &nobody));
    let provider = json!({"users": [{"name": "olga", "provider": "oidc"}]});
    admin.output_of("state.apply", &provider);
    let users = admin.query("user.getAll", &Value::Null).data();
    let mut users = users.as_array().into_iter().flatten();
    let olga = text(&users.find(|user| user["name"] == "olga").expect("olga")["id"]).to_owned();
    said.hear(&admin.mutate("user.editProfile", &json!({"id": olga, "name": "olga2"})));
    said.hear(&admin.query("app.byId", &json!({"id": MISSING})));
    said.hear(&admin.mutate("group.createGroup", &json!({"name": "bob-group"})));
    let stale = json!({"id": me, "extras": null, "version": "x"});
    said.hear(&admin.mutate("extras.saveOfUser", &stale));
    for _ in 0..100 {
        admin.output_of("apiKeys.createOwn", &json!({}));
    }
    said.hear(&admin.mutate("apiKeys.createOwn", &json!({})));
}

/// The operator of the machine is not a user.
fn of_the_operator(said: &mut Said) {
    let listening = service().listen();
    let service = &listening.service;
    // Nobody is there yet, and the document brings no administrator.
    let nobody = json!({"users": [{"name": "eve", "provider": "credentials"}]});
    for (procedure, input) in [
        ("state.apply", nobody),
        ("apiKeys.create", json!({})),
        ("apiKeys.createOwn", json!({})),
    ] {
        let row = service.table.find(procedure).expect("the procedure");
        let operator = Identity::operator();
        let called = service.call(row, &operator, "test", Ok(Some(input)));
        let error = listening.runtime.block_on(called).expect_err("a refusal");
        match error.issues.first() {
            Some(issue) => said.rule(&issue.message),
            None => said.refusal(&error.message),
        }
    }
}

fn limits(said: &mut Said) {
    let small = HttpLimits {
        body: 100,
        ..HttpLimits::default()
    };
    let listening = service().http_limits(small).listen();
    let long = json!({"username": "a".repeat(200), "password": PASSWORD});
    said.hear(&listening.client.mutate("user.initUser", &long));

    let records = Arc::new(MemoryRecords::new(Arc::new(SystemClock)));
    let listening = service().throttle(Throttle::new(records)).listen();
    administrator_of(&listening.client);
    let wrong = json!({"username": "root", "password": "wrong"});
    let mut tries = (0..50).map(|_| listening.client.post("/api/auth/sign-in", &wrong));
    said.hear(
        &tries
            .find(|answer| answer.status == 429)
            .expect("a throttled try"),
    );
}

/// With as many pictures as one person, and as the service, may have.
fn pictures(said: &mut Said) {
    let storage = Arc::new(MemoryStorage::new());
    let listening = TestService::over(storage.clone()).listen();
    let admin = administrator_of(&listening.client);
    let upload = |name: &str| admin.mutate("picture.create", &json!({"image": picture(name)}));
    for number in 0..50 {
        upload(&number.to_string()).assert_status(200);
    }
    said.hear(&upload("one more"));

    let editor = admin.user_with("editor", "app-create");
    listening.runtime.block_on(async {
        let context = Identity::operator().context("test");
        let begun = storage.begin_dashboard(Access::Write, &context).await;
        let mut transaction = begun.expect("a transaction");
        for number in 50..2000_u32 {
            let bytes = number.to_be_bytes().to_vec();
            let new = NewPicture {
                id: Picture::id_of(&bytes),
                picture: Picture {
                    content_type: "image/gif".into(),
                    bytes,
                },
                uploader_id: None,
                uploaded_at: SystemClock.now(),
            };
            transaction.put_picture(&new).await.expect("a picture");
        }
        transaction.commit().await.expect("the pictures");
    });
    said.hear(&editor.mutate("picture.create", &json!({"image": picture("one more")})));
}

/// Where a proxy signs people in, and where only some or none have a password.
fn other_ways_to_sign_in(said: &mut Said) {
    let off = service().passwords(PasswordSignIn::Off).listen();
    let sign_in = json!({"username": "root", "password": PASSWORD});
    said.hear(&off.client.post("/api/auth/sign-in", &sign_in));
    let some = service().passwords(PasswordSignIn::Administrators).listen();
    let registration = json!({
        "username": "bob", "password": PASSWORD, "email": "bob@example.com", "inviteId": MISSING, "token": "x",
    });
    said.hear(&some.client.mutate("user.register", &registration));

    let proxy = ProxySignIn {
        user: "remote-user".parse().expect("a name of a header"),
        name: None,
        email: None,
        groups: None,
        separator: ',',
        sign_up: true,
    };
    let url = "http://portico.example".parse().expect("a URL");
    let listening = service().proxy_sign_in(proxy, url).listen();
    administrator_of(&listening.client);
    for (host, user) in [("portico.example", "ada, root"), ("evil.example", "ada")] {
        let headers = [("host", host), ("remote-user", user)];
        let answer = listening.client.send("GET", "/api/trpc/app.all", &headers, None);
        said.hear(&answer);
    }
}
