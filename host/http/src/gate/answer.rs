//! What the gate returns to a proxy: who the user is, or where they sign in.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use portico_model::{error::Error, refusal::Refusal};
use portico_service::gate::Gate;
use portico_storage::{GateVisitor, secrets::is_of_session};

use super::question::Asked;
use crate::{error, state::Shared};

/// The longest path with which a browser is sent to sign in; that page takes 512 characters.
const LONGEST_PATH: usize = 480;

const USER: HeaderName = HeaderName::from_static("remote-user");
const NAME: HeaderName = HeaderName::from_static("remote-name");
const EMAIL: HeaderName = HeaderName::from_static("remote-email");
const GROUPS: HeaderName = HeaderName::from_static("remote-groups");

/// The request may reach its app. All headers are always set, so that a client cannot set one of them.
pub(super) fn passes(request: &HeaderMap, visitor: Option<&GateVisitor>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let (name, email) = visitor.map_or(("", ""), |visitor| {
        (&visitor.name, visitor.email.as_deref().unwrap_or_default())
    });
    let groups = visitor.map_or(&[][..], |visitor| &visitor.groups);
    let groups: Vec<String> = groups.iter().map(|group| encode(group)).collect();
    let headers = response.headers_mut();
    for (header, value) in [
        (USER, encode(name)),
        (NAME, encode(name)),
        (EMAIL, encode(email)),
        (GROUPS, groups.join(",")),
    ] {
        // What is encoded is visible ASCII.
        let value = HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static(""));
        headers.insert(header, value);
    }
    headers.insert(header::COOKIE, cookies_of_app(request));
    response
}

/// The cookies of a request without those of this service, for the proxy to pass on instead: no app gets a pass, and none at
/// this service's own host a session.
fn cookies_of_app(request: &HeaderMap) -> HeaderValue {
    let sent = request.get_all(header::COOKIE).iter();
    let pairs = sent.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let others = pairs
        .map(<[u8]>::trim_ascii)
        .filter(|pair| !pair.is_empty() && !is_own(pair));
    let others: Vec<&[u8]> = others.collect();
    HeaderValue::from_bytes(&others.join(&b"; "[..])).unwrap_or(HeaderValue::from_static(""))
}

/// Whether a cookie is one of this service: by its name, or because it holds a session under another one, as for clients of
/// Homarr. An app may itself have a cookie of that name.
fn is_own(pair: &[u8]) -> bool {
    let mut parts = pair.splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
    let name = parts.next().unwrap_or_default();
    let name = [&b"__Host-"[..], b"__Secure-"]
        .into_iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    name.starts_with(b"portico_") || parts.next().is_some_and(is_of_session)
}

/// All but the characters that URLs never reserve.
const RESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A text as the value of a header, in UTF-8 and percent-encoded but for letters and digits of ASCII and `-._~@+`. So no
/// name ends a line, a list or a quotation, and none can be taken for another.
fn encode(text: &str) -> String {
    const ENCODED: AsciiSet = RESERVED.remove(b'@').remove(b'+');
    utf8_percent_encode(text, &ENCODED).to_string()
}

/// The sender has to sign in: a person is led there, a program is told.
pub(super) fn sign_in(http: &Shared, gate: &Gate, asked: &Asked) -> Response {
    let location = asked.opens_page.then(|| sign_in_url(http, asked)).flatten();
    let mut response = match &location {
        Some(_) if !asked.only_statuses => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::FOUND;
            response
        }
        _ => {
            let mut response = error::rest(Error::unauthorized(), None);
            let challenge = format!("Portico realm=\"{}\"", gate.domain());
            if let Ok(challenge) = HeaderValue::try_from(challenge) {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
    };
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// The request may not reach an app: a person gets a page, a program the refusal.
pub(super) fn refuses(http: &Shared, headers: &HeaderMap, asked: &Asked, refusal: &Refusal) -> Response {
    let page = http.settings.gate.as_ref().and_then(|gate| gate.page);
    let (Some(page), Some(public_url), true) = (page, &http.settings.public_url, asked.opens_page) else {
        return error::rest(refusal.clone().into(), None);
    };
    let mut response = Response::new(page(headers, &refusal.to_string(), public_url).into());
    *response.status_mut() = StatusCode::FORBIDDEN;
    // The page is shown at the address of the app.
    let policy = format!(
        "default-src 'none'; style-src {public_url}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, &*policy),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The address at which a person signs in, and from which they come back; `None` if there are no pages.
fn sign_in_url(http: &Shared, asked: &Asked) -> Option<HeaderValue> {
    let settings = &http.settings;
    settings.gate.as_ref()?.page?;
    let public_url = settings.public_url.as_ref()?;
    let url = asked.target.url();
    let path = url.split('?').next().unwrap_or_default();
    let origin = path
        .match_indices('/')
        .nth(2)
        .map_or(path, |(end, _)| &path[..=end]);
    let paths =
        [url, path, origin].map(|next| format!("/gate?next={}", utf8_percent_encode(next, &RESERVED)));
    let path = paths.into_iter().find(|path| path.len() <= LONGEST_PATH)?;
    HeaderValue::try_from(format!("{public_url}{path}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_forges_a_header() {
        let visitor = GateVisitor {
            session_id: "s".into(),
            user_id: "u".into(),
            name: "ada, root\r\nRemote-User: root".into(),
            email: None,
            is_name_shared: false,
            groups: vec!["a,b".into(), "a%2Cb".into(), " Zo\u{eb}\u{7f}\"".into()],
            permissions: Vec::new(),
            expires_at: 0,
            ends_at: 0,
        };
        let response = passes(&HeaderMap::new(), Some(&visitor));
        let headers = response.headers();
        let text = |name: &str| headers[name].to_str().unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        assert_eq!(text("remote-user"), "ada%2C%20root%0D%0ARemote-User%3A%20root");
        assert_eq!(text("remote-name"), text("remote-user"));
        assert_eq!(text("remote-email"), "");
        assert_eq!(text("remote-groups"), "a%2Cb,a%252Cb,%20Zo%C3%AB%7F%22");
        for name in ["remote-user", "remote-name", "remote-email", "remote-groups"] {
            assert_eq!(passes(&HeaderMap::new(), None).headers()[name], "", "{name}");
        }
        assert_eq!(encode("ada.l-o_v~e+x@example.com"), "ada.l-o_v~e+x@example.com");
    }

    #[test]
    fn an_app_gets_its_cookies_and_none_of_this_service() {
        for (sent, left) in [
            (&[][..], &b""[..]),
            (&[&b"portico_gate=x"[..]], b""),
            (
                &[b"a=b; __Secure-portico_gate=x;c=d; portico_session=y; __Host-portico_session=z"],
                b"a=b; c=d",
            ),
            (
                &[b"theme=\xe9; portico_gate = x", b"portico_gate=y; e"],
                b"theme=\xe9; e",
            ),
            (&[b"porticos=a; xportico_gate=b; a"], b"porticos=a; xportico_gate=b; a"),
            // Those of forms, passkeys and sign-in, whatever else they are called one day.
            (
                &[b"portico_form=a; __Host-portico_passkey=b; x=1; __Host-portico_oidc=c; portico_gate_tries=2"],
                b"x=1",
            ),
            // A session as clients of Homarr store it. An app with Auth.js of its own keeps its own.
            (
                &[b"__Secure-authjs.session-token=portico_session_abc; authjs.session-token= portico_session_abc; x=1"],
                b"x=1",
            ),
            (
                &[b"__Secure-authjs.session-token=eyJ; authjs.csrf-token=a"],
                b"__Secure-authjs.session-token=eyJ; authjs.csrf-token=a",
            ),
        ] {
            let mut request = HeaderMap::new();
            for value in sent {
                request.append(header::COOKIE, HeaderValue::from_bytes(value).unwrap());
            }
            let response = passes(&request, None);
            assert_eq!(response.headers()[header::COOKIE].as_bytes(), left, "{sent:?}");
        }
    }
}
