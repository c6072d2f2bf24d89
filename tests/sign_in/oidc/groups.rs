//! Groups that the issuer names.

use portico_tests::{Client, Session};
use serde_json::{Value, json};

use super::harness::{Issuer, ada, sign_in, signed_in, start, user};

pub fn in_groups(issuer: &Issuer, groups: Value) {
    let mut known = ada();
    known["groups"] = groups;
    issuer.knows(json!({ "1": known }));
}

pub fn group(administrator: &Session, name: &str, permissions: &[&str]) -> String {
    let created = administrator
        .mutate("group.createGroup", &json!({ "name": name }))
        .data();
    let id = created["id"].as_str().expect("an id").to_owned();
    let input = json!({"groupId": id, "permissions": permissions});
    administrator.mutate("group.savePermissions", &input).data();
    id
}

/// The names of the groups that a user is in.
pub fn groups_of(administrator: &Session, user_id: &Value) -> Vec<String> {
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
        json!(["FAMI\u{301}LIA", " editors ", "unknown", "", "x".repeat(10_000)]),
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

/// Behaviour with which the ID token has these claims as well.
fn with_claims(claims: Value) -> Value {
    json!({ "claims": claims })
}

#[test]
fn groups_that_are_not_stated_stay_and_give_no_one_anything() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    group(&administrator, "editors", &["admin"]);
    in_groups(&issuer, json!(["editors"]));
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"]);
    issuer.knows(json!({"1": super::harness::ada(), "2": {"preferred_username": "eve"}}));
    for (claims, why) in [
        (
            json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "x"}}}),
            "too many groups for it (_claim_names)",
        ),
        (json!({"hasgroups": true}), "too many groups for it (hasgroups)"),
        (json!({"groups": {"editors": {"1": "home"}}}), "is an object"),
        (
            json!({"groups": [{"name": "editors"}]}),
            "entries that are not names",
        ),
        (json!({"groups": ["editors", 7]}), "entries that are not names"),
    ] {
        issuer.behaves(with_claims(claims));
        let said = server.log().len();
        signed_in(&server, "1");
        let line = server.wait_for_log(said, why);
        assert!(
            line.contains("did not state a user's groups") && line.contains("WARN"),
            "{line}"
        );
        assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"], "{why}");
        // Someone else gets nothing from a claim that is not understood.
        let eve = user(&server, &signed_in(&server, "2"));
        assert!(groups_of(&administrator, &eve["id"]).is_empty(), "{why}");
    }
    issuer.behaves(with_claims(json!({"groups": []})));
    signed_in(&server, "1");
    assert!(
        groups_of(&administrator, &ada["id"]).is_empty(),
        "empty means none"
    );
}

#[test]
fn groups_that_a_sign_in_changes_are_in_its_audit_row_and_admin_is_a_warning() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    let editors = group(&administrator, "editors", &["app-create"]);
    let owners = group(&administrator, "owners", &["admin"]);
    let row = |groups: Value| {
        in_groups(&issuer, groups);
        let id = user(&server, &signed_in(&server, "1"))["id"].clone();
        let input = json!({"page": 1, "pageSize": 1, "procedure": "sign-in"});
        let row = administrator.query("audit.getPaginated", &input).data()["items"][0].clone();
        assert_eq!((&row["outcome"], &row["target"]), (&json!("OK"), &id));
        row["groups"].clone()
    };
    assert_eq!(row(json!(["editors"])), json!(format!("+{editors}")));
    assert_eq!(row(json!(["owners"])), json!(format!("+{owners} -{editors}")));
    assert_eq!(row(json!(["owners"])), Value::Null, "nothing has changed");
    assert_eq!(row(json!([])), json!(format!("-{owners}")));
    let lines = [
        ("groups change memberships", "INFO", &editors),
        ("groups give a user admin", "WARN", &owners),
        ("groups take admin from a user", "WARN", &owners),
    ];
    for (what, level, group) in lines {
        let line = server.wait_for_log(0, what);
        assert!(line.contains(level) && line.contains(group), "{line}");
    }
    assert_eq!(server.log().matches("the provider's groups").count(), lines.len());
}

#[test]
fn all_groups_within_a_mebibyte_are_matched_and_more_is_refused() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    group(&administrator, "editors", &[]);
    let many = |count: usize| {
        let names = (0..count).map(|number| format!("a group of the issuer, {number}"));
        json!(names.chain(["Editors".to_owned()]).collect::<Vec<_>>())
    };
    // The answer with them is longer than their names.
    let most = many(37_000);
    let names: usize = most
        .as_array()
        .expect("names")
        .iter()
        .map(|name| name.as_str().expect("a name").len())
        .sum();
    assert!(names < 1 << 20 && most.to_string().len() > 1 << 20);
    in_groups(&issuer, most);
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"]);
    in_groups(&issuer, many(40_000));
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(groups_of(&administrator, &ada["id"]), ["editors"]);
}
