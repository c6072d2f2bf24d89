//! Files that users have uploaded to Homarr: icons, and the backgrounds and logos of boards. Pictures of the formats that
//! Portico stores become stored pictures; others, such as SVG, data URIs, as far as an icon may be one.
//!
//! Invariant: data URIs have at most [`MOST_TOGETHER`] characters together, however many records have the same file. The
//! files are read within a bound (`tables.rs`), and stored once each.

use std::collections::{BTreeMap, HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portico_model::{Id, PICTURES};
use portico_rules::pictures::Format;
use portico_storage::Picture;

use crate::homarr::Media;
use crate::report::{Kind, Report, What, shown};

/// Where Homarr serves uploaded files, before their ids.
const PATH: &str = "/api/user-medias/";
/// The most characters of an icon's URL.
const MOST_OF_AN_ICON: usize = 65_536;
/// The most characters of all data URIs together.
const MOST_TOGETHER: usize = 8 << 20;
/// The most pictures that are stored.
const MOST_STORED: usize = 500;

pub struct Pictures<'a> {
    medias: HashMap<&'a str, &'a Media>,
    /// The files that records refer to.
    used: HashSet<&'a str>,
    /// How many characters may still come along.
    room: usize,
    /// The pictures to store, by id.
    stored: BTreeMap<Id, Picture>,
    /// Where the files of these ids are from now on.
    urls: HashMap<&'a str, String>,
}

impl<'a> Pictures<'a> {
    pub fn new(medias: &'a [Media]) -> Self {
        Self {
            medias: medias.iter().map(|media| (&media.id[..], media)).collect(),
            used: HashSet::new(),
            room: MOST_TOGETHER,
            stored: BTreeMap::new(),
            urls: HashMap::new(),
        }
    }

    /// The icon of a record: the same URL, or where the picture is that is there. Empty, with a note, if that does not
    /// come along.
    pub fn icon(&mut self, kind: Kind, of: (&str, &str), url: &str, report: &mut Report) -> String {
        let (id, why) = match self.url_of(url) {
            Ok(url) => return url,
            Err(why) => why,
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

    /// A picture of a board, such as its `background`: the same URL, or where the picture is that is there. The same, with
    /// a note, if that does not come along.
    pub fn of_board(&mut self, what: &str, of: (&str, &str), url: &str, report: &mut Report) -> String {
        match self.url_of(url) {
            Ok(url) => url,
            Err((id, why)) => {
                let text = format!("its {what}, the uploaded file {:?}, {why}", shown(id));
                report.note_of(Kind::Board, of, What::Lost, text);
                url.to_owned()
            }
        }
    }

    /// The id of the stored picture at this URL; otherwise why there is none.
    pub fn stored(&mut self, url: &str) -> Result<Id, &'static str> {
        let url = self.url_of(url).map_err(|(_, why)| why)?;
        let id = url.strip_prefix(PICTURES);
        id.map(Id::from)
            .ok_or("is no uploaded file of a kind that Portico stores")
    }

    /// Where the file at this URL is from now on; otherwise its id, and why it does not come along.
    fn url_of<'u>(&mut self, url: &'u str) -> Result<String, (&'u str, &'static str)> {
        let Some(id) = media_of(url) else {
            return Ok(url.to_owned());
        };
        let Some(media) = self.medias.get(id).copied() else {
            // Another Homarr may serve it.
            return match url.trim().starts_with('/') {
                true => Err((id, "is not there")),
                false => Ok(url.to_owned()),
            };
        };
        self.used.insert(&media.id);
        self.url_of_media(media).map_err(|why| (id, why))
    }

    fn url_of_media(&mut self, media: &'a Media) -> Result<String, &'static str> {
        if let Some(url) = self.urls.get(&media.id[..]) {
            return Ok(url.clone());
        }
        let content = media.content.as_deref();
        let Some((content, format)) =
            content.and_then(|content| Some((content, Format::recognise(content)?)))
        else {
            let uri = data_uri(media)?;
            self.room = self
                .room
                .checked_sub(uri.len())
                .ok_or("is beyond 8 MiB of such pictures")?;
            return Ok(uri);
        };
        let bytes = format.read(content).drawable();
        let bytes = bytes.map_err(|_| "is a picture that cannot be drawn")?;
        let id = Picture::id_of(&bytes);
        if self.stored.len() == MOST_STORED && !self.stored.contains_key(&id) {
            return Err("is beyond 500 such pictures");
        }
        let url = format!("{PICTURES}{id}");
        let content_type = format.mime().into();
        self.stored.insert(id, Picture { content_type, bytes });
        self.urls.insert(&media.id, url.clone());
        Ok(url)
    }

    /// How many files no record has as its icon or looks.
    pub fn unused(&self) -> usize {
        self.medias.len() - self.used.len()
    }

    /// The pictures to store, by id.
    pub fn into_stored(self) -> BTreeMap<Id, Picture> {
        self.stored
    }
}

/// The id of the uploaded file at this URL.
pub fn media_of(url: &str) -> Option<&str> {
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
    let content = media
        .content
        .as_ref()
        .ok_or("has more than 1 MiB, or is beyond 64 MiB of such files")?;
    let uri = format!("data:{};base64,{}", media.content_type, STANDARD.encode(content));
    match uri.len() <= MOST_OF_AN_ICON {
        true => Ok(uri),
        false => Err("is too large to come along: a picture of this kind has at most 65,536 characters"),
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
            media("large", "image/png", 49_200),
            media("huge", "image/png", crate::tables::MOST_OF_A_MEDIA + 1),
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
        for gone in ["large", "huge", "text", "odd", "gone"] {
            assert_eq!(icon(&format!("{PATH}{gone}")), "", "{gone}");
        }
        assert_eq!(report.notes.len(), 5, "{:?}", report.notes);
        assert_eq!(pictures.unused(), 1);
    }

    #[test]
    fn pictures_that_portico_stores_become_stored_ones_each_once() {
        let gif = |bytes: usize| {
            let mut file = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02".to_vec();
            while bytes - file.len() > 260 {
                file.push(255);
                file.extend([0; 255]);
            }
            file.extend(*b"\0;");
            file
        };
        let with = |id: &str, content: Vec<u8>| Media {
            id: id.into(),
            content_type: "image/png".into(),
            content: Some(content),
        };
        let mut huge = gif(300);
        huge[6..10].copy_from_slice(&[255; 4]);
        let medias = [
            with("one", gif(900_000)),
            with("same", gif(900_000)),
            with("other", gif(300)),
            with("huge", huge),
        ];
        let mut pictures = Pictures::new(&medias);
        let mut report = Report::default();
        let mut of_board = |id: &str| {
            let url = format!("{PATH}{id}");
            pictures.of_board("background", ("id", "Home"), &url, &mut report)
        };
        let one = of_board("one");
        assert!(one.strip_prefix(PICTURES).is_some_and(Picture::is_id), "{one}");
        assert_eq!((of_board("same"), of_board("one")), (one.clone(), one.clone()));
        assert_ne!(of_board("other"), one);
        assert_eq!(of_board("huge"), format!("{PATH}huge"));
        assert_eq!(of_board("gone"), format!("{PATH}gone"));
        assert_eq!(report.notes.len(), 2, "{:?}", report.notes);
        let stored = pictures.into_stored();
        assert_eq!(stored.len(), 2);
        assert!(stored.values().all(|picture| picture.content_type == "image/gif"));
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
