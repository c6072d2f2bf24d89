//! The bounds of inputs. Lengths count characters (Unicode scalar values), after trimming except for passwords.

use core::ops::RangeInclusive;

/// The length of an app's name.
pub const APP_NAME: RangeInclusive<usize> = 1..=64;
/// The length of the name of a group, a board, a search engine or a key.
pub const LABEL: RangeInclusive<usize> = 1..=64;
/// The length of the text by which people choose a search engine.
pub const SHORT: RangeInclusive<usize> = 1..=8;
/// The length of a search engine's URLs.
pub const ENGINE_URL: RangeInclusive<usize> = 1..=2048;
/// The length of the description of an app or a search engine; empty means none.
pub const DESCRIPTION: RangeInclusive<usize> = 0..=512;
/// The length of an app's icon. Clients also send small icons as data URIs, but a list of thousands of apps must not
/// become too large.
pub const ICON_URL: RangeInclusive<usize> = 1..=65_536;
/// The length of a link; empty means none. Browsers and servers can handle this many characters.
pub const LINK: RangeInclusive<usize> = 0..=8192;
/// The length of a further address of an app at the gate.
pub const GATE_ADDRESS: RangeInclusive<usize> = 1..=2048;
/// The length of the id that a document gives to an app.
pub const GIVEN_ID: RangeInclusive<usize> = 1..=128;
/// The length of a username, which is its own name-key.
pub const USERNAME: RangeInclusive<usize> = 3..=255;
/// The length of the name of a user for whom a provider vouches: it decides what names are like.
pub const EXTERNAL_NAME: RangeInclusive<usize> = 1..=*USERNAME.end();
/// The length of a new password in NFC: long enough, and short enough to hash quickly.
pub const PASSWORD: RangeInclusive<usize> = 8..=255;
/// The length of an email address.
pub const EMAIL: RangeInclusive<usize> = 1..=254;
/// The length of a profile image: about 256 KiB in base64.
pub const IMAGE: RangeInclusive<usize> = 0..=350_000;
/// The most pixels of a side of a profile image. A small file can describe a picture that no browser can draw.
pub const IMAGE_SIDE: u32 = 8192;
/// The most pixels of a profile image.
pub const IMAGE_PIXELS: u64 = 40_000_000;
/// The most bytes of an uploaded picture.
pub const PICTURE_BYTES: usize = 1 << 20;
/// The length of an uploaded picture as a data URI, in base64.
pub const PICTURE: RangeInclusive<usize> = 1..=PICTURE_BYTES.div_ceil(3) * 4 + 64;
/// How many hosts in private networks administrators let status checks reach.
pub const CHECKED_HOSTS: RangeInclusive<usize> = 0..=100;
/// How many columns of tiles a page may have.
pub const TILE_COLUMNS: RangeInclusive<u32> = 1..=12;
/// How many results a search returns.
pub const LIMIT: RangeInclusive<u32> = 1..=100;
/// How many records a page has.
pub const PAGE_SIZE: RangeInclusive<u32> = 1..=100;
/// 0 = Sunday to 6 = Saturday.
pub const DAY_OF_WEEK: RangeInclusive<u8> = 0..=6;
/// The most entries of a list of one call.
pub const ENTRIES: RangeInclusive<usize> = 0..=1000;
/// How many apps one call creates.
pub const NEW_APPS: RangeInclusive<usize> = 1..=*ENTRIES.end();
