//! The audit log in memory.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::state::State;
use crate::audit::{AuditFilter, AuditPrune, AuditRow, DONE};

impl State {
    /// The rows that a filter lets through.
    pub(super) fn audit_that_fits<'a>(
        &'a self,
        filter: &'a AuditFilter,
    ) -> impl Iterator<Item = &'a AuditRow> {
        let is = |expected: &Option<String>, text: Option<&String>| {
            expected.is_none() || expected.as_ref() == text
        };
        self.audit.iter().map(|row| &**row).filter(move |row| {
            let entry = &row.entry;
            is(&filter.actor_id, entry.actor_id.as_ref())
                && is(&filter.procedure, Some(&entry.procedure))
                && is(&filter.outcome, Some(&entry.outcome))
                && filter.from.is_none_or(|from| entry.time >= from)
                && filter.until.is_none_or(|until| entry.time < until)
        })
    }

    /// A page of them, the latest first.
    pub(super) fn list_audit(&self, filter: &AuditFilter, offset: u64, limit: u32) -> Vec<AuditRow> {
        let mut rows: Vec<_> = self.audit_that_fits(filter).collect();
        rows.sort_by_key(|row| Reverse((row.entry.time, row.number)));
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        rows.into_iter()
            .skip(offset)
            .take(limit as usize)
            .cloned()
            .collect()
    }

    /// Removes the oldest of these rows, at most so many. Returns how many were removed.
    pub(super) fn prune_audit(&mut self, which: AuditPrune, most: u32) -> u64 {
        let is_candidate = |row: &AuditRow| match which {
            AuditPrune::Before(moment) => row.entry.time < moment,
            AuditPrune::Refusals => row.entry.outcome != DONE,
            AuditPrune::Any => true,
        };
        let rows = self.audit.iter().filter(|row| is_candidate(row));
        let mut rows: Vec<_> = rows.map(|row| (row.entry.time, row.number)).collect();
        rows.sort_unstable();
        rows.truncate(most as usize);
        let numbers: BTreeSet<_> = rows.into_iter().map(|(_, number)| number).collect();
        self.audit.retain(|row| !numbers.contains(&row.number));
        numbers.len() as u64
    }
}
