//! `/apps/many`: apps from a pasted list, all of them or none.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde_json::{Value, json};

use super::super::PageResult;
use crate::{
    api::{ApiError, Issue},
    fields::Fields,
    respond::{again, page, see},
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

/// The form, whose lines hold two thousand bytes each on average.
static FORM: Fields = Fields::with(MOST_APPS * 2_000);

#[derive(Template)]
#[template(path = "apps/many.html")]
struct ManyPage<'a> {
    v: &'a Visit,
    list: &'a str,
    problems: Vec<String>,
}

async fn show(visit: Visitor) -> PageResult {
    visit.permitted("app-create")?;
    Ok(page(&ManyPage {
        v: &visit,
        list: "",
        problems: Vec::new(),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("app-create")?;
    let form = visit.form_with(&FORM, request).await?;
    let t = &visit.t.apps;
    let read = move || {
        let read = read(form.text("list"));
        (form, read)
    };
    let (form, read) = visit.api.compute(read).await?;
    let problems = match read {
        Ok(rows) if rows.is_empty() => vec![t.list_empty.into()],
        Ok(rows) => create_all(&visit, &rows).await?,
        // A list of more lines than the field may hold is not shown again.
        Err(Unreadable::TooLong(lines)) => {
            return Ok(again(&ManyPage {
                v: &visit,
                list: "",
                problems: vec![fill(t.list_too_long, &[&MOST_APPS, &lines])],
            }));
        }
        Err(Unreadable::TooWide(lines)) => {
            let problem = |line: &usize| format!("{}: {}", fill(t.line, &[line]), t.too_many_columns);
            lines.iter().map(problem).collect()
        }
    };
    if problems.is_empty() {
        return Ok(see("/apps?note=created"));
    }
    let v = visit.clone();
    let write = move || {
        let again = ManyPage {
            v: &v,
            list: form.text("list"),
            problems,
        };
        again.render()
    };
    visit.long_page(StatusCode::UNPROCESSABLE_ENTITY, write).await
}

/// Creates all apps, or returns what is wrong with them.
async fn create_all(visit: &Visit, rows: &[(usize, Value)]) -> Result<Vec<String>, ApiError> {
    let inputs: Vec<&Value> = rows.iter().map(|(_, app)| app).collect();
    match visit.api.mutate::<Value>("app.createMany", json!(inputs)).await {
        Ok(_) => Ok(Vec::new()),
        Err(error) if error.is_of_input() && error.issues.is_empty() => Ok(vec![visit.say(&error.message)]),
        Err(error) if error.is_of_input() => {
            let issues = error.issues.iter().take(MOST_PROBLEMS);
            Ok(issues.map(|issue| problem(visit, issue, rows)).collect())
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

/// Why a list cannot be read.
#[derive(Debug, PartialEq)]
enum Unreadable {
    /// It has this many lines.
    TooLong(usize),
    /// These lines, the first of them, have too many columns.
    TooWide(Vec<usize>),
}

/// The apps of a list with the numbers of their lines.
///
/// Columns are separated by what the first line contains: `|`, otherwise tabs, otherwise commas. They are name, link,
/// icon, description and ping, unless the first line names them.
fn read(list: &str) -> Result<Vec<(usize, Value)>, Unreadable> {
    let lines = list.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty()).peekable();
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
    // Nothing is made of a list that is too long.
    let length = lines.clone().count();
    if length > MOST_APPS {
        return Err(Unreadable::TooLong(length));
    }
    let (mut rows, mut too_wide) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let cells = cells(line, separator);
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
        too_wide.truncate(MOST_PROBLEMS);
        Err(Unreadable::TooWide(too_wide))
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

/// The cells of a line, trimmed, up to the last that is not empty; of a line with more cells than there are columns,
/// one more than those. With commas, a cell may be in quotation marks.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut is_quoted = false;
    // Whether the cell has nothing but white space; to look at all of it at each quotation mark takes too long.
    let mut is_blank = true;
    let push = |cell: &mut String, is_blank: &mut bool, letter: char| {
        *is_blank &= letter.is_whitespace();
        cell.push(letter);
    };
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if separator != ',' => push(&mut cell, &mut is_blank, '"'),
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut cell, &mut is_blank, '"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if is_blank => is_quoted = true,
            other if other == separator && !is_quoted => {
                add(&mut cells, &mut cell);
                is_blank = true;
                if cells.len() > COLUMNS.len() {
                    return cells;
                }
            }
            other => push(&mut cell, &mut is_blank, other),
        }
    }
    add(&mut cells, &mut cell);
    while cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    cells
}

/// Adds a cell. Empty ones beyond the columns do not count.
fn add(cells: &mut Vec<String>, cell: &mut String) {
    let trimmed = cell.trim();
    if cells.len() < COLUMNS.len() || !trimmed.is_empty() {
        cells.push(trimmed.to_owned());
    }
    cell.clear();
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
    fn quotation_marks_in_white_space_are_read_once() {
        let line = "\" ".repeat(1_000_000);
        assert_eq!(cells(&line, ','), [""; 0]);
        assert_eq!(cells(&format!("{line}a\",b"), ','), ["a\"", "b"]);
    }

    #[test]
    fn a_line_with_too_many_columns_is_named() {
        let too_wide = || Err(Unreadable::TooWide(vec![3]));
        assert_eq!(read("a|b\n1|2|3|4|5\n1|2|3|4|5|6"), too_wide());
        assert_eq!(read("name,link\nx,y\nx,y,z"), too_wide());
        let many = "|".repeat(1_000_000);
        assert_eq!(read(&format!("a|b\n{many}\n1|2{many}|3")), too_wide());
    }

    #[test]
    fn of_a_list_that_is_too_long_only_the_lines_are_counted() {
        let list = "a\n".repeat(MOST_APPS);
        assert_eq!(read(&list).unwrap().len(), MOST_APPS);
        let longer = format!("{list}\n \na\n");
        assert_eq!(read(&longer), Err(Unreadable::TooLong(MOST_APPS + 1)));
    }

    #[test]
    fn a_name_that_could_be_a_heading_is_an_app_where_it_stands_alone() {
        assert_eq!(read("App\nIcon").unwrap().len(), 2);
        assert_eq!(read("link,icon\na,b").unwrap().len(), 2);
    }
}
