//! Names and other texts that are hard to compare, order or search.

use fastrand::Rng;
use unicode_normalization::UnicodeNormalization;

/// Turkish, German, Greek, emoji, combining marks in both forms, letters beyond the first plane,
/// wildcards, quotes; several that are equal but for case or composition.
const NAMES: &[&str] = &[
    "İstanbul",
    "IŞIK",
    "ışık",
    "Straße",
    "STRAẞE",
    "strasse",
    "ΟΔΥΣΣΕΥΣ",
    "οδυσσεύς",
    "Ὀδυσσεύς",
    "😀 fun",
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽👍",
    "Café",
    "Cafe\u{301}",
    "Ångström",
    "\u{212b}NGSTRÖM",
    "a\u{323}\u{308}b",
    "a\u{308}\u{323}b",
    "𐐀𐐔𐐯",
    "𐐨𐐼𐐯",
    "𝔘𝔫𝔦",
    "ﬁne",
    "ǅaba",
    "日本語",
    "100%",
    "a_b",
    "a%b",
    "back\\slash",
    "it's",
    "\"quoted\"",
    "; DROP TABLE app; --",
    "Jellyfin",
    "JELLYFIN",
    "jellyfin 2",
    "zzz",
    "ZZZ",
    "Äpfel",
    "apfel",
    "\u{10ffff}end",
    "\u{ffff}end",
    "x\u{200b}x",
    "*?[a-z]",
    "NULL",
];

/// A name, often one that another record has in another form.
pub fn name(rng: &mut Rng) -> String {
    let base = NAMES[rng.usize(..NAMES.len())];
    let name = if rng.u8(..3) == 0 {
        format!("{base}{}", rng.u8(..8))
    } else {
        base.to_owned()
    };
    form(rng, &name)
}

/// The same name, in other letters, composed in another way, or with space around it.
pub fn form(rng: &mut Rng, name: &str) -> String {
    match rng.u8(..10) {
        0 => name.to_uppercase(),
        1 => name.to_lowercase(),
        2 => name.nfd().collect(),
        3 => name.nfc().collect(),
        4 => format!(" {name}\u{a0}"),
        5 => name.to_uppercase().nfd().collect(),
        _ => name.to_owned(),
    }
}

/// A text of exactly this many characters.
pub fn long(rng: &mut Rng, length: usize) -> String {
    let unit = ["a", "ä", "İ", "😀", "ß"][rng.usize(..5)];
    unit.repeat(length)
}

/// A text at one of its bounds, or one beyond.
pub fn at_bound(rng: &mut Rng, least: usize, most: usize) -> String {
    let lengths = [least, most, least.saturating_sub(1), most + 1];
    let length = lengths[rng.usize(..lengths.len())];
    long(rng, length)
}

/// A part of a name, in any form; or what would be a wildcard elsewhere.
pub fn query(rng: &mut Rng, name: &str) -> String {
    const WILD: &[&str] = &[
        "", "%", "_", "\\", "'", "\"", " ", "*", "%%", "\u{308}", "i", "ß", "σ", "\0",
    ];
    if rng.u8(..4) == 0 {
        return WILD[rng.usize(..WILD.len())].to_owned();
    }
    let form = form(rng, name);
    let characters: Vec<_> = form.chars().collect();
    if characters.is_empty() {
        return form;
    }
    let start = rng.usize(..characters.len());
    let end = rng.usize(start..=characters.len());
    characters[start..end].iter().collect()
}

/// An email address, or nearly one.
pub fn email(rng: &mut Rng) -> String {
    const EMAILS: &[&str] = &[
        "a@b",
        "Alice@Example.com",
        "jürgen@müller.example",
        "用户@例子.广告",
        "🏠@example.com",
        "a%_b@c",
        "",
        "no address",
        "a@b..c",
    ];
    match rng.u8(..12) {
        0 => format!("{}@b", "a".repeat(252)),
        1 => format!("{}@b", "a".repeat(253)),
        _ => EMAILS[rng.usize(..EMAILS.len())].to_owned(),
    }
}

/// An address of a service, or nearly one.
pub fn url(rng: &mut Rng) -> String {
    const URLS: &[&str] = &[
        "https://example.com/?q=%25",
        "HTTP://EXAMPLE.COM",
        "ssh://host",
        "http://[::1]:8080/",
        "https://münchen.example/ß",
        "",
        "javascript:alert(1)",
        "/relative",
        "ftp://a",
    ];
    match rng.u8(..40) {
        0 => format!("https://e/{}", "a".repeat(8192 - 10)),
        1 => format!("https://e/{}", "a".repeat(8193 - 10)),
        _ => URLS[rng.usize(..URLS.len())].to_owned(),
    }
}

/// Where an icon is, or what may not be one.
pub fn icon(rng: &mut Rng) -> String {
    const ICONS: &[&str] = &[
        " icons/relative.svg\r\n",
        "data:image/svg+xml,<svg/>",
        "data:text/html,x",
        "JavaScript:alert(1)",
        "\u{feff}vbscript:x",
    ];
    ICONS[rng.usize(..ICONS.len())].to_owned()
}

/// An image, or nearly one.
pub fn image(rng: &mut Rng) -> String {
    const PNG: &str = "data:image/png;base64,iVBORw0KGgo";
    match rng.u8(..12) {
        0 => "data:image/gif;base64,R0lGODlh".into(),
        1 => "DATA:IMAGE/PNG;base64,iVBORw0KGgo=".into(),
        2 => "https://pictures.example/a.png".into(),
        3 => "data:image/svg+xml;base64,AAAA".into(),
        // At most 350,000 characters.
        4 => {
            let length = [349_998, 350_002][rng.usize(..2)] - PNG.len();
            format!("{PNG}{}", "A".repeat(length - length % 4 + 1))
        }
        _ => format!("{PNG}{}=", "A".repeat(4 * rng.usize(..50))),
    }
}
