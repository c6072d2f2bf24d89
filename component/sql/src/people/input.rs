//! The bounds of the texts that come in.

use core::ops::RangeInclusive;

use portico_model::error::Error;
use portico_rules::{bounds, direction, rule::Rule};

use crate::transaction::Failure;

/// The name of a group or a key, trimmed.
pub fn label(field: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let problem = line_problem(text, bounds::LABEL).or_else(|| direction::problem(text));
    refuse_if(field, problem)?;
    Ok(text.to_owned())
}

/// The id that the dashboard gives to a new record.
pub fn given_id(id: &str) -> Result<(), Failure> {
    refuse_if("id", line_problem(id, bounds::GIVEN_ID))
}

/// What is wrong with a text on one line of such a length.
fn line_problem(text: &str, characters: RangeInclusive<usize>) -> Option<Rule> {
    let got = text.chars().count();
    if !characters.contains(&got) {
        let (least, most) = characters.into_inner();
        return Some(Rule::CharactersBetween { least, most, got });
    }
    text.chars()
        .any(char::is_control)
        .then_some(Rule::ControlCharacters)
}

/// Permissions in order, each once. The dashboard may have some of its own: the rules ignore them.
pub fn permissions(mut permissions: Vec<String>) -> Result<Vec<String>, Failure> {
    permissions.sort();
    permissions.dedup();
    let most = *bounds::ENTRIES.end();
    let got = permissions.len();
    let problem = if got > most {
        Some(Rule::TooManyEntries { most, got })
    } else {
        let (least, most) = bounds::LABEL.into_inner();
        let are_words = permissions
            .iter()
            .all(|name| line_problem(name, bounds::LABEL).is_none());
        (!are_words).then_some(Rule::EachOnOneLine { least, most })
    };
    refuse_if("permissions", problem)?;
    Ok(permissions)
}

pub fn refuse_if(field: &str, problem: Option<Rule>) -> Result<(), Failure> {
    match problem {
        None => Ok(()),
        Some(problem) => Err(Error::invalid_field(field, problem).into()),
    }
}
