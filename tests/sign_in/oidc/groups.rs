//! Groups that the issuer names.

use portico_tests::{Client, Session};
use serde_json::{Value, json};

use super::harness::{Issuer, ada, sign_in, signed_in, start, user};

fn in_groups(issuer: &Issuer, groups: Value) {
    let mut known = ada();
    known["groups"] = groups;
    issuer.knows(json!({ "1": known }));
}

fn group(administrator: &Session, name: &str, permissions: &[&str]) -> String {
    let created = administrator
        .mutate("group.createGroup", &json!({ "name": name }))
        .data();
    let id = created["id"].as_str().expect("an id").to_owned();
    let input = json!({"groupId": id, "permissions": permissions});
    administrator.mutate("group.savePermissions", &input).data();
    id
}

/// The names of the groups that a user is in.
fn groups_of(administrator: &Session, user_id: &Value) -> Vec<String> {
    let groups = administrator.query("group.getAll", &Value::Null).data();
    let groups = groups.as_array().expect("groups").iter();
    let theirs = groups.filter(|group| {
        let members = group["members"].as_array().expect("members");
        members.iter().any(|member| member["id"] == *user_id)
    });
    theirs
        .map(|group| group["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn memberships_are_replaced_at_each_sign_in() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    group(&administrator, "Família", &["app-create"]);
    group(&administrator, "editors", &["app-modify-all"]);
    let guests = group(&administrator, "guests", &[]);
    in_groups(
        &issuer,
        json!([
            "FAMI\u{301}LIA",
            " editors ",
            "unknown",
            "",
            "x".repeat(10_000),
            7
        ]),
    );
    let first = signed_in(&server, "1");
    let ada = user(&server, &first);
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors", "Família"]);
    assert_eq!(ada["permissions"], json!(["app-create", "app-modify-all"]));
    let app = json!({"name": "a", "iconUrl": "/i"});
    server.key(&first).post("/api/apps", &app).assert_status(200);

    // What was given here is replaced as well, and existing sessions see it immediately.
    let input = json!({"groupId": guests, "userId": ada["id"]});
    administrator.mutate("group.addMember", &input).data();
    in_groups(&issuer, json!("editors"));
    signed_in(&server, "1");
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"]);
    assert_eq!(user(&server, &first)["permissions"], json!(["app-modify-all"]));
    administrator.mutate("group.addMember", &input).data();
    issuer.knows(json!({ "1": super::harness::ada() }));
    signed_in(&server, "1");
    assert!(groups_of(&administrator, &ada["id"]).is_empty(), "it names none");
    server
        .key(&first)
        .post("/api/apps", &app)
        .assert_refused(403, "FORBIDDEN");
    // A user who signs in with a password keeps their groups.
    assert_eq!(
        groups_of(&administrator, &json!(administrator.user_id)),
        ["admins"]
    );
}

#[test]
fn without_the_setting_they_are_managed_here() {
    let (issuer, server, administrator) = start(&[]);
    let editors = group(&administrator, "editors", &[]);
    in_groups(&issuer, json!(["admins"]));
    let ada = user(&server, &signed_in(&server, "1"));
    assert!(groups_of(&administrator, &ada["id"]).is_empty());
    let input = json!({"groupId": editors, "userId": ada["id"]});
    administrator.mutate("group.addMember", &input).data();
    signed_in(&server, "1");
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"]);
}

#[test]
fn the_last_administrator_stays_one() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    group(&administrator, "editors", &[]);
    in_groups(&issuer, json!(["admins", "editors"]));
    let token = signed_in(&server, "1");
    let ada = user(&server, &token);
    assert_eq!(ada["permissions"], json!(["admin"]));
    let now_ada = server.key(&token);
    // There are two: the issuer may take it.
    in_groups(&issuer, json!(["editors"]));
    signed_in(&server, "1");
    assert_eq!(user(&server, &token)["permissions"], json!([]));
    in_groups(&issuer, json!(["admins"]));
    signed_in(&server, "1");
    let input = json!({"userId": administrator.user_id});
    now_ada.mutate("user.delete", &input).data();
    // Now there is one.
    in_groups(&issuer, json!(["editors"]));
    let (_, page) = sign_in(&server, "1");
    page.assert_redirect("/");
    assert_eq!(user(&server, &token)["permissions"], json!(["admin"]));
    server.wait_for_log(0, "the membership stays");
}
