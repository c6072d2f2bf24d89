//! Which groups here the groups of the issuer are: by path, by a map, made by themselves; and the one that means
//! administrator.

use portico_tests::{Client, Session};
use serde_json::{Value, json};

use super::{
    groups::{group, groups_of, in_groups},
    harness::{ada, signed_in, start, user},
};

const CLAIM: (&str, &str) = ("PORTICO_OIDC_GROUPS_CLAIM", "groups");

/// The newest rows of this procedure in the audit log.
#[track_caller]
fn rows(administrator: &Session, procedure: &str) -> Vec<Value> {
    let input = json!({"page": 1, "pageSize": 100, "procedure": procedure, "outcome": "OK"});
    let page = administrator.query("audit.getPaginated", &input).data();
    page["items"].as_array().expect("rows").clone()
}

fn group_names(administrator: &Session) -> Vec<String> {
    let groups = administrator.query("group.getAll", &Value::Null).data();
    let groups = groups.as_array().expect("groups").iter();
    groups
        .map(|group| group["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn groups_are_found_by_path_and_the_map_names_them() {
    let (issuer, server, administrator) = start(&[
        ("PORTICO_OIDC_GROUPS_CLAIM", "realm_access.roles"),
        (
            "PORTICO_OIDC_GROUP_MAP",
            r#"{"/family": "Family", "0f3c-7a": "family", "boss": "Staff", "gone": "Gone"}"#,
        ),
    ]);
    for name in ["Family", "Staff", "others"] {
        group(&administrator, name, &[]);
    }
    let groups_of = |roles: Value| {
        issuer.behaves(json!({"claims": {"realm_access": {"roles": roles}}}));
        let ada = user(&server, &signed_in(&server, "1"));
        groups_of(&administrator, &ada["id"])
    };
    assert_eq!(
        groups_of(json!(["/Family", "others", "BOSS"])),
        ["Family", "Staff"]
    );
    assert_eq!(groups_of(json!(["0F3C-7A"])), ["Family"], "many are one");
    assert_eq!(
        groups_of(json!({"boss": {}})),
        ["Family"],
        "an object is not a list of names"
    );
    issuer.behaves(json!({"claims": {"realm_access": "boss"}}));
    let token = signed_in(&server, "1");
    let ada = user(&server, &token)["id"].clone();
    assert_eq!(
        super::groups::groups_of(&administrator, &ada),
        ["Family"],
        "a path into a text"
    );
    server.wait_for_log(
        0,
        "realm_access.roles leads into something that has nothing inside it",
    );
    assert_eq!(groups_of(json!(["others", "Family"])), [""; 0], "not in the map");
    assert_eq!(groups_of(json!(["gone"])), [""; 0]);
    let line = server.wait_for_log(0, "and there is no such group here");
    assert!(line.contains("Gone") && line.contains("WARN"), "{line}");
}

#[test]
fn the_roles_of_zitadel_are_the_names_in_an_object_whose_name_is_a_urn() {
    let (issuer, server, administrator) = start(&[
        ("PORTICO_OIDC_GROUPS_CLAIM", "urn:zitadel:iam:org:project:roles.*"),
        (
            "PORTICO_OIDC_REQUIRED_CLAIM",
            "urn:zitadel:iam:org:project:roles.*=family",
        ),
    ]);
    group(&administrator, "family", &["app-create"]);
    let roles = json!({"family": {"1": "home.zitadel.cloud"}, "others": {"1": "home.zitadel.cloud"}});
    issuer.behaves(json!({"claims": {"urn:zitadel:iam:org:project:roles": roles}}));
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(ada["permissions"], json!(["app-create"]));
}

#[test]
fn the_group_of_administrators_gives_and_takes_admin_with_a_warning_and_a_row() {
    let (issuer, server, administrator) = start(&[
        CLAIM,
        ("PORTICO_OIDC_ADMIN_GROUP", "Portico Admins"),
        ("PORTICO_OIDC_UNMAPPED_GROUPS", "ignore"),
    ]);
    group(&administrator, "editors", &[]);
    in_groups(&issuer, json!(["admins", "editors"]));
    let token = signed_in(&server, "1");
    assert_eq!(
        user(&server, &token)["permissions"],
        json!([]),
        "only that group means it"
    );

    in_groups(&issuer, json!(["PORTICO admins", "editors"]));
    signed_in(&server, "1");
    let ada = user(&server, &token);
    assert_eq!(ada["permissions"], json!(["admin"]));
    assert_eq!(groups_of(&administrator, &ada["id"]), ["admins"]);
    let groups = administrator.query("group.getAll", &Value::Null).data();
    let admins = groups.as_array().expect("groups").iter();
    let admins = admins
        .clone()
        .find(|group| group["name"] == "admins")
        .expect("it")["id"]
        .clone();
    let admins = admins.as_str().expect("an id");
    assert_eq!(
        rows(&administrator, "sign-in")[0]["groups"],
        json!(format!("+{admins}"))
    );
    let line = server.wait_for_log(0, "groups give a user admin");
    assert!(line.contains("WARN") && line.contains(admins), "{line}");

    in_groups(&issuer, json!(["editors"]));
    signed_in(&server, "1");
    assert_eq!(user(&server, &token)["permissions"], json!([]));
    assert_eq!(
        rows(&administrator, "sign-in")[0]["groups"],
        json!(format!("-{admins}"))
    );
    server.wait_for_log(0, "groups take admin from a user");

    // The last administrator stays one.
    in_groups(&issuer, json!(["portico admins"]));
    signed_in(&server, "1");
    let input = json!({"userId": administrator.user_id});
    server.key(&token).mutate("user.delete", &input).data();
    in_groups(&issuer, json!([]));
    signed_in(&server, "1");
    assert_eq!(user(&server, &token)["permissions"], json!(["admin"]));
    server.wait_for_log(0, "the membership stays");
}

#[test]
fn a_group_that_has_lost_admin_does_not_get_it_back_from_the_issuer() {
    let (issuer, server, administrator) = start(&[CLAIM, ("PORTICO_OIDC_ADMIN_GROUP", "bosses")]);
    // Another group keeps the administrator one.
    let owners = group(&administrator, "owners", &["admin"]);
    let input = json!({"groupId": owners, "userId": administrator.user_id});
    administrator.mutate("group.addMember", &input).data();
    let groups = administrator.query("group.getAll", &Value::Null).data();
    let admins = groups.as_array().expect("groups").iter();
    let admins = admins
        .clone()
        .find(|group| group["name"] == "admins")
        .expect("it")["id"]
        .clone();
    let input = json!({"groupId": admins, "permissions": ["app-create"]});
    administrator.mutate("group.savePermissions", &input).data();
    in_groups(&issuer, json!(["bosses"]));
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(ada["permissions"], json!(["app-create"]));
    server.wait_for_log(0, "the group admins here does not have the permission");
    // Where it is gone, it is made, with the permission.
    administrator
        .mutate("group.deleteGroup", &json!({"id": admins}))
        .data();
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(ada["permissions"], json!(["admin"]));
}

#[test]
fn groups_are_made_without_permissions_with_a_row_each_and_not_without_end() {
    let (issuer, server, administrator) = start(&[
        CLAIM,
        ("PORTICO_OIDC_CREATE_GROUPS", "on"),
        ("PORTICO_OIDC_GROUP_MAP", r#"{"boss": "Staff"}"#),
        ("PORTICO_OIDC_UNMAPPED_GROUPS", "match"),
    ]);
    let admins = administrator.query("group.getAll", &Value::Null).data()[0]["id"].clone();
    administrator
        .mutate("group.rename", &json!({"groupId": admins, "name": "owners"}))
        .data();
    let long = "x".repeat(65);
    in_groups(
        &issuer,
        json!([
            "boss",
            "Família",
            "FAMI\u{301}LIA",
            "admins",
            "a\nb",
            "a\u{202e}b",
            " ",
            long
        ]),
    );
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(group_names(&administrator), ["Família", "owners", "Staff"]);
    assert_eq!(groups_of(&administrator, &ada["id"]), ["Família", "Staff"]);
    assert_eq!(ada["permissions"], json!([]));
    let made = rows(&administrator, "group.createGroup");
    assert_eq!(made.len(), 2, "{made:?}");
    let groups = rows(&administrator, "sign-in")[0]["groups"].clone();
    for row in &made {
        let id = row["target"].as_str().expect("an id");
        assert!(
            groups.as_str().expect("groups").contains(&format!("+{id}")),
            "{groups}"
        );
        assert_eq!(
            (&row["provider"], &row["actorId"]),
            (&json!("oidc"), &Value::Null)
        );
    }
    // The next time they are there.
    signed_in(&server, "1");
    assert_eq!(rows(&administrator, "group.createGroup").len(), 2);

    let many: Vec<_> = (0..150).map(|number| format!("group {number:03}")).collect();
    in_groups(&issuer, json!(many));
    signed_in(&server, "1");
    server.wait_for_log(0, "50 groups of the provider are not made");
    assert_eq!(groups_of(&administrator, &ada["id"]).len(), 100);
    signed_in(&server, "1");
    assert_eq!(groups_of(&administrator, &ada["id"]).len(), 150);
}

#[test]
fn a_template_names_people_and_gives_no_one_the_name_of_another() {
    let (issuer, server, administrator) = start(&[
        ("PORTICO_OIDC_NAME_CLAIM", "{name.given} {name.family}"),
        ("PORTICO_OIDC_EMAIL_CLAIM", "{preferred_username}@home.example"),
    ]);
    let named = |given: &str, family: Option<&str>| {
        issuer.behaves(json!({"claims": {"name": {"given": given, "family": family}}}));
    };
    issuer.knows(json!({"1": ada(), "2": ada()}));
    named("Ada", Some("Lovelace"));
    let first = user(&server, &signed_in(&server, "1"));
    assert_eq!(
        (&first["name"], &first["email"]),
        (&json!("ada lovelace"), &json!("ada@home.example"))
    );
    // The same letters, put together in another way.
    named("Ada Love", Some("lace"));
    let second = user(&server, &signed_in(&server, "2"));
    assert_eq!(second["name"], "ada love lace");
    named("ADA", Some("LOVELACE"));
    let again = user(&server, &signed_in(&server, "2"));
    assert_eq!((&again["id"], &again["name"]), (&second["id"], &second["name"]));
    server.wait_for_log(0, "which another user has: they keep the name");
    issuer.knows(json!({"3": ada()}));
    let (_, page) = super::harness::sign_in(&server, "3");
    page.assert_refused(403, "FORBIDDEN");
    // Without a part that is missing there is no name.
    named("Eve", None);
    let (_, page) = super::harness::sign_in(&server, "3");
    page.assert_refused(403, "FORBIDDEN");
    server.wait_for_log(0, "there is no claim name.family");
    assert_eq!(super::harness::users(&administrator).len(), 3);
}
