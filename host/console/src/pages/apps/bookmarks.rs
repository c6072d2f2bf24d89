//! Reads the bookmarks that browsers export (`<!DOCTYPE NETSCAPE-Bookmark-file-1>`).

use portico_rules::bounds;

use super::table::{MOST_APPS, Row, Table};

/// Whether a text is such a file.
pub(super) fn are_bookmarks(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let start: String = text.chars().take(40).collect();
    start
        .to_ascii_lowercase()
        .starts_with("<!doctype netscape-bookmark-file")
}

/// The file without the icons of pages, which are most of it. Lines stay where they are.
pub(super) fn without_icons(text: &str) -> String {
    const ICON: &str = " icon=\"data:";
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // ASCII letters keep their places.
        let lower = line.to_ascii_lowercase();
        let mut at = 0;
        while let Some(start) = lower[at..].find(ICON).map(|found| at + found) {
            let content = start + ICON.len();
            let Some(end) = lower[content..].find('"').map(|found| content + found + 1) else {
                break;
            };
            kept.push_str(&line[at..start]);
            at = end;
        }
        kept.push_str(&line[at..]);
    }
    kept
}

/// Its links of the web, in their order.
pub(super) fn read(text: &str) -> Table {
    let mut table = Table::default();
    for (index, line) in text.lines().enumerate() {
        let Some((href, title)) = link(line) else {
            continue;
        };
        table.count += 1;
        if table.count > MOST_APPS {
            continue;
        }
        let name = if title.is_empty() { href.clone() } else { title };
        let name = name.chars().take(*bounds::APP_NAME.end()).collect();
        table.rows.push(Row {
            line: index + 1,
            cells: vec![("name", name), ("href", href)],
            is_too_wide: false,
        });
    }
    table
}

/// Address and title of the bookmark in a line. Browsers write one in each.
fn link(line: &str) -> Option<(String, String)> {
    // ASCII letters keep their places.
    let lower = line.to_ascii_lowercase();
    let tag = lower.find("<a ")?;
    let href = tag + lower[tag..].find("href=\"")? + "href=\"".len();
    let end = href + lower[href..].find('"')?;
    let title = end + lower[end..].find('>')? + 1;
    let title_end = lower[title..]
        .find("</a>")
        .map_or(line.len(), |length| title + length);
    let address = unescape(line[href..end].trim());
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| lower[href..end].trim().starts_with(scheme));
    is_web.then(|| (address, unescape(line[title..title_end].trim())))
}

fn unescape(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, letter)| {
        text.replace(entity, letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookmarks_of_the_web_become_apps() {
        let file = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n<DT><H3>Home</H3>\n\
                    <DT><A HREF=\"https://a.example/?x=1&amp;y=2\" ADD_DATE=\"1\" ICON=\"data:image/png;base64,AA\">A &amp; B</A>\n\
                    <DT><A HREF=\"javascript:alert(1)\">Bad</A>\n<DT><A HREF=\"http://b.example\"></A>\n<DT><A HREF=\"broken";
        assert!(are_bookmarks(file));
        let found = read(file);
        let rows: Vec<_> = found
            .rows
            .iter()
            .map(|row| (row.line, row.text("name"), row.text("href")))
            .collect();
        assert_eq!(
            rows,
            [
                (5, "A & B", "https://a.example/?x=1&y=2"),
                (7, "http://b.example", "http://b.example")
            ]
        );
        assert!(!are_bookmarks("name,url"));
        let plain = without_icons(file);
        assert_eq!(plain, file.replace(" ICON=\"data:image/png;base64,AA\"", ""));
        assert_eq!(read(&plain), found);
    }

    #[test]
    fn the_worst_file_is_read_once() {
        let head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n";
        for part in [
            "<a ",
            "<a href=\"",
            "<a href=\"https://a\">",
            " icon=\"data:",
            " icon=\"data:\"",
            "&amp;",
            "\n",
            "<a href=\"https://a\">\n",
        ] {
            let file = format!("{head}{}", part.repeat((2 << 20) / part.len()));
            let table = read(&without_icons(&file));
            assert!(table.rows.len() <= MOST_APPS, "{part:?}");
        }
    }
}
