//! `/profile/second-factor`: the user's own second factors and recovery codes.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    response::Response,
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{super::passkeys::credential, PageResult};
use crate::{
    api::ApiError,
    fields::WITH_PASSKEY,
    form::{Form, Problems},
    qr::{NewSecret, Qr},
    respond::{again, page, page_with, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route(PAGE, get(show))
        .route("/profile/second-factor/new", get(new))
        .route("/profile/second-factor/add", get(back).post(add))
        .route("/profile/second-factor/passkeys", get(back).post(add_passkey))
        .route("/profile/second-factor/{id}/name", get(ask_name).post(rename))
        .route("/profile/second-factor/recovery-codes", get(back).post(renew))
        .route("/profile/second-factor/{id}/delete", get(ask).post(delete))
}

const PAGE: &str = "/profile/second-factor";

/// A user's second factors, as the API returns them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Factors {
    pub factors: Vec<Factor>,
    pub recovery_codes: usize,
    pub required: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Factor {
    pub id: String,
    pub kind: String,
    pub name: Option<String>,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

impl Factors {
    /// Whether the user has a passkey that can be used here.
    fn has_passkey(&self, visit: &Visit) -> bool {
        visit.has_passkeys() && self.factors.iter().any(Factor::is_passkey)
    }

    /// The one with this id.
    fn find(&self, id: &str) -> Result<&Factor, ApiError> {
        let found = self.factors.iter().find(|factor| factor.id == id);
        found.ok_or_else(ApiError::not_found)
    }
}

impl Factor {
    pub fn is_passkey(&self) -> bool {
        self.kind == "passkey"
    }

    /// What people call it.
    pub fn label(&self, visit: &Visit) -> String {
        let kind = match self.kind.as_str() {
            "totp" => visit.t.second_factor.totp,
            _ => visit.t.second_factor.passkey,
        };
        match &self.name {
            Some(name) => format!("{kind}: {name}"),
            None => kind.to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    recovery_codes: Vec<String>,
}

#[derive(Template)]
#[template(path = "profile/second_factor.html")]
struct FactorsPage<'a> {
    v: &'a Visit,
    own: Factors,
    /// Recovery codes that were just made. They are shown only here.
    codes: Vec<String>,
    problems: Problems,
}

impl FactorsPage<'_> {
    fn is_elsewhere(&self) -> bool {
        !self.v.may_have_second_factor()
    }

    fn has_passkey(&self) -> bool {
        self.own.has_passkey(self.v)
    }

    fn has_codes_of_app(&self) -> bool {
        self.own.factors.iter().any(|factor| factor.kind == "totp")
    }
}

#[derive(Template)]
#[template(path = "profile/second_factor_new.html")]
struct NewPage<'a> {
    v: &'a Visit,
    secret: NewSecret,
    problems: Problems,
}

impl NewPage<'_> {
    fn qr(&self) -> Option<Qr> {
        self.secret.qr()
    }
}

#[derive(Template)]
#[template(path = "profile/second_factor_delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    factor: &'a Factor,
    /// Whether a passkey may be used in place of a code.
    has_passkey: bool,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "profile/second_factor_name.html")]
struct NamePage<'a> {
    v: &'a Visit,
    factor: &'a Factor,
    /// The name that the field shows.
    shown: String,
    problems: Problems,
}

async fn factors_page(
    visit: &Visit,
    codes: Vec<String>,
    problems: Problems,
) -> Result<FactorsPage<'_>, ApiError> {
    visit.user()?;
    Ok(FactorsPage {
        v: visit,
        own: visit.api.query("secondFactor.getOwn", Value::Null).await?,
        codes,
        problems,
    })
}

async fn show(visit: Visitor) -> PageResult {
    Ok(page(
        &factors_page(&visit, Vec::new(), Problems::default()).await?,
    ))
}

/// A reload of a page with secrets leads to the page without them.
async fn back() -> Response {
    see(PAGE)
}

async fn new(visit: Visitor) -> PageResult {
    visit.user()?;
    let secret = visit.api.query("secondFactor.newSecret", Value::Null).await?;
    Ok(page(&NewPage {
        v: &visit,
        secret,
        problems: Problems::default(),
    }))
}

async fn add(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let input = json!({ "secret": form.text("secret"), "code": form.text("code") });
    match visit.api.mutate::<Made>("secondFactor.addTotp", input).await {
        Ok(made) => Ok(page(
            &factors_page(&visit, made.recovery_codes, Problems::default()).await?,
        )),
        Err(error) => {
            let problems = visit.problems(error, &["code"])?;
            Ok(again(&NewPage {
                v: &visit,
                secret: NewSecret::sent(&form),
                problems,
            }))
        }
    }
}

async fn renew(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form_with(&WITH_PASSKEY, request).await?;
    let input = proof_of(&form);
    match visit
        .api
        .mutate::<Made>("secondFactor.renewRecoveryCodes", input)
        .await
    {
        Ok(made) => Ok(page(
            &factors_page(&visit, made.recovery_codes, Problems::default()).await?,
        )),
        Err(error) => {
            let (status, problems) = of_code(&visit, error)?;
            Ok(page_with(
                status,
                &factors_page(&visit, Vec::new(), problems).await?,
            ))
        }
    }
}

async fn read(visit: &Visit) -> Result<Factors, ApiError> {
    visit.user()?;
    visit.api.query("secondFactor.getOwn", Value::Null).await
}

async fn add_passkey(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form_with(&WITH_PASSKEY, request).await?;
    let input = json!({ "name": form.text("name"), "credential": credential(&form) });
    match visit.api.mutate::<Made>("secondFactor.addPasskey", input).await {
        Ok(made) => Ok(page(
            &factors_page(&visit, made.recovery_codes, Problems::default()).await?,
        )),
        Err(error) => {
            let problems = visit.problems(error, &["name"])?;
            Ok(again(&factors_page(&visit, Vec::new(), problems).await?))
        }
    }
}

async fn ask_name(visit: Visitor, Path(id): Path<String>) -> PageResult {
    let own = read(&visit).await?;
    let factor = own.find(&id)?;
    Ok(page(&NamePage {
        v: &visit,
        shown: factor.name.clone().unwrap_or_default(),
        factor,
        problems: Problems::default(),
    }))
}

async fn rename(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    let form = visit.form(request).await?;
    let input = json!({ "id": id, "name": form.text("name") });
    let Err(error) = visit.api.change("secondFactor.rename", input).await else {
        return Ok(see("/profile/second-factor?note=saved"));
    };
    let problems = visit.problems(error, &["name"])?;
    let own = read(&visit).await?;
    Ok(again(&NamePage {
        v: &visit,
        shown: form.shown("name").to_owned(),
        factor: own.find(&id)?,
        problems,
    }))
}

/// What a form has as a proof: a passkey, or else a code.
fn proof_of(form: &Form) -> Value {
    match credential(form) {
        Value::Null => json!({ "code": form.text("code") }),
        credential => json!({ "credential": credential }),
    }
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    let own = read(&visit).await?;
    Ok(page(&DeletePage {
        v: &visit,
        factor: own.find(&id)?,
        has_passkey: own.has_passkey(&visit),
        problems: Problems::default(),
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    let form = visit.form_with(&WITH_PASSKEY, request).await?;
    let mut input = proof_of(&form);
    input["id"] = id.as_str().into();
    let Err(error) = visit.api.change("secondFactor.delete", input).await else {
        return Ok(see("/profile/second-factor?note=second-factor-removed"));
    };
    let (status, problems) = of_code(&visit, error)?;
    let own = read(&visit).await?;
    let shown = DeletePage {
        v: &visit,
        factor: own.find(&id)?,
        has_passkey: own.has_passkey(&visit),
        problems,
    };
    Ok(page_with(status, &shown))
}

/// What is wrong with a code, and the status of the page that says so.
fn of_code(visit: &Visit, error: ApiError) -> Result<(StatusCode, Problems), ApiError> {
    let mut problems = Problems::default();
    match error.status {
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => {
            problems.add("code", visit.say(&error.message));
            let status = match error.status {
                StatusCode::FORBIDDEN => StatusCode::UNPROCESSABLE_ENTITY,
                status => status,
            };
            Ok((status, problems))
        }
        _ => Ok((
            StatusCode::UNPROCESSABLE_ENTITY,
            visit.problems(error, &["code"])?,
        )),
    }
}
