//! An import into a Portico that has data: what is there stays as it is.

use portico_tests::{Builder, Client, Fixtures};
use serde_json::{Value, json};

use super::{OLD_PASSWORD, Place, created, export, report};

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
    "boards": [{"name": "HOME", "isPublic": false, "items": [{"app": "jellyfin"}]}]
}"#;

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let list = list.as_array().expect("a list");
    let found = list.iter().find(|record| record["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {list:?}"))
}

#[test]
fn a_portico_with_data_keeps_it_and_says_what_collided() {
    let place = Place::new();
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
    let ada = named(&after["users"], "ada");
    assert_eq!(ada["email"], "other@example.org");
    assert_eq!(
        ada["groups"],
        json!(["credentials-admin", "everyone", "operators"])
    );
    assert_eq!(named(&after["users"], "carol")["groups"], json!(["FAMILY"]));
    let lab = named(&after["boards"], "Lab");
    assert_eq!(lab["sharedWith"], json!({"users": ["ada"], "groups": ["FAMILY"]}));
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

#[test]
fn what_was_deleted_in_portico_since_an_import_does_not_come_back_as_a_right() {
    let place = Place::new();
    let mut server = Builder::default().start();
    server.stop();
    let (file, data) = (place.everything(), server.data());
    report(&file, &data, &[]);
    server.start_again();
    let ada = server.sign_in("ada", OLD_PASSWORD);
    ada.mutate(
        "apiKeys.delete",
        &json!({"apiKeyId": "clz0000000000000000000key"}),
    )
    .assert_status(200);
    ada.mutate("invite.deleteInvite", &json!({"id": "invitegood"}))
        .assert_status(200);
    let membership = json!({"groupId": "groupeveryone", "userId": "userbob"});
    ada.mutate("group.removeMember", &membership).assert_status(200);
    server.stop();
    let before = export(&data);
    let again = report(&file, &data, &[]);
    assert_eq!(created(&again), [0; 7]);
    assert_eq!(export(&data), before);
    assert_eq!(again["counts"]["apiKey"]["leftOut"], 3);
}

#[test]
fn a_data_directory_that_a_server_uses_is_not_imported_into() {
    let place = Place::new();
    let server = Builder::default().start();
    let refused = super::import(&place.everything(), &server.data(), &[]).failed();
    assert!(refused.contains("stop it first"), "{refused}");
    let root = portico_tests::administrator(&server);
    assert_eq!(root.user_names(), ["root"]);
}
