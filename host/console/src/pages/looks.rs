//! `/manage/looks`: what the dashboard looks like. "Try it" shows the page as it would be, and changes nothing for others.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use portico_rules::bounds;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    PageResult,
    pictures::{self, MOST_BYTES},
    profile::most,
    tiles::{App, Apps},
};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    fields::Fields,
    form::{Form, Problems},
    looks::{Looks, TileAttributes, is_picture, picture_path},
    respond::{page_with, see},
    texts::fill,
    visit::{Visit, Visitor},
};

/// The form may have two pictures.
static LOOKS: Fields = Fields::with(2 * MOST_BYTES);

const FIELDS: [&str; 8] = [
    "name",
    "accentColor",
    "logo",
    "wallpaper",
    "density",
    "columns",
    "wideScreens",
    "startBoard",
];

/// The pictures, each with the field of its upload and the one that removes it.
const PICTURES: [(&str, &str, &str); 2] = [
    ("logo", "logo-file", "logo-remove"),
    ("wallpaper", "wallpaper-file", "wallpaper-remove"),
];

/// The colour in the field while Portico's own is used.
const OWN_ACCENT: &str = "#3451c6";

pub(super) fn routes() -> Router {
    Router::new().route("/manage/looks", get(show).post(save))
}

#[derive(Template)]
#[template(path = "looks.html")]
struct LooksPage<'a> {
    v: &'a Visit,
    /// What the form shows.
    looks: Looks,
    problems: Problems,
    read: WasRead,
    is_tried: bool,
    /// Apps as an example of tiles.
    apps: Vec<App>,
    /// The boards that can be the first page of people who are not signed in.
    boards: Vec<PublicBoard>,
}

/// A board, as lists of boards have it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublicBoard {
    id: String,
    name: String,
    is_public: bool,
}

impl LooksPage<'_> {
    fn accent(&self) -> &str {
        self.looks.accent_color.as_deref().unwrap_or(OWN_ACCENT)
    }

    fn densities(&self) -> [(&'static str, &'static str); 3] {
        let t = &self.v.t.looks;
        [
            ("comfortable", t.comfortable),
            ("compact", t.compact),
            ("icons", t.icons),
        ]
    }

    /// The numbers of columns, and which of them is chosen.
    fn columns(&self) -> impl Iterator<Item = (u32, bool)> {
        bounds::TILE_COLUMNS.map(|number| (number, self.looks.columns == Some(number)))
    }

    fn is_start(&self, board: &PublicBoard) -> bool {
        self.looks.start_board.as_ref() == Some(&board.id)
    }

    /// Whether the host has chosen the first page of people who are not signed in.
    fn has_fixed_start(&self) -> bool {
        self.v.console.start_board.is_some()
    }

    fn most_bytes(&self) -> usize {
        MOST_BYTES
    }

    fn picture_hint(&self) -> String {
        let most = most(MOST_BYTES, self.v.t.language);
        fill(self.v.t.looks.picture_hint, &[&most])
    }

    fn wallpaper(&self) -> Option<String> {
        self.looks.wallpaper.as_deref().map(picture_path)
    }

    fn logo(&self) -> Option<String> {
        self.looks.logo.as_deref().map(picture_path)
    }

    /// The attributes of the tiles of the example.
    fn tiles(&self) -> TileAttributes<'_> {
        TileAttributes {
            looks: &self.looks,
            is_board: false,
            has_wall: false,
        }
    }
}

/// The first apps that the reader sees.
async fn example(visit: &Visit) -> Vec<App> {
    let input = json!({ "page": 1, "pageSize": 6, "search": "" });
    let found: Result<Apps, ApiError> = visit.api.query("app.getPaginated", input).await;
    found.map(|found| found.items).unwrap_or_default()
}

/// The public boards, and the one that is chosen.
async fn boards(visit: &Visit, looks: &Looks) -> Result<Vec<PublicBoard>, ApiError> {
    let mut boards: Vec<PublicBoard> = visit.api.query("board.getVisible", Value::Null).await?;
    boards.retain(|board| board.is_public || looks.start_board.as_ref() == Some(&board.id));
    Ok(boards)
}

/// The fields of looks, as texts.
fn texts_of(looks: &Looks) -> [(&'static str, String); 8] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        ("name", text(&looks.name)),
        ("accentColor", text(&looks.accent_color)),
        ("logo", text(&looks.logo)),
        ("wallpaper", text(&looks.wallpaper)),
        ("density", looks.density.clone()),
        (
            "columns",
            looks
                .columns
                .map(|columns| columns.to_string())
                .unwrap_or_default(),
        ),
        ("wideScreens", if looks.wide_screens { "yes" } else { "" }.into()),
        ("startBoard", text(&looks.start_board)),
    ]
}

/// The looks in a form.
fn typed(form: &Form) -> Looks {
    let text = |field: &str| form.optional(field).map(|text| text.trim().to_owned());
    let picture = |field: &str| text(field).filter(|id| is_picture(id));
    Looks {
        name: text("name"),
        logo: picture("logo"),
        accent_color: text("accentColor").filter(|_| form.is_ticked("ownAccent")),
        wallpaper: picture("wallpaper"),
        density: form.text("density").to_owned(),
        columns: form.text("columns").parse().ok(),
        wide_screens: form.is_ticked("wideScreens"),
        start_board: text("startBoard"),
        ..Looks::default()
    }
}

async fn stored(visit: &Visit) -> Result<Looks, ApiError> {
    visit.api.query("site.get", Value::Null).await
}

async fn show(visit: Visitor) -> PageResult {
    visit.permitted("admin")?;
    let looks = stored(&visit).await?;
    let texts = texts_of(&looks);
    let read: Vec<_> = texts.iter().map(|(name, text)| (*name, &**text)).collect();
    let read = WasRead::of(&read);
    let boards = boards(&visit, &looks).await?;
    Ok(page_with(
        StatusCode::OK,
        &LooksPage {
            v: &visit,
            looks,
            problems: Problems::default(),
            read,
            is_tried: false,
            apps: example(&visit).await,
            boards,
        },
    ))
}

async fn save(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("admin")?;
    let mut form = visit.form_with(&LOOKS, request).await?;
    let is_tried = form.text("do") == "try";
    let mut read = WasRead::kept(&form, &FIELDS);
    let (status, problems) = match change(&visit, &mut form, &mut read, is_tried).await {
        Ok(problems) if !problems.is_empty() => (StatusCode::UNPROCESSABLE_ENTITY, problems),
        Ok(_) if !is_tried => return Ok(see("/manage/looks?note=saved")),
        Ok(none) => (StatusCode::OK, none),
        Err(error) if matches!(error.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            return Err(error);
        }
        // Something else than what was typed is in the way.
        Err(error) => {
            let mut problems = Problems::default();
            problems.add_to_whole(visit.say(&error.message));
            (error.status, problems)
        }
    };
    let typed = typed(&form);
    if problems.is_empty() {
        visit.try_looks(typed.clone());
    }
    let boards = boards(&visit, &typed).await?;
    let again = LooksPage {
        v: &visit,
        boards,
        looks: typed,
        is_tried: problems.is_empty(),
        problems,
        read,
        apps: example(&visit).await,
    };
    Ok(page_with(status, &again))
}

/// Stores the pictures of a form, and its looks unless they are only tried. Returns what is wrong with it.
async fn change(
    visit: &Visit,
    form: &mut Form,
    read: &mut WasRead,
    is_tried: bool,
) -> Result<Problems, ApiError> {
    let problems = take_pictures(visit, form).await?;
    if is_tried || !problems.is_empty() {
        return Ok(problems);
    }
    let typed = typed(form);
    let stored = stored(visit).await?;
    let boards = boards(visit, &stored).await?;
    let (now, wanted) = (texts_of(&stored), texts_of(&typed));
    let both = now.iter().zip(&wanted);
    let fields: Vec<_> = both
        .map(|((name, now), (_, wanted))| (*name, &**now, &**wanted))
        .collect();
    let mut merged = Merged::in_words(visit, form, &fields, |field, stored| {
        in_words(visit, &boards, field, stored)
    });
    let t = &visit.t.looks;
    for (field, label) in [
        ("density", t.density),
        ("columns", t.columns),
        ("wideScreens", t.wide),
    ] {
        merged.problems.lift(field, label);
    }
    if !merged.problems.is_empty() {
        *read = merged.read;
        return Ok(merged.problems);
    }
    match visit.api.change("site.update", changes(&merged, &typed)).await {
        Ok(()) => Ok(Problems::default()),
        Err(error) => visit.problems(error, &FIELDS),
    }
}

/// What people read of the stored text of a field.
fn in_words(visit: &Visit, boards: &[PublicBoard], field: &str, stored: &str) -> String {
    let (t, common) = (&visit.t.looks, &visit.t.common);
    let words = match (field, stored) {
        ("logo" | "wallpaper", "") => t.no_picture,
        ("logo" | "wallpaper", _) => t.other_picture,
        ("density", "compact") => t.compact,
        ("density", "icons") => t.icons,
        ("density", _) => t.comfortable,
        ("columns", "") => t.columns_auto,
        ("wideScreens", "") => common.no,
        ("wideScreens", _) => common.yes,
        ("startBoard", "") => t.start_board_none,
        ("startBoard", id) => {
            let board = boards.iter().find(|board| board.id == id);
            board.map_or("", |board| &board.name)
        }
        (_, text) => text,
    };
    words.to_owned()
}

/// Stores the pictures that were chosen, and puts their ids into the form.
async fn take_pictures(visit: &Visit, form: &mut Form) -> Result<Problems, ApiError> {
    let mut problems = Problems::default();
    for (field, file, remove) in PICTURES {
        if form.file(file).is_some() {
            match pictures::store(visit, form, file).await? {
                Ok(picture) => form.set(field, picture.id),
                Err(problem) => problems.add(field, problem),
            }
        } else if form.is_ticked(remove) {
            form.set(field, String::new());
        }
    }
    Ok(problems)
}

/// What the API is to change: only what was edited.
fn changes(merged: &Merged, typed: &Looks) -> Value {
    let all = [
        ("name", Value::from(typed.name.clone())),
        ("accentColor", typed.accent_color.clone().into()),
        ("logo", typed.logo.clone().into()),
        ("wallpaper", typed.wallpaper.clone().into()),
        ("density", typed.density.clone().into()),
        ("columns", typed.columns.into()),
        ("wideScreens", typed.wide_screens.into()),
        ("startBoard", typed.start_board.clone().into()),
    ];
    let edited = all.into_iter().filter(|(field, _)| merged.is_edited(field));
    let edited: Map<String, Value> = edited.map(|(field, value)| (field.into(), value)).collect();
    edited.into()
}
