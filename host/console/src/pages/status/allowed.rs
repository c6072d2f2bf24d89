//! Which hosts in private networks are checked: administrators change it where they see what is not.

use axum::{extract::Request, http::StatusCode};
use serde_json::json;

use super::{super::PageResult, show};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    fields::Fields,
    form::Problems,
    respond::see,
    visit::{Visit, Visitor},
};

const FIELD: &str = "pingAllow";

/// A hundred entries, each of which may be as long as a name in DNS.
static HOSTS: Fields = Fields::long(&[(FIELD, 100 * 256)]);

/// The form that changes it.
pub(super) struct AllowedHosts {
    /// The entries, one on each line.
    pub text: String,
    /// What the host allows, whatever is stored; `None` if what is stored counts.
    pub fixed: Option<Vec<String>>,
    pub problems: Problems,
    pub read: WasRead,
}

impl AllowedHosts {
    /// What is stored, for administrators.
    pub fn of(visit: &Visit) -> Option<Self> {
        let text = visit.looks().ping_allow.as_ref()?.join("\n");
        Some(Self {
            read: WasRead::of(&[(FIELD, &text)]),
            text,
            fixed: visit.looks().fixed_ping_allow.clone(),
            problems: Problems::default(),
        })
    }

    /// Whether the form is open: it was refused, or nothing is allowed yet.
    pub fn is_open(&self) -> bool {
        !self.problems.is_empty() || (self.text.is_empty() && self.fixed.is_none())
    }
}

pub(super) async fn save(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form_with(&HOSTS, request).await?;
    let is_end = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';');
    let typed = form.text(FIELD).split(is_end).filter(|entry| !entry.is_empty());
    let typed: Vec<_> = typed.collect();
    let (stored, text) = (AllowedHosts::of(&visit), typed.join("\n"));
    let now = stored.map(|stored| stored.text).unwrap_or_default();
    let merged = Merged::of(&visit, &form, &[(FIELD, &now, &text)]);
    let problems = match merged.problems.is_empty() {
        false => merged.problems,
        true if !merged.are_edited() => return Ok(see("/status?note=saved")),
        true => match visit.api.change("site.update", json!({ FIELD: typed })).await {
            Ok(()) => return Ok(see("/status?note=saved")),
            Err(error) if error.is_of_input() => problems_of(&visit, &error, &typed),
            Err(error) => return Err(error),
        },
    };
    let again = AllowedHosts {
        text,
        fixed: visit.looks().fixed_ping_allow.clone(),
        problems,
        read: merged.read,
    };
    show(visit, 1, StatusCode::UNPROCESSABLE_ENTITY, Some(again)).await
}

/// What is wrong, with the entry that it is wrong with.
fn problems_of(visit: &Visit, error: &ApiError, typed: &[&str]) -> Problems {
    let mut problems = Problems::of(error, &[FIELD], |text| visit.say(text));
    let entry = error.issues.iter().find_map(|issue| {
        let index = issue.path.get(1)?.as_u64()?;
        Some((typed.get(usize::try_from(index).ok()?)?, &issue.message))
    });
    if let Some((entry, message)) = entry {
        problems.add(FIELD, format!("{entry}: {}", visit.say(message)));
    }
    problems
}
