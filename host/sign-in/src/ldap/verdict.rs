//! Decides from the response to a bind with a user's password whether the user may sign in.
//!
//! Invariants:
//! - A bind that succeeds is not enough: with the password policy control (draft-behera-ldap-password-policy)
//!   the directory can also say that the password must be changed first. Such an account is refused.
//! - A response that says nothing about the password is an error, not a refusal.
//! - The reason of a refusal goes only to the log.

use anyhow::{Context as _, bail, ensure};
use ldap3::{LdapResult, controls::RawControl};

use super::wire;

/// The password policy control, used in the request (without a value) and in the response.
const PASSWORD_POLICY: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
/// The control with which 389 Directory Server and its relatives report an expired password.
const PASSWORD_EXPIRED: &str = "2.16.840.1.113730.3.4.4";

/// Result codes (RFC 4511, 4.1.9).
pub(super) const SUCCESS: u32 = 0;
const INVALID_CREDENTIALS: u32 = 49;
/// Result codes of a bind that say nothing about the password: operations and protocol errors, time
/// limit, stronger method or encryption required, busy, unavailable, other.
const NO_VERDICT: [u32; 8] = [1, 2, 3, 8, 13, 51, 52, 80];

const LOCKED: &str = "the account is locked";
const DISABLED: &str = "the account is disabled";
const EXPIRED: &str = "the password has expired";
const MUST_CHANGE: &str = "the password must be changed first, at the directory";

/// The codes that Active Directory and Samba write into the text of result 49: `…, data 52e, …`.
const ACTIVE_DIRECTORY: [(&str, &str); 9] = [
    ("525", "the account does not exist"),
    ("52e", "the password is wrong"),
    ("530", "the account may not sign in at this time"),
    ("531", "the account may not sign in from this machine"),
    ("532", EXPIRED),
    ("533", DISABLED),
    ("701", "the account has expired"),
    ("773", MUST_CHANGE),
    ("775", LOCKED),
];

/// Texts of 389 Directory Server, with results other than 49.
const TEXTS: [(&str, &str); 2] = [
    ("Exceed password retry limit", LOCKED),
    ("Account inactivated", DISABLED),
];

/// The decision on a name and a password.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Accepted,
    /// With the reason.
    Refused(String),
}

/// Requests the password policy. A directory that does not know this control ignores it.
pub(super) fn ask_for_policy() -> RawControl {
    RawControl {
        ctype: PASSWORD_POLICY.into(),
        crit: false,
        val: None,
    }
}

/// Decides on the response to a bind that requested the policy.
pub(super) fn verdict(bound: &LdapResult) -> anyhow::Result<Verdict> {
    ensure!(
        !NO_VERDICT.contains(&bound.rc),
        "binding as a user: {}",
        describe(bound)
    );
    let policy = match control(bound, PASSWORD_POLICY).and_then(|control| control.val.as_deref()) {
        None | Some([]) => Policy::default(),
        Some(value) => Policy::read(value).context("the control of the password policy")?,
    };
    let is_expired = control(bound, PASSWORD_EXPIRED).is_some();
    let why = match (bound.rc, policy.error) {
        (_, Some(error)) => policy_error(error),
        // A grace login is accepted.
        (SUCCESS, None) if is_expired && !policy.has_grace => MUST_CHANGE,
        (SUCCESS, None) => return Ok(Verdict::Accepted),
        (_, None) if is_expired => EXPIRED,
        (code, None) => reason_in(code, &bound.text),
    };
    Ok(Verdict::Refused(format!("{why} ({})", describe(bound))))
}

/// The code and the text of a response, for the log.
pub(super) fn describe(result: &LdapResult) -> String {
    let text: String = result.text.chars().take(200).collect();
    format!("result {} {text:?}", result.rc)
}

fn control<'a>(bound: &'a LdapResult, oid: &str) -> Option<&'a RawControl> {
    let mut controls = bound.ctrls.iter().map(|control| &control.1);
    controls.find(|control| control.ctype == oid)
}

fn policy_error(error: u8) -> &'static str {
    match error {
        0 => EXPIRED,
        1 => LOCKED,
        2 => MUST_CHANGE,
        _ => "the password policy refuses it",
    }
}

fn reason_in(code: u32, text: &str) -> &'static str {
    let data = text.split_once(", data ").map_or("", |(_, data)| data);
    let data = data.split(',').next().unwrap_or_default();
    let known = ACTIVE_DIRECTORY.iter().find(|(known, _)| *known == data);
    let known = known.or_else(|| TEXTS.iter().find(|(known, _)| text.contains(known)));
    match known {
        Some((_, why)) => why,
        None if code == INVALID_CREDENTIALS => "the directory does not take the password",
        None => "the directory refuses the sign-in",
    }
}

/// The response of the password policy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Policy {
    error: Option<u8>,
    /// Whether the password has expired and the directory grants a grace login.
    has_grace: bool,
}

impl Policy {
    /// `SEQUENCE { warning [0] CHOICE { [0] seconds left, [1] sign-ins left } OPTIONAL,
    /// error [1] ENUMERATED OPTIONAL }`
    fn read(value: &[u8]) -> anyhow::Result<Self> {
        let parts = wire::parts(value)?;
        let [(0x30, _), rest @ ..] = &parts[..] else {
            bail!("it is not a sequence");
        };
        let (has_grace, rest) = match rest {
            [(0xa0, _), (0x80, _), rest @ ..] => (false, rest),
            [(0xa0, _), (0x81, _), rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let error = match rest {
            [] => None,
            [(0x81, [error])] => Some(*error),
            _ => bail!("it has another form"),
        };
        Ok(Self { error, has_grace })
    }
}

#[cfg(test)]
mod tests {
    use ldap3::controls::Control;

    use super::*;

    fn bound(rc: u32, text: &str, controls: &[(&str, &[u8])]) -> LdapResult {
        let control = |(oid, value): &(&str, &[u8])| {
            let raw = RawControl {
                ctype: (*oid).into(),
                crit: false,
                val: Some(value.to_vec()),
            };
            Control(None, raw)
        };
        LdapResult {
            rc,
            matched: String::new(),
            text: text.into(),
            refs: Vec::new(),
            ctrls: controls.iter().map(control).collect(),
        }
    }

    const GRACE: &[u8] = b"\x30\x05\xa0\x03\x81\x01\x02";
    const SECONDS_LEFT: &[u8] = b"\x30\x06\xa0\x04\x80\x02\x0e\x10";
    const CHANGE_AFTER_RESET: &[u8] = b"\x30\x03\x81\x01\x02";

    fn policy(value: &'static [u8]) -> (&'static str, &'static [u8]) {
        (PASSWORD_POLICY, value)
    }

    #[test]
    fn a_bind_that_succeeds_is_accepted_unless_the_password_must_be_changed() {
        let expired = (PASSWORD_EXPIRED, &b"0"[..]);
        for (controls, accepted) in [
            (&[][..], true),
            (&[policy(b"")], true),
            (&[policy(b"\x30\x00")], true),
            (&[policy(SECONDS_LEFT)], true),
            (&[policy(GRACE)], true),
            (&[policy(GRACE), expired], true),
            (&[expired], false),
            (&[policy(CHANGE_AFTER_RESET)], false),
            (&[policy(CHANGE_AFTER_RESET), expired], false),
            (&[policy(b"\x30\x08\xa0\x03\x80\x01\x05\x81\x01\x02")], false),
            (&[policy(b"\x30\x03\x81\x01\x00")], false),
        ] {
            let verdict = verdict(&bound(SUCCESS, "", controls)).unwrap();
            assert_eq!(verdict == Verdict::Accepted, accepted, "{controls:?}");
        }
    }

    #[test]
    fn a_refusal_has_the_reason_that_the_directory_gives() {
        let data = |code| {
            format!(
                "80090308: LdapErr: DSID-0C090439, comment: AcceptSecurityContext error, data {code}, v4563"
            )
        };
        for (code, text, policy, why) in [
            (49, "", &b"\x30\x03\x81\x01\x00"[..], EXPIRED),
            (49, "", b"\x30\x03\x81\x01\x01", LOCKED),
            (49, "", b"\x30\x03\x81\x01\x06", "the password policy refuses it"),
            (49, "", b"\x30\x00", "the directory does not take the password"),
            (49, &data("52e"), b"", "the password is wrong"),
            (49, &data("533"), b"", DISABLED),
            (49, &data("701"), b"", "the account has expired"),
            (49, &data("773"), b"", MUST_CHANGE),
            (49, &data("775"), b"", LOCKED),
            (49, &data("57"), b"", "the directory does not take the password"),
            (19, "Exceed password retry limit. Please try later.", b"", LOCKED),
            (
                53,
                "Account inactivated. Contact system administrator.",
                b"",
                DISABLED,
            ),
            (53, "no", b"", "the directory refuses the sign-in"),
        ] {
            let bound = bound(code, text, &[(PASSWORD_POLICY, policy)]);
            let Verdict::Refused(reason) = verdict(&bound).unwrap() else {
                panic!("{code} {text} is accepted");
            };
            assert!(reason.starts_with(why), "{reason}");
            assert!(reason.contains(&format!("result {code} ")), "{reason}");
        }
    }

    #[test]
    fn an_invalid_policy_is_an_error() {
        for value in [
            &b"x"[..],
            b"\x04\x00",
            b"\x30\x03\x81\x02\x00\x01",
            b"\x30\x03\x82\x01\x02",
        ] {
            let bound = bound(SUCCESS, "", &[(PASSWORD_POLICY, value)]);
            assert!(verdict(&bound).is_err(), "{value:?}");
        }
        assert!(verdict(&bound(51, "busy", &[])).is_err());
    }
}
