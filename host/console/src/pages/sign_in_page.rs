//! The page on which people choose how to sign in.

use askama::Template;
use axum::http::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use super::{PageResult, board_list::BoardLinks};
use crate::{
    api::ApiError,
    form::{Form, Problems},
    links::own_path,
    respond::page_with,
    visit::Visit,
};

/// A way to sign in, as the API returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provider {
    pub provider: String,
    pub label: String,
    pub is_on: bool,
    is_default: bool,
    /// `on`, `invite` or `off`.
    pub sign_up: String,
    pub start_url: Option<String>,
}

impl Provider {
    /// Whether a person with an invite becomes a user by it.
    pub fn takes_invites(&self) -> bool {
        self.is_on && self.sign_up != "off"
    }

    /// Whether it is Portico itself.
    pub fn is_own(&self) -> bool {
        self.provider == "credentials"
    }

    fn is_by_password(&self) -> bool {
        self.is_on && self.start_url.is_none()
    }
}

#[derive(Template)]
#[template(path = "sign_in.html")]
pub(super) struct SignInPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
    next: String,
    by_password: Vec<Provider>,
    /// Label and address.
    by_link: Vec<(String, String)>,
    /// Where people go who do not ask for this page.
    pub leads_to: Option<String>,
    links: BoardLinks,
}

/// The page of signing in again, where a sign-in in two steps has ended.
pub(super) async fn begin_again(visit: &Visit, error: &ApiError, next: &str) -> PageResult {
    let problems = Problems::of(error, &[], |text| visit.say(text));
    let form = Form::default();
    let shown = sign_in_page(visit, &form, problems, next).await?;
    Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

/// The page, with what was typed.
pub(super) async fn sign_in_page<'a>(
    visit: &'a Visit,
    form: &'a Form,
    problems: Problems,
    next: &str,
) -> Result<SignInPage<'a>, ApiError> {
    let providers: Vec<Provider> = visit.api.get("/api/auth/providers").await?;
    let boards = visit.api.query("board.getVisible", Value::Null).await?;
    let next = own_path(next).to_owned();
    let return_to = utf8_percent_encode(&next, NON_ALPHANUMERIC).to_string();
    let default = providers
        .iter()
        .find(|provider| provider.is_on && provider.is_default);
    let leads_to = default
        .and_then(|provider| provider.start_url.as_ref())
        .map(|start| format!("{start}?returnTo={return_to}"));
    let by_link = providers
        .iter()
        .filter(|provider| provider.is_on)
        .filter_map(|provider| {
            let start = provider.start_url.as_ref()?;
            Some((provider.label.clone(), format!("{start}?returnTo={return_to}")))
        });
    Ok(SignInPage {
        v: visit,
        form,
        problems,
        by_link: by_link.collect(),
        leads_to,
        by_password: providers.into_iter().filter(Provider::is_by_password).collect(),
        next,
        links: BoardLinks::of(boards, None),
    })
}
