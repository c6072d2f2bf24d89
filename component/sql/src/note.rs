//! The note about a call: `caller.context`, which `wit/people.wit` describes.

use std::sync::Arc;

use portico_storage::{Authentication, CallContext, NewToken, SecretHash};

use crate::environment;

/// Who calls, and in which session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// `None` for the operator, and for anonymous callers.
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    /// The hash of the token that the session gets if the call sets its user's password.
    pub next_token: Option<SecretHash>,
}

impl Note {
    /// As a text.
    pub fn write(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        let user_id = self.user_id.as_deref().unwrap_or_default();
        let session_id = self.session_id.as_deref().unwrap_or_default();
        let next_token = self.next_token.iter().flatten();
        let next_token: String = next_token.map(|byte| format!("{byte:02x}")).collect();
        format!("{session_id}\n{next_token}\n{user_id}")
    }

    /// Reads the text. `None` if it is another one.
    pub fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let mut lines = text.splitn(3, '\n');
        let (session_id, next_token, user_id) = (lines.next()?, lines.next()?, lines.next()?);
        let next_token = match next_token {
            "" => None,
            digits => Some(hash(digits)?),
        };
        Some(Self {
            user_id: (!user_id.is_empty()).then(|| user_id.to_owned()),
            session_id: (!session_id.is_empty()).then(|| session_id.to_owned()),
            next_token,
        })
    }

    /// What `portico-sql` needs to know of the call.
    pub fn context(self) -> CallContext {
        let authentication = match (&self.user_id, self.session_id) {
            (_, Some(session_id)) => Authentication::Session(session_id),
            (Some(_), None) => Authentication::Host,
            (None, None) => Authentication::Operator,
        };
        let new_token = self
            .next_token
            .map(|hash| Arc::new(NewToken::issued_before(environment::secrets(), hash)));
        CallContext {
            views_by_shares: false,
            user_id: self.user_id,
            authentication,
            request_id: "".into(),
            audit: None,
            new_token,
        }
    }
}

/// The hash with these hexadecimal digits.
fn hash(digits: &str) -> Option<SecretHash> {
    let digits = digits.as_bytes();
    let mut hash = SecretHash::default();
    if digits.len() != 2 * hash.len() {
        return None;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let user = |id: &str| Note {
            user_id: Some(id.into()),
            ..Note::default()
        };
        let notes = [
            Note::default(),
            user("u"),
            user("two\nlines\n"),
            Note {
                session_id: Some("s".into()),
                next_token: Some(portico_storage::hash_secret("token")),
                ..user("u")
            },
        ];
        for note in notes {
            assert_eq!(Note::read(&note.write()), Some(note));
        }
    }

    #[test]
    fn a_text_that_is_no_note_is_refused() {
        let long = format!("s\n{}\nu", "0".repeat(65));
        let wrong = format!("s\n{}\nu", "g".repeat(64));
        for text in ["u", "s\nu", "s\nab\nu", &long, &wrong, "\n"] {
            assert_eq!(Note::read(text), None, "{text}");
        }
    }
}
