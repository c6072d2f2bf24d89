//! Teams, invitations and search engines: for administrators.

use axum::{Extension, Json, extract::State, http::StatusCode};
use portico::Identity;
use rusqlite::params;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Dashboard, Refusal, now, random_text, sessions::check_admin, storage::values::hash};

type Created = Result<(StatusCode, Json<Value>), Refusal>;

/// A team to create.
#[derive(Deserialize)]
pub struct NewTeam {
    name: String,
    may: Vec<String>,
}

/// `POST /teams`.
pub async fn create(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
    Json(team): Json<NewTeam>,
) -> Created {
    check_admin(&identity)?;
    let id = random_text();
    let created = dashboard.database.write(|db| {
        db.execute("INSERT INTO teams (id, name) VALUES (?, ?)", [&id, &team.name])?;
        let mut insert = db.prepare("INSERT OR IGNORE INTO team_rights (team, may) VALUES (?, ?)")?;
        team.may
            .iter()
            .try_for_each(|may| insert.execute([&id, may]).map(drop))
    });
    created.await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

/// An invitation to create.
#[derive(Deserialize)]
pub struct NewInvitation {
    days: u16,
}

/// `POST /invitations`. The token is shown only once.
pub async fn invite(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
    Json(invitation): Json<NewInvitation>,
) -> Created {
    check_admin(&identity)?;
    let (id, token) = (random_text(), random_text());
    let ends_at = now() + i64::from(invitation.days) * 24 * 60 * 60 * 1000;
    let made = dashboard.database.write(|db| {
        let sql = "INSERT INTO invitations (id, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)";
        db.execute(sql, params![id, hash(&token), ends_at, identity.user_id()])
    });
    made.await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "token": token }))))
}

/// A search engine to create.
#[derive(Deserialize)]
pub struct NewEngine {
    name: String,
    url: String,
}

/// `POST /engines`.
pub async fn create_engine(
    State(dashboard): State<Dashboard>,
    Extension(identity): Extension<Identity>,
    Json(engine): Json<NewEngine>,
) -> Created {
    check_admin(&identity)?;
    let id = random_text();
    let created = dashboard.database.write(|db| {
        let sql = "INSERT INTO engines (id, name, url) VALUES (?, ?, ?)";
        db.execute(sql, [&id, &engine.name, &engine.url])
    });
    created.await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}
