//! The least rate at which a client must read.
//!
//! A client falls behind while its socket takes nothing. Each byte that the socket takes makes up for
//! the time that one byte takes at the least rate. The kernel shows what a client reads in steps of up
//! to about [`UNSENT`] bytes, so a client that reads at the least rate seems to take nothing for the
//! duration of a step. A client that is behind by the duration of a step and [`HttpLimits::write_time`]
//! is cut off. A client that reads at the least rate, in whatever steps, is therefore served to the end,
//! unless a step takes longer than [`LONGEST_STEP`]. Only time in which something waits to be written
//! counts.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::{Instant, Sleep, sleep},
};
use tracing::debug;

use crate::{linger::Linger, outgoing::Connection, settings::HttpLimits};

/// How much the kernel buffers beyond what is in flight to the client, in bytes. With megabytes, its
/// default, a slow client would seem to have stalled between two steps.
const UNSENT: u32 = 128 << 10;

/// The longest wait for a step of progress, however low the least rate is.
const LONGEST_STEP: Duration = Duration::from_secs(2 * 60);

/// The longest that a client may be behind, however large the setting is, so that adding it to the clock
/// does not overflow.
const LONGEST_PATIENCE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How far behind a client may be.
fn patience(limits: &HttpLimits) -> Duration {
    let step = match limits.write_rate {
        0 => Duration::ZERO,
        rate => Duration::from_secs_f64(f64::from(UNSENT) / rate as f64),
    };
    let patience = limits.write_time.saturating_add(step.min(LONGEST_STEP));
    patience.min(LONGEST_PATIENCE)
}

/// Sets up a listener so that its connections show progress in small steps.
pub(super) fn prepare(listener: &TcpListener) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = socket2::SockRef::from(listener).set_tcp_notsent_lowat(UNSENT) {
        debug!(%error, "a listener without TCP_NOTSENT_LOWAT");
    }
}

/// A connection that ends when its client reads too slowly, or to make room, and that lingers when it
/// is shut down.
pub(crate) struct Paced {
    stream: TcpStream,
    linger: Linger,
    connection: Arc<Connection>,
    patience: Duration,
    rate: u64,
    /// None until the socket blocks for the first time.
    behind: Option<Box<Behind>>,
}

struct Behind {
    by: Duration,
    /// When the socket stopped taking bytes; none while it takes them.
    since: Option<Instant>,
    end: Pin<Box<Sleep>>,
}

impl Paced {
    pub fn new(stream: TcpStream, connection: Arc<Connection>, limits: &HttpLimits) -> Self {
        Self {
            stream,
            linger: Linger::default(),
            connection,
            patience: patience(limits),
            rate: limits.write_rate,
            behind: None,
        }
    }

    /// Writes, and notes what the socket took.
    fn write(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.is_ended() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let wrote = write(Pin::new(&mut self.stream), context);
        match wrote {
            Poll::Ready(Ok(bytes)) => {
                if let Some(behind) = &mut self.behind
                    && behind.take(bytes, self.rate)
                {
                    self.connection.unblock();
                }
                wrote
            }
            Poll::Ready(Err(_)) => wrote,
            Poll::Pending => self.block(context),
        }
    }

    fn block(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let behind = self.behind.get_or_insert_with(Box::default);
        if behind.since.is_none() {
            behind.stop(self.patience);
            self.connection.block();
        }
        if self.connection.poll_ended(context.waker()) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if behind.end.as_mut().poll(context).is_ready() {
            debug!("a client reads too slowly and is cut off");
            self.connection.end();
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Whether it was told to end. That happens only to connections that were blocked.
    fn is_ended(&self) -> bool {
        self.behind.is_some() && self.connection.is_ended()
    }
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            by: Duration::ZERO,
            since: None,
            end: Box::pin(sleep(Duration::ZERO)),
        }
    }
}

impl Behind {
    /// The socket has stopped taking bytes.
    fn stop(&mut self, patience: Duration) {
        let now = Instant::now();
        self.since = Some(now);
        self.end.as_mut().reset(now + patience.saturating_sub(self.by));
    }

    /// The socket took this many bytes. Returns whether it had stopped before.
    fn take(&mut self, bytes: usize, rate: u64) -> bool {
        let since = self.since.take();
        self.by += since.map_or(Duration::ZERO, |since| since.elapsed());
        let worth = match rate {
            0 => self.by,
            rate => Duration::from_secs_f64(bytes as f64 / rate as f64),
        };
        self.by = self.by.saturating_sub(worth);
        since.is_some()
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        if self.behind.is_some() {
            self.connection.unblock();
        }
        // The kernel then discards what the client has not read. It fails where the connection is gone.
        if self.is_ended() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| {
            stream.poll_write_vectored(context, slices)
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, linger, .. } = self.get_mut();
        linger.poll_shutdown(stream, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest step of progress that was measured.
    const STEP: usize = 137_000;

    /// How many of a hundred steps a client takes at this rate before it is cut off.
    fn steps(rate: u64, limits: &HttpLimits) -> usize {
        let mut behind = Behind::default();
        let pause = Duration::from_secs_f64(STEP as f64 / rate as f64);
        for step in 0..100 {
            let start = Instant::now();
            behind.stop(patience(limits));
            if start + pause >= behind.end.deadline() {
                return step;
            }
            // As if the pause were over.
            behind.since = Some(start - pause);
            behind.take(STEP, limits.write_rate);
        }
        100
    }

    #[tokio::test]
    async fn a_client_that_reads_at_the_least_rate_in_large_steps_is_served_to_the_end() {
        let limits = HttpLimits::default();
        for rate in [1024, 2048, 4096] {
            assert_eq!(steps(rate, &limits), 100, "{rate} bytes a second");
        }
        assert!(steps(700, &limits) < 10, "less than the least rate");
    }

    #[test]
    fn patience_is_the_write_time_and_one_step() {
        for (rate, seconds) in [(0, 30), (1, 150), (1024, 150), (128 << 10, 31)] {
            let limits = HttpLimits {
                write_rate: rate,
                ..HttpLimits::default()
            };
            assert_eq!(patience(&limits), Duration::from_secs(seconds), "{rate}");
        }
    }

    #[tokio::test]
    async fn a_write_time_beyond_the_clock_is_a_long_one() {
        let limits = HttpLimits {
            write_time: Duration::MAX,
            ..HttpLimits::default()
        };
        let mut behind = Behind::default();
        behind.stop(patience(&limits));
        assert!(behind.end.deadline() > Instant::now() + Duration::from_secs(24 * 60 * 60));
    }
}
