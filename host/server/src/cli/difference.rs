//! The report of `state.apply` as readable text.

use std::fmt::Write as _;

use portico_service::report::{Change, Report, ReportEntry, Unnamed, beginning};
use serde_json::{Map, Value};

use super::terminal::printable;

/// How many characters of a value are shown.
const MAX_CHARS: usize = 60;

/// Whether to write terminal colours.
#[derive(Clone, Copy)]
pub struct Colours(pub bool);

impl Colours {
    fn paint(self, colour: u8, text: &str) -> String {
        if self.0 {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

const RED: u8 = 31;
const GREEN: u8 = 32;
const YELLOW: u8 = 33;

/// A line for each record that is created, changed or removed, and a summary.
///
/// `document` is what was applied. Records that it does not name are counted only for the lists that it
/// has, because `--prune` would remove only those.
pub fn difference(report: &Report, document: &Map<String, Value>, colours: Colours) -> String {
    let mut text = String::new();
    for ((sign, entries), colour) in report.parts().into_iter().zip([GREEN, YELLOW, RED]) {
        for entry in entries {
            let line = format!("{sign} {}", name_of(entry));
            text.push_str(&colours.paint(colour, &line));
            text.push_str(&changes_of(entry));
            text.push('\n');
        }
    }
    for warning in &report.warnings {
        let line = format!(
            "! {} {}: {} {}",
            printable(&warning.kind),
            printable(&warning.name),
            printable(&warning.field),
            printable(&warning.message)
        );
        text.push_str(&colours.paint(YELLOW, &line));
        text.push('\n');
    }
    if !report.differs() {
        text.push_str("Nothing to change: ");
    }
    let [created, changed, removed] = report.parts().map(|(_, entries)| entries.len());
    let _ = write!(
        text,
        "{created} created, {changed} changed, {removed} removed, {} as wanted",
        report.unchanged.len()
    );
    text.push_str(&unnamed(&report.unnamed, document));
    text.push('\n');
    if report.dry_run {
        text.push_str("Nothing was written: this was a dry run\n");
    }
    text
}

/// `user ada`; `user ada (oidc)`.
fn name_of(entry: &ReportEntry) -> String {
    let kind = match &*entry.kind {
        "searchEngine" => "search engine".into(),
        "site" => "looks of".into(),
        kind => printable(kind),
    };
    let provider = entry.other_provider().map(|provider| format!(" ({provider})"));
    format!(
        "{kind} {}{}",
        printable(&entry.name),
        provider.unwrap_or_default()
    )
}

/// A single change on the same line; several changes on one line each.
fn changes_of(entry: &ReportEntry) -> String {
    let mut text = String::new();
    for change in &entry.changes {
        text.push_str(if entry.changes.len() == 1 { "  " } else { "\n    " });
        let _ = write!(text, "{}: {}", printable(&change.field), change_of(change));
    }
    text
}

fn change_of(change: &Change) -> String {
    let Some((added, removed)) = change.entries() else {
        return format!("{} -> {}", short(&change.before), short(&change.after));
    };
    let added = added.into_iter().map(|value| format!("+{}", short(value)));
    let removed = removed.into_iter().map(|value| format!("-{}", short(value)));
    let parts: Vec<_> = added.chain(removed).collect();
    if parts.is_empty() {
        return "in another order, or in another number".into();
    }
    parts.join(" ")
}

fn short(value: &Value) -> String {
    beginning(&printable(&value.to_string()), MAX_CHARS).into_owned()
}

/// `; 3 apps and 1 group are not in the document (--prune removes them)`.
fn unnamed(unnamed: &Unnamed, document: &Map<String, Value>) -> String {
    let mut parts = Vec::new();
    let mut all = 0;
    let kinds = ["group", "user", "app", "search engine", "board"];
    for ((list, count), one) in unnamed.lists().into_iter().zip(kinds) {
        if count > 0 && document.get(list).is_some_and(|list| !list.is_null()) {
            all += count;
            parts.push(format!("{count} {one}{}", if count == 1 { "" } else { "s" }));
        }
    }
    let (is, them) = if all == 1 { ("is", "it") } else { ("are", "them") };
    match &parts[..] {
        [] => String::new(),
        [.., last] if parts.len() > 1 => {
            let first = parts[..parts.len() - 1].join(", ");
            format!("; {first} and {last} {is} not in the document (--prune removes {them})")
        }
        [only, ..] => format!("; {only} {is} not in the document (--prune removes {them})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference_of(report: Value, colours: Colours) -> String {
        difference(&serde_json::from_value(report).unwrap(), &document(), colours)
    }

    fn document() -> Map<String, Value> {
        json!({"apps": [], "groups": []}).as_object().unwrap().clone()
    }

    #[test]
    fn every_record_has_a_line_with_its_changes() {
        let answer = json!({
            "dryRun": true,
            "created": [{"kind": "app", "id": null, "name": "Jellyfin"}],
            "changed": [
                {"kind": "user", "id": "1", "name": "ada", "provider": "credentials",
                 "changes": [{"field": "email", "before": "a@b", "after": null}]},
                {"kind": "user", "id": "2", "name": "bob", "provider": "oidc", "changes": [
                    {"field": "groups", "before": ["old", "all"], "after": ["all", "new"]},
                    {"field": "image", "before": "x".repeat(500), "after": null},
                    {"field": "items", "before": [1, 2], "after": [2, 1]}]}],
            "removed": [{"kind": "searchEngine", "id": "3", "name": "old\u{1b}[2J"}],
            "unchanged": [{"kind": "app", "id": "4", "name": "x"}],
            "unnamed": {"groups": 1, "users": 7, "apps": 3, "searchEngines": 0, "boards": 0},
        });
        let expected = format!(
            "+ app Jellyfin\n\
             ~ user ada  email: \"a@b\" -> null\n\
             ~ user bob (oidc)\n    groups: +\"new\" -\"old\"\n    image: \"{}… -> null\n    \
             items: in another order, or in another number\n\
             - search engine old\\u{{1b}}[2J\n\
             1 created, 2 changed, 1 removed, 1 as wanted; 1 group and 3 apps are not in the document (--prune \
             removes them)\n\
             Nothing was written: this was a dry run\n",
            "x".repeat(59)
        );
        assert_eq!(difference_of(answer.clone(), Colours(false)), expected);
        let coloured = difference_of(answer, Colours(true));
        assert!(
            coloured.starts_with("\u{1b}[32m+ app Jellyfin\u{1b}[0m\n\u{1b}[33m~ user ada\u{1b}[0m  email")
        );
    }

    #[test]
    fn what_is_taken_against_a_rule_has_a_line() {
        let answer = json!({
            "dryRun": false, "created": [], "changed": [], "removed": [], "unchanged": [],
            "unnamed": {"groups": 0, "users": 0, "apps": 0, "searchEngines": 0, "boards": 0},
            "warnings": [{"kind": "app", "name": "NAS\u{202e}", "field": "href", "message": "must be a URL"}],
        });
        assert_eq!(
            difference_of(answer, Colours(false)),
            "! app NAS\\u{202e}: href must be a URL\n\
             Nothing to change: 0 created, 0 changed, 0 removed, 0 as wanted\n"
        );
    }

    #[test]
    fn no_change_is_reported_too() {
        let app = json!({"kind": "app", "id": "1", "name": "x"});
        let answer = json!({
            "dryRun": false, "created": [], "changed": [], "removed": [], "unchanged": [app, app],
            "unnamed": {"groups": 0, "users": 0, "apps": 1, "searchEngines": 0, "boards": 0},
        });
        assert_eq!(
            difference_of(answer, Colours(false)),
            "Nothing to change: 0 created, 0 changed, 0 removed, 2 as wanted; 1 app is not in the document (--prune \
             removes it)\n"
        );
    }
}
