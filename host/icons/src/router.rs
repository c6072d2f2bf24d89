//! The routes `/icons/…`.
//!
//! - `GET /icons/apps/{id}?v=…`, `GET /icons/engines/{id}?v=…`: the icon of an app or of a search engine. `v`
//!   identifies the icon's URL ([`app_icon`]), so that another icon has another address, and browsers may cache it for
//!   long. `on=dark` or `on=light` asks for the variant that its collection made for such a ground, if there is one.
//! - `GET /icons/users/{id}?v=…`: the picture of a user for whom a provider vouches, at an `https:` URL of a public address.
//!   An icon that is an uploaded picture is at the picture's own address.
//! - `GET /icons/default.svg`: the default icon. What has it gets the icon that fits its name, or its first letter.
//! - `GET /icons/preview?url=…`: the icon at a URL, for callers who may create apps.
//! - `GET /icons/named/{name}`: the icon that fits a name, or its first letter, for the same callers.
//!
//! Invariant: only the API decides who gets what. It is called in this process with the headers and extensions of the
//! request. If it refuses, its refusal is passed on.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::to_bytes,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use portico_http::{InProcess, RouteTemplate};
use portico_model::{DEFAULT_ICON, PICTURES};
use portico_rules::permissions::Permission;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::{sync::Semaphore, time::timeout};

use crate::{
    answer::{self, Keep},
    error::IconError,
    files::IconFiles,
    letter,
    names::{FindIcon, FindVariant, Ground, Names, Variant},
    picture::Picture,
};

/// The default icon until 0.1.0 was made: apps that were stored with it are treated alike.
const EARLIER_DEFAULT_ICON: &str =
    "https://cdn.jsdelivr.net/gh/homarr-labs/dashboard-icons@master/svg/homarr.svg";

/// The characters that a path may contain as they are: the ids that Portico makes need no encoding.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// How long a request waits for a fetch. Browsers make few concurrent requests to a host, and others wait behind this
/// one.
const PATIENCE: Duration = Duration::from_secs(5);

/// Previews that are fetched at the same time: people look at one, and programs should not use up all fetches.
const MOST_PREVIEWS: usize = 4;

/// The longest name that is looked up: that of an app.
const LONGEST_NAME: usize = *portico_rules::bounds::APP_NAME.end();

/// The largest response of the API that is read, in bytes: an app whose icon is in its URL.
const MOST_ANSWERED: usize = 1 << 20;

/// The path of the icon of an app of this name.
pub fn app_icon(id: &str, icon_url: &str, name: &str) -> String {
    path("apps", id, icon_url, name)
}

/// The path of the icon of a search engine of this name.
pub fn engine_icon(id: &str, icon_url: &str, name: &str) -> String {
    path("engines", id, icon_url, name)
}

/// The path of a user's picture, if it is at a URL that may be fetched. (One that was uploaded is in the record.)
pub fn user_picture(id: &str, image: &str) -> Option<String> {
    let is_fetched = image
        .get(..8)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    is_fetched.then(|| path("users", id, image, ""))
}

fn path(kind: &str, id: &str, icon_url: &str, name: &str) -> String {
    // An uploaded picture never changes at its address, and needs no look at the app.
    if let Some(path) = picture_path(icon_url) {
        return path.into();
    }
    let id = utf8_percent_encode(id, PLAIN);
    // The default icon follows the name.
    let version = match is_default(icon_url) {
        true => version(&format!("{icon_url} {name}")),
        false => version(icon_url),
    };
    format!("/icons/{kind}/{id}?v={version}")
}

/// Whether the icon is found by the name.
fn is_default(icon_url: &str) -> bool {
    [DEFAULT_ICON, EARLIER_DEFAULT_ICON].contains(&icon_url)
}

/// The path of an uploaded picture, if the icon is one.
fn picture_path(icon_url: &str) -> Option<&str> {
    let id = icon_url.strip_prefix(PICTURES)?;
    let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(icon_url)
}

/// Identifies the URL of an icon.
fn version(icon_url: &str) -> String {
    let hash = Sha256::digest(icon_url);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An app or a search engine, as the API returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    name: String,
    icon_url: String,
}

/// A user, as the API returns them.
#[derive(Deserialize)]
struct User {
    image: Option<String>,
}

/// The response to a procedure call.
#[derive(Deserialize)]
struct Called<T> {
    result: Output<T>,
}

#[derive(Deserialize)]
struct Output<T> {
    data: T,
}

/// The response of `/api/auth/session`.
#[derive(Deserialize)]
struct Session {
    user: SessionUser,
}

#[derive(Deserialize)]
struct SessionUser {
    permissions: Vec<String>,
}

/// The routes `/icons/…`. `api` is everything under `/api`, as `portico_http::router` returns it. The responses need
/// what `portico_http::surround` adds. `find` looks names up that have the default icon, and `variant` the variants of icons.
pub fn router(api: Router, files: Arc<IconFiles>, find: FindIcon, variant: FindVariant) -> Router {
    let routes = Arc::new(Routes {
        api,
        names: Names::new(find, files.clock()),
        variant,
        files,
        previews: Semaphore::new(MOST_PREVIEWS),
    });
    // A nested service adds no path parameters to the extensions, where the API would read them as its own.
    let service = tower::service_fn(move |request: Request| {
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(routes.respond(request).await) }
    });
    Router::new().nest_service("/icons", service)
}

/// The template of a path under `/icons`.
fn template(path: &[&str]) -> RouteTemplate {
    RouteTemplate(match path {
        ["apps", _] => "/icons/apps/{id}",
        ["engines", _] => "/icons/engines/{id}",
        ["users", _] => "/icons/users/{id}",
        ["named", _] => "/icons/named/{name}",
        ["default.svg"] => "/icons/default.svg",
        ["preview"] => "/icons/preview",
        _ => "",
    })
}

struct Routes {
    api: Router,
    files: Arc<IconFiles>,
    names: Names,
    variant: FindVariant,
    previews: Semaphore,
}

impl Routes {
    async fn respond(&self, request: Request) -> Response {
        let (parts, _) = request.into_parts();
        let path: Vec<&str> = parts.uri.path().split('/').skip(1).collect();
        let mut response = self.route(&parts, &path).await;
        response.extensions_mut().insert(template(&path));
        response
    }

    async fn route(&self, parts: &Parts, path: &[&str]) -> Response {
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            let mut response = answer::text(StatusCode::METHOD_NOT_ALLOWED, "Only GET is allowed here");
            let allowed = HeaderValue::from_static("GET,HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            return response;
        }
        let answer = match *path {
            ["apps", id] => self.app(parts, &decode(id)).await,
            ["engines", id] => self.engine(parts, &decode(id)).await,
            ["users", id] => self.user(parts, &decode(id)).await,
            ["default.svg"] => return self.default_icon(parts),
            ["preview"] => self.preview(parts).await,
            ["named", name] => self.named(parts, &decode(name)).await,
            _ => return answer::text(StatusCode::NOT_FOUND, "There is nothing at this path"),
        };
        answer.unwrap_or_else(|refusal| *refusal)
    }

    async fn app(&self, parts: &Parts, id: &str) -> Result<Response, Box<Response>> {
        let app: Record = self.call(parts, "app.byId", "id", id).await?;
        Ok(self.icon(parts, &app).await)
    }

    async fn engine(&self, parts: &Parts, id: &str) -> Result<Response, Box<Response>> {
        let engine: Record = self.call(parts, "searchEngine.byId", "id", id).await?;
        Ok(self.icon(parts, &engine).await)
    }

    /// The picture at the URL that a provider named.
    async fn user(&self, parts: &Parts, id: &str) -> Result<Response, Box<Response>> {
        let user: User = self.call(parts, "user.getById", "userId", id).await?;
        let image = user.image.filter(|image| user_picture(id, image).is_some());
        Ok(match image {
            Some(url) => {
                let keep = keep_of(parts, &url);
                answer_with(parts, keep, self.files.get_named(&url)).await
            }
            None => answer::text(StatusCode::NOT_FOUND, "This user has no picture at a URL"),
        })
    }

    async fn icon(&self, parts: &Parts, record: &Record) -> Response {
        if is_default(&record.icon_url) {
            return self.icon_by_name(parts, &record.name).await;
        }
        if let Some(path) = picture_path(&record.icon_url) {
            let mut response = answer::text(StatusCode::TEMPORARY_REDIRECT, "It is an uploaded picture");
            if let Ok(path) = HeaderValue::from_str(path) {
                response.headers_mut().insert(header::LOCATION, path);
            }
            return response;
        }
        let Some(ground) = ground(parts) else {
            return self.picture_at(parts, &record.icon_url, &record.icon_url).await;
        };
        let variant = (self.variant)(record.icon_url.clone(), ground);
        match timeout(PATIENCE, variant).await.unwrap_or(Variant::Unknown) {
            Variant::At(url) => {
                let response = self.picture_at(parts, &url, &record.icon_url).await;
                match response.status() {
                    StatusCode::OK | StatusCode::NOT_MODIFIED => response,
                    // The icon itself stands in for it.
                    _ => self.picture_to_ask_for(parts, &record.icon_url).await,
                }
            }
            Variant::Itself => self.picture_at(parts, &record.icon_url, &record.icon_url).await,
            Variant::Unknown => self.picture_to_ask_for(parts, &record.icon_url).await,
        }
    }

    /// The picture at a URL, which browsers may keep if they asked for this version of the record.
    async fn picture_at(&self, parts: &Parts, url: &str, recorded: &str) -> Response {
        self.picture(parts, url, keep_of(parts, recorded)).await
    }

    /// The same, which another picture may replace soon.
    async fn picture_to_ask_for(&self, parts: &Parts, url: &str) -> Response {
        self.picture(parts, url, Keep::Ask).await
    }

    async fn picture(&self, parts: &Parts, url: &str, keep: Keep) -> Response {
        answer_with(parts, keep, self.files.get(url)).await
    }

    /// The icon that is found by a name, or a tile with its letter.
    async fn icon_by_name(&self, parts: &Parts, name: &str) -> Response {
        let found = async {
            let url = self.names.icon_of(name).await?;
            if let Some(ground) = ground(parts)
                && let Variant::At(variant) = (self.variant)(url.clone(), ground).await
                && let Ok(picture) = self.files.get(&variant).await
            {
                return Some(picture);
            }
            self.files.get(&url).await.ok()
        };
        let found = timeout(PATIENCE, found).await.ok().flatten();
        // A letter stands in until an icon is found.
        let keep = if found.is_some() {
            Keep::ForAnHour
        } else {
            Keep::Ask
        };
        match found {
            Some(picture) => answer::picture(&picture, &parts.headers, keep),
            None => letter_of(parts, name, keep),
        }
    }

    /// The default icon by itself.
    fn default_icon(&self, parts: &Parts) -> Response {
        letter_of(parts, "", Keep::ForAnHour)
    }

    /// The icon that fits a name which no app has yet, or a tile with its letter.
    async fn named(&self, parts: &Parts, name: &str) -> Result<Response, Box<Response>> {
        if let Some(refusal) = self.refuse_preview(parts).await? {
            return Ok(refusal);
        }
        let name: String = name.chars().take(LONGEST_NAME).collect();
        // Whoever does not get a turn in time gets the letter, and may ask again.
        let Ok(_permit) = timeout(PATIENCE, self.previews.acquire()).await else {
            return Ok(letter_of(parts, &name, Keep::Ask));
        };
        Ok(self.icon_by_name(parts, &name).await)
    }

    /// The refusal of a caller who may not see icons before they are used.
    async fn refuse_preview(&self, parts: &Parts) -> Result<Option<Response>, Box<Response>> {
        let session: Session = self.get(parts, "/api/auth/session").await?;
        // A link on another site's page would make the service fetch what that page wants.
        let site = parts.headers.get("sec-fetch-site");
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            let message = "Only pages of this service show icons before they are used";
            return Ok(Some(answer::text(StatusCode::FORBIDDEN, message)));
        }
        if !Permission::AppCreate.is_given_by(&session.user.permissions) {
            let message = "Only those who may create apps see icons before they are used";
            return Ok(Some(answer::text(StatusCode::FORBIDDEN, message)));
        }
        Ok(None)
    }

    async fn preview(&self, parts: &Parts) -> Result<Response, Box<Response>> {
        if let Some(refusal) = self.refuse_preview(parts).await? {
            return Ok(refusal);
        }
        let url = query(parts, "url").unwrap_or_default();
        let preview = async {
            let _permit = self.previews.acquire().await;
            self.files.get(&url).await
        };
        Ok(match timeout(PATIENCE, preview).await {
            Ok(Ok(picture)) => answer::picture(&picture, &parts.headers, Keep::Ask),
            Ok(Err(error)) => answer::text(StatusCode::NOT_FOUND, &error.to_string()),
            Err(_) => {
                let message = "its host has not answered yet; try again soon";
                answer::text(StatusCode::NOT_FOUND, message)
            }
        })
    }

    /// Calls a procedure for one record as the sender of this request. Returns its output, or the API's refusal.
    async fn call<T: DeserializeOwned>(
        &self,
        parts: &Parts,
        procedure: &str,
        key: &str,
        id: &str,
    ) -> Result<T, Box<Response>> {
        let input = json!({ key: id }).to_string();
        let input = utf8_percent_encode(&input, NON_ALPHANUMERIC);
        let answer: Called<T> = self
            .get(parts, &format!("/api/trpc/{procedure}?input={input}"))
            .await?;
        Ok(answer.result.data)
    }

    /// Calls the API as the sender of this request. Returns its response, or its refusal.
    async fn get<T: DeserializeOwned>(&self, parts: &Parts, uri: &str) -> Result<T, Box<Response>> {
        let failed = || Box::new(answer::no_picture(&IconError::Busy));
        let api = InProcess::new(self.api.clone(), parts);
        let response = api.send(Method::GET, uri, None).await.map_err(|_| failed())?;
        if response.status() != StatusCode::OK {
            return Err(Box::new(response));
        }
        let body = to_bytes(response.into_body(), MOST_ANSWERED).await;
        serde_json::from_slice(&body.map_err(|_| failed())?).map_err(|_| failed())
    }
}

/// How long browsers may keep a picture: for long if they asked for the version of this URL.
fn keep_of(parts: &Parts, recorded: &str) -> Keep {
    let is_asked_for = query(parts, "v").is_some_and(|asked| asked == version(recorded));
    if is_asked_for { Keep::ForLong } else { Keep::Ask }
}

async fn answer_with(
    parts: &Parts,
    keep: Keep,
    getting: impl Future<Output = Result<Picture, IconError>>,
) -> Response {
    match timeout(PATIENCE, getting).await {
        Ok(Ok(picture)) => answer::picture(&picture, &parts.headers, keep),
        Ok(Err(error)) => answer::no_picture(&error),
        Err(_) => answer::no_picture(&IconError::Busy),
    }
}

/// The tile with the first letter of a name.
fn letter_of(parts: &Parts, name: &str, keep: Keep) -> Response {
    match letter::tile(name) {
        Ok(picture) => answer::picture(&picture, &parts.headers, keep),
        Err(error) => answer::no_picture(&error),
    }
}

/// What the icon is shown on, if the request says so.
fn ground(parts: &Parts) -> Option<Ground> {
    Ground::named(&query(parts, "on")?)
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The value of this key in the query string.
fn query(parts: &Parts, key: &str) -> Option<String> {
    let mut pairs = parts.uri.query().unwrap_or_default().split('&');
    let value = pairs.find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))?;
    Some(decode(&value.replace('+', " ")))
}

#[cfg(test)]
mod tests;
