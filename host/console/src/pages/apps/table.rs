//! Reads a table of apps that people paste: lines with bars, CSV and TSV as programs export them.
//!
//! It takes one pass, and keeps no more rows than one call may have.

/// The most apps of one list: those of one call.
pub(super) const MOST_APPS: usize = 1000;

/// What a column holds, and the headings that say so.
const COLUMNS: [(&str, &[&str]); 5] = [
    (
        "name",
        &["name", "app", "title", "titel", "label", "service", "dienst"],
    ),
    (
        "href",
        &[
            "link", "href", "url", "uri", "address", "adresse", "website", "webseite",
        ],
    ),
    ("iconUrl", &["icon", "iconurl", "icon url", "symbol"]),
    ("description", &["description", "beschreibung"]),
    ("pingUrl", &["ping", "pingurl", "ping url"]),
];

/// The most columns of a table, and the longest heading that is named, in characters.
const MOST_COLUMNS: usize = 100;
const LONGEST_HEADING: usize = 64;

/// One row of a table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row {
    /// The line in which it begins.
    pub line: usize,
    /// Keys and texts of its app.
    pub cells: Vec<(&'static str, String)>,
    pub is_too_wide: bool,
}

impl Row {
    /// The text of a key; empty if it has none.
    pub fn text(&self, key: &str) -> &str {
        let cell = self.cells.iter().find(|(name, _)| *name == key);
        cell.map_or("", |(_, text)| text)
    }
}

/// A table as it was read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    pub rows: Vec<Row>,
    /// How many rows there are, of which only the first are kept.
    pub count: usize,
    /// Headings of columns that are not read.
    pub ignored: Vec<String>,
    /// The line with a quotation mark that nothing closes.
    pub unclosed: Option<usize>,
}

/// Reads a table. Columns are name, link, icon, description and ping, unless the first row names them.
pub(super) fn read(text: &str) -> Table {
    let text = text.trim_start_matches('\u{feff}');
    let mut records = Records::of(text);
    let mut table = Table::default();
    let mut columns: Vec<Option<&str>> = COLUMNS.iter().map(|(key, _)| Some(*key)).collect();
    let mut is_first = true;
    while let Some((line, cells)) = records.next_one() {
        let heading = is_first.then(|| header(&cells)).flatten();
        is_first = false;
        if let Some((named, ignored)) = heading {
            (columns, table.ignored) = (named, ignored);
            continue;
        }
        table.count += 1;
        if table.count > MOST_APPS {
            continue;
        }
        let is_too_wide = cells.len() > columns.len();
        let pairs = columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
        table.rows.push(Row {
            line,
            cells: pairs.filter_map(|(key, cell)| Some(((*key)?, cell))).collect(),
            is_too_wide,
        });
    }
    table.unclosed = records.unclosed;
    table
}

/// The columns that a first row names, and the headings that are unknown; `None` if it is not a heading.
fn header(cells: &[String]) -> Option<(Vec<Option<&'static str>>, Vec<String>)> {
    let (mut columns, mut ignored) = (Vec::new(), Vec::new());
    for cell in cells {
        let heading = cell.to_lowercase();
        let known = COLUMNS
            .iter()
            .find(|(_, names)| names.contains(&heading.as_str()));
        let key = known
            .map(|(key, _)| *key)
            .filter(|key| !columns.contains(&Some(*key)));
        if key.is_none() && !cell.is_empty() {
            ignored.push(cell.chars().take(LONGEST_HEADING).collect());
        }
        columns.push(key);
    }
    let has = |key| columns.contains(&Some(key));
    // Without a column of links, a row with one is an app whose name is such a word.
    let has_link = || cells.iter().any(|cell| cell.contains(['.', ':', '/']));
    let is_heading = columns.len() > 1 && has("name") && (has("href") || ignored.is_empty() || !has_link());
    is_heading.then_some((columns, ignored))
}

/// The records of a text, each with the line in which it begins.
struct Records<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    separator: char,
    line: usize,
    unclosed: Option<usize>,
}

impl<'a> Records<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            letters: text.chars().peekable(),
            separator: separator(text),
            line: 1,
            unclosed: None,
        }
    }

    /// The next record with a cell that is not empty: trimmed, up to the last such cell.
    fn next_one(&mut self) -> Option<(usize, Vec<String>)> {
        while self.letters.peek().is_some() {
            let line = self.line;
            let mut cells = self.cells();
            while cells.last().is_some_and(String::is_empty) {
                cells.pop();
            }
            if !cells.is_empty() {
                return Some((line, cells));
            }
        }
        None
    }

    /// A record. In quotation marks, which bars do not have, a cell may hold separators, and the end of a line is a space.
    fn cells(&mut self) -> Vec<String> {
        let (mut cells, mut cell) = (Vec::new(), String::new());
        let has_quotes = self.separator != '|';
        let mut quoted_since = None;
        // Whether the cell has nothing but white space; to look at all of it at each quotation mark takes too long.
        let mut is_blank = true;
        while let Some(letter) = self.letters.next() {
            let is_end = letter == '\n' || (letter == '\r' && self.letters.peek() != Some(&'\n'));
            self.line += usize::from(is_end);
            match letter {
                '\r' if !is_end => {}
                _ if is_end && quoted_since.is_none() => break,
                _ if is_end => cell.push(' '),
                '"' if quoted_since.is_some() && self.letters.peek() == Some(&'"') => {
                    self.letters.next();
                    cell.push('"');
                    is_blank = false;
                }
                '"' if quoted_since.is_some() => quoted_since = None,
                '"' if has_quotes && is_blank => quoted_since = Some(self.line),
                _ if letter == self.separator && quoted_since.is_none() => {
                    add(&mut cells, &mut cell);
                    is_blank = true;
                }
                _ => {
                    is_blank &= letter.is_whitespace();
                    cell.push(letter);
                }
            }
        }
        self.unclosed = self.unclosed.or(quoted_since);
        add(&mut cells, &mut cell);
        cells
    }
}

/// Adds a cell. Of a record that is far too wide, what is beyond stays away.
fn add(cells: &mut Vec<String>, cell: &mut String) {
    let trimmed = cell.trim();
    if cells.len() < MOST_COLUMNS {
        cells.push(trimmed.to_owned());
    } else if !trimmed.is_empty() && cells.len() == MOST_COLUMNS {
        cells.push("\u{2026}".into());
    }
    cell.clear();
}

/// What separates the columns: in the first line outside quotation marks a bar, otherwise a tab, otherwise what comes first
/// of `;` and `,`.
fn separator(text: &str) -> char {
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    let quoted = first.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    if quoted.map_or(first, |(_, rest)| rest).contains('|') {
        return '|';
    }
    let mut is_quoted = false;
    let mut found = None;
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\n' => break,
            '\t' => return '\t',
            ';' | ',' => found = found.or(Some(letter)),
            _ => {}
        }
    }
    found.unwrap_or('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows as lines, keys and texts.
    fn rows(text: &str) -> Vec<(usize, Vec<(&'static str, String)>)> {
        let rows = read(text).rows.into_iter();
        rows.map(|row| (row.line, row.cells)).collect()
    }

    fn app(line: usize, cells: &[(&'static str, &str)]) -> (usize, Vec<(&'static str, String)>) {
        let cells = cells.iter().map(|(key, text)| (*key, (*text).to_owned()));
        (line, cells.collect())
    }

    #[test]
    fn a_list_may_be_separated_by_bars_tabs_semicolons_or_commas() {
        let expected = [
            ("name", "NAS"),
            ("href", "https://nas.example"),
            ("iconUrl", "/n.svg"),
        ];
        for list in [
            "NAS | https://nas.example | /n.svg",
            "NAS\thttps://nas.example\t/n.svg",
            "NAS;https://nas.example;/n.svg",
            "NAS,https://nas.example,/n.svg",
            "\u{feff}Name;URL;Icon\r\nNAS;https://nas.example;/n.svg",
        ] {
            let found = rows(list);
            assert_eq!(found.len(), 1, "{list}");
            assert_eq!(found[0].1, app(1, &expected).1, "{list}");
        }
        let icon_first = rows("Icon, Name, URL\r\n\r\n/n.svg,\"NAS\",https://nas.example,,\r\n");
        let expected = [
            ("iconUrl", "/n.svg"),
            ("name", "NAS"),
            ("href", "https://nas.example"),
        ];
        assert_eq!(icon_first, [app(3, &expected)]);
    }

    #[test]
    fn what_programs_export_is_read_as_they_mean_it() {
        assert_eq!(
            rows("Name;URL\nNas2;http://n.example/"),
            [app(2, &[("name", "Nas2"), ("href", "http://n.example/")])]
        );
        assert_eq!(
            rows("name,url\n\"Worse is better\nby R. G.\",http://w.example/y"),
            [app(
                2,
                &[
                    ("name", "Worse is better by R. G."),
                    ("href", "http://w.example/y")
                ]
            )]
        );
        let hoarder =
            "title,url,time_added,cursor,tags,status\nHoarder,https://h.example/a,1728576752,7187,,unread";
        assert_eq!(
            rows(hoarder),
            [app(2, &[("name", "Hoarder"), ("href", "https://h.example/a")])]
        );
        assert_eq!(read(hoarder).ignored, ["time_added", "cursor", "tags", "status"]);
        assert_eq!(
            rows("a,b\r\"c \"\"d\"\"; e\",f"),
            [
                app(1, &[("name", "a"), ("href", "b")]),
                app(2, &[("name", "c \"d\"; e"), ("href", "f")])
            ]
        );
    }

    #[test]
    fn a_heading_needs_no_column_of_links() {
        let table = read("name;tags\nNas;home\nTv;living room");
        assert_eq!(table.ignored, ["tags"]);
        let names: Vec<_> = table.rows.iter().map(|row| &row.cells[..]).collect();
        assert_eq!(names, [[("name", "Nas".into())], [("name", "Tv".into())]]);
        for app in ["App | nas.lan", "Name;http://nas", "title\tnas:80"] {
            assert_eq!(rows(&format!("{app}\nx")).len(), 2, "{app}");
        }
    }

    #[test]
    fn names_alone_are_enough_and_lines_keep_their_numbers() {
        let expected = ["One", "Two", "Three, and four"].map(|name| vec![("name", name.to_owned())]);
        let found = rows("One\n\n  Two | \nThree, and four");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 4]);
        assert!(found.into_iter().map(|(_, cells)| cells).eq(expected));
        assert_eq!(rows("App\nIcon").len(), 2);
        assert_eq!(rows("link,icon\na,b").len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_named() {
        let wide = |text: &str| read(text).rows.iter().any(|row| row.is_too_wide);
        assert!(!wide("a|b\n1|2|3|4|5"));
        assert!(wide("a|b\n1|2|3|4|5|6"));
        assert!(wide("name,link\nx,y,z"));
        assert!(!wide(&format!("a|b\n{}", "|".repeat(1_000_000))));
        assert!(wide(&format!("a|b\n1{}2", "|".repeat(1_000_000))));
        assert_eq!(read("a,b\n\"c,d\ne,f").unclosed, Some(2));
        let long = "a\n".repeat(MOST_APPS + 5);
        let table = read(&long);
        assert_eq!((table.rows.len(), table.count), (MOST_APPS, MOST_APPS + 5));
    }

    #[test]
    fn quotation_marks_in_white_space_are_read_once() {
        let line = "\" ".repeat(1_000_000);
        assert_eq!(read(&format!("x,y\n{line}")).rows.len(), 1);
    }
}
