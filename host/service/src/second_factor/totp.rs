//! Codes of an app (RFC 6238): SHA-1, six digits, 30 seconds, as every app has them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use portico_model::Timestamp;
use portico_storage::secrets::Secrets;
use totp_rs::{Builder, Secret, Totp};

/// The digits of a code.
pub(crate) const DIGITS: usize = 6;
/// The bytes of a secret: as many as a hash has.
const SECRET_BYTES: usize = 20;
/// The most characters of a name in a URI, so that a QR code of it can be read from a screen.
const LONGEST_NAME: usize = 40;
/// The characters that stay as they are in a URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A new secret, in Base32.
pub(crate) fn new_secret(secrets: &Secrets) -> String {
    Secret::new_stack(secrets.bytes::<SECRET_BYTES>()).to_base32()
}

/// Whether a text has the form of a secret.
pub(crate) fn is_secret(text: &str) -> bool {
    text.len() == SECRET_BYTES * 8 / 5 && of(text).is_some()
}

/// The time step that a code fits: that of this moment, or the one before or after.
pub(crate) fn step_of(secret: &str, code: &str, now: Timestamp) -> Option<u64> {
    of(secret)?.check(code, now / 1000)
}

fn of(secret: &str) -> Option<Totp> {
    let secret = Secret::try_from_base32(secret).ok()?;
    Builder::new().with_secret(secret).build().ok()
}

/// The URI by which an app takes up a secret.
pub(crate) fn uri(secret: &str, service: &str, username: &str) -> String {
    let [service, username] = [service, username].map(escape);
    format!("otpauth://totp/{service}:{username}?secret={secret}&issuer={service}")
}

/// A name as a part of a URI. A colon separates the two names, and not every app reads it escaped.
fn escape(name: &str) -> String {
    let name: String = name
        .chars()
        .filter(|character| *character != ':')
        .take(LONGEST_NAME)
        .collect();
    utf8_percent_encode(&name, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, and the last six digits of its codes.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(step_of(SECRET, code, seconds * 1000), Some(seconds / 30));
        }
    }

    #[test]
    fn a_code_fits_its_own_step_and_the_ones_before_and_after() {
        // The code of the second step, which lasts from second 30 to second 59.
        for (seconds, fits) in [
            (0, true),
            (29, true),
            (30, true),
            (59, true),
            (89, true),
            (90, false),
        ] {
            let step = step_of(SECRET, "287082", seconds * 1000);
            assert_eq!(step, fits.then_some(1), "after {seconds} seconds");
        }
        for code in [
            "",
            "28708",
            "2870820",
            "28708x",
            "+28708",
            " 28708",
            "２８７０８２",
        ] {
            assert_eq!(step_of(SECRET, code, 59_000), None, "{code}");
        }
    }

    #[test]
    fn a_secret_is_32_characters_of_base32() {
        assert!(is_secret(SECRET));
        for text in [
            "",
            "GEZDGNBVGY3TQOJQ",
            "gezdgnbvgy3tqojqgezdgnbvgy3tqoj1",
            &SECRET.repeat(2),
            &"=".repeat(32),
        ] {
            assert!(!is_secret(text), "{text}");
        }
    }

    #[test]
    fn a_uri_names_service_and_user_in_few_characters() {
        let uri = uri(SECRET, "Müllers: Haus", &"a\u{1F600}".repeat(200));
        assert!(
            uri.starts_with("otpauth://totp/M%C3%BCllers%20Haus:a%F0%9F%98%80a"),
            "{uri}"
        );
        assert!(
            uri.ends_with(&format!("?secret={SECRET}&issuer=M%C3%BCllers%20Haus")),
            "{uri}"
        );
        // What fits a QR code that is read from a screen.
        assert!(uri.len() < 800, "{}", uri.len());
    }
}
