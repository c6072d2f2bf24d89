//! The user's picture: an upload, which the API takes as a `data:` URI. The script of the pages shrinks large pictures
//! before they are sent.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{PageResult, refused, saved_note};
use crate::{
    form::{Form, Problems},
    texts::{Language, fill},
    visit::Visit,
};

/// The most bytes of a picture: in base64, with `data:image/jpeg;base64,` before it, it has the API's 350,000
/// characters. The script has the same number.
pub(super) const MOST_BYTES: usize = 262_000;

pub(super) async fn save(visit: &Visit, user_id: &str, form: &Form) -> PageResult {
    let image = if form.is_ticked("remove") {
        Ok(Value::Null)
    } else {
        read(visit, form).map(Value::from)
    };
    let image = match image {
        Ok(image) => image,
        Err(problem) => {
            let mut problems = Problems::default();
            problems.add("picture", problem);
            return refused(visit, form, problems).await;
        }
    };
    let input = json!({ "userId": user_id, "image": image });
    match visit.api.change("user.setProfileImage", input).await {
        Ok(()) => Ok(saved_note()),
        Err(error) => {
            let mut problems = Problems::default();
            for issue in &error.issues {
                problems.add("picture", visit.say(&issue.message));
            }
            if problems.is_empty() {
                problems = visit.problems(error, &[])?;
            }
            refused(visit, form, problems).await
        }
    }
}

/// The chosen file as a `data:` URI, or what is wrong with it.
fn read(visit: &Visit, form: &Form) -> Result<String, String> {
    let t = &visit.t.profile;
    let bytes = form.file("picture").ok_or(t.picture_missing)?;
    let kind = kind_of(bytes).ok_or(t.picture_kind)?;
    if bytes.len() > MOST_BYTES {
        let language = visit.t.language;
        let (found, most) = (size(bytes.len(), language), most(MOST_BYTES, language));
        return Err(fill(t.picture_too_large, &[&found, &most]));
    }
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

/// The type of a picture by its first bytes.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// A size as text: `262 kB`, `1.3 MB`. It is never rounded down.
pub(in crate::pages) fn size(bytes: usize, language: Language) -> String {
    match bytes < 1_000_000 {
        true => format!("{} kB", bytes.div_ceil(1_000)),
        false => megabytes(bytes.div_ceil(100_000), language),
    }
}

/// A bound of sizes as text. It is never rounded up, so that what is said to fit does.
pub(in crate::pages) fn most(bytes: usize, language: Language) -> String {
    match bytes < 1_000_000 {
        true => format!("{} kB", bytes / 1_000),
        false => megabytes(bytes / 100_000, language),
    }
}

fn megabytes(tenths: usize, language: Language) -> String {
    let point = if language == Language::German { ',' } else { '.' };
    format!("{}{point}{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_picture_fits_the_bound_of_the_api() {
        let longest = format!("data:image/jpeg;base64,{}", STANDARD.encode([0; MOST_BYTES]));
        assert!(longest.len() <= 350_000, "{}", longest.len());
    }

    #[test]
    fn sizes_are_said_in_words() {
        assert_eq!(size(MOST_BYTES, Language::English), "262 kB");
        assert_eq!(size(262_001, Language::English), "263 kB");
        assert_eq!(size(1_250_001, Language::English), "1.3 MB");
        assert_eq!(size(12_000_000, Language::German), "12,0 MB");
        assert_eq!(most(1 << 20, Language::German), "1,0 MB");
        assert_eq!(most(262_999, Language::English), "262 kB");
    }
}
