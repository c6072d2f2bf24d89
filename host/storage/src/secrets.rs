//! Secrets that Portico issues: API keys, session tokens, tokens of invites and of links for a new password.
//!
//! - A key reads `portico_ID.SECRET`, a session token `portico_session_SECRET`. SECRET is 32 characters of base 62 (190
//!   random bits) and 6 characters of checksum (the CRC-32 of everything before them). So a mistyped or invented secret
//!   is refused without asking storage, and a scanner of source code recognises a real one:
//!   `portico_([0-9A-Za-z]{16}\.|session_)[0-9A-Za-z]{38}`.
//! - The pass of a session at the gate reads `portico_gate_SECRET`, where SECRET follows from the session's token and the
//!   token does not follow from it. [`parse`] does not know it, so it is not valid as a key or a token.
//! - The prefixes never change: keys with them are in use.
//! - Only the SHA-256 is stored. A secret of 190 bits needs no slow hash.
//! - A key that was imported from Homarr reads `ID.SECRET`: ID has no dot and no space, and ends at the first dot; SECRET
//!   is printable ASCII. It has no checksum, so storage is asked for each text of this form.

use std::sync::Arc;

use crate::dashboard_records::{CredentialKey, SecretHash, hash_secret};

const KEY_PREFIX: &str = "portico_";
const SESSION_PREFIX: &str = "portico_session_";
const GATE_PREFIX: &str = "portico_gate_";

/// Whether the value of a cookie looks like the token of a session or like the pass that follows from it.
pub fn is_of_session(value: &[u8]) -> bool {
    [SESSION_PREFIX, GATE_PREFIX]
        .iter()
        .any(|prefix| value.starts_with(prefix.as_bytes()))
}
const ID_LENGTH: usize = 16;
const SECRET_LENGTH: usize = 32;
const CHECKSUM_LENGTH: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A source of random bytes. Tests use one whose bytes they know.
pub trait Random: Send + Sync + 'static {
    /// Fills the buffer with unpredictable bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// The random numbers of the operating system.
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) {
        // No secret can be made without random numbers, so the process cannot continue.
        getrandom::fill(buffer).expect("the operating system gives random numbers");
    }
}

/// Makes secrets and ids.
#[derive(Clone)]
pub struct Secrets {
    random: Arc<dyn Random>,
}

/// A new secret, to show once, and its hash, to store.
pub struct Issued {
    /// The id of its record.
    pub id: String,
    /// The secret as its owner sees it.
    pub text: String,
    /// The hash that is stored.
    pub hash: SecretHash,
}

impl Secrets {
    /// Makes them of these random bytes.
    pub fn new(random: Arc<dyn Random>) -> Self {
        Self { random }
    }

    /// A new API key; its text is `ID.SECRET`.
    pub fn api_key(&self) -> Issued {
        let id = format!("{KEY_PREFIX}{}", self.base62(ID_LENGTH));
        let text = with_checksum(format!("{id}.{}", self.base62(SECRET_LENGTH)));
        let hash = hash_secret(&text[id.len() + 1..]);
        Issued { id, text, hash }
    }

    /// A new token for the session with this id, which is not part of the token.
    pub fn session(&self, id: String) -> Issued {
        let text = with_checksum(format!("{SESSION_PREFIX}{}", self.base62(SECRET_LENGTH)));
        let hash = hash_secret(&text);
        Issued { id, text, hash }
    }

    /// A new invite token.
    pub fn invite(&self, id: String) -> Issued {
        let text = self.base62(SECRET_LENGTH);
        let hash = hash_secret(&text);
        Issued { id, text, hash }
    }

    /// A new token of a link for a new password, which has no id.
    pub fn password_link(&self) -> Issued {
        self.invite(String::new())
    }

    /// A new password, for a user who has lost theirs.
    pub fn password(&self) -> String {
        self.base62(20)
    }

    /// A new unpredictable text for use between programs: 256 random bits.
    pub fn one_time(&self) -> String {
        self.base62(43)
    }

    /// Unpredictable bytes.
    pub fn bytes<const COUNT: usize>(&self) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        self.random.fill(&mut bytes);
        bytes
    }

    /// A new id of a record: UUIDv7 text.
    pub fn id(&self, now: u64) -> String {
        let mut bytes = [0; 10];
        self.random.fill(&mut bytes);
        uuid::Builder::from_unix_timestamp_millis(now, &bytes)
            .into_uuid()
            .to_string()
    }

    fn base62(&self, length: usize) -> String {
        let mut text = String::with_capacity(length);
        let mut bytes = [0; 64];
        while text.len() < length {
            self.random.fill(&mut bytes);
            // 248 is the largest multiple of 62 in a byte. Larger bytes would make some characters likelier.
            let fair = bytes.iter().filter(|byte| **byte < 248);
            text.extend(
                fair.take(length - text.len())
                    .map(|byte| char::from(ALPHABET[usize::from(byte % 62)])),
            );
        }
        text
    }
}

/// The pass at the gate of the session with this token: its text, and the hash to store. `None` if the text is not a
/// session token.
pub fn gate_pass(session_token: &str) -> Option<(String, SecretHash)> {
    let (CredentialKey::Session(_), _) = parse_own(session_token)? else {
        return None;
    };
    let mut secret = String::with_capacity(SECRET_LENGTH);
    // Bytes beyond the largest multiple of 62 are left out, as in `base62`.
    for round in 0_u8..=255 {
        let bytes = hash_secret(&format!("portico gate {round} {session_token}"));
        let fair = bytes.iter().filter(|byte| **byte < 248);
        let room = SECRET_LENGTH - secret.len();
        secret.extend(
            fair.take(room)
                .map(|byte| char::from(ALPHABET[usize::from(byte % 62)])),
        );
        if secret.len() == SECRET_LENGTH {
            break;
        }
    }
    let text = with_checksum(format!("{GATE_PREFIX}{secret}"));
    let hash = hash_secret(&text);
    Some((text, hash))
}

/// The hash of a pass at the gate; `None` if the text cannot be one.
pub fn parse_gate_pass(text: &str) -> Option<SecretHash> {
    let (body, checksum) = text.split_at_checked(text.len().checked_sub(CHECKSUM_LENGTH)?)?;
    let secret = text.strip_prefix(GATE_PREFIX)?;
    let is_pass =
        is_base62(secret, SECRET_LENGTH + CHECKSUM_LENGTH) && checksum.as_bytes() == checksum_of(body);
    is_pass.then(|| hash_secret(text))
}

/// Parses a key or a session token: returns how its record is found, and the hash that the record must have. `None` if
/// the text has neither form.
pub fn parse(text: &str) -> Option<(CredentialKey, SecretHash)> {
    parse_own(text).or_else(|| {
        let (id, secret) = imported_key(text)?;
        Some((CredentialKey::Key(id.to_owned()), hash_secret(secret)))
    })
}

/// Parses a key or a session token that Portico has made.
pub fn parse_own(text: &str) -> Option<(CredentialKey, SecretHash)> {
    if text.len() > 128 || !text.is_ascii() {
        return None;
    }
    let (body, checksum) = text.split_at_checked(text.len().checked_sub(CHECKSUM_LENGTH)?)?;
    if checksum.as_bytes() != checksum_of(body) {
        return None;
    }
    if let Some(secret) = text.strip_prefix(SESSION_PREFIX) {
        let hash = hash_secret(text);
        return is_base62(secret, SECRET_LENGTH + CHECKSUM_LENGTH)
            .then_some((CredentialKey::Session(hash), hash));
    }
    let (id, secret) = text.split_once('.')?;
    let well_formed = is_base62(id.strip_prefix(KEY_PREFIX)?, ID_LENGTH)
        && is_base62(secret, SECRET_LENGTH + CHECKSUM_LENGTH);
    well_formed.then(|| (CredentialKey::Key(id.to_owned()), hash_secret(secret)))
}

/// The id and the secret of a text that can be an API key of Homarr, which people also choose themselves. The id of
/// Portico's own keys is none: those have a checksum.
pub fn imported_key(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.split_once('.')?;
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~');
    let is_secret = (1..=128).contains(&secret.len()) && secret.bytes().all(is_printable);
    (is_imported_id(id) && is_secret).then_some((id, secret))
}

/// Whether a text can be the id of an API key of Homarr.
pub fn is_imported_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'.';
    (1..=64).contains(&id.len()) && id.bytes().all(is_plain) && !is_key_id(id)
}

/// Whether a text has the form of an id that Portico makes, of a key or of another record. No secret has
/// this form.
pub fn is_id(text: &str) -> bool {
    is_key_id(text) || (text.len() == 36 && uuid::Uuid::try_parse(text).is_ok())
}

/// Whether a text has the form of the id of a key that Portico makes.
fn is_key_id(text: &str) -> bool {
    let id = text.strip_prefix(KEY_PREFIX);
    id.is_some_and(|id| is_base62(id, ID_LENGTH))
}

/// Compares two hashes in constant time.
pub fn same(left: &SecretHash, right: &SecretHash) -> bool {
    left.iter()
        .zip(right)
        .fold(0, |difference, (left, right)| difference | (left ^ right))
        == 0
}

fn is_base62(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn with_checksum(body: String) -> String {
    let checksum = checksum_of(&body).map(char::from);
    body + &String::from_iter(checksum)
}

fn checksum_of(body: &str) -> [u8; CHECKSUM_LENGTH] {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::new(Arc::new(SystemRandom))
    }

    #[test]
    fn a_key_is_parsed_and_found_by_its_id() {
        let key = secrets().api_key();
        assert_eq!(
            parse(&key.text),
            Some((CredentialKey::Key(key.id.clone()), key.hash))
        );
        assert!(key.text.starts_with(&format!("{}.", key.id)));
    }

    #[test]
    fn ids_and_secrets_have_different_forms() {
        let (secrets, key) = (secrets(), secrets().api_key());
        assert!(is_id(&secrets.id(1)) && is_id(&key.id));
        let others = [
            key.text,
            secrets.session("id".into()).text,
            secrets.invite("id".into()).text,
        ];
        for text in others
            .iter()
            .map(String::as_str)
            .chain(["", "hunter2", "{}", &secrets.id(1)[1..]])
        {
            assert!(!is_id(text), "{text}");
        }
    }

    #[test]
    fn a_session_token_is_parsed() {
        let token = secrets().session("id".into());
        assert_eq!(
            parse(&token.text),
            Some((CredentialKey::Session(token.hash), token.hash))
        );
    }

    #[test]
    fn a_pass_at_the_gate_follows_from_the_token_and_is_not_a_key_or_a_token() {
        let token = secrets().session("id".into()).text;
        let (pass, hash) = gate_pass(&token).unwrap();
        assert_eq!(gate_pass(&token), Some((pass.clone(), hash)));
        assert_eq!(parse_gate_pass(&pass), Some(hash));
        assert_eq!(parse(&pass), None);
        let secret = &pass[GATE_PREFIX.len()..];
        assert_eq!(
            parse(&format!("{SESSION_PREFIX}{secret}")),
            None,
            "another checksum"
        );
        assert!(!token.contains(&secret[..SECRET_LENGTH]));
        assert_ne!(
            gate_pass(&secrets().session("id".into()).text),
            Some((pass.clone(), hash))
        );
        assert_eq!(gate_pass(&secrets().api_key().text), None);
        for text in [
            &token[..],
            "",
            "portico_gate_",
            &pass[1..],
            &format!("{pass}0"),
            "portico_gate_é",
        ] {
            assert_eq!(parse_gate_pass(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_exactly_a_secret_is_refused() {
        let key = secrets().api_key().text;
        let mut changed = key.clone();
        changed.replace_range(12..13, if &key[12..13] == "a" { "b" } else { "a" });
        for text in [
            "",
            ".",
            "portico_",
            "portico_.",
            &key[..key.len() - 1],
            &changed,
            "é".repeat(60).as_str(),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&format!("{key}.junk")), None);
        assert_eq!(parse(&format!("{key}a")), None);
        let session = secrets().session("id".into()).text;
        assert_eq!(parse(&format!("{session}a")), None);
    }

    #[test]
    fn a_key_of_homarr_has_any_id_and_any_secret_and_bounds() {
        let hex = "0123456789abcdef".repeat(8);
        for (id, secret) in [
            ("0a1b2c3d", &hex[..48]),
            ("cm5n8q2wd0000v8kz7y1c9x4e", &hex),
            // As HaLOS seeds it.
            (
                "halos-bootstrap",
                "halos-bootstrap-rotate-me-on-first-boot-abc123",
            ),
            ("okid1", "ABCDEF"),
            ("okid2", &hex[..64]),
            ("a", "b.c d~"),
            (&hex[..64], "!"),
        ] {
            let parsed = parse(&format!("{id}.{secret}"));
            assert_eq!(
                parsed,
                Some((CredentialKey::Key(id.into()), hash_secret(secret))),
                "{id}"
            );
        }
        for text in [
            format!("a.{hex}0"),
            format!("{}0.secret", &hex[..64]),
            "a b.secret".into(),
            "é.secret".into(),
            "a.é".into(),
            "a.\u{7f}".into(),
            ".secret".into(),
            "id.".into(),
            "id".into(),
        ] {
            assert_eq!(parse(&text), None, "{text}");
        }
    }

    #[test]
    fn base62_uses_every_character_about_as_often() {
        let text = secrets().base62(62_000);
        for character in ALPHABET {
            let count = text.bytes().filter(|byte| byte == character).count();
            assert!(
                (800..1200).contains(&count),
                "{}: {count}",
                char::from(*character)
            );
        }
    }
}
