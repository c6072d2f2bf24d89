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
    signal::unix::{SignalKind, signal},
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
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut quit = signal(SignalKind::quit())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut working = spawn_blocking(move || {
            let mut progress = Progress::new();
            work(&mut |step| {
                progress.show(step);
                !stopped.load(Ordering::Relaxed)
            })
        });
        tokio::select! {
            done = &mut working => return done?,
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
        stop.store(true, Ordering::Relaxed);
        working.await?
    })
}

/// A line on the terminal that is overwritten at each step and removed at the end.
struct Progress {
    started: Instant,
    /// The text on the line; empty if there is none.
    shown: String,
}

impl Progress {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            shown: String::new(),
        }
    }

    fn show(&mut self, step: Step) {
        if self.started.elapsed() < PATIENCE || !std::io::stderr().is_terminal() {
            return;
        }
        let text = match step {
            Step::Copying(done, all) => {
                let percent = (done * 100).checked_div(all).unwrap_or(100);
                format!("copying: {percent} % of {} MB", all / 1_000_000)
            }
            Step::Checking => "checking the copy".into(),
        };
        if text != self.shown {
            self.write(&text);
            self.shown = text;
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
        if !self.shown.is_empty() {
            self.write("");
        }
    }
}
