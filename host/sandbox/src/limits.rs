//! How far a call may go, and what ends one that goes further. `docs/sandbox.md` says it to people.

use std::{
    fmt,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use super::collisions::Collisions;
use portico_model::error::{Code, Error};

/// How far a call may go, and how many there are at once. Sizes are in bytes.
///
/// ```
/// let limits = portico_sandbox::Limits { instances: 32, ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Processor time of one call: the component's own, not what storage and icons take. Default: 5 s.
    pub time: Duration,
    /// From the beginning of a call to its end, whatever it waits for. Default: 30 s.
    pub duration: Duration,
    /// How long a call may hold a write transaction, during which all others wait to write. Less
    /// than they wait for their turn. Default: 5 s.
    pub write_time: Duration,
    /// Calls that run at once; more wait. Default: 128.
    pub instances: u32,
    /// Instances that wait for the next call of the user whom each has served. 0: every call gets a
    /// fresh one. Default: 64.
    pub warm: u32,
    /// How long an instance waits for that call, and how long what was hashed in stays resident. Default:
    /// 30 s.
    pub warm_time: Duration,
    /// How long a call waits for its turn, or for memory, before it is refused. Default: 10 s.
    pub wait: Duration,
    /// How long a call waits in all after its transactions collided with others (`retry`), before it
    /// tries again. 0: it tries again at once. Default: 5 s.
    pub retry_wait: Duration,
    /// Linear memory of one instance. Default: 256 MiB.
    pub memory: usize,
    /// Linear memory that every call has without asking. An ordinary call needs no more. Default: 2 MiB.
    pub small: usize,
    /// Linear memory of a medium call. One that hashes a password needs 20 MiB. Default: 32 MiB.
    pub medium: usize,
    /// Calls at once that hash a password; more wait. Default: one for each core.
    pub hashing: u32,
    /// Medium calls at once; more wait. Default: 16, or twice the cores.
    pub medium_calls: u32,
    /// Calls at once that are larger than that; more wait. Default: 3.
    pub large_calls: u32,
    /// What may cross from the component to the host in one call of an import, and in an answer.
    /// Less for a call with little memory: twice the memory that its size allows. Default: 256 MiB.
    pub transfer: usize,
    /// An answer without a list in it, as JSON; the texts of a refusal; a message for the log.
    /// Default: 4 MiB.
    pub record: usize,
    /// How often one call may call its host. Default: 20,000.
    pub host_calls: u32,
    /// Log messages of one call; the rest is dropped. Default: 32.
    pub log_messages: u32,
    /// What the log takes of one message; the rest is cut off. Default: 2,000.
    pub log_message: usize,
    /// Random bytes that one call of the import gives. Default: 4,096.
    pub random_bytes: usize,
    /// Entries of each table of one instance. Default: 20,000.
    pub table_elements: usize,
    /// The file of a component. Default: 16 MiB.
    pub file: usize,
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
            // Each core hashes one password; no less room must be left for others.
            medium_calls: 16.max(2 * cores),
            large_calls: 3,
            transfer: 256 << 20,
            record: 4 << 20,
            // The most that an honest call needs is 6,000: a user in 1,000 groups, tried six times.
            host_calls: 20_000,
            log_messages: 32,
            log_message: 2000,
            random_bytes: 4096,
            table_elements: 20_000,
            file: 16 << 20,
        }
    }
}

/// Why the host ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Time,
    Duration,
    WriteTime,
    HostCalls,
    Memory,
    NoMemoryLeft,
    LongRefusal,
    LongMessage,
    SecondTransaction,
}

impl Stop {
    fn message(self) -> &'static str {
        match self {
            Self::Time => "The call took more processor time than it may have",
            Self::Duration => "The call took too long",
            Self::WriteTime => "The call kept others from writing for too long",
            Self::HostCalls => "the component called its host too often",
            Self::Memory => "the component asked for more memory than a call may have",
            Self::NoMemoryLeft => "Too many large calls at once; try again in a moment",
            Self::LongRefusal => "the component's refusal is too long",
            Self::LongMessage => "the component's message for the log is too long",
            Self::SecondTransaction => "the component began a transaction while it held another",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for Stop {}

/// What came of a call that did not come to its end.
pub(super) fn trapped(error: wasmtime::Error) -> Error {
    match error.downcast_ref::<Stop>() {
        Some(stop @ (Stop::Time | Stop::Duration | Stop::WriteTime)) => {
            Error::new(Code::Timeout, stop.message())
        }
        Some(stop @ Stop::NoMemoryLeft) => Error::new(Code::ServiceUnavailable, stop.message()),
        _ => Error::internal(anyhow::Error::from(error).context("the component failed")),
    }
}

/// Whether a call has a write transaction.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Writing {
    No,
    /// It had not had its turn when we looked last.
    Waiting,
    /// Others wait for it.
    Since(Instant),
}

/// What is left to one call.
pub(super) struct Budget {
    began: Instant,
    duration: Duration,
    write_time: Duration,
    pub writing: Writing,
    pub collisions: Collisions,
    ticks: u32,
    host_calls: u32,
    /// Messages that the log still takes.
    pub log_messages: u32,
}

/// One tick of the clock that counts a call's processor time.
pub(super) const TICK: Duration = Duration::from_millis(10);

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        Self {
            began: Instant::now(),
            duration: limits.duration,
            write_time: limits.write_time,
            writing: Writing::No,
            collisions: Collisions::none(limits.retry_wait),
            ticks: (limits.time.as_millis() / TICK.as_millis()) as u32,
            host_calls: limits.host_calls,
            log_messages: limits.log_messages,
        }
    }

    /// Counts a tick in which the component ran.
    pub fn count_tick(&mut self) -> Result<(), Stop> {
        self.ticks = self.ticks.checked_sub(1).ok_or(Stop::Time)?;
        self.look_at_the_clock()
    }

    /// Counts a call of the host.
    pub fn count_host_call(&mut self) -> Result<(), Stop> {
        self.host_calls = self.host_calls.checked_sub(1).ok_or(Stop::HostCalls)?;
        self.look_at_the_clock()
    }

    /// When the call has to end, whatever it waits for, and why then.
    pub fn end(&self) -> (Instant, Stop) {
        let of_call = self.began + self.duration;
        match self.writing {
            Writing::Since(since) if since + self.write_time < of_call => {
                (since + self.write_time, Stop::WriteTime)
            }
            _ => (of_call, Stop::Duration),
        }
    }

    fn look_at_the_clock(&self) -> Result<(), Stop> {
        if self.began.elapsed() > self.duration {
            return Err(Stop::Duration);
        }
        match self.writing {
            Writing::Since(since) if since.elapsed() > self.write_time => Err(Stop::WriteTime),
            _ => Ok(()),
        }
    }
}
