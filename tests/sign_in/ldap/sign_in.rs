//! Sign-ins that succeed: the users of the directory are users here.

use portico_tests::{Client, Fixtures, PASSWORD as LOCAL_PASSWORD};
use serde_json::json;

use super::{
    session, sign_in,
    slapd::{PASSWORD, SERVICE_PASSWORD, Slapd},
    start, who,
};

#[test]
#[ignore = "make test-all"]
fn over_tls_from_the_beginning_and_over_start_tls() {
    let slapd = Slapd::start();
    let start_tls = slapd
        .service_at(&slapd.plain_url())
        .environment("PORTICO_LDAP_START_TLS", "on");
    for service in [slapd.service(), start_tls] {
        let server = start(service);
        let user = who(&session(&server, " ADA ", PASSWORD));
        assert_eq!(
            (&user["name"], &user["email"], &user["provider"]),
            (&json!("ada"), &json!("ada@example.com"), &json!("ldap"))
        );
        // The same one, by another name that the filter takes.
        assert_eq!(
            who(&session(&server, "ada@EXAMPLE.com", PASSWORD))["id"],
            user["id"]
        );
        let bob = who(&session(&server, "bob", PASSWORD));
        assert_eq!((&bob["name"], &bob["email"]), (&json!("bob"), &json!(null)));
    }
    slapd.wait_for_log("STARTTLS", 1);
    slapd.wait_for_log("TLS established", 6);
}

#[test]
#[ignore = "make test-all"]
fn a_certificate_of_no_known_authority_is_refused() {
    let slapd = Slapd::start();
    let other = slapd.file("other-ca.pem").to_str().expect("a text").to_owned();
    let elsewhere = slapd.tls_url().replace("127.0.0.1", "localhost");
    let services = [
        // Another authority.
        slapd.service().environment("PORTICO_LDAP_CA_FILE", &other),
        slapd
            .service_at(&slapd.plain_url())
            .environment("PORTICO_LDAP_START_TLS", "on")
            .environment("PORTICO_LDAP_CA_FILE", &other),
        // The right authority, for another host.
        slapd.service_at(&elsewhere),
    ];
    for service in services {
        let server = start(service);
        let answer = sign_in(&server, "ada", PASSWORD);
        answer.assert_unavailable();
        assert!(
            answer.text().contains("The directory cannot be reached"),
            "{answer}"
        );
        assert!(
            !answer.text().contains("certificate"),
            "that is for the log: {answer}"
        );
        server.wait_for_log(0, "invalid peer certificate");
    }
    // Two of them were this test's, to see whether it listens.
    let log = slapd.wait_for_log(" closed ", 2 + 3);
    assert!(!log.contains("BIND"), "something was sent:\n{log}");
}

#[test]
#[ignore = "make test-all"]
fn a_user_is_the_entry_and_not_the_name() {
    let slapd = Slapd::start();
    let server = start(slapd.service());
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    let before = who(&session(&server, "ada", PASSWORD));

    // Renamed, and moved: the same.
    slapd.change(
        "
dn: uid=Ada,ou=people,dc=example
changetype: modrdn
newrdn: uid=countess
deleteoldrdn: 1
newsuperior: ou=others,ou=people,dc=example
",
    );
    let after = who(&session(&server, "countess", PASSWORD));
    assert_eq!(
        (&after["id"], &after["name"]),
        (&before["id"], &json!("countess"))
    );

    // Removed: they can no longer sign in, but their session continues.
    let kept = session(&server, "countess", PASSWORD);
    slapd.change(
        "
dn: uid=countess,ou=others,ou=people,dc=example
changetype: delete
",
    );
    sign_in(&server, "countess", PASSWORD).assert_refused(401, "UNAUTHORIZED");
    assert_eq!(who(&kept)["id"], before["id"]);
    admin
        .delete(&format!("/api/users/{}", kept_id(&before)))
        .assert_empty();
    kept.get("/api/auth/session").assert_refused(401, "UNAUTHORIZED");

    // The name of a user of another provider is another user.
    let root = who(&session(&server, "root", PASSWORD));
    assert_ne!(root["id"], admin.user_id);
    assert_eq!(root["permissions"], json!([]));
    server.sign_in("root", LOCAL_PASSWORD);
    let names = admin.user_names();
    assert_eq!(
        names.iter().filter(|name| *name == "root").count(),
        2,
        "{names:?}"
    );
}

fn kept_id(user: &serde_json::Value) -> String {
    user["id"].as_str().expect("an id").to_owned()
}

#[test]
#[ignore = "make test-all"]
fn name_email_and_password_are_the_directorys() {
    let slapd = Slapd::start();
    let server = start(slapd.service());
    let admin = server.sign_in("root", LOCAL_PASSWORD);
    let ada = session(&server, "ada", PASSWORD);
    let id = kept_id(&who(&ada));
    let rename = json!({"id": id, "name": "other"});
    let remail = json!({"id": id, "name": "ada", "email": "other@example.com"});
    for input in [&rename, &remail] {
        ada.mutate("user.editProfile", input)
            .assert_refused(403, "FORBIDDEN");
        admin
            .mutate("user.editProfile", input)
            .assert_refused(403, "FORBIDDEN");
    }
    let own = json!({"userId": id, "previousPassword": PASSWORD, "password": "another password"});
    ada.mutate("user.changePassword", &own)
        .assert_refused(403, "FORBIDDEN");
    let theirs = json!({"userId": id, "password": "another password"});
    admin
        .mutate("user.changePassword", &theirs)
        .assert_refused(403, "FORBIDDEN");
    // An email that the directory changes is another one at the next sign-in.
    slapd.change(
        "
dn: uid=Ada,ou=people,dc=example
changetype: modify
replace: mail
mail: ada@new.example
",
    );
    assert_eq!(
        who(&session(&server, "ada", PASSWORD))["email"],
        "ada@new.example"
    );
}

#[test]
#[ignore = "make test-all"]
fn no_password_is_logged() {
    let slapd = Slapd::start();
    let mut server = start(slapd.service().environment("PORTICO_LOG", "trace"));
    session(&server, "ada", PASSWORD);
    sign_in(&server, "ada", "canary-wrong-password").assert_status(401);
    sign_in(&server, "canary-typed-into-the-wrong-field", "x").assert_status(401);
    let log = server.stop().text();
    assert!(log.contains("LDAP: sign-in refused"), "{log}");
    for secret in [
        PASSWORD,
        SERVICE_PASSWORD,
        "canary-wrong-password",
        "canary-typed-into-the-wrong-field",
    ] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
