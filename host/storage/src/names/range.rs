//! The names of one range, and what is looked for in them.

use std::sync::{Mutex, PoisonError};

use memchr::memchr_iter;
use memchr::memmem::Finder;
use portico_model::Provider;

use crate::records::UserFilter;

/// All kinds of records. Apps are all of kind 0. The kind of a user is 0 for the provider of credentials, 2 for OIDC
/// and 4 for LDAP; and one more if the user is disabled.
pub const ANY_KIND: u8 = u8::MAX;

/// A range of the order of names: the records from its first key and id on, up to where the next one begins.
#[derive(Clone, Copy)]
pub struct Range<'a> {
    /// No other range gets it.
    pub number: i64,
    /// As long as it is the same, the names are.
    pub version: i128,
    /// How many records it has.
    pub records: u32,
    /// The name-key with which it begins.
    pub first_key: &'a str,
    /// Of the records with that name-key, the id with which it begins.
    pub first_id: &'a str,
}

/// Where records of one name stand: `records` of them, after `skipped` others that are not before this id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name-key.
    pub key: String,
    /// An id; empty if all records of the name are counted.
    pub id: String,
    /// How many others come first.
    pub skipped: u32,
    /// How many records stand here.
    pub records: u32,
}

/// Of a text of at most so many bytes it is remembered how many names of a range have it.
const MOST_REMEMBERED: usize = 256;

/// Ends a name in a copy. It is in no text.
pub const END: u8 = 0xff;

/// The names of a range.
pub struct RangeNames {
    version: i128,
    /// All name-keys in order, each with its end.
    text: Vec<u8>,
    /// Where in the text the end of each name is.
    ends: Vec<u32>,
    /// Of what kind each record is; empty if all of them are of kind 0.
    kinds: Vec<u8>,
    grams: Grams,
    /// What was counted last: each page of a search comes with its total.
    counted: Mutex<Option<Counted>>,
}

/// How many names of a range a search finds.
struct Counted {
    text: String,
    kinds: u8,
    count: usize,
}

impl RangeNames {
    /// Of a range of this version: all name-keys in order, each followed by [`END`]; and of what kind each record
    /// is, or nothing if all of them are of kind 0.
    pub fn new(version: i128, mut text: Vec<u8>, kinds: Vec<u8>) -> Self {
        text.shrink_to_fit();
        let (mut ends, mut grams, mut from) = (Vec::with_capacity(kinds.len()), Grams::default(), 0);
        for end in memchr_iter(END, &text) {
            grams.add(&text[from..end]);
            ends.push(u32::try_from(end).unwrap_or(u32::MAX));
            from = end + 1;
        }
        ends.shrink_to_fit();
        Self {
            version,
            text,
            ends,
            kinds,
            grams,
            counted: Mutex::default(),
        }
    }

    /// Whether this is what a range contains.
    pub(super) fn is_of(&self, range: &Range<'_>) -> bool {
        self.version == range.version
    }

    /// Whether one of the names may be what is looked for.
    pub(super) fn may_have(&self, search: &Search) -> bool {
        self.grams.may_have(search)
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
            + self.ends.len() * size_of::<u32>()
            + self.kinds.len()
            + Grams::BITS / 8
            + MOST_REMEMBERED
    }

    /// How many names a search finds.
    pub(super) fn count(&self, search: &Search) -> usize {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match &*counted {
            Some(last) if last.kinds == search.kinds && last.text == search.text => last.count,
            _ => {
                let count = self.hits(search).count();
                // The copies are bounded, and so is what they remember.
                *counted = (search.text.len() <= MOST_REMEMBERED).then(|| Counted {
                    text: search.text.clone(),
                    kinds: search.kinds,
                    count,
                });
                count
            }
        }
    }

    /// The indexes of the names that a search finds.
    pub(super) fn hits<'a>(&'a self, search: &'a Search) -> impl Iterator<Item = usize> + 'a {
        let (mut index, mut from) = (0, 0);
        let mut next = move || {
            if search.text.is_empty() {
                index += 1;
                return (index <= self.ends.len()).then(|| index - 1);
            }
            let at = from + search.finder.find(self.text.get(from..)?)?;
            while (*self.ends.get(index)? as usize) < at {
                index += 1;
            }
            from = self.ends[index] as usize + 1;
            Some(index)
        };
        std::iter::from_fn(move || {
            loop {
                let index = next()?;
                let kind = self.kinds.get(index).copied().unwrap_or_default();
                if search.kinds >> kind & 1 == 1 {
                    return Some(index);
                }
            }
        })
    }

    pub(super) fn name(&self, index: usize) -> &[u8] {
        let from = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize + 1);
        &self.text[from..self.ends[index] as usize]
    }

    /// Where the record with the name at this index is: so many records of the same name after the first of
    /// them that is in the range.
    pub(super) fn place(&self, range: &Range<'_>, index: usize) -> Place {
        let name = self.name(index);
        let same = (0..index).rev().take_while(|before| self.name(*before) == name);
        let is_first = name == range.first_key.as_bytes();
        Place {
            key: String::from_utf8_lossy(name).into_owned(),
            id: if is_first {
                range.first_id.to_owned()
            } else {
                String::new()
            },
            skipped: u32::try_from(same.count()).unwrap_or(u32::MAX),
            records: 1,
        }
    }
}

/// What is looked for in each copy.
#[derive(Clone)]
pub struct Search {
    finder: Finder<'static>,
    text: String,
    kinds: u8,
    /// Bits of [`Grams`] that a name with the text has.
    bits: Vec<u16>,
}

impl Search {
    /// For records of these kinds (a bit for each) whose name-keys contain this text.
    pub fn new(contains: &str, kinds: u8) -> Self {
        let text = contains.as_bytes();
        let width = text.len().min(Grams::LONGEST);
        let grams = if width < 2 {
            [].windows(2)
        } else {
            text.windows(width)
        };
        Self {
            finder: Finder::new(text).into_owned(),
            text: contains.to_owned(),
            kinds,
            bits: grams.take(Grams::MOST_TRIED).map(Grams::bit).collect(),
        }
    }

    /// For the users that a filter without an email matches.
    pub fn of_users(filter: &UserFilter) -> Self {
        let of_provider = match filter.provider {
            None => ANY_KIND,
            Some(Provider::Credentials) => 0b00_00_11,
            Some(Provider::Oidc) => 0b00_11_00,
            Some(Provider::Ldap) => 0b11_00_00,
        };
        let of_state = match filter.disabled {
            None => ANY_KIND,
            Some(false) => 0b01_01_01,
            Some(true) => 0b10_10_10,
        };
        let contains = filter.name_contains.as_deref().unwrap_or_default();
        Self::new(contains, of_provider & of_state)
    }

    /// Whether it finds all records.
    pub(super) fn is_everything(&self) -> bool {
        self.text.is_empty() && self.kinds == ANY_KIND
    }
}

/// Which sequences of two and of three bytes are in the names of a range: a set of hashes, so it may say yes
/// where there is none.
struct Grams(Box<[u64; Self::BITS / 64]>);

impl Default for Grams {
    fn default() -> Self {
        Self(Box::new([0; Self::BITS / 64]))
    }
}

impl Grams {
    const BITS: usize = 1 << 15;
    const LONGEST: usize = 3;
    /// How many of a text are looked up.
    const MOST_TRIED: usize = 32;

    fn add(&mut self, name: &[u8]) {
        let grams = name.windows(2).chain(name.windows(Self::LONGEST));
        for bit in grams.map(Self::bit) {
            self.0[usize::from(bit) / 64] |= 1 << (bit % 64);
        }
    }

    fn may_have(&self, search: &Search) -> bool {
        let mut bits = search.bits.iter();
        bits.all(|bit| self.0[usize::from(*bit) / 64] >> (bit % 64) & 1 == 1)
    }

    fn bit(gram: &[u8]) -> u16 {
        let number = gram.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        // An odd factor scatters the numbers over the upper bits.
        (number.wrapping_mul(0x9e37_79b1) >> 17) as u16
    }
}
