//! The start of a host, which may wait: it says for what, and a signal ends it immediately.

use std::{fmt::Display, io, pin::pin, process, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::AbortHandle,
    time::timeout,
};
use tracing::info;

/// The time after which a start says what it waits for.
const SLOW: Duration = Duration::from_secs(1);

/// The signals that stop a host.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// From now on these signals do not end the process by themselves.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one of them.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// While this exists, a signal ends the process immediately, whatever it works on or waits for: nothing was answered yet, and
/// files and databases outlive a kill at any time.
pub struct Starting(AbortHandle);

impl Starting {
    pub fn begin() -> io::Result<Self> {
        let mut signals = StopSignals::new()?;
        let ending = tokio::spawn(async move {
            signals.next().await;
            info!("stopped by a signal while starting");
            process::exit(0);
        });
        Ok(Self(ending.abort_handle()))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Does a part of a start, and says what it waits for if that takes long.
pub async fn patiently<T>(what: impl Display, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(done) = timeout(SLOW, &mut work).await {
        return done;
    }
    info!("waiting for {what}");
    work.await
}
