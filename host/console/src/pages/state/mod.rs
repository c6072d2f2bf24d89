//! `/state`: the configuration. People paste or upload a document, see the difference, and then apply it; the second
//! form carries the document of the first.

mod difference;

use askama::Template;
use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use portico_rules::refusal::Refusal;
use portico_service::{report::Report, table::parts_of_document};
use serde_json::{Map, Value};

use self::difference::{Difference, Section};
use super::PageResult;
use crate::{
    Documents,
    api::{ApiError, Issue},
    fields::DOCUMENT,
    form::{Form, Problems},
    respond::page,
    texts::Texts,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/state", get(show).post(send))
        .route("/state/export.json", get(export))
}

/// How many broken rules of a document are listed.
const MOST_ISSUES: usize = 20;

#[derive(Template)]
#[template(path = "state/state.html")]
struct StatePage<'a> {
    v: &'a Visit,
    document: &'a str,
    prune: bool,
    problems: Problems,
}

impl StatePage<'_> {
    fn hint(&self) -> &'static str {
        let t = &self.v.t.state;
        match self.v.console.documents {
            Some(_) => t.document_hint,
            None => t.json_hint,
        }
    }
}

#[derive(Template)]
#[template(path = "state/difference.html")]
struct DifferencePage<'a> {
    v: &'a Visit,
    document: &'a str,
    prune: bool,
    /// The places of keys that nothing reads, at most [`MOST_ISSUES`] of them.
    unknown_keys: Vec<String>,
    more_unknown_keys: usize,
    difference: Difference,
}

impl DifferencePage<'_> {
    /// The heading of a part: `3 records are created`.
    fn heading(&self, section: &Section) -> String {
        let (t, is_done) = (&self.v.t.state, !self.difference.dry_run);
        let text = match (section.sign, is_done) {
            ("+", false) => t.created,
            ("+", true) => t.was_created,
            ("~", false) => t.changed,
            ("~", true) => t.was_changed,
            (_, false) => t.removed,
            (_, true) => t.was_removed,
        };
        self.v.count(text, &section.total)
    }

    fn removes(&self) -> bool {
        self.difference.dry_run && self.difference.removes()
    }
}

async fn show(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    Ok(page(&StatePage {
        v: &visit,
        document: "",
        prune: false,
        problems: Problems::default(),
    }))
}

async fn send(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let form = visit.form_with(&DOCUMENT, request).await?;
    let (prune, is_edited, dry_run) = (
        form.is_ticked("prune"),
        form.text("section") == "edit",
        form.text("section") != "apply",
    );
    let (reader, t) = (visit.console.documents, visit.t);
    let read = move || match text_of(t, &form) {
        Err(problem) => (String::new(), Err(problem)),
        Ok(text) if is_edited => (text, Ok(None)),
        Ok(text) => {
            let read = read(&text, reader, t, prune, dry_run);
            (text, read.map(Some))
        }
    };
    let (text, read) = visit.api.compute(read).await?;
    let (input, mut unknown_keys) = match read {
        Ok(Some(read)) => read,
        Ok(None) => return show_document(&visit, StatusCode::OK, text, prune, Problems::default()).await,
        Err(problem) => {
            let mut problems = Problems::default();
            problems.add("document", problem);
            return show_document(&visit, StatusCode::UNPROCESSABLE_ENTITY, text, prune, problems).await;
        }
    };
    match visit.api.mutate_text::<Report>("state.apply", input).await {
        Ok(report) => {
            let v = visit.clone();
            let write = move || {
                let more_unknown_keys = unknown_keys.len().saturating_sub(MOST_ISSUES);
                unknown_keys.truncate(MOST_ISSUES);
                let page = DifferencePage {
                    v: &v,
                    document: if dry_run { &text } else { "" },
                    prune,
                    unknown_keys,
                    more_unknown_keys,
                    difference: Difference::of(&report, t),
                };
                page.render()
            };
            Ok(visit.long_page_of_change(write).await)
        }
        Err(error) if error.is_of_input() => {
            let problems = broken_rules(&visit, &error);
            show_document(&visit, StatusCode::UNPROCESSABLE_ENTITY, text, prune, problems).await
        }
        Err(error) => Err(error),
    }
}

/// The form with a document.
async fn show_document(
    visit: &Visitor,
    status: StatusCode,
    document: String,
    prune: bool,
    problems: Problems,
) -> PageResult {
    let v = visit.clone();
    let write = move || {
        let page = StatePage {
            v: &v,
            document: &document,
            prune,
            problems,
        };
        page.render()
    };
    visit.long_page(status, write).await
}

/// The document that was sent: the file if there is one, otherwise the text.
fn text_of(t: &Texts, form: &Form) -> Result<String, String> {
    match form.file("file") {
        Some(file) => String::from_utf8(file.to_vec()).map_err(|_| t.state.not_text.into()),
        None => form
            .optional("document")
            .map(str::to_owned)
            .ok_or_else(|| t.state.missing.into()),
    }
}

/// The input of `state.apply` for a document, and the places of keys that nothing reads; or what is wrong with the
/// document.
fn read(
    text: &str,
    documents: Option<Documents>,
    t: &Texts,
    prune: bool,
    dry_run: bool,
) -> Result<(String, Vec<String>), String> {
    let read = match documents {
        Some(documents) => (documents.read)(text),
        None => serde_json::from_str(text).map_err(|error| error.to_string()),
    };
    let document = read.map_err(|reason| crate::texts::fill(t.state.unreadable, &[&reason]))?;
    let is_document =
        |document: &Map<String, Value>| parts_of_document().any(|part| document.contains_key(part));
    match document {
        Value::Object(mut document) if is_document(&document) => {
            let unknown_keys = documents.map(|documents| (documents.unknown_keys)(&document));
            // Like the options of `portico apply`: a box that is not ticked changes nothing in the document.
            if prune {
                document.insert("prune".into(), true.into());
            }
            document.insert("dryRun".into(), dry_run.into());
            let input = Value::Object(document).to_string();
            Ok((input, unknown_keys.unwrap_or_default()))
        }
        _ => Err(crate::texts::fill(
            t.state.no_document,
            &[&parts_of_document().collect::<Vec<_>>().join(", ")],
        )),
    }
}

/// The rules that a document breaks, each with its place.
fn broken_rules(visit: &Visit, error: &ApiError) -> Problems {
    let mut problems = Problems::default();
    if error.issues.is_empty() {
        problems.add_to_whole(visit.say(&error.message));
        return problems;
    }
    problems.add("document", visit.t.state.breaks_rules);
    for issue in error.issues.iter().take(MOST_ISSUES) {
        problems.add_to_whole(format!("{}: {}", place(issue), visit.say(&issue.message)));
    }
    if error.issues.len() > MOST_ISSUES {
        let more = error.issues.len() - MOST_ISSUES;
        problems.add_to_whole(visit.fill(visit.t.state.more_rules, more));
    }
    problems
}

/// `apps[3].href`.
fn place(issue: &Issue) -> String {
    let mut place = String::new();
    for step in &issue.path {
        match step {
            Value::String(name) if place.is_empty() => place.push_str(name),
            Value::String(name) => place.push_str(&format!(".{name}")),
            index => place.push_str(&format!("[{index}]")),
        }
    }
    place
}

async fn export(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    let state: Value = visit.api.query("state.export", Value::Null).await?;
    let text = visit
        .api
        .compute(move || serde_json::to_string_pretty(&state))
        .await?;
    let Ok(text) = text else {
        return Err(Refusal::Internal.into());
    };
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"portico-state.json\"",
        ),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok((headers, text + "\n").into_response())
}
