//! bcrypt hashes, as other dashboards store them. They are checked, never made.
//!
//! bcrypt reads only the first 72 bytes of a password, so the rest of a longer one does not count. A sign-in replaces
//! the hash with an Argon2id hash of the whole password.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

/// The highest cost: the number of rounds as a power of two. A higher one would take longer than a call may.
const MAX_COST: u32 = 13;

/// How much bcrypt reads of a password, including the zero byte at its end.
const MAX_BYTES: usize = 72;

const ENCODING: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, NO_PAD);

/// A parsed bcrypt hash: `$2b$10$`, 22 characters of salt, 31 of hash.
pub struct Bcrypt {
    cost: u32,
    salt: [u8; 16],
    hash: [u8; 23],
}

impl Bcrypt {
    /// Parses a hash with the prefix `$2a$`, `$2b$` or `$2y$`: for passwords shorter than 256 bytes they
    /// mean the same.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = ["$2a$", "$2b$", "$2y$"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))?;
        let (cost, rest) = rest.split_once('$')?;
        let cost = match cost.as_bytes() {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => u32::from(tens - b'0') * 10 + u32::from(ones - b'0'),
            _ => return None,
        };
        let (salt, hash) = rest.split_at_checked(22)?;
        (4..=MAX_COST).contains(&cost).then_some(Self {
            cost,
            salt: decode(salt)?,
            hash: decode(hash)?,
        })
    }

    pub fn verify(&self, password: &str) -> bool {
        let mut key = [0; MAX_BYTES];
        let length = password.len().min(MAX_BYTES);
        key[..length].copy_from_slice(&password.as_bytes()[..length]);
        // The zero byte at the end counts, if there is room for it.
        let key = &key[..(length + 1).min(MAX_BYTES)];
        let computed = bcrypt::bcrypt(self.cost, self.salt, key);
        let pairs = computed.iter().zip(self.hash);
        pairs.fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
    }
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let length = ENCODING.decode_slice(text, &mut bytes).ok()?;
    (length == N).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verifies(password: &str, hash: &str) -> bool {
        Bcrypt::parse(hash).is_some_and(|hash| hash.verify(password))
    }

    #[test]
    fn hashes_made_elsewhere_are_understood() {
        // From the tests of jBCrypt and of OpenBSD.
        for (password, hash) in [
            ("", "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s."),
            (
                "a",
                "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe",
            ),
            (
                "abcdefghijklmnopqrstuvwxyz",
                "$2a$08$aTsUwsyowQuzRrDqFflhgekJ8d9/7Z3GV3UcgvzQW3J5zMyrTvlz.",
            ),
            (
                "U*U",
                "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            ),
        ] {
            for prefix in ["$2a$", "$2b$", "$2y$"] {
                let hash = hash.replace("$2a$", prefix);
                assert!(verifies(password, &hash), "{password}");
                assert!(!verifies(&format!("{password}x"), &hash), "{password}");
            }
        }
    }

    #[test]
    fn only_the_first_72_bytes_count() {
        // From the tests of crypt_blowfish: 72 bytes, then more.
        let hash = "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui";
        let password = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        assert!(verifies(password, hash));
        assert!(verifies(&format!("{password}chars after 72 are ignored"), hash));
        assert!(!verifies(&password[..71], hash));
    }

    #[test]
    fn other_texts_are_not_hashes() {
        let good = "$2b$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe";
        assert!(Bcrypt::parse(good).is_some());
        for bad in [
            "",
            "$2b$",
            "$2b$06$",
            &good[..59],
            &format!("{good}."),
            &good.replace("$2b$", "$2x$"),
            &good.replace("$2b$", "$2$"),
            &good.replace("$06$", "$6$"),
            &good.replace("$06$", "$+6$"),
            &good.replace("$06$", "$03$"),
            &good.replace("$06$", "$14$"),
            &good.replace("$06$", "$99$"),
            &good.replace('m', "é"),
            &good.replace('m', "="),
        ] {
            assert!(Bcrypt::parse(bad).is_none(), "{bad}");
        }
    }
}
