//! QR codes of the secrets of second factors, as the path of an SVG. They are made here: no other host learns a secret.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;

use crate::form::Form;

/// The most bytes of a URI that becomes a QR code: more cannot be read from a screen.
const LONGEST: usize = 1_000;

/// What all URIs of secrets begin with.
const SCHEME: &str = "otpauth://totp/";

/// The light modules around a QR code.
const MARGIN: i32 = 4;

/// A secret for an app, and its URI.
#[derive(Deserialize)]
pub(crate) struct NewSecret {
    pub secret: String,
    pub uri: String,
}

impl NewSecret {
    /// The one that a page has shown, and whose code was wrong.
    pub fn sent(form: &Form) -> Self {
        Self {
            secret: form.shown("secret").to_owned(),
            uri: form.text("uri").chars().take(LONGEST).collect(),
        }
    }

    /// The secret in groups of four, to type.
    pub fn grouped(&self) -> String {
        let letters: Vec<char> = self.secret.chars().collect();
        let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
        groups.join(" ")
    }

    /// Its QR code; `None` if the URI is not that of a secret.
    pub fn qr(&self) -> Option<Qr> {
        let is_secret = self.uri.starts_with(SCHEME) && self.uri.len() <= LONGEST;
        is_secret.then(|| Qr::of(&self.uri))?
    }
}

/// A QR code.
pub(crate) struct Qr {
    /// The width and the height, in modules, with the margin.
    pub size: i32,
    /// The dark modules.
    pub path: String,
}

impl Qr {
    fn of(text: &str) -> Option<Self> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let mut path = String::new();
        for y in 0..code.size() {
            for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
                // Writing to a string does not fail.
                let _ = write!(path, "M{} {}h1v1h-1z", x + MARGIN, y + MARGIN);
            }
        }
        Some(Self {
            size: code.size() + 2 * MARGIN,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(uri: String) -> NewSecret {
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".into();
        NewSecret { secret, uri }
    }

    #[test]
    fn a_secret_is_shown_as_a_qr_code_and_in_groups() {
        let secret = secret(format!(
            "{SCHEME}Portico:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        ));
        assert_eq!(secret.grouped(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        let qr = secret.qr().unwrap();
        // The finder at the top left: seven dark modules, and a light one.
        let is_dark = |x: i32, y: i32| qr.path.contains(&format!("M{} {}h", x + MARGIN, y + MARGIN));
        assert!((0..7).all(|x| is_dark(x, 0)) && !is_dark(7, 0));
        assert!(!is_dark(1, 1) && is_dark(2, 2));
    }

    #[test]
    fn other_texts_and_long_ones_become_none() {
        for uri in [
            "https://evil.example".into(),
            format!("{SCHEME}{}", "a".repeat(LONGEST)),
        ] {
            assert!(secret(uri).qr().is_none());
        }
        let longest = format!("{SCHEME}{}", "a".repeat(LONGEST - SCHEME.len()));
        assert!(secret(longest).qr().is_some());
    }
}
