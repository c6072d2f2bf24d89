//! Converts Homarr's records to Portico's, and notes what is lost.
//!
//! Rules about the texts of users, apps, groups, search engines and boards are not checked here: Portico's own
//! procedures check them (`document.rs`).

use std::collections::{HashMap, HashSet};

use portico_model::{App, ColorScheme, Provider, Timestamp, User};
use portico_storage::extras::PREFERENCES;
use portico_storage::{ExtrasOf, ProviderSubject, SearchEngine, hash_secret, secrets};
use serde_json::{Map, Value};

use crate::boards::boards;
use crate::branding::branding;
use crate::dashboard::{self, Dashboard, Group, Invite, Key};
use crate::homarr::{self, EVERYONE, Homarr};
use crate::homes::homes;
use crate::ids::check_id;
use crate::pictures::Pictures;
use crate::report::{Kind, Report, What, counted, shown};

/// What the database does not say.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The time.
    pub now: Timestamp,
    /// The issuer of OpenID Connect with which Portico signs users in.
    pub issuer: Option<String>,
    /// Where people reach Portico, without a slash at the end: links that are paths lead there.
    pub public_url: Option<String>,
}

/// Converts everything that is imported, and notes what is not.
pub fn convert(homarr: &Homarr, surroundings: &Surroundings, report: &mut Report) -> Dashboard {
    let mut new_names = HashSet::new();
    let mut pictures = Pictures::new(&homarr.medias);
    let (default_homes, start_board) = homes(homarr, report);
    let mut dashboard = Dashboard {
        groups: groups(homarr, report),
        users: users(homarr, surroundings, &mut new_names, report),
        memberships: homarr
            .members
            .iter()
            .map(|pair| (pair.other.clone(), pair.group.clone()))
            .collect(),
        apps: apps(homarr, surroundings, &mut pictures, report),
        search_engines: search_engines(homarr, &mut pictures, report),
        boards: boards(homarr, &mut pictures, report),
        default_homes,
        start_board,
        branding: branding(homarr, &mut pictures, report),
        keys: keys(homarr, report),
        invites: invites(homarr, surroundings.now, report),
        new_names,
        ..Dashboard::default()
    };
    note_everything_else(homarr, &pictures, report);
    dashboard.pictures = pictures.into_stored();
    dashboard.drop_dangling(report);
    dashboard
}

fn groups(homarr: &Homarr, report: &mut Report) -> Vec<Group> {
    report.count(Kind::Group).found = homarr.groups.len() as u64;
    let mut permissions: HashMap<&str, Vec<String>> = HashMap::new();
    for pair in &homarr.permissions {
        permissions
            .entry(&pair.group)
            .or_default()
            .push(pair.other.clone());
    }
    note_owners_and_positions(homarr, report);
    let groups = homarr.groups.iter();
    let groups = groups.filter(|group| check_id(report, Kind::Group, &group.id, &group.name));
    groups
        .map(|group| Group {
            id: group.id.clone(),
            name: group.name.trim().to_owned(),
            permissions: permissions.remove(&group.id[..]).unwrap_or_default(),
        })
        .collect()
}

/// Notes what groups have in Homarr and not in Portico.
fn note_owners_and_positions(homarr: &Homarr, report: &mut Report) {
    let users: HashMap<&str, &homarr::User> = homarr.users.iter().map(|user| (&user.id[..], user)).collect();
    for group in &homarr.groups {
        let of = (&group.id[..], &group.name[..]);
        if let Some(owner) = &group.owner {
            let owner = users.get(&owner[..]);
            let name = owner.and_then(|owner| owner.name.as_deref()).unwrap_or_default();
            let text = format!("its owner {:?}: groups in Portico have none", shown(name));
            report.note_of(Kind::Group, of, What::Lost, text);
        }
    }
    let own = homarr.groups.iter().filter(|group| group.name != EVERYONE);
    if own.count() > 1 {
        let text = "their positions, which only say whose home board comes first: in Portico that of the first by name";
        report.note(Kind::Group, "", What::Lost, text);
    }
}

fn users(
    homarr: &Homarr,
    surroundings: &Surroundings,
    new_names: &mut HashSet<(Kind, String)>,
    report: &mut Report,
) -> Vec<dashboard::User> {
    report.count(Kind::User).found = homarr.users.len() as u64;
    let mut subjects = subjects(homarr, surroundings, report);
    let search_engine = search_engine_of_the_server(homarr, report);
    let mut users = Vec::new();
    for user in &homarr.users {
        let name = user.name.as_deref().unwrap_or(&user.id);
        if !check_id(report, Kind::User, &user.id, name) {
            continue;
        }
        let provider = match &user.provider[..] {
            "credentials" => Provider::Credentials,
            "oidc" => Provider::Oidc,
            "ldap" => Provider::Ldap,
            other => {
                let why = format!("Portico has no provider {:?}", shown(other));
                report.leave_out(Kind::User, name, why);
                continue;
            }
        };
        if user.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            report.note_of(
                Kind::User,
                (&user.id, &user.id),
                What::Repaired,
                "has no name: the id is the name now",
            );
            new_names.insert((Kind::User, user.id.clone()));
        }
        let blank = |text: &&String| !text.trim().is_empty();
        let email = user.email.as_ref().filter(blank).cloned();
        users.push(dashboard::User {
            user: User {
                id: user.id.clone(),
                name: if name.trim().is_empty() {
                    user.id.clone()
                } else {
                    name.to_owned()
                },
                email_verified: user
                    .email_verified
                    .and_then(|moment| Timestamp::try_from(moment).ok())
                    .filter(|_| email.is_some()),
                email,
                image: user.image.as_ref().filter(blank).cloned(),
                provider,
                home_board_id: user.home_board.clone(),
                mobile_home_board_id: user.mobile_home_board.clone(),
                first_day_of_week: first_day_of_week(user, name, report),
                ping_icons_enabled: user.ping_icons,
                default_search_engine_id: user.search_engine.clone().or_else(|| search_engine.clone()),
                open_search_in_new_tab: user.search_in_new_tab,
            },
            color_scheme: color_scheme(user, name, report),
            password_hash: password_hash(user, provider, name, report),
            subjects: subjects.remove(&user.id[..]).unwrap_or_default(),
            preferences: preferences(user, name, report),
        });
    }
    users
}

fn color_scheme(user: &homarr::User, name: &str, report: &mut Report) -> ColorScheme {
    match &user.color_scheme[..] {
        "light" => ColorScheme::Light,
        "auto" => ColorScheme::Auto,
        "dark" => ColorScheme::Dark,
        other => {
            let text = format!("has no such colour scheme as {:?}: it is dark now", shown(other));
            report.note_of(Kind::User, (&user.id, name), What::Repaired, text);
            ColorScheme::Dark
        }
    }
}

/// The preferences that are not the defaults. Those that are too long to keep are left out.
fn preferences(user: &homarr::User, name: &str, report: &mut Report) -> Map<String, Value> {
    let is_default = |key: &String, value: &Value| {
        let mut defaults = PREFERENCES.iter();
        value.is_null() || defaults.any(|(name, default)| key == name && value == default)
    };
    let own = user
        .preferences
        .iter()
        .filter(|(key, value)| !is_default(key, value));
    let mut own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    if own.get("headerPreferences").is_some_and(Value::is_string) {
        own.remove("headerPreferences");
        let text = "its headerPreferences, which cannot be read";
        report.note_of(Kind::User, (&user.id, name), What::Lost, text);
    }
    for key in ["headerPreferences", "byteUnitSystem"] {
        let length = portico_storage::extras::text(&own).chars().count();
        if length > ExtrasOf::MOST_OF_USER && own.remove(key).is_some() {
            let most = ExtrasOf::MOST_OF_USER;
            let text = format!("its {key}: at most {most} characters of such preferences are kept");
            report.note_of(Kind::User, (&user.id, name), What::Lost, text);
        }
    }
    own
}

/// The search engine of users without one of their own.
fn search_engine_of_the_server(homarr: &Homarr, report: &mut Report) -> Option<String> {
    let id = homarr.setting("search", "defaultSearchEngineId")?;
    let engine = homarr.search_engines.iter().find(|engine| engine.id == id);
    if !engine.is_some_and(comes_along) {
        let text = "the search engine of users without one of their own, which does not come along";
        report.note(Kind::User, "", What::Lost, text);
        return None;
    }
    Some(id)
}

/// Whether a search engine is one that Portico has.
fn comes_along(engine: &homarr::SearchEngine) -> bool {
    engine.kind == "generic" && engine.url_template.is_some()
}

fn first_day_of_week(user: &homarr::User, name: &str, report: &mut Report) -> u8 {
    let day = user.first_day_of_week.and_then(|day| u8::try_from(day).ok());
    day.filter(|day| *day <= 6).unwrap_or_else(|| {
        report.note_of(
            Kind::User,
            (&user.id, name),
            What::Repaired,
            "has no such first day of the week: it is Monday now",
        );
        1
    })
}

fn password_hash(user: &homarr::User, provider: Provider, name: &str, report: &mut Report) -> Option<String> {
    if provider != Provider::Credentials {
        return None;
    }
    let hash = user.password.as_ref().filter(|hash| is_bcrypt(hash));
    if hash.is_none() {
        let why = match user.password {
            Some(_) => "a password, because its hash is none of bcrypt with a cost of 4 to 13",
            None => "a password, because there is none",
        };
        let why =
            format!("{why}: the user cannot sign in until an administrator sets one (`portico recover`)");
        report.note_of(Kind::User, (&user.id, name), What::Lost, why);
    }
    hash.cloned()
}

/// Whether a text has the form of a bcrypt hash that Portico can check: `$2b$10$`, 22 characters of salt, 31 of hash.
fn is_bcrypt(text: &str) -> bool {
    let bytes = text.as_bytes();
    let prefix = ["$2a$", "$2b$", "$2y$"]
        .iter()
        .any(|prefix| text.starts_with(prefix));
    let cost = bytes
        .get(4..6)
        .and_then(|cost| std::str::from_utf8(cost).ok()?.parse::<u8>().ok());
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    prefix
        && bytes.len() == 60
        && bytes[6] == b'$'
        && cost.is_some_and(|cost| (4..=13).contains(&cost))
        && bytes[7..].iter().all(is_digit)
}

/// Who the users are at the issuer, by user.
fn subjects<'a>(
    homarr: &'a Homarr,
    surroundings: &Surroundings,
    report: &mut Report,
) -> HashMap<&'a str, Vec<ProviderSubject>> {
    let mut subjects: HashMap<&str, Vec<ProviderSubject>> = HashMap::new();
    let mut people = HashSet::new();
    let mut unlinked = 0;
    for account in &homarr.accounts {
        match &surroundings.issuer {
            Some(issuer) if account.provider == "oidc" => {
                let subject = format!("{issuer} {}", account.subject);
                let fits = subject.chars().count() <= 1024 && !subject.contains('\0');
                let of_user = subjects.entry(&account.user).or_default();
                // A user is one person at a provider, and a person is one user.
                if fits && of_user.is_empty() && people.insert(subject.clone()) {
                    of_user.push(ProviderSubject {
                        provider: Provider::Oidc,
                        subject,
                    });
                    continue;
                }
            }
            _ => {}
        }
        unlinked += 1;
    }
    if unlinked > 0 {
        let why = match surroundings.issuer {
            Some(_) => "they are not of OpenID Connect, or a user has several",
            None => {
                "no issuer is known: give Portico's issuer with --oidc-issuer, so that these people sign in as \
                 their users"
            }
        };
        let text = format!(
            "{} between users and people at an issuer: {why}",
            counted(unlinked, "link")
        );
        report.note(Kind::User, "", What::LeftOut, text);
    }
    subjects
}

fn apps(
    homarr: &Homarr,
    surroundings: &Surroundings,
    pictures: &mut Pictures<'_>,
    report: &mut Report,
) -> Vec<App> {
    report.count(Kind::App).found = homarr.apps.len() as u64;
    let mut apps = Vec::new();
    for app in &homarr.apps {
        if !check_id(report, Kind::App, &app.id, &app.name) {
            continue;
        }
        let of = (&app.id[..], &app.name[..]);
        let icon_url = pictures.icon(Kind::App, of, &app.icon_url, report);
        if app.icon_url.trim().is_empty() {
            let text = "has no icon: it is the default icon now";
            report.note_of(Kind::App, of, What::Repaired, text);
        }
        apps.push(App {
            id: app.id.clone(),
            name: app.name.clone(),
            description: app.description.clone(),
            icon_url,
            href: app.href.as_ref().map(|href| link(href, surroundings)),
            ping_url: app.ping_url.clone(),
        });
    }
    apps
}

/// Where a link leads: a path leads to Portico, which is where Homarr was.
fn link(href: &str, surroundings: &Surroundings) -> String {
    let path = href.trim();
    match &surroundings.public_url {
        Some(url) if path.starts_with('/') && !path.starts_with("//") => format!("{url}{path}"),
        _ => href.to_owned(),
    }
}

fn search_engines(homarr: &Homarr, pictures: &mut Pictures<'_>, report: &mut Report) -> Vec<SearchEngine> {
    report.count(Kind::SearchEngine).found = homarr.search_engines.len() as u64;
    let mut engines = Vec::new();
    for engine in &homarr.search_engines {
        if !check_id(report, Kind::SearchEngine, &engine.id, &engine.name) {
            continue;
        }
        let Some(url_template) = engine.url_template.clone().filter(|_| comes_along(engine)) else {
            let why = "it searches in an integration, which Portico does not have";
            report.leave_out(Kind::SearchEngine, &engine.name, why);
            continue;
        };
        let description = engine.description.as_deref().map(str::trim);
        engines.push(SearchEngine {
            id: engine.id.clone(),
            name: engine.name.trim().to_owned(),
            short: engine.short.trim().to_owned(),
            url_template: url_template.trim().to_owned(),
            icon_url: pictures
                .icon(
                    Kind::SearchEngine,
                    (&engine.id, &engine.name),
                    &engine.icon_url,
                    report,
                )
                .trim()
                .to_owned(),
            description: description.filter(|text| !text.is_empty()).map(str::to_owned),
        });
    }
    engines
}

fn keys(homarr: &Homarr, report: &mut Report) -> Vec<Key> {
    report.count(Kind::ApiKey).found = homarr.keys.len() as u64;
    let mut keys = Vec::new();
    for key in &homarr.keys {
        let why = match (secrets::is_imported_id(&key.id), is_bcrypt(&key.hash)) {
            (false, _) => "its id has a dot or a space, more than 64 characters, or other ones than ASCII",
            (_, false) => "its hash is none of bcrypt with a cost of 4 to 13",
            (true, true) => {
                keys.push(Key {
                    id: key.id.clone(),
                    user_id: key.user.clone(),
                    hash: key.hash.clone(),
                });
                continue;
            }
        };
        report.leave_out(Kind::ApiKey, &key.id, why);
    }
    keys
}

fn invites(homarr: &Homarr, now: Timestamp, report: &mut Report) -> Vec<Invite> {
    report.count(Kind::Invite).found = homarr.invites.len() as u64;
    let mut invites = Vec::new();
    for invite in &homarr.invites {
        if !check_id(report, Kind::Invite, &invite.id, &invite.id) {
            continue;
        }
        let expires = u64::try_from(invite.expires)
            .ok()
            .and_then(|seconds| seconds.checked_mul(1000));
        let expires_at = expires.filter(|moment| portico_model::time::format(*moment).is_some());
        let Some(expires_at) = expires_at.filter(|moment| *moment > now) else {
            report.leave_out(Kind::Invite, &invite.id, "it has expired");
            continue;
        };
        invites.push(Invite {
            id: invite.id.clone(),
            token: hash_secret(&invite.token),
            expires_at,
            creator_id: Some(invite.creator.clone()),
        });
    }
    invites
}

fn note_everything_else(homarr: &Homarr, pictures: &Pictures<'_>, report: &mut Report) {
    let mut left_out = |text: String| report.note(Kind::Other, "", What::LeftOut, text);
    for (what, count) in &homarr.unread.left_out {
        left_out(format!("{} of {what}", counted(*count, "row")));
    }
    let files = pictures.unused();
    if files > 0 {
        left_out(counted(files, "uploaded file") + ", which nothing shows that comes along");
    }
    if !homarr.settings.is_empty() {
        let text = "the settings of the server, except home boards, the search engine and the branding; those that \
                    Portico has are in its settings file";
        left_out(text.into());
    }
    let newer = homarr.identified.newer;
    if newer > 0 {
        let last = homarr.identified.schema.migration;
        left_out(format!(
            "what is new in {} after {last}, which this portico does not know",
            counted(newer, "migration")
        ));
    }
    for what in &homarr.unread.newer {
        left_out(format!("{what}, which is newer than this portico knows"));
    }
}
