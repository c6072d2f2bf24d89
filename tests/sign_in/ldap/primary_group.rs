//! Active Directory's primary group, in a slapd whose entries have its attributes.

use portico_tests::{Client, Fixtures, PASSWORD as LOCAL_PASSWORD};
use serde_json::json;

use super::{
    session,
    slapd::{PASSWORD, Slapd},
    start, who,
};

/// S-1-5-21-1-2-3 and the number of a user or a group there, in base64.
const ADA: &str = "AQUAAAAAAAUVAAAAAQAAAAIAAAADAAAAUAQAAA==";
const DOMAIN_USERS: &str = "AQUAAAAAAAUVAAAAAQAAAAIAAAADAAAAAQIAAA==";
const OTHERS: &str = "AQUAAAAAAAUVAAAAAQAAAAIAAAADAAAAAgIAAA==";

fn domain() -> String {
    format!(
        "
dn: uid=ada,ou=people,dc=example
changetype: modify
add: objectClass
objectClass: securityPrincipal
-
add: objectSid
objectSid:: {ADA}
-
add: primaryGroupID
primaryGroupID: 513

dn: cn=domain users,ou=groups,dc=example
changetype: add
objectClass: groupOfNames
objectClass: securityPrincipal
cn: domain users
objectSid:: {DOMAIN_USERS}
member: uid=twin,ou=people,dc=example

dn: cn=domain guests,ou=groups,dc=example
changetype: add
objectClass: groupOfNames
objectClass: securityPrincipal
cn: domain guests
objectSid:: {OTHERS}
member: uid=twin,ou=people,dc=example
"
    )
}

#[test]
#[ignore = "make test-all"]
fn the_primary_group_counts_where_that_is_set() {
    let slapd = Slapd::start();
    slapd.change(&domain());
    let service = |way: &str| slapd.service().environment("PORTICO_LDAP_PRIMARY_GROUP", way);
    let permissions = |way: &str| {
        let server = start(service(way));
        let admin = server.sign_in("root", LOCAL_PASSWORD);
        admin.group("Editors", &["app-modify-all"]);
        admin.group("Domain Users", &["app-create"]);
        admin.group("Domain Guests", &["app-full-all"]);
        who(&session(&server, "ada", PASSWORD))["permissions"].clone()
    };
    assert_eq!(permissions("off"), json!(["app-modify-all"]));
    assert_eq!(permissions("on"), json!(["app-create", "app-modify-all"]));
}

#[test]
#[ignore = "make test-all"]
fn a_primary_group_that_cannot_be_seen_takes_no_membership_away() {
    let slapd = Slapd::start();
    slapd.change(&domain());
    let service = slapd.service().environment("PORTICO_LDAP_PRIMARY_GROUP", "on");
    let server = start(service);
    server.wait_for_log(
        0,
        "LDAP: the directory answers; bind, bases and filters are right",
    );
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    admin.group("Domain Users", &["app-create"]);
    let ada = session(&server, "ada", PASSWORD);
    assert_eq!(who(&ada)["permissions"], json!(["app-create"]));
    for attribute in ["objectSid", "primaryGroupID"] {
        let before = server.log().len();
        slapd.change(&format!(
            "
dn: uid=ada,ou=people,dc=example
changetype: modify
delete: {attribute}
"
        ));
        session(&server, "ada", PASSWORD);
        assert_eq!(who(&ada)["permissions"], json!(["app-create"]));
        server.wait_for_log(before, &format!("has no valid {attribute}"));
    }
}

#[test]
#[ignore = "make test-all"]
fn the_rules_for_groups_are_those_of_an_issuer() {
    let slapd = Slapd::start();
    let service = slapd
        .service()
        .environment("PORTICO_LDAP_GROUP_MAP", r#"{"Editors": "Writers"}"#)
        .environment("PORTICO_LDAP_CREATE_GROUPS", "on")
        .environment("PORTICO_LDAP_ADMIN_GROUP", "editors");
    let server = start(service);
    let ada = who(&session(&server, "ada", PASSWORD));
    assert_eq!(ada["permissions"], json!(["admin"]));
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    let groups = admin.query("group.getAll", &serde_json::Value::Null).data();
    let groups = groups.as_array().expect("groups").iter();
    let names: Vec<_> = groups
        .map(|group| group["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["admins", "Writers"]);
}
