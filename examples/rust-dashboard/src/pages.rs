//! Pages: the dashboard's boards. They show Portico's apps.

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use portico::Identity;
use rusqlite::{OptionalExtension as _, params};
use serde::Deserialize;
use serde_json::json;

use crate::{Dashboard, Refusal, random_text, sessions::signed_in, storage::may_see_page};

/// A page to create.
#[derive(Deserialize)]
pub struct NewPage {
    title: String,
    open: bool,
    services: Vec<String>,
}

/// `POST /pages`.
pub async fn create(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
    Json(page): Json<NewPage>,
) -> Result<Response, Refusal> {
    let owner = signed_in(&identity)?;
    let id = random_text();
    let created = dashboard.database.write(|db| {
        let sql = "INSERT INTO pages (id, title, open, owner) VALUES (?, ?, ?, ?)";
        db.execute(sql, params![id, page.title, page.open, owner])?;
        let mut insert =
            db.prepare("INSERT INTO page_services (page, position, service) VALUES (?, ?, ?)")?;
        let mut services = (0_u32..).zip(&page.services);
        services.try_for_each(|(position, service)| insert.execute(params![id, position, service]).map(drop))
    });
    created.await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))).into_response())
}

/// `GET /pages/{id}`: the page with its apps. A page that the caller may not see is not found.
pub async fn show(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let page: Option<(String, Vec<String>)> = dashboard.database.read(|db| {
        if !may_see_page(db, identity.user_id(), &id)? {
            return Ok(None);
        }
        let title = db
            .query_row("SELECT title FROM pages WHERE id = ?", [&id], |row| row.get(0))
            .optional()?;
        let mut services =
            db.prepare("SELECT service FROM page_services WHERE page = ? ORDER BY position")?;
        let services = services
            .query_map([&id], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(title.map(|title| (title, services)))
    })?;
    let Some((title, services)) = page else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "There is no such page"));
    };
    let apps = dashboard.plugin.apps().by_ids(&identity, services).await?;
    Ok(Json(json!({ "id": id, "title": title, "apps": apps })).into_response())
}
