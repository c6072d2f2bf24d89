//! The counts in memory, of one host.
//!
//! Invariant: their number is bounded, and a restart forgets them.

use portico_model::Timestamp;

use super::{
    bounded::Bounded,
    count::{Attempts, Failures, KnownSource},
    rules::{self, Attempt, Counts, Outcome},
    subject::{Source, Subject, ThrottledAccount},
};

/// The most entries of each kind: some megabytes in all.
const MOST_ENTRIES: usize = 32_768;

/// All counts. Times are in milliseconds, and must not go back.
#[derive(Clone)]
pub(super) struct MemoryCounts {
    pub accounts: Bounded<ThrottledAccount, Failures>,
    pub known: Bounded<(ThrottledAccount, Source), KnownSource>,
    pub sources: Bounded<Source, Attempts>,
}

impl Default for MemoryCounts {
    fn default() -> Self {
        Self::with_room_for(MOST_ENTRIES)
    }
}

impl MemoryCounts {
    pub fn with_room_for(entries: usize) -> Self {
        Self {
            accounts: Bounded::new(entries),
            known: Bounded::new(entries),
            sources: Bounded::new(entries),
        }
    }

    /// Begins an attempt, or gives the milliseconds until one may begin. A refused attempt is not counted.
    pub fn begin(&mut self, subject: Subject, now: Timestamp) -> Result<Attempt, Timestamp> {
        let mut counts = self.counts_of(subject, now);
        let attempt = rules::begin(subject, &mut counts, now)?;
        self.keep(attempt, counts, now);
        Ok(attempt)
    }

    /// Ends an attempt, and counts its outcome.
    pub fn end(&mut self, attempt: Attempt, outcome: Outcome, now: Timestamp) {
        let mut counts = self.counts_of(attempt.subject, now);
        rules::end(attempt, &mut counts, outcome, now);
        self.keep(attempt, counts, now);
    }

    fn counts_of(&self, subject: Subject, now: Timestamp) -> Counts {
        let account = subject
            .account
            .and_then(|account| self.accounts.get(account, now));
        let known = subject.pair().and_then(|pair| self.known.get(pair, now));
        let source = subject.source.and_then(|source| self.sources.get(source, now));
        Counts {
            account: account.cloned().unwrap_or_default(),
            known: known.cloned().unwrap_or_default(),
            source: source.cloned().unwrap_or_default(),
        }
    }

    fn keep(&mut self, attempt: Attempt, counts: Counts, now: Timestamp) {
        let subject = attempt.subject;
        if let Some(pair) = subject.pair() {
            self.known.put(pair, counts.known, now);
        }
        // An attempt from a known address changes nothing else.
        if attempt.is_known {
            return;
        }
        if let Some(account) = subject.account {
            self.accounts.put(account, counts.account, now);
        }
        if let Some(source) = subject.source {
            self.sources.put(source, counts.source, now);
        }
    }
}
