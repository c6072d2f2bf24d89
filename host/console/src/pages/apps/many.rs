//! `/apps/many`: apps from a pasted list, all of them or none. First they are shown as a table; nothing is made before.

use std::collections::HashMap;

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use portico_rules::{bounds, direction, icons, rule::Rule};
use serde_json::{Value, json};

use super::{
    super::PageResult,
    bookmarks,
    table::{self, MOST_APPS, Row, Table},
};
use crate::{
    api::{ApiError, Issue},
    fields::APP_LIST,
    form::Form,
    links::{self, Advice, complete},
    respond::{again, page, see},
    texts::fill,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/apps/many", get(show).post(create))
}

/// What a list is read as.
#[derive(Default)]
struct Draft {
    list: String,
    table: Table,
    /// What is wrong with the list as a whole.
    problems: Vec<String>,
    /// What is wrong with a row, by its place.
    by_row: HashMap<usize, Vec<String>>,
}

impl Draft {
    fn is_wrong(&self) -> bool {
        !self.problems.is_empty() || !self.by_row.is_empty()
    }

    fn of_row(&self, place: &usize) -> &[String] {
        self.by_row.get(place).map_or(&[], Vec::as_slice)
    }

    /// Whether the tile of a row will not open its link.
    fn is_not_opened(&self, row: &Row) -> bool {
        Advice::of(row.text("href")) == Some(Advice::NotOpened)
    }
}

#[derive(Template)]
#[template(path = "apps/many.html")]
struct ManyPage {
    v: Visitor,
    draft: Draft,
}

async fn show(visit: Visitor) -> PageResult {
    visit.permitted("app-create")?;
    Ok(page(&ManyPage {
        v: visit.clone(),
        draft: Draft::default(),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("app-create")?;
    let form = visit.form_with(&APP_LIST, request).await?;
    let is_wanted = form.text("do") == "add";
    let reader = visit.clone();
    let mut draft = visit
        .api
        .compute(move || match list_of(&reader, &form) {
            Ok(list) => read(&reader, list),
            Err(problem) => Draft {
                list: form.text("list").to_owned(),
                problems: vec![problem],
                ..Draft::default()
            },
        })
        .await?;
    if draft.table.count > MOST_APPS {
        // A list of more lines than the field may hold is not shown again.
        let problem = fill(visit.t.apps.list_too_long, &[&MOST_APPS, &draft.table.count]);
        let draft = Draft {
            problems: vec![problem],
            ..Draft::default()
        };
        return Ok(again(&ManyPage { v: visit, draft }));
    }
    if is_wanted && !draft.is_wrong() {
        create_all(&visit, &mut draft).await?;
        if !draft.is_wrong() {
            return Ok(see("/apps?note=created"));
        }
    }
    let status = match draft.is_wrong() {
        true => StatusCode::UNPROCESSABLE_ENTITY,
        false => StatusCode::OK,
    };
    let v = visit.clone();
    visit
        .long_page(status, move || ManyPage { v, draft }.render())
        .await
}

/// The list that was sent: the file if there is one, otherwise the text.
fn list_of(visit: &Visit, form: &Form) -> Result<String, String> {
    match form.file("file") {
        Some(file) => String::from_utf8(file.to_vec()).map_err(|_| visit.t.state.not_text.into()),
        None => Ok(form.text("list").to_owned()),
    }
}

/// Reads a list, completes its links, and finds what needs no look at what is stored.
fn read(visit: &Visit, list: String) -> Draft {
    let t = &visit.t.apps;
    let (list, mut table) = match bookmarks::are_bookmarks(&list) {
        true => {
            // The page shows the list, and sends it again.
            let list = bookmarks::without_icons(&list);
            let table = bookmarks::read(&list);
            (list, table)
        }
        false => {
            let table = table::read(&list);
            (list, table)
        }
    };
    let mut draft = Draft::default();
    for (place, row) in table.rows.iter_mut().enumerate() {
        for (key, text) in &mut row.cells {
            if matches!(*key, "href" | "pingUrl")
                && let Some(link) = complete(text)
            {
                *text = link;
            }
        }
        let wrong = broken_rules(row).into_iter();
        let mut wrong: Vec<_> = wrong
            .map(|(field, rule)| in_column(visit, Some(field), &rule.to_string()))
            .collect();
        if row.is_too_wide {
            wrong.push(t.too_many_columns.into());
        }
        if !wrong.is_empty() {
            draft.by_row.insert(place, wrong);
        }
    }
    if table.count == 0 {
        draft.problems.push(t.list_empty.into());
    }
    if let Some(line) = table.unclosed {
        draft.problems.push(fill(t.quote_open, &[&line]));
    }
    draft.table = table;
    draft.list = list;
    draft
}

/// The rules of new apps that a row breaks, by field, as far as they can be told here. The API knows them all.
fn broken_rules(row: &Row) -> Vec<(&'static str, Rule)> {
    let mut broken = Vec::new();
    for (field, length) in [
        ("name", bounds::APP_NAME),
        ("href", bounds::LINK),
        ("iconUrl", bounds::ICON_URL),
        ("description", bounds::DESCRIPTION),
        ("pingUrl", bounds::LINK),
    ] {
        let text = row.text(field);
        let (most, got) = (*length.end(), text.chars().count());
        let rule = match field {
            "name" if got == 0 => Some(Rule::Empty),
            _ if got == 0 => None,
            _ if got > most => Some(Rule::TooLong { most, got }),
            "name" | "description" => direction::problem(text),
            "href" => links::problem(text),
            "iconUrl" => icons::problem(text),
            _ => (!links::is_web(text)).then_some(Rule::NotHttp),
        };
        broken.extend(rule.map(|rule| (field, rule)));
    }
    broken
}

/// Creates all apps, or finds what is wrong with them.
async fn create_all(visit: &Visit, draft: &mut Draft) -> Result<(), ApiError> {
    let inputs: Vec<Value> = draft.table.rows.iter().map(input).collect();
    match visit.api.mutate::<Value>("app.createMany", json!(inputs)).await {
        Ok(_) => {}
        Err(error) if error.is_of_input() && error.issues.is_empty() => {
            draft.problems.push(visit.say(&error.message));
        }
        Err(error) if error.is_of_input() => {
            for issue in &error.issues {
                let place = issue.path.iter().find_map(Value::as_u64);
                let place = place.and_then(|place| usize::try_from(place).ok());
                let problem = problem(visit, issue);
                match place {
                    Some(place) => draft.by_row.entry(place).or_default().push(problem),
                    None => draft.problems.push(problem),
                }
            }
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn input(row: &Row) -> Value {
    let mut app = json!({ "name": "" });
    for (key, text) in &row.cells {
        app[*key] = text.as_str().into();
    }
    app
}

/// What the API found wrong, with the column in which it is.
fn problem(visit: &Visit, issue: &Issue) -> String {
    in_column(visit, issue.path.iter().find_map(Value::as_str), &issue.message)
}

fn in_column(visit: &Visit, field: Option<&str>, message: &str) -> String {
    let t = visit.t;
    let field = field.map(|field| match field {
        "name" => t.common.name,
        "description" => t.common.description,
        "href" => t.apps.link,
        "pingUrl" => t.apps.ping,
        "iconUrl" => t.icon_picker.icon,
        other => other,
    });
    let said = visit.say(message);
    field.map_or_else(|| said.clone(), |field| format!("{field}: {said}"))
}
