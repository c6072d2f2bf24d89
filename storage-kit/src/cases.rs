//! The cases as data.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_saphyr::options;

/// Every file of `cases/`. A test checks that none is missing.
pub(crate) const FILES: [(&str, &str); 8] = [
    ("apps", include_str!("../cases/apps.yaml")),
    ("boards", include_str!("../cases/boards.yaml")),
    ("ids", include_str!("../cases/ids.yaml")),
    ("invites", include_str!("../cases/invites.yaml")),
    ("names", include_str!("../cases/names.yaml")),
    ("passwords", include_str!("../cases/passwords.yaml")),
    ("transactions", include_str!("../cases/transactions.yaml")),
    ("users", include_str!("../cases/users.yaml")),
];

/// A rule, and the steps that show whether an implementation keeps it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of its file, without the extension.
    #[serde(skip)]
    pub file: &'static str,
    /// What is true if the rule is kept.
    pub name: String,
    /// The rule, in the words of `wit/`.
    pub rule: String,
    /// What must be true before the case begins; it is skipped otherwise.
    #[serde(default)]
    pub needs: Option<Need>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// What must be true before a case begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// There is no user.
    NoUsers,
    /// No user holds the permission `admin`.
    NoAdministrators,
}

/// One call and its expected answer.
#[derive(Clone, Debug)]
pub struct Step {
    /// The transaction; none for a call of the bridge.
    pub transaction: Option<String>,
    /// The function.
    pub call: String,
    /// Its arguments, before expansion.
    pub arguments: Value,
    /// The expected answer.
    pub expected: Expectation,
}

/// The expected answer of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// This value.
    Ok(Value),
    /// A list of exactly these, in any order.
    Unordered(Value),
    /// A list that includes these, in this order.
    Includes(Value),
    /// A number that is at least this.
    AtLeast(Value),
    /// This error; `"any"` is any error.
    Error(Value),
    /// Any value, but no error.
    Success,
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut members = Map::deserialize(deserializer)?;
        let mut text = |name: &str| match members.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(D::Error::custom(format!("`{name}` is no text: {other}"))),
        };
        let transaction = text("in")?;
        let call = text("call")?.ok_or_else(|| D::Error::missing_field("call"))?;
        let arguments = members
            .remove("arguments")
            .unwrap_or_else(|| Map::default().into());
        let mut expected = members.into_iter().map(|(name, value)| match &name[..] {
            "ok" => Ok(Expectation::Ok(value)),
            "unordered" => Ok(Expectation::Unordered(value)),
            "includes" => Ok(Expectation::Includes(value)),
            "at-least" => Ok(Expectation::AtLeast(value)),
            "error" => Ok(Expectation::Error(value)),
            other => Err(D::Error::custom(format!("`{other}` means nothing in a step"))),
        });
        let first = expected.next().unwrap_or(Ok(Expectation::Success))?;
        if expected.next().is_some() {
            return Err(D::Error::custom("a step expects one thing"));
        }
        Ok(Self {
            transaction,
            call,
            arguments,
            expected: first,
        })
    }
}

/// All cases, file by file, in the order in which they are written.
///
/// # Panics
///
/// If a file has not the form that README.md describes. A test reads them all.
pub fn all() -> Vec<Case> {
    let read = |(file, text): (&'static str, &str)| {
        let cases: Vec<Case> =
            match serde_saphyr::from_str_with_options(text, options! { strict_booleans: true }) {
                Ok(cases) => cases,
                Err(error) => panic!("cases/{file}.yaml: {error}"),
            };
        cases.into_iter().map(move |case| Case { file, ..case })
    };
    FILES.into_iter().flat_map(read).collect()
}
