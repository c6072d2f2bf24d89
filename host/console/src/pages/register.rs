//! `/register?invite=…&token=…`: the link of an invite. The query contains the secret, because queries are not logged.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PageResult, onboarding::begin, second_step, segment, sign_in_page::Provider};
use crate::{
    api::ApiError,
    form::{Form, Problems},
    respond::{page_with, see, without_address},
    times::is_past,
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/register", get(show).post(create))
}

/// What the API says to who has the link.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invite {
    expiration_date: String,
    note: Option<String>,
}

/// What there is to say of the link before anything is typed.
enum Link {
    Good(Option<String>),
    /// A part of it is missing.
    Cut,
    /// There is no such invite any more.
    Gone,
    /// When it expired.
    Expired(String),
}

impl Link {
    /// Asks for the invite, which counts like a sign-in if the token is wrong.
    async fn read(visit: &Visit, invite: &str, token: &str) -> Result<Self, ApiError> {
        if invite.is_empty() || token.is_empty() {
            return Ok(Self::Cut);
        }
        let input = json!({ "inviteId": invite, "token": token });
        match visit.api.query::<Invite>("invite.getByToken", input).await {
            Ok(invite) if is_past(&invite.expiration_date) => Ok(Self::Expired(invite.expiration_date)),
            Ok(invite) => Ok(Self::Good(invite.note)),
            // An embedding dashboard may have invites of its own, and not say of them what Portico says.
            Err(error) if error.status == StatusCode::NOT_FOUND => Ok(Self::Good(None)),
            Err(error) if error.is_of_input() || error.status == StatusCode::FORBIDDEN => Ok(Self::Gone),
            Err(error) => Err(error),
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Good(_) => StatusCode::OK,
            Self::Cut => StatusCode::BAD_REQUEST,
            Self::Gone => StatusCode::FORBIDDEN,
            Self::Expired(_) => StatusCode::GONE,
        }
    }
}

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    link: Link,
    invite: &'a str,
    token: &'a str,
    ways: Ways,
    problems: Problems,
}

/// How a person becomes a user.
struct Ways {
    by_password: bool,
    /// Label and address.
    by_link: Vec<(String, String)>,
}

impl Ways {
    async fn read(visit: &Visit, invite: &str, token: &str) -> Result<Self, ApiError> {
        let providers: Vec<Provider> = visit.api.get("/api/auth/providers").await?;
        let open = || providers.iter().filter(|provider| provider.takes_invites());
        let (invite, token) = (segment(invite), segment(token));
        let by_link = open().filter_map(|provider| {
            let start = provider.start_url.as_ref()?;
            let address = format!("{start}?returnTo=%2F&inviteId={invite}&token={token}");
            Some((provider.label.clone(), address))
        });
        Ok(Self {
            by_password: open().any(Provider::is_own),
            by_link: by_link.collect(),
        })
    }
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    // Programs that write `&` as HTML put this into the address.
    let token = match query.text("token") {
        "" => query.text("amp;token"),
        token => token,
    };
    let invite = query.text("invite");
    let link = Link::read(&visit, invite, token).await?;
    let status = link.status();
    let shown = RegisterPage {
        v: &visit,
        form: &Form::default(),
        link,
        invite,
        token,
        ways: Ways::read(&visit, invite, token).await?,
        problems: Problems::default(),
    };
    Ok(without_address(page_with(status, &shown)))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    let form = visit.form(request).await?;
    let input = json!({
        "username": form.text("username"),
        "password": form.text("password"),
        "email": form.text("email"),
        "inviteId": form.text("invite"),
        "token": form.text("token"),
    });
    match visit.api.mutate::<Value>("user.register", input).await {
        Ok(_) => match begin(&visit.api, &form).await {
            Ok(()) => Ok(see("/")),
            Err(error) if error.missing_factor.is_some() => second_step::show(&visit, &error, "/").await,
            Err(_) => Ok(see("/sign-in?note=registered")),
        },
        // An invite that is used up or has expired is refused too.
        Err(error) if error.is_of_input() || error.status == StatusCode::FORBIDDEN => {
            let problems = Problems::of(&error, &["username", "password", "email"], |text| visit.say(text));
            let again = RegisterPage {
                v: &visit,
                form: &form,
                link: Link::Good(None),
                invite: form.shown("invite"),
                token: form.shown("token"),
                ways: Ways::read(&visit, form.text("invite"), form.text("token")).await?,
                problems,
            };
            Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &again))
        }
        Err(error) => Err(error),
    }
}
