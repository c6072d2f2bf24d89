//! The names of apps, and those of users, in memory, for searches that no index makes quick.
//!
//! A search passes over all names in order: of a text of two letters, of one that many names have, and for an
//! exact total. SQLite takes some 170 ns for a name; here it takes a few, and a range of names that cannot
//! have the text is passed over as a whole.
//!
//! Invariants:
//! - A copy of a range is used only for a transaction in which the range has the same number and version
//!   (`migrations/0009_name_ranges.sql`): then it has the same names. Only committed versions mean the same for
//!   ever, so a transaction that writes uses no copies.
//! - The copies take at most `most_bytes`. Ranges for which there is no room are read each time.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem::Finder;
use rusqlite::{Connection, Result, Row, params};

use super::ranges::{Place, Table};

/// The most memory that the copies of one table's names take. A million names of 50 bytes fit.
pub(super) const MOST_BYTES: usize = 64 << 20;

/// How many places are looked up one by one at most; more records are read in one pass over the database.
pub(super) const MAX_PLACES: u32 = 100;

/// What a search looks for.
pub(super) struct Wanted<'a> {
    /// Part of the name-key.
    pub text: &'a str,
    /// A bit for each kind of record that is looked for.
    pub kinds: u8,
}

/// Of a text of at most so many bytes it is remembered how many names of a range have it.
const MOST_REMEMBERED: usize = 256;

/// All kinds of records.
pub(super) const ANY_KIND: u8 = u8::MAX;

/// Copies of the names of one table, by ranges. They are made as they are needed.
pub(super) struct Names {
    table: Table,
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
    pub fn new(table: Table, most_bytes: usize) -> Self {
        Self {
            table,
            most_bytes,
            held: Mutex::default(),
        }
    }

    /// How many records a search finds.
    pub fn count(&self, db: &Connection, wanted: &Wanted<'_>) -> Result<u32> {
        let search = Search::new(wanted);
        let (mut count, mut numbers) = (0, HashSet::new());
        self.walk(db, &search, |range, copy| {
            numbers.insert(range.number);
            count += copy.map_or(0, |copy| copy.count(&search));
            Ok(true)
        })?;
        self.forget_others(&numbers);
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Where those records are that a search finds, in order: at most `limit`, after `offset` others.
    pub fn places(
        &self,
        db: &Connection,
        wanted: &Wanted<'_>,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<Place>> {
        let search = Search::new(wanted);
        let (mut before, limit) = (offset, limit as usize);
        let mut places = Vec::new();
        if limit == 0 {
            return Ok(places);
        }
        self.walk(db, &search, |range, copy| {
            let Some(copy) = copy else {
                return Ok(true);
            };
            for index in copy.hits(&search) {
                if before > 0 {
                    before -= 1;
                    continue;
                }
                places.push(copy.place(range, index));
                if places.len() == limit {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(places)
    }

    /// Visits the ranges in order, with the copies of those that may have what is looked for, until `visit`
    /// answers false.
    fn walk(
        &self,
        db: &Connection,
        search: &Search<'_>,
        mut visit: impl FnMut(&Range<'_>, Option<&RangeNames>) -> Result<bool>,
    ) -> Result<()> {
        let mut statement = db.prepare_cached(self.table.statements().ranges)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let range = Range::read(row)?;
            let copy = self.copy(db, &range)?;
            let copy = Some(&*copy).filter(|copy| copy.grams.may_have(search));
            if !visit(&range, copy)? {
                break;
            }
        }
        Ok(())
    }

    /// The copy of a range; made now if there is none of this version.
    fn copy(&self, db: &Connection, range: &Range<'_>) -> Result<Arc<RangeNames>> {
        let held = self.held().copies.get(&range.number).cloned();
        if let Some(copy) = held.filter(|copy| copy.version == range.version) {
            return Ok(copy);
        }
        let copy = Arc::new(RangeNames::read(db, self.table, range)?);
        self.hold(range.number, copy.clone());
        Ok(copy)
    }

    fn hold(&self, number: i64, copy: Arc<RangeNames>) {
        let mut held = self.held();
        // This transaction may see an earlier state than others.
        if held
            .copies
            .get(&number)
            .is_some_and(|other| other.version >= copy.version)
        {
            return;
        }
        if let Some(old) = held.copies.remove(&number) {
            held.bytes -= old.bytes();
        }
        if held.bytes + copy.bytes() <= self.most_bytes {
            held.bytes += copy.bytes();
            held.copies.insert(number, copy);
        }
    }

    /// Drops the copies of ranges that have ended.
    fn forget_others(&self, numbers: &HashSet<i64>) {
        let mut held = self.held();
        if held.copies.len() > numbers.len() {
            held.copies.retain(|number, _| numbers.contains(number));
            held.bytes = held.copies.values().map(|copy| copy.bytes()).sum();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A row of a table of ranges.
struct Range<'a> {
    number: i64,
    version: i64,
    records: u32,
    first_key: &'a str,
    first_id: &'a str,
}

impl<'a> Range<'a> {
    fn read(row: &'a Row<'_>) -> Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            version: row.get(1)?,
            records: row.get(2)?,
            first_key: row.get_ref(3)?.as_str()?,
            first_id: row.get_ref(4)?.as_str()?,
        })
    }
}

/// Ends a name. It is in no text.
const END: u8 = 0xff;

/// The names of a range.
struct RangeNames {
    version: i64,
    /// All name-keys in order, each with its end.
    text: Vec<u8>,
    /// Where in the text the end of each name is.
    ends: Vec<u32>,
    /// Of what kind each record is.
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
    fn read(db: &Connection, table: Table, range: &Range<'_>) -> Result<Self> {
        let mut copy = Self {
            version: range.version,
            text: Vec::new(),
            ends: Vec::with_capacity(range.records as usize),
            kinds: Vec::with_capacity(range.records as usize),
            grams: Grams::default(),
            counted: Mutex::default(),
        };
        let mut statement = db.prepare_cached(table.statements().names)?;
        let mut names = statement.query(params![range.first_key, range.first_id, range.records])?;
        while let Some(name) = names.next()? {
            let key = name.get_ref(0)?.as_str()?;
            copy.grams.add(key.as_bytes());
            copy.text.extend_from_slice(key.as_bytes());
            copy.ends.push(u32::try_from(copy.text.len()).unwrap_or(u32::MAX));
            copy.text.push(END);
            copy.kinds.push(name.get(1)?);
        }
        copy.text.shrink_to_fit();
        Ok(copy)
    }

    fn bytes(&self) -> usize {
        self.text.len()
            + self.ends.len() * size_of::<u32>()
            + self.kinds.len()
            + Grams::BITS / 8
            + MOST_REMEMBERED
    }

    /// How many names a search finds.
    fn count(&self, search: &Search<'_>) -> usize {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match &*counted {
            Some(last) if last.kinds == search.kinds && last.text == search.text => last.count,
            _ => {
                let count = self.hits(search).count();
                // The copies are bounded, and so is what they remember.
                *counted = (search.text.len() <= MOST_REMEMBERED).then(|| Counted {
                    text: search.text.to_owned(),
                    kinds: search.kinds,
                    count,
                });
                count
            }
        }
    }

    /// The indexes of the names that a search finds.
    fn hits<'a>(&'a self, search: &'a Search<'_>) -> impl Iterator<Item = usize> + 'a {
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
                if search.kinds >> self.kinds[index] & 1 == 1 {
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
        }
    }
}

/// What is looked for in each copy.
struct Search<'a> {
    finder: Finder<'a>,
    text: &'a str,
    kinds: u8,
    /// Bits of [`Grams`] that a name with the text has.
    bits: Vec<u16>,
}

impl<'a> Search<'a> {
    fn new(wanted: &Wanted<'a>) -> Self {
        let text = wanted.text.as_bytes();
        let width = text.len().min(Grams::LONGEST);
        let grams = if width < 2 {
            [].windows(2)
        } else {
            text.windows(width)
        };
        Self {
            finder: Finder::new(text),
            text: wanted.text,
            kinds: wanted.kinds,
            bits: grams.take(Grams::MOST_TRIED).map(Grams::bit).collect(),
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

    fn may_have(&self, search: &Search<'_>) -> bool {
        let mut bits = search.bits.iter();
        bits.all(|bit| self.0[usize::from(*bit) / 64] >> (bit % 64) & 1 == 1)
    }

    fn bit(gram: &[u8]) -> u16 {
        let number = gram.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        // An odd factor scatters the numbers over the upper bits.
        (number.wrapping_mul(0x9e37_79b1) >> 17) as u16
    }
}
