//! Secrets to search for, in every encoding in which a program might write them.

use std::fmt::Write;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use portico_tests::escape;

/// As much of a secret as says too much.
const PART: usize = 12;

/// As much of an encoded secret: what is cut off is found as well.
const ENCODED_PART: usize = 20;

/// One secret.
pub struct Canary {
    /// What it is, for failure messages: they must not show it either.
    pub what: String,
    /// As its owner has it.
    pub text: String,
    /// Where it is shown: once, unless its holder is shown it again.
    pub shown_at: Vec<String>,
    /// Whether the database has it: codes are computed from it.
    pub is_stored: bool,
    needles: Vec<(&'static str, String)>,
}

impl Canary {
    pub fn new(what: &str, text: &str, shown_at: Option<String>) -> Self {
        Self {
            what: what.to_owned(),
            text: text.to_owned(),
            shown_at: shown_at.into_iter().collect(),
            is_stored: false,
            needles: needles(text),
        }
    }

    /// The same, and the database has it.
    pub fn stored(self) -> Self {
        Self {
            is_stored: true,
            ..self
        }
    }
}

/// Every form of every secret, searched for in one pass over a text.
pub struct Search {
    forms: AhoCorasick,
    /// Of each form: the place of its secret in the list, and what the form is called.
    meanings: Vec<(usize, &'static str)>,
    secrets: usize,
}

impl Search {
    pub fn new(canaries: &[Canary]) -> Self {
        let (mut texts, mut meanings) = (Vec::new(), Vec::new());
        for (place, canary) in canaries.iter().enumerate() {
            for (form, needle) in &canary.needles {
                texts.push(needle);
                meanings.push((place, *form));
            }
        }
        // Quicker than the kind that is chosen for so many forms.
        let forms = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(texts);
        Self {
            forms: forms.expect("few enough forms"),
            meanings,
            secrets: canaries.len(),
        }
    }

    /// The form in which each secret is in a text, if it is.
    pub fn found_in(&self, text: &str) -> Vec<Option<&'static str>> {
        let mut found = vec![None; self.secrets];
        for form in self.forms.find_overlapping_iter(text) {
            let (secret, form) = self.meanings[form.pattern().as_usize()];
            found[secret].get_or_insert(form);
        }
        found
    }
}

/// The part of a key or a token that is secret: what precedes it is its id or its kind.
fn secret_part(text: &str) -> &str {
    let kinds = ["portico_session_", "portico_gate_"];
    let kind = kinds.iter().find_map(|kind| text.strip_prefix(kind));
    let after_id = text
        .strip_prefix("portico_")
        .and_then(|rest| rest.split_once('.'));
    kind.or(after_id.map(|(_, secret)| secret)).unwrap_or(text)
}

fn needles(text: &str) -> Vec<(&'static str, String)> {
    let secret = secret_part(text);
    let characters: Vec<_> = secret.chars().collect();
    let mut needles: Vec<(&'static str, String)> = characters
        .windows(PART.min(characters.len()))
        .map(|part| ("as it is", part.iter().collect()))
        .collect();
    let mut add = |form, encoded: String| {
        let part = encoded.chars().take(ENCODED_PART).collect();
        if !needles.iter().any(|(_, known)| *known == part) {
            needles.push((form, part));
        }
    };

    let bytes = secret.as_bytes();
    // What precedes it in the same text shifts its bits: three ways.
    for before in 0..3 {
        let mut moved = vec![b'x'; before];
        moved.extend(bytes);
        // The first group may contain what precedes it, the last one what follows it.
        let whole = |encoded: String| encoded[4..encoded.len() - 4].to_owned();
        add("in base64", whole(STANDARD.encode(&moved)));
        add("in base64 for URLs", whole(URL_SAFE.encode(&moved)));
    }
    let escaped = escape(secret);
    add("percent-encoded in small letters", lower_escapes(&escaped));
    add("percent-encoded as a form", escaped.replace("%20", "+"));
    add("percent-encoded", escaped);
    add("percent-encoded whole", hex(bytes, "%"));
    add("in hex", hex(bytes, ""));
    add("in capital hex", hex(bytes, "").to_uppercase());
    add(
        "as a list of bytes",
        format!("{bytes:?}").trim_matches(['[', ']']).to_owned(),
    );
    add("as in a JSON text", json(secret));
    add("as in an ASCII JSON text", ascii_json(secret));
    add("as in a JSON text in a JSON text", json(&json(secret)));
    add("as Rust shows it", secret.escape_debug().to_string());
    add("as Rust shows it in ASCII", secret.escape_default().to_string());
    add("as hash", hex(&portico_storage::hash_secret(secret), ""));
    add("as hash", hex(&portico_storage::hash_secret(text), ""));
    needles
}

fn hex(bytes: &[u8], before: &str) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{before}{byte:02x}").expect("a text takes everything");
        text
    })
}

fn lower_escapes(escaped: &str) -> String {
    let mut parts = escaped.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at(2);
        format!("{text}%{}{rest}", digits.to_lowercase())
    })
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn ascii_json(text: &str) -> String {
    let mut units = [0; 2];
    json(text).chars().fold(String::new(), |mut escaped, character| {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                write!(escaped, "\\u{unit:04x}").expect("a text takes everything");
            }
        }
        escaped
    })
}

#[test]
fn a_secret_is_found_in_every_form() {
    let password = "kanari \"\\ö%+&/=ß😀 1";
    let found_in = |secret: &str, text: &str| {
        let search = Search::new(&[Canary::new("a secret", secret, None)]);
        search.found_in(text)[0]
    };
    assert_eq!(found_in(password, "nothing of it: kanari"), None);
    for text in [
        format!("a {password} b"),
        "got \"kanari \"\\ö%+&…".to_owned(),
        STANDARD.encode(format!("user:{password}")),
        STANDARD.encode(format!("alice:{password}:more")),
        STANDARD.encode(format!("bobby1:{password}")),
        URL_SAFE.encode(password),
        escape(password),
        lower_escapes(&escape(password)),
        escape(password).replace("%20", "+"),
        format!("{:?}", password.as_bytes()),
        format!("{password:?}"),
        serde_json::json!({"password": password}).to_string(),
        serde_json::json!({"body": serde_json::json!({"password": password}).to_string()}).to_string(),
        "kanari \\\"\\\\\\u00f6%+&/=\\u00df\\ud83d\\ude00 1".to_owned(),
        "6b616e61726920225cc3b6252b262f3dc39ff09f9880".to_owned(),
    ] {
        assert!(found_in(password, &text).is_some(), "{text}");
    }

    let key = "portico_0123456789abcdef.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefabcdef";
    assert_eq!(found_in(key, "the key portico_0123456789abcdef"), None);
    assert!(found_in(key, "…PQRSTUVWXYZabcdefabcdef").is_some());
    let hash = hex(&portico_storage::hash_secret(secret_part(key)), "");
    assert!(found_in(key, &hash).is_some());
}

#[test]
fn every_secret_in_a_text_is_found_also_where_forms_overlap() {
    let secrets = ["abcdefghijklmnop", "hijklmnopqrstuvw", "not in the text at all"];
    let search = Search::new(&secrets.map(|secret| Canary::new("a secret", secret, None)));
    let found = search.found_in("x abcdefghijklmnopqrstuvw x");
    assert_eq!(found, [Some("as it is"), Some("as it is"), None]);
}
