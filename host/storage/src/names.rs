//! The names of apps, and those of users, in memory: what drivers share of searches that no index makes quick.
//!
//! Such a search passes over all names in order: of a text of two letters, of one that many names have, and for an
//! exact total. A database takes some 170 ns for a name or more; here it takes a few, and a range of names that
//! cannot have the text is passed over as a whole.
//!
//! Drivers divide the order of names, `(name_key, id)`, into ranges. A driver gives a [`Pass`] one range after the
//! other, with a copy of its names that [`Names`] holds or that it reads now.
//!
//! Invariants:
//! - A copy of a range is used only for a transaction in which the range has the same number and version: then it
//!   has the same names. Only committed versions mean the same for ever, so a transaction that writes uses no copies.
//! - The copies that are held take at most `most_bytes`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;
use memchr::memmem::Finder;
use portico_model::Provider;

use crate::records::UserFilter;

/// The most memory that the copies of one table's names take. A million names of 50 bytes fit.
pub const MOST_BYTES: usize = 64 << 20;

/// How many places are looked up one by one at most; more records are read in one pass over the database.
pub const MAX_PLACES: u32 = 100;

/// All kinds of records. Apps are all of kind 0. The kind of a user is 0 for the provider of credentials, 2 for OIDC
/// and 4 for LDAP; and one more if the user is disabled.
pub const ANY_KIND: u8 = u8::MAX;

/// Of a text of at most so many bytes it is remembered how many names of a range have it.
const MOST_REMEMBERED: usize = 256;

/// Ends a name in a copy. It is in no text.
pub const END: u8 = 0xff;

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

/// Copies of the names of one table, by ranges.
pub struct Names {
    most_bytes: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// By the numbers of the ranges.
    copies: HashMap<i64, Arc<RangeNames>>,
    bytes: usize,
}

impl Names {
    /// No copies, and at most so many bytes of them later.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            held: Mutex::default(),
        }
    }

    /// The copy of a range, if it is held.
    pub fn get(&self, range: &Range<'_>) -> Option<Arc<RangeNames>> {
        let held = self.held();
        let copy = held.copies.get(&range.number);
        copy.filter(|copy| copy.version == range.version).cloned()
    }

    /// Holds the copy of a range instead of an earlier one. Answers whether there is room.
    pub fn hold(&self, number: i64, copy: Arc<RangeNames>) -> bool {
        let mut held = self.held();
        if let Some(old) = held.copies.remove(&number) {
            held.bytes -= old.bytes();
        }
        let has_room = held.bytes + copy.bytes() <= self.most_bytes;
        if has_room {
            held.bytes += copy.bytes();
            held.copies.insert(number, copy);
        }
        has_room
    }

    /// Drops the copies of ranges that have ended: of all but these.
    pub fn forget_others(&self, numbers: &HashSet<i64>) {
        let mut held = self.held();
        held.copies.retain(|number, _| numbers.contains(number));
        held.bytes = held.copies.values().map(|copy| copy.bytes()).sum();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

    fn bytes(&self) -> usize {
        self.text.len()
            + self.ends.len() * size_of::<u32>()
            + self.kinds.len()
            + Grams::BITS / 8
            + MOST_REMEMBERED
    }

    /// How many names a search finds.
    fn count(&self, search: &Search) -> usize {
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
    fn hits<'a>(&'a self, search: &'a Search) -> impl Iterator<Item = usize> + 'a {
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

    fn name(&self, index: usize) -> &[u8] {
        let from = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize + 1);
        &self.text[from..self.ends[index] as usize]
    }

    /// Where the record with the name at this index is: so many records of the same name after the first of
    /// them that is in the range.
    fn place(&self, range: &Range<'_>, index: usize) -> Place {
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

    fn is_everything(&self) -> bool {
        self.text.is_empty() && self.kinds == ANY_KIND
    }
}

/// A pass over the ranges in order, until there is what is looked for.
#[derive(Clone)]
pub struct Pass {
    search: Search,
    goal: Goal,
}

#[derive(Clone)]
enum Goal {
    /// How many records there were so far.
    Count(usize),
    Page {
        /// How many records are still to be left out.
        before: usize,
        /// How many are still to come.
        left: usize,
        places: Vec<Place>,
    },
}

impl Pass {
    /// That counts the records that a search finds.
    pub fn count(search: Search) -> Self {
        let goal = Goal::Count(0);
        Self { search, goal }
    }

    /// That looks where those records are: at most `limit`, after `offset` others.
    pub fn page(search: Search, offset: u32, limit: u32) -> Self {
        let goal = Goal::Page {
            before: offset as usize,
            left: limit as usize,
            places: Vec::new(),
        };
        Self { search, goal }
    }

    /// Whether it looks at all ranges.
    pub fn needs_all(&self) -> bool {
        matches!(self.goal, Goal::Count(_))
    }

    /// Whether it only looks where a page of all records is: in one range or two.
    pub fn needs_few(&self) -> bool {
        !self.needs_all() && self.search.is_everything()
    }

    /// Whether nothing more is to be found.
    pub fn is_full(&self) -> bool {
        matches!(self.goal, Goal::Page { left: 0, .. })
    }

    /// Passes over the next range if its names are not needed for that. Answers whether it has.
    pub fn skips(&mut self, range: &Range<'_>) -> bool {
        let records = range.records as usize;
        match &mut self.goal {
            Goal::Page { before, .. } if self.search.is_everything() && *before >= records => {
                *before -= records;
                true
            }
            _ => false,
        }
    }

    /// Looks at the names of the next range.
    pub fn visit(&mut self, range: &Range<'_>, names: &RangeNames) {
        let search = &self.search;
        if !names.grams.may_have(search) {
            return;
        }
        match &mut self.goal {
            Goal::Count(count) => *count += names.count(search),
            Goal::Page { before, left, places } => {
                let hits = names.hits(search).skip(*before).take(*left);
                let (mut found, mut last) = (0, None);
                for index in hits {
                    found += 1;
                    match places.last_mut() {
                        Some(place)
                            if last.is_some_and(|last| {
                                last + 1 == index && names.name(last) == names.name(index)
                            }) =>
                        {
                            place.records += 1;
                        }
                        _ => places.push(names.place(range, index)),
                    }
                    last = Some(index);
                }
                if found == 0 && *before > 0 {
                    *before = before.saturating_sub(names.count(search));
                } else {
                    (*before, *left) = (0, *left - found);
                }
            }
        }
    }

    /// How many records it has counted.
    pub fn counted(&self) -> u32 {
        match self.goal {
            Goal::Count(count) => u32::try_from(count).unwrap_or(u32::MAX),
            Goal::Page { .. } => 0,
        }
    }

    /// The places that it has found, in order.
    pub fn places(self) -> Vec<Place> {
        match self.goal {
            Goal::Count(_) => Vec::new(),
            Goal::Page { places, .. } => places,
        }
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
