//! Passwords: Argon2id with 19,456 KiB of memory, 2 passes and 1 lane, as PHC text.
//!
//! Passwords are hashed in NFC, so that it does not matter how a keyboard composes a letter. Hashes that are older than
//! this rule, or come from another dashboard, may be of the text as it was sent.
//!
//! Other hashes (with weaker parameters, or bcrypt from another dashboard) are checked as they are. They are outdated,
//! and the next sign-in replaces them.

use alloc::string::{String, ToString};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use portico_rules::bcrypt::Bcrypt;
use portico_rules::passwords::{self, composed};

use crate::environment;

const SALT_BYTES: usize = 16;

/// A hash that matches no password, with the usual parameters. Checking against it takes as long as any other check, so
/// that the time does not reveal that there is no hash.
const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// How a password fits a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is another password, or there is no hash.
    No,
    /// The hash is of its NFC.
    Composed,
    /// The hash is of the text as it was sent, which is not NFC.
    AsSent,
}

/// Hashes a password, in NFC and with a new salt. Takes tens of milliseconds, so never inside a transaction.
pub fn hash(password: &str) -> String {
    hash_with(&composed(password), &environment::random_bytes())
}

/// How this password fits a hash. Without a hash it does not fit, after the same work as for any other user, so that the
/// time does not reveal that there is no hash.
pub fn verify(password: &str, hash: Option<&str>) -> Fit {
    fit(password, |text| verify_text(text, hash))
}

/// How a password fits. How often it is compared depends on nothing but the password, unless it fits.
fn fit(password: &str, is_hashed: impl Fn(&str) -> bool) -> Fit {
    if password.chars().nth(passwords::MOST_CHECKED).is_some() {
        // It is not hashed, so that long inputs cost nothing.
        is_hashed("");
        return Fit::No;
    }
    let composed = composed(password);
    if is_hashed(&composed) {
        Fit::Composed
    } else if composed != password && is_hashed(password) {
        Fit::AsSent
    } else {
        Fit::No
    }
}

fn verify_text(text: &str, hash: Option<&str>) -> bool {
    if let Some(bcrypt) = hash.and_then(Bcrypt::parse) {
        return bcrypt.verify(text);
    }
    let parsed = hash.and_then(|hash| PasswordHash::new(hash).ok());
    let no_password = || PasswordHash::new(NO_PASSWORD).expect("the constant is a hash");
    let hash = parsed.unwrap_or_else(no_password);
    argon2().verify_password(text.as_bytes(), &hash).is_ok()
}

/// Whether a hash is weaker than a new one: not Argon2id of this version, or one of its parameters
/// below today's.
pub fn is_outdated(hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else {
        return true;
    };
    let Ok(params) = Params::try_from(&hash) else {
        return true;
    };
    let today = argon2();
    let today = today.params();
    hash.algorithm != Algorithm::Argon2id.ident()
        || hash.version != Some(Version::V0x13.into())
        || params.m_cost() < today.m_cost()
        || params.t_cost() < today.t_cost()
        || params.p_cost() < today.p_cost()
        || params.output_len() < today.output_len()
}

fn hash_with(password: &str, salt: &[u8; SALT_BYTES]) -> String {
    let hash = argon2().hash_password_with_salt(password.as_bytes(), salt);
    hash.expect("any text of the accepted length can be hashed")
        .to_string()
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(19_456, 2, 1, Some(32)).expect("the parameters are within bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::cell::RefCell;

    use super::*;

    fn verifies(password: &str, hash: Option<&str>) -> bool {
        verify(password, hash) == Fit::Composed
    }

    #[test]
    fn a_hash_is_phc_text_with_the_parameters_and_fits_its_password_only() {
        let hash = hash_with("correct horse", &[7; SALT_BYTES]);
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$"),
            "{hash}"
        );
        assert_eq!(hash.rsplit('$').next().map(str::len), Some(43), "32 bytes");
        assert!(verifies("correct horse", Some(&hash)));
        assert!(!verifies("correct horse ", Some(&hash)));
        assert!(!verifies("", Some(&hash)));
    }

    #[test]
    fn a_hash_made_elsewhere_with_other_parameters_is_understood() {
        // From the tests of the reference implementation: 2 passes, 256 KiB, 1 lane.
        let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        assert!(verifies("password", Some(hash)));
        assert!(!verifies("Password", Some(hash)));
    }

    #[test]
    fn a_hash_is_outdated_where_it_is_weaker_than_one_of_today() {
        let today = hash_with("correct horse", &[7; SALT_BYTES]);
        assert!(!is_outdated(&today));
        for (part, other, outdated) in [
            ("m=19456", "m=19455", true),
            ("m=19456", "m=47104", false),
            ("t=2", "t=1", true),
            ("t=2", "t=3", false),
            ("p=1", "p=4", false),
            ("argon2id", "argon2i", true),
            ("argon2id", "argon2d", true),
            ("v=19", "v=16", true),
        ] {
            assert_eq!(is_outdated(&today.replace(part, other)), outdated, "{other}");
        }
        let shorter = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA";
        assert!(is_outdated(shorter));
        assert!(is_outdated(
            "$2b$10$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
        ));
        assert!(is_outdated("plain"));
    }

    #[test]
    fn a_hash_of_another_dashboard_fits_its_password() {
        let hash = "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe";
        assert!(verifies("a", Some(hash)));
        assert!(!verifies("b", Some(hash)));
    }

    #[test]
    fn without_a_hash_or_with_a_broken_one_nothing_fits() {
        let no_password = PasswordHash::new(NO_PASSWORD).unwrap();
        assert_eq!(
            Params::try_from(&no_password).unwrap().m_cost(),
            argon2().params().m_cost()
        );
        for hash in [
            None,
            Some(""),
            Some("plain"),
            Some("$2b$10$abcdefghijklmnopqrstuv"),
            Some(NO_PASSWORD),
        ] {
            assert!(!verifies("password", hash));
            assert!(!verifies("", hash));
        }
    }

    #[test]
    fn a_password_fits_however_its_letters_are_composed() {
        let (composed, decomposed) = ("pässwörd", "pa\u{308}sswo\u{308}rd");
        let salt = [7; SALT_BYTES];
        let new = hash_with(composed, &salt);
        assert_eq!(verify(composed, Some(&new)), Fit::Composed);
        assert_eq!(verify(decomposed, Some(&new)), Fit::Composed);
        assert_eq!(verify("password", Some(&new)), Fit::No);
        // A hash that is older than the rule fits the text of which it was made.
        let old = hash_with(decomposed, &salt);
        assert_eq!(verify(decomposed, Some(&old)), Fit::AsSent);
        assert_eq!(verify(composed, Some(&old)), Fit::No);
        for hash in [None, Some("plain")] {
            assert_eq!(verify(decomposed, hash), Fit::No);
        }
    }

    #[test]
    fn a_password_of_any_length_that_may_be_stored_is_checked() {
        let salt = [7; SALT_BYTES];
        for word in ["", "a", &"🔑".repeat(passwords::MOST_CHECKED)] {
            assert_eq!(verify(word, Some(&hash_with(word, &salt))), Fit::Composed);
        }
        let longer = "a".repeat(passwords::MOST_CHECKED + 1);
        assert_eq!(verify(&longer, Some(&hash_with(&longer, &salt))), Fit::No);
    }

    #[test]
    fn a_password_that_does_not_fit_costs_the_same_for_every_user() {
        let hashed = |password: &str| {
            let texts = RefCell::new(Vec::new());
            let compare = |text: &str| {
                texts.borrow_mut().push(String::from(text));
                false
            };
            assert_eq!(fit(password, compare), Fit::No);
            texts.into_inner()
        };
        assert_eq!(hashed("correct horse"), ["correct horse"]);
        assert_eq!(hashed("pässwörd"), ["pässwörd"]);
        assert_eq!(hashed("a\u{308}"), ["ä", "a\u{308}"]);
        assert_eq!(hashed(&"a".repeat(passwords::MOST_CHECKED + 1)), [""]);
    }
}
