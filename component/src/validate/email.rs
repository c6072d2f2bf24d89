//! Email addresses, in the form that HTML's email field accepts
//! (<https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address>), with non-ASCII
//! characters allowed wherever letters are.

use alloc::string::{String, ToString};

use portico_rules::bounds;
use portico_rules::rule::Rule;

use super::issues::Checked;
use super::text;

/// The most characters between two dots of a domain.
const LABEL_MAX: usize = 63;

/// An email address; `""` means none.
pub fn optional_email(value: &str) -> Checked<Option<String>> {
    let value = value.trim();
    if value.is_empty() {
        Ok(None)
    } else {
        email(value).map(Some)
    }
}

/// An email address.
pub fn email(value: &str) -> Checked<String> {
    let value = value.trim();
    text::length(value, bounds::EMAIL)?;
    let parts = value.split_once('@');
    if parts.is_some_and(|(local, domain)| is_local_part(local) && domain.split('.').all(is_label)) {
        Ok(value.to_string())
    } else {
        Err(Rule::NotEmail)
    }
}

fn is_local_part(part: &str) -> bool {
    let allowed = |character| is_letter_or_digit(character) || ".!#$%&'*+/=?^_`{|}~-".contains(character);
    !part.is_empty() && part.chars().all(allowed)
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_MAX).contains(&label.chars().count())
        && label
            .chars()
            .all(|character| is_letter_or_digit(character) || character == '-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_letter_or_digit(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric()
    } else {
        !character.is_control() && !character.is_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn what_the_email_field_accepts_is_accepted() {
        for accepted in [
            "a@b",
            "alice@example.com",
            "alice+tag@example.co.uk",
            "..@example.com",
            "!#$%&'*+/=?^_`{|}~-@example.com",
            "jürgen@müller.example",
            "用户@例子.广告",
            "🏠@example.com",
            "a@1.2.3.4",
            "a@a-b.c",
        ] {
            assert_eq!(email(accepted), Ok(accepted.into()));
        }
        assert_eq!(email("  alice@example.com\n"), Ok("alice@example.com".into()));
    }

    #[test]
    fn what_it_refuses_is_refused() {
        for refused in [
            "",
            "alice",
            "@",
            "@example.com",
            "alice@",
            "a@@b",
            "a@b@c",
            "a b@c",
            "a@b c",
            "a@-b",
            "a@b-",
            "a@b..c",
            "a@.b",
            "a@b.",
            "a@b_c",
            "\"a b\"@c",
            "a@[127.0.0.1]",
            "a,b@c",
            "a\0@b",
            "a@b\u{85}c",
            "a\u{a0}b@c",
            "Alice <a@b>",
            "a(b)@c",
        ] {
            assert!(email(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn an_address_and_its_labels_are_bounded() {
        assert!(email(&format!("{}@b", "a".repeat(252))).is_ok());
        assert!(email(&format!("{}@b", "ä".repeat(253))).is_err());
        assert!(email(&format!("a@{}", "b".repeat(63))).is_ok());
        assert!(email(&format!("a@{}", "b".repeat(64))).is_err());
    }

    #[test]
    fn an_optional_address_may_be_empty() {
        assert_eq!(optional_email(" "), Ok(None));
        assert_eq!(optional_email("a@b"), Ok(Some("a@b".into())));
        assert!(optional_email("a").is_err());
    }
}
