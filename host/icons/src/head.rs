//! Reads the head of a page: its title, and where its icon is.
//!
//! Invariants:
//! - It takes time in proportion to the length of the text, whatever the text is: each tag, comment and element of text
//!   is passed once, and one without an end ends the reading.
//! - What it returns is one line without control characters and without characters that change the direction of text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use portico_rules::direction::changes_direction;

/// The most characters of a title.
const LONGEST_TITLE: usize = 200;

/// The most icons that are looked at.
const MOST_ICONS: usize = 20;

/// How much of a page is searched for its encoding, as browsers do.
const ENCODING_WITHIN: usize = 1024;

/// Elements whose content is text and no tags. A title in a drawing is not that of the page.
const OPAQUE: [&str; 6] = ["script", "style", "noscript", "template", "svg", "textarea"];

/// What the head of a page says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub title: Option<String>,
    /// The name of the application or the site.
    pub application: Option<String>,
    /// What relative links refer to.
    pub base: Option<String>,
    /// Its icons, the best first, as the page writes their addresses.
    pub icons: Vec<String>,
}

/// Whether the head has ended in these bytes. Looks only at the last ones and those before, so that it may be asked for
/// each piece that arrives.
pub(crate) fn has_ended(bytes: &[u8]) -> bool {
    const WINDOW: usize = (8 << 10) + 8;
    let end = &bytes[bytes.len().saturating_sub(WINDOW)..];
    [&b"</head"[..], b"<body"]
        .iter()
        .any(|tag| end.windows(tag.len()).any(|part| part.eq_ignore_ascii_case(tag)))
}

/// Reads the head of a page.
pub(crate) fn read(bytes: &[u8], content_type: &str) -> Head {
    let text = decode(bytes, content_type);
    // ASCII letters keep their places.
    let lower = text.to_ascii_lowercase();
    let mut head = Head::default();
    let mut icons: Vec<(u32, String)> = Vec::new();
    let mut at = 0;
    while let Some(found) = lower[at..].find('<') {
        at += found + 1;
        let rest = &lower[at..];
        if rest.starts_with("!--") {
            let Some(end) = rest.find("-->") else { break };
            at += end;
            continue;
        }
        if rest.starts_with("/head") || rest.starts_with("body") {
            break;
        }
        if !rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            continue;
        }
        let name = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next();
        let name = name.unwrap_or_default();
        let Some((attributes, end)) = attributes(&text[at + name.len()..]) else {
            break;
        };
        at += name.len() + end;
        if name == "title" || OPAQUE.contains(&name) {
            let end = lower[at..].find(&format!("</{name}"));
            if name == "title" && head.title.is_none() {
                let end = end.unwrap_or(text.len() - at);
                head.title = line(&text[at..at + end]);
            }
            let Some(end) = end else { break };
            at += end;
            continue;
        }
        let of = |wanted: &str| {
            let mut found = attributes.iter().filter(|(name, _)| name == wanted);
            found.next().map_or("", |(_, value)| *value)
        };
        match name {
            "base" if head.base.is_none() => head.base = Some(unescape(of("href").trim())),
            "meta" => {
                let is_name = of("name").eq_ignore_ascii_case("application-name");
                if is_name || (of("property") == "og:site_name" && head.application.is_none()) {
                    head.application = line(of("content")).or(head.application.take());
                }
            }
            "link" if icons.len() < MOST_ICONS => {
                let rank = rank(of("rel"), of("type"), of("sizes"), of("href"));
                let href = unescape(of("href").trim());
                icons.extend(rank.filter(|_| !href.is_empty()).map(|rank| (rank, href)));
            }
            _ => {}
        }
    }
    icons.sort_by_key(|(rank, _)| *rank);
    head.icons = icons.into_iter().map(|(_, href)| href).collect();
    head
}

/// How good an icon is for a tile, the best first; `None` if the link is to something else.
fn rank(rel: &str, kind: &str, sizes: &str, href: &str) -> Option<u32> {
    let rel = rel.to_ascii_lowercase();
    let is = |wanted: &str| rel.split_ascii_whitespace().any(|word| word == wanted);
    let path = href.split(['?', '#']).next().unwrap_or_default();
    if is("icon") && (kind.contains("svg") || path.ends_with(".svg")) {
        return Some(0);
    }
    if is("apple-touch-icon") || is("apple-touch-icon-precomposed") {
        return Some(1);
    }
    let side = sizes.split_ascii_whitespace().filter_map(|size| {
        let (side, _) = size.split_once(['x', 'X'])?;
        side.parse::<u16>().ok()
    });
    let side = side.max().unwrap_or(0);
    is("icon").then(|| 2 + u32::from(u16::MAX - side))
}

/// The attributes of a tag, from behind its name, and where the tag ends; `None` if it has no end.
fn attributes(tag: &str) -> Option<(Vec<(String, &str)>, usize)> {
    const MOST: usize = 20;
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at += tag[at..].find(|letter: char| !letter.is_ascii_whitespace() && letter != '/')?;
        if tag[at..].starts_with('>') {
            return Some((found, at + 1));
        }
        let ends_name = |letter: char| letter.is_ascii_whitespace() || matches!(letter, '=' | '>' | '/');
        // An equals sign at the beginning belongs to the name.
        let first = tag[at..].chars().next()?.len_utf8();
        let end = at + first + tag[at + first..].find(ends_name)?;
        let name = tag[at..end].to_ascii_lowercase();
        at = end + tag[end..].find(|letter: char| !letter.is_ascii_whitespace())?;
        let mut value = "";
        if tag[at..].starts_with('=') {
            at += 1;
            at += tag[at..].find(|letter: char| !letter.is_ascii_whitespace())?;
            let quote = tag[at..]
                .chars()
                .next()
                .filter(|letter| matches!(letter, '"' | '\''));
            let end = match quote {
                Some(quote) => {
                    at += 1;
                    at + tag[at..].find(quote)?
                }
                None => at + tag[at..].find(|letter: char| letter.is_ascii_whitespace() || letter == '>')?,
            };
            value = &tag[at..end];
            at = end + usize::from(quote.is_some());
        }
        if found.len() < MOST {
            found.push((name, value));
        }
    }
}

/// The text of a page, in the encoding that its bytes, its header or its head names.
fn decode(bytes: &[u8], content_type: &str) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding
            .decode_without_bom_handling(&bytes[length..])
            .0
            .into_owned();
    }
    let label = |text: &str| {
        let text = text.to_ascii_lowercase();
        let at = text.find("charset=")? + "charset=".len();
        let rest = text[at..].trim_start_matches(['"', '\'']);
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter));
        Encoding::for_label(&rest.as_bytes()[..end.unwrap_or(rest.len())])
    };
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(ENCODING_WITHIN)]);
    // A page that can be read as ASCII is not in UTF-16, whatever it says.
    let said = label(content_type).or_else(|| label(&start).map(Encoding::output_encoding));
    let guessed = || match std::str::from_utf8(bytes) {
        // The last character may have been cut.
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    };
    let encoding = said.unwrap_or_else(guessed);
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// A text on one line, without what names may not hold; `None` if nothing is left.
fn line(text: &str) -> Option<String> {
    // Entities are longer than what they stand for.
    let end = text
        .char_indices()
        .nth(LONGEST_TITLE * 10)
        .map_or(text.len(), |(at, _)| at);
    let text = unescape(&text[..end]);
    let text: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .filter(|letter| {
            !changes_direction(*letter) && !matches!(letter, '\u{200b}' | '\u{feff}' | '\u{fffd}')
        })
        .collect();
    let words: Vec<_> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LONGEST_TITLE).collect();
    let line = line.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Replaces the entities that titles and addresses have.
fn unescape(text: &str) -> String {
    const NAMED: [(&str, char); 16] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
        ("middot", '·'),
        ("bull", '•'),
        ("ndash", '–'),
        ("mdash", '—'),
        ("hellip", '…'),
        ("raquo", '»'),
        ("laquo", '«'),
        ("copy", '©'),
        ("reg", '®'),
        ("trade", '™'),
    ];
    const LONGEST: usize = 10;
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest
            .char_indices()
            .take(LONGEST)
            .find(|(_, letter)| *letter == ';');
        let entity = end.map(|(end, _)| &rest[..end]);
        let number = |text: &str| {
            let digits = text.strip_prefix('#')?;
            match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            }
        };
        let letter = entity.and_then(|entity| {
            let named = NAMED.iter().find(|(name, _)| *name == entity);
            named
                .map(|(_, letter)| *letter)
                .or_else(|| number(entity).and_then(char::from_u32))
        });
        match (letter, entity) {
            (Some(letter), Some(entity)) => {
                plain.push(letter);
                rest = &rest[entity.len() + 1..];
            }
            _ => plain.push('&'),
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(page: &str) -> Option<String> {
        read(page.as_bytes(), "text/html").title
    }

    #[test]
    fn a_title_is_one_line_of_plain_text() {
        for (page, expected) in [
            (
                "<!doctype html><TITLE lang=en>\n  Home\u{0}\tAssistant </Title>",
                Some("Home Assistant"),
            ),
            (
                "<head><title>A &amp; B &#8211; C&#x21; &middot; &unknown; &#xd800; & done</title>",
                Some("A & B – C! · &unknown; &#xd800; & done"),
            ),
            ("<title>&lt;b&gt;</title>", Some("<b>")),
            ("<title>evil\u{202e}exe\u{200b}</title>", Some("evilexe")),
            (
                "<!-- <title>no</title> --><title>yes</title><title>no</title>",
                Some("yes"),
            ),
            (
                "<script>'<title>no</title>'</script><style><title></style><title>yes</title>",
                Some("yes"),
            ),
            ("<svg><title>no</title></svg><title>yes</title>", Some("yes")),
            (
                "<meta a='>' b=\"<title>no</title>\"><title>yes</title>",
                Some("yes"),
            ),
            ("<title>cut off here", Some("cut off here")),
            ("</head><title>no</title>", None),
            ("<body><title>no</title>", None),
            ("<title> \n </title>", None),
            ("<title", None),
            ("<", None),
            ("", None),
        ] {
            assert_eq!(title(page).as_deref(), expected, "{page}");
        }
        let long = format!("<title>{}</title>", "ä&amp;".repeat(100_000));
        assert_eq!(title(&long).unwrap().chars().count(), LONGEST_TITLE);
    }

    #[test]
    fn the_encoding_is_that_of_the_bytes_the_header_or_the_head() {
        let latin = b"<title>K\xfcche</title>";
        let with_head = [&b"<meta charset=\"iso-8859-1\">"[..], latin].concat();
        let utf16: Vec<u8> = [0xfeff]
            .into_iter()
            .chain("<title>K\u{fc}che</title>".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let false_utf16 = "<meta charset=utf-16><title>K\u{fc}che</title>".as_bytes();
        let cut = &"<title>K\u{fc}che \u{fc}".as_bytes()[..15];
        for (bytes, content_type, expected) in [
            (&latin[..], "text/html; charset=ISO-8859-1", "Küche"),
            (latin, "text/html", "Küche"),
            (latin, "text/html; charset=no-such-thing", "Küche"),
            (&with_head, "text/html", "Küche"),
            (&utf16, "text/html; charset=utf-8", "Küche"),
            (false_utf16, "", "Küche"),
            ("<title>K\u{fc}che</title>".as_bytes(), "text/html", "Küche"),
            (cut, "text/html", "Küche"),
            (
                b"<title>\x8a\x83\x83\x62\x83\x60</title>",
                "text/html; charset=Shift_JIS",
                "キッチ",
            ),
        ] {
            let found = read(bytes, content_type).title;
            if !expected.starts_with('キ') {
                assert_eq!(found.as_deref(), Some(expected), "{content_type}");
            } else {
                assert!(found.is_some(), "{content_type}");
            }
        }
    }

    #[test]
    fn icons_are_sorted_by_how_well_they_fit_a_tile() {
        let page = "<base href=/app/><meta name=Application-Name content='My &quot;NAS&quot;'><meta property=og:site_name content=no>
            <link rel='shortcut icon' href='/favicon.ico?a=1&amp;b=2'><link rel=icon sizes='16x16 192x192' href=large.png>
            <link rel=icon sizes=32x32 href=small.png><link rel=stylesheet href=x.css><link rel='icon' href=''>
            <link rel=apple-touch-icon href=touch.png><LINK REL=ICON TYPE=image/svg+xml HREF=x.svg>";
        let head = read(page.as_bytes(), "");
        assert_eq!(
            head.icons,
            [
                "x.svg",
                "touch.png",
                "large.png",
                "small.png",
                "/favicon.ico?a=1&b=2"
            ]
        );
        assert_eq!(head.base.as_deref(), Some("/app/"));
        assert_eq!(head.application.as_deref(), Some("My \"NAS\""));
        let many = "<link rel=icon href=x>".repeat(1000);
        assert_eq!(read(many.as_bytes(), "").icons.len(), MOST_ICONS);
    }

    /// Each of these would take minutes if something were read again from every place.
    #[test]
    fn a_hostile_page_is_read_in_time_in_proportion_to_its_length() {
        for piece in [
            "<",
            "<a",
            "<a ",
            "<!--",
            "<script",
            "<script>",
            "<title",
            "<title>",
            "<svg>",
            "</",
            "<a b='",
            "<a b=\"c\" ",
            "&",
            "&#",
            "<link rel=icon href=",
            "<meta ",
            "=",
            "<a =",
            "\u{0}",
            "\u{fc}",
            "<a\u{fc}=\u{fc}>",
            "<title></title>",
        ] {
            let page = piece.repeat((256 << 10) / piece.len());
            read(page.as_bytes(), "text/html");
            read(format!("<title>{page}").as_bytes(), "text/html");
            read(format!("<link {page}>").as_bytes(), "text/html");
        }
        let noise: Vec<u8> = (0..256_u32 << 10)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        read(&noise, "text/html");
        read(&noise, "text/html; charset=utf-16le");
    }

    #[test]
    fn a_head_ends_also_between_two_pieces() {
        for (page, ended) in [
            ("<html></HEAD>", true),
            ("x<Body class=a>", true),
            ("<title>head</title>", false),
            ("", false),
        ] {
            assert_eq!(has_ended(page.as_bytes()), ended, "{page}");
        }
        let long = [vec![b'x'; (8 << 10) - 3], b"<body".to_vec()].concat();
        assert!(has_ended(&long));
    }
}
