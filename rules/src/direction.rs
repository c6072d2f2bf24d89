//! Characters that change the direction of the text around them, which new names and descriptions may not have: with
//! them a name can look like another one, and change how the words after it are shown.

use crate::rule::Rule;
use crate::sentences::CodePoint;

/// Whether a character begins or ends an embedding, an override or an isolate (Unicode's UAX #9).
///
/// The marks U+200E, U+200F and U+061C are not among them: they stand for a letter of one direction, and names in
/// Hebrew and Arabic need them.
pub fn changes_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is wrong with a new name or description.
pub fn problem(text: &str) -> Option<Rule> {
    let found = text.chars().find(|character| changes_direction(*character))?;
    Some(Rule::TurningCharacter {
        found: CodePoint(found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_overrides_and_isolates_are_refused_and_marks_stay() {
        let found: String = ('\0'..=char::MAX).filter(|one| changes_direction(*one)).collect();
        assert_eq!(
            found,
            "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
        );
        assert_eq!(problem("מדיה\u{200f} (NAS)\u{200e} \u{61c}١"), None);
        assert_eq!(
            problem("invoice\u{202e}gpj.exe"),
            Some(Rule::TurningCharacter {
                found: CodePoint('\u{202e}')
            })
        );
    }
}
