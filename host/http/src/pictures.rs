//! `GET /api/pictures/{id}`: an uploaded picture. Its id is the hash of its bytes, so what is at the address never changes.

use axum::{
    body::Body,
    extract::{Extension, Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use portico_model::{error::Error, refusal::Missing};
use portico_service::pictures;

use crate::{bodies, finish::finish_and_report, request::RequestId, state::Shared};

/// A browser that opens the picture by itself runs nothing and asks for nothing.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

pub(super) async fn picture(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    Path(picture_id): Path<String>,
    request: Request,
) -> Response {
    let found = pictures::read(&http.service, &picture_id, &id.0).await;
    let response = found.and_then(|found| {
        let picture = found.ok_or_else(|| Error::not_found(Missing::Picture))?;
        let etag = format!("\"{picture_id}\"");
        let sent = request.headers().get(header::IF_NONE_MATCH);
        let is_current = sent.is_some_and(|sent| sent.as_bytes() == etag.as_bytes());
        let mut response = match is_current {
            true => Response::new(Body::empty()),
            false => Response::new(bodies::hold(request.extensions().get(), picture.bytes).into()),
        };
        if is_current {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, &*picture.content_type),
            (header::ETAG, &etag),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
        ] {
            headers.insert(name, HeaderValue::from_str(value).map_err(Error::internal)?);
        }
        Ok(response)
    });
    finish_and_report(response, "picture", &id)
}
