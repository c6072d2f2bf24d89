//! The rules of inputs, as the end of a sentence that begins with the name of what breaks the rule.
//!
//! A rule says nothing of the value but what is no secret: lengths, numbers, characters, addresses and names.

use alloc::{boxed::Box, string::String};
use core::fmt;

use crate::sentences;
use crate::sentences::{CodePoint, Numeral, Part, Word};

sentences! {
    /// What is wrong with a part of an input.
    Rule {
        Empty = "must not be empty",
        TooShort { least: usize, got: usize } = "must have at least {least} characters, got {got}",
        TooLong { most: usize, got: usize } = "must have at most {most} characters, got {got}",
        CharactersBetween { least: usize, most: usize, got: usize } =
            "must have {least} to {most} characters, got {got}",
        EachOnOneLine { least: usize, most: usize } = "must each have {least} to {most} characters on one line",
        ControlCharacter { found: CodePoint } = "must not contain control characters, found {found}",
        ControlCharacters = "must not contain control characters",
        ControlCharactersInLines = "must not contain control characters other than newline and tab",
        InvisibleCharacter { found: CodePoint } =
            "must not contain invisible or bidirectional control characters, found {found}",
        TurningCharacter { found: CodePoint } =
            "must not contain characters that change the direction of text, found {found}",
        NulCharacter = "must not contain U+0000",

        LinkWithoutScheme { meant: Word } = "must be an absolute URL: did you mean {meant}?",
        FileOfComputer =
            "must be an absolute URL and not a file of a computer: browsers do not open those from a page",
        NotAbsoluteUrl { why: UrlProblem } = "must be an absolute URL ({why})",
        NotHttp = "must be a URL with http: or https:",
        RefusedScheme { scheme: Word } = "must not be a URL of the scheme {scheme}:",
        NotGateAddress =
            "must be a URL with http: or https: without a query, a fragment, a username and a *, whose path all programs read \
             alike",
        NotOfGateDomain { domain: Word } = "must be at a host of {domain}, of which the gate is in front",
        AtOwnHost =
            "must be at another host than this dashboard's: pages there could do what their visitor may do here",
        NotUrlTemplate = "must begin with http:// or https:// and contain %s",
        NotPathOfHost = "must be a path on this host: begin with one /",
        NotVisiblePath =
            "must hold only visible characters of ASCII, and no backslash: the rest percent-encoded",
        PathTooLong { most: usize } = "must have at most {most} characters",
        NotEmail = "must be an email address such as name@example.com",

        NotDataUri = "must be a data URI: data:image/...;base64,...",
        NotPictureType = "must be of type image/png, image/jpeg, image/gif or image/webp",
        NotBase64 = "must be in base64 with its padding",
        NotThatPicture { mime: Word } = "must be the image that its type says: {mime}",
        NotPicture = "must be a data URI of an image or a URL with http: or https:",
        TooManyPixels { side: u32, all: u64, width: u32, height: u32 } =
            "must have at most {side} pixels a side and {all} in all, got {width}x{height}",
        NotImage = "must be an image where it is a data URI: data:image/...,...",
        NotPictureFormat = "must be a PNG, JPEG, WebP, GIF, AVIF or ICO",
        TooManyBytes { most: usize, got: usize } = "must have at most {most} bytes, got {got}",
        NotHashOfPicture { id: Word } = "must be the SHA-256 of the picture: {id}",
        NotStoredPicture = "must be the id of a stored picture",
        NotColor = "must be a colour such as #3451c6",
        NotCheckedHost =
            "must be a network (192.168.0.0/16), an address, a host (nas.lan) or the names below one (*.lan), without scheme and port",
        NotPrivateNetwork =
            "must be in a private network: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7",

        NumberBetween { least: i64, most: i64, got: Word } = "must be a whole number from {least} to {most}, got {got}",
        NumberFrom { least: i64, got: Word } = "must be a whole number of at least {least}, got {got}",
        NumberOutside { least: i64, most: i64, got: Word } = "must be from {least} to {most}, got {got}",
        ItemsBetween { least: usize, most: usize, got: usize } = "must have {least} to {most} items, got {got}",
        TooManyEntries { most: usize, got: usize } = "must have at most {most} entries, got {got}",
        TooManyItems { most: usize, got: usize } = "must have at most {most} items in all, got {got}",
        TooLongNotes { most: usize, got: usize } =
            "must have notes of at most {most} characters in all, got {got}",
        TooManyPasswords { most: usize, got: usize } =
            "must have at most {most} new entries with a password, got {got}: apply them in parts",
        NotTimeZone = "must be a name of the IANA time zone database, such as Europe/Berlin",
        NotSlug { most: usize } =
            "must have 1 to {most} letters a to z and digits, with single hyphens between them",
        NotBeforeYear { year: u32 } = "must be before the year {year}",
        NotBefore { end: Word } = "must be at most {end}, when the key that the call came with ends",
        NotInFuture = "must be in the future",

        RequiredOfOperator = "is required: the operator is not a user",
        RequiredItems = "is required: a list, or sections",
        Required { noun: Noun } = "is required: {noun}",
        WrongType { noun: Noun, got: Noun } = "must be {noun}, got {got}",
        NotOneOf { choices: String } = "must be one of {choices}",
        KeyTwice = "appears more than once",
        UnknownKey { keys: String } = "is not one of the keys {keys}",
        PreviousPasswordNeeded = "is needed to change your own password",
        NotSecretOfCodes = "must be a secret of 32 letters A to Z and digits 2 to 7, as the one that was given",
        NotBase64Url { most: usize } = "must be base64url of 1 to {most} bytes",
        NotNewPasskey = "must be a new passkey, made at the public URL for options that are five minutes old at most",
        CodeNotOfSecret = "does not fit: type the code that the app shows now, and check the clock of its device",
        NotEnabledProvider = "must be an enabled provider (see GET /api/auth/providers)",
        NotExternalProvider = "must be an external provider",

        OfProvider = "must be absent: an external provider vouches for this user",
        NotHashed = "must be hashed first",
        VerifiedWithoutEmail = "must be null where there is no email",
        NotStorableIds = "must be ids that this dashboard can store",
        NotOnce = "must be in the list once",
        ListedTwiceWithoutId = "is in the list more than once: give an id to each of them",
        ListedTwice = "is in the list more than once",
        FitsApps { count: usize } = "fits {count} apps: give the id of one",
        NotItemsOfSections = "must be what is in the sections, or be absent",
        ItemsWithSections = "must be absent where there are sections",
        NotOneKindOfItem = "must have one of app, bookmarks, note and clock",
        NamesNoGroup { name: String } = "names no group: {name}",
        NamesNoBoard { name: String } = "names no board: {name}",
        NamesNoUser { name: String } = "names no user: {name}",
        NamesUsers { count: usize, name: String } = "fits {count} users: write {{name, provider}} for {name}",
        NamesNoAppId { id: String } = "names no app: the id {id}",
        NamesNoApp { name: String } = "names no app: {name}",
        NamesApps { count: usize, name: String } = "fits {count} apps: write {{id}} for {name}",
    }
}

sentences! {
    /// Why a text is not an absolute URL.
    UrlProblem {
        NoScheme = "relative URL without a base",
        NoHost = "empty host",
        Port = "invalid port number",
        International = "invalid international domain name",
        Ipv6 = "invalid IPv6 address",
        Ipv4 = "invalid IPv4 address",
        DomainCharacter = "invalid domain character",
        Other = "it cannot be read",
    }
}

sentences! {
    /// The types of values.
    Plain {
        Nothing = "nothing",
        Null = "null",
        Text = "a text",
        AnotherText = "another text",
        Boolean = "true or false",
        Number = "a number",
        WholeNumber = "a whole number",
        Date = "a date such as 2026-01-31T12:00:00.000Z",
        List = "a list",
        Object = "an object",
        Anything = "anything",
        OneOf { choices: Word } = "one of {choices}",
        Sent { number: Numeral } = "{number}",
    }
}

/// What a value should be, or is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noun {
    /// One type.
    Plain(Plain),
    /// One of two.
    Or(Plain, Box<Noun>),
}

impl Noun {
    /// This or another.
    #[must_use]
    pub fn or(self, other: Noun) -> Self {
        match self {
            Self::Plain(plain) => Self::Or(plain, Box::new(other)),
            Self::Or(first, rest) => Self::Or(first, Box::new(rest.or(other))),
        }
    }
}

impl From<Plain> for Noun {
    fn from(plain: Plain) -> Self {
        Self::Plain(plain)
    }
}

impl fmt::Display for Noun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(plain) => plain.fmt(formatter),
            Self::Or(plain, rest) => write!(formatter, "{plain} or {rest}"),
        }
    }
}

/// The most types of which a value is one.
const MOST_TYPES: usize = 4;

impl Part for Noun {
    fn read(text: &str) -> Option<Self> {
        read_noun(text, MOST_TYPES)
    }

    fn sample(number: u8) -> Self {
        match number {
            1 => Self::from(Plain::List).or(Plain::Null.into()),
            _ => Plain::Text.into(),
        }
    }
}

fn read_noun(text: &str, most: usize) -> Option<Noun> {
    if let Some(plain) = Plain::parse(text) {
        return Some(plain.into());
    }
    let most = most.checked_sub(1)?;
    text.match_indices(" or ").find_map(|(at, or)| {
        let first = Plain::parse(&text[..at])?;
        Some(Noun::from(first).or(read_noun(&text[at + or.len()..], most)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString};

    #[test]
    fn every_rule_is_read_back() {
        for rule in Rule::samples() {
            assert_eq!(Rule::parse(&rule.to_string()), Some(rule.clone()), "{rule}");
        }
    }

    #[test]
    fn a_type_is_read_back_with_its_alternatives() {
        let choice = Plain::OneOf {
            choices: "\"a\"|\"b\"".into(),
        };
        for noun in [
            Noun::from(Plain::Boolean),
            Noun::from(Plain::Boolean).or(Plain::Null.into()),
            Noun::from(choice).or(Plain::Null.into()),
            Noun::from(Plain::Text).or(Noun::from(Plain::Object).or(Plain::Null.into())),
        ] {
            assert_eq!(Noun::read(&noun.to_string()), Some(noun.clone()), "{noun}");
        }
        assert_eq!(Noun::read("a text or a friend"), None);
        let long = format!("{}a text", "a text or ".repeat(10_000));
        assert_eq!(Noun::read(&long), None);
    }
}
