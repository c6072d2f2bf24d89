//! What the directory says to the service account, in words, and whether a setting is wrong.

use std::fmt;

use ldap3::LdapResult;

use super::verdict::describe;

/// A refusal by the directory that stays until somebody changes a setting, there or here.
#[derive(Debug)]
pub(super) struct SetUpWrong(String);

impl fmt::Display for SetUpWrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SetUpWrong {}

/// Result codes (RFC 4511, 4.1.9; 87 is that of the library of OpenLDAP) that a wrong setting causes.
const WRONG_SETTINGS: [(u32, &str); 17] = [
    (
        1,
        "the directory does not allow that; it may require a bind first",
    ),
    (
        4,
        "the directory returns no more entries to ldap-bind-dn: raise its size limit",
    ),
    (7, "the directory does not support binds with a password"),
    (8, "the directory requires encryption or a stronger way to bind"),
    (10, "that is in another directory, and referrals are not followed"),
    (
        11,
        "the directory returns no more entries to ldap-bind-dn: raise its limit",
    ),
    (
        13,
        "the directory requires encryption: use ldaps:// or ldap-start-tls",
    ),
    (16, "no such attribute"),
    (17, "the directory does not know the attribute"),
    (18, "the directory cannot match the attribute that way"),
    (32, "no such object"),
    (34, "that is not a distinguished name"),
    (48, "the directory does not let ldap-bind-dn bind with a password"),
    (49, "the name or the password is wrong"),
    (50, "ldap-bind-dn may not do that"),
    (53, "the directory is unwilling"),
    (87, "the directory does not understand the filter"),
];

/// The error of an operation on what a setting names, like `ldap-users-base "ou=people,dc=example"`.
pub(super) fn failure(result: &LdapResult, what: &str) -> anyhow::Error {
    let known = WRONG_SETTINGS.iter().find(|(code, _)| *code == result.rc);
    match known {
        Some((_, words)) => SetUpWrong(format!("{words}: {what} ({})", describe(result))).into(),
        None => anyhow::anyhow!("{what}: {}", describe(result)),
    }
}

/// Whether an error will be the same for everybody until a setting is changed.
pub(super) fn is_set_up_wrong(error: &anyhow::Error) -> bool {
    error.downcast_ref::<SetUpWrong>().is_some()
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_result_is_named_and_only_some_are_faults_of_the_settings() {
        let failed = |rc| {
            let result = LdapResult {
                rc,
                matched: String::new(),
                text: "x".into(),
                refs: Vec::new(),
                ctrls: Vec::new(),
            };
            let error: anyhow::Result<()> = Err(failure(&result, "ldap-users-base"));
            error.context("LDAP").unwrap_err()
        };
        for (rc, words, is_wrong) in [
            (32, "no such object: ldap-users-base (result 32 \"x\")", true),
            (49, "the name or the password is wrong: ldap-users-base", true),
            (51, "ldap-users-base: result 51", false),
            (80, "ldap-users-base: result 80", false),
        ] {
            let error = failed(rc);
            assert_eq!(is_set_up_wrong(&error), is_wrong, "{rc}");
            assert!(format!("{error:#}").contains(words), "{error:#}");
        }
    }
}
