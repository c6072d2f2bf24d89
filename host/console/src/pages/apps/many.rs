//! `/apps/many`: apps from a pasted list, all of them or none.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde_json::{Value, json};

use super::super::Answer;
use crate::{
    api::{ApiError, Issue},
    form::Form,
    respond::{page, page_with, see},
    texts::fill,
    visit::{Visit, Visitor},
};

/// The most apps of one list: those of one call.
const MOST_APPS: usize = 1000;

/// The most problems that are shown. People correct them, and send the list again.
const MOST_PROBLEMS: usize = 50;

pub(super) fn routes() -> Router {
    Router::new().route("/apps/many", get(show).post(create))
}

#[derive(Template)]
#[template(path = "apps/many.html")]
struct ManyPage<'a> {
    v: &'a Visit,
    list: &'a str,
    problems: Vec<String>,
}

async fn show(visit: Visitor) -> Answer {
    visit.permitted("app-create")?;
    Ok(page(&ManyPage {
        v: &visit,
        list: "",
        problems: Vec::new(),
    }))
}

async fn create(visit: Visitor, request: Request) -> Answer {
    visit.permitted("app-create")?;
    let form = visit.form(request).await?;
    match create_all(&visit, &form).await? {
        problems if problems.is_empty() => Ok(see("/apps?note=created")),
        problems => {
            let again = ManyPage {
                v: &visit,
                list: form.text("list"),
                problems,
            };
            Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &again))
        }
    }
}

/// Creates all apps of the list, or returns its problems.
async fn create_all(visit: &Visit, form: &Form) -> Result<Vec<String>, ApiError> {
    let t = &visit.t.apps;
    let rows = match read(form.text("list")) {
        Ok(rows) => rows,
        Err(lines) => {
            let problems = lines.iter().take(MOST_PROBLEMS);
            let problem = |line: &usize| format!("{}: {}", fill(t.line, &[line]), t.too_many_columns);
            return Ok(problems.map(problem).collect());
        }
    };
    if rows.is_empty() {
        return Ok(vec![t.list_empty.into()]);
    }
    if rows.len() > MOST_APPS {
        return Ok(vec![fill(t.list_too_long, &[&MOST_APPS, &rows.len()])]);
    }
    let inputs: Vec<&Value> = rows.iter().map(|(_, app)| app).collect();
    match visit.api.mutate::<Value>("app.createMany", json!(inputs)).await {
        Ok(_) => Ok(Vec::new()),
        Err(error) if error.is_of_input() && error.issues.is_empty() => Ok(vec![visit.say(&error.message)]),
        Err(error) if error.is_of_input() => {
            let issues = error.issues.iter().take(MOST_PROBLEMS);
            Ok(issues.map(|issue| problem(visit, issue, &rows)).collect())
        }
        Err(error) => Err(error),
    }
}

/// What the API found wrong, with the line and the column in which it is.
fn problem(visit: &Visit, issue: &Issue, rows: &[(usize, Value)]) -> String {
    let t = visit.t;
    let mut places = Vec::new();
    let index = issue.path.iter().find_map(Value::as_u64);
    if let Some((line, _)) = index.and_then(|index| rows.get(usize::try_from(index).ok()?)) {
        places.push(fill(t.apps.line, &[line]));
    }
    let field = issue.path.iter().find_map(Value::as_str);
    let field = field.map(|field| match field {
        "name" => t.common.name,
        "description" => t.common.description,
        "href" => t.apps.link,
        "pingUrl" => t.apps.ping,
        "iconUrl" => t.icon_picker.icon,
        other => other,
    });
    places.extend(field.map(str::to_owned));
    places.push(visit.say(&issue.message));
    places.join(": ")
}

/// What a column holds.
const COLUMNS: [(&str, &[&str]); 5] = [
    ("name", &["name", "app", "title", "titel"]),
    ("href", &["link", "href", "url", "address", "adresse"]),
    ("iconUrl", &["icon", "iconurl", "icon url", "symbol"]),
    ("description", &["description", "beschreibung"]),
    ("pingUrl", &["ping", "pingurl", "ping url"]),
];

/// The apps of a list with the numbers of their lines; or the lines with too many columns.
///
/// Columns are separated by what the first line contains: `|`, otherwise tabs, otherwise commas. They are name, link,
/// icon, description and ping, unless the first line names them.
fn read(list: &str) -> Result<Vec<(usize, Value)>, Vec<usize>> {
    let mut lines = list
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim().is_empty())
        .peekable();
    let first = lines.peek().map_or("", |(_, line)| line);
    let separator = ['|', '\t', ','].into_iter().find(|mark| first.contains(*mark));
    let separator = separator.unwrap_or('|');
    let columns = match header(&cells(first, separator)) {
        Some(columns) => {
            lines.next();
            columns
        }
        None => COLUMNS.map(|(key, _)| key).into(),
    };
    let (mut rows, mut too_wide) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let mut cells = cells(line, separator);
        while cells.len() > columns.len() && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        if cells.len() > columns.len() {
            too_wide.push(number);
            continue;
        }
        let mut app = json!({ "name": "" });
        for (key, cell) in columns.iter().zip(cells) {
            if !cell.is_empty() {
                app[*key] = cell.into();
            }
        }
        rows.push((number, app));
    }
    if too_wide.is_empty() {
        Ok(rows)
    } else {
        Err(too_wide)
    }
}

/// The columns that a first line names; `None` if it is not a header.
fn header(cells: &[String]) -> Option<Vec<&'static str>> {
    let key = |cell: &String| {
        let cell = cell.to_lowercase();
        let column = COLUMNS.iter().find(|(_, names)| names.contains(&cell.as_str()));
        column.map(|(key, _)| *key)
    };
    let columns: Vec<_> = cells.iter().map(key).collect::<Option<_>>()?;
    (columns.len() > 1 && columns.contains(&"name")).then_some(columns)
}

/// The cells of a line, trimmed. With commas, a cell may be in quotation marks.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let cell = cells.last_mut().expect("there is always a cell");
        match character {
            '"' if separator != ',' => cell.push('"'),
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.trim().is_empty() => is_quoted = true,
            other if other == separator && !is_quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_be_separated_by_bars_tabs_or_commas() {
        let expected = json!({ "name": "NAS", "href": "https://nas.example", "iconUrl": "/n.svg" });
        for list in [
            "NAS | https://nas.example | /n.svg",
            "NAS\thttps://nas.example\t/n.svg",
            "NAS,https://nas.example,/n.svg",
            "Icon, Name, URL\r\n\r\n/n.svg,\"NAS\",https://nas.example,,\r\n",
        ] {
            let rows = read(list).unwrap();
            assert_eq!(rows.len(), 1, "{list}");
            assert_eq!(rows[0].1, expected, "{list}");
        }
    }

    #[test]
    fn names_alone_are_enough_and_lines_keep_their_numbers() {
        let rows = read("One\n\n  Two | \nThree, and four").unwrap();
        let expected = [
            (1, json!({ "name": "One" })),
            (3, json!({ "name": "Two" })),
            (4, json!({ "name": "Three, and four" })),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn quoted_cells_hold_commas_and_quotation_marks() {
        assert_eq!(
            cells(r#"a "b", "c, ""d""" ,e"#, ','),
            [r#"a "b""#, r#"c, "d""#, "e"]
        );
    }

    #[test]
    fn a_line_with_too_many_columns_is_named() {
        assert_eq!(read("a|b\n1|2|3|4|5\n1|2|3|4|5|6"), Err(vec![3]));
        assert_eq!(read("name,link\nx,y\nx,y,z"), Err(vec![3]));
    }

    #[test]
    fn a_name_that_could_be_a_heading_is_an_app_where_it_stands_alone() {
        assert_eq!(read("App\nIcon").unwrap().len(), 2);
        assert_eq!(read("link,icon\na,b").unwrap().len(), 2);
    }
}
