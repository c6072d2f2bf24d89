//! The report of `state.apply`: what applying a document did. The command line and the page of the desired state read
//! it with these types, and show it in their own words.

use std::{borrow::Cow, collections::HashSet};

use portico_model::Provider;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What applying a document did. Each record that exists afterwards is in `created`, `changed` or `unchanged`,
/// or is counted in `unnamed`.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Records that are new.
    pub created: Vec<ReportEntry>,
    /// Existing records that changed, whether or not the document names them.
    pub changed: Vec<ReportEntry>,
    pub removed: Vec<ReportEntry>,
    /// Records that the document names and that already matched it.
    pub unchanged: Vec<ReportEntry>,
    /// How many records the document does not name and did not change.
    pub unnamed: Unnamed,
    /// What the document states and gets though no new record could have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A field of the document that breaks a rule of new records.
#[derive(Serialize, Deserialize)]
pub struct Warning {
    /// The kind of record.
    pub kind: Cow<'static, str>,
    /// The record's name in the document.
    pub name: String,
    /// Which field.
    pub field: Cow<'static, str>,
    /// The rule.
    pub message: String,
}

/// Numbers of records by kind.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Unnamed {
    pub(crate) groups: usize,
    pub(crate) users: usize,
    pub(crate) apps: usize,
    pub(crate) search_engines: usize,
    pub(crate) boards: usize,
}

#[derive(Serialize, Deserialize)]
pub struct ReportEntry {
    /// `group`, `user`, `app`, `searchEngine`, `board` or `site`.
    pub kind: Cow<'static, str>,
    /// `None` for a record that a dry run would create.
    pub id: Option<String>,
    pub name: String,
    /// The provider of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Every field that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

#[derive(Serialize, Deserialize)]
pub struct Change {
    /// Which field, as documents name it.
    pub field: Cow<'static, str>,
    /// What it was, as in a document; for a long text only the beginning.
    pub before: Value,
    /// What it is now.
    pub after: Value,
}

impl Report {
    /// The records that were created (`+`), changed (`~`) and removed (`-`).
    pub fn parts(&self) -> [(&'static str, &[ReportEntry]); 3] {
        [("+", &self.created), ("~", &self.changed), ("-", &self.removed)]
    }

    /// Whether applying the document changes anything.
    pub fn differs(&self) -> bool {
        self.parts().iter().any(|(_, entries)| !entries.is_empty())
    }
}

impl Unnamed {
    /// The number of each kind, with the name of its list in a document.
    pub fn lists(&self) -> [(&'static str, usize); 5] {
        [
            ("groups", self.groups),
            ("users", self.users),
            ("apps", self.apps),
            ("searchEngines", self.search_engines),
            ("boards", self.boards),
        ]
    }
}

impl ReportEntry {
    /// Where a user signs in who has no password here.
    pub fn other_provider(&self) -> Option<&'static str> {
        match self.provider? {
            Provider::Credentials => None,
            Provider::Oidc => Some("oidc"),
            Provider::Ldap => Some("ldap"),
        }
    }
}

impl Change {
    /// For a list, the entries that are only in the new one and those that are only in the old one.
    pub fn entries(&self) -> Option<(Vec<&Value>, Vec<&Value>)> {
        let (Value::Array(old), Value::Array(new)) = (&self.before, &self.after) else {
            return None;
        };
        Some((only_in(new, old), only_in(old, new)))
    }
}

fn only_in<'a>(some: &'a [Value], others: &[Value]) -> Vec<&'a Value> {
    let others: HashSet<_> = others.iter().map(Value::to_string).collect();
    let some = some.iter();
    some.filter(|value| !others.contains(&value.to_string()))
        .collect()
}

/// At most this many characters of a text.
pub fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
