//! Users of the issuer: what the issuer says of them is not changed here.

use portico_tests::{Client, PASSWORD};
use serde_json::{Value, json};

use super::harness::{Issuer, ada, sign_in, signed_in, start, user, users};

#[test]
fn name_email_and_password_of_an_external_user_cannot_be_changed() {
    let (_issuer, server, administrator) = start(&[]);
    let token = signed_in(&server, "1");
    let ada = user(&server, &token);
    let id = &ada["id"];
    let oneself = server.key(&token);
    let changes = [
        ("the name", "user.editProfile", json!({"id": id, "name": "eve"})),
        (
            "the email",
            "user.editProfile",
            json!({"id": id, "name": "ada", "email": "e@example.com"}),
        ),
        (
            "no email",
            "user.editProfile",
            json!({"id": id, "name": "ada", "email": null}),
        ),
        (
            "the password",
            "user.changePassword",
            json!({"userId": id, "previousPassword": PASSWORD, "password": PASSWORD}),
        ),
    ];
    for (what, procedure, input) in &changes {
        let by_oneself = oneself.mutate(procedure, input);
        let by_administrator = administrator.mutate(procedure, input);
        for answer in [by_oneself, by_administrator] {
            assert_eq!(answer.status, 403, "{what}: {answer}");
        }
    }
    for input in [&changes[0].2, &changes[1].2] {
        oneself
            .put("/api/users/profile", input)
            .assert_refused(403, "FORBIDDEN");
        administrator
            .put("/api/users/profile", input)
            .assert_refused(403, "FORBIDDEN");
    }
    assert_eq!(user(&server, &token), ada);
}

#[test]
fn a_password_for_an_external_user_is_refused_byte_for_byte_as_for_an_unknown_name() {
    let (_issuer, server, _) = start(&[]);
    signed_in(&server, "1");
    let answers = ["ada", "mallory"].map(|name| {
        let body = json!({"username": name, "password": PASSWORD, "provider": "credentials"});
        let answer = server.anonymous().post("/api/auth/sign-in", &body);
        answer.assert_refused(401, "UNAUTHORIZED");
        let varies = |name: &str| matches!(name, "date" | "x-request-id");
        let headers: Vec<_> = answer
            .headers
            .iter()
            .filter(|(name, _)| !varies(name))
            .cloned()
            .collect();
        (headers, answer.body.clone())
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn an_issuer_that_moves_keeps_its_users_out_and_makes_no_new_ones() {
    let (before, mut server, administrator) = start(&[]);
    signed_in(&server, "1");
    let after = Issuer::start();
    after.knows(json!({"1": ada(), "2": {"preferred_username": "grace"}}));
    drop(before);
    assert!(server.stop().status.success());
    server.start_again_with(&["--oidc-issuer", &after.url]);
    let said = server.log().len();
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(403, "FORBIDDEN");
    server.wait_for_log(said, "a provider's user cannot sign in");
    assert_eq!(users(&administrator), ["ada", "root"]);
    // A user with a new name signs in as usual; so does ada once the old user is deleted.
    signed_in(&server, "2");
    let listed = administrator.get("/api/users").json();
    let mut listed = listed.as_array().expect("users").iter();
    let old = listed.find(|user| user["name"] == "ada").expect("ada");
    let id = old["id"].as_str().expect("an id");
    administrator.send("DELETE", &format!("/api/users/{id}"), &[], None);
    signed_in(&server, "1");
}

#[test]
fn a_user_who_is_disabled_is_not_confirmed_and_log_and_audit_log_say_who_and_why() {
    let (_issuer, server, administrator) = start(&[]);
    let id = user(&server, &signed_in(&server, "1"))["id"].clone();
    let disabled = json!({"userId": id, "disabled": true});
    administrator.mutate("user.setDisabled", &disabled).assert_done();
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(401, "UNAUTHORIZED");
    assert!(page.body.contains("was not confirmed"), "{page:?}");
    let reason = server.wait_for_log(0, "a provider's user cannot sign in");
    for part in ["disabled here", "oidc", "ada"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let line = server.wait_for_log(0, "sign-in-failed");
    let id = id.as_str().expect("an id");
    assert!(
        line.contains(&format!("user=\"{id}\" reason=\"UNAUTHORIZED\"")),
        "{line}"
    );
    let row = json!({"page": 1, "pageSize": 1, "procedure": "sign-in", "outcome": "UNAUTHORIZED"});
    let rows = administrator.query("audit.getPaginated", &row).data();
    assert_eq!(rows["items"][0]["target"], id, "{rows}");
}

#[test]
fn people_who_swap_names_at_the_issuer_keep_the_old_ones_and_sign_in() {
    let (issuer, server, administrator) = start(&[]);
    let named = |one: &str, two: &str| {
        issuer.knows(json!({
            "1": {"preferred_username": one, "email": "one@example.com"},
            "2": {"preferred_username": two, "email": "two@example.com"},
            "3": {"preferred_username": one, "email": "three@example.com"},
        }));
    };
    named("ada", "bob");
    let ids = ["1", "2"].map(|subject| user(&server, &signed_in(&server, subject))["id"].clone());
    named("bob", "ada");
    for (subject, id, kept) in [("1", &ids[0], "ada"), ("2", &ids[1], "bob")] {
        let said = server.log().len();
        let token = signed_in(&server, subject);
        let again = user(&server, &token);
        assert_eq!((&again["id"], &again["name"]), (id, &json!(kept)));
        let line = server.wait_for_log(said, "which another user has");
        assert!(line.contains("WARN") && line.contains(kept), "{line}");
    }
    // Someone new does not get a name that is taken, nor anything of the user who has it.
    let said = server.log().len();
    let (browser, page) = sign_in(&server, "3");
    page.assert_refused(403, "FORBIDDEN");
    assert_eq!(browser.cookie("portico_session"), None);
    let line = server.wait_for_log(said, "a provider's user cannot sign in");
    for part in ["oidc", "bob", &format!("{} 3", issuer.url)] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let line = server.wait_for_log(said, "sign-in-failed");
    assert!(line.contains("user=\"unknown\" reason=\"FORBIDDEN\""), "{line}");
    assert_eq!(users(&administrator), ["ada", "bob", "root"]);
    // Once a name is free, its new owner gets it.
    named("carol", "ada");
    assert_eq!(user(&server, &signed_in(&server, "1"))["name"], "carol");
    assert_eq!(user(&server, &signed_in(&server, "2"))["name"], "ada");
}

#[test]
fn names_of_one_and_of_two_characters_are_names_there() {
    let (issuer, server, administrator) = start(&[]);
    issuer.knows(json!({"1": {"preferred_username": "A"}, "2": {"preferred_username": "李"}}));
    for (subject, name) in [("1", "a"), ("2", "李")] {
        assert_eq!(user(&server, &signed_in(&server, subject))["name"], name);
    }
    // A document that states them can be applied again; a user with a password still has at least three characters.
    let document = administrator.query("state.export", &Value::Null).data();
    administrator.mutate("state.apply", &document).data();
    let input = json!({"username": "al", "password": PASSWORD, "email": "", "groupIds": []});
    assert_eq!(administrator.mutate("user.create", &input).status, 400);
}
