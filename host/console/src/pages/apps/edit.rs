//! `/apps/new` and `/apps/{id}/edit`.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use serde_json::{Value, json};

use super::{
    super::{
        PageResult,
        icon_picker::{self, Picker},
        list_place::ListPlace,
        tiles::{App, app_path},
        visibility::SeenBy,
    },
    address, advice,
};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    fields::WITH_ICON,
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Query, Visit, Visitor},
};

/// The list of apps.
const LIST: &str = "/apps";

const FIELDS: [&str; 5] = ["name", "description", "iconUrl", "href", "pingUrl"];

pub(super) fn routes() -> Router {
    Router::new()
        .route("/apps/new", get(show_new).post(create))
        .route("/apps/{id}/edit", get(show).post(update))
}

#[derive(Template)]
#[template(path = "apps/edit.html")]
struct EditPage<'a> {
    v: &'a Visit,
    /// The path of the app that is changed; `None` for a new one.
    app: Option<String>,
    form: &'a Form,
    problems: Problems,
    picker: Picker,
    list: ListPlace,
    read: WasRead,
    /// What is said of a link that is stored.
    advice: String,
    /// Whether a new app begins with its address alone.
    begins: bool,
    /// What was found at the address of a new app.
    found: String,
    /// Who sees the app, for administrators.
    seen: Option<SeenBy>,
}

impl EditPage<'_> {
    fn title(&self) -> &'static str {
        let t = &self.v.t.apps;
        if self.app.is_some() { t.edit } else { t.new }
    }

    /// What stands on the tile until the app has a name.
    fn tile_name(&self) -> &str {
        match self.form.shown("name") {
            "" => self.v.t.address.no_name,
            name => name,
        }
    }

    /// Where the form goes.
    fn action(&self) -> String {
        match &self.app {
            Some(app) => format!("{app}/edit"),
            None => "/apps/new".into(),
        }
    }
}

async fn show_new(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("app-create")?;
    let typed = query.text("href").trim();
    let suggested = match typed {
        "" => None,
        typed => Some(address::look(&visit, typed).await),
    };
    let begins = suggested.is_none();
    let suggested = suggested.unwrap_or_default();
    let form = Form::filled([
        ("name", &suggested.name),
        ("href", &suggested.href),
        ("href-shown", &advice::shown(&suggested.href)),
    ]);
    Ok(page(&EditPage {
        v: &visit,
        app: None,
        form: &form,
        problems: Problems::default(),
        picker: Picker {
            url: suggested.icon_url,
            ..Picker::default()
        },
        list: ListPlace::of(&visit, LIST),
        read: WasRead::default(),
        advice: String::new(),
        begins,
        found: suggested.found,
        seen: None,
    }))
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("app-modify-all")?;
    let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
    let shown = advice::shown(app.href.as_deref().unwrap_or_default());
    let form = Form::filled([
        ("name", &app.name),
        ("description", app.about()),
        ("href", app.href.as_deref().unwrap_or_default()),
        ("pingUrl", app.ping()),
        ("href-shown", &shown),
    ]);
    let read = WasRead::of(&[
        ("name", &app.name),
        ("description", app.about()),
        ("href", app.href.as_deref().unwrap_or_default()),
        ("pingUrl", app.ping()),
        ("iconUrl", &app.icon_url),
    ]);
    Ok(page(&EditPage {
        v: &visit,
        app: Some(app_path(&id)),
        form: &form,
        problems: Problems::default(),
        picker: Picker {
            url: app.icon_url,
            ..Picker::default()
        },
        list: ListPlace::of(&visit, LIST),
        read,
        advice: advice::of_stored(&visit, app.href.as_deref().unwrap_or_default()),
        begins: false,
        found: String::new(),
        seen: seen_by(&visit, &id).await?,
    }))
}

/// Who sees an app, for administrators.
async fn seen_by(visit: &Visit, id: &str) -> Result<Option<SeenBy>, ApiError> {
    match visit.is_admin() {
        true => SeenBy::read(&visit.api, id).await.map(Some),
        false => Ok(None),
    }
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.permitted("app-create")?;
    let mut form = visit.form_with(&WITH_ICON, request).await?;
    let upload = icon_picker::take_upload(&visit, &mut form).await?;
    if !upload.is_empty() {
        return show_again(&visit, None, &form, upload).await;
    }
    if icon_picker::is_search(&form) {
        return show_again(&visit, None, &form, Problems::default()).await;
    }
    let unseen = advice::complete(&visit, &mut form);
    if !unseen.is_empty() {
        return show_again(&visit, None, &form, unseen).await;
    }
    let mut input = input(&form);
    let created = match icon_picker::chosen(&form).trim() {
        // `app.createMany` accepts apps without icons, for which Portico then chooses icons by name.
        "" => visit.api.mutate::<Value>("app.createMany", json!([input])).await,
        icon_url => {
            input["iconUrl"] = icon_url.into();
            visit.api.mutate("app.create", input).await
        }
    };
    match created {
        Ok(_) => Ok(see(&ListPlace::kept(&form, LIST).with_note("created"))),
        Err(error) => show_again(&visit, None, &form, visit.problems(error, &FIELDS)?).await,
    }
}

async fn update(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.permitted("app-modify-all")?;
    let mut form = visit.form_with(&WITH_ICON, request).await?;
    let upload = icon_picker::take_upload(&visit, &mut form).await?;
    if !upload.is_empty() {
        return show_again(&visit, Some(&id), &form, upload).await;
    }
    if icon_picker::is_search(&form) {
        return show_again(&visit, Some(&id), &form, Problems::default()).await;
    }
    let unseen = advice::complete(&visit, &mut form);
    if !unseen.is_empty() {
        return show_again(&visit, Some(&id), &form, unseen).await;
    }
    let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
    let merged = Merged::of(
        &visit,
        &form,
        &[
            ("name", &app.name, form.text("name")),
            ("description", app.about(), form.text("description")),
            ("href", app.href.as_deref().unwrap_or_default(), form.text("href")),
            ("pingUrl", app.ping(), form.text("pingUrl")),
            ("iconUrl", &app.icon_url, icon_picker::chosen(&form)),
        ],
    );
    if !merged.problems.is_empty() {
        return show_merged(&visit, Some(&id), &form, merged.problems, merged.read).await;
    }
    if !merged.are_edited() {
        return Ok(see(&ListPlace::kept(&form, LIST).with_note("saved")));
    }
    // Absent fields stay as they are.
    let mut input = input(&form);
    input["iconUrl"] = icon_picker::chosen(&form).into();
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|field, _| merged.is_edited(field));
    }
    input["id"] = id.as_str().into();
    match visit.api.change("app.update", input).await {
        Ok(()) => Ok(see(&ListPlace::kept(&form, LIST).with_note("saved"))),
        Err(error) => show_again(&visit, Some(&id), &form, visit.problems(error, &FIELDS)?).await,
    }
}

/// The app in a form, without its icon.
fn input(form: &Form) -> Value {
    json!({
        "name": form.text("name"),
        "description": form.lines("description"),
        "href": form.optional("href"),
        "pingUrl": form.optional("pingUrl"),
    })
}

/// The form with what was typed, after a search for icons or with what is wrong.
async fn show_again(visit: &Visit, id: Option<&str>, form: &Form, problems: Problems) -> PageResult {
    show_merged(visit, id, form, problems, WasRead::kept(form, &FIELDS)).await
}

/// The same, with what is stored by now as what was read.
async fn show_merged(
    visit: &Visit,
    id: Option<&str>,
    form: &Form,
    problems: Problems,
    read: WasRead,
) -> PageResult {
    let status = match problems.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let seen = match id {
        Some(id) => seen_by(visit, id).await?,
        None => None,
    };
    let again = EditPage {
        v: visit,
        app: id.map(app_path),
        form,
        problems,
        picker: Picker::of(&visit.api, form).await,
        list: ListPlace::kept(form, LIST),
        read,
        advice: String::new(),
        begins: false,
        found: String::new(),
        seen,
    };
    Ok(page_with(status, &again))
}
