//! Files that users have uploaded to Homarr: icons, the backgrounds and logos of boards, and what notebooks and CSS show.
//! Pictures of the formats that Portico stores become stored pictures; others, such as SVG, data URIs, as far as an icon may
//! be one.
//!
//! Invariant: data URIs have at most [`MOST_TOGETHER`] characters together, however many records have the same file. The
//! files are read within a bound (`tables.rs`), and stored once each.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portico_model::{Id, PICTURES};
use portico_rules::pictures::Format;
use portico_storage::Picture;
use serde_json::Value;

use crate::homarr::Media;
use crate::report::{Kind, Report, What, counted, shown};

/// Where Homarr serves uploaded files, before their ids.
const PATH: &str = "/api/user-medias/";
/// The most characters of an icon's URL.
const MOST_OF_AN_ICON: usize = 65_536;
/// The most characters of all data URIs together.
const MOST_TOGETHER: usize = 8 << 20;
/// The most pictures that are stored.
const MOST_STORED: usize = 500;
/// The most pictures in the texts of a board: with its background, logo and favicon as many as its extras keep.
const MOST_IN_TEXTS: usize = 97;
/// How many of the files that a board loses are named.
const MOST_NAMED: usize = 20;

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
    /// Where the pictures are that texts of the board at hand name.
    in_texts: BTreeSet<String>,
    /// Files that these texts name and that do not come along: their ids, and why.
    lost: BTreeMap<String, &'static str>,
}

impl<'a> Pictures<'a> {
    pub fn new(medias: &'a [Media]) -> Self {
        Self {
            medias: medias.iter().map(|media| (&media.id[..], media)).collect(),
            used: HashSet::new(),
            room: MOST_TOGETHER,
            stored: BTreeMap::new(),
            urls: HashMap::new(),
            in_texts: BTreeSet::new(),
            lost: BTreeMap::new(),
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

    /// Replaces the URLs of uploaded files in the texts of a value. Those of files that do not come along stay as they are,
    /// and [`Pictures::note_lost`] names them.
    pub fn replace_in(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text.contains(PATH) => *text = self.replaced(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace_in(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.replace_in(value)),
            _ => {}
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(PATH) {
            let (before, file) = rest.split_at(at);
            let id = id_before_rest(&file[PATH.len()..]);
            let (file, after) = file.split_at(PATH.len() + id.len());
            let begins = before.char_indices().rev().find(|(_, letter)| ends_url(*letter));
            let (text, origin) = before.split_at(begins.map_or(0, |(at, letter)| at + letter.len_utf8()));
            let is_own = origin.is_empty() || is_absolute(origin);
            let found = match self.medias.get(id).copied().filter(|_| is_own) {
                Some(media) => {
                    self.used.insert(&media.id);
                    self.url_of_media(media)
                        .and_then(|url| self.in_text(url))
                        .map(Some)
                }
                // Another Homarr may serve it.
                None if !origin.is_empty() || id.is_empty() => Ok(None),
                None => Err("is not there"),
            };
            replaced.push_str(text);
            match found {
                Ok(Some(url)) => replaced.push_str(&url),
                kept => {
                    replaced.push_str(origin);
                    replaced.push_str(file);
                    if let Err(why) = kept {
                        self.lost.insert(id.to_owned(), why);
                    }
                }
            }
            rest = after;
        }
        replaced + rest
    }

    /// The same URL, unless the texts of the board at hand name too many pictures.
    fn in_text(&mut self, url: String) -> Result<String, &'static str> {
        if url.starts_with(PICTURES) && !self.in_texts.contains(&url) {
            if self.in_texts.len() == MOST_IN_TEXTS {
                return Err("is beyond 97 pictures of a board");
            }
            self.in_texts.insert(url.clone());
        }
        Ok(url)
    }

    /// Notes the files that the texts of this board name and that do not come along.
    pub fn note_lost(&mut self, board: (&str, &str), report: &mut Report) {
        self.in_texts.clear();
        let lost = std::mem::take(&mut self.lost);
        if lost.is_empty() {
            return;
        }
        let named = lost.iter().take(MOST_NAMED);
        let named: Vec<String> = named.map(|(id, why)| format!("{:?} {why}", shown(id))).collect();
        let more = match lost.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let files = counted(lost.len(), "uploaded file");
        let text = format!("{files} in its widgets and CSS: {}{more}", named.join(", "));
        report.note_of(Kind::Board, board, What::Lost, text);
    }

    /// The id of the stored picture at this URL; otherwise why there is none.
    pub fn stored(&mut self, url: &str) -> Result<Id, &'static str> {
        let url = self.url_of(url).map_err(|(_, why)| why)?;
        let id = url.strip_prefix(PICTURES);
        id.map(Id::from)
            .ok_or("is not an uploaded file of a kind that Portico stores")
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

    /// How many files nothing shows.
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
    let (_, id) = url.rsplit_once(PATH).filter(|_| is_absolute(url))?;
    let end = id.find(['?', '#']).unwrap_or(id.len());
    Some(&id[..end])
}

/// The ids of the uploaded files that a text names.
pub fn medias_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(PATH).skip(1).map(id_before_rest)
}

/// The id at the beginning of a text.
fn id_before_rest(text: &str) -> &str {
    let is_of_id = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let end = text.find(|letter| !is_of_id(letter)).unwrap_or(text.len());
    &text[..end]
}

fn is_absolute(url: &str) -> bool {
    url.starts_with('/') || url.starts_with("http://") || url.starts_with("https://")
}

/// Whether no URL in HTML, CSS or JSON goes on with this character, so that another one may begin after it.
fn ends_url(letter: char) -> bool {
    letter.is_whitespace() || "\"'()<>=,;[]{}`\\".contains(letter)
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

    /// A GIF of about this many bytes.
    fn gif(bytes: usize) -> Vec<u8> {
        let mut file = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02".to_vec();
        while bytes - file.len() > 260 {
            file.push(255);
            file.extend([0; 255]);
        }
        file.extend(*b"\0;");
        file
    }

    fn with(id: &str, content: Vec<u8>) -> Media {
        Media {
            id: id.into(),
            content_type: "image/png".into(),
            content: Some(content),
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
    fn uploaded_files_in_texts_come_along_wherever_the_text_names_them() {
        let medias = [
            media("one", "image/png", 3),
            media("large", "image/png", 49_200),
            media("text", "text/html", 3),
            media("unused", "image/png", 3),
        ];
        let mut pictures = Pictures::new(&medias);
        let mut replaced = |text: &str| {
            let mut value = serde_json::json!({ "content": [text] });
            pictures.replace_in(&mut value);
            value["content"][0].as_str().expect("a text").to_owned()
        };
        let new = "data:image/png;base64,BwcH";
        for (old, expected) in [
            (
                "<p><img src=\"/api/user-medias/one\"> ä</p>",
                format!("<p><img src=\"{new}\"> ä</p>"),
            ),
            ("/api/user-medias/one", new.to_owned()),
            (
                "a{b:url(http://home:7575/api/user-medias/one)}",
                format!("a{{b:url({new})}}"),
            ),
            (
                "<img src=/api/user-medias/one ä='/api/user-medias/one'>",
                format!("<img src={new} ä='{new}'>"),
            ),
        ] {
            assert_eq!(replaced(old), expected);
        }
        for kept in [
            "https://other.example/api/user-medias/elsewhere",
            "see ftp://x/api/user-medias/one",
            "/api/user-medias/",
            "/api/user-medias/large /api/user-medias/gone /api/user-medias/text",
        ] {
            assert_eq!(replaced(kept), kept);
        }
        let mut report = Report::default();
        pictures.note_lost(("id", "Home"), &mut report);
        pictures.note_lost(("id", "Home"), &mut report);
        let notes: Vec<&str> = report.notes.iter().map(|note| &note.text[..]).collect();
        let lost = "3 uploaded files in its widgets and CSS: \"gone\" is not there, \"large\" is too large";
        assert!(notes.len() == 1 && notes[0].starts_with(lost), "{notes:?}");
        assert_eq!(pictures.unused(), 1);
        let named: Vec<_> = medias_in("x /api/user-medias/a-1\\\" y/api/user-medias/b").collect();
        assert_eq!(named, ["a-1", "b"]);
    }

    #[test]
    fn the_texts_of_a_board_name_at_most_as_many_pictures_as_its_extras_keep() {
        let medias =
            (0..MOST_IN_TEXTS + 2).map(|number| with(&format!("m{number}"), gif(300 + 256 * number)));
        let medias: Vec<Media> = medias.collect();
        let mut pictures = Pictures::new(&medias);
        let mut report = Report::default();
        let all: String = medias
            .iter()
            .map(|media| format!("{PATH}{} ", media.id))
            .collect();
        for _ in 0..2 {
            let mut text = Value::from([&all[..], &all[..]].concat());
            pictures.replace_in(&mut text);
            let text = text.as_str().expect("a text");
            assert_eq!(text.matches(PICTURES).count(), 2 * MOST_IN_TEXTS);
            pictures.note_lost(("id", "Home"), &mut report);
        }
        let lost = "2 uploaded files in its widgets and CSS: \"m97\" is beyond 97 pictures of a board";
        assert!(report.notes[1].text.starts_with(lost), "{:?}", report.notes);
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
