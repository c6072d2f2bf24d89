//! Writes the records as a document of `state.apply`, which has the rules of Portico's own procedures, and repairs what
//! breaks them.
//!
//! The caller applies the document to an empty dashboard in memory. Each refusal names places in the document; what is
//! there is repaired, or left out if it has already been repaired. This terminates, because every round repairs a field
//! or leaves out a record.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::{Context, bail};
use portico_model::{Issue, PathSegment, Provider, time};
use serde_json::{Map, Value, json};

use crate::dashboard::Dashboard;
use crate::names::{self, Keys, MOST_OF_A_NAME, USERNAME, Used};
use crate::report::{Kind, Report, What, shown};

/// The most characters of a description.
const MOST_OF_A_DESCRIPTION: usize = 512;

/// Repairs records until Portico accepts them.
#[derive(Debug, Default)]
pub struct Repair {
    /// The fields that were repaired: kind, id, field.
    done: HashSet<(Kind, String, String)>,
}

/// The document with these records, in the same order, and an administrator at the end of the groups and users. Boards
/// have no items and no references, because those were resolved by ids.
pub fn document(dashboard: &Dashboard) -> Value {
    let administrator = unused_name(dashboard);
    let mut groups: Vec<Value> = dashboard
        .groups
        .iter()
        .map(|group| json!({"name": group.name, "permissions": group.permissions}))
        .collect();
    groups.push(json!({"name": administrator, "permissions": ["admin"]}));
    let mut users: Vec<Value> = dashboard
        .users
        .iter()
        .map(|user| {
            let user = &user.user;
            json!({
                "name": user.name,
                "provider": user.provider,
                "email": user.email,
                "emailVerified": user.email_verified.and_then(time::format),
                "image": user.image,
            })
        })
        .collect();
    users.push(json!({"name": administrator, "provider": Provider::Credentials, "groups": [administrator]}));
    let apps = dashboard.apps.iter().map(|app| {
        let mut fields = Map::new();
        fields.insert("id".into(), app.id.clone().into());
        fields.insert("name".into(), app.name.clone().into());
        // Without an icon, it gets the default one.
        if !app.icon_url.trim().is_empty() {
            fields.insert("iconUrl".into(), app.icon_url.clone().into());
        }
        for (field, text) in [
            ("description", &app.description),
            ("href", &app.href),
            ("pingUrl", &app.ping_url),
        ] {
            fields.insert(field.into(), text.clone().into());
        }
        Value::Object(fields)
    });
    let engines = dashboard.search_engines.iter().map(|engine| {
        json!({
            "name": engine.name,
            "short": engine.short,
            "urlTemplate": engine.url_template,
            "iconUrl": engine.icon_url,
            "description": engine.description,
        })
    });
    let boards = dashboard.boards.iter();
    let boards = boards.map(|board| json!({"name": board.board.name, "isPublic": board.board.is_public}));
    json!({
        "groups": groups,
        "users": users,
        "apps": apps.collect::<Vec<_>>(),
        "searchEngines": engines.collect::<Vec<_>>(),
        "boards": boards.collect::<Vec<_>>(),
        "site": dashboard.branding.site(),
    })
}

/// A name that no record has.
fn unused_name(dashboard: &Dashboard) -> String {
    let names: HashSet<String> = dashboard
        .names()
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    let mut name = "portico-import".to_owned();
    while names.contains(&name) {
        name.push('-');
    }
    name
}

/// Gives records of one kind different names, as Portico requires. `keys` says how names are compared. A record that
/// cannot get another name is left out.
pub fn make_names_unique(dashboard: &mut Dashboard, keys: &Keys, report: &mut Report) {
    let mut unique = Unique {
        keys,
        used: Used::new(HashSet::new()),
        new: &mut dashboard.new_names,
        report,
    };
    let groups = &mut dashboard.groups;
    groups.retain_mut(|group| unique.claim(Kind::Group, None, &group.id, &mut group.name));
    let users = &mut dashboard.users;
    users.retain_mut(|user| {
        let user = &mut user.user;
        unique.claim(Kind::User, Some(user.provider), &user.id, &mut user.name)
    });
    let boards = &mut dashboard.boards;
    boards.retain_mut(|board| unique.claim(Kind::Board, None, &board.board.id, &mut board.board.name));
    let engines = &mut dashboard.search_engines;
    engines.retain_mut(|engine| unique.claim(Kind::SearchEngine, None, &engine.id, &mut engine.name));
    let mut shorts = HashSet::new();
    engines.retain(|engine| {
        let is_first = shorts.insert(names::key(keys, &engine.short));
        if !is_first {
            let why = format!("another one has its short {:?}", shown(&engine.short));
            unique.report.leave_out(Kind::SearchEngine, &engine.name, why);
        }
        is_first
    });
}

struct Unique<'a> {
    keys: &'a Keys,
    used: Used<(Kind, Option<Provider>)>,
    /// The records that now have another name.
    new: &'a mut HashSet<(Kind, String)>,
    report: &'a mut Report,
}

impl Unique<'_> {
    /// Gives a record another name if its own is taken. Returns false if there is no other name.
    fn claim(&mut self, kind: Kind, provider: Option<Provider>, id: &str, name: &mut String) -> bool {
        let scope = (kind, provider);
        if self.used.take(scope, names::key(self.keys, name)) {
            return true;
        }
        let most = if kind == Kind::User {
            USERNAME.1
        } else {
            MOST_OF_A_NAME
        };
        let new = match provider {
            // In a directory, another name is another person's.
            Some(Provider::Ldap) => None,
            _ => self.used.numbered(scope, name, most, self.keys),
        };
        let Some(new) = new else {
            let why = "another one has its name, and it cannot have another";
            self.report.leave_out(kind, name, why);
            return false;
        };
        let text = format!("has the name of another one: it is {:?} now", shown(&new));
        self.report.note_of(kind, (id, name), What::Repaired, text);
        self.new.insert((kind, id.to_owned()));
        *name = new;
        true
    }
}

impl Repair {
    /// Repairs the parts of the document that these issues name.
    pub fn repair(
        &mut self,
        dashboard: &mut Dashboard,
        issues: &[Issue],
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let mut doomed: BTreeMap<Kind, BTreeMap<usize, String>> = BTreeMap::new();
        let mut permissions: BTreeSet<(usize, usize)> = BTreeSet::new();
        for issue in issues {
            if dashboard.branding.drop_refused(issue, report) {
                continue;
            }
            let place = IssueLocation::of(issue).with_context(|| unexpected(issue))?;
            if let (Kind::Group, Some(number)) = (place.kind, place.permission) {
                permissions.insert((place.index, number));
                continue;
            }
            let id = id_at(dashboard, &place).with_context(|| unexpected(issue))?;
            let is_new = self.done.insert((place.kind, id, place.field.clone()));
            let repaired = is_new && self.repair_field(dashboard, &place, &issue.message, report);
            if !repaired {
                let why = format!("its {} {}", place.field, issue.message);
                doomed
                    .entry(place.kind)
                    .or_default()
                    .entry(place.index)
                    .or_insert(why);
            }
        }
        // From the end, so that earlier positions stay valid.
        for (group, number) in permissions.into_iter().rev() {
            let group = dashboard.groups.get_mut(group).context("no such group")?;
            let permission = group.permissions.remove(number);
            let text = format!(
                "the permission {:?}, which Portico does not have",
                shown(&permission)
            );
            report.note_of(Kind::Group, (&group.id, &group.name), What::Lost, text);
        }
        for (kind, records) in doomed {
            for (index, why) in records.into_iter().rev() {
                let (id, name) = remove(dashboard, kind, index);
                let name = if name.trim().is_empty() { id } else { name };
                report.leave_out(kind, &name, why);
            }
        }
        Ok(())
    }

    /// Changes a field so that it may satisfy the rule. Returns false if that is impossible.
    fn repair_field(
        &self,
        dashboard: &mut Dashboard,
        place: &IssueLocation,
        rule: &str,
        report: &mut Report,
    ) -> bool {
        let (kind, index) = (place.kind, place.index);
        let name = name_at(dashboard, kind, index);
        let id = id_at(dashboard, place).unwrap_or_default();
        let mut say = |what, text: String| report.note_of(kind, (&id, &name), what, text);
        match (kind, &place.field[..]) {
            (_, "name") => {
                let (least, most) = if kind == Kind::User {
                    USERNAME
                } else {
                    (1, MOST_OF_A_NAME)
                };
                let keeps = if kind == Kind::User { is_visible } else { is_plain };
                let new = fitting_name(&name, keeps, least, most);
                // In a directory, another name is another person's.
                let is_of_directory =
                    kind == Kind::User && dashboard.users[index].user.provider == Provider::Ldap;
                if new.is_empty() || new == name || is_of_directory {
                    return false;
                }
                let text = format!("its name {rule}: it is {:?} now", shown(&new));
                say(What::Repaired, text);
                *name_of(dashboard, kind, index) = new;
                dashboard.new_names.insert((kind, id));
            }
            (Kind::User, "email") => {
                let email = dashboard.users[index].user.email.take();
                dashboard.users[index].user.email_verified = None;
                say(
                    What::Lost,
                    format!("its email {:?}, which {rule}", shown(&email.unwrap_or_default())),
                );
            }
            (Kind::User, "emailVerified") => {
                dashboard.users[index].user.email_verified = None;
                say(What::Lost, format!("when its email was verified, which {rule}"));
            }
            (Kind::User, "image") => {
                dashboard.users[index].user.image = None;
                say(What::Lost, format!("its image, which {rule}"));
            }
            (Kind::App, "description") => {
                let description = dashboard.apps[index].description.take();
                dashboard.apps[index].description =
                    Some(fitting_description(&description.unwrap_or_default()));
                say(
                    What::Repaired,
                    format!("its description {rule}: what breaks it was cut"),
                );
            }
            (Kind::SearchEngine, "description") => {
                let description = dashboard.search_engines[index].description.take();
                let description = fitting_description(&description.unwrap_or_default());
                dashboard.search_engines[index].description = Some(description);
                say(
                    What::Repaired,
                    format!("its description {rule}: what breaks it was cut"),
                );
            }
            (Kind::App, "href") => {
                let href = dashboard.apps[index].href.take().unwrap_or_default();
                let advice = match href.starts_with('/') {
                    true => ": with --public-url it stays a link to this host",
                    false => "",
                };
                say(
                    What::Lost,
                    format!("its href {:?}, which {rule}{advice}", shown(&href)),
                );
            }
            (Kind::App, "pingUrl") => {
                let url = dashboard.apps[index].ping_url.take();
                say(
                    What::Lost,
                    format!("its pingUrl {:?}, which {rule}", shown(&url.unwrap_or_default())),
                );
            }
            (Kind::App, "iconUrl") => {
                let icon = std::mem::take(&mut dashboard.apps[index].icon_url);
                let text = format!(
                    "its iconUrl {:?} {rule}: it is the default icon now",
                    shown(&icon)
                );
                say(What::Repaired, text);
            }
            _ => return false,
        }
        true
    }
}

/// Where an issue is.
struct IssueLocation {
    kind: Kind,
    index: usize,
    field: String,
    /// The position in the permissions of a group.
    permission: Option<usize>,
}

impl IssueLocation {
    fn of(issue: &Issue) -> Option<Self> {
        let mut path = issue.path.iter();
        let kind = match path.next()? {
            PathSegment::Field(list) => match &list[..] {
                "groups" => Kind::Group,
                "users" => Kind::User,
                "apps" => Kind::App,
                "searchEngines" => Kind::SearchEngine,
                "boards" => Kind::Board,
                _ => return None,
            },
            PathSegment::Index(_) => return None,
        };
        let PathSegment::Index(index) = path.next()? else {
            return None;
        };
        let field = match path.next() {
            Some(PathSegment::Field(field)) => field.clone(),
            _ => String::new(),
        };
        let permission = match path.next() {
            Some(PathSegment::Index(number)) if field == "permissions" => Some(*number as usize),
            _ => None,
        };
        Some(Self {
            kind,
            index: *index as usize,
            field,
            permission,
        })
    }
}

fn unexpected(issue: &Issue) -> String {
    format!(
        "Portico refuses the records for an unexpected reason: {:?} {}",
        issue.path, issue.message
    )
}

/// The id of the record at this place; `None` if there is no such record.
fn id_at(dashboard: &Dashboard, place: &IssueLocation) -> Option<String> {
    let index = place.index;
    match place.kind {
        Kind::Group => dashboard.groups.get(index).map(|group| group.id.clone()),
        Kind::User => dashboard.users.get(index).map(|user| user.user.id.clone()),
        Kind::App => dashboard.apps.get(index).map(|app| app.id.clone()),
        Kind::SearchEngine => dashboard
            .search_engines
            .get(index)
            .map(|engine| engine.id.clone()),
        Kind::Board => dashboard.boards.get(index).map(|board| board.board.id.clone()),
        Kind::ApiKey | Kind::Invite | Kind::Other => None,
    }
}

fn name_at(dashboard: &mut Dashboard, kind: Kind, index: usize) -> String {
    name_of(dashboard, kind, index).clone()
}

/// The name of a record that exists, of a kind that a document has.
fn name_of(dashboard: &mut Dashboard, kind: Kind, index: usize) -> &mut String {
    match kind {
        Kind::Group => &mut dashboard.groups[index].name,
        Kind::User => &mut dashboard.users[index].user.name,
        Kind::SearchEngine => &mut dashboard.search_engines[index].name,
        Kind::Board => &mut dashboard.boards[index].board.name,
        _ => &mut dashboard.apps[index].name,
    }
}

/// Removes a record of a kind that a document has, and returns its id and its name.
fn remove(dashboard: &mut Dashboard, kind: Kind, index: usize) -> (String, String) {
    match kind {
        Kind::Group => {
            let group = dashboard.groups.remove(index);
            (group.id, group.name)
        }
        Kind::User => {
            let user = dashboard.users.remove(index).user;
            (user.id, user.name)
        }
        Kind::SearchEngine => {
            let engine = dashboard.search_engines.remove(index);
            (engine.id, engine.name)
        }
        Kind::Board => {
            let board = dashboard.boards.remove(index).board;
            (board.id, board.name)
        }
        _ => {
            let app = dashboard.apps.remove(index);
            (app.id, app.name)
        }
    }
}

/// The name with these characters only, cut to the longest length.
fn fitting_name(name: &str, keeps: fn(char) -> bool, least: usize, most: usize) -> String {
    let visible: String = name.chars().filter(|letter| keeps(*letter)).collect();
    let mut name: String = visible.trim().chars().take(most).collect();
    name.truncate(name.trim_end().len());
    if !name.is_empty() && name.chars().count() < least {
        name.push_str("-user");
    }
    name
}

fn fitting_description(text: &str) -> String {
    let kept = text
        .chars()
        .filter(|letter| is_plain(*letter) || matches!(letter, '\n' | '\t'));
    kept.take(MOST_OF_A_DESCRIPTION).collect()
}

/// Whether a character neither is a control character nor changes the direction of text.
fn is_plain(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is also visible, as those of a username must be.
fn is_visible(letter: char) -> bool {
    is_plain(letter)
        && !matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        )
}

/// Refuses to continue after this many rounds: each time Portico lists some of the broken rules.
pub fn check_rounds(rounds: usize) -> anyhow::Result<()> {
    const MOST_ROUNDS: usize = 500;
    if rounds > MOST_ROUNDS {
        bail!("too many records break Portico's rules: Homarr did not write this database");
    }
    Ok(())
}
