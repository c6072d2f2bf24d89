//! `/profile/keys`: the user's own API keys.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    routing::get,
};
use serde_json::{Value, json};

use super::{
    super::keys::{ApiKey, Choice, NewKey, choices, wanted},
    PageResult,
};
use crate::{
    api::ApiError,
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/profile/keys", get(show).post(create))
        .route("/profile/keys/{id}/delete", get(ask).post(delete))
}

#[derive(Template)]
#[template(path = "profile/keys.html")]
struct KeysPage<'a> {
    v: &'a Visit,
    keys: Vec<ApiKey>,
    form: &'a Form,
    problems: Problems,
    /// The key that was just created. It is shown only here.
    made: Option<NewKey>,
}

impl KeysPage<'_> {
    /// Only what the user has: a key cannot have more.
    fn choices(&self) -> Vec<Choice<'_>> {
        choices(self.v, self.form, |permission| self.v.may(permission))
    }
}

#[derive(Template)]
#[template(path = "profile/key_delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    key: &'a ApiKey,
}

/// At most 100 by the API's rule, plus those that administrators created.
async fn own(visit: &Visit) -> Result<Vec<ApiKey>, ApiError> {
    let mut keys: Vec<ApiKey> = visit.api.query("apiKeys.getOwn", Value::Null).await?;
    keys.sort_by(|one, other| other.created_at.cmp(&one.created_at));
    keys.truncate(1_000);
    Ok(keys)
}

async fn show(visit: Visitor) -> PageResult {
    visit.user()?;
    Ok(page(&KeysPage {
        v: &visit,
        keys: own(&visit).await?,
        form: &Form::default(),
        problems: Problems::default(),
        made: None,
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let made = match wanted(&visit, &form) {
        Ok(input) => visit.api.mutate::<NewKey>("apiKeys.createOwn", input).await,
        Err(error) => Err(error),
    };
    let shown = |keys, problems, made| KeysPage {
        v: &visit,
        keys,
        form: &form,
        problems,
        made,
    };
    match made {
        Ok(key) => {
            let keys = own(&visit).await?;
            let none = Form::default();
            Ok(page(&KeysPage {
                form: &none,
                ..shown(keys, Problems::default(), Some(key))
            }))
        }
        Err(error) => {
            let problems = visit.problems(error, &["name", "until"])?;
            Ok(again(&shown(own(&visit).await?, problems, None)))
        }
    }
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.user()?;
    let keys: Vec<ApiKey> = visit.api.query("apiKeys.getOwn", Value::Null).await?;
    let key = keys
        .iter()
        .find(|key| key.id == id)
        .ok_or_else(ApiError::not_found)?;
    Ok(page(&DeletePage { v: &visit, key }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    visit.form(request).await?;
    let input = json!({ "apiKeyId": id });
    visit.api.change("apiKeys.deleteOwn", input).await?;
    Ok(see("/profile/keys?note=deleted"))
}
