//! An import into a Portico that has data: what is there stays as it is.

use std::path::Path;

use portico_storage::hash_secret;
use portico_tests::{Builder, Client, Fixtures, Portico, Session};
use serde_json::{Value, json};

use super::{OLD_PASSWORD, Workspace, created, export, report};

/// A document with records that have the names of some of Homarr's.
const PRESENT: &str = r#"{
    "groups": [
        {"name": "operators", "permissions": ["admin"]},
        {"name": "FAMILY", "permissions": ["board-view-all"]}
    ],
    "users": [
        {"name": "ada", "provider": "credentials", "email": "other@example.org", "groups": ["operators"]},
        {"name": "eve", "provider": "credentials", "groups": ["FAMILY"]}
    ],
    "apps": [
        {"id": "mine", "name": "jellyfin", "iconUrl": "/mine.svg", "href": "https://mine.example"},
        {"id": "one", "name": "NAS", "iconUrl": "/one.svg"}, {"id": "two", "name": "nas", "iconUrl": "/two.svg"}
    ],
    "searchEngines": [
        {"name": "Other", "short": "G", "urlTemplate": "https://other.example/?q=%s", "iconUrl": "/other.svg"}
    ],
    "boards": [{"name": "HOME", "isPublic": false, "items": [{"app": "jellyfin"}]}],
    "mobileHomeBoard": "HOME"
}"#;

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let list = list.as_array().expect("a list");
    let found = list.iter().find(|record| record["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {list:?}"))
}

#[test]
fn a_portico_with_data_keeps_it_and_says_what_collided() {
    let place = Workspace::new();
    let mut server = Builder::default().start();
    let root = portico_tests::administrator(&server);
    let document: Value = serde_json::from_str(PRESENT).expect("a document");
    root.mutate("state.apply", &document).assert_status(200);
    let users = root.query("user.getAll", &Value::Null).data();
    let before_id = named(&users, "ada")["id"].clone();
    server.stop();
    let data = server.data();
    let before = export(&data);

    let file = place.everything();
    let first = report(&file, &data, &[]);
    let collided: Vec<_> = first["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .filter(|note| note["what"] == "collided")
        .map(|note| (note["kind"].as_str(), note["name"].as_str()))
        .collect();
    assert_eq!(
        collided,
        [
            (Some("group"), Some("Family")),
            (Some("user"), Some("ada")),
            (Some("app"), Some("Jellyfin")),
            (Some("searchEngine"), Some("Google")),
            (Some("board"), Some("Home")),
            // What people see first: everyone's, and that of the group.
            (Some("other"), Some("")),
            (Some("group"), Some("Family")),
        ]
    );
    assert_eq!(created(&first), [2, 6, 4, 1, 2, 2, 1]);

    let after = export(&data);
    assert_eq!(
        named(&after["groups"], "FAMILY"),
        named(&before["groups"], "FAMILY")
    );
    assert_eq!(
        named(&after["apps"], "jellyfin"),
        named(&before["apps"], "jellyfin")
    );
    assert_eq!(named(&after["boards"], "HOME"), named(&before["boards"], "HOME"));
    assert_eq!(
        (&after["homeBoard"], &after["mobileHomeBoard"]),
        (&Value::Null, &json!("HOME"))
    );
    let ada = named(&after["users"], "ada");
    assert_eq!(ada["email"], "other@example.org");
    assert_eq!(
        ada["groups"],
        json!(["credentials-admin", "everyone", "operators"])
    );
    assert_eq!(named(&after["users"], "carol")["groups"], json!(["FAMILY"]));
    let lab = named(&after["boards"], "Lab");
    let shared_with = json!({
        "users": [{"name": "ada", "mayChange": true}],
        "groups": [{"name": "FAMILY", "mayChange": true}],
    });
    assert_eq!(lab["sharedWith"], shared_with);
    // Two apps had that name: Homarr's is a third.
    assert_eq!(lab["items"], json!([{"app": {"id": "appnas", "name": "NAS"}}]));

    let second = report(&file, &data, &[]);
    assert_eq!(created(&second), [0; 7]);
    assert_eq!(export(&data), after);

    server.start_again();
    let anonymous = server.anonymous();
    let old = json!({"username": "ada", "password": OLD_PASSWORD});
    anonymous
        .post("/api/auth/sign-in", &old)
        .assert_refused(401, "UNAUTHORIZED");
    let key = format!("0a1b2c3d.{}", "0123456789abcdef".repeat(3));
    let own = server.key(&key).query("apiKeys.getOwn", &Value::Null).data();
    assert_eq!(own[0]["name"], "Homarr");
    assert_eq!(own[0]["userId"], before_id);
}

/// A service into which this file was imported, and its administrator.
fn after_an_import(file: &Path) -> (Portico, Session) {
    let mut server = Builder::default().start();
    server.stop();
    report(file, &server.data(), &[]);
    server.start_again();
    let ada = server.sign_in("ada", OLD_PASSWORD);
    (server, ada)
}

#[test]
fn what_was_deleted_in_portico_since_an_import_does_not_come_back_as_a_right() {
    let place = Workspace::new();
    let file = place.everything();
    let (mut server, ada) = after_an_import(&file);
    let data = server.data();
    ada.mutate(
        "apiKeys.delete",
        &json!({"apiKeyId": "clz0000000000000000000key"}),
    )
    .assert_status(200);
    ada.mutate("invite.deleteInvite", &json!({"id": "invitegood"}))
        .assert_status(200);
    let membership = json!({"groupId": "groupeveryone", "userId": "userbob"});
    ada.mutate("group.removeMember", &membership).assert_status(200);
    let home = json!({"groupId": null, "homeBoardId": null, "mobileHomeBoardId": null});
    ada.mutate("board.setDefaultHome", &home).assert_status(200);
    server.stop();
    let before = export(&data);
    let again = report(&file, &data, &[]);
    assert_eq!(created(&again), [0; 7]);
    assert_eq!(export(&data), before);
    assert_eq!(again["counts"]["apiKey"]["leftOut"], 3);
}

/// The notes about names that are taken: kind and name.
fn collided(report: &Value) -> Vec<(&str, &str)> {
    let notes = report["notes"].as_array().expect("notes").iter();
    let notes = notes.filter(|note| note["what"] == "collided");
    let text = |value: &Value| value.as_str().expect("a text").to_owned().leak() as &str;
    notes
        .map(|note| (text(&note["kind"]), text(&note["name"])))
        .collect()
}

#[test]
fn records_that_were_renamed_since_an_import_keep_their_names_and_new_ones_get_others() {
    let place = Workspace::new();
    let file = place.everything();
    let (mut server, ada) = after_an_import(&file);
    let data = server.data();
    let engine = |id: &str, name: &str, short: &str| {
        let input = json!({
            "id": id, "name": name, "short": short, "urlTemplate": "https://example.org/?q=%s",
            "iconUrl": "/icon.svg", "description": null,
        });
        ada.mutate("searchEngine.update", &input).assert_done();
    };
    let board = |id: &str, name: &str| {
        let input = json!({"id": id, "name": name, "isPublic": false, "items": []});
        ada.mutate("board.update", &input).assert_done();
    };
    ada.mutate("group.rename", &json!({"groupId": "groupfamily", "name": "Kin"}))
        .assert_done();
    ada.mutate("user.editProfile", &json!({"id": "userbob", "name": "robert"}))
        .assert_done();
    engine("enginewiki", "Pedia", "p");
    // Two boards swap their names.
    board("boardlab", "between");
    board("boardhome", "Lab");
    board("boardlab", "Home");
    server.stop();
    let renamed = export(&data);
    let again = report(&file, &data, &[]);
    assert_eq!(created(&again), [0; 7]);
    assert_eq!(export(&data), renamed, "the swapped names stay");

    // In Homarr there are records by now with the new names, and with the old ones.
    let db = rusqlite::Connection::open(&file).expect("Homarr's database");
    db.execute_batch(
        "INSERT INTO \"group\" (id, name, position) VALUES ('groupkin', 'kin', 3);
        UPDATE \"group\" SET name = 'Clan' WHERE id = 'groupfamily';
        INSERT INTO \"group\" (id, name, position) VALUES ('groupnew', 'Family', 4);
        INSERT INTO \"user\" (id, name, provider) VALUES ('userrobert', 'Robert', 'credentials');
        UPDATE \"user\" SET name = 'bobby' WHERE id = 'userbob';
        INSERT INTO \"user\" (id, name, provider) VALUES ('usernewbob', 'bob', 'credentials');
        UPDATE \"search_engine\" SET short = 'wp' WHERE id = 'enginewiki';
        INSERT INTO \"search_engine\" (id, icon_url, name, short, url_template) VALUES
            ('enginepedia', '/p.svg', 'PEDIA', 'x', 'https://example.org/?q=%s'),
            ('engineshort', '/p.svg', 'Shorty', 'P', 'https://example.org/?q=%s'),
            ('enginefreed', '/p.svg', 'Freed', 'w', 'https://example.org/?q=%s');
        UPDATE \"board\" SET name = 'Elsewhere' WHERE id = 'boardlab';
        INSERT INTO \"board\" (id, name) VALUES ('boardnew', 'lab');
        INSERT INTO \"app\" (id, name, icon_url) VALUES ('appnew', 'NAS', '/nas.svg');",
    )
    .expect("more records");
    drop(db);
    let dry = report(&file, &data, &["--dry-run"]);
    let second = report(&file, &data, &[]);
    assert_eq!(dry["notes"], second["notes"]);
    assert_eq!(created(&second), [2, 2, 1, 3, 1, 0, 0]);
    assert_eq!(
        collided(&second),
        [
            ("group", "kin"),
            ("user", "robert"),
            ("board", "lab"),
            ("searchEngine", "PEDIA"),
            ("searchEngine", "P"),
        ]
    );
    let after = export(&data);
    for (list, names) in [
        ("groups", &["Kin", "kin-2", "Family"][..]),
        ("users", &["robert", "robert-2", "bob"]),
        ("boards", &["Home", "Lab", "lab-2"]),
        ("searchEngines", &["Pedia", "PEDIA-2", "Shorty", "Freed"]),
    ] {
        for name in names {
            named(&after[list], name);
        }
    }
    assert_eq!(named(&after["searchEngines"], "Shorty")["short"], "P-2");
    assert_eq!(named(&after["searchEngines"], "Freed")["short"], "w");
    let third = report(&file, &data, &[]);
    assert_eq!(created(&third), [0; 7]);
    assert_eq!(export(&data), after);
}

#[test]
fn a_record_that_the_import_renamed_is_not_joined_with_one_of_that_name() {
    let place = Workspace::new();
    let mut server = Builder::default().start();
    let root = portico_tests::administrator(&server);
    let document = json!({"users": [
        {"name": "ada-2", "provider": "credentials"}, {"name": "bo-user", "provider": "credentials"},
    ]});
    root.mutate("state.apply", &document).assert_status(200);
    server.stop();
    let (file, data) = (place.everything(), server.data());
    let first = report(&file, &data, &[]);
    assert_eq!(created(&first)[1], 7, "{first}");
    let after = export(&data);
    for name in ["ada", "ada-2", "ada-2-2", "bo-user", "bo-user-2"] {
        named(&after["users"], name);
    }
    assert_eq!(created(&report(&file, &data, &[])), [0; 7]);
    assert_eq!(export(&data), after);
}

#[test]
fn a_user_is_never_taken_for_another_person_at_an_issuer() {
    let issuer = "https://id.example";
    let place = Workspace::new();
    let mut server = Builder::default().start();
    let root = portico_tests::administrator(&server);
    let document =
        json!({"users": [{"name": "carol", "provider": "oidc"}, {"name": "dave", "provider": "ldap"}]});
    root.mutate("state.apply", &document).assert_status(200);
    let users = root.query("user.getAll", &Value::Null).data();
    let here = named(&users, "carol")["id"].as_str().expect("an id").to_owned();
    server.stop();
    let data = server.data();
    let identities = || -> Vec<(String, String)> {
        let db = rusqlite::Connection::open(data.join("portico.db")).expect("the database");
        let sql = "SELECT user_id, subject FROM identity ORDER BY subject";
        let mut statement = db.prepare(sql).expect("a statement");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("rows");
        rows.collect::<Result<_, _>>().expect("identities")
    };
    let db = rusqlite::Connection::open(data.join("portico.db")).expect("the database");
    let sql = "INSERT INTO identity (provider, subject_hash, subject, user_id) VALUES ('oidc', ?1, ?2, ?3)";
    let subject = format!("{issuer} another-person");
    db.execute(sql, (hash_secret(&subject), &subject, &here))
        .expect("an identity");
    drop(db);

    // Without an issuer it is not known who Homarr's carol is.
    let file = place.everything();
    let first = report(&file, &data, &[]);
    let notes = first["notes"].as_array().expect("notes");
    let is_about =
        |note: &&Value| note["kind"] == "user" && note["name"] == "carol" && note["what"] == "leftOut";
    let note = notes.iter().find(is_about).expect("a note about carol");
    assert!(
        note["text"].as_str().expect("a text").contains("--oidc-issuer"),
        "{note}"
    );
    assert_eq!(
        first["counts"]["user"]["joined"], 1,
        "a user without a person is found by name"
    );
    let left = export(&data);
    assert_eq!(named(&left["groups"], "Family")["name"], "Family");
    assert_eq!(created(&report(&file, &data, &[])), [0; 7]);
    assert_eq!(export(&data), left);

    // With it, carol is another person, and gets a name of her own.
    let second = report(&file, &data, &["--oidc-issuer", issuer]);
    assert_eq!(created(&second)[1], 1, "{second}");
    assert!(collided(&second).contains(&("user", "carol")));
    let after = export(&data);
    assert_eq!(named(&after["users"], "carol")["groups"], json!([]));
    assert_eq!(named(&after["users"], "carol-2")["groups"], json!(["Family"]));
    assert_eq!(
        identities(),
        [
            (here, format!("{issuer} another-person")),
            ("usercarol".to_owned(), format!("{issuer} subject-of-carol")),
        ]
    );
    assert_eq!(created(&report(&file, &data, &["--oidc-issuer", issuer])), [0; 7]);
    assert_eq!(export(&data), after);
}

#[test]
fn a_data_directory_that_a_server_uses_is_not_imported_into() {
    let place = Workspace::new();
    let server = Builder::default().start();
    let refused = super::import(&place.everything(), &server.data(), &[]).failed();
    assert!(refused.contains("stop it first"), "{refused}");
    let root = portico_tests::administrator(&server);
    assert_eq!(root.user_names(), ["root"]);
}
