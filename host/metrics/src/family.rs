//! Metrics of one name that differ in their labels.

use std::{
    borrow::Borrow,
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

/// One metric for each label, made when its label first occurs.
#[derive(Debug)]
pub struct Family<K, T> {
    members: RwLock<BTreeMap<K, T>>,
    most: usize,
    new: fn() -> T,
}

impl<K: Ord, T> Family<K, T> {
    /// Of at most this many labels. For more, nothing is recorded.
    pub const fn new(most: usize, new: fn() -> T) -> Self {
        Self {
            members: RwLock::new(BTreeMap::new()),
            most,
            new,
        }
    }

    /// Records something in the metric of this label.
    pub fn record<Q>(&self, label: &Q, record: impl FnOnce(&T))
    where
        K: Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
    {
        {
            let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(member) = members.get(label) {
                return record(member);
            }
        }
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        if members.len() < self.most || members.contains_key(label) {
            record(members.entry(label.to_owned()).or_insert_with(self.new));
        }
    }

    /// Visits every label that occurred, in order.
    pub fn each<E>(&self, mut visit: impl FnMut(&K, &T) -> Result<(), E>) -> Result<(), E> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members
            .iter()
            .try_for_each(|(label, member)| visit(label, member))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::Counter;

    #[test]
    fn each_label_counts_for_itself_and_labels_beyond_the_bound_do_not_count() {
        let family = Family::<String, Counter>::new(2, Counter::new);
        for label in ["b", "a", "b", "c", "d", "a", "b"] {
            family.record(label, Counter::increment);
        }
        let mut counted = Vec::new();
        let visited: Result<(), Infallible> = family.each(|label, counter| {
            counted.push((label.clone(), counter.get()));
            Ok(())
        });
        assert_eq!(visited, Ok(()));
        assert_eq!(counted, [("a".to_owned(), 2), ("b".to_owned(), 3)]);
    }
}
