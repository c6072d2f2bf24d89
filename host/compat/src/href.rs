//! Apps whose `href` is a path on this host.
//!
//! Portico's links are absolute URLs. If the public URL is known, a path is stored as a URL of this host, and a URL of
//! this host is returned as a path. So a client that looks up an app by what it has sent finds it.

use axum::{
    body::{Body, BodyDataStream, Bytes},
    http::header,
    response::Response,
};
use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::Compat;

/// Whether the responses at this path may contain apps.
pub(crate) fn concerns(path: &str) -> bool {
    match path.strip_prefix("/api/trpc/") {
        Some(names) => names.contains("app."),
        None => path == "/api/apps" || path.starts_with("/api/apps/"),
    }
}

/// Makes a URL from an `href` that is a path.
pub(crate) fn complete(compat: &Compat, input: &mut Value) {
    if let Some(url) = &compat.public_url
        && let Some(path) = input["href"].as_str()
        && path.starts_with('/')
        && !path.starts_with("//")
    {
        input["href"] = format!("{url}{path}").into();
    }
}

/// The response, with paths instead of URLs of this host.
pub(crate) fn shortened(compat: &Compat, response: Response) -> Response {
    let Some(url) = &compat.public_url else {
        return response;
    };
    // Only a key is followed by a colon. No text can be mistaken for it, because quotes are escaped in a text.
    let start = br#""href":""#.to_vec();
    let origin = format!("{url}/").into_bytes();
    let replacing = Replacing {
        start,
        origin,
        kept: Vec::new(),
    };
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let pieces = stream::unfold(Some((body.into_data_stream(), replacing)), next);
    Response::from_parts(parts, Body::from_stream(pieces))
}

type Coming = Option<(BodyDataStream, Replacing)>;

/// The next piece of the response, or the remainder after the last piece.
async fn next(coming: Coming) -> Option<(Result<Bytes, axum::Error>, Coming)> {
    let (mut body, mut replacing) = coming?;
    match body.next().await {
        Some(Ok(piece)) => {
            let piece = replacing.take(&piece);
            Some((Ok(piece.into()), Some((body, replacing))))
        }
        Some(Err(error)) => Some((Err(error), None)),
        None => Some((Ok(replacing.kept.into()), None)),
    }
}

/// Replaces `"href":"ORIGIN/` with `"href":"/` in a text that comes in pieces.
struct Replacing {
    /// What precedes the origin.
    start: Vec<u8>,
    /// The origin with the first character of the path.
    origin: Vec<u8>,
    /// The end of the last piece, if the next piece may complete a match.
    kept: Vec<u8>,
}

impl Replacing {
    /// Takes the next piece, and returns the part of the output that is certain by then.
    fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.kept);
        text.extend_from_slice(piece);
        let whole = [&self.start[..], &self.origin[..]].concat();
        let mut out = Vec::with_capacity(text.len());
        let mut rest = &text[..];
        while let Some(place) = rest.iter().position(|byte| *byte == whole[0]) {
            out.extend_from_slice(&rest[..place]);
            rest = &rest[place..];
            if rest.starts_with(&whole) {
                out.extend_from_slice(&self.start);
                out.push(b'/');
                rest = &rest[whole.len()..];
            } else if whole.starts_with(rest) {
                self.kept = rest.to_vec();
                return out;
            } else {
                out.push(rest[0]);
                rest = &rest[1..];
            }
        }
        out.extend_from_slice(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_replaced_wherever_the_text_is_cut() {
        let text = r#"[{"href":"https://a.b/x","name":"\"href\":\"https://a.b/"},{"href":"https://a.b.c/"},{"href":"https://a.b/"}]"#;
        let expected =
            r#"[{"href":"/x","name":"\"href\":\"https://a.b/"},{"href":"https://a.b.c/"},{"href":"/"}]"#;
        for size in 1..=text.len() {
            let mut replacing = Replacing {
                start: br#""href":""#.to_vec(),
                origin: b"https://a.b/".to_vec(),
                kept: Vec::new(),
            };
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                out.extend(replacing.take(piece));
            }
            out.extend(replacing.kept);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "in pieces of {size}");
        }
    }
}
