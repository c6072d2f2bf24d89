//! The report of `state.apply` for people, as `portico apply` writes it: a line for each record that is created,
//! changed or removed. Long lists are cut.

use portico_service::report::{Change, Report, ReportEntry, Warning, beginning};
use serde_json::Value;

use crate::texts::{Texts, count, rules::say};

/// How many records each part shows.
const MOST_RECORDS: usize = 200;

/// How many entries a changed list shows.
const MOST_ENTRIES: usize = 20;

/// How many characters of a value are shown.
const MOST_CHARACTERS: usize = 120;

/// What the page shows.
pub(super) struct Difference {
    pub dry_run: bool,
    pub sections: Vec<Section>,
    pub unchanged: usize,
    /// Records that the document does not name, as text; empty if there are none.
    pub unnamed: String,
    pub warnings: Vec<Broken>,
    /// How many warnings are not shown.
    pub more_warnings: usize,
}

/// A rule of new records that the document breaks.
pub(super) struct Broken {
    pub name: String,
    pub field: String,
    pub rule: String,
}

/// The records that are created (`+`), changed (`~`) or removed (`-`).
pub(super) struct Section {
    pub sign: &'static str,
    pub total: usize,
    pub records: Vec<Record>,
}

pub(super) struct Record {
    pub kind: String,
    pub name: String,
    pub changes: Vec<FieldChange>,
}

/// A changed field: what it was and is, or, for a list, what was added and removed.
pub(super) struct FieldChange {
    pub field: String,
    pub before: String,
    pub after: String,
    pub entries: Vec<String>,
}

impl Section {
    /// How many records are not shown.
    pub fn more(&self) -> usize {
        self.total - self.records.len()
    }
}

impl Difference {
    pub fn of(report: &Report, t: &Texts) -> Self {
        let parts = report.parts().into_iter();
        let parts = parts.filter(|(_, entries)| !entries.is_empty());
        let sections = parts.map(|(sign, entries)| {
            let records = entries.iter().take(MOST_RECORDS);
            Section {
                sign,
                total: entries.len(),
                records: records.map(|entry| Record::of(entry, t)).collect(),
            }
        });
        let s = &t.state;
        let kinds = [s.groups, s.users, s.apps, s.engines, s.boards];
        let unnamed = report.unnamed.lists().into_iter().zip(kinds);
        let unnamed = unnamed
            .filter(|((_, number), _)| *number > 0)
            .map(|((_, number), text)| count(text, number));
        Self {
            dry_run: report.dry_run,
            sections: sections.collect(),
            unchanged: report.unchanged.len(),
            unnamed: unnamed.collect::<Vec<_>>().join(", "),
            warnings: report
                .warnings
                .iter()
                .take(MOST_RECORDS)
                .map(|warning| Broken::of(warning, t))
                .collect(),
            more_warnings: report.warnings.len().saturating_sub(MOST_RECORDS),
        }
    }

    pub fn removes(&self) -> bool {
        self.sections.iter().any(|section| section.sign == "-")
    }
}

impl Broken {
    fn of(warning: &Warning, t: &Texts) -> Self {
        Self {
            name: warning.name.clone(),
            field: warning.field.to_string(),
            rule: say(t.language, &warning.message),
        }
    }
}

impl Record {
    fn of(entry: &ReportEntry, t: &Texts) -> Self {
        let kind = match &*entry.kind {
            "group" => t.state.group,
            "user" => t.state.user,
            "app" => t.state.app,
            "searchEngine" => t.state.engine,
            "board" => t.state.board,
            "site" => t.looks.title,
            other => other,
        };
        let name = match entry.other_provider() {
            Some(provider) => format!("{} ({})", entry.name, t.provider(provider)),
            None => entry.name.clone(),
        };
        Self {
            kind: kind.into(),
            name,
            changes: entry
                .changes
                .iter()
                .map(|change| FieldChange::of(change, t))
                .collect(),
        }
    }
}

impl FieldChange {
    fn of(change: &Change, t: &Texts) -> Self {
        let mut shown = Self {
            field: change.field.to_string(),
            before: String::new(),
            after: String::new(),
            entries: Vec::new(),
        };
        let Some((added, removed)) = change.entries() else {
            shown.before = short(&change.before);
            shown.after = short(&change.after);
            return shown;
        };
        let more = (added.len() + removed.len()).saturating_sub(MOST_ENTRIES);
        let added = added.into_iter().map(|value| format!("+ {}", short(value)));
        let removed = removed.into_iter().map(|value| format!("− {}", short(value)));
        shown.entries = added.chain(removed).take(MOST_ENTRIES).collect();
        if more > 0 {
            shown.entries.push(crate::texts::fill(t.state.more, &[&more]));
        }
        if shown.entries.is_empty() {
            shown.entries.push(t.state.other_order.into());
        }
        shown
    }
}

/// A value on one line: a text as it is, anything else as JSON.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    beginning(&text, MOST_CHARACTERS).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::texts::Language;

    fn difference(report: Value) -> Difference {
        let report: Report = serde_json::from_value(report).unwrap();
        Difference::of(&report, Language::English.texts())
    }

    #[test]
    fn every_record_is_shown_with_what_changes() {
        let shown = difference(json!({
            "dryRun": true,
            "created": [{"kind": "app", "id": null, "name": "Jellyfin"}],
            "changed": [{"kind": "user", "id": "2", "name": "bob", "provider": "oidc", "changes": [
                {"field": "email", "before": "a@b", "after": null},
                {"field": "groups", "before": ["old", "all"], "after": ["all", "new"]},
                {"field": "items", "before": [1, 2], "after": [2, 1]},
                {"field": "image", "before": "x".repeat(500), "after": null}]}],
            "removed": [{"kind": "searchEngine", "id": "3", "name": "old"}],
            "unchanged": [{"kind": "app", "id": "4", "name": "x"}],
            "unnamed": {"groups": 1, "users": 7, "apps": 0, "searchEngines": 0, "boards": 0},
            "warnings": [{"kind": "app", "name": "NAS", "field": "href", "message": "must be a URL"}],
        }));
        let signs: Vec<_> = shown.sections.iter().map(|section| section.sign).collect();
        assert_eq!(signs, ["+", "~", "-"]);
        let user = &shown.sections[1].records[0];
        assert_eq!((&*user.kind, &*user.name), ("user", "bob (OpenID Connect)"));
        assert_eq!((&*user.changes[0].before, &*user.changes[0].after), ("a@b", "–"));
        assert_eq!(user.changes[1].entries, ["+ new", "− old"]);
        assert_eq!(
            user.changes[2].entries,
            ["in another order, or in another number"]
        );
        assert_eq!(user.changes[3].before, "x".repeat(120) + "…");
        assert_eq!(shown.sections[2].records[0].kind, "search engine");
        assert_eq!(shown.unnamed, "1 group, 7 users");
        let warning = &shown.warnings[0];
        assert_eq!(
            (&*warning.name, &*warning.field, &*warning.rule),
            ("NAS", "href", "must be a URL")
        );
        assert!(shown.dry_run && shown.removes() && shown.unchanged == 1);
    }

    #[test]
    fn a_long_difference_is_cut_and_says_so() {
        let apps: Vec<_> = (0..1_000)
            .map(|number| json!({"kind": "app", "id": null, "name": number.to_string()}))
            .collect();
        let shown = difference(json!({
            "dryRun": true, "created": apps, "changed": [], "removed": [], "unchanged": [], "unnamed": {},
        }));
        assert_eq!(
            (shown.sections[0].records.len(), shown.sections[0].more()),
            (200, 800)
        );
    }
}
