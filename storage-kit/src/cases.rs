//! The cases as data.

use serde_json::{Map, Value};
use serde_saphyr::options;

use crate::expand::numbered;

/// Every file of `cases/`. A test checks that none is missing.
pub(crate) const FILES: [(&str, &str); 11] = [
    ("apps", include_str!("../cases/apps.yaml")),
    ("boards", include_str!("../cases/boards.yaml")),
    ("disabled", include_str!("../cases/disabled.yaml")),
    ("ids", include_str!("../cases/ids.yaml")),
    ("invites", include_str!("../cases/invites.yaml")),
    ("large", include_str!("../cases/large.yaml")),
    ("names", include_str!("../cases/names.yaml")),
    ("passwords", include_str!("../cases/passwords.yaml")),
    ("transactions", include_str!("../cases/transactions.yaml")),
    ("users", include_str!("../cases/users.yaml")),
    ("views", include_str!("../cases/views.yaml")),
];

/// A rule, and the steps that show whether an implementation satisfies it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of its file, without the extension.
    pub file: &'static str,
    /// What is true if the rule is satisfied.
    pub name: String,
    /// The rule, in the words of `wit/`.
    pub rule: String,
    /// What must be true before the case begins; it is skipped otherwise.
    pub needs: Option<Need>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// What must be true before a case begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// There is no user.
    NoUsers,
    /// No user who is not disabled holds the permission `admin`.
    NoAdministrators,
    /// Storage can hold ids of any text.
    TextIds,
    /// The views of the apps depend on boards, as the bridge has stated.
    AppsByBoard,
    /// Every viewer sees all apps: the bridge has not stated otherwise.
    OneView,
}

impl Need {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "no-users" => Self::NoUsers,
            "no-administrators" => Self::NoAdministrators,
            "text-ids" => Self::TextIds,
            "apps-by-board" => Self::AppsByBoard,
            "one-view" => Self::OneView,
            _ => return None,
        })
    }
}

/// One call and its expected result.
#[derive(Clone, Debug)]
pub struct Step {
    /// The transaction; `None` for a call of the bridge.
    pub transaction: Option<String>,
    /// The function.
    pub call: String,
    /// Its arguments, before expansion.
    pub arguments: Value,
    /// The expected answer.
    pub expected: Expectation,
}

/// The expected result of a call.
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
    /// What one of these expects.
    OneOf(Vec<Expectation>),
    /// Any value, but not an error.
    Success,
}

impl Case {
    fn read(file: &'static str, value: Value) -> Result<Self, String> {
        let mut members = object(value)?;
        let steps = members.remove("steps");
        let (name, rule) = (text(&mut members, "name")?, text(&mut members, "rule")?);
        let needs = match text(&mut members, "needs")? {
            None => None,
            Some(name) => Some(Need::from_name(&name).ok_or(format!("there is no need `{name}`"))?),
        };
        if let Some(unknown) = members.keys().next() {
            return Err(format!("`{unknown}` means nothing in a case"));
        }
        let name = name.ok_or("a case has no `name`")?;
        let Some(Value::Array(steps)) = steps else {
            return Err(format!("{name}: no list of `steps`"));
        };
        let steps: Result<_, _> = steps.iter().flat_map(repeated).map(Step::read).collect();
        Ok(Self {
            file,
            rule: rule.ok_or(format!("{name}: no `rule`"))?,
            needs,
            steps: steps.map_err(|error| format!("{name}: {error}"))?,
            name,
        })
    }
}

impl Step {
    fn read(value: Value) -> Result<Self, String> {
        let mut members = object(value)?;
        let transaction = text(&mut members, "in")?;
        let call = text(&mut members, "call")?.ok_or("a step has no `call`")?;
        let arguments = members
            .remove("arguments")
            .unwrap_or_else(|| Map::default().into());
        Ok(Self {
            transaction,
            call,
            arguments,
            expected: Expectation::read(members)?,
        })
    }
}

impl Expectation {
    /// From the members of a step that are left.
    fn read(members: Map<String, Value>) -> Result<Self, String> {
        let mut members = members.into_iter();
        let Some((name, value)) = members.next() else {
            return Ok(Self::Success);
        };
        if members.next().is_some() {
            return Err("a step expects one thing".into());
        }
        Ok(match (&name[..], value) {
            ("ok", value) => Self::Ok(value),
            ("unordered", value) => Self::Unordered(value),
            ("includes", value) => Self::Includes(value),
            ("at-least", value) => Self::AtLeast(value),
            ("error", value) => Self::Error(value),
            ("one-of", Value::Array(each)) => {
                let each = each.into_iter().map(|one| Self::read(object(one)?));
                Self::OneOf(each.collect::<Result<_, _>>()?)
            }
            (other, _) => return Err(format!("`{other}` means nothing in a step")),
        })
    }
}

/// This step, or as many as its `$repeat` says.
fn repeated(step: &Value) -> Vec<Value> {
    match (step["$repeat"].as_u64(), step.get("of")) {
        (Some(times), Some(of)) => (0..times).map(|index| numbered(of, index)).collect(),
        _ => vec![step.clone()],
    }
}

fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(format!("this is no object: {other}")),
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}` is no text: {other}")),
    }
}

/// All cases, file by file, in the order in which they are written.
///
/// # Panics
///
/// If a file does not have the form that README.md describes. A test reads them all.
pub fn all() -> Vec<Case> {
    let read = |(file, text): (&'static str, &str)| {
        let values: Vec<Value> =
            match serde_saphyr::from_str_with_options(text, options! { strict_booleans: true }) {
                Ok(values) => values,
                Err(error) => panic!("cases/{file}.yaml: {error}"),
            };
        values
            .into_iter()
            .map(move |value| match Case::read(file, value) {
                Ok(case) => case,
                Err(error) => panic!("cases/{file}.yaml: {error}"),
            })
    };
    FILES.into_iter().flat_map(read).collect()
}
