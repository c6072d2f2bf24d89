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
use portico_rules::{bounds, permissions::Permission, pictures::Format};
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

/// The most pictures, and the most bytes of all of them.
const MOST: PictureCount = PictureCount {
    pictures: 2_000,
    bytes: 256 << 20,
};

/// The same for the pictures of one uploader that nothing uses.
const MOST_UNUSED: PictureCount = PictureCount {
    pictures: 50,
    bytes: 16 << 20,
};

/// How long a picture is kept that nothing uses yet: people may fill in the rest of a form.
const GRACE: Timestamp = 24 * 60 * 60 * 1000;

/// The most JSON values in the input.
const MOST_VALUES: usize = 1_000;

pub(super) const IMAGE: Shape = Bounded(
    &Bounded(&Text, Bound::length(bounds::PICTURE)),
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
    "Stores a picture and answers its id. Of PNG, JPEG, WebP and GIF, what they say about where, when and by whom they were \
     made is removed. A picture that neither the looks nor an icon uses goes after a day. `CONFLICT`: there are 2,000 \
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
                .unwrap_or_else(|| Error::not_found("Picture")));
        }
    };
    let now = call.resources.clock.now();
    let (mut transaction, uploader) = call.begin_as_creator().await?;
    transaction
        .remove_unused_pictures(now.saturating_sub(GRACE))
        .await?;
    if let Some(uploader) = &uploader {
        let unused = transaction.count_unused_pictures(uploader).await?;
        let message =
            "You have uploaded 50 pictures, or 16 MiB of them, that nothing uses: use them, or wait a day";
        require_room(MOST_UNUSED, unused, &picture, message)?;
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
        let message = "There are 2,000 pictures, or 256 MiB of them: remove some from apps or looks first";
        require_room(MOST, all, &picture, message)?;
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
    message: &str,
) -> Result<(), Error> {
    let has_room = present.pictures < most.pictures && present.bytes + new.bytes.len() as u64 <= most.bytes;
    match has_room {
        true => Ok(()),
        false => Err(Error::new(Code::Conflict, message)),
    }
}

/// The picture in a data URI as it is stored, or the rule that it breaks.
pub(super) fn read(image: &str) -> Result<Picture, String> {
    let head_and_body = image.trim().split_once(',').filter(|(head, _)| {
        let head = head.to_ascii_lowercase();
        head.starts_with("data:") && head.ends_with(";base64")
    });
    let (_, body) = head_and_body.ok_or("must be a data URI: data:image/...;base64,...")?;
    // What is too large is not decoded.
    let bytes = body.len() / 4 * 3;
    if bytes > bounds::PICTURE_BYTES + 2 {
        return Err(too_large(bytes));
    }
    let file = STANDARD
        .decode(body)
        .map_err(|_| "must be in base64 with its padding")?;
    if file.len() > bounds::PICTURE_BYTES {
        return Err(too_large(file.len()));
    }
    let format = Format::recognise(&file).ok_or("must be a PNG, JPEG, WebP, GIF, AVIF or ICO")?;
    let kept = format.read(&file);
    if let Some((width, height)) = kept.too_large {
        return Err(format!(
            "must have at most {} pixels a side and {} in all, got {width}x{height}",
            bounds::IMAGE_SIDE,
            bounds::IMAGE_PIXELS
        ));
    }
    Ok(Picture {
        content_type: format.mime().into(),
        bytes: kept.file,
    })
}

fn too_large(bytes: usize) -> String {
    format!("must have at most {} bytes, got {bytes}", bounds::PICTURE_BYTES)
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
                problem.starts_with("must have at most 1048576 bytes, got "),
                "{problem}"
            );
        }
    }
}
