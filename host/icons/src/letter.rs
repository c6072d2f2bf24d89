//! A tile with the first letter of a name, for what has no icon.

use portico_rules::bounds;
use sha2::{Digest, Sha256};

use crate::{error::IconError, picture::Picture};

/// Colours on which white letters can be read, in light and dark surroundings.
const COLORS: [&str; 8] = [
    "#3451c6", "#7a3eb1", "#a83279", "#b3392f", "#8a5a00", "#2e7031", "#0f6e75", "#4a5a6a",
];

/// The tile. The same name has the same colour.
pub(crate) fn tile(name: &str) -> Result<Picture, IconError> {
    let hash = Sha256::digest(name);
    let color = COLORS[usize::from(hash[0]) % COLORS.len()];
    // Only letters and digits, which need no escaping.
    let mut letters = name
        .chars()
        .take(*bounds::APP_NAME.end())
        .filter(|letter| letter.is_alphanumeric());
    let letter: String = letters
        .next()
        .map_or_else(|| "?".into(), |letter| letter.to_uppercase().collect());
    Picture::of(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 40\"><rect width=\"40\" height=\"40\" rx=\"9\" fill=\"{color}\"/>\
         <text x=\"20\" y=\"27.5\" text-anchor=\"middle\" font-family=\"system-ui,sans-serif\" font-weight=\"600\" font-size=\"21\" \
         fill=\"#fff\">{letter}</text></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::tile;

    #[test]
    fn every_name_has_a_tile_with_its_first_letter() {
        for (name, letter) in [
            ("nas", ">N<"),
            ("\u{fc}ber", ">\u{dc}<"),
            ("<b>&", ">B<"),
            ("\"&<>", ">?<"),
            ("", ">?<"),
        ] {
            let picture = tile(name).expect("a picture");
            assert!(picture.is_svg());
            let text = std::str::from_utf8(picture.bytes()).expect("a text");
            assert!(text.contains(letter), "{name}: {text}");
        }
    }
}
