//! Notes as notebooks of Homarr, which are HTML, and the other way round: paragraphs with links.

use serde_json::Value;

use crate::boards::{BoardItem, is_time_zone};

/// The most characters of a note in Portico.
pub const MOST_OF_NOTE: usize = 8 << 10;
/// The most characters of all notes of a board.
pub const MOST_OF_NOTES: usize = 128 << 10;

/// Elements that begin on a line of their own.
const BLOCKS: [&str; 17] = [
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "table",
    "tr",
    "hr",
    "br",
];

/// The text, and whether it was cut.
pub fn text_of(html: &str) -> (String, bool) {
    let mut writer = Writer::default();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        writer.text(&rest[..start]);
        let after = &rest[start + 1..];
        let Some(end) = after.find('>') else {
            rest = "";
            break;
        };
        writer.tag(&after[..end]);
        rest = &after[end + 1..];
    }
    writer.text(rest);
    let text = writer.text.trim();
    let cut: String = text.chars().take(MOST_OF_NOTE).collect();
    let is_cut = cut.len() < text.len();
    (cut.trim_end().to_owned(), is_cut)
}

/// A clock with these options of Homarr, in its own time zone if it has one.
pub fn clock_of(options: &Value) -> BoardItem {
    let has_own = options["useCustomTimezone"] == true;
    let zone = options["timezone"].as_str();
    let zone = zone.filter(|zone| has_own && is_time_zone(zone));
    BoardItem::Clock {
        time_zone: zone.map(str::to_owned),
    }
}

/// A note as HTML, from which [`text_of`] makes the same text.
pub fn html_of(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let paragraphs = escaped
        .split("\n\n")
        .map(|lines| format!("<p>{}</p>", lines.replace('\n', "<br>")));
    paragraphs.collect()
}

#[derive(Default)]
struct Writer {
    text: String,
    /// The address of the link that is open, and where its words begin.
    link: Option<(String, usize)>,
    /// How many entries of lists are open: their paragraphs have no empty line between them.
    lists: usize,
    /// The element whose content is not text.
    hidden: Option<String>,
}

impl Writer {
    fn text(&mut self, html: &str) {
        if self.hidden.is_some() {
            return;
        }
        for letter in decoded(html).chars() {
            match letter {
                '\n' | '\t' => self.text.push(letter),
                '\u{a0}' => self.text.push(' '),
                letter if letter.is_control() => {}
                letter => self.text.push(letter),
            }
        }
    }

    fn tag(&mut self, tag: &str) {
        let (is_end, tag) = match tag.strip_prefix('/') {
            Some(tag) => (true, tag),
            None => (false, tag),
        };
        let end = tag.find(|letter: char| !letter.is_ascii_alphanumeric());
        let name = tag[..end.unwrap_or(tag.len())].to_ascii_lowercase();
        if let Some(hidden) = &self.hidden {
            if is_end && *hidden == name {
                self.hidden = None;
            }
            return;
        }
        match (&name[..], is_end) {
            ("script" | "style", false) => self.hidden = Some(name),
            ("a", false) => {
                let address = attribute(tag, "href").unwrap_or_default();
                self.link = Some((address, self.text.len()));
            }
            ("a", true) => self.end_link(),
            ("br", _) => self.text.push('\n'),
            ("li", false) => {
                self.lists += 1;
                self.line();
                let mark = match attribute(tag, "data-checked").as_deref() {
                    Some("true") => "\u{2611} ",
                    Some(_) => "\u{2610} ",
                    None => "- ",
                };
                self.text.push_str(mark);
            }
            ("li", true) => self.lists = self.lists.saturating_sub(1),
            (name, is_end) if BLOCKS.contains(&name) => {
                let is_in_entry = self.lists > 0 && !is_end;
                if !is_in_entry {
                    self.line();
                }
                if is_end && self.lists == 0 && !self.text.ends_with("\n\n") && !self.text.is_empty() {
                    self.text.push('\n');
                }
            }
            _ => {}
        }
    }

    /// The address after its words, unless these are it.
    fn end_link(&mut self) {
        let Some((address, start)) = self.link.take() else {
            return;
        };
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        if is_address && self.text[start..].trim() != address {
            self.text.push_str(&format!(" ({address})"));
        }
    }

    fn line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split(&format!(" {name}=\"")).nth(1)?;
    Some(decoded(value.split('"').next()?))
}

/// A text without entities.
fn decoded(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('&') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let letter = end.and_then(|end| letter_of(&rest[1..end]).map(|letter| (letter, end)));
        match letter {
            Some((letter, end)) => {
                text.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

fn letter_of(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notebook_becomes_paragraphs_with_links_and_no_markup() {
        let html = "<h2>Router</h2><p>Behind the <strong>books</strong> &amp; the &lt;lamp&gt;.<br>See \
                    <a target=\"_blank\" href=\"https://r.example/?a=1&amp;b=2\">its page</a></p><p></p>\
                    <ul><li><p>Milk</p></li><li data-checked=\"true\"><p>Bread</p></li></ul><p>\
                    <a href=\"https://x.example/\">https://x.example/</a> <a href=\"javascript:x\">no</a></p>\
                    <script>alert(1)</script>";
        let (text, is_cut) = text_of(html);
        let expected = "Router\n\nBehind the books & the <lamp>.\nSee its page (https://r.example/?a=1&b=2)\n\n\
                        - Milk\n\u{2611} Bread\n\nhttps://x.example/ no";
        assert_eq!((text.as_str(), is_cut), (expected, false));
    }

    #[test]
    fn a_note_becomes_a_notebook_and_the_same_note_again() {
        let text = "Milk & <b>\n\nhttps://x.example/\nBread";
        assert_eq!(html_of("a\nb"), "<p>a<br>b</p>");
        assert_eq!(text_of(&html_of(text)), (text.to_owned(), false));
    }

    #[test]
    fn a_long_or_broken_notebook_is_cut_where_it_must() {
        let (text, is_cut) = text_of(&format!("<p>{}</p>", "ä".repeat(10_000)));
        assert_eq!((text.chars().count(), is_cut), (MOST_OF_NOTE, true));
        for broken in [
            "<",
            "a<b",
            "&#x110000; &#0; &",
            "</a></li>x",
            "<a href=\"https://a\">",
        ] {
            text_of(broken);
        }
        assert_eq!(text_of("a&#7;b&bogus;<p").0, "ab&bogus;");
    }
}
