//! Uploads of pictures. The script of the pages fits large ones before they are sent.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_rules::bounds;
use serde::Deserialize;
use serde_json::json;

use super::profile::{most, size};
use crate::{api::ApiError, form::Form, texts::fill, visit::Visit};

/// The most bytes of a picture. The script has it from the page.
pub(super) const MOST_BYTES: usize = bounds::PICTURE_BYTES;

/// A stored picture, as the API returns it.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub id: String,
    pub url: String,
}

/// Stores the picture in a field that has one, or says what is wrong with it.
pub(super) async fn store(
    visit: &Visit,
    form: &Form,
    field: &str,
) -> Result<Result<Stored, String>, ApiError> {
    let bytes = form.file(field).cloned().unwrap_or_default();
    if bytes.len() > MOST_BYTES {
        let language = visit.t.language;
        let problem = fill(
            visit.t.profile.picture_too_large,
            &[&size(bytes.len(), language), &most(MOST_BYTES, language)],
        );
        return Ok(Err(problem));
    }
    // The API looks at the bytes, and not at the type.
    let image = format!("data:image/*;base64,{}", STANDARD.encode(&bytes));
    match visit
        .api
        .mutate("picture.create", json!({ "image": image }))
        .await
    {
        Ok(stored) => Ok(Ok(stored)),
        Err(error) => match error.issues.first() {
            Some(issue) => Ok(Err(visit.say(&issue.message))),
            None if error.is_of_input() => Ok(Err(visit.say(&error.message))),
            None => Err(error),
        },
    }
}
