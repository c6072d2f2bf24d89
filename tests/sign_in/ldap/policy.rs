//! A password policy in the directory: slapd with its overlay `ppolicy`.

use portico_tests::wait_for_text;

use super::{
    session, sign_in,
    slapd::{PASSWORD, Slapd},
    start,
};

#[test]
#[ignore = "make test-all"]
fn an_account_that_the_policy_keeps_out_is_refused_like_a_wrong_password() {
    let slapd = Slapd::start_with_policy();
    let server = start(slapd.service());
    session(&server, "ada", PASSWORD);
    // Over, and the directory grants a few more sign-ins.
    session(&server, "grace", PASSWORD);
    let wrong = sign_in(&server, "ada", "not the password");
    server.wait_for_log(0, "the directory does not take the password");
    for (name, why) in [
        ("reset", "the password must be changed first"),
        ("expired", "the password has expired"),
        ("locked-out", "the account is locked"),
    ] {
        let answer = sign_in(&server, name, PASSWORD);
        assert_eq!(answer.seen(), wrong.seen(), "{name}: {answer}");
        let said = format!("\"uid={name},ou=people,dc=example\": {why}");
        let log = wait_for_text(|| server.log().replace('\\', ""), &said, 1);
        assert!(!log.contains(PASSWORD), "{log}");
    }
    slapd.change("dn: uid=reset,ou=people,dc=example\nchangetype: modify\ndelete: pwdReset");
    session(&server, "reset", PASSWORD);
}
