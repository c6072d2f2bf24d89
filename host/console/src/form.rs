//! Forms: what was sent, and the token that shows that a page of the reader's session sent it.
//!
//! Another site can make a browser send a form, so there are two conditions. The headers must not name another site
//! (`visit.rs` checks that first, and the API again, because each call carries them). And the form must carry a token that is derived from a
//! cookie of this browser, which no page can read, and from the session's own cookie. A form of another browser, of
//! another session or of no session at all changes nothing. If the browser says that a page of this site sent it, the
//! reader sees it again with a new token ([`Form::is_old`]); otherwise it is refused.
//!
//! Pages are compressed, and may contain text of the sender's choice next to the token. So each page shows the token in
//! another encoding, and the compressed length reveals nothing about it.

use std::collections::BTreeMap;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::{BodyExt, Full};
use multer::Multipart;
use portico_service::{
    identity::{PLAIN_COOKIE, SECURE_COOKIE, cookie_of},
    site::Sender,
};
use sha2::{Digest, Sha256};
use tokio::time::Duration;

use crate::{
    api::{ApiError, Issue, compute},
    fields::{Fields, MOST_FIELDS},
    texts::refusals::FormRefusal,
};

/// The name of the field with the token.
pub(crate) const TOKEN: &str = "form-token";

/// A form of this many bytes or more is read on a thread that serves no requests.
const LONG_TO_READ: usize = 64 << 10;

/// How long a form may take to arrive.
const RECEIVE_TIME: Duration = Duration::from_secs(30);

/// The secrets from which the tokens of this browser's and session's forms are made.
pub(crate) struct FormSecret {
    secret: [u8; 32],
    /// The cookie to set, if the browser has none yet.
    pub new_cookie: Option<HeaderValue>,
}

impl FormSecret {
    /// Reads the browser's cookies, and makes the cookie that is missing.
    pub fn of(headers: &HeaderMap, is_secure: bool) -> Self {
        let (name, session, attributes) = if is_secure {
            ("__Host-portico_form", SECURE_COOKIE, "; Secure")
        } else {
            ("portico_form", PLAIN_COOKIE, "")
        };
        let sent = cookie_of(headers, name).filter(|value| value.len() == 64);
        let (browser, new_cookie) = match sent {
            Some(browser) => (browser.to_owned(), None),
            None => {
                let browser = hex(&random());
                let cookie = format!("{name}={browser}; Path=/; HttpOnly; SameSite=Lax{attributes}");
                (browser, HeaderValue::try_from(cookie).ok())
            }
        };
        let mut hash = Sha256::new();
        hash.update(b"portico form\0");
        hash.update(browser.as_bytes());
        hash.update(b"\0");
        hash.update(cookie_of(headers, session).unwrap_or_default().as_bytes());
        Self {
            secret: hash.finalize().into(),
            new_cookie,
        }
    }

    /// The token for one page.
    pub fn token(&self) -> String {
        let mask = random();
        let masked: Vec<u8> = self
            .secret
            .iter()
            .zip(mask)
            .map(|(byte, mask)| byte ^ mask)
            .collect();
        format!("{}{}", hex(&mask), hex(&masked))
    }

    fn made(&self, token: &str) -> bool {
        let Some(bytes) = from_hex(token).filter(|bytes| bytes.len() == 64) else {
            return false;
        };
        let (mask, masked) = bytes.split_at(32);
        let difference = self
            .secret
            .iter()
            .zip(mask.iter().zip(masked))
            .fold(0, |difference, (byte, (mask, masked))| {
                difference | (byte ^ mask ^ masked)
            });
        difference == 0
    }
}

/// The fields of a form, in the order in which they were sent.
#[derive(Clone, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    files: Vec<(String, Bytes)>,
    /// What the fields may hold; `None` if they are stored.
    bounds: Option<&'static Fields>,
    is_old: bool,
}

impl Form {
    /// Reads a form with these fields, and refuses one that is too large or that no page of this site sent. An old one is
    /// not refused if the browser says that this site's page is its `sender`.
    pub async fn read(
        parts: &Parts,
        body: Body,
        secret: &FormSecret,
        sender: &Sender,
        bounds: &'static Fields,
    ) -> Result<Self, ApiError> {
        let largest = bounds.largest();
        let bytes = portico_http::read_body(body, largest, RECEIVE_TIME).await;
        let bytes = bytes.map_err(|error| match error.code.http_status() {
            413 => {
                let most = largest >> 10;
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, FormRefusal::TooLarge { most })
            }
            504 => ApiError::new(StatusCode::REQUEST_TIMEOUT, FormRefusal::TooLate),
            _ => bad(FormRefusal::Cut),
        })?;
        let kind = parts.headers.get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let mut form = if bytes.len() < LONG_TO_READ {
            Self::read_bytes(&kind, bytes)
        } else {
            compute(&parts.extensions, move || Self::read_bytes(&kind, bytes)).await?
        }?;
        form.bounds = Some(bounds);
        form.is_old = !secret.made(form.text(TOKEN));
        if form.is_old && *sender != Sender::OwnPage {
            return Err(stale());
        }
        Ok(form)
    }

    fn read_bytes(kind: &str, bytes: Bytes) -> Result<Self, ApiError> {
        let form = match kind.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => {
                let fields = form_urlencoded::parse(&bytes).take(MOST_FIELDS + 1);
                Self {
                    fields: fields.map(|(name, value)| (name.into(), value.into())).collect(),
                    ..Self::default()
                }
            }
            // All of it is here, so this waits for nothing.
            "multipart/form-data" => Self::read_parts(kind, bytes)
                .now_or_never()
                .unwrap_or_else(|| Err(bad(FormRefusal::Cut)))?,
            _ => {
                return Err(ApiError::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    FormRefusal::NotForm,
                ));
            }
        };
        if form.fields.len() + form.files.len() > MOST_FIELDS {
            return Err(bad(FormRefusal::TooManyFields));
        }
        Ok(form)
    }

    /// Whether the form was made for another session of this browser: it may be shown again, but changes nothing.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// Reads a form that may contain files.
    async fn read_parts(content_type: &str, bytes: Bytes) -> Result<Self, ApiError> {
        let broken = |_| bad(FormRefusal::Cut);
        let boundary = multer::parse_boundary(content_type).map_err(broken)?;
        let mut parts = Multipart::new(Full::new(bytes).into_data_stream(), boundary);
        let mut form = Self::default();
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            let is_file = part.file_name().is_some();
            let content = part.bytes().await.map_err(broken)?;
            if is_file {
                form.files.push((name, content));
            } else {
                let text = String::from_utf8_lossy(&content).into_owned();
                form.fields.push((name, text));
            }
            if form.fields.len() + form.files.len() > MOST_FIELDS {
                break;
            }
        }
        Ok(form)
    }

    /// The content of a file; `None` if no file was chosen.
    pub fn file(&self, name: &str) -> Option<&Bytes> {
        let mut files = self.files.iter();
        let found = files.find(|(field, content)| field == name && !content.is_empty());
        found.map(|(_, content)| content)
    }

    /// A form with these values, to be shown for changing them.
    pub fn filled<const N: usize>(fields: [(&str, &str); N]) -> Self {
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            fields: fields.into(),
            ..Self::default()
        }
    }

    /// All fields, of which a name may occur more than once.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    #[cfg(test)]
    pub fn push(&mut self, name: &str, value: &str) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// The same form with another text in a field.
    pub fn set(&mut self, name: &str, value: String) {
        self.fields.retain(|(field, _)| field != name);
        self.fields.push((name.to_owned(), value));
    }

    /// A field's text; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value)
    }

    /// A field's text, to be shown again. It is empty if the field may not hold so much: then only the error is shown.
    pub fn shown(&self, name: &str) -> &str {
        let text = self.text(name);
        match self.bounds {
            Some(bounds) if bounds.are_exceeded(name, text) => "",
            _ => text,
        }
    }

    /// A field's text; `None` if it is empty.
    pub fn optional(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.trim().is_empty())
    }

    /// A text of several lines; `None` if it is empty. Browsers end the lines of forms with CR and LF.
    pub fn lines(&self, name: &str) -> Option<String> {
        self.optional(name).map(|text| text.replace("\r\n", "\n"))
    }

    pub fn is_ticked(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// All texts of a field that may occur more than once.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.iter().filter(move |(field, _)| field == name);
        fields.map(|(_, value)| value.as_str())
    }
}

/// What is wrong with a form that is shown again: by field, and as a whole.
#[derive(Default)]
pub(crate) struct Problems {
    by_field: BTreeMap<String, String>,
    whole: Vec<String>,
}

impl Problems {
    /// The problems that the API found. `fields` are the fields of the form: problems of other fields are shown above
    /// the form. `say` translates the API's words into the reader's language.
    pub fn of(error: &ApiError, fields: &[&str], say: impl Fn(&str) -> String) -> Self {
        let mut problems = Self::default();
        for Issue { path, message } in &error.issues {
            let name = path.iter().find_map(|step| step.as_str()).unwrap_or_default();
            if fields.contains(&name) {
                problems
                    .by_field
                    .entry(name.into())
                    .or_insert_with(|| say(message));
            } else if name.is_empty() {
                problems.whole.push(say(message));
            } else {
                problems.whole.push(format!("{name}: {}", say(message)));
            }
        }
        if error.issues.is_empty() {
            problems.whole.push(say(&error.message));
        }
        problems
    }

    /// Adds a problem of one field.
    pub fn add(&mut self, field: &str, message: impl Into<String>) {
        self.by_field.insert(field.into(), message.into());
    }

    /// Says the problem of a field above the form, with the field's label: for one that has no place of its own for it.
    pub fn lift(&mut self, field: &str, label: &str) {
        if let Some(problem) = self.by_field.remove(field) {
            self.whole.push(format!("{label}: {problem}"));
        }
    }

    /// Adds a problem of the form as a whole.
    pub fn add_to_whole(&mut self, message: impl Into<String>) {
        self.whole.push(message.into());
    }

    pub fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.whole.is_empty()
    }

    /// Whether a field has a problem: the first one of them gets the focus.
    pub fn has_field(&self) -> bool {
        !self.by_field.is_empty()
    }

    /// The attributes of the field that has the focus when the form is opened. If there are problems, what has them gets
    /// the focus.
    pub fn focused(&self, attributes: &str) -> String {
        let focus = if self.is_empty() { " autofocus" } else { "" };
        format!("{attributes}{focus}")
    }

    /// The problem of a field; empty if it has none.
    pub fn at(&self, field: &str) -> &str {
        self.by_field.get(field).map_or("", String::as_str)
    }

    /// The problems of the form as a whole.
    pub fn whole(&self) -> &[String] {
        &self.whole
    }
}

fn bad(refusal: FormRefusal) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, refusal)
}

/// The refusal of a form that no page of this session sent.
pub(crate) fn stale() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, FormRefusal::OtherSession)
}

fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    };
    let is_whole = text.len().is_multiple_of(2);
    is_whole.then(|| text.as_bytes().chunks(2).map(digits).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookies: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, cookies.parse().unwrap());
        headers
    }

    #[test]
    fn a_token_is_good_for_its_browser_and_session_and_different_on_each_page() {
        let browser = "a".repeat(64);
        let other = "b".repeat(64);
        let of = |cookies: String| FormSecret::of(&headers(&cookies), false);
        let secret = of(format!("portico_form={browser}; portico_session=s"));
        let (first, second) = (secret.token(), secret.token());
        assert_ne!(first, second);
        assert!(secret.made(&first) && secret.made(&second));
        assert!(of(format!("x=y; portico_session=s; portico_form={browser}")).made(&first));
        // Other programs on this host may set any bytes.
        let mut odd = HeaderMap::new();
        let cookies = format!("theme=caf\u{e9}; portico_session=s; portico_form={browser}");
        let cookies: Vec<u8> = cookies.chars().map(|letter| letter as u8).collect();
        odd.insert(header::COOKIE, HeaderValue::from_bytes(&cookies).unwrap());
        assert!(FormSecret::of(&odd, false).made(&first));
        for foreign in [
            format!("portico_form={other}; portico_session=s"),
            format!("portico_form={browser}; portico_session=t"),
            format!("portico_form={browser}"),
            "portico_session=s".into(),
        ] {
            assert!(!of(foreign.clone()).made(&first), "{foreign}");
        }
        for broken in ["", "00", "zz", &"0".repeat(128), &first[..126], "ä"] {
            assert!(!secret.made(broken), "{broken}");
        }
    }

    #[test]
    fn a_browser_without_the_cookie_gets_a_new_one() {
        let secret = FormSecret::of(&HeaderMap::new(), true);
        let cookie = secret.new_cookie.unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("__Host-portico_form="), "{cookie}");
        assert!(
            cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
            "{cookie}"
        );
    }
}
