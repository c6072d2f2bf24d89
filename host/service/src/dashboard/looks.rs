//! `site.*`: what the dashboard looks like, for everyone.

use portico_model::{TextChange, error::Error};
use portico_rules::{bounds, rule::Rule};
use portico_storage::{Access, AppVisibility, DashboardTransaction, Density, Looks, Picture};
use serde::Serialize;

use super::{
    state::Change,
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, Field, NULLABLE_TEXT,
        Shape::{self, Boolean, Bounded, Choice, Integer, Named, Nothing, Nullable, Record, Text},
        Shaped, join, optional, records, required,
    },
};

const COLOR: Shape = Bounded(&Text, Bound::Pattern(r"^\s*#[0-9a-fA-F]{6}\s*$"));
const COLUMNS: Shape = Bounded(&Integer, Bound::range(bounds::TILE_COLUMNS));
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
    }
}

/// The looks, as they are returned.
pub(super) const LOOKS: Shape = Named("Looks", &Record(FIELDS));

const SITE: Shape = Named(
    "Site",
    &Record(join!(
        FIELDS,
        &[required("fixedAppVisibility", Nullable(&APP_VISIBILITY)).about(
            "Who sees which app on this host, if its setting `--app-visibility` says it; null: as `appVisibility` says."
        )],
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
}

pub(super) static ROWS: &[Row] = &[
    query("site.get", Nothing, SITE, |call| Box::pin(get(call)))
        .public()
        .about("What the dashboard looks like, and who sees which app.")
        .at("GET", "/api/site"),
    mutation(
        "site.update",
        Named("LooksChange", &LooksChange::SHAPE),
        Nothing,
        |call| Box::pin(update(call)),
    )
    .about("Changes what the dashboard looks like, for everyone, and who sees which app. Absent fields stay as they are.")
    .at("PATCH", "/api/site"),
];

async fn get(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let looks = transaction.get_looks().await?;
    let in_force = transaction.get_visibility_in_force().await?;
    json(&Site {
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
        }
    }
}
