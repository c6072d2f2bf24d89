//! Two people, or two tabs, change one record. A form carries fingerprints of what was read, so that saving changes only
//! the fields that were edited, and a field that both changed is shown instead of being overwritten.
//!
//! It does not notice a change within the milliseconds between its look and the update.

use askama::filters::HtmlSafe;
use sha2::{Digest, Sha256};

use crate::{
    form::{Form, Problems},
    texts::fill,
    visit::Visit,
};

/// What was read of the fields of a record, as fingerprints; on a page, its hidden fields.
#[derive(Default)]
pub(crate) struct WasRead(Vec<(&'static str, String)>);

impl WasRead {
    pub fn of(fields: &[(&'static str, &str)]) -> Self {
        let prints = fields.iter().map(|(name, text)| (*name, fingerprint(text)));
        Self(prints.collect())
    }

    /// The same, as a form carries it.
    pub fn kept(form: &Form, fields: &[&'static str]) -> Self {
        let prints = fields.iter().map(|name| (*name, carried(form, name).to_owned()));
        Self(prints.filter(|(_, print)| is_print(print)).collect())
    }
}

impl std::fmt::Display for WasRead {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, print) in &self.0 {
            write!(
                formatter,
                r#"<input type="hidden" name="was-{name}" value="{print}">"#
            )?;
        }
        Ok(())
    }
}

/// Names are the console's own, and fingerprints are hexadecimal digits.
impl HtmlSafe for WasRead {}

/// What was typed, merged with what is stored by now.
pub(crate) struct Merged {
    /// Name, text to store, and whether it was edited.
    fields: Vec<(&'static str, String, bool)>,
    /// What to carry if the form is shown again: then saving replaces what has been shown.
    pub read: WasRead,
    pub problems: Problems,
}

impl Merged {
    /// `fields` are name, stored text and typed text.
    pub fn of(visit: &Visit, form: &Form, fields: &[(&'static str, &str, &str)]) -> Self {
        Self::in_words(visit, form, fields, |_, stored| stored.to_owned())
    }

    /// The same for choices: `words` says what people read of a field's stored text.
    pub fn in_words(
        visit: &Visit,
        form: &Form,
        fields: &[(&'static str, &str, &str)],
        words: impl Fn(&str, &str) -> String,
    ) -> Self {
        let mut merged = Self {
            fields: Vec::new(),
            read: WasRead::default(),
            problems: Problems::default(),
        };
        for (name, stored, typed) in fields {
            let (now, wanted) = (fingerprint(stored), fingerprint(typed));
            let was = Some(carried(form, name)).filter(|print| is_print(print));
            let was = was.unwrap_or(&now);
            let is_edited = wanted != was && wanted != now;
            if is_edited && now != was {
                let message = fill(visit.t.errors.changed_meanwhile, &[&short(&words(name, stored))]);
                merged.problems.add(name, message);
            }
            let text = if is_edited { *typed } else { *stored };
            merged.fields.push((*name, text.to_owned(), is_edited));
            // A field that was not edited is shown again as it was typed, so it is not one that was read now.
            merged.read.0.push((*name, if is_edited { now } else { wanted }));
        }
        merged
    }

    /// The text to store.
    pub fn text(&self, field: &str) -> &str {
        let found = self.fields.iter().find(|(name, ..)| *name == field);
        found.map_or("", |(_, text, _)| text)
    }

    /// The texts to store, by field.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.fields.iter().map(|(name, text, _)| (*name, &**text))
    }

    /// The text to store; `None` if it is empty.
    pub fn optional(&self, field: &str) -> Option<&str> {
        Some(self.text(field)).filter(|text| !text.is_empty())
    }

    pub fn is_edited(&self, field: &str) -> bool {
        self.fields
            .iter()
            .any(|(name, _, is_edited)| *name == field && *is_edited)
    }

    pub fn are_edited(&self) -> bool {
        self.fields.iter().any(|(.., is_edited)| *is_edited)
    }
}

fn carried<'a>(form: &'a Form, field: &str) -> &'a str {
    form.text(&format!("was-{field}"))
}

fn is_print(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A text as a form sends it back has other ends of lines, and white space around it does not count.
pub(crate) fn fingerprint(text: &str) -> String {
    let hash = Sha256::digest(text.replace("\r\n", "\n").trim());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of a text, for a sentence.
fn short(text: &str) -> String {
    const MOST: usize = 80;
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(MOST).collect();
    match (start.is_empty(), letters.next()) {
        (true, _) => "\u{2013}".into(),
        (false, None) => start,
        (false, Some(_)) => format!("{start}\u{2026}"),
    }
}
