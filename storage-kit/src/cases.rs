//! The cases as they are written.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_saphyr::options;

/// Every file of `cases/`; a test holds that these are all.
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

/// Steps that show whether an implementation keeps a rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The file that it stands in, without its ending.
    #[serde(skip)]
    pub file: &'static str,
    /// What is so where the rule is kept.
    pub name: String,
    /// The rule, in the words of `wit/`.
    pub rule: String,
    /// What must be so for the case to mean anything.
    #[serde(default)]
    pub needs: Option<Need>,
    /// What to do, in order.
    pub steps: Vec<Step>,
}

/// What must be so before a case begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// There is no user.
    NoUsers,
    /// No user holds the permission `admin`.
    NoAdministrators,
}

/// One call, and what is expected of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The transaction; none for a call of the bridge's own.
    pub transaction: Option<String>,
    /// The function.
    pub call: String,
    /// Its arguments, with whatever stands for something else in them.
    pub arguments: Value,
    /// What is expected.
    pub expected: Expectation,
}

/// What a call must answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// Exactly this.
    Ok(Value),
    /// A list of these, in any order.
    Unordered(Value),
    /// A list with these in it, in this order.
    Includes(Value),
    /// A number, at least this one.
    AtLeast(Value),
    /// Exactly this error; `"any"`: some error.
    Error(Value),
    /// No error.
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

/// All cases, by file, in the order written.
///
/// # Panics
///
/// If a file is not written as README.md says. A test reads them all.
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
