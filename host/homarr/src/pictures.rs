//! Icons that are files which users have uploaded to Homarr. They come along as data URIs.
//!
//! Invariant: the pictures that come along have at most [`MOST_TOGETHER`] characters together, however many records have
//! the same one.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::homarr::Media;
use crate::report::{Kind, Report, What, shown};

/// Where Homarr serves uploaded files, before their ids.
const PATH: &str = "/api/user-medias/";
/// The most characters of an icon's URL.
const MOST_OF_AN_ICON: usize = 65_536;
/// The most characters of all pictures together.
const MOST_TOGETHER: usize = 8 << 20;

pub struct Pictures<'a> {
    medias: HashMap<&'a str, &'a Media>,
    /// The files that records refer to.
    used: HashSet<&'a str>,
    /// How many characters may still come along.
    room: usize,
}

impl<'a> Pictures<'a> {
    pub fn new(medias: &'a [Media]) -> Self {
        Self {
            medias: medias.iter().map(|media| (&media.id[..], media)).collect(),
            used: HashSet::new(),
            room: MOST_TOGETHER,
        }
    }

    /// The icon of a record: the same URL, or the picture that is there. Empty, with a note, if that does not come along.
    pub fn icon(&mut self, kind: Kind, of: (&str, &str), url: &str, report: &mut Report) -> String {
        let Some(id) = media_of(url) else {
            return url.to_owned();
        };
        // Another Homarr may serve it.
        if !url.trim().starts_with('/') && !self.medias.contains_key(id) {
            return url.to_owned();
        }
        let why = match self.medias.get(id) {
            None => "is not there",
            Some(media) => {
                self.used.insert(&media.id);
                match data_uri(media) {
                    Err(why) => why,
                    Ok(uri) if uri.len() > self.room => "is beyond 8 MiB of such pictures",
                    Ok(uri) => {
                        self.room -= uri.len();
                        return uri;
                    }
                }
            }
        };
        let instead = match kind {
            Kind::App => ": it is the default icon now",
            _ => "",
        };
        let text = format!("its icon, the uploaded file {:?}, {why}{instead}", shown(id));
        report.note_of(kind, of, What::Repaired, text);
        match kind {
            Kind::App => String::new(),
            _ => url.to_owned(),
        }
    }

    /// How many files no record has as its icon.
    pub fn unused(&self) -> usize {
        self.medias.len() - self.used.len()
    }
}

/// The id of the uploaded file at this URL.
fn media_of(url: &str) -> Option<&str> {
    let url = url.trim();
    let is_own = url.starts_with('/') || url.starts_with("http://") || url.starts_with("https://");
    let (_, id) = url.rsplit_once(PATH).filter(|_| is_own)?;
    let end = id.find(['?', '#']).unwrap_or(id.len());
    Some(&id[..end])
}

/// A picture as a URL; otherwise why it does not come along.
fn data_uri(media: &Media) -> Result<String, &'static str> {
    let kind = media.content_type.strip_prefix("image/");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if !kind.is_some_and(|kind| !kind.is_empty() && kind.bytes().all(is_plain)) {
        return Err("is not a picture");
    }
    let too_large = "is too large to come along: an icon has at most 65,536 characters";
    let content = media.content.as_ref().ok_or(too_large)?;
    let uri = format!("data:{};base64,{}", media.content_type, STANDARD.encode(content));
    match uri.len() <= MOST_OF_AN_ICON {
        true => Ok(uri),
        false => Err(too_large),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(id: &str, content_type: &str, bytes: usize) -> Media {
        Media {
            id: id.into(),
            content_type: content_type.into(),
            content: (bytes <= crate::tables::MOST_OF_A_MEDIA).then(|| vec![7; bytes]),
        }
    }

    #[test]
    fn an_uploaded_icon_comes_along_unless_it_is_too_large_or_no_picture() {
        let medias = [
            media("small", "image/png", 3),
            media("largest", "image/svg+xml", 49_000),
            media("large", "image/png", 49_001),
            media("text", "text/html", 3),
            media("odd", "image/png;x", 3),
            media("unused", "image/png", 3),
        ];
        let mut pictures = Pictures::new(&medias);
        let mut report = Report::default();
        let mut icon = |url: &str| pictures.icon(Kind::App, ("id", "App"), url, &mut report);
        assert_eq!(icon("/api/user-medias/small"), "data:image/png;base64,BwcH");
        assert_eq!(
            icon("https://homarr.example/api/user-medias/small?v=1"),
            "data:image/png;base64,BwcH"
        );
        assert!(icon("/api/user-medias/largest").len() > 65_000);
        assert_eq!(icon("https://icons.example/a.svg"), "https://icons.example/a.svg");
        for gone in ["large", "text", "odd", "gone"] {
            assert_eq!(icon(&format!("{PATH}{gone}")), "", "{gone}");
        }
        assert_eq!(report.notes.len(), 4, "{:?}", report.notes);
        assert_eq!(pictures.unused(), 1);
    }

    #[test]
    fn many_records_with_the_same_large_picture_stay_within_a_bound() {
        let medias = [media("same", "image/png", 49_000)];
        let mut pictures = Pictures::new(&medias);
        let mut report = Report::default();
        let all: Vec<String> = (0..1000)
            .map(|_| pictures.icon(Kind::App, ("id", "App"), "/api/user-medias/same", &mut report))
            .collect();
        let characters: usize = all.iter().map(String::len).sum();
        assert!(characters <= MOST_TOGETHER, "{characters}");
        assert!(report.notes.iter().all(|note| note.text.contains("8 MiB")));
        assert!(report.notes.len() > 800);
    }
}
