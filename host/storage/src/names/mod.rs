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

mod range;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use range::{ANY_KIND, END, Place, Range, RangeNames, Search};

/// The most memory that the copies of one table's names take. A million names of 50 bytes fit.
pub const MOST_BYTES: usize = 64 << 20;

/// How many places are looked up one by one at most; more records are read in one pass over the database.
pub const MAX_PLACES: u32 = 100;

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
        copy.filter(|copy| copy.is_of(range)).cloned()
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
        if !names.may_have(search) {
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
