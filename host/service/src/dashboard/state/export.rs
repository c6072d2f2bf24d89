//! A snapshot as a document. It states every field, so that applying it to any dashboard gives the same state. A name
//! that two records share is replaced by what distinguishes them.

use portico_model::{App, Id, Provider, Timestamp, time};
use portico_storage::{self as storage, BoardItem, Looks, PlacedItem, Share, Size};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    super::looks::LOOKS,
    document::{APP_GATE, ITEM, SECTION, SHARED_GROUP, SHARED_USER, USER_NAME},
    looks::ExportedPicture,
    snapshot::{Keys, Names, Snapshot},
};
use crate::{
    procedures::apps::APP,
    shape::{
        NULLABLE_DATE, NULLABLE_TEXT, PROVIDER,
        Shape::{self, Boolean, List, Named, Nullable, Record, Text},
        optional, required,
    },
};

/// What `state.export` returns: a document that has every key.
pub(super) const STATE: Shape = Named(
    "State",
    &Record(&[
        required("groups", List(&GROUP)).about("All groups, by name."),
        required("users", List(&USER)).about("All users, by name, without passwords."),
        required("apps", List(&APP)).about("All apps, by name."),
        required("searchEngines", List(&SEARCH_ENGINE)).about("All search engines, by name."),
        required("boards", List(&BOARD)).about("All boards, by name."),
        required("gate", List(&APP_GATE)).about("What is set of apps for the gate in front of them, by id."),
        required("homeBoard", NULLABLE_TEXT)
            .about("The board that people see first who have chosen none, by name."),
        required("mobileHomeBoard", NULLABLE_TEXT).about("The same on phones."),
        required("site", LOOKS)
            .about("What the dashboard looks like, and what else is decided for the whole of it."),
        required("pictures", List(&PICTURE)).about(
            "The pictures that looks and icons refer to, of at most 64 KiB each and 4 MiB together, by id.",
        ),
    ]),
);
const GROUP: Shape = Named(
    "StateGroup",
    &Record(&[
        required("name", Text).about("The group's name, unique."),
        required("permissions", List(&Text)).about("What its members may do."),
        required("homeBoard", NULLABLE_TEXT)
            .about("The board that its members see first who have chosen none, by name."),
        required("mobileHomeBoard", NULLABLE_TEXT).about("The same on phones."),
    ]),
);
const USER: Shape = Named(
    "StateUser",
    &Record(&[
        required("name", Text).about("The username."),
        required("provider", PROVIDER).about("Who vouches for the user."),
        required("email", NULLABLE_TEXT).about("The email."),
        required("emailVerified", NULLABLE_DATE).about("When the email was verified."),
        required("image", NULLABLE_TEXT).about("The image: a data URI, or a URL from the provider."),
        required("disabled", Boolean).about("Whether the user is disabled and cannot sign in."),
        required("secondFactor", Boolean).about("Whether the user has set up a second factor."),
        required("groups", List(&Text)).about("The groups that the user is in, by name."),
    ]),
);
const SEARCH_ENGINE: Shape = Named(
    "StateSearchEngine",
    &Record(&[
        required("name", Text).about("Its name, unique."),
        required("short", Text).about("What people type to choose it, unique."),
        required("urlTemplate", Text).about("Where it searches; `%s` stands for the query."),
        required("iconUrl", Text).about("Where its icon is."),
        required("description", NULLABLE_TEXT).about("What it is."),
    ]),
);
const PICTURE: Shape = Named(
    "StatePicture",
    &Record(&[
        required("id", Text).about("Its id, which is the SHA-256 of the picture."),
        required("image", Text).about("The picture as a data URI."),
    ]),
);
const BOARD: Shape = Named(
    "StateBoard",
    &Record(&[
        required("name", Text).about("The board's name, unique."),
        required("isPublic", Boolean).about("Whether everyone may view it, signed in or not."),
        required("creator", Nullable(&USER_NAME)).about("Who made it; null once they are gone."),
        required("slug", NULLABLE_TEXT).about("Its short address, unique; null if it has none."),
        optional("items", List(&ITEM))
            .about("What is on it, in this order, if it has one section without a name."),
        optional("sections", List(&SECTION)).about("What is on it, if it has others."),
        required("sharedWith", SHARED_WITH).about("Who else may view it."),
    ]),
);
const SHARED_WITH: Shape = Named(
    "StateShares",
    &Record(&[
        required("users", List(&SHARED_USER)).about("Which users."),
        required("groups", List(&SHARED_GROUP)).about("Whose members: groups by name."),
    ]),
);

/// The state in that shape. It contains no secrets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exported<'a> {
    groups: Vec<Group<'a>>,
    users: Vec<User<'a>>,
    apps: &'a [App],
    search_engines: Vec<Engine<'a>>,
    boards: Vec<Board<'a>>,
    gate: Vec<AppGate<'a>>,
    home_board: Option<&'a str>,
    mobile_home_board: Option<&'a str>,
    site: Site<'a>,
    pictures: &'a [ExportedPicture],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Site<'a> {
    #[serde(flatten)]
    looks: &'a Looks,
    start_board: Option<&'a str>,
    ping_allow: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Group<'a> {
    name: &'a str,
    permissions: &'a [String],
    home_board: Option<&'a str>,
    mobile_home_board: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct User<'a> {
    name: &'a str,
    provider: Provider,
    email: Option<&'a str>,
    #[serde(serialize_with = "time::serialize_option")]
    email_verified: Option<Timestamp>,
    image: Option<&'a str>,
    disabled: bool,
    second_factor: bool,
    groups: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppGate<'a> {
    app: AppName<'a>,
    addresses: &'a [String],
    is_open: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Engine<'a> {
    name: &'a str,
    short: &'a str,
    url_template: &'a str,
    icon_url: &'a str,
    description: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Board<'a> {
    name: &'a str,
    is_public: bool,
    creator: Option<UserName<'a>>,
    slug: Option<&'a str>,
    #[serde(flatten)]
    content: Content<'a>,
    shared_with: SharedWith<'a>,
}

#[derive(Serialize)]
struct SharedWith<'a> {
    users: Vec<ShareWith<'a>>,
    groups: Vec<ShareWith<'a>>,
}

/// A name alone lets them only view the board.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ShareWith<'a> {
    Name(&'a str),
    Of {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<Provider>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        may_change: bool,
    },
}

/// What is on a board.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Content<'a> {
    Items(Vec<Item<'a>>),
    Sections(Vec<Section<'a>>),
}

#[derive(Serialize)]
pub(super) struct Section<'a> {
    name: Option<&'a str>,
    collapsed: bool,
    items: Vec<Item<'a>>,
}

/// An item; without a size that is its kind's.
#[derive(Serialize)]
pub(super) struct Item<'a> {
    #[serde(flatten)]
    kind: ItemKind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<Size>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ItemKind<'a> {
    App(AppName<'a>),
    Bookmarks(Vec<AppName<'a>>),
    Note(&'a str),
    Clock(Clock<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Clock<'a> {
    time_zone: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum UserName<'a> {
    Name(&'a str),
    Of { name: &'a str, provider: Provider },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum AppName<'a> {
    Name(&'a str),
    Id { id: &'a str, name: &'a str },
}

impl Content<'_> {
    /// The list alone.
    pub fn as_list(&self) -> Value {
        match self {
            Self::Items(items) => json!(items),
            Self::Sections(sections) => json!(sections),
        }
    }
}

impl<'a> Exported<'a> {
    pub fn new(snapshot: &'a Snapshot, keys: &'a Keys, pictures: &'a [ExportedPicture]) -> Self {
        let names = Names::new(snapshot, keys);
        let groups = snapshot.groups.iter().map(|group| {
            let [home_board, mobile_home_board] = names.home(Some(&group.id));
            Group {
                name: &group.name,
                permissions: &group.permissions,
                home_board,
                mobile_home_board,
            }
        });
        let users = snapshot.users.iter().map(|user| User {
            name: &user.name,
            provider: user.provider,
            email: user.email.as_deref(),
            email_verified: user.email_verified,
            image: user.image.as_deref(),
            disabled: user.disabled,
            second_factor: user.has_second_factor,
            groups: groups_named(&names, &user.groups),
        });
        let engines = snapshot.search_engines.iter().map(|engine| Engine {
            name: &engine.name,
            short: &engine.short,
            url_template: &engine.url_template,
            icon_url: &engine.icon_url,
            description: engine.description.as_deref(),
        });
        let boards = snapshot.boards.iter().map(|(board, shares)| Board {
            name: &board.board.name,
            is_public: board.board.is_public,
            creator: board
                .board
                .creator_id
                .as_deref()
                .and_then(|id| user_named(&names, id)),
            slug: board.board.slug.as_deref(),
            content: content_named(&names, &board.sections),
            shared_with: SharedWith {
                users: shared_users(&names, &shares.users),
                groups: shared_groups(&names, &shares.groups),
            },
        });
        let gates = snapshot.gates.iter().filter_map(|gate| {
            Some(AppGate {
                app: app_named(&names, &gate.app_id)?,
                addresses: &gate.addresses,
                is_open: gate.is_open,
            })
        });
        let [home_board, mobile_home_board] = names.home(None);
        Self {
            gate: gates.collect(),
            groups: groups.collect(),
            users: users.collect(),
            apps: &snapshot.apps,
            search_engines: engines.collect(),
            boards: boards.collect(),
            home_board,
            mobile_home_board,
            site: Site {
                looks: &snapshot.looks,
                start_board: snapshot.start_board(),
                ping_allow: &snapshot.looks.ping_allow,
            },
            pictures,
        }
    }
}

/// Groups as a document names them, in the order of names.
pub(super) fn groups_named<'a>(names: &Names<'a>, ids: &[Id]) -> Vec<&'a str> {
    let mut groups: Vec<_> = ids.iter().filter_map(|id| names.group(id)).collect();
    groups.sort_unstable();
    groups.into_iter().map(|(_, name)| name).collect()
}

/// Groups with which a board is shared as a document names them, in the order of names.
pub(super) fn shared_groups<'a>(names: &Names<'a>, shares: &[Share]) -> Vec<ShareWith<'a>> {
    let mut groups: Vec<_> = shares
        .iter()
        .filter_map(|share| Some((names.group(&share.id)?, share.may_change)))
        .collect();
    groups.sort_unstable();
    groups
        .into_iter()
        .map(|((_, name), may_change)| share_with(name, None, may_change))
        .collect()
}

/// Users with whom a board is shared as a document names them, in the order of names.
pub(super) fn shared_users<'a>(names: &Names<'a>, shares: &[Share]) -> Vec<ShareWith<'a>> {
    let mut shares: Vec<_> = shares
        .iter()
        .map(|share| (names.position_of_user(&share.id), share))
        .collect();
    shares.sort_unstable();
    shares
        .into_iter()
        .filter_map(|(_, share)| {
            let (user, is_unique) = names.user(&share.id)?;
            let provider = (!is_unique).then_some(user.provider);
            Some(share_with(&user.name, provider, share.may_change))
        })
        .collect()
}

fn share_with(name: &str, provider: Option<Provider>, may_change: bool) -> ShareWith<'_> {
    match (provider, may_change) {
        (None, false) => ShareWith::Name(name),
        _ => ShareWith::Of {
            name,
            provider,
            may_change,
        },
    }
}

/// A user as a document names them.
pub(super) fn user_named<'a>(names: &Names<'a>, id: &str) -> Option<UserName<'a>> {
    let (user, is_unique) = names.user(id)?;
    let (name, provider) = (user.name.as_str(), user.provider);
    Some(if is_unique {
        UserName::Name(name)
    } else {
        UserName::Of { name, provider }
    })
}

/// An app as a document names it.
fn app_named<'a>(names: &Names<'a>, id: &str) -> Option<AppName<'a>> {
    let (app, is_unique) = names.app(id)?;
    let (id, name) = (app.id.as_str(), app.name.as_str());
    Some(if is_unique {
        AppName::Name(name)
    } else {
        AppName::Id { id, name }
    })
}

/// What is on a board, as a document names it.
pub(super) fn content_named<'a>(names: &Names<'a>, sections: &'a [storage::Section]) -> Content<'a> {
    if let [section] = sections
        && section.is_plain()
    {
        return Content::Items(items_named(names, &section.items));
    }
    let sections = sections.iter().map(|section| Section {
        name: section.name.as_deref(),
        collapsed: section.collapsed,
        items: items_named(names, &section.items),
    });
    Content::Sections(sections.collect())
}

fn items_named<'a>(names: &Names<'a>, items: &'a [PlacedItem]) -> Vec<Item<'a>> {
    let app = |id: &Id| app_named(names, id);
    let items = items.iter().filter_map(|placed| {
        let kind = match &placed.item {
            BoardItem::App { app_id } => ItemKind::App(app(app_id)?),
            BoardItem::Bookmarks { app_ids } => ItemKind::Bookmarks(app_ids.iter().filter_map(app).collect()),
            BoardItem::Note { text } => ItemKind::Note(text),
            BoardItem::Clock { time_zone } => ItemKind::Clock(Clock {
                time_zone: time_zone.as_deref(),
            }),
        };
        let size = (placed.size != placed.item.default_size()).then_some(placed.size);
        Some(Item { kind, size })
    });
    items.collect()
}
