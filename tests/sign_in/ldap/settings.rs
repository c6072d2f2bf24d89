//! The settings, and the errors for wrong ones.

use std::fs;

use portico_tests::{Builder, Client, PASSWORD as LOCAL_PASSWORD, administrator};
use serde_json::json;

use super::{
    at, sign_in,
    slapd::{PASSWORD, SERVICE_PASSWORD, Slapd, USER_FILTER},
    start, who,
};

#[test]
fn a_directory_that_is_set_up_wrong_is_named_and_stops_nothing_else() {
    for (name, value, problem) in [
        ("PORTICO_LDAP_URL", "ldap.example", "ldap-url must be like"),
        ("PORTICO_LDAP_URL", "ldap://ldap.example", "would send passwords"),
        ("PORTICO_LDAP_USERS_BASE", "", "ldap-users-base is missing"),
        ("PORTICO_LDAP_USER_FILTER", "(uid=*)", "ldap-user-filter"),
        (
            "PORTICO_LDAP_CA_FILE",
            "/nowhere/ca.pem",
            "ldap-ca-file: /nowhere/ca.pem",
        ),
        (
            "PORTICO_LDAP_BIND_PASSWORD_FILE",
            "/nowhere/password",
            "ldap-bind-password-file",
        ),
        (
            "PORTICO_LDAP_BIND_DN",
            "cn=portico",
            "PORTICO_LDAP_BIND_PASSWORD is missing",
        ),
        ("PORTICO_LDAP_TIME_LIMIT", "0", "ldap-time-limit"),
        ("PORTICO_LDAP_TIME_LIMIT", "5s", "ldap-time-limit"),
        ("PORTICO_LDAP_START_TLS", "true", "ldap-start-tls"),
        ("PORTICO_LDAP_GROUPS", "on", "ldap-groups-base is missing"),
        ("PORTICO_LDAP_PRIMARY_GROUP", "on", "ldap-primary-group needs"),
        ("PORTICO_LDAP_ADMIN_GROUP", "admins", "need ldap-groups-base"),
        ("PORTICO_LDAP_GROUP_MAP", "[]", "ldap-group-map"),
        ("PORTICO_LDAP_SIGN_UP", "invite", "ldap-sign-up"),
    ] {
        let server = start(at("ldaps://127.0.0.1:1").environment(name, value));
        server.wait_for_log(0, "sign-in by LDAP is off: ");
        let log = server.log();
        assert!(log.contains(problem), "{problem}:\n{log}");
        sign_in(&server, "ada", "a password").assert_bad_field("provider");
        server.sign_in("root", LOCAL_PASSWORD);
    }
}

#[test]
fn an_empty_variable_leaves_the_setting_of_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("portico.toml");
    let settings = "[ldap]\nurl = \"ldaps://127.0.0.1:1\"\nusers-base = \"ou=people\"\nlabel = \"Staff\"\n";
    fs::write(&file, settings).expect("a file");
    let with = |label: &str| {
        let server = Builder::default()
            .argument("--config")
            .argument(file.to_str().expect("a text"))
            .environment("PORTICO_LDAP_URL", "")
            .environment("PORTICO_LDAP_LABEL", label)
            .start();
        server.anonymous().get("/api/auth/providers").text()
    };
    assert!(with("").contains("Staff"), "{}", with(""));
    assert!(with("Crew").contains("Crew"), "{}", with("Crew"));
}

#[test]
fn a_sign_in_by_a_directory_that_is_not_set_up_is_refused_with_the_reason() {
    let server = start(Builder::default());
    let answer = sign_in(&server, "ada", "a password");
    answer.assert_bad_field("provider");
    assert!(answer.text().contains("/api/auth/providers"), "{answer}");
    assert!(!server.log().contains("LDAP"), "{}", server.log());
}

#[test]
#[ignore = "make test-all"]
fn no_user_of_the_directory_signs_in_before_the_first_administrator_exists() {
    let slapd = Slapd::start();
    let server = slapd.service().start();
    for password in [PASSWORD, "not the password"] {
        sign_in(&server, "ada", password).assert_refused(403, "FORBIDDEN");
    }
    administrator(&server);
    sign_in(&server, "ada", PASSWORD).assert_status(200);
    let search = "filter=\"(&(objectClass=inetOrgPerson)(|(uid=ada";
    let log = slapd.wait_for_log(search, 1);
    assert_eq!(log.matches(search).count(), 1, "{log}");
}

#[test]
#[ignore = "make test-all"]
fn a_base_that_cannot_be_seen_is_odd_and_keeps_no_one_out() {
    let mut slapd = Slapd::start();
    slapd.hide("ou=people,dc=example");
    let server = start(slapd.service());
    let line = server.wait_for_log(
        0,
        "LDAP: the directory answers; ldap-bind-dn cannot see the entry ldap-users-base",
    );
    assert!(line.contains("WARN"), "{line}");
    sign_in(&server, "ada", PASSWORD).assert_status(200);
    assert!(!server.log().contains("no one can sign in"), "{}", server.log());
}

#[test]
#[ignore = "make test-all"]
fn settings_come_from_a_file_and_the_password_from_another() {
    let slapd = Slapd::start();
    let (file, password) = (slapd.file("portico.toml"), slapd.file("password"));
    fs::write(&password, format!("{SERVICE_PASSWORD}\n")).expect("a file");
    let settings = format!(
        "[ldap]
         url = \"{}\"
         start-tls = \"on\"
         ca-file = \"{}\"
         bind-dn = \"cn=portico,dc=example\"
         bind-password-file = \"{}\"
         users-base = \"dc=nowhere\"
         users-scope = \"one\"
         user-filter = \"{USER_FILTER}\"
         id-attribute = \"dn\"
         time-limit = 30
        ",
        slapd.plain_url(),
        slapd.file("ca.pem").display(),
        password.display(),
    );
    fs::write(&file, settings).expect("a file");
    // A flag goes before the file.
    let service = Builder::default()
        .environment("PORTICO_CONFIG", file.to_str().expect("a text"))
        .argument("--ldap-users-base")
        .argument("ou=people,dc=example");
    let server = start(service);
    let token = |answer: &portico_tests::Answer| answer.json()["token"].as_str().map(str::to_owned);
    let answer = sign_in(&server, "ada", PASSWORD);
    answer.assert_status(200);
    let session = server.key(&token(&answer).expect("a token"));
    assert_eq!(who(&session)["permissions"], json!([]));
    // One of the twins is further down than one level.
    sign_in(&server, "twin", PASSWORD).assert_status(200);
    assert!(session.get("/api/apps").status == 200);
}
