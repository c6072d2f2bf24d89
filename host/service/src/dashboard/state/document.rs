//! The document: the state that a dashboard should have.
//!
//! An absent key leaves an existing record as it is, and gives a new one its default; null clears.

use portico_model::{Id, PathSegment, Provider, TextChange, Timestamp, time};
use portico_rules::{bounds, permissions::Permission, rule::Rule};
use portico_storage::{SearchEngine, Size};
use serde::{Deserialize, Deserializer};

use super::super::{
    boards::{
        self,
        arrangement::{
            COLLAPSED_ABOUT, NOTE, NOTE_ABOUT, SECTION_NAME, SECTION_NAME_ABOUT, SIZE, TIME_ZONE,
            TIME_ZONE_ABOUT,
        },
        bounds::{Bounds, MOST_ITEMS, MOST_SECTIONS, at, key},
    },
    change::Change,
    gate, groups,
    looks::LooksChange,
    pictures, search_engines,
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{apps, users},
    shape::{
        Bound, Field, NULLABLE_DATE, NULLABLE_TEXT, PROVIDER,
        Shape::{self, Boolean, Bounded, Choice, Either, List, Named, Nullable, Record, Text},
        Shaped, optional, records, required,
    },
};

/// The most apps of a document.
const MOST_APPS: usize = 100_000;
/// The most pictures of a document.
pub(super) const MOST_PICTURES: usize = 500;
/// The most entries of any other list.
const MOST_ENTRIES: usize = 10_000;

const fn at_most(shape: &'static Shape, most: usize) -> Shape {
    Bounded(shape, Bound::Count(0, most as u32))
}

/// The ways in which a board names a user.
pub(super) const USER_NAME: Shape = Named(
    "UserName",
    &Either(
        &Text,
        &Record(&[
            required("name", Text).about("The username."),
            required("provider", PROVIDER).about("Who vouches for the user."),
        ]),
    ),
);
/// The ways in which a board names a user with whom it is shared.
pub(super) const SHARED_USER: Shape = Named(
    "SharedUser",
    &Either(
        &Text,
        &Record(&[
            required("name", Text).about("The username."),
            optional("provider", PROVIDER).about("Who vouches for the user."),
            MAY_CHANGE,
        ]),
    ),
);
/// The ways in which a board names a group with which it is shared.
pub(super) const SHARED_GROUP: Shape = Named(
    "SharedGroup",
    &Either(
        &Text,
        &Record(&[required("name", Text).about("The group's name."), MAY_CHANGE]),
    ),
);
const MAY_CHANGE: Field = optional("mayChange", Boolean).about(
    "Whether they may also change the board's name, its short address and what is on it; not, if absent or if only a \
     name is given.",
);
/// The ways in which a board names an app.
const APP_NAME: Shape = Named(
    "AppName",
    &Either(
        &Text,
        &Record(&[
            required("id", Text).about("The app's id."),
            optional("name", Text).about("The app's name, for readers; it is ignored."),
        ]),
    ),
);

records! {
    /// See the module. An absent list is not touched, even if `prune` is set.
    pub(super) struct Document {
        groups: Option<Vec<Group>> = optional("groups", at_most(&List(&GROUP), MOST_ENTRIES))
            .about("Groups: found by name."),
        users: Option<Vec<User>> = optional("users", at_most(&List(&USER), MOST_ENTRIES))
            .about("Users: found by provider and name."),
        apps: Option<Vec<App>> = optional("apps", at_most(&List(&APP), MOST_APPS))
            .about("Apps: found by id, or else by name."),
        search_engines: Option<Vec<Engine>> = optional("searchEngines", at_most(&List(&ENGINE), MOST_ENTRIES))
            .about("Search engines: found by name."),
        boards: Option<Vec<Board>> = optional("boards", at_most(&List(&BOARD), MOST_ENTRIES))
            .about("Boards: found by name."),
        gate: Option<Vec<AppGate>> = optional("gate", at_most(&List(&APP_GATE), MOST_ENTRIES))
            .about("What is set of apps for the gate in front of them. `prune` takes it from apps that the list does not name."),
        #[serde(default)]
        home_board: TextChange = optional("homeBoard", NULLABLE_TEXT).about(
            "The board that people see first who have chosen none and none of whose groups has one, by name; null: none."
        ),
        #[serde(default)]
        mobile_home_board: TextChange = optional("mobileHomeBoard", NULLABLE_TEXT).about("The same on phones."),
        site: Option<LooksChange> = optional("site", Named("LooksChange", &LooksChange::SHAPE))
            .about("What the dashboard looks like. A picture that is neither here nor stored is left out, with a warning."),
        pictures: Option<Vec<Picture>> = optional("pictures", at_most(&List(&PICTURE), MOST_PICTURES))
            .about("Pictures that looks and icons refer to. `prune` removes none: those that nothing uses go by themselves."),
        #[serde(default)]
        prune: bool = optional("prune", Boolean)
            .about("Whether to remove records that a list does not name. An absent list removes nothing."),
        #[serde(default)]
        dry_run: bool = optional("dryRun", Boolean)
            .about("Whether only to report what would change; nothing is written."),
    }

    pub(super) struct Group {
        name: String = required("name", LABEL)
            .about("1 to 64 characters on one line, trimmed; no other group in the list has it."),
        permissions: Option<Vec<String>> = optional("permissions", List(&Choice(&Permission::NAMES)))
            .about("What its members may do, all of it. Absent: as it was; nothing for a new group."),
        #[serde(default)]
        home_board: TextChange = optional("homeBoard", NULLABLE_TEXT)
            .about("The board that its members see first who have chosen none, by name; null: none."),
        #[serde(default)]
        mobile_home_board: TextChange = optional("mobileHomeBoard", NULLABLE_TEXT).about("The same on phones."),
    }

    pub(super) struct User {
        name: String = required("name", users::ANY_NAME).about(
            "3 to 255 characters on one line (of `oidc` and `ldap` 1 to 255), trimmed, for a new user without \
             invisible ones; no other user of this provider in the list has it."
        ),
        provider: Provider = required("provider", PROVIDER).about("Who vouches for the user."),
        #[serde(default)]
        email: TextChange = optional("email", Nullable(&users::EMAIL))
            .about("The email; one that differs resets `emailVerified`, unless that is set as well."),
        #[serde(default, deserialize_with = "moment_change")]
        email_verified: Change<Timestamp> = optional("emailVerified", NULLABLE_DATE)
            .about("When the email was verified; only with an email."),
        password: Option<String> = optional("password", users::PASSWORD).about(
            "Used only for a user who is created, and only by the provider `credentials`: 8 to 255 characters."
        ),
        #[serde(default)]
        image: TextChange = optional("image", Nullable(&users::IMAGE_OR_URL)).about(
            "A data URI of an image (PNG, JPEG, GIF, WebP), trimmed; for a user of `oidc` or `ldap` also a URL."
        ),
        groups: Option<Vec<String>> = optional("groups", List(&Text))
            .about("The groups that the user is in, all of them, by name."),
        disabled: Option<bool> = optional("disabled", Boolean)
            .about("Whether the user is disabled and cannot sign in; not, if new."),
        #[allow(dead_code, reason = "a document does not change it")]
        second_factor: Option<bool> = optional("secondFactor", Boolean)
            .about("What `state.export` says of the user's second factor. It changes nothing: no document has the secret."),
    }

    pub(super) struct App {
        id: Option<String> = optional("id", Bounded(&Text, Bound::length(bounds::GIVEN_ID))).about(
            "Which app, created under this id if it is not there: 1 to 128 characters on one line. Absent: \
             found by name."
        ),
        name: String = required("name", apps::NAME).about("1 to 64 characters on one line, trimmed."),
        #[serde(default)]
        description: TextChange = optional("description", apps::DESCRIPTION)
            .about("What the app is: at most 512 characters, trimmed."),
        icon_url: Option<String> = optional("iconUrl", apps::ICON_URL).about(
            "1 to 65,536 characters on one line, trimmed; not `javascript:` or `vbscript:`, and `data:` only \
             where it is an image. Absent: as it was; for a new app an icon that fits the name."
        ),
        #[serde(default)]
        href: TextChange = optional("href", apps::HREF)
            .about(
                "Where the app is opened: an absolute URL, not `javascript:` or `data:`, trimmed. One without its \
                 scheme (`nas:5000`) is taken, and named in `warnings`."
            ),
        #[serde(default)]
        ping_url: TextChange = optional("pingUrl", apps::PING_URL).about(
            "Where the app is asked whether it is up: an absolute URL with `http:` or `https:`, trimmed."
        ),
    }

    pub(super) struct AppGate {
        app: AppName = required("app", APP_NAME).about("Which app; in the list once."),
        addresses: Vec<String> = required("addresses", gate::ADDRESSES).about(gate::ADDRESSES_ABOUT),
        is_open: bool = required("isOpen", Boolean).about(gate::IS_OPEN_ABOUT),
    }

    pub(super) struct Engine {
        name: String = required("name", LABEL)
            .about("1 to 64 characters on one line, trimmed; unique in the list."),
        short: String = required("short", search_engines::SHORT)
            .about("1 to 8 characters on one line, trimmed; unique."),
        url_template: String = required("urlTemplate", search_engines::URL_TEMPLATE)
            .about("A URL with `http://` or `https://` in which `%s` stands for the query."),
        icon_url: String = required("iconUrl", search_engines::URL).about(search_engines::ICON_URL_ABOUT),
        #[serde(default)]
        description: TextChange = optional("description", search_engines::DESCRIPTION)
            .about("At most 512 characters, trimmed."),
    }

    pub(super) struct Picture {
        id: Option<String> = optional("id", Text).about("Its id, which is the SHA-256 of the picture."),
        image: String = required("image", pictures::IMAGE).about(pictures::IMAGE_ABOUT),
    }

    pub(super) struct Board {
        name: String = required("name", LABEL)
            .about("1 to 64 characters on one line, trimmed; no other board in the list has it."),
        is_public: Option<bool> = optional("isPublic", Boolean)
            .about("Whether everyone may view it, signed in or not; not, if it is new."),
        #[serde(default)]
        creator: Change<UserName> = optional("creator", Nullable(&USER_NAME)).about("Who made it."),
        #[serde(default)]
        slug: TextChange = optional("slug", boards::SLUG).about(boards::SLUG_ABOUT),
        items: Option<Vec<Item>> = optional("items", at_most(&List(&ITEM), MOST_ITEMS))
            .about("What is on it, in one section without a name, in this order."),
        sections: Option<Vec<Section>> = optional("sections", at_most(&List(&SECTION), MOST_SECTIONS))
            .about("What is on it, in sections. A board has this, or `items`."),
        #[serde(default)]
        shared_with: Change<SharedWith> = optional("sharedWith", Nullable(&SHARED_WITH))
            .about("Who else may view it; null: no one."),
    }

    pub(super) struct Section {
        name: Option<String> = optional("name", SECTION_NAME).about(SECTION_NAME_ABOUT),
        #[serde(default)]
        collapsed: bool = optional("collapsed", Boolean).about(COLLAPSED_ABOUT),
        items: Vec<Item> = required("items", List(&ITEM)).about("Its items, in this order; at most 1,000 on a board."),
    }

    /// Has one of `app`, `bookmarks`, `note` and `clock`.
    pub(super) struct Item {
        app: Option<AppName> = optional("app", APP_NAME)
            .about("Which app. An item has this, `bookmarks`, `note` or `clock`."),
        bookmarks: Option<Vec<AppName>> = optional("bookmarks", at_most(&List(&APP_NAME), MOST_ITEMS))
            .about("Which apps, in this order."),
        note: Option<String> = optional("note", NOTE).about(NOTE_ABOUT),
        clock: Option<Clock> = optional("clock", CLOCK).about("A clock."),
        size: Option<Size> = optional("size", SIZE).about(
            "How large it is shown. Absent: 2x2 for a note, otherwise 1x1."
        ),
    }

    pub(super) struct Clock {
        time_zone: Option<String> = optional("timeZone", TIME_ZONE).about(TIME_ZONE_ABOUT),
    }

    /// An absent list stays as it was.
    #[derive(Default)]
    pub(super) struct SharedWith {
        users: Option<Vec<ShareWith>> = optional("users", at_most(&List(&SHARED_USER), MOST_ITEMS))
            .about("Which users. Absent: as it was."),
        groups: Option<Vec<ShareWith>> = optional("groups", at_most(&List(&SHARED_GROUP), MOST_ITEMS))
            .about("Whose members: groups by name. Absent: as it was."),
    }
}

/// The input of `state.apply`.
pub(crate) const DOCUMENT: Shape = Named("Document", &Document::SHAPE);
const GROUP: Shape = Named("WantedGroup", &Group::SHAPE);
const USER: Shape = Named("WantedUser", &User::SHAPE);
const APP: Shape = Named("WantedApp", &App::SHAPE);
/// What is set of an app for the gate, by the name of the app.
pub(super) const APP_GATE: Shape = Named("GateContent", &AppGate::SHAPE);
const ENGINE: Shape = Named("WantedSearchEngine", &Engine::SHAPE);
const PICTURE: Shape = Named("WantedPicture", &Picture::SHAPE);
const BOARD: Shape = Named("WantedBoard", &Board::SHAPE);
/// An item of a board, by name.
pub(super) const ITEM: Shape = Named("BoardContent", &Item::SHAPE);
/// A section of a board, with items by name.
pub(super) const SECTION: Shape = Named("BoardPart", &Section::SHAPE);
const CLOCK: Shape = Record(Clock::FIELDS);
const SHARED_WITH: Shape = Named("WantedShares", &SharedWith::SHAPE);

/// A user or a group with whom a board is shared. A name alone lets them only view it.
#[derive(Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ShareWith {
    Name(String),
    Of {
        name: String,
        /// Only of a user.
        provider: Option<Provider>,
        #[serde(default)]
        may_change: bool,
    },
}

impl ShareWith {
    pub fn name(&self) -> &String {
        match self {
            Self::Name(name) | Self::Of { name, .. } => name,
        }
    }

    pub fn provider(&self) -> Option<Provider> {
        match self {
            Self::Name(_) => None,
            Self::Of { provider, .. } => *provider,
        }
    }

    pub fn may_change(&self) -> bool {
        matches!(self, Self::Of { may_change: true, .. })
    }
}

/// A user by name alone where that is unambiguous.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum UserName {
    Name(String),
    Of { name: String, provider: Provider },
}

/// An app by name alone where that is unambiguous.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum AppName {
    Name(String),
    Id { id: String },
}

impl AppName {
    fn name(&self) -> Option<&String> {
        match self {
            Self::Name(name) => Some(name),
            Self::Id { .. } => None,
        }
    }
}

/// For each entry of a list, the existing record that it names; `None` if the entry is new.
pub(super) type Matches = Vec<Option<Id>>;

/// A change of an optional moment.
fn moment_change<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Change<Timestamp>, D::Error> {
    let moment = time::deserialize_option(deserializer)?;
    Ok(moment.map_or(Change::Clear, Change::Set))
}

/// The entries of a list; empty if it is absent.
pub(super) fn entries<T>(list: &Option<Vec<T>>) -> &[T] {
    list.as_deref().unwrap_or_default()
}

impl Document {
    /// Checks groups, search engines and boards by the rules of the procedures that create them, and trims
    /// their texts. The component checks users and apps.
    pub fn check(&mut self, fields: &mut Fields) {
        fields.count("groups", entries(&self.groups).len(), MOST_ENTRIES);
        fields.count("users", entries(&self.users).len(), MOST_ENTRIES);
        fields.count("apps", entries(&self.apps).len(), MOST_APPS);
        fields.count("searchEngines", entries(&self.search_engines).len(), MOST_ENTRIES);
        fields.count("boards", entries(&self.boards).len(), MOST_ENTRIES);
        fields.count("gate", entries(&self.gate).len(), MOST_ENTRIES);
        fields.count("pictures", entries(&self.pictures).len(), MOST_PICTURES);
        for (index, group) in self.groups.iter_mut().flatten().enumerate() {
            fields.enter("groups", index);
            group.name = groups::check_name(fields, &group.name);
            let permissions = group.permissions.take();
            group.permissions = permissions.map(groups::in_order);
        }
        for (index, gate) in self.gate.iter_mut().flatten().enumerate() {
            fields.enter("gate", index);
            gate.addresses = gate::check_addresses(fields, &gate.addresses);
        }
        for (index, engine) in self.search_engines.iter_mut().flatten().enumerate() {
            fields.enter("searchEngines", index);
            engine.check(fields);
        }
        for (index, board) in self.boards.iter_mut().flatten().enumerate() {
            fields.enter("boards", index);
            board.check(fields);
        }
        fields.leave();
    }

    /// Every name in it: their keys are needed to compare them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let users = entries(&self.users).iter();
        let users = users.flat_map(|user| [&user.name].into_iter().chain(entries(&user.groups)));
        let engines = entries(&self.search_engines).iter();
        let own = entries(&self.groups).iter().map(|group| &group.name);
        let own = own.chain(entries(&self.apps).iter().map(|app| &app.name));
        let own = own.chain(engines.flat_map(|engine| [&engine.name, &engine.short]));
        let boards = entries(&self.boards).iter().flat_map(Board::names);
        let gates = entries(&self.gate).iter().filter_map(|gate| gate.app.name());
        let homes = entries(&self.groups).iter().map(Group::homes);
        let homes = [self.homes()].into_iter().chain(homes).flatten();
        let start = self.site.iter().map(|site| &site.start_board);
        let chosen = homes.map(|(_, change)| change).chain(start);
        let chosen = chosen.filter_map(|change| match change {
            TextChange::Set(name) => Some(name),
            TextChange::Keep | TextChange::Clear => None,
        });
        let all = users.chain(own).chain(boards).chain(gates).chain(chosen);
        all.map(String::as_str)
    }
}

impl Document {
    /// Everyone's home boards: field and board.
    pub fn homes(&self) -> [(&'static str, &TextChange); 2] {
        [
            ("homeBoard", &self.home_board),
            ("mobileHomeBoard", &self.mobile_home_board),
        ]
    }
}

impl Group {
    /// The home boards of its members: field and board.
    pub fn homes(&self) -> [(&'static str, &TextChange); 2] {
        [
            ("homeBoard", &self.home_board),
            ("mobileHomeBoard", &self.mobile_home_board),
        ]
    }
}

impl Engine {
    fn check(&mut self, fields: &mut Fields) {
        let description = match &self.description {
            TextChange::Set(text) => Some(text.clone()),
            TextChange::Keep | TextChange::Clear => None,
        };
        let checked = search_engines::check(
            fields,
            SearchEngine {
                id: String::new(),
                name: std::mem::take(&mut self.name),
                short: std::mem::take(&mut self.short),
                url_template: std::mem::take(&mut self.url_template),
                icon_url: std::mem::take(&mut self.icon_url),
                description,
            },
        );
        self.name = checked.name;
        self.short = checked.short;
        self.url_template = checked.url_template;
        self.icon_url = checked.icon_url;
        if let TextChange::Set(_) = self.description {
            self.description = checked.description.map_or(TextChange::Clear, TextChange::Set);
        }
    }
}

impl Board {
    fn check(&mut self, fields: &mut Fields) {
        self.name = boards::check_name(fields, &self.name);
        self.slug = boards::check_slug(fields, std::mem::take(&mut self.slug));
        if self.items.is_some() && self.sections.is_some() {
            fields.refuse("items", Rule::ItemsWithSections);
        }
        if let Some(items) = &mut self.items {
            let mut bounds = Bounds::new(fields, "items");
            bounds.items(items.len());
            check_items(&mut bounds, &key(&[], "items"), items);
            bounds.finish();
        }
        if let Some(sections) = &mut self.sections {
            let mut bounds = Bounds::new(fields, "sections");
            bounds.sections(sections.len());
            bounds.items(sections.iter().map(|section| section.items.len()).sum());
            for (number, section) in sections.iter_mut().enumerate() {
                let place = at(&key(&[], "sections"), number);
                bounds.section_name(&key(&place, "name"), &mut section.name);
                check_items(&mut bounds, &key(&place, "items"), &mut section.items);
            }
            bounds.finish();
        }
        if let Change::Set(shared) = &self.shared_with {
            boards::sharing::check_shares(
                fields,
                entries(&shared.users).len(),
                entries(&shared.groups).len(),
            );
        }
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        let (creator, shared) = (self.creator.as_set(), self.shared_with.as_set());
        let creator = creator.map(|user| match user {
            UserName::Name(name) | UserName::Of { name, .. } => name,
        });
        let shared = shared
            .into_iter()
            .flat_map(|shared| [&shared.users, &shared.groups])
            .flat_map(entries)
            .map(ShareWith::name);
        let sections = entries(&self.sections).iter().flat_map(|section| &section.items);
        let items = entries(&self.items).iter().chain(sections);
        let apps = items.flat_map(|item| item.app.iter().chain(entries(&item.bookmarks)));
        let apps = apps.filter_map(AppName::name);
        [&self.name].into_iter().chain(creator).chain(apps).chain(shared)
    }
}

fn check_items(bounds: &mut Bounds, place: &[PathSegment], items: &mut [Item]) {
    for (index, item) in items.iter_mut().enumerate() {
        let place = at(place, index);
        let given = [
            item.app.is_some(),
            item.bookmarks.is_some(),
            item.note.is_some(),
            item.clock.is_some(),
        ];
        if given.iter().filter(|is_given| **is_given).count() != 1 {
            bounds.refuse(&place, Rule::NotOneKindOfItem);
        }
        if let Some(apps) = &item.bookmarks {
            bounds.apps(&key(&place, "bookmarks"), apps.len());
        }
        if let Some(text) = &mut item.note {
            bounds.note(&key(&place, "note"), text);
        }
        if let Some(clock) = &mut item.clock {
            let place = key(&key(&place, "clock"), "timeZone");
            bounds.time_zone(&place, &mut clock.time_zone);
        }
    }
}
