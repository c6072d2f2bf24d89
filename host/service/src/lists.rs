//! How large the lists are that procedures answer, estimated from the records that the input asks for, and from
//! the earlier answers of the same procedure to calls that asked for about as many.
//!
//! Only queries that read lists are estimated. Invariant: a call whose input bounds its answer below a size is
//! never estimated above it, whatever others have asked for.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;

use crate::{procedures::Procedure, shape::Shape, table::Table};

/// From this size on, in bytes, a list is long: it is made on a thread of low priority. Making one of this size
/// takes several times as long as starting the thread.
pub(crate) const LONG_LIST: usize = 32 << 10;

/// The records that a search answers at most if its input names no limit.
const DEFAULT_LIMIT: usize = 10;

/// Sizes are remembered by the logarithm of the number of records that were asked for, up to 2,047.
const CLASSES: usize = 11;

/// The sizes of the lists that procedures answered.
pub struct Lists(HashMap<String, Sizes>);

/// The sizes of one procedure's answers.
struct Sizes {
    /// The largest size of one record; none if the input does not bound the number of records.
    largest_record: Option<usize>,
    /// By class, the estimated bytes for each record that is asked for; 0 before the first answer. An
    /// estimate follows larger answers at once, and halves at most with each smaller one.
    bytes: [AtomicUsize; CLASSES],
}

/// What the sizes of a procedure say about one call.
#[derive(Clone, Copy)]
pub(crate) struct Estimate<'a> {
    sizes: &'a Sizes,
    /// The records that it asks for; 1 if its input does not bound them.
    records: usize,
}

impl Lists {
    /// For the procedures of this table.
    pub(crate) fn new(table: &Table) -> Self {
        let lists = table
            .iter()
            .filter(|procedure| procedure.holds_list && procedure.is_read_only());
        Self(
            lists
                .map(|procedure| (procedure.name.clone(), Sizes::of(procedure)))
                .collect(),
        )
    }

    /// The estimated size of the answer to this call, in bytes; 0 if it is not a query that reads a list.
    pub fn size(&self, procedure: &Procedure, input: Option<&Value>) -> usize {
        self.estimate(procedure, input).map_or(0, Estimate::size)
    }

    pub(crate) fn estimate(&self, procedure: &Procedure, input: Option<&Value>) -> Option<Estimate<'_>> {
        if !procedure.holds_list {
            return None;
        }
        let sizes = self.0.get(&procedure.name)?;
        let records = records(&procedure.input, input).unwrap_or(1).max(1);
        Some(Estimate { sizes, records })
    }
}

impl Sizes {
    fn of(procedure: &Procedure) -> Self {
        Self::new(records(&procedure.input, None).map(|_| procedure.record_size))
    }

    fn new(largest_record: Option<usize>) -> Self {
        Self {
            largest_record,
            bytes: Default::default(),
        }
    }
}

impl Estimate<'_> {
    /// The estimated size of the answer, in bytes. Before the first answer to such a call, it is the largest that its
    /// input allows.
    pub fn size(self) -> usize {
        let bytes = match self.bytes().load(Ordering::Relaxed) {
            0 => self.sizes.largest_record.unwrap_or(usize::MAX),
            bytes => bytes,
        };
        bytes.saturating_mul(self.records)
    }

    /// Notes the size of the answer.
    pub fn learn(self, bytes: usize) {
        let bytes = bytes.div_ceil(self.records).max(1);
        let learned = |old: usize| Some(bytes.max(old / 2));
        let _ = self
            .bytes()
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, learned);
    }

    fn bytes(&self) -> &AtomicUsize {
        &self.sizes.bytes[(self.records.ilog2() as usize).min(CLASSES - 1)]
    }
}

/// The most records that a call with this input asks for; none if inputs of this shape do not bound them.
fn records(shape: &Shape, input: Option<&Value>) -> Option<usize> {
    match shape.plain() {
        Shape::List(_) => Some(input.and_then(Value::as_array).map_or(0, Vec::len)),
        Shape::Record(fields) => {
            let has = |key: &str| fields.iter().any(|field| field.name == key);
            let key = ["limit", "pageSize"].into_iter().find(|key| has(key))?;
            let number = input.and_then(|input| input.get(key)).and_then(Value::as_f64);
            Some(number.map_or(DEFAULT_LIMIT, |number| number as usize))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shape::{Field, SEARCH, required};

    /// The largest record of the lists below, in bytes.
    const LARGEST: usize = 83_000;
    /// A size of lists, in bytes: more than 50 of the largest records, and less than 60.
    const SIZE: usize = 4 << 20;
    const IDS: Shape = Shape::List(&Shape::Text);
    const PAGE: [Field; 1] = [required("pageSize", Shape::Integer)];

    #[test]
    fn the_input_says_how_many_records_a_call_asks_for() {
        let ids = json!(["a", "b", "c"]);
        assert_eq!(records(&IDS, Some(&ids)), Some(3));
        assert_eq!(records(&IDS, None), Some(0));
        assert_eq!(records(&SEARCH, Some(&json!({"query": ""}))), Some(DEFAULT_LIMIT));
        assert_eq!(records(&SEARCH, Some(&json!({"query": "", "limit": 7}))), Some(7));
        assert_eq!(
            records(&Shape::Record(&PAGE), Some(&json!({"pageSize": 50.0}))),
            Some(50)
        );
        // A key that the procedure ignores bounds nothing.
        assert_eq!(records(&Shape::Nothing, Some(&json!({"limit": 1}))), None);
    }

    #[test]
    fn a_call_for_few_records_is_never_large_whatever_others_ask_for() {
        let sizes = Sizes::new(Some(LARGEST));
        let call = |records| Estimate {
            sizes: &sizes,
            records,
        };
        let is_large = |records| call(records).size() >= SIZE;
        assert!(is_large(1000) && !is_large(50), "before any answer");
        for records in [1, 10, 50, 1000] {
            call(records).learn(records * LARGEST);
        }
        assert!(is_large(1000) && is_large(600));
        for records in [1, 10, 20, 40, 50] {
            assert!(!is_large(records), "{records}");
        }
    }

    #[test]
    fn an_estimate_follows_larger_answers_at_once_and_smaller_ones_slowly() {
        let sizes = Sizes::new(None);
        let call = Estimate {
            sizes: &sizes,
            records: 1,
        };
        assert_eq!(call.size(), usize::MAX, "before any answer");
        call.learn(100);
        assert_eq!(call.size(), 100);
        call.learn(4 * SIZE);
        call.learn(100);
        call.learn(100);
        assert!(call.size() >= SIZE);
        call.learn(100);
        assert!(call.size() < SIZE);
    }
}
