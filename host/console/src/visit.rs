//! A visit: who reads a page, in which language and colours, and their access to the API.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use axum::{
    extract::{FromRequestParts, Request},
    http::{StatusCode, Uri, header, request::Parts},
    response::Response,
};
use portico_http::Elsewhere;
use portico_rules::{permissions::Permission, refusal::Refusal};
use portico_service::site::{Sender, sender};
use serde::Deserialize;

pub(crate) use crate::query::Query;
use crate::{
    Console,
    api::{Api, ApiError, compute_in_any_case},
    assets,
    fields::{Fields, LINES},
    form::{self, Form, FormSecret, Problems},
    looks::{Looks, TileAttributes},
    markup::{Glyph, HiddenToken, Sentence},
    respond::{accepts_gzip, compress, written},
    texts::{self, Language, Texts, rules},
    theme,
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
    /// Where the user goes on to sign out at the issuer too, if they are known there.
    pub sign_out_url: Option<String>,
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
    pub secret: FormSecret,
    looks: Looks,
    /// Looks that are shown before they are saved.
    tried_looks: OnceLock<Looks>,
}

impl Visit {
    pub async fn of(console: &Arc<Console>, parts: &Parts) -> Result<Self, ApiError> {
        let api = Api::new(console.api.clone(), parts);
        let t = Language::of(&parts.headers).texts();
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Session {
            user: User,
            sign_out_url: Option<String>,
        }
        // An API without looks has those of Portico.
        let looks = api.query::<Looks>("site.get", serde_json::Value::Null);
        let session = api.get::<Session>("/api/auth/session");
        let (looks, session) = futures_util::future::join(looks, session).await;
        let (user, sign_out_url) = match session {
            Ok(session) => (Some(session.user), session.sign_out_url),
            Err(error) if error.status == StatusCode::UNAUTHORIZED => (None, None),
            Err(error) => return Err(error),
        };
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let note = Query::read(parts);
        Ok(Self {
            api,
            user,
            sign_out_url,
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
    pub fn unknown(console: &Arc<Console>, parts: &Parts) -> Self {
        Self {
            api: Api::new(console.api.clone(), parts),
            user: None,
            sign_out_url: None,
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

    /// What is not there, or hidden, for people who are not signed in: they sign in first, and it tells them neither.
    pub fn or_sign_in<T>(&self, found: Result<T, ApiError>) -> Result<T, ApiError> {
        if matches!(&found, Err(error) if error.status == StatusCode::NOT_FOUND) {
            self.user()?;
        }
        found
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

    /// The address of the style sheet that the looks need.
    pub fn theme(&self) -> Option<String> {
        theme::path(self.looks())
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
        let is_board = self.is_home() || ["/boards", "/b"].iter().any(|path| self.is_in(path));
        TileAttributes {
            looks: self.looks(),
            is_board,
            // A form is quiet.
            has_wall: is_board && !self.path().ends_with("/edit"),
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

    pub fn icons_js(&self) -> &'static str {
        assets::path("icons.js")
    }

    /// The script of the page on which a board is changed.
    pub fn board_js(&self) -> &'static str {
        assets::path("board.js")
    }

    /// The script of forms that send a passkey.
    pub fn passkeys_js(&self) -> &'static str {
        assets::path("passkeys.js")
    }

    /// Whether browsers make and use passkeys on this page.
    pub fn has_passkeys(&self) -> bool {
        self.console.has_passkeys && self.elsewhere.is_none()
    }

    /// The time of day, in this time zone or where the reader is, which only a script knows. Without one it is that of
    /// the moment when the page was made.
    pub fn clock(&self, zone: &Option<String>) -> Clock {
        Clock::now(zone.clone(), self.t.language)
    }

    pub fn htmx(&self) -> &'static str {
        assets::path("htmx.min.js")
    }

    pub fn icon(&self) -> &'static str {
        assets::path("icon.svg")
    }

    /// The icon of the site in the browser's tabs.
    pub fn tab_icon(&self) -> String {
        let logo = self.looks().logo_path();
        logo.unwrap_or_else(|| self.icon().into())
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

    /// Whether a password, of this host or of the directory, is what the user signs in with.
    pub fn may_have_second_factor(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.provider != "oidc")
    }

    pub fn manages_apps(&self) -> bool {
        self.user.as_ref().is_some_and(User::manages_apps)
    }

    pub fn manages_boards(&self) -> bool {
        self.user.as_ref().is_some_and(User::manages_boards)
    }
}

/// The visit that `around.rs` made.
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

fn came_from(parts: &Parts) -> Option<String> {
    let address = parts.headers.get(header::REFERER)?.to_str().ok()?;
    let address: Uri = address.parse().ok()?;
    Some(address.path_and_query()?.to_string())
}
