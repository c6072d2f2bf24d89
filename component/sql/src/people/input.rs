//! The bounds of the texts that come in.

use portico_model::error::Error;
use portico_rules::{bounds, direction, rule::Rule};

use crate::transaction::Failure;

/// The name of a group or a key, trimmed.
pub fn label(field: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let length = text.chars().count();
    let problem = if !bounds::LABEL.contains(&length) {
        let (least, most) = bounds::LABEL.into_inner();
        Some(Rule::CharactersBetween {
            least,
            most,
            got: length,
        })
    } else if text.chars().any(char::is_control) {
        Some(Rule::ControlCharacters)
    } else {
        direction::problem(text)
    };
    refuse_if(field, problem.map(String::from))?;
    Ok(text.to_owned())
}

/// The id that the dashboard gives to a new record.
pub fn given_id(id: &str) -> Result<(), Failure> {
    let length = id.chars().count();
    let (least, most) = bounds::GIVEN_ID.into_inner();
    let is_fit = (least..=most).contains(&length) && !id.chars().any(char::is_control);
    let problem = format!("must have {least} to {most} characters on one line");
    refuse_if("id", (!is_fit).then_some(problem))
}

/// Permissions in order, each once. The dashboard may have some of its own: the rules ignore them.
pub fn permissions(mut permissions: Vec<String>) -> Result<Vec<String>, Failure> {
    permissions.sort();
    permissions.dedup();
    let most = *bounds::ENTRIES.end();
    let is_word =
        |name: &String| bounds::LABEL.contains(&name.chars().count()) && !name.chars().any(char::is_control);
    let (least, longest) = bounds::LABEL.into_inner();
    let problem = if permissions.len() > most {
        Some(format!(
            "must have at most {most} entries, got {}",
            permissions.len()
        ))
    } else {
        let are_words = permissions.iter().all(is_word);
        (!are_words).then(|| format!("must each have {least} to {longest} characters on one line"))
    };
    refuse_if("permissions", problem)?;
    Ok(permissions)
}

pub fn refuse_if(field: &str, problem: Option<String>) -> Result<(), Failure> {
    match problem {
        None => Ok(()),
        Some(problem) => Err(Error::invalid_field(field, problem).into()),
    }
}
