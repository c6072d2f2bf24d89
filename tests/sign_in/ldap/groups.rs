//! Groups of the directory are groups here, by their names.

use portico_tests::{Client, Fixtures, PASSWORD as LOCAL_PASSWORD};
use serde_json::{Value, json};

use super::{
    session, sign_in,
    slapd::{PASSWORD, Slapd},
    start, who,
};

const LEAVE_EDITORS: &str = "
dn: cn=editors,ou=groups,dc=example
changetype: modify
delete: member
member: uid=ada,ou=people,dc=example
";

#[test]
#[ignore = "make test-all"]
fn memberships_are_what_the_directory_says_at_each_sign_in() {
    let slapd = Slapd::start();
    let server = start(slapd.service());
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("Editors", &["app-create"]);
    admin.group("Operators", &["app-modify-all"]);
    let own = admin.group("Of this service", &["app-full-all"]);
    let permissions = || who(&session(&server, "ada", PASSWORD))["permissions"].clone();
    assert_eq!(permissions(), json!(["app-create"]));
    // An entry's name may hold what means something in a filter.
    let bob = who(&session(&server, "bob", PASSWORD));
    assert_eq!(bob["permissions"], json!(["app-create"]));

    // A membership of this service's own goes at the next sign-in.
    let ada = who(&session(&server, "ada", PASSWORD));
    let member = json!({"groupId": own, "userId": ada["id"]});
    admin.mutate("group.addMember", &member).assert_status(200);
    assert_eq!(permissions(), json!(["app-create"]));

    slapd.change(
        "
dn: cn=operators,ou=groups,dc=example
changetype: add
objectClass: groupOfUniqueNames
cn: operators
uniqueMember: UID=ada, OU=people,dc=EXAMPLE
",
    );
    assert_eq!(permissions(), json!(["app-create", "app-modify-all"]));
    slapd.change(LEAVE_EDITORS);
    assert_eq!(permissions(), json!(["app-modify-all"]));
}

#[test]
#[ignore = "make test-all"]
fn without_a_base_for_groups_they_are_managed_here() {
    let slapd = Slapd::start();
    let service = slapd.service().environment("PORTICO_LDAP_GROUPS", "off");
    let server = start(service);
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("editors", &["app-create"]);
    let own = admin.group("own", &["app-full-all"]);
    let ada = who(&session(&server, "ada", PASSWORD));
    assert_eq!(ada["permissions"], json!([]));
    let member = json!({"groupId": own, "userId": ada["id"]});
    admin.mutate("group.addMember", &member).assert_status(200);
    let ada = who(&session(&server, "ada", PASSWORD));
    assert_eq!(ada["permissions"], json!(["app-full-all"]));
}

#[test]
#[ignore = "make test-all"]
fn the_last_administrator_stays_one() {
    let slapd = Slapd::start();
    let server = start(slapd.service());
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("editors", &["admin"]);
    let ada = session(&server, "ada", PASSWORD);
    assert_eq!(who(&ada)["permissions"], json!(["admin"]));
    // Bob is in that group as well; only Ada has signed in.
    ada.delete(&format!("/api/users/{}", admin.user_id))
        .assert_empty();
    slapd.change(LEAVE_EDITORS);
    let again = who(&session(&server, "ada", PASSWORD));
    assert_eq!(again["permissions"], json!(["admin"]));
    server.wait_for_log(0, "last administrator");
    // Once there is another one, the directory is obeyed.
    session(&server, "bob", PASSWORD);
    let after: Value = who(&session(&server, "ada", PASSWORD));
    assert_eq!(after["permissions"], json!([]));
}

#[test]
#[ignore = "make test-all"]
fn a_base_for_groups_that_does_not_exist_refuses_every_sign_in() {
    let slapd = Slapd::start();
    let service = slapd
        .service()
        .environment("PORTICO_LDAP_GROUPS_BASE", "ou=nowhere,dc=example");
    let server = start(service);
    // Otherwise every user who signs in would lose all memberships.
    let answer = sign_in(&server, "ada", PASSWORD);
    answer.assert_unavailable();
    assert!(answer.text().contains("set up wrong"), "{answer}");
    server.wait_for_log(0, "LDAP: no one can sign in by the directory: no such object");
    server.wait_for_log(0, "no such object: ldap-groups-base \"ou=nowhere,dc=example\"");
}

/// A group of the directory with ada.
fn group_entry(name: &str) -> String {
    format!(
        "
dn: cn={name},ou=groups,dc=example
changetype: add
objectClass: groupOfNames
cn: {name}
member: uid=ada,ou=people,dc=example
"
    )
}

#[test]
#[ignore = "make test-all"]
fn all_of_many_groups_are_matched_page_by_page() {
    let mut slapd = Slapd::start();
    slapd.limit_entries("unlimited");
    let many: String = (0..1_200)
        .map(|number| group_entry(&format!("group-{number}")))
        .collect();
    slapd.change(&many);
    slapd.change(&group_entry("zebra"));
    let server = start(slapd.service());
    server.wait_for_log(
        0,
        "LDAP: the directory answers; bind, bases and filters are right",
    );
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("Zebra", &["app-create"]);
    let ada = who(&session(&server, "ada", PASSWORD));
    assert_eq!(ada["permissions"], json!(["app-create"]));
}

#[test]
#[ignore = "make test-all"]
fn a_directory_that_returns_only_some_groups_takes_none_away_and_says_why() {
    let mut slapd = Slapd::start();
    let server = start(slapd.service());
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("Editors", &["app-create"]);
    let ada = session(&server, "ada", PASSWORD);
    slapd.change(&group_entry("another"));
    slapd.limit_entries("1");
    let answer = sign_in(&server, "ada", PASSWORD);
    answer.assert_unavailable();
    assert!(answer.text().contains("set up wrong"), "{answer}");
    server.wait_for_log(0, "returns no more entries to ldap-bind-dn");
    assert_eq!(who(&ada)["permissions"], json!(["app-create"]));
}

#[test]
#[ignore = "make test-all"]
fn only_members_of_the_required_group_sign_in_and_others_lose_their_sessions() {
    let slapd = Slapd::start();
    let service = slapd
        .service()
        .environment("PORTICO_LDAP_REQUIRED_GROUP", "Editors");
    let server = start(service);
    let ada = session(&server, "ada", PASSWORD);
    // The directory accepts the password, but the entry is in no group.
    sign_in(&server, "root", PASSWORD).assert_refused(403, "FORBIDDEN");
    slapd.change(LEAVE_EDITORS);
    sign_in(&server, "ada", PASSWORD).assert_refused(403, "FORBIDDEN");
    ada.get("/api/auth/session").assert_refused(401, "UNAUTHORIZED");
    // A wrong password is that for members and for others.
    for name in ["ada", "bob", "root"] {
        sign_in(&server, name, "not the password").assert_refused(401, "UNAUTHORIZED");
    }
    session(&server, "bob", PASSWORD);
}

#[test]
#[ignore = "make test-all"]
fn with_sign_up_off_only_those_who_have_a_user_sign_in() {
    let slapd = Slapd::start();
    let server = start(slapd.service().environment("PORTICO_LDAP_SIGN_UP", "off"));
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    sign_in(&server, "ada", PASSWORD).assert_refused(403, "FORBIDDEN");
    let document = json!({"users": [{"provider": "ldap", "name": "ada"}]});
    admin.mutate("state.apply", &document).assert_status(200);
    session(&server, "ada", PASSWORD);
    sign_in(&server, "bob", PASSWORD).assert_refused(403, "FORBIDDEN");
}
