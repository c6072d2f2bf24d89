//! Progress and interruption of long work on files.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use portico_sqlite::Step;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::spawn_blocking,
};

use super::process::block_on;

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs work that copies a database. After SIGTERM, SIGHUP, SIGQUIT or Ctrl-C, the callback that the work
/// calls at each step returns false, and the work cleans up and stops.
pub fn interruptible<T: Send + 'static>(
    work: impl FnOnce(&mut dyn FnMut(Step) -> bool) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    block_on(async {
        let mut signals = Signals::new()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut working = spawn_blocking(move || {
            let mut progress = Progress::new();
            work(&mut |step| {
                progress.show(|| describe(step));
                !stopped.load(Ordering::Relaxed)
            })
        });
        tokio::select! {
            done = &mut working => return done?,
            () = signals.received() => {}
        }
        stop.store(true, Ordering::Relaxed);
        working.await?
    })
}

/// The signals that tell a command to stop: SIGTERM, SIGHUP, SIGQUIT and Ctrl-C.
pub struct Signals([Signal; 4]);

impl Signals {
    /// From now on these signals do not end the process.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::quit())?,
        ]))
    }

    /// Waits for one of them.
    pub async fn received(&mut self) {
        let [terminate, interrupt, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

fn describe(step: Step) -> String {
    match step {
        Step::Copying(done, all) => {
            let percent = (done * 100).checked_div(all).unwrap_or(100);
            format!("copying: {percent} % of {} MB", all / 1_000_000)
        }
        Step::Checking => "checking the copy".into(),
    }
}

/// A line on the terminal that is overwritten at each step and removed at the end.
pub struct Progress {
    started: Instant,
    /// The text on the line; empty if there is none.
    shown: String,
}

impl Progress {
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            shown: String::new(),
        }
    }

    pub fn show(&mut self, describe: impl FnOnce() -> String) {
        if self.started.elapsed() < PATIENCE || !std::io::stderr().is_terminal() {
            return;
        }
        let text = describe();
        if text != self.shown {
            self.write(&text);
            self.shown = text;
        }
    }

    /// Removes the text, before another line is written. The next step shows it again.
    pub fn clear(&mut self) {
        if !self.shown.is_empty() {
            self.write("");
            self.shown.clear();
        }
    }

    /// Errors are ignored: the terminal may be gone.
    fn write(&self, text: &str) {
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
