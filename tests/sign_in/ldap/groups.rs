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
    sign_in(&server, "ada", PASSWORD).assert_unavailable();
    server.wait_for_log(0, "searching below ldap-groups-base: result 32");
}
