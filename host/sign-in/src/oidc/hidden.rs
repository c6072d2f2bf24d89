//! What is sent to the token endpoint, and does not get into the log if the endpoint repeats it.
//!
//! Invariant: a text is searched for it before the text is shortened or escaped, so that no part of it is left.

use super::quoted;

/// Texts that are left out of what is logged.
pub(super) struct Hidden<'a>(Vec<&'a str>);

impl<'a> Hidden<'a> {
    /// First the longest: a browser chooses the code, which could be a part of the secret.
    pub fn new(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(texts)
    }

    /// The text without them.
    pub fn cover(&self, text: &str) -> String {
        let text = text.to_owned();
        self.0.iter().fold(text, |text, hidden| text.replace(hidden, "…"))
    }

    /// The text without them, quoted for the log.
    pub fn quoted(&self, text: &str) -> String {
        quoted(&self.cover(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_what_is_hidden_however_long_it_is_and_whatever_it_has() {
        let long = "c0de".repeat(1000);
        let odd = "a\"b\\c";
        let hidden = Hidden::new(["", &long, odd, "a secret of the client", "secret"]);
        let text = format!("{} {long} {odd} a secret of the client", "x".repeat(190));
        let quoted = hidden.quoted(&text);
        assert!(!quoted.contains("c0de") && !quoted.contains("client"), "{quoted}");
        assert_eq!(hidden.cover(&text), format!("{} … … …", "x".repeat(190)));
        assert_eq!(hidden.cover("no secret"), "no …");
    }
}
