//! The difference between two snapshots, record by record.

use std::collections::{HashMap, HashSet};

use portico_model::{App, Provider, time};
use portico_storage::{AppGate, Board, Group, SearchEngine, Shares};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    export::{Content, content_named, groups_named, shared_groups, shared_users, user_named},
    looks::name_of,
    snapshot::{Names, Snapshot, User},
};
use crate::report::{Change, Report, ReportEntry};
use crate::shape::{
    Field, PROVIDER,
    Shape::{self, Anything, Boolean, Choice, Integer, List, Nullable, Record, Text},
    join, optional, required,
};

const ENTRY: &[Field] = &[
    required(
        "kind",
        Choice(&["group", "user", "app", "searchEngine", "board", "site"]),
    )
    .about("The kind of record; `site`: what the dashboard looks like, and what else is decided for the whole of it."),
    required("id", Nullable(&Text))
        .about("The record's id; null for a record that a dry run would create, and for `site`."),
    required("name", Text).about("The record's name."),
    optional("provider", PROVIDER).about("The user's identity provider."),
];
const ENTRIES: Shape = List(&Shape::Named("ReportEntry", &Record(ENTRY)));
const CHANGED: Shape = List(&Shape::Named(
    "ChangedEntry",
    &Record(join!(
        ENTRY,
        &[required("changes", List(&CHANGE)).about("Every field that differs.")],
    )),
));
const WARNINGS: Shape = List(&Shape::Named(
    "StateWarning",
    &Record(&[
        ENTRY[0],
        required("name", Text).about("The record's name."),
        required("field", Text).about("Which field."),
        required("message", Text).about("The rule that new records must keep."),
    ]),
));
const CHANGE: Shape = Shape::Named(
    "FieldChange",
    &Record(&[
        required("field", Text).about("Which field, as documents name it."),
        required("before", Anything)
            .about("What it was, as in a document. Of a long text only the beginning."),
        required("after", Anything).about("What it is now."),
    ]),
);
const UNNAMED: Shape = Shape::Named(
    "Unnamed",
    &Record(&[
        required("groups", Integer).about("How many groups."),
        required("users", Integer).about("How many users."),
        required("apps", Integer).about("How many apps."),
        required("searchEngines", Integer).about("How many search engines."),
        required("boards", Integer).about("How many boards."),
    ]),
);

/// What `state.apply` returns.
pub(super) const REPORT: Shape = Shape::Named(
    "Report",
    &Record(&[
        required("dryRun", Boolean).about("Whether nothing was written."),
        required("created", ENTRIES).about("Records that are new."),
        required("changed", CHANGED)
            .about("Existing records that changed, whether or not the document names them."),
        required("removed", ENTRIES).about("Records that were removed."),
        required("unchanged", ENTRIES).about("Records that the document names and that already matched it."),
        required("unnamed", UNNAMED).about("How many records the document does not name and did not change."),
        optional("warnings", WARNINGS).about(
            "Fields that were taken from the document though they break a rule (links without their scheme), and pictures of \
             looks that were left out because they are not stored.",
        ),
    ]),
);

/// The longest text that a report repeats whole, in bytes.
const LONGEST_TEXT: usize = 1000;
/// How many characters it repeats of a longer one.
const EXCERPT: usize = 60;

/// The ids of the records that a document names, new ones included.
#[derive(Default)]
pub(super) struct NamedIds {
    pub groups: HashSet<String>,
    pub users: HashSet<String>,
    pub apps: HashSet<String>,
    pub search_engines: HashSet<String>,
    pub boards: HashSet<String>,
    /// Whether it states anything of the whole dashboard.
    pub site: bool,
    /// The ids that the document states itself.
    pub by_id: HashSet<String>,
}

/// A snapshot, and the names of its records.
pub(super) struct View<'a> {
    pub snapshot: &'a Snapshot,
    pub names: Names<'a>,
}

impl Report {
    /// How many records were created, changed and removed, as text.
    pub(super) fn counts(&self) -> String {
        let (created, changed, removed) = (self.created.len(), self.changed.len(), self.removed.len());
        let dry_run = if self.dry_run { " (dry run)" } else { "" };
        format!("created {created}, changed {changed}, removed {removed}{dry_run}")
    }

    pub(super) fn new(dry_run: bool, named: &NamedIds, before: &View<'_>, after: &View<'_>) -> Self {
        let mut report = Self {
            dry_run,
            ..Self::default()
        };
        let (old, new) = (before.snapshot, after.snapshot);
        report.unnamed.groups = report.compare(&named.groups, named, &old.groups, &new.groups, |old, new| {
            group_changes(old, new, before, after)
        });
        report.unnamed.users = report.compare(&named.users, named, &old.users, &new.users, |old, new| {
            user_changes(old, new, before, after)
        });
        let gates = |snapshot: &'_ Snapshot| -> HashMap<String, AppGate> {
            let gates = snapshot.gates.iter();
            gates.map(|gate| (gate.app_id.clone(), gate.clone())).collect()
        };
        let (old_gates, new_gates) = (gates(old), gates(new));
        report.unnamed.apps = report.compare(&named.apps, named, &old.apps, &new.apps, |old, new| {
            app_changes(old, new, old_gates.get(&old.id), new_gates.get(&new.id))
        });
        report.unnamed.search_engines = report.compare(
            &named.search_engines,
            named,
            &old.search_engines,
            &new.search_engines,
            engine_changes,
        );
        report.unnamed.boards = report.compare(&named.boards, named, &old.boards, &new.boards, |old, new| {
            board_changes(old, new, before, after)
        });
        let entry = ReportEntry {
            kind: "site".into(),
            id: None,
            name: name_of(&new.looks).into(),
            provider: None,
            changes: site_changes(before, after),
        };
        if !entry.changes.is_empty() {
            report.changed.push(entry);
        } else if named.site {
            report.unchanged.push(entry);
        }
        report
    }

    /// Compares the records of one kind. Returns the number of those that are neither changed nor named.
    fn compare<R: Reported>(
        &mut self,
        of_kind: &HashSet<String>,
        named: &NamedIds,
        before: &[R],
        after: &[R],
        changes: impl Fn(&R, &R) -> Vec<Change>,
    ) -> usize {
        let old: HashMap<&str, &R> = before.iter().map(|record| (record.id(), record)).collect();
        let new: HashSet<&str> = after.iter().map(Reported::id).collect();
        let mut unnamed = 0;
        for record in after {
            let Some(old) = old.get(record.id()) else {
                let mut entry = record.entry();
                // A dry run leaves no record with the id.
                if self.dry_run && !named.by_id.contains(record.id()) {
                    entry.id = None;
                }
                self.created.push(entry);
                continue;
            };
            let changes = changes(old, record);
            let entry = || ReportEntry {
                changes: Vec::new(),
                ..record.entry()
            };
            if !changes.is_empty() {
                self.changed.push(ReportEntry { changes, ..entry() });
            } else if of_kind.contains(record.id()) {
                self.unchanged.push(entry());
            } else {
                unnamed += 1;
            }
        }
        let removed = before.iter().filter(|record| !new.contains(record.id()));
        self.removed.extend(removed.map(Reported::entry));
        unnamed
    }
}

/// A record in a report.
trait Reported {
    const KIND: &'static str;
    fn id(&self) -> &str;
    fn name(&self) -> &str;
    fn provider(&self) -> Option<Provider> {
        None
    }
    fn entry(&self) -> ReportEntry {
        ReportEntry {
            kind: Self::KIND.into(),
            id: Some(self.id().into()),
            name: self.name().into(),
            provider: self.provider(),
            changes: Vec::new(),
        }
    }
}

impl Reported for Group {
    const KIND: &'static str = "group";
    fn id(&self) -> &str {
        &self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
}

impl Reported for User {
    const KIND: &'static str = "user";
    fn id(&self) -> &str {
        &self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn provider(&self) -> Option<Provider> {
        Some(self.provider)
    }
}

impl Reported for App {
    const KIND: &'static str = "app";
    fn id(&self) -> &str {
        &self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
}

impl Reported for SearchEngine {
    const KIND: &'static str = "searchEngine";
    fn id(&self) -> &str {
        &self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
}

impl Reported for (Board, Shares) {
    const KIND: &'static str = "board";
    fn id(&self) -> &str {
        &self.0.board.id
    }
    fn name(&self) -> &str {
        &self.0.board.name
    }
}

/// Collects the fields that differ.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn field<T: PartialEq + Serialize>(&mut self, field: &'static str, before: &T, after: &T) {
        self.field_as(field, before, after, |value| json!(value), |value| json!(value));
    }

    /// The home boards of a group's members, or of everyone.
    fn home(&mut self, group_id: Option<&str>, old: &View<'_>, new: &View<'_>) {
        let ([home, mobile], [new_home, new_mobile]) = (old.names.home(group_id), new.names.home(group_id));
        self.field("homeBoard", &home, &new_home);
        self.field("mobileHomeBoard", &mobile, &new_mobile);
    }

    fn field_as<T: PartialEq>(
        &mut self,
        field: &'static str,
        before: &T,
        after: &T,
        show_before: impl FnOnce(&T) -> Value,
        show_after: impl FnOnce(&T) -> Value,
    ) {
        if before != after {
            self.0.push(Change {
                field: field.into(),
                before: shortened(show_before(before)),
                after: shortened(show_after(after)),
            });
        }
    }
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            let excerpt: String = text.chars().take(EXCERPT).collect();
            format!("{excerpt}… ({} characters)", text.chars().count()).into()
        }
        value => value,
    }
}

fn group_changes(before: &Group, after: &Group, old: &View<'_>, new: &View<'_>) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.field("name", &before.name, &after.name);
    changes.field("permissions", &before.permissions, &after.permissions);
    changes.home(Some(&after.id), old, new);
    changes.0
}

fn user_changes(before: &User, after: &User, old: &View<'_>, new: &View<'_>) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.field("name", &before.name, &after.name);
    changes.field("email", &before.email, &after.email);
    let moment = |moment: &Option<u64>| json!(moment.and_then(time::format));
    changes.field_as(
        "emailVerified",
        &before.email_verified,
        &after.email_verified,
        moment,
        moment,
    );
    changes.field("image", &before.image, &after.image);
    changes.field("disabled", &before.disabled, &after.disabled);
    changes.field_as(
        "groups",
        &before.groups,
        &after.groups,
        |ids| json!(groups_named(&old.names, ids)),
        |ids| json!(groups_named(&new.names, ids)),
    );
    changes.0
}

fn app_changes(
    before: &App,
    after: &App,
    old_gate: Option<&AppGate>,
    new_gate: Option<&AppGate>,
) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.field("name", &before.name, &after.name);
    changes.field("description", &before.description, &after.description);
    changes.field("iconUrl", &before.icon_url, &after.icon_url);
    changes.field("href", &before.href, &after.href);
    changes.field("pingUrl", &before.ping_url, &after.ping_url);
    let unset = AppGate::default();
    let (before, after) = (old_gate.unwrap_or(&unset), new_gate.unwrap_or(&unset));
    changes.field("gate.addresses", &before.addresses, &after.addresses);
    changes.field("gate.isOpen", &before.is_open, &after.is_open);
    changes.0
}

fn engine_changes(before: &SearchEngine, after: &SearchEngine) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.field("name", &before.name, &after.name);
    changes.field("short", &before.short, &after.short);
    changes.field("urlTemplate", &before.url_template, &after.url_template);
    changes.field("iconUrl", &before.icon_url, &after.icon_url);
    changes.field("description", &before.description, &after.description);
    changes.0
}

fn board_changes(
    (before, shared_before): &(Board, Shares),
    (after, shared_after): &(Board, Shares),
    old: &View<'_>,
    new: &View<'_>,
) -> Vec<Change> {
    let mut changes = Changes::default();
    let (board, new_board) = (&before.board, &after.board);
    changes.field("name", &board.name, &new_board.name);
    changes.field("slug", &board.slug, &new_board.slug);
    changes.field("isPublic", &board.is_public, &new_board.is_public);
    let creator = |view: &View<'_>, id: &Option<String>| {
        json!(id.as_deref().and_then(|id| user_named(&view.names, id)))
    };
    changes.field_as(
        "creator",
        &board.creator_id,
        &new_board.creator_id,
        |id| creator(old, id),
        |id| creator(new, id),
    );
    let from = content_named(&old.names, &before.sections);
    let to = content_named(&new.names, &after.sections);
    let field = match (&from, &to) {
        (Content::Items(_), Content::Items(_)) => "items",
        _ => "sections",
    };
    changes.field_as(
        field,
        &before.sections,
        &after.sections,
        |_| from.as_list(),
        |_| to.as_list(),
    );
    changes.field_as(
        "sharedWith.users",
        &shared_before.users,
        &shared_after.users,
        |shares| json!(shared_users(&old.names, shares)),
        |shares| json!(shared_users(&new.names, shares)),
    );
    changes.field_as(
        "sharedWith.groups",
        &shared_before.groups,
        &shared_after.groups,
        |shares| json!(shared_groups(&old.names, shares)),
        |shares| json!(shared_groups(&new.names, shares)),
    );
    changes.0
}

fn site_changes(old: &View<'_>, new: &View<'_>) -> Vec<Change> {
    let mut changes = Changes::default();
    let (before, after) = (&old.snapshot.looks, &new.snapshot.looks);
    changes.field("name", &before.name, &after.name);
    changes.field("logo", &before.logo, &after.logo);
    changes.field("accentColor", &before.accent_color, &after.accent_color);
    changes.field("wallpaper", &before.wallpaper, &after.wallpaper);
    changes.field("density", &before.density, &after.density);
    changes.field("columns", &before.columns, &after.columns);
    changes.field("wideScreens", &before.wide_screens, &after.wide_screens);
    changes.field("appVisibility", &before.app_visibility, &after.app_visibility);
    changes.home(None, old, new);
    changes.field(
        "startBoard",
        &old.snapshot.start_board(),
        &new.snapshot.start_board(),
    );
    changes.field("pingAllow", &before.ping_allow, &after.ping_allow);
    changes.0
}
