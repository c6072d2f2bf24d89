//! `/audit`: the audit log.

use std::collections::HashMap;

use askama::Template;
use axum::{Router, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    found_users::{Found, find, names},
    invites::Invite,
    keys::ApiKey,
    paging::Pages,
    profile::{Session, place},
    segment,
    tiles::{self, BoardLink},
};
use crate::{
    api::ApiError,
    respond::page,
    texts::audited,
    times::day_start,
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/audit", get(show))
}

/// Rows on a page. The name of each one's user is looked up.
const PAGE: usize = 25;

/// The outcomes to choose from.
const OUTCOMES: [&str; 8] = [
    "OK",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "TOO_MANY_REQUESTS",
    "BAD_REQUEST",
    "NOT_FOUND",
    "CONFLICT",
    "NOT_RECORDED",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    time: String,
    actor_id: Option<String>,
    authentication: String,
    address: Option<String>,
    procedure: String,
    target: Option<String>,
    /// The groups that a sign-in added and removed: `+ID -ID and 7 more`.
    groups: Option<String>,
    outcome: String,
    times: u64,
}

impl Row {
    /// The id of the record that it is about.
    fn target_id(&self) -> Option<&str> {
        let target = self.target.as_deref()?;
        match self.ended_session() {
            Some(_) => target.split(' ').next(),
            None => Some(target),
        }
    }

    /// Of a session that was ended, its address and its browser: the log says them, because the session is gone.
    fn ended_session(&self) -> Option<(&str, &str)> {
        let (_, place) = self.target.as_deref()?.split_once(' ')?;
        place
            .split_once(' ')
            .filter(|_| self.procedure == "session.delete")
    }

    /// The ids of the groups with this sign.
    fn groups(&self, sign: char) -> Vec<&str> {
        let changes = self.groups.as_deref().unwrap_or_default().split(' ');
        changes.filter_map(|change| change.strip_prefix(sign)).collect()
    }

    /// How many more groups there were than are named.
    fn more_groups(&self) -> Option<&str> {
        let (_, more) = self.groups.as_deref()?.split_once("and ")?;
        more.strip_suffix(" more")
    }
}

#[derive(Deserialize)]
struct Rows {
    items: Vec<Row>,
    #[serde(rename = "totalCount")]
    total: usize,
}

/// What the reader looks for.
struct Filter<'a> {
    /// The name that was typed, and the id of the user that was chosen.
    who: &'a str,
    actor: String,
    procedure: &'a str,
    outcome: &'a str,
    from: &'a str,
    until: &'a str,
}

impl Filter<'_> {
    fn is_empty(&self) -> bool {
        let all = [
            self.who,
            &self.actor,
            self.procedure,
            self.outcome,
            self.from,
            self.until,
        ];
        all.iter().all(|text| text.is_empty())
    }

    /// The address of the log with this filter, to which more can be added.
    fn address(&self, actor: &str, procedure: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::from("/audit?"));
        for (name, value) in [
            ("actor", actor),
            ("procedure", procedure),
            ("outcome", self.outcome),
            ("from", self.from),
            ("until", self.until),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

#[derive(Template)]
#[template(path = "audit/audit.html")]
struct AuditPage<'a> {
    v: &'a Visit,
    filter: Filter<'a>,
    /// The users to choose from, if the typed name is ambiguous.
    which: Vec<Found>,
    problem: String,
    rows: Vec<Row>,
    names: HashMap<String, String>,
    /// Names and paths of the records that exist, by id.
    records: HashMap<String, (String, String)>,
    total: usize,
    pages: Pages,
}

impl AuditPage<'_> {
    /// The outcomes to choose from, in words.
    fn outcomes(&self) -> Vec<(&'static str, &'static str)> {
        let all = OUTCOMES.iter().map(|code| (*code, self.outcome(code)));
        all.collect()
    }

    /// The actions to choose from, in words, by their words.
    fn actions(&self) -> Vec<(&str, &str)> {
        let mut actions: Vec<(&str, &str)> = audited::actions(self.v.t.language);
        let chosen = self.filter.procedure;
        if !chosen.is_empty() && !actions.iter().any(|(name, _)| *name == chosen) {
            actions.push((chosen, chosen));
        }
        actions.sort_by_key(|(_, words)| words.to_lowercase());
        actions
    }

    fn action<'s>(&self, procedure: &'s str) -> &'s str {
        audited::action(self.v.t.language, procedure)
    }

    fn outcome<'s>(&self, code: &'s str) -> &'s str {
        audited::outcome(self.v.t.language, code)
    }

    /// The groups that a sign-in added and removed, each list with its words.
    fn changes<'s>(&self, row: &'s Row) -> Vec<(&'static str, Vec<&'s str>)> {
        let t = &self.v.t.audit;
        let lists = [(t.joined, row.groups('+')), (t.left, row.groups('-'))];
        lists.into_iter().filter(|(_, ids)| !ids.is_empty()).collect()
    }

    /// The session that a row ended, in words.
    fn ended_session(&self, row: &Row) -> Option<String> {
        let known = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
        let (address, browser) = row.ended_session()?;
        let place = place(self.v, known(browser).as_deref(), false);
        Some(
            [Some(place), known(address)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    /// Name and path of a record that exists.
    fn record(&self, id: &str) -> Option<&(String, String)> {
        self.records.get(id)
    }

    /// The name of the user who did it, or the id of a deleted user.
    fn actor<'s>(&'s self, id: &'s str) -> &'s str {
        self.names.get(id).map_or(id, String::as_str)
    }

    /// What the field of the user shows.
    fn who(&self) -> &str {
        if self.filter.actor.is_empty() {
            self.filter.who
        } else {
            self.actor(&self.filter.actor)
        }
    }

    fn only_actor(&self, id: &str) -> String {
        self.filter.address(id, self.filter.procedure)
    }

    fn only_procedure(&self, procedure: &str) -> String {
        self.filter.address(&self.filter.actor, procedure)
    }
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("admin")?;
    let mut filter = Filter {
        who: query.text("who").trim(),
        actor: query.text("actor").to_owned(),
        procedure: query.text("procedure").trim(),
        outcome: query.text("outcome"),
        from: query.text("from"),
        until: query.text("until"),
    };
    let mut which = Vec::new();
    let mut problem = String::new();
    if filter.actor.is_empty() && !filter.who.is_empty() {
        let found = named(&visit, filter.who).await?;
        match <[Found; 1]>::try_from(found) {
            Ok([user]) => filter.actor = user.id,
            Err(users) if users.is_empty() => {
                problem = visit.fill(visit.t.audit.no_user, filter.who);
            }
            Err(users) => which = users,
        }
    }
    let is_undecided = filter.actor.is_empty() && !filter.who.is_empty();
    let mut input = json!({ "page": query.page(), "pageSize": PAGE });
    for (field, text) in [
        ("actorId", &*filter.actor),
        ("procedure", filter.procedure),
        ("outcome", filter.outcome),
    ] {
        if !text.is_empty() {
            input[field] = text.into();
        }
    }
    // The whole last day counts.
    for (field, day, later) in [("from", filter.from, 0), ("until", filter.until, 1)] {
        match (day, day_start(day, later)) {
            ("", _) => {}
            (_, Some(moment)) => input[field] = moment.into(),
            (_, None) => problem = visit.t.audit.not_a_day.into(),
        }
    }
    let found = if is_undecided || !problem.is_empty() {
        Rows {
            items: Vec::new(),
            total: 0,
        }
    } else {
        visit.api.query("audit.getPaginated", input).await?
    };
    let actors = found.items.iter().filter_map(|row| row.actor_id.as_deref());
    let chosen = Some(&*filter.actor).filter(|actor| !actor.is_empty());
    let names = names(&visit.api, actors.chain(chosen)).await?;
    let records = records(&visit, &found.items).await?;
    let mut address = filter.address(&filter.actor, filter.procedure);
    if !address.ends_with('?') {
        address.push('&');
    }
    Ok(page(&AuditPage {
        v: &visit,
        filter,
        which,
        problem,
        names,
        records,
        rows: found.items,
        total: found.total,
        pages: Pages::new(&address, query.page(), PAGE, found.total),
    }))
}

/// The kind of record on which a procedure acts.
fn kind_of(procedure: &str) -> &str {
    match procedure {
        "gate.update" => "app",
        "sign-in" | "secondFactor.deleteOfUser" | "extras.saveOfUser" => "user",
        "extras.saveOfBoard" => "board",
        "board.setDefaultHome" => "group",
        other => other.split('.').next().unwrap_or_default(),
    }
}

/// Names and paths of the records on which the rows of a page acted, as far as they exist and have a page.
async fn records(visit: &Visit, rows: &[Row]) -> Result<HashMap<String, (String, String)>, ApiError> {
    let mut wanted: HashMap<&str, Vec<&str>> = HashMap::new();
    for row in rows {
        if let Some(id) = row.target_id() {
            wanted.entry(kind_of(&row.procedure)).or_default().push(id);
        }
        let groups = ['+', '-'].into_iter().flat_map(|sign| row.groups(sign));
        wanted.entry("group").or_default().extend(groups);
    }
    let ids = |kind| wanted.get(kind).cloned().unwrap_or_default();
    let mut found = HashMap::new();
    for (id, app) in tiles::by_ids(&visit.api, ids("app")).await? {
        found.insert(id, (app.name.clone(), format!("{}/edit", app.path())));
    }
    for (id, name) in names(&visit.api, ids("user")).await? {
        let path = format!("/users/{}", segment(&id));
        found.insert(id, (name, path));
    }
    if !ids("apiKeys").is_empty() {
        let keys: Vec<ApiKey> = visit.api.query("apiKeys.getAll", Value::Null).await?;
        for key in keys.into_iter().filter(|key| ids("apiKeys").contains(&&*key.id)) {
            found.insert(key.id.clone(), (key.label(visit), "/keys".into()));
        }
    }
    if !ids("invite").is_empty() {
        let invites: Vec<Invite> = visit.api.query("invite.getAll", Value::Null).await?;
        for invite in invites
            .into_iter()
            .filter(|invite| ids("invite").contains(&&*invite.id))
        {
            found.insert(invite.id.clone(), (invite.title().into(), "/invites".into()));
        }
    }
    // One that is there still: ending it was refused. The API does not tell users about the sessions of others.
    if !ids("session").is_empty() {
        let sessions: Vec<Session> = visit.api.query("session.getAll", Value::Null).await?;
        for session in sessions
            .into_iter()
            .filter(|session| ids("session").contains(&&*session.id))
        {
            found.insert(
                session.id.clone(),
                (session.place(visit), "/profile/sessions".into()),
            );
        }
    }
    // These procedures return all records at once.
    let lists = [
        ("board", "board.getVisible", "/boards/", ""),
        ("group", "group.getAll", "/groups/", ""),
        ("searchEngine", "searchEngine.getSelectable", "/engines/", "/edit"),
    ];
    for (kind, procedure, before, after) in lists {
        let wanted = ids(kind);
        if wanted.is_empty() {
            continue;
        }
        let all: Vec<BoardLink> = visit.api.query(procedure, Value::Null).await?;
        for record in all.into_iter().filter(|record| wanted.contains(&&*record.id)) {
            let path = format!("{before}{}{after}", segment(&record.id));
            found.insert(record.id, (record.name, path));
        }
    }
    Ok(found)
}

/// The users whom a typed name can mean: the one who has exactly this name, otherwise all whose names contain it.
async fn named(visit: &Visit, name: &str) -> Result<Vec<Found>, ApiError> {
    let mut found = find(&visit.api, name).await?;
    let exact = found
        .iter()
        .position(|user| user.name.to_lowercase() == name.to_lowercase());
    if let Some(exact) = exact {
        found = vec![found.swap_remove(exact)];
    }
    Ok(found)
}
