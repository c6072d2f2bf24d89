//! Passwords: Argon2id with 19,456 KiB of memory, 2 passes and 1 lane, as PHC text.
//!
//! Other hashes (with weaker parameters, or bcrypt from another dashboard) are checked as they are. They are outdated,
//! and the next sign-in replaces them.

use alloc::string::{String, ToString};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use portico_rules::bcrypt::Bcrypt;

use crate::environment;

const SALT_BYTES: usize = 16;

/// A hash that matches no password, with the usual parameters. Checking against it takes as long as any other check, so
/// that the time does not reveal that there is no hash.
const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes a password with a new salt. Takes tens of milliseconds, so never inside a transaction.
pub fn hash(password: &str) -> String {
    hash_with(password, &environment::random_bytes())
}

/// Whether this is the password of the hash. Without a hash it returns false, after the same work.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    if let Some(bcrypt) = hash.and_then(Bcrypt::parse) {
        return bcrypt.verify(password);
    }
    let parsed = hash.and_then(|hash| PasswordHash::new(hash).ok());
    let no_password = || PasswordHash::new(NO_PASSWORD).expect("the constant is a hash");
    let hash = parsed.unwrap_or_else(no_password);
    argon2().verify_password(password.as_bytes(), &hash).is_ok()
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
    use super::*;

    #[test]
    fn a_hash_is_phc_text_with_the_parameters_and_fits_its_password_only() {
        let hash = hash_with("correct horse", &[7; SALT_BYTES]);
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$"),
            "{hash}"
        );
        assert_eq!(hash.rsplit('$').next().map(str::len), Some(43), "32 bytes");
        assert!(verify("correct horse", Some(&hash)));
        assert!(!verify("correct horse ", Some(&hash)));
        assert!(!verify("", Some(&hash)));
    }

    #[test]
    fn a_hash_made_elsewhere_with_other_parameters_is_understood() {
        // From the tests of the reference implementation: 2 passes, 256 KiB, 1 lane.
        let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        assert!(verify("password", Some(hash)));
        assert!(!verify("Password", Some(hash)));
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
        assert!(verify("a", Some(hash)));
        assert!(!verify("b", Some(hash)));
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
            assert!(!verify("password", hash));
            assert!(!verify("", hash));
        }
    }
}
