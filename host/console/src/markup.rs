//! Pieces of pages that are more than escaped text.

use std::fmt;

use askama::filters::{Escaper as _, Html};

use crate::{assets, form::TOKEN};

/// A sentence with a name, which is isolated: one that is written in the other direction does not turn the words around
/// it.
pub(crate) struct Sentence<'a> {
    pub text: &'a str,
    pub name: &'a str,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.text.split_once("{}").unwrap_or((self.text, ""));
        Html.write_escaped_str(&mut *formatter, before)?;
        formatter.write_str("<bdi>")?;
        Html.write_escaped_str(&mut *formatter, self.name)?;
        formatter.write_str("</bdi>")?;
        Html.write_escaped_str(formatter, after)
    }
}

/// It escapes its texts.
impl askama::filters::HtmlSafe for Sentence<'_> {}

/// A drawing, which says only what a word next to it also says.
pub(crate) struct Glyph(pub &'static str);

impl fmt::Display for Glyph {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, name) = (assets::path("glyphs.svg"), self.0);
        write!(
            formatter,
            r##"<svg class="glyph" aria-hidden="true"><use href="{file}#{name}"/></svg>"##
        )
    }
}

/// File and name are the console's own.
impl askama::filters::HtmlSafe for Glyph {}

/// The form's token as a hidden field.
pub(crate) struct HiddenToken(pub String);

impl fmt::Display for HiddenToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            r#"<input type="hidden" name="{TOKEN}" value="{}">"#,
            self.0
        )
    }
}

/// It consists of hexadecimal digits.
impl askama::filters::HtmlSafe for HiddenToken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_sentence_is_isolated_and_escaped() {
        let sentence = |name| Sentence {
            text: "Delete “{}”?",
            name,
        };
        assert_eq!(sentence("מדיה").to_string(), "Delete “<bdi>מדיה</bdi>”?");
        assert_eq!(
            sentence("<b>{}").to_string(),
            "Delete “<bdi>&#60;b&#62;{}</bdi>”?"
        );
    }
}
