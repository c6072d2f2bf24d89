//! What a call may use, and what ends a call that uses more. `docs/sandbox.md` describes it for readers.

use std::{
    fmt,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use crate::{collisions::Collisions, meter::Meter, metrics};
use portico_metrics::Counter;
use portico_model::error::Error;
use portico_model::refusal::Refusal;

/// What a call may use, and how many calls run at the same time. Sizes are in bytes.
///
/// ```
/// let limits = portico_sandbox::Limits { instances: 32, ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Processor time of one call: the component's own and what the host does for it on the same thread, without the
    /// threads of storage. Default: 5 s.
    pub time: Duration,
    /// From the beginning of a call to its end, waits included. Default: 30 s.
    pub duration: Duration,
    /// How long a call may hold a write transaction, while all other writers wait. Shorter than the time after which
    /// those writers are refused. Default: 5 s.
    pub write_time: Duration,
    /// Calls that run at the same time, including those that hash; more wait. Default: 128.
    pub instances: u32,
    /// Instances that wait for the next call of the user they have served. 0: every call gets a fresh one. Default: 64.
    pub warm: u32,
    /// How long an instance waits, and how long the memory for hashing stays resident after the last hash. Default: 30
    /// s.
    pub warm_time: Duration,
    /// How long a call waits for an instance, for memory, or for its turn to hash or to make a long list, before it is
    /// refused. Default: 10 s.
    pub wait: Duration,
    /// The total time that a call waits between a transaction that collided with another (`retry`) and the next
    /// attempt. 0: it tries again immediately. Default: 5 s.
    pub retry_wait: Duration,
    /// Linear memory of one instance. Default: 256 MiB.
    pub memory: usize,
    /// Linear memory that every call has without waiting. An ordinary call needs no more. Default: 2 MiB.
    pub small: usize,
    /// Linear memory of a medium call. A call that hashes a password needs 20 MiB. Default: 32 MiB.
    pub medium: usize,
    /// Concurrent calls that hash a password; more wait. They wait for no other limit, because an instance and a medium
    /// share of memory are reserved for each of them. A sandbox therefore takes at most half of `instances` and half of
    /// `medium_calls`, and at least 1. Default: one for each core.
    pub hashing: u32,
    /// Concurrent medium calls, including those that hash; more wait. Default: 16, or twice the cores.
    pub medium_calls: u32,
    /// Concurrent calls that need more memory than a medium call; more wait. Default: 3.
    pub large_calls: u32,
    /// How much the component may pass to the host in an answer. For a call with less memory: twice the memory that its
    /// size allows. Default: 256 MiB.
    pub transfer: usize,
    /// The same for one call of an import. Default: 96 MiB, which 1,000 apps with the largest texts may have.
    pub arguments: usize,
    /// An answer without a list, as JSON; the texts of a refusal; a message for the log. Default: 4 MiB.
    pub record: usize,
    /// How often one call may call its host. Default: 20,000.
    pub host_calls: u32,
    /// Entries of a list that the component passes to the host: apps, ids, names. Default: 1,000, by the contract.
    pub entries: usize,
    /// A name for which the component looks up an icon. Default: 256, which 64 characters may have.
    pub icon_name: usize,
    /// Log messages of one call; more are dropped. Default: 32.
    pub log_messages: u32,
    /// Length of one message in the log; the rest is cut off. Default: 2,000.
    pub log_message: usize,
    /// Random bytes that the component gets from one call of the import. Default: 4,096.
    pub random_bytes: usize,
    /// Entries of each table of one instance. Default: 20,000.
    pub table_elements: usize,
    /// The file of a component. Default: 16 MiB.
    pub file: usize,
    /// How long [`Compiled::start`](crate::Compiled::start) may take for a file. Default: 60 s.
    pub compile_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get) as u32;
        Self {
            time: Duration::from_secs(5),
            duration: Duration::from_secs(30),
            write_time: Duration::from_secs(5),
            instances: 128,
            warm: 64,
            warm_time: Duration::from_secs(30),
            wait: Duration::from_secs(10),
            retry_wait: Duration::from_secs(5),
            memory: 256 << 20,
            small: 2 << 20,
            medium: 32 << 20,
            hashing: cores,
            // Each core hashes one password; other calls have at least as many shares.
            medium_calls: 16.max(2 * cores),
            large_calls: 3,
            transfer: 256 << 20,
            arguments: 96 << 20,
            record: 4 << 20,
            // The most that an honest call needs is 6,000: a user in 1,000 groups, tried six times.
            host_calls: 20_000,
            entries: 1000,
            icon_name: 256,
            log_messages: 32,
            log_message: 2000,
            random_bytes: 4096,
            table_elements: 20_000,
            file: 16 << 20,
            compile_time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// The limits that a sandbox enforces: those given, but with no more calls that hash than can have an instance and
    /// memory reserved for them.
    pub(crate) fn settled(self) -> Self {
        let most = (self.instances / 2).min(self.medium_calls / 2).max(1);
        Self {
            hashing: self.hashing.clamp(1, most),
            ..self
        }
    }

    /// Concurrent calls that do not hash.
    pub(crate) fn ordinary_calls(&self) -> u32 {
        self.without_hashing(self.instances)
    }

    /// Concurrent medium calls that do not hash.
    pub(crate) fn ordinary_medium_calls(&self) -> u32 {
        self.without_hashing(self.medium_calls)
    }

    fn without_hashing(&self, all: u32) -> u32 {
        all - self.hashing.min(all / 2)
    }
}

/// Why the host ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbortReason {
    Time,
    Duration,
    WriteTime,
    HostCalls,
    Memory,
    NoMemoryLeft,
    LongRefusal,
    LongMessage,
    LongList,
    LongName,
    SecondTransaction,
    OtherContext,
}

impl AbortReason {
    /// What the caller is told, or else what is the component's fault.
    fn refusal(self) -> Result<Refusal, &'static str> {
        Err(match self {
            Self::Time => return Ok(Refusal::CallTooBusy),
            Self::Duration => return Ok(Refusal::CallTooLong),
            Self::WriteTime => return Ok(Refusal::CallKeptOthers),
            Self::NoMemoryLeft => return Ok(Refusal::TooManyLargeCalls),
            Self::HostCalls => "the component called its host too often",
            Self::Memory => "the component asked for more memory than a call may have",
            Self::LongRefusal => "the component's refusal is too long",
            Self::LongMessage => "the component's message for the log is too long",
            Self::LongList => "the component passed its host a list that is too long",
            Self::LongName => "the component looked up an icon for a name that is too long",
            Self::SecondTransaction => "the component began a transaction while it held another",
            Self::OtherContext => "the component began a transaction with the context of another call",
        })
    }
}

/// What is not a limit, among metrics: a trap, or an error of the host.
const TRAP: &str = "trap";

/// Shows all of them from the start, so that the first of a kind is an increase.
pub(crate) fn show_metrics() {
    use AbortReason as Reason;
    let reasons = [
        Reason::Time,
        Reason::Duration,
        Reason::WriteTime,
        Reason::HostCalls,
        Reason::Memory,
        Reason::NoMemoryLeft,
        Reason::LongRefusal,
        Reason::LongMessage,
        Reason::LongList,
        Reason::LongName,
        Reason::SecondTransaction,
        Reason::OtherContext,
    ];
    for name in reasons.map(Reason::name).into_iter().chain([TRAP]) {
        metrics::ENDED.record(&name, |_| {});
    }
}

impl AbortReason {
    /// The name of the limit, among metrics.
    fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Duration => "duration",
            Self::WriteTime => "write-time",
            Self::HostCalls => "host-calls",
            Self::Memory => "memory",
            Self::NoMemoryLeft => "memory-of-all",
            Self::LongRefusal => "refusal",
            Self::LongMessage => "log-message",
            Self::LongList => "entries",
            Self::LongName => "icon-name",
            Self::SecondTransaction => "second-transaction",
            Self::OtherContext => "other-context",
        }
    }
}

impl fmt::Display for AbortReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refusal() {
            Ok(refusal) => refusal.fmt(formatter),
            Err(fault) => formatter.write_str(fault),
        }
    }
}

impl std::error::Error for AbortReason {}

/// The error of a call that the host or a trap ended.
pub(crate) fn trapped(error: wasmtime::Error) -> Error {
    let reason = error.downcast_ref::<AbortReason>();
    metrics::ENDED.record(&reason.map_or(TRAP, |reason| reason.name()), Counter::increment);
    match reason.map(|reason| reason.refusal()) {
        Some(Ok(refusal)) => refusal.into(),
        _ => Error::internal(anyhow::Error::from(error).context("the component failed")),
    }
}

/// Whether a call holds a write transaction.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Writing {
    No,
    /// It was waiting for other writers when we last looked.
    Waiting,
    /// It has made other writers wait since then.
    Since(Instant),
}

/// What one call may still use.
pub(crate) struct Budget {
    began: Instant,
    duration: Duration,
    write_time: Duration,
    pub writing: Writing,
    pub collisions: Collisions,
    pub meter: Meter,
    time: Duration,
    host_calls: u32,
    /// Messages that the log still accepts.
    pub log_messages: u32,
}

/// How often a component that runs lets others run, and is ended if it has used its time. An instruction that copies
/// memory is not interrupted: it takes as long as [`Limits::memory`] allows.
pub(crate) const TICK: Duration = Duration::from_millis(10);

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        Self {
            began: Instant::now(),
            duration: limits.duration,
            write_time: limits.write_time,
            writing: Writing::No,
            collisions: Collisions::new(limits.retry_wait),
            meter: Meter::default(),
            time: limits.time,
            host_calls: limits.host_calls,
            log_messages: limits.log_messages,
        }
    }

    /// Counts a call of the host.
    pub fn count_host_call(&mut self) -> Result<(), AbortReason> {
        self.host_calls = self.host_calls.checked_sub(1).ok_or(AbortReason::HostCalls)?;
        self.check_time()
    }

    /// When the call has to end even if it waits, and for which reason.
    pub fn end(&self) -> (Instant, AbortReason) {
        let end_of_call = self.began + self.duration;
        match self.writing {
            Writing::Since(since) if since + self.write_time < end_of_call => {
                (since + self.write_time, AbortReason::WriteTime)
            }
            _ => (end_of_call, AbortReason::Duration),
        }
    }

    /// Ends a call that has used its time.
    pub fn check_time(&self) -> Result<(), AbortReason> {
        if self.meter.used() > self.time {
            return Err(AbortReason::Time);
        }
        if self.began.elapsed() > self.duration {
            return Err(AbortReason::Duration);
        }
        match self.writing {
            Writing::Since(since) if since.elapsed() > self.write_time => Err(AbortReason::WriteTime),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(instances: u32, medium_calls: u32, hashing: u32) -> Limits {
        let limits = Limits {
            instances,
            medium_calls,
            hashing,
            ..Limits::default()
        };
        limits.settled()
    }

    #[test]
    fn what_is_set_apart_for_hashing_is_part_of_the_whole() {
        for (given, hashing, instances, medium) in [
            ((128, 16, 2), 2, 126, 14),
            ((128, 16, 8), 8, 120, 8),
            ((4, 16, 8), 2, 2, 14),
            ((128, 2, 2), 1, 127, 1),
            ((128, 16, 0), 1, 127, 15),
            // At least one of each, which may then be one more than stated.
            ((1, 1, 2), 1, 1, 1),
            ((1, 0, 2), 1, 1, 0),
        ] {
            let limits = limits(given.0, given.1, given.2);
            assert_eq!(limits.hashing, hashing, "{given:?}");
            assert_eq!(limits.ordinary_calls(), instances, "{given:?}");
            assert_eq!(limits.ordinary_medium_calls(), medium, "{given:?}");
        }
    }
}
