//! Large lists, made one after the other.
//!
//! A list takes several times its size while it is made. Lists of [`LARGE_LIST`] bytes or more
//! therefore wait for a single permit, in rotation among users, and for room in the budget. How large
//! a list will be is estimated from the records that its input asks for, and from the earlier answers of
//! the same procedure to calls that asked for about as many. Invariant: a call whose input bounds its
//! answer below [`LARGE_LIST`] never waits, whatever others have asked for.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use portico_model::error::Error;
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    identity::Identity,
    procedures::Procedure,
    shape::Shape,
    table::Table,
    throttle::Source,
};
use portico_storage::SharedSnapshot;
use serde_json::Value;

use crate::outgoing::Outgoing;

/// Answers that hold a list are large from this size on, in bytes.
const LARGE_LIST: usize = 4 << 20;

/// The records that a search answers at most if its input names no limit.
const DEFAULT_LIMIT: usize = 10;

/// Sizes are remembered by the logarithm of the number of records that were asked for, up to 2,047.
const CLASSES: usize = 11;

/// The permit for large lists, and the sizes of the lists that procedures answered.
pub(crate) struct Lists {
    semaphore: Arc<FairSemaphore<u64>>,
    /// By procedure; only those that read lists.
    sizes: HashMap<String, Sizes>,
    hasher: RandomState,
}

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
struct Estimate<'a> {
    sizes: &'a Sizes,
    /// The records that it asks for; 1 if its input does not bound them.
    records: usize,
}

/// An answer is being made while this exists.
pub(crate) struct List<'a> {
    estimate: Option<Estimate<'a>>,
    _permit: Option<Permit<u64>>,
}

impl Lists {
    /// For the procedures of this table.
    pub fn new(table: &Table) -> Self {
        let lists = table
            .iter()
            .filter(|procedure| procedure.holds_list && procedure.is_read_only());
        Self {
            semaphore: FairSemaphore::new(1),
            sizes: lists
                .map(|procedure| (procedure.name.clone(), Sizes::of(procedure)))
                .collect(),
            hasher: RandomState::new(),
        }
    }

    /// Whether the answer of this call may be a large list.
    pub fn may_be_large(&self, procedure: &Procedure, input: Option<&Value>) -> bool {
        self.estimate(procedure, input)
            .is_some_and(|estimate| estimate.is_large())
    }

    /// Begins an answer of this procedure; one that may be a large list first waits for the permit.
    pub async fn begin(
        &self,
        outgoing: &Outgoing,
        procedure: &Procedure,
        input: Option<&Value>,
        identity: &Identity,
        snapshot: &SharedSnapshot,
    ) -> Result<List<'_>, Error> {
        let estimate = self.estimate(procedure, input);
        let mut permit = None;
        if let Some(estimate) = estimate
            && estimate.is_large()
        {
            snapshot.release();
            let address = identity.address.map(Source::from);
            let user = self.hasher.hash_one((identity.user_id(), address));
            permit = Some(outgoing.permit(&self.semaphore, user).await?);
            // The procedure's first answer may have been made meanwhile, and been small.
            if estimate.is_large() {
                outgoing.wait_for_room().await;
            } else {
                permit = None;
            }
        }
        Ok(List {
            estimate,
            _permit: permit,
        })
    }

    fn estimate(&self, procedure: &Procedure, input: Option<&Value>) -> Option<Estimate<'_>> {
        if !procedure.holds_list {
            return None;
        }
        let sizes = self.sizes.get(&procedure.name)?;
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
    /// Whether the answer may be large. Before the first answer to such a call, it may be as large as its
    /// input lets it.
    fn is_large(self) -> bool {
        let bytes = match self.bytes().load(Ordering::Relaxed) {
            0 => self.sizes.largest_record.unwrap_or(usize::MAX),
            bytes => bytes,
        };
        bytes.saturating_mul(self.records) >= LARGE_LIST
    }

    /// Notes the size of the answer.
    fn learn(self, bytes: usize) {
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

impl List<'_> {
    /// Ends it with an answer of this size.
    pub fn end(self, bytes: usize) {
        if let Some(estimate) = self.estimate {
            estimate.learn(bytes);
        }
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
    use portico_service::shape::{Field, SEARCH, required};
    use serde_json::json;

    use super::*;

    /// The largest record of the lists below, in bytes.
    const LARGEST: usize = 83_000;
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
        assert!(call(1000).is_large() && !call(50).is_large(), "before any answer");
        for records in [1, 10, 50, 1000] {
            call(records).learn(records * LARGEST);
        }
        assert!(call(1000).is_large() && call(600).is_large());
        for records in [1, 10, 20, 40, 50] {
            assert!(!call(records).is_large(), "{records}");
        }
    }

    #[test]
    fn an_estimate_follows_larger_answers_at_once_and_smaller_ones_slowly() {
        let sizes = Sizes::new(None);
        let call = Estimate {
            sizes: &sizes,
            records: 1,
        };
        assert!(call.is_large(), "before any answer");
        call.learn(100);
        assert!(!call.is_large());
        call.learn(4 * LARGE_LIST);
        call.learn(100);
        call.learn(100);
        assert!(call.is_large());
        call.learn(100);
        assert!(!call.is_large());
    }
}
