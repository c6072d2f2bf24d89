//! Names that apps may take for those of others.

use portico_model::{Provider, time::LATEST};
use portico_storage::hash_secret;
use portico_tests::{Client, Fixtures, PASSWORD, new_user, session_until};
use serde_json::json;

use super::{BROWSER, Host, WIKI};

#[test]
fn people_who_call_themselves_like_the_administrator_of_an_app_do_not_pass() {
    let host = Host::start();
    let ada = host.root.user("ada");
    host.app("Wiki", "https://wiki.home.example/", &[&ada.id]);
    let session = host.server.sign_in("ada", PASSWORD);
    let pass = host.pass(&session);
    let rename = |client: &dyn Client, name: &str| {
        let person = json!({"id": ada.id, "name": name});
        client.mutate("user.editProfile", &person).assert_status(200);
    };
    assert_eq!(host.status(&pass), 204);
    rename(&session, "Administrator");
    let refused = host.verify(WIKI, &[("cookie", &pass), BROWSER]);
    refused.assert_status(403);
    assert!(refused.text().contains("their own administrator"), "{refused}");
    assert_eq!(refused.header("remote-user"), None);
    // Some apps take these for ada, admin and root.
    for name in ["\u{ff41}da", "\u{e1}dmin", "adm\u{131}n", "r\u{f8}ot"] {
        rename(&session, name);
        assert_eq!(host.status(&pass), 403, "{name}");
    }
    for name in ["administrators", "\u{e4}neas"] {
        rename(&session, name);
        assert_eq!(host.status(&pass), 204, "{name}");
    }
    // The administrator is called root here, and is the one of the apps.
    let pass = host.pass(&host.root);
    let passed = host.verify(WIKI, &[("cookie", &pass)]);
    assert_eq!(passed.header("remote-user"), Some("root"));
}

#[test]
fn a_name_with_accents_passes_unless_another_user_has_it_without_them() {
    let mut host = Host::start();
    let ada = host.root.user("\u{e4}da");
    host.app("Wiki", "https://wiki.home.example/", &[&ada.id]);
    let session = host.server.sign_in("\u{e4}da", PASSWORD);
    let pass = host.pass(&session);
    assert_eq!(host.status(&pass), 204);
    host.root.user("ada");
    assert_eq!(host.status(&pass), 403, "an app may take her for ada");
    // The name of a user of the directory is not taken away by someone who chose theirs.
    let person = json!({"id": ada.id, "name": "eve"});
    session.mutate("user.editProfile", &person).assert_status(200);
    session.post("/api/auth/sign-out", &json!({})).assert_status(200);
    host.server.seed(async |transaction| {
        let mut person = new_user("at work", "\u{e4}da");
        person.user.provider = Provider::Ldap;
        transaction.insert_user(&person).await.expect("a new user");
        // With the token of the session that has ended.
        let token = hash_secret(&session.token);
        let again = session_until("again", "at work", LATEST);
        transaction
            .insert_session(&again, &token)
            .await
            .expect("a session");
    });
    let board = host.board("Wiki");
    host.share(&board, &["at work"]);
    let pass = host.pass(&session);
    assert_eq!(host.status(&pass), 204);
    let group = host.root.group("bosses", &["admin"]);
    let named = host.root.query("user.search", &json!({"query": "ada"})).data();
    let mut named = named.as_array().expect("users").iter();
    let other = named.find(|user| user["name"] == "ada").expect("ada");
    let member = json!({"groupId": group, "userId": other["id"]});
    host.root.mutate("group.addMember", &member).assert_done();
    assert_eq!(
        host.status(&pass),
        403,
        "an app may take her for an administrator"
    );
}
