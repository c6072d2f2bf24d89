//! The transactions of one case, several of which may be open at the same time.
//!
//! The implementation decides which of two transactions waits or is refused. So each transaction is a track of its own,
//! and so is a call of the bridge that is sent while a transaction is open.
//! If a step gets no response while another transaction is open, its track waits; if it gets `retry`, its track goes
//! back to its `begin`. Both continue once the other transactions have ended. Invariants:
//! - The steps of a track are sent in order, each after the response to the previous one.
//! - `retry` is a failure unless another transaction was open at some time since `begin`.
//! - The responses of an attempt are checked when it ends, and not at all if it ends in `retry`.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cases::Expectation;
use crate::line::{Line, WAIT_TIMEOUT};
use crate::protocol::{Answer, Broken};
use crate::report::Failure;

/// A call without a response within this time counts as waiting for another transaction.
const WAITS: Duration = Duration::from_millis(100);

/// When several responses are awaited: how long to wait for each, in turn.
const SLICE: Duration = Duration::from_millis(5);

/// Why a case ends early.
pub(crate) enum Stop {
    Failure(Box<Failure>),
    Skip(String),
    Broken(Broken),
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// A step with its values expanded.
#[derive(Clone)]
pub(crate) struct Call {
    /// Which step of the case, from 1.
    pub number: usize,
    pub function: String,
    pub arguments: Value,
    pub expected: Expectation,
}

impl Call {
    /// The failure of this call, with the response that it got.
    pub fn failed(&self, transaction: Option<&str>, got: Option<Answer>) -> Stop {
        Stop::Failure(Box::new(self.failure(transaction, got)))
    }

    fn failure(&self, transaction: Option<&str>, got: Option<Answer>) -> Failure {
        Failure {
            step: self.number,
            transaction: transaction.map(str::to_owned),
            call: self.function.clone(),
            arguments: self.arguments.clone(),
            expected: self.expected.clone(),
            got,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Open; every step so far has a response.
    Open,
    /// Waits for the response to this request.
    Waiting(u64),
    /// Got `retry`: it will be tried again.
    Refused,
}

struct Track {
    /// `None`: a call of the bridge.
    name: Option<String>,
    /// Its steps so far.
    calls: Vec<Call>,
    /// How many of them have a response.
    done: usize,
    state: State,
    /// Whether another transaction has been open since this one began, or began again.
    competed: bool,
    /// The first response that was not as expected.
    mismatch: Option<Failure>,
}

/// The transactions that have not ended.
#[derive(Default)]
pub(crate) struct Tracks(Vec<Track>);

impl Track {
    fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }
}

impl Tracks {
    /// Adds a call to its transaction, and advances the transaction as far as possible now.
    pub fn step(&mut self, line: &mut Line, name: &str, call: Call) -> Result<(), Stop> {
        let found = self
            .0
            .iter()
            .position(|track| track.name.as_deref() == Some(name));
        let index = found.unwrap_or_else(|| self.add(Some(name)));
        self.0[index].calls.push(call);
        self.advance(line, index)?;
        self.settle(line)
    }

    /// Sends a call of the bridge while a transaction is open.
    pub fn ask_bridge(&mut self, line: &mut Line, call: Call) -> Result<(), Stop> {
        let index = self.add(None);
        self.0[index].calls.push(call);
        self.advance(line, index)?;
        self.settle(line)
    }

    /// Whether every transaction has ended.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a track; returns its index.
    fn add(&mut self, name: Option<&str>) -> usize {
        self.0.push(Track {
            name: name.map(str::to_owned),
            calls: Vec::new(),
            done: 0,
            state: State::Open,
            competed: false,
            mismatch: None,
        });
        self.0.len() - 1
    }

    /// As long as every transaction waits or was refused: waits for a response, or tries a refused one again.
    fn settle(&mut self, line: &mut Line) -> Result<(), Stop> {
        while !self.0.iter().any(|track| track.state == State::Open) {
            if self.0.iter().any(Track::is_waiting) {
                self.receive_any(line)?;
            } else if let Some(index) = self.0.iter().position(|track| track.state == State::Refused) {
                let track = &mut self.0[index];
                (track.state, track.competed) = (State::Open, false);
                self.advance(line, index)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Waits until a waiting transaction gets its response.
    fn receive_any(&mut self, line: &mut Line) -> Result<(), Stop> {
        let end = Instant::now() + WAIT_TIMEOUT;
        while Instant::now() < end {
            for index in 0..self.0.len() {
                if self.0[index].is_waiting() && self.receive(line, index, SLICE)? {
                    return Ok(());
                }
            }
        }
        match self.0.iter().find(|track| track.is_waiting()) {
            Some(track) => Err(track.calls[track.done].failed(track.name.as_deref(), None)),
            None => Ok(()),
        }
    }

    /// Sends the next calls of this track, as long as they get responses.
    fn advance(&mut self, line: &mut Line, index: usize) -> Result<(), Stop> {
        if self.0[index].is_waiting() {
            return self.receive(line, index, Duration::ZERO).map(drop);
        }
        if self.0[index].state == State::Refused || self.0[index].done == self.0[index].calls.len() {
            return Ok(());
        }
        let others = self.open_beside(index);
        let track = &mut self.0[index];
        let call = track.calls[track.done].clone();
        let name = track.name.clone();
        let id = line.send(name.as_deref(), &call.function, &call.arguments)?;
        track.state = State::Waiting(id);
        let answered = self.receive(line, index, if others { WAITS } else { WAIT_TIMEOUT })?;
        match answered || others {
            true => Ok(()),
            false => Err(call.failed(name.as_deref(), None)),
        }
    }

    /// Marks the transactions that are open at the same time. Returns whether another one is open.
    fn open_beside(&mut self, index: usize) -> bool {
        // Also a transaction that waits to begin: transactions may share a commit, and then get their responses
        // together.
        let is_open = |track: &Track| track.state != State::Refused;
        let others = (self.0.iter().enumerate()).any(|(other, track)| other != index && is_open(track));
        if others {
            let open = self.0.iter_mut().enumerate();
            open.filter(|(other, track)| *other == index || is_open(track))
                .for_each(|(_, track)| track.competed = true);
        }
        others
    }

    /// Waits for the response to this track's call, and checks it. Returns whether it came.
    fn receive(&mut self, line: &mut Line, index: usize, within: Duration) -> Result<bool, Stop> {
        let State::Waiting(id) = self.0[index].state else {
            return Ok(false);
        };
        match line.wait_for_answer(id, within)? {
            Some(answer) => self.judge(line, index, answer).map(|()| true),
            None => Ok(false),
        }
    }

    /// Drops every open transaction.
    pub fn abandon(&mut self, line: &mut Line) -> Result<(), Broken> {
        let (mut waiting, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(Track::is_waiting);
        let open = rest.iter().filter(|track| track.state == State::Open);
        for name in open.filter_map(|track| track.name.as_deref()) {
            line.drop_transaction(name)?;
        }
        let end = Instant::now() + WAIT_TIMEOUT;
        while !waiting.is_empty() && Instant::now() < end {
            let mut still = Vec::new();
            for track in waiting {
                let name = track.name.clone();
                match track.state {
                    State::Waiting(id) if line.wait_for_answer(id, SLICE)?.is_none() => still.push(track),
                    _ if track.calls[track.done].function == "commit" => {}
                    _ => {
                        if let Some(name) = name {
                            line.drop_transaction(&name)?;
                        }
                    }
                }
            }
            waiting = still;
        }
        Ok(())
    }

    fn judge(&mut self, line: &mut Line, index: usize, answer: Answer) -> Result<(), Stop> {
        let track = &mut self.0[index];
        let call = &track.calls[track.done];
        let ends = track.name.is_none()
            || matches!(&call.function[..], "commit" | "drop")
            || (call.function == "begin" && matches!(answer, Answer::Error(_)));
        if answer.is_retry() && track.competed {
            let name = track.name.clone();
            (track.state, track.done, track.mismatch) = (State::Refused, 0, None);
            // As the component does: it drops a transaction that was refused.
            if let Some(name) = name.filter(|_| !ends) {
                line.drop_transaction(&name)?;
            }
            return Ok(());
        }
        if track.name.is_none()
            && let Some(reason) = answer.unsupported()
        {
            return Err(Stop::Skip(reason));
        }
        let mismatch = match call.expected.is_met(&answer) {
            true => None,
            false => Some(call.failure(track.name.as_deref(), Some(answer))),
        };
        track.done += 1;
        track.state = State::Open;
        let at_once = !track.competed;
        if let Some(failure) = mismatch {
            track.mismatch.get_or_insert(failure);
        }
        if !ends {
            return match track.mismatch.take_if(|_| at_once) {
                Some(failure) => Err(Stop::Failure(Box::new(failure))),
                None => self.advance(line, index),
            };
        }
        let track = self.0.remove(index);
        match track.mismatch {
            Some(failure) => Err(Stop::Failure(Box::new(failure))),
            None => Ok(()),
        }
    }
}
