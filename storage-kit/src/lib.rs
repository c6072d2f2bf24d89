//! Tests an implementation of the interface `storage` of Portico's contract.
//!
//! The cases are data (`cases/*.yaml`): each states a rule of `wit/` and the steps that show whether it is satisfied. A
//! step is a call and its expected result. [`run()`] runs them against a [`Implementation`]: a Rust implementation in this
//! process (`InProcess`, with the feature `in-process`), or a child process that speaks JSON lines ([`Child`]).
//! [`main()`] is the command line. The README.md of this crate describes the protocol, the JSON of each type, and the
//! form of a case.
#![warn(missing_docs)]

#[cfg(feature = "in-process")]
mod bridge;
mod cases;
mod child;
mod command_line;
mod expand;
mod expect;
#[cfg(feature = "in-process")]
mod in_process;
mod line;
mod protocol;
mod report;
mod run;
mod tracks;

#[cfg(feature = "in-process")]
pub use bridge::{Board, Bridge, BridgeCall, BridgeError, Group};
pub use cases::{Case, Expectation, Need, Step, all};
pub use child::Child;
pub use command_line::main;
#[cfg(feature = "in-process")]
pub use in_process::InProcess;
pub use protocol::{Answer, Broken, Implementation, Request};
pub use report::{Failure, Outcome, Report};
pub use run::run;

/// Runs every case and panics with the report if a rule is broken.
///
/// It blocks the thread: call it from an ordinary `#[test]`, not from an asynchronous one.
pub fn assert_kept(mut target: impl Implementation) {
    let report = run(&mut target, &all(), |_| {});
    assert!(report.is_kept(), "{report}");
}
