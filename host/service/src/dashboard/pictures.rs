//! `picture.*`: pictures that people upload, for looks and as icons of apps.
//!
//! Invariants:
//! - What a picture is, its bytes decide. SVG is refused, because it may hold scripts.
//! - The same picture is stored once: its id is the hash of its bytes.
//! - A picture that nothing uses goes with the first upload a day later. Until then it counts for its uploader, who may
//!   have only a few of them: one person cannot fill the store for everyone.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_model::{
    PICTURES, Timestamp,
    error::{Code, Error},
};
use portico_rules::{
    bounds,
    permissions::Permission,
    pictures::Format,
    refusal::{Missing, Refusal},
    rule::Rule,
};
use portico_storage::{DashboardTransaction, NewPicture, Picture, PictureCount};
use serde::Serialize;

use super::validate::Fields;
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation},
    },
    shape::{
        Bound,
        Shape::{self, Bounded, Named, Record, Text},
        Shaped, records, required,
    },
};

/// The most pictures of one uploader that nothing uses, and the most bytes of them.
const MOST_UNUSED: PictureCount = PictureCount {
    pictures: 50,
    bytes: 16 << 20,
};

/// How long a picture is kept that nothing uses yet: people may fill in the rest of a form.
const GRACE: Timestamp = 24 * 60 * 60 * 1000;

/// The most JSON values in the input.
const MOST_VALUES: usize = 1_000;

pub(super) const IMAGE: Shape = Bounded(
    // The pattern says how it begins.
    &Bounded(&Text, Bound::length(0..=*bounds::PICTURE.end())),
    Bound::Pattern(r"^\s*[Dd][Aa][Tt][Aa]:[^,]*;[Bb][Aa][Ss][Ee]64,"),
);
pub(super) const IMAGE_ABOUT: &str = "A data URI in base64 (`data:image/png;base64,…`) of a PNG, JPEG, WebP, GIF, AVIF or \
                                      ICO, by its first bytes: at most 1 MiB, 8,192 pixels a side and 40,000,000 in all.";

records! {
    struct NewPictureInput {
        image: String = required("image", IMAGE).about(IMAGE_ABOUT),
    }
}

/// What `picture.create` returns.
#[derive(Serialize)]
struct Created {
    id: String,
    url: String,
}

const CREATED: Shape = Named(
    "CreatedPicture",
    &Record(&[
        required("id", Text).about("The picture's id: for the same picture the same."),
        required("url", Text).about("Where it is served, for the `iconUrl` of an app or a search engine."),
    ]),
);

pub(super) static ROWS: &[Row] = &[mutation(
    "picture.create",
    Named("NewPicture", &NewPictureInput::SHAPE),
    CREATED,
    |call| Box::pin(create(call)),
)
.needs(Permission::AppCreate)
.large()
.large_input(MOST_VALUES)
.at("POST", "/api/pictures")
.about(
    "Stores a picture and returns its id. What it says about where, when and by whom it was made is removed; of an animated \
     AVIF it stays. A picture that looks, icons and the extras of boards do not use goes after a day. `CONFLICT`: there are 2,000 \
     pictures or 256 MiB of them, or 50 or 16 MiB of the caller's that nothing uses.",
)
.refuses(&[Code::Conflict])];

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: NewPictureInput = call.input()?;
    let mut fields = Fields::default();
    let picture = match read(&input.image) {
        Ok(picture) => picture,
        Err(problem) => {
            fields.refuse("image", problem);
            return Err(fields
                .check()
                .err()
                .unwrap_or_else(|| Error::not_found(Missing::Picture)));
        }
    };
    let now = call.resources.clock.now();
    let (mut transaction, uploader) = call.begin_as_creator().await?;
    transaction
        .remove_unused_pictures(now.saturating_sub(GRACE))
        .await?;
    if let Some(uploader) = &uploader {
        let unused = transaction.count_unused_pictures(uploader).await?;
        let refusal = Refusal::TooManyUnusedPictures {
            most: MOST_UNUSED.pictures,
            mebibytes: MOST_UNUSED.bytes >> 20,
        };
        require_room(MOST_UNUSED, unused, &picture, refusal)?;
    }
    let id = put(&mut *transaction, picture, uploader, now).await?;
    transaction.commit().await?;
    let url = format!("{PICTURES}{id}");
    json(&Created { id, url })
}

/// Stores a picture, if there is room for it, and returns its id.
pub(super) async fn put(
    transaction: &mut dyn DashboardTransaction,
    picture: Picture,
    uploader_id: Option<String>,
    now: Timestamp,
) -> Result<String, Error> {
    let id = Picture::id_of(&picture.bytes);
    if transaction.get_picture_size(&id).await?.is_none() {
        let all = transaction.count_pictures().await?;
        let refusal = Refusal::TooManyPictures {
            most: PictureCount::MOST.pictures,
            mebibytes: PictureCount::MOST.bytes >> 20,
        };
        require_room(PictureCount::MOST, all, &picture, refusal)?;
    }
    let new = NewPicture {
        id,
        picture,
        uploader_id,
        uploaded_at: now,
    };
    transaction.put_picture(&new).await?;
    Ok(new.id)
}

fn require_room(
    most: PictureCount,
    present: PictureCount,
    new: &Picture,
    refusal: Refusal,
) -> Result<(), Error> {
    let has_room = present.pictures < most.pictures && present.bytes + new.bytes.len() as u64 <= most.bytes;
    match has_room {
        true => Ok(()),
        false => Err(refusal.into()),
    }
}

/// The picture in a data URI as it is stored, or the rule that it breaks.
pub(super) fn read(image: &str) -> Result<Picture, Rule> {
    let image = image.trim();
    let head_and_body = image.split_once(',').filter(|(head, _)| {
        let head = head.to_ascii_lowercase();
        head.starts_with("data:") && head.ends_with(";base64")
    });
    let (_, body) = head_and_body.ok_or(Rule::NotDataUri)?;
    // What is too large is not decoded.
    let bytes = body.len() / 4 * 3;
    if bytes > bounds::PICTURE_BYTES + 2 {
        return Err(too_large(bytes));
    }
    // A long head can still make it longer than the largest picture needs.
    let most = *bounds::PICTURE.end();
    let got = image.chars().count();
    if got > most {
        return Err(Rule::TooLong { most, got });
    }
    let file = STANDARD.decode(body).map_err(|_| Rule::NotBase64)?;
    if file.len() > bounds::PICTURE_BYTES {
        return Err(too_large(file.len()));
    }
    let format = Format::recognise(&file).ok_or(Rule::NotPictureFormat)?;
    Ok(Picture {
        content_type: format.mime().into(),
        bytes: format.read(&file).drawable()?,
    })
}

fn too_large(got: usize) -> Rule {
    Rule::TooManyBytes {
        most: bounds::PICTURE_BYTES,
        got,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(file: &[u8]) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(file))
    }

    /// A GIF of one pixel with this many bytes.
    fn gif(bytes: usize) -> Vec<u8> {
        let mut file = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02".to_vec();
        while bytes - file.len() > 260 {
            file.push(255);
            file.extend([0; 255]);
        }
        let rest = bytes - file.len() - 3;
        file.push(rest as u8);
        file.resize(file.len() + rest, 0);
        file.extend(*b"\0;");
        assert_eq!(file.len(), bytes);
        file
    }

    #[test]
    fn the_bytes_decide_what_a_picture_is() {
        let picture = read(&format!(" {}\r\n", uri(&gif(300)))).unwrap();
        assert_eq!(picture.content_type, "image/gif");
        assert_eq!(picture.bytes, gif(300));
        for refused in [
            "",
            "data:",
            "https://example.com/x.png",
            "data:image/png,abc",
            "data:image/png;base64,AAA",
            &uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            &uri(b"<html>"),
            &uri(b""),
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_picture_has_at_most_one_mebibyte() {
        let most = bounds::PICTURE_BYTES;
        let longest = uri(&gif(most));
        assert!(bounds::PICTURE.contains(&longest.len()), "{}", longest.len());
        assert_eq!(read(&longest).unwrap().bytes.len(), most);
        for larger in [most + 1, most + 3, 3 * most] {
            let problem = read(&uri(&gif(larger))).unwrap_err();
            assert!(
                matches!(problem, Rule::TooManyBytes { most: 1_048_576, .. }),
                "{problem}"
            );
        }
        let padded = longest.replacen("image/png", &format!("image/png;{}", "ü".repeat(100)), 1);
        let problem = read(&padded).unwrap_err();
        assert!(
            matches!(problem, Rule::TooLong { most, .. } if most == *bounds::PICTURE.end()),
            "{problem}"
        );
    }
}
