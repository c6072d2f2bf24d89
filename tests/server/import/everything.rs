//! A dashboard with everything in it: what becomes of each record.

use portico_tests::{Builder, Client, NO_INPUT, PASSWORD, Portico, escape};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{OLD_PASSWORD, OLDER, OLDEST, Workspace, created, expected, export, fixture, import, report};

const ISSUER: &str = "https://id.example/realms/home";

/// A server on which everything was imported.
fn server_with_everything(place: &Workspace, builder: Builder) -> Portico {
    let mut server = builder.start();
    server.stop();
    import(&place.everything(), &server.data(), &["--oidc-issuer", ISSUER]).succeeded();
    server.start_again();
    server
}

fn key(id: &str, repeated: usize) -> String {
    format!("{id}.{}", "0123456789abcdef".repeat(repeated))
}

#[test]
fn the_dashboard_is_the_one_written_by_hand_and_a_second_import_changes_nothing() {
    let place = Workspace::new();
    let (file, data) = (place.everything(), place.path("data"));
    let dry = report(&file, &data, &["--dry-run"]);
    assert_eq!(export(&data)["users"], json!([]), "a dry run wrote something");

    let first = report(&file, &data, &[]);
    assert_eq!(created(&first), [3, 7, 5, 2, 3, 2, 1]);
    assert_eq!(dry["counts"], first["counts"]);
    assert_eq!(dry["notes"], first["notes"]);
    assert_eq!(export(&data), expected());
    assert_eq!(
        first["schema"]["commit"],
        "5e39c8813a73ee57f2bc7491eb5814af11cff267"
    );

    let second = report(&file, &data, &[]);
    assert_eq!(created(&second), [0; 7]);
    assert_eq!(second["counts"]["user"]["present"], 7);
    assert_eq!(export(&data), expected());
    let said = import(&file, &data, &[]).succeeded();
    assert!(said.contains("Nothing to import"), "{said}");
}

#[test]
fn everything_that_does_not_come_along_as_it_was_has_a_line() {
    let place = Workspace::new();
    let report = report(&place.everything(), &place.path("data"), &[]);
    let notes = report["notes"].as_array().expect("notes");
    let lines: Vec<String> = notes
        .iter()
        .map(|note| {
            let text = |field: &str| note[field].as_str().expect("a text").to_owned();
            format!(
                "{} {} {}: {}",
                text("kind"),
                text("what"),
                text("name"),
                text("text")
            )
        })
        .collect();
    let mut missing = Vec::new();
    for expected in fixture("everything.notes").lines() {
        if !lines.iter().any(|line| line.starts_with(expected)) {
            missing.push(expected.to_owned());
        }
    }
    assert_eq!(missing, [""; 0], "not in:\n{}", lines.join("\n"));
    assert_eq!(
        lines.len(),
        fixture("everything.notes").lines().count(),
        "{}",
        lines.join("\n")
    );

    assert_eq!(report["counts"]["board"]["lost"], 9, "{}", report["counts"]);
    assert_eq!(report["counts"]["app"]["repaired"], 3);
    let left_out = |kind: &str| report["counts"][kind]["leftOut"].clone();
    let kinds = [
        "group",
        "user",
        "app",
        "searchEngine",
        "board",
        "apiKey",
        "invite",
    ];
    assert_eq!(kinds.map(left_out), [0, 1, 2, 1, 0, 2, 1].map(Value::from));
}

#[test]
fn people_sign_in_with_their_old_passwords_and_keep_their_preferences() {
    let place = Workspace::new();
    let server = server_with_everything(&place, Builder::default());
    let hash = || -> String {
        let db = Connection::open(server.data().join("portico.db")).expect("the database");
        let sql = "SELECT password_hash FROM user_account WHERE id = 'userada'";
        db.query_row(sql, [], |row| row.get(0)).expect("the hash")
    };
    assert!(hash().starts_with("$2b$10$"));
    let ada = server.sign_in("Ada", OLD_PASSWORD);
    assert_eq!(ada.user_id, "userada");
    assert!(hash().starts_with("$argon2id$"), "the hash was not replaced");
    server.sign_in("ada", OLD_PASSWORD);
    let wrong = json!({"username": "ada", "password": PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &wrong)
        .assert_refused(401, "UNAUTHORIZED");

    let user = ada.query("user.getById", &json!({"userId": "userada"})).data();
    for (field, value) in [
        ("homeBoardId", json!("boardhome")),
        ("mobileHomeBoardId", json!("boardlab")),
        ("defaultSearchEngineId", json!("enginewiki")),
        ("openSearchInNewTab", json!(false)),
        ("firstDayOfWeek", json!(0)),
        ("pingIconsEnabled", json!(true)),
    ] {
        assert_eq!(user[field], value, "{field}");
    }
    let session = ada.get("/api/auth/session").json();
    assert_eq!(session["user"]["colorScheme"], "light");
    // The search engine that Homarr would show; the home boards stay those of groups and of everyone.
    for id in ["userbob", "usercarol", "userdave"] {
        let user = ada.query("user.getById", &json!({ "userId": id })).data();
        assert_eq!(user["homeBoardId"], Value::Null, "{id}");
        assert_eq!(user["defaultSearchEngineId"], "enginegoogle", "{id}");
    }
    let homes = ada.query("board.getDefaultHomes", &NO_INPUT).data();
    let of = |group: Value, board: &str| json!({"groupId": group, "homeBoardId": board, "mobileHomeBoardId": null});
    let expected = [of(Value::Null, "boardhome"), of(json!("groupfamily"), "boardlab")];
    assert_eq!(homes, json!(expected));
    let bo = ada.query("user.getById", &json!({"userId": "userbo"})).data();
    assert_eq!(bo["homeBoardId"], Value::Null);

    let db = Connection::open(server.data().join("portico.db")).expect("the database");
    let subject: String = db
        .query_row(
            "SELECT subject FROM identity WHERE user_id = 'usercarol'",
            [],
            |row| row.get(0),
        )
        .expect("an identity");
    assert_eq!(subject, format!("{ISSUER} subject-of-carol"));
}

/// What a client of Homarr reads of a query's answer.
fn asked(client: &dyn Client, procedure: &str, input: &Value) -> Value {
    let input = escape(&json!({ "json": input }).to_string());
    let answer = client.get(&format!("/api/trpc/{procedure}?input={input}"));
    answer.assert_status(200).json()["result"]["data"]["json"].clone()
}

#[test]
fn clients_of_homarr_find_boards_and_preferences_as_they_were() {
    let place = Workspace::new();
    let server = server_with_everything(&place, Builder::default().argument("--compat-homarr"));
    let script = server.key(&key("0a1b2c3d", 3)).in_api_key_header();
    let home = || asked(&script, "board.getBoardByName", &json!({"name": "home"}));
    let mut found = home();
    assert_eq!(found["creator"].take()["name"], "ada");
    let mut expected: Value = serde_json::from_str(&fixture("home.json")).expect("a board");
    expected["creator"] = Value::Null;
    assert_eq!(found, expected);
    // It is in the form in which clients save.
    let saved = json!({"id": "boardhome", "sections": found["sections"], "items": found["items"]});
    script
        .post("/api/trpc/board.saveBoard", &json!({ "json": saved }))
        .assert_status(200);
    assert_eq!(home()["items"], expected["items"]);
    assert_eq!(home()["layouts"], expected["layouts"]);
    let lab = asked(&script, "board.getBoardByName", &json!({"name": "Lab"}));
    assert_eq!(lab["items"].as_array().map(Vec::len), Some(1), "{lab}");
    assert_eq!(lab["items"][0]["layouts"][0]["sectionId"], "sectionlab");
    let background = lab["backgroundImageUrl"].as_str().expect("a background");
    assert!(background.starts_with("/api/pictures/"), "{background}");
    script.get(background).assert_status(200);

    for (id, expected) in [
        ("userada", [false, false, false, true]),
        ("userbob", [true, true, false, false]),
    ] {
        let user = asked(&script, "user.getById", &json!({ "userId": id }));
        let kept = [
            "ddgBangs",
            "enableRightClickOnWidgets",
            "completedManageTour",
            "completedBoardTour",
        ];
        assert_eq!(
            kept.map(|key| user[key].clone()),
            expected.map(Value::from),
            "{id}"
        );
    }
}

#[test]
fn an_invite_that_is_still_good_can_be_used_once() {
    let place = Workspace::new();
    let server = server_with_everything(&place, Builder::default());
    let registration = json!({
        "username": "newcomer", "password": PASSWORD, "email": "new@example.org",
        "inviteId": "invitegood", "token": "0123456789abcdef0123456789abcdef01234567",
    });
    server
        .anonymous()
        .mutate("user.register", &registration)
        .assert_status(200);
    let again = json!({
        "username": "another", "password": PASSWORD, "email": "new@example.org",
        "inviteId": "invitegood", "token": "0123456789abcdef0123456789abcdef01234567",
    });
    server
        .anonymous()
        .mutate("user.register", &again)
        .assert_refused(403, "FORBIDDEN");
}

#[test]
fn scripts_go_on_with_their_keys_whose_hashes_are_replaced_at_the_first_use() {
    let place = Workspace::new();
    let server = server_with_everything(&place, Builder::default());
    let state = |id: &str| -> (Option<String>, Vec<u8>) {
        let db = Connection::open(server.data().join("portico.db")).expect("the database");
        let sql = "SELECT imported_hash, secret_hash FROM api_key WHERE id = ?1";
        db.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("the key")
    };
    for (id, repeated, owner) in [
        ("0a1b2c3d", 3, "userada"),
        ("clz0000000000000000000key", 8, "userbob"),
    ] {
        assert!(state(id).0.is_some_and(|hash| hash.starts_with("$2")), "{id}");
        let key = key(id, repeated);
        for wrong in [
            key.replace("0123", "1123"),
            format!("{id}.{}", &key[id.len() + 2..]),
            format!("{key}.junk"),
        ] {
            server
                .key(&wrong)
                .get("/api/apps")
                .assert_refused(401, "UNAUTHORIZED");
        }
        assert!(state(id).0.is_some(), "a wrong secret replaced the hash");
        let script = server.key(&key).in_api_key_header();
        assert_eq!(
            script.get("/api/apps").json().as_array().map(Vec::len),
            Some(5),
            "{id}"
        );
        let path = format!("/api/users/{}", escape(owner));
        assert_eq!(script.get(&path).json()["id"], owner);
        let (imported, secret) = state(id);
        assert_eq!(imported, None, "{id}");
        let hash = portico_storage::hash_secret(key.split_once('.').expect("a key").1);
        assert_eq!(secret, hash, "{id}");
        // From now on like every key.
        server.key(&key).get("/api/apps").assert_status(200);
        server
            .key(&key.replace("0123", "1123"))
            .get("/api/apps")
            .assert_refused(401, "UNAUTHORIZED");
    }
    let ada = server.sign_in("ada", OLD_PASSWORD);
    ada.mutate("apiKeys.delete", &json!({"apiKeyId": "0a1b2c3d"}))
        .assert_status(200);
    server
        .key(&key("0a1b2c3d", 3))
        .get("/api/apps")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn many_first_uses_of_one_key_at_once_all_succeed() {
    let place = Workspace::new();
    let on = Builder::default().environment("PORTICO_SIGN_IN_THROTTLE", "on");
    let server = server_with_everything(&place, on);
    let script = server.key(&key("0a1b2c3d", 3));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| script.get("/api/apps").status))
            .collect();
        calls
            .into_iter()
            .map(|call| call.join().expect("an answer"))
            .collect()
    });
    assert_eq!(statuses, [200; 16]);
}

#[test]
fn guesses_at_a_key_that_was_not_used_yet_are_throttled() {
    let place = Workspace::new();
    let on = Builder::default().environment("PORTICO_SIGN_IN_THROTTLE", "on");
    let server = server_with_everything(&place, on);
    let guess = |number: usize| {
        let wrong = format!("0a1b2c3d.{number:048x}");
        server.key(&wrong).get("/api/apps").status
    };
    let statuses: Vec<u16> = (0..40).map(guess).collect();
    let hashed = statuses.iter().filter(|status| **status == 401).count();
    assert!((1..=20).contains(&hashed), "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    // Ids that no key has cost nothing, and are not counted.
    let unknown = format!("ffffffff.{:048x}", 7);
    server
        .key(&unknown)
        .get("/api/apps")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn older_schemas_are_read_as_well() {
    let place = Workspace::new();
    let sql = "
        INSERT INTO \"user\" (id, name, password, salt) VALUES
            ('userada', 'ada', '$2b$10$abcdefghijklmnopqrstuuCj7fyLDJytXL.TfOiOeiv0fQvSOK1/2', 'salt');
        INSERT INTO \"group\" (id, name, position) VALUES ('groupadmins', 'admins', 1);
        INSERT INTO \"groupMember\" (group_id, user_id) VALUES ('groupadmins', 'userada');
        INSERT INTO \"groupPermission\" (group_id, permission) VALUES ('groupadmins', 'admin');
        INSERT INTO \"apiKey\" (id, api_key, salt, user_id) VALUES
            ('0a1b2c3d', '$2b$10$ABCDEFGHIJKLMNOPQRSTUuqciJcX/ncTvCOjt9pdYPkx6ilcL4tne', 'salt', 'userada');";
    let file = place.database("older.sqlite", OLDER, sql);
    let older = report(&file, &place.path("data"), &[]);
    assert_eq!(created(&older), [1, 1, 0, 0, 0, 1, 0]);
    assert_eq!(
        older["schema"]["migration"],
        "0030_migrate_item_and_section_for_layouts"
    );
    // In Homarr 1.0 groups have no position.
    let sql = sql.replace(
        "name, position) VALUES ('groupadmins', 'admins', 1)",
        "name) VALUES ('groupadmins', 'admins')",
    );
    let file = place.database("oldest.sqlite", OLDEST, &sql);
    let data = place.path("data-of-the-oldest");
    let oldest = report(&file, &data, &[]);
    assert_eq!(created(&oldest), [1, 1, 0, 0, 0, 1, 0]);
    assert_eq!(oldest["schema"]["migration"], "0020_empty_hellfire_club");
    assert_eq!(export(&data), export(&place.path("data")));
}

#[test]
fn what_homarr_wrote_last_is_in_the_log_beside_the_file() {
    let place = Workspace::new();
    let file = place.everything();
    let db = Connection::open(&file).expect("the database");
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        UPDATE \"app\" SET \"name\" = 'Renamed' WHERE \"id\" = 'appnas'",
    )
    .expect("a change");
    let data = place.path("data");
    import(&file, &data, &[]).succeeded();
    let apps = export(&data)["apps"].clone();
    let names: Vec<_> = apps
        .as_array()
        .expect("apps")
        .iter()
        .map(|app| app["name"].as_str())
        .collect();
    assert!(names.contains(&Some("Renamed")), "{names:?}");
    drop(db);
}

#[test]
fn help_says_what_comes_along() {
    let mut command = portico_tests::command();
    let help = portico_tests::run(command.args(["import", "homarr", "--help"]), "").succeeded();
    for words in [
        "passwords",
        "docs/homarr.md",
        "stop `portico serve` first",
        "--dry-run",
        "Examples:",
    ] {
        assert!(help.contains(words), "{words} is not in:\n{help}");
    }
}
