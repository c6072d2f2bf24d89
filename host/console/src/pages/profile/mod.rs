//! `/profile`: what the signed-in user sets for themselves. One form for each card; its hidden field `section` says
//! which card was sent.

mod keys;
mod leave;
mod password;
mod picture;
pub(super) mod second_factor;
mod sessions;

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, response::Response, routing::get};
use serde_json::{Value, json};

pub(super) use self::{
    picture::{most, size},
    sessions::{Session, place},
};
use super::{PageResult, home_boards::name_of, search_engine::Engine, tiles::BoardLink, users::Account};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    fields::Fields,
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/profile", get(show).post(save))
        .merge(keys::routes())
        .merge(leave::routes())
        .merge(password::routes())
        .merge(second_factor::routes())
        .merge(sessions::routes())
}

/// The most boards and search engines to choose from.
const MOST_CHOICES: usize = 500;

/// The forms of the page, of which one may have a picture.
static PROFILE: Fields = Fields::with(picture::MOST_BYTES);

#[derive(Template)]
#[template(path = "profile/profile.html")]
struct ProfilePage<'a> {
    v: &'a Visit,
    account: Account,
    boards: Vec<BoardLink>,
    engines: Vec<Engine>,
    /// The card that was refused, and what was typed there.
    section: &'a str,
    sent: &'a Form,
    problems: Problems,
}

impl ProfilePage<'_> {
    /// What a field shows: what was typed if its card was refused, otherwise what is stored.
    fn text<'s>(&'s self, section: &str, field: &str, stored: &'s str) -> &'s str {
        if self.section == section {
            self.sent.shown(field)
        } else {
            stored
        }
    }

    /// What is stored of a card's choices, as its form carries it.
    fn was_read(&self, section: &str) -> WasRead {
        let stored = choices(self.v, &self.account, section);
        let stored: Vec<_> = stored.iter().map(|(field, text)| (*field, &**text)).collect();
        WasRead::of(&stored)
    }

    fn email(&self) -> &str {
        self.text(
            "person",
            "email",
            self.account.email.as_deref().unwrap_or_default(),
        )
    }

    fn is_refused(&self, section: &str) -> bool {
        self.section == section
    }

    fn home_board(&self) -> &str {
        let stored = self.account.home_board_id.as_deref();
        self.text("boards", "homeBoardId", stored.unwrap_or_default())
    }

    fn mobile_home_board(&self) -> &str {
        let stored = self.account.mobile_home_board_id.as_deref();
        self.text("boards", "mobileHomeBoardId", stored.unwrap_or_default())
    }

    fn engine(&self) -> &str {
        let stored = self.account.default_search_engine_id.as_deref();
        self.text("search", "defaultSearchEngineId", stored.unwrap_or_default())
    }

    fn colors(&self) -> &str {
        self.text("appearance", "colorScheme", self.v.colors())
    }

    fn is_first_day(&self, number: &u8) -> bool {
        let stored = self.account.first_day_of_week.to_string();
        self.text("appearance", "firstDayOfWeek", &stored) == number.to_string()
    }

    fn has_ping_icons(&self) -> bool {
        let stored = tick(self.account.ping_icons_enabled);
        !self.text("appearance", "pingIconsEnabled", stored).is_empty()
    }

    fn opens_new_tab(&self) -> bool {
        if self.section == "search" {
            self.sent.is_ticked("openInNewTab")
        } else {
            self.account.open_search_in_new_tab
        }
    }

    fn most_bytes(&self) -> usize {
        picture::MOST_BYTES
    }

    fn picture_hint(&self) -> String {
        let most = most(picture::MOST_BYTES, self.v.t.language);
        self.v.fill(self.v.t.profile.picture_hint, most)
    }

    fn days(&self) -> [(u8, &'static str); 7] {
        days(self.v)
    }
}

/// The days of the week with their numbers in the API; Monday is first.
fn days(visit: &Visit) -> [(u8, &'static str); 7] {
    let t = &visit.t.profile;
    [
        (1, t.monday),
        (2, t.tuesday),
        (3, t.wednesday),
        (4, t.thursday),
        (5, t.friday),
        (6, t.saturday),
        (0, t.sunday),
    ]
}

/// What a form holds for a box.
fn tick(is_set: bool) -> &'static str {
    if is_set { "yes" } else { "" }
}

/// What is stored of a card's choices, as its form holds it.
fn choices(visit: &Visit, account: &Account, section: &str) -> Vec<(&'static str, String)> {
    let id = |id: &Option<String>| id.clone().unwrap_or_default();
    match section {
        "appearance" => vec![
            ("colorScheme", visit.colors().to_owned()),
            ("firstDayOfWeek", account.first_day_of_week.to_string()),
            ("pingIconsEnabled", tick(account.ping_icons_enabled).into()),
        ],
        "boards" => vec![
            ("homeBoardId", id(&account.home_board_id)),
            ("mobileHomeBoardId", id(&account.mobile_home_board_id)),
        ],
        "search" => vec![
            ("defaultSearchEngineId", id(&account.default_search_engine_id)),
            ("openInNewTab", tick(account.open_search_in_new_tab).into()),
        ],
        _ => Vec::new(),
    }
}

async fn show(visit: Visitor) -> PageResult {
    profile_page(&visit, StatusCode::OK, &Form::default(), Problems::default()).await
}

async fn profile_page(visit: &Visit, status: StatusCode, sent: &Form, problems: Problems) -> PageResult {
    let user = visit.user()?;
    let (account, boards, engines) = tokio::join!(
        visit
            .api
            .query::<Account>("user.getById", json!({ "userId": user.id })),
        visit.api.query::<Vec<BoardLink>>("board.getVisible", Value::Null),
        visit
            .api
            .query::<Vec<Engine>>("searchEngine.getSelectable", Value::Null),
    );
    let (account, mut boards, mut engines) = (account?, boards?, engines?);
    // The chosen ones are always included in the choices.
    let chosen = [&account.home_board_id, &account.mobile_home_board_id];
    boards.sort_by_key(|board| !chosen.iter().any(|id| id.as_ref() == Some(&board.id)));
    boards.truncate(MOST_CHOICES);
    engines.sort_by_key(|engine| Some(&engine.id) != account.default_search_engine_id.as_ref());
    engines.truncate(MOST_CHOICES);
    let shown = ProfilePage {
        v: visit,
        account,
        boards,
        engines,
        section: sent.text("section"),
        sent,
        problems,
    };
    Ok(if status == StatusCode::OK {
        page(&shown)
    } else {
        page_with(status, &shown)
    })
}

async fn save(visit: Visitor, request: Request) -> PageResult {
    let id = visit.user()?.id.clone();
    let mut form = visit.form_with(&PROFILE, request).await?;
    let saved = match form.text("section") {
        "person" => {
            let account: Account = visit.api.query("user.getById", json!({ "userId": id })).await?;
            let merged = account.merged(&visit, &form);
            // The page carries what is stored now, so it also shows that of the fields that were not edited.
            for field in ["name", "email"] {
                form.set(field, merged.text(field).to_owned());
            }
            if !merged.problems.is_empty() {
                return refused(&visit, &form, merged.problems).await;
            }
            let input = json!({ "id": id, "name": merged.text("name"), "email": merged.text("email") });
            visit.api.change("user.editProfile", input).await
        }
        "picture" => return picture::save(&visit, &id, &form).await,
        section @ ("appearance" | "boards" | "search") => {
            let merged = merge(&visit, &id, section, &form).await?;
            for (field, text) in merged.texts() {
                form.set(field, text.to_owned());
            }
            if !merged.problems.is_empty() {
                return refused(&visit, &form, merged.problems).await;
            }
            match form.text("section") {
                "appearance" => save_appearance(&visit, &id, &merged).await,
                "boards" => save_boards(&visit, &id, &merged).await,
                _ => save_search(&visit, &id, &merged).await,
            }
        }
        _ => Err(ApiError::not_found()),
    };
    let Err(error) = saved else {
        return Ok(saved_note());
    };
    // A board or a search engine that was chosen may be gone.
    let is_gone =
        error.status == StatusCode::NOT_FOUND && ["boards", "search"].contains(&form.text("section"));
    let problems = if is_gone {
        Problems::of(&error, &[], |text| visit.say(text))
    } else {
        visit.problems(error, &["name", "email"])?
    };
    refused(&visit, &form, problems).await
}

fn saved_note() -> Response {
    see("/profile?note=saved")
}

async fn refused(visit: &Visit, form: &Form, problems: Problems) -> PageResult {
    profile_page(visit, StatusCode::UNPROCESSABLE_ENTITY, form, problems).await
}

/// A card's choices in a form, merged with what is stored by now.
async fn merge(visit: &Visit, id: &str, section: &str, form: &Form) -> Result<Merged, ApiError> {
    let account: Account = visit.api.query("user.getById", json!({ "userId": id })).await?;
    let (boards, engines): (Vec<BoardLink>, Vec<Engine>) = tokio::try_join!(
        visit.api.query("board.getVisible", Value::Null),
        visit.api.query("searchEngine.getSelectable", Value::Null),
    )?;
    let t = &visit.t.profile;
    let words = |field: &str, stored: &str| match (field, stored) {
        ("colorScheme", "light") => t.light.to_owned(),
        ("colorScheme", "dark") => t.dark.into(),
        ("colorScheme", _) => t.auto.into(),
        ("firstDayOfWeek", _) => {
            let mut days = days(visit).into_iter();
            let day = days.find(|(number, _)| number.to_string() == stored);
            day.map_or("", |(_, day)| day).into()
        }
        ("homeBoardId" | "mobileHomeBoardId", _) => name_of(&boards, stored),
        ("defaultSearchEngineId", _) => {
            let engine = engines.iter().find(|engine| engine.id == stored);
            engine.map_or("", |engine| &engine.name).into()
        }
        (_, "") => visit.t.common.no.into(),
        _ => visit.t.common.yes.into(),
    };
    let stored = choices(visit, &account, section);
    let fields: Vec<_> = stored
        .iter()
        .map(|(field, text)| (*field, &**text, form.text(field).trim()))
        .collect();
    let mut merged = Merged::in_words(visit, form, &fields, words);
    for (field, label) in [
        ("colorScheme", t.colors),
        ("firstDayOfWeek", t.first_day),
        ("pingIconsEnabled", t.ping_icons),
        ("homeBoardId", t.home_board),
        ("mobileHomeBoardId", t.mobile_home_board),
        ("defaultSearchEngineId", t.engine),
        ("openInNewTab", t.new_tab),
    ] {
        merged.problems.lift(field, label);
    }
    Ok(merged)
}

/// Changes only what was edited, so that the audit log says what was changed.
async fn save_appearance(visit: &Visit, id: &str, merged: &Merged) -> Result<(), ApiError> {
    if merged.is_edited("colorScheme") {
        let input = json!({ "colorScheme": merged.text("colorScheme") });
        visit.api.change("user.changeColorScheme", input).await?;
    }
    if merged.is_edited("firstDayOfWeek") {
        let first_day: u8 = merged.text("firstDayOfWeek").parse().unwrap_or(7);
        let input = json!({ "id": id, "firstDayOfWeek": first_day });
        visit.api.change("user.changeFirstDayOfWeek", input).await?;
    }
    if merged.is_edited("pingIconsEnabled") {
        let is_enabled = merged.optional("pingIconsEnabled").is_some();
        let input = json!({ "id": id, "pingIconsEnabled": is_enabled });
        visit.api.change("user.changePingIconsEnabled", input).await?;
    }
    Ok(())
}

async fn save_boards(visit: &Visit, id: &str, merged: &Merged) -> Result<(), ApiError> {
    let input = json!({
        "userId": id,
        "homeBoardId": merged.optional("homeBoardId"),
        "mobileHomeBoardId": merged.optional("mobileHomeBoardId"),
    });
    visit.api.change("user.changeHomeBoards", input).await
}

async fn save_search(visit: &Visit, id: &str, merged: &Merged) -> Result<(), ApiError> {
    let input = json!({
        "userId": id,
        "defaultSearchEngineId": merged.optional("defaultSearchEngineId"),
        "openInNewTab": merged.optional("openInNewTab").is_some(),
    });
    visit.api.change("user.changeSearchPreferences", input).await
}
