//! How large a form may be: what its fields may hold, as browsers send it.

use std::ops::RangeInclusive;

use portico_rules::bounds;

/// The most characters of a field that is not among a form's long ones: the longest name.
const LINE: usize = *bounds::USERNAME.end();

/// The bytes of a character, as browsers encode a form: those of a letter that is not Latin. Few texts need more.
const ENCODED: usize = 6;

/// Everything that people do not type, such as the token, ids and buttons, in bytes.
const FRAME: usize = 4 << 10;

/// Forms up to this size differ in nothing that matters.
const SMALL: usize = 64 << 10;

/// Larger bounds are rounded up to a multiple of this.
const STEP: usize = 128 << 10;

/// The most fields in a form: items of a board, and what surrounds them.
pub(crate) const MOST_FIELDS: usize = 5_000;

/// The fields of a form that may hold more than a line.
pub(crate) struct Fields {
    /// Their names, and the most characters of each.
    long: &'static [(&'static str, usize)],
    /// The bytes of all other content, such as files.
    more: usize,
}

/// A form of lines: names, passwords, choices.
pub(crate) static LINES: Fields = Fields { long: &[], more: 0 };

/// An app or a search engine, with the search for its icon, or a picture.
pub(crate) static WITH_ICON: Fields = Fields {
    long: &[
        ("description", most(&bounds::DESCRIPTION)),
        ("href", most(&bounds::LINK)),
        ("pingUrl", most(&bounds::LINK)),
        ("urlTemplate", 2_048),
        ("iconUrl", most(&bounds::ICON_URL)),
        ("icon-choice", 2_048),
    ],
    more: bounds::PICTURE_BYTES,
};

/// A passkey, as a script writes it.
pub(crate) static WITH_PASSKEY: Fields = Fields {
    long: &[("credential", 8_192)],
    more: 0,
};

/// What the gate knows of an app: at most 20 addresses.
pub(crate) static GATE: Fields = Fields {
    long: &[("addresses", 20 * (*bounds::GATE_ADDRESS.end() + 1))],
    more: 0,
};

/// What is on a board: items with their ids, and all its notes.
pub(crate) static BOARD: Fields = Fields {
    long: &[],
    more: MOST_FIELDS * 400 + (128 << 10) * ENCODED,
};

/// A list of apps, pasted or as a file: bookmarks of browsers have the icons of their pages in them.
pub(crate) static APP_LIST: Fields = Fields::with((8 << 20) - FRAME);

/// A configuration document, which may be as large as the largest input of a procedure.
pub(crate) static DOCUMENT: Fields = Fields::with((16 << 20) - FRAME);

impl Fields {
    /// A form that may hold this many bytes in addition to lines.
    pub const fn with(more: usize) -> Self {
        Self { long: &[], more }
    }

    /// A form in which these fields may hold more than a line.
    pub const fn long(long: &'static [(&'static str, usize)]) -> Self {
        Self { long, more: 0 }
    }

    /// The most bytes of the form.
    pub const fn largest(&self) -> usize {
        let (mut bytes, mut field) = (FRAME + self.more, 0);
        while field < self.long.len() {
            bytes += self.long[field].1 * ENCODED;
            field += 1;
        }
        match bytes {
            ..=SMALL => SMALL,
            _ => bytes.div_ceil(STEP) * STEP,
        }
    }

    /// Whether a text has more characters than this field may hold, without the white space around it and the carriage
    /// returns that browsers add.
    pub fn are_exceeded(&self, field: &str, text: &str) -> bool {
        let mut long = self.long.iter();
        let most = long
            .find(|(name, _)| *name == field)
            .map_or(LINE, |(_, most)| *most);
        let letters = || text.trim().chars().filter(|letter| *letter != '\r');
        text.len() > most && letters().nth(most).is_some()
    }
}

const fn most(length: &RangeInclusive<usize>) -> usize {
    *length.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_forms_come_from_their_fields() {
        let sizes = [&LINES, &WITH_ICON, &BOARD, &APP_LIST, &DOCUMENT].map(|fields| fields.largest() >> 10);
        assert_eq!(sizes, [64, 1536, 2816, 8192, 16_384]);
        assert_eq!(Fields::with(262_000).largest() >> 10, 384);
    }

    #[test]
    fn a_text_is_measured_as_the_api_measures_it() {
        let line = "ä".repeat(LINE);
        for (field, text, is_too_long) in [
            ("name", line.clone(), false),
            ("name", format!(" {line}\r\n"), false),
            ("name", format!("{line}x"), true),
            ("description", format!("{}\r\n", "x\r\n".repeat(256)), false),
            ("description", "x\r\n".repeat(257), true),
        ] {
            assert_eq!(WITH_ICON.are_exceeded(field, &text), is_too_long, "{text:?}");
        }
    }
}
