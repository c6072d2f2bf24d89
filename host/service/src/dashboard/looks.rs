//! `site.*`: what the dashboard looks like, for everyone, and what administrators decide for the whole of it.
//!
//! Invariant: what status checks may reach is told to administrators only.

use portico_model::{
    Id,
    PathSegment::{Field as At, Index},
    TextChange,
    error::{Code, Error},
};
use portico_rules::{bounds, checked_hosts::CheckedHost, refusal::Missing, rule::Rule};
use portico_storage::{ADMIN, Access, AppVisibility, DashboardTransaction, Density, Looks, Picture};
use serde::Serialize;

use super::{
    change::Change,
    transaction::require_found,
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, Field, NULLABLE_TEXT,
        Shape::{self, Boolean, Bounded, Choice, Integer, List, Named, Nothing, Nullable, Record, Text},
        Shaped, join, optional, records, required,
    },
};

const COLOR: Shape = Bounded(&Text, Bound::Pattern(r"^\s*#[0-9a-fA-F]{6}\s*$"));
const COLUMNS: Shape = Bounded(&Integer, Bound::range(bounds::TILE_COLUMNS));
const HOSTS: Shape = Bounded(&List(&Text), Bound::count(bounds::CHECKED_HOSTS));
const DENSITY: Shape = Choice(&Density::NAMES);
const APP_VISIBILITY: Shape = Choice(&AppVisibility::NAMES);
const APP_VISIBILITY_ABOUT: &str = "Who sees which app: `everyone` all of them, or each only those on `boards` that they may \
                                    view. The setting `--app-visibility` of a host overrides it.";

records! {
    /// An absent field stays as it was.
    #[derive(Default)]
    pub(super) struct LooksChange {
        #[serde(default)]
        name: TextChange = optional("name", Nullable(&LABEL)).about(
            "What the dashboard is called: 1 to 64 characters on one line, trimmed; null: Portico."
        ),
        #[serde(default)]
        logo: TextChange = optional("logo", NULLABLE_TEXT)
            .about("The id of a picture (`picture.create`); null: Portico's mark."),
        #[serde(default)]
        accent_color: TextChange = optional("accentColor", Nullable(&COLOR)).about(
            "The colour of links and buttons, as `#rrggbb`, trimmed; null: Portico's. Where it would be hard to read, pages show a \
             lighter or a darker one."
        ),
        #[serde(default)]
        wallpaper: TextChange = optional("wallpaper", NULLABLE_TEXT)
            .about("The id of the picture behind the tiles; null: none."),
        density: Option<Density> = optional("density", DENSITY)
            .about("How large tiles are: icons with names, one line, or with descriptions."),
        #[serde(default)]
        columns: Change<u32> = optional("columns", Nullable(&COLUMNS))
            .about("How many columns of tiles there are where they fit; null: as many as fit."),
        wide_screens: Option<bool> = optional("wideScreens", Boolean)
            .about("Whether tiles take the whole width of a wide screen."),
        app_visibility: Option<AppVisibility> = optional("appVisibility", APP_VISIBILITY).about(APP_VISIBILITY_ABOUT),
        #[serde(default)]
        start_board: TextChange = optional("startBoard", NULLABLE_TEXT).about(
            "The board that people see first who are not signed in, as long as everyone may view it: its id, or in a document its \
             name; null: everyone's home board, if it is public. The setting `--start-board` of a host overrides it."
        ),
        ping_allow: Option<Vec<String>> = optional("pingAllow", HOSTS).about(
            "The hosts in private networks that status checks may reach: networks (`192.168.0.0/16`), addresses, hosts \
             (`nas.lan`) and the names below one (`*.lan`). Whatever it says, no check reaches a loopback or \
             link-local address. The setting `--ping-allow` of a host overrides it."
        ),
    }
}

/// The looks, as an export has them.
pub(super) const LOOKS: Shape = Named(
    "Looks",
    &Record(join!(
        FIELDS,
        &[
            required("startBoard", NULLABLE_TEXT)
                .about("The board that people see first who are not signed in, by name; null: none."),
            required("pingAllow", List(&Text))
                .about("The hosts in private networks that status checks may reach."),
        ],
    )),
);

const SITE: Shape = Named(
    "Site",
    &Record(join!(
        FIELDS,
        &[
            required("fixedAppVisibility", Nullable(&APP_VISIBILITY)).about(
                "Who sees which app on this host, if its setting `--app-visibility` says it; null: as `appVisibility` says."
            ),
            required("startBoard", NULLABLE_TEXT).about(
                "The id of the board that people see first who are not signed in, as long as everyone may view it; null: none."
            ),
            required("pingAllow", Nullable(&List(&Text))).about(
                "For administrators, the hosts in private networks that status checks may reach; null for others."
            ),
            required("fixedPingAllow", Nullable(&List(&Text))).about(
                "For administrators, the same if this host's setting `--ping-allow` says it; none if it checks nothing. Null: as \
                 `pingAllow` says."
            ),
        ],
    )),
);

const FIELDS: &[Field] = &[
    required("name", NULLABLE_TEXT).about("What the dashboard is called; null: Portico."),
    required("logo", NULLABLE_TEXT).about("The id of the logo; null: Portico's mark."),
    required("accentColor", NULLABLE_TEXT).about("The colour of links and buttons; null: Portico's."),
    required("wallpaper", NULLABLE_TEXT).about("The id of the picture behind the tiles."),
    required("density", DENSITY).about("How large tiles are."),
    required("columns", Nullable(&Integer))
        .about("How many columns of tiles there are where they fit; null: as many as fit."),
    required("wideScreens", Boolean).about("Whether tiles take the whole width of a wide screen."),
    required("appVisibility", APP_VISIBILITY).about(APP_VISIBILITY_ABOUT),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Site {
    #[serde(flatten)]
    looks: Looks,
    fixed_app_visibility: Option<AppVisibility>,
    start_board: Option<Id>,
    ping_allow: Option<Vec<String>>,
    fixed_ping_allow: Option<Vec<String>>,
}

pub(super) static ROWS: &[Row] = &[
    query("site.get", Nothing, SITE, |call| Box::pin(get(call)))
        .public()
        .about("What the dashboard looks like, who sees which app, and what people see first who are not signed in.")
        .at("GET", "/api/site"),
    mutation(
        "site.update",
        Named("LooksChange", &LooksChange::SHAPE),
        Nothing,
        |call| Box::pin(update(call)),
    )
    .about(
        "Changes what the dashboard looks like, for everyone, who sees which app, what people see first who are not signed in, \
         and what status checks may reach. Absent fields stay as they are.",
    )
    .at("PATCH", "/api/site")
    .refuses(&[Code::NotFound]),
];

async fn get(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let mut looks = transaction.get_looks().await?;
    let in_force = transaction.get_visibility_in_force().await?;
    let user = call.identity.caller.as_ref();
    // Only administrators need to know which networks there are.
    let is_admin = user.is_some_and(|user| user.permissions.iter().any(|held| held == ADMIN));
    let fixed_hosts = || match &call.resources.reachability {
        Some(checker) => checker.fixed_hosts(),
        None => Some(Vec::new()),
    };
    json(&Site {
        start_board: looks.start_board.take(),
        ping_allow: is_admin.then(|| std::mem::take(&mut looks.ping_allow)),
        fixed_ping_allow: is_admin.then(fixed_hosts).flatten(),
        looks,
        fixed_app_visibility: in_force.is_fixed.then_some(in_force.visibility),
    })
}

async fn update(mut call: Call) -> Result<Output, Error> {
    let mut change: LooksChange = call.input()?;
    let mut fields = Fields::default();
    change.check(&mut fields);
    fields.check()?;

    let mut transaction = call.begin(Access::Write).await?;
    let present = transaction.get_looks().await?;
    let mut fields = Fields::default();
    change.keeps_direction(&mut fields, &present);
    for (field, id) in change.pictures() {
        if transaction.get_picture_size(id).await?.is_none() {
            fields.refuse(field, Rule::NotStoredPicture);
        }
    }
    fields.check()?;
    if let TextChange::Set(id) = &change.start_board {
        require_found(transaction.get_board(id).await?.is_some(), Missing::Board)?;
    }
    put(&mut *transaction, &present, &change.of(&present)).await?;
    transaction.commit().await?;
    json(&())
}

/// Stores looks, if they differ.
pub(super) async fn put(
    transaction: &mut dyn DashboardTransaction,
    present: &Looks,
    wanted: &Looks,
) -> Result<(), Error> {
    if present != wanted {
        transaction.set_looks(wanted).await?;
    }
    Ok(())
}

impl LooksChange {
    /// Checks the fields by themselves, trims the name and the colour, and writes the colour in lower case.
    pub fn check(&mut self, fields: &mut Fields) {
        if let TextChange::Set(name) = &mut self.name {
            *name = fields.label("name", name, bounds::LABEL);
        }
        if let TextChange::Set(color) = &mut self.accent_color {
            *color = color.trim().to_ascii_lowercase();
            let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
            if digits.is_none_or(|digits| !digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                fields.refuse("accentColor", Rule::NotColor);
            }
        }
        for (field, id) in self.pictures() {
            if !Picture::is_id(id) {
                fields.refuse(field, Rule::NotStoredPicture);
            }
        }
        if let Some(hosts) = &mut self.ping_allow {
            *hosts = check_hosts(fields, hosts);
        }
        // The shape has checked the range of the columns.
    }

    /// Refuses a new name that changes the direction of text.
    pub fn keeps_direction(&self, fields: &mut Fields, present: &Looks) {
        if let TextChange::Set(name) = &self.name {
            fields.keeps_direction("name", name, present.name.as_deref());
        }
    }

    /// The pictures that it sets: field and id.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let both = [("logo", &self.logo), ("wallpaper", &self.wallpaper)];
        both.into_iter().filter_map(|(field, change)| match change {
            TextChange::Set(id) => Some((field, id.as_str())),
            TextChange::Keep | TextChange::Clear => None,
        })
    }

    /// The looks after this change.
    pub fn of(&self, present: &Looks) -> Looks {
        let text = |change: &TextChange, present: &Option<String>| match change {
            TextChange::Keep => present.clone(),
            TextChange::Clear => None,
            TextChange::Set(text) => Some(text.clone()),
        };
        Looks {
            name: text(&self.name, &present.name),
            logo: text(&self.logo, &present.logo),
            accent_color: text(&self.accent_color, &present.accent_color),
            wallpaper: text(&self.wallpaper, &present.wallpaper),
            density: self.density.unwrap_or(present.density),
            columns: match self.columns {
                Change::Keep => present.columns,
                Change::Clear => None,
                Change::Set(columns) => Some(columns),
            },
            wide_screens: self.wide_screens.unwrap_or(present.wide_screens),
            app_visibility: self.app_visibility.unwrap_or(present.app_visibility),
            start_board: text(&self.start_board, &present.start_board),
            ping_allow: self.ping_allow.as_ref().unwrap_or(&present.ping_allow).clone(),
        }
    }
}

/// Checks the hosts that status checks may reach. Returns them as they are stored, each once.
fn check_hosts(fields: &mut Fields, hosts: &[String]) -> Vec<String> {
    fields.count("pingAllow", hosts.len(), *bounds::CHECKED_HOSTS.end());
    let mut checked = Vec::new();
    for (index, entry) in hosts.iter().enumerate() {
        let mut refuse = |rule| fields.refuse_at([At("pingAllow".into()), Index(index as u32)], rule);
        match CheckedHost::read(entry.trim()) {
            None => refuse(Rule::NotCheckedHost),
            Some(host) if !host.is_private() => refuse(Rule::NotPrivateNetwork),
            Some(host) => {
                let host = host.to_string();
                if !checked.contains(&host) {
                    checked.push(host);
                }
            }
        }
    }
    checked
}
