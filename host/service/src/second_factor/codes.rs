//! What people type: a code of an app, or a recovery code.
//!
//! A recovery code has 80 random bits, so its hash need not be slow.

use portico_storage::{SecretHash, hash_secret, secrets::Secrets};

use super::totp;

/// How many recovery codes a user gets.
pub(crate) const RECOVERY_CODES: usize = 10;

/// Letters and digits that are not mistaken for one another: 32, so that a random byte picks each with the same probability.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// The characters of a recovery code, and those between two hyphens.
const LENGTH: usize = 16;
const GROUP: usize = 4;
/// The most characters of a code, however it is typed.
const LONGEST: usize = 64;

/// A code, as it was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Six digits.
    OfApp(String),
    /// The hash of a recovery code.
    Recovery(SecretHash),
}

impl Typed {
    /// Reads a code, whatever spaces and hyphens it has; `None` if it has neither form.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let is_between = |character: char| character.is_whitespace() || character == '-';
        let code: String = text.chars().filter(|character| !is_between(*character)).collect();
        if code.len() == totp::DIGITS && code.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::OfApp(code));
        }
        let code = code.to_ascii_lowercase();
        let is_code = code.len() == LENGTH && code.bytes().all(|byte| ALPHABET.contains(&byte));
        is_code.then(|| Self::Recovery(hash_secret(&code)))
    }
}

/// New recovery codes, to show once.
pub(crate) fn make(secrets: &Secrets) -> Vec<String> {
    let make_one = |_| {
        let letters = secrets
            .bytes::<LENGTH>()
            .map(|byte| ALPHABET[usize::from(byte % 32)]);
        let groups = letters
            .chunks(GROUP)
            .map(|group| group.iter().map(|byte| char::from(*byte)));
        groups.map(String::from_iter).collect::<Vec<_>>().join("-")
    };
    (0..RECOVERY_CODES).map(make_one).collect()
}

/// The hashes of recovery codes, to store.
pub(crate) fn hashes(codes: &[String]) -> Vec<SecretHash> {
    let hash = |code: &String| match Typed::read(code) {
        Some(Typed::Recovery(hash)) => Some(hash),
        _ => None,
    };
    codes.iter().filter_map(hash).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portico_storage::secrets::SystemRandom;

    use super::*;

    #[test]
    fn ten_codes_are_made_which_read_back_however_they_are_typed() {
        let codes = make(&Secrets::new(Arc::new(SystemRandom)));
        let stored = hashes(&codes);
        assert_eq!((codes.len(), stored.len()), (10, 10));
        for (code, hash) in codes.iter().zip(stored) {
            assert_eq!(code.len(), 19, "{code}");
            let (plain, spaced) = (code.replace('-', ""), code.replace('-', " ").to_uppercase());
            for typed in [code, &plain, &spaced, &format!(" {code}\n")] {
                assert_eq!(Typed::read(typed), Some(Typed::Recovery(hash)), "{typed:?}");
            }
        }
        let mut distinct = codes.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 10);
    }

    #[test]
    fn six_digits_are_a_code_of_an_app_and_everything_else_is_none() {
        for typed in ["123456", "123 456", " 12-34-56 "] {
            assert_eq!(
                Typed::read(typed),
                Some(Typed::OfApp("123456".into())),
                "{typed:?}"
            );
        }
        let long = "1".repeat(1_000_000);
        for typed in [
            "",
            "12345",
            "1234567",
            "１２３４５６",
            "aaaa-aaaa-aaaa-aaal",
            "aaaa-aaaa-aaaa",
            &long,
        ] {
            assert_eq!(Typed::read(typed), None);
        }
    }
}
