//! A visit: who reads a page, in which language and colours, and their access to the API.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use askama::Template;
use askama::filters::{Escaper as _, Html};
use axum::{
    extract::{FromRequestParts, Request, State},
    http::{Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_http::Elsewhere;
use portico_rules::{
    permissions::Permission,
    refusal::{Refusal, SiteRule},
};
use portico_service::site::{ForeignSite, Sender, foreign_site, sender};
use serde::Deserialize;

pub(crate) use crate::query::Query;
use crate::{
    Console,
    api::{Api, ApiError, compute_in_any_case},
    assets,
    fields::{Fields, LINES},
    form::{self, Form, FormSecret, Problems, TOKEN},
    looks::{Looks, TileAttributes},
    respond::{accepts_gzip, add_headers, compress, compress_off_thread, page_with, see, written},
    texts::{self, Language, Texts, rules},
    times::{Clock, TimeElement},
};

/// Who is signed in, as the API returns it.
#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    pub id: String,
    pub name: String,
    pub image: Option<String>,
    pub color_scheme: String,
    pub provider: String,
    pub permissions: Vec<String>,
}

impl User {
    pub fn is_admin(&self) -> bool {
        self.may("admin")
    }

    /// Whether the user has a permission, by itself or because a higher one implies it.
    pub fn may(&self, permission: &str) -> bool {
        Permission::named(permission).is_some_and(|permission| permission.is_given_by(&self.permissions))
    }

    /// Whether the user manages apps in any way.
    pub fn manages_apps(&self) -> bool {
        // Those who may change or delete apps may create them.
        self.may("app-create")
    }

    /// Whether the user manages boards of any kind by a permission. (A share may let others change a board.)
    pub fn manages_boards(&self) -> bool {
        self.may("board-create") || self.may("board-modify-all")
    }

    /// Whether the user signs in with a password of this host. An external provider vouches for others.
    pub fn has_password(&self) -> bool {
        self.provider == "credentials"
    }

    /// Where the picture is. One that a provider named is fetched by the host, so that the browser asks no other host.
    pub fn picture(&self) -> Option<Cow<'_, str>> {
        let image = self.image.as_deref()?;
        if image.starts_with("data:image/") {
            return Some(image.into());
        }
        portico_icons::user_picture(&self.id, image).map(Cow::from)
    }

    /// What is shown instead of a picture.
    pub fn initial(&self) -> String {
        initial(&self.name)
    }
}

/// The first letter of a name, in upper case.
pub(crate) fn initial(name: &str) -> String {
    let first = name.chars().find(|letter| letter.is_alphanumeric());
    first.map_or_else(|| "?".into(), |letter| letter.to_uppercase().collect())
}

/// One request for a page.
pub(crate) struct Visit {
    pub api: Api,
    pub user: Option<User>,
    pub t: &'static Texts,
    /// Path and query of the page.
    pub here: String,
    /// The note to show above the page, by the key `note` of the query.
    pub note: &'static str,
    pub console: Arc<Console>,
    pub accepts_gzip: bool,
    /// Path and query of the page on which the browser was, if it says so. Another site's page may look the same.
    pub came_from: Option<String>,
    /// Where the page was opened, if it belongs to signing in and was not opened at the public URL.
    pub elsewhere: Option<Elsewhere>,
    sender: Sender,
    secret: FormSecret,
    looks: Looks,
    /// Looks that are shown before they are saved.
    tried_looks: OnceLock<Looks>,
}

impl Visit {
    async fn of(console: &Arc<Console>, parts: &Parts) -> Result<Self, ApiError> {
        let api = Api::new(console.api.clone(), parts);
        let t = Language::of(&parts.headers).texts();
        #[derive(Deserialize)]
        struct Session {
            user: User,
        }
        // An API without looks has those of Portico.
        let looks = api.query::<Looks>("site.get", serde_json::Value::Null);
        let session = api.get::<Session>("/api/auth/session");
        let (looks, session) = futures_util::future::join(looks, session).await;
        let (user, failure) = match session {
            Ok(session) => (Some(session.user), None),
            Err(error) if error.status == StatusCode::UNAUTHORIZED => (None, None),
            Err(error) => (None, Some(error)),
        };
        if let Some(failure) = failure {
            return Err(failure);
        }
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let note = Query::read(parts);
        Ok(Self {
            api,
            user,
            t,
            here: here.to_owned(),
            note: t.note(note.text("note")),
            console: console.clone(),
            accepts_gzip: accepts_gzip(&parts.headers),
            came_from: came_from(parts),
            elsewhere: None,
            sender: sender(&parts.headers, console.public_url.as_ref()),
            secret: FormSecret::of(&parts.headers, console.is_secure()),
            looks: looks.unwrap_or_default(),
            tried_looks: OnceLock::new(),
        })
    }

    /// A visit about which nothing is known, for the page that says what failed.
    fn unknown(console: &Arc<Console>, parts: &Parts) -> Self {
        Self {
            api: Api::new(console.api.clone(), parts),
            user: None,
            t: Language::of(&parts.headers).texts(),
            here: "/".into(),
            note: "",
            console: console.clone(),
            accepts_gzip: accepts_gzip(&parts.headers),
            came_from: None,
            elsewhere: None,
            sender: Sender::Unknown,
            secret: FormSecret::of(&parts.headers, console.is_secure()),
            looks: Looks::default(),
            tried_looks: OnceLock::new(),
        }
    }

    /// The signed-in user. Others are sent to sign in, and come back to this page.
    pub fn user(&self) -> Result<&User, ApiError> {
        self.user.as_ref().ok_or_else(|| Refusal::SignInFirst.into())
    }

    /// The signed-in user, if they have this permission. This spares people a form that the API would refuse.
    pub fn permitted(&self, permission: &str) -> Result<&User, ApiError> {
        let user = self.user()?;
        if user.may(permission) {
            return Ok(user);
        }
        let permission = permission.into();
        Err(Refusal::NeedsPermission { permission }.into())
    }

    /// Whether the user has a permission, for links to what needs it.
    pub fn may(&self, permission: &str) -> bool {
        self.user.as_ref().is_some_and(|user| user.may(permission))
    }

    /// A page that may be long: written and compressed on a thread that serves no requests. It may be refused, so no change
    /// was made for it.
    pub async fn long_page(
        &self,
        status: StatusCode,
        write: impl FnOnce() -> askama::Result<String> + Send + 'static,
    ) -> Result<Response, ApiError> {
        self.api.compute(self.long_page_of(status, write)).await
    }

    /// The same after a change was made.
    pub async fn long_page_of_change(
        &self,
        write: impl FnOnce() -> askama::Result<String> + Send + 'static,
    ) -> Response {
        compute_in_any_case(self.long_page_of(StatusCode::OK, write)).await
    }

    fn long_page_of<W: FnOnce() -> askama::Result<String> + Send + 'static>(
        &self,
        status: StatusCode,
        write: W,
    ) -> impl FnOnce() -> Response + Send + use<W> {
        let accepts_gzip = self.accepts_gzip;
        move || {
            let response = written(status, write());
            if accepts_gzip {
                compress(response)
            } else {
                response
            }
        }
    }

    /// Reads the form of this request, which consists of lines.
    pub async fn form(&self, request: Request) -> Result<Form, ApiError> {
        self.form_with(&LINES, request).await
    }

    /// Reads the form of this request, which has these fields. A form that was made for another session of this browser
    /// can be shown again, with what was typed; then no change is made through the API.
    pub async fn form_with(&self, fields: &'static Fields, request: Request) -> Result<Form, ApiError> {
        let (parts, body) = request.into_parts();
        let form = Form::read(&parts, body, &self.secret, &self.sender, fields).await?;
        if form.is_old() {
            // Those without a session have nothing to lose.
            self.user.as_ref().ok_or_else(form::stale)?;
            self.api.refuse_changes();
        }
        Ok(form)
    }

    /// The API's words in the reader's language.
    pub fn say(&self, message: &str) -> String {
        rules::say(self.t.language, message)
    }

    /// The problems of a form, if the API refused what was typed. See [`Problems::of`].
    pub fn problems(&self, error: ApiError, fields: &[&str]) -> Result<Problems, ApiError> {
        if error.is_of_input() {
            Ok(Problems::of(&error, fields, |text| self.say(text)))
        } else {
            Err(error)
        }
    }

    /// The hidden field of a form that changes something.
    pub fn token(&self) -> HiddenToken {
        HiddenToken(self.secret.token())
    }

    /// What the dashboard looks like.
    pub fn looks(&self) -> &Looks {
        self.tried_looks.get().unwrap_or(&self.looks)
    }

    /// Shows this page with these looks, which are not saved.
    pub fn try_looks(&self, looks: Looks) {
        let _ = self.tried_looks.set(looks);
    }

    /// What the dashboard is called.
    pub fn brand(&self) -> &str {
        self.looks().name.as_deref().unwrap_or(self.t.common.brand)
    }

    /// The attributes of the element around the tiles of this page.
    pub fn tiles(&self) -> TileAttributes<'_> {
        TileAttributes {
            looks: self.looks(),
            is_board: self.is_home() || ["/boards", "/b"].iter().any(|path| self.is_in(path)),
        }
    }

    /// The version of the program.
    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    pub fn css(&self) -> &'static str {
        assets::path("console.css")
    }

    pub fn js(&self) -> &'static str {
        assets::path("console.js")
    }

    /// The script of the page on which a board is changed.
    pub fn board_js(&self) -> &'static str {
        assets::path("board.js")
    }

    /// The time of day, in this time zone or where the reader is, which only a script knows. Without one it is that of
    /// the moment when the page was made.
    pub fn clock(&self, zone: &Option<String>) -> Clock {
        Clock::now(zone.clone())
    }

    pub fn htmx(&self) -> &'static str {
        assets::path("htmx.min.js")
    }

    pub fn icon(&self) -> &'static str {
        assets::path("icon.svg")
    }

    pub fn touch_icon(&self) -> &'static str {
        assets::path("icon-192.png")
    }

    /// A drawing of `assets/glyphs.svg`.
    pub fn glyph(&self, name: &'static str) -> Glyph {
        Glyph(name)
    }

    /// A text with one place, filled.
    pub fn fill(&self, text: &str, value: impl std::fmt::Display) -> String {
        texts::fill(text, &[&value])
    }

    /// A sentence with a name in its place.
    pub fn named<'a>(&self, text: &'a str, name: &'a str) -> Sentence<'a> {
        Sentence { text, name }
    }

    /// A text for a number of things.
    pub fn count(&self, text: &str, number: &usize) -> String {
        texts::count(text, *number)
    }

    /// The same for a number that a template computes.
    pub fn count_of(&self, text: &str, number: usize) -> String {
        texts::count(text, number)
    }

    /// A moment, as the API writes it, for people.
    pub fn time(&self, moment: &str) -> TimeElement {
        TimeElement::new(moment, self.t.language)
    }

    /// The label of a field that may stay empty.
    pub fn optional(&self, label: &str) -> String {
        format!("{label} ({})", self.t.common.optional)
    }

    /// `light`, `dark` or `auto`.
    pub fn colors(&self) -> &str {
        self.user.as_ref().map_or("auto", |user| &user.color_scheme)
    }

    pub fn path(&self) -> &str {
        self.here.split('?').next().unwrap_or_default()
    }

    /// Whether this page belongs to a part of the console, for the mark in its menu.
    pub fn is_in(&self, path: &str) -> bool {
        let here = self.path();
        here == path || here.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether this page has exactly this path.
    pub fn is_page(&self, path: &str) -> bool {
        self.here.split('?').next() == Some(path)
    }

    pub fn is_home(&self) -> bool {
        self.here == "/" || self.here.starts_with("/?")
    }

    /// Whether this page shows the board with this id.
    pub fn is_board(&self, id: &str) -> bool {
        self.is_in(&format!("/boards/{id}"))
    }

    /// Whether this page is one of those for managing.
    pub fn is_managing(&self) -> bool {
        !self.is_home()
            && ![
                "/boards",
                "/help",
                "/profile",
                "/welcome",
                "/search",
                "/sign-in",
                "/start",
                "/register",
                "/new-password",
            ]
            .iter()
            .any(|path| self.is_in(path))
    }

    pub fn is_admin(&self) -> bool {
        self.user.as_ref().is_some_and(User::is_admin)
    }

    /// Whether the user signs in with a password of this host.
    pub fn has_password(&self) -> bool {
        self.user.as_ref().is_some_and(User::has_password)
    }

    pub fn manages_apps(&self) -> bool {
        self.user.as_ref().is_some_and(User::manages_apps)
    }

    pub fn manages_boards(&self) -> bool {
        self.user.as_ref().is_some_and(User::manages_boards)
    }
}

/// A sentence with a name, which is isolated: one that is written in the other direction does not turn the words around
/// it.
pub(crate) struct Sentence<'a> {
    text: &'a str,
    name: &'a str,
}

impl std::fmt::Display for Sentence<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, after) = self.text.split_once("{}").unwrap_or((self.text, ""));
        Html.write_escaped_str(&mut *formatter, before)?;
        formatter.write_str("<bdi>")?;
        Html.write_escaped_str(&mut *formatter, self.name)?;
        formatter.write_str("</bdi>")?;
        Html.write_escaped_str(formatter, after)
    }
}

/// It escapes its texts.
impl askama::filters::HtmlSafe for Sentence<'_> {}

/// A drawing, which says only what a word next to it also says.
pub(crate) struct Glyph(&'static str);

impl std::fmt::Display for Glyph {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, name) = (assets::path("glyphs.svg"), self.0);
        write!(
            formatter,
            r##"<svg class="glyph" aria-hidden="true"><use href="{file}#{name}"/></svg>"##
        )
    }
}

/// File and name are the console's own.
impl askama::filters::HtmlSafe for Glyph {}

/// The form's token as a hidden field.
pub(crate) struct HiddenToken(String);

impl std::fmt::Display for HiddenToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            r#"<input type="hidden" name="{TOKEN}" value="{}">"#,
            self.0
        )
    }
}

/// It consists of hexadecimal digits.
impl askama::filters::HtmlSafe for HiddenToken {}

/// The visit that [`around`] made.
#[derive(Clone)]
pub(crate) struct Visitor(pub Arc<Visit>);

impl std::ops::Deref for Visitor {
    type Target = Visit;

    fn deref(&self) -> &Visit {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let visit = parts.extensions.get::<Self>().cloned();
        visit.ok_or_else(|| Refusal::Internal.into())
    }
}

/// Marks a response that is the API's own and stays unchanged.
#[derive(Clone)]
pub(crate) struct Passed;

/// The pages with forms of people who are not signed in. They work only at the public URL, because of its cookies. (While
/// there is no user, browsers are served at that name, too: a redirect of `/start` leads to where it works.)
const SIGN_IN: [&str; 4] = ["/sign-in", "/register", "/new-password", "/start"];

/// Around every page: makes the visit, turns errors into pages, and sets cookies and headers.
pub(crate) async fn around(State(console): State<Arc<Console>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let method = parts.method.clone();
    if !method.is_safe()
        && let Some(site) = foreign_site(&parts.headers, console.public_url.as_ref())
    {
        return refuse_foreign(&console, &parts, &site);
    }
    let is_for_sign_in = method.is_safe() && SIGN_IN.contains(&parts.uri.path());
    let elsewhere = is_for_sign_in.then(|| console.elsewhere(&parts)).flatten();
    if let Some(mut redirect) = elsewhere.as_ref().and_then(Elsewhere::redirect) {
        add_headers(&mut redirect);
        return redirect;
    }
    let (visit, mut response) = match Visit::of(&console, &parts).await {
        Ok(visit) => {
            let visit = Arc::new(Visit { elsewhere, ..visit });
            parts.extensions.insert(Visitor(visit.clone()));
            let response = next.run(Request::from_parts(parts, body)).await;
            (visit, response)
        }
        Err(error) => {
            let visit = Visit::unknown(&console, &parts);
            (Arc::new(visit), error.into_response())
        }
    };
    if response.extensions_mut().remove::<Passed>().is_some() {
        return response;
    }
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        response = explain(&visit, &error, &method);
    }
    let headers = response.headers_mut();
    for cookie in visit.api.take_cookies() {
        headers.append(header::SET_COOKIE, cookie);
    }
    if let Some(cookie) = &visit.secret.new_cookie {
        headers.append(header::SET_COOKIE, cookie.clone());
    }
    add_headers(&mut response);
    if visit.accepts_gzip {
        compress_off_thread(response).await
    } else {
        response
    }
}

/// The page of a refused form of another site. It sets no cookie: the browser did not send the ones that it has.
fn refuse_foreign(console: &Arc<Console>, parts: &Parts, site: &ForeignSite) -> Response {
    let error = site.refuse(SiteRule::SendForms);
    let error = ApiError::new(StatusCode::FORBIDDEN, error.message);
    let mut response = explain(&Visit::unknown(console, parts), &error, &parts.method);
    add_headers(&mut response);
    response
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    v: &'a Visit,
    status: u16,
    title: &'static str,
    message: String,
}

fn came_from(parts: &Parts) -> Option<String> {
    let address = parts.headers.get(header::REFERER)?.to_str().ok()?;
    let address: Uri = address.parse().ok()?;
    Some(address.path_and_query()?.to_string())
}

/// The page of an error.
fn explain(visit: &Visit, error: &ApiError, method: &Method) -> Response {
    if error.status == StatusCode::UNAUTHORIZED {
        return see(&sign_in_path(visit, method));
    }
    // A form without typed fields: its page is opened again.
    if error.is_of_old_form {
        return see(&format!("{}?note=form-old", visit.path()));
    }
    let t = &visit.t.errors;
    let (title, message) = match error.status.as_u16() {
        403 => (t.forbidden_title, visit.say(&error.message)),
        404 => (t.not_found_title, t.not_found.into()),
        429 => (t.too_many_title, visit.say(&error.message)),
        500 => (t.failed_title, t.failed.into()),
        503 | 504 => (t.unavailable_title, t.unavailable.into()),
        _ => (t.refused_title, visit.say(&error.message)),
    };
    let mut response = page_with(
        error.status,
        &ErrorPage {
            v: visit,
            status: error.status.as_u16(),
            title,
            message,
        },
    );
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Where a visitor without a session signs in. A page is opened again afterwards. A form has had no effect, so people
/// return to its page.
fn sign_in_path(visit: &Visit, method: &Method) -> String {
    let here = if *method == Method::GET { &visit.here } else { "/" };
    let next = utf8_percent_encode(here, NON_ALPHANUMERIC);
    format!("/sign-in?next={next}&note=session-ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_sentence_is_isolated_and_escaped() {
        let sentence = |name| Sentence {
            text: "Delete “{}”?",
            name,
        };
        assert_eq!(sentence("מדיה").to_string(), "Delete “<bdi>מדיה</bdi>”?");
        assert_eq!(
            sentence("<b>{}").to_string(),
            "Delete “<bdi>&#60;b&#62;{}</bdi>”?"
        );
    }
}
