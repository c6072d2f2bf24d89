//! The socket of a connection: it tells the budget when the client does not read, or has ended its side, and lingers when
//! it is shut down.
//!
//! The kernel shows what a client reads in steps of up to about [`UNSENT`] bytes, so a client that reads at the minimum
//! rate seems to read nothing for the duration of a step. The grace period is longer by that time.

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
};
use tracing::debug;

use crate::{
    budget::{LeastRate, Transfer},
    linger::Linger,
    settings::HttpLimits,
};

/// How much the kernel buffers beyond what is in flight to the client, in bytes. With megabytes, its
/// default, a slow client would seem to have stalled between two steps.
const UNSENT: u32 = 128 << 10;

/// The longest wait for a step of progress, however low the minimum rate is.
const LONGEST_STEP: Duration = Duration::from_secs(2 * 60);

/// The minimum rate at which clients must read from a socket.
pub(crate) fn least_rate(limits: &HttpLimits) -> LeastRate {
    let rate = limits.write_rate;
    let step = match rate {
        0 => Duration::ZERO,
        rate => Duration::from_secs_f64(f64::from(UNSENT) / rate as f64).min(LONGEST_STEP),
    };
    LeastRate {
        grace: limits.write_time.saturating_add(step),
        rate,
    }
}

/// Sets up a listener so that its connections show progress in small steps.
pub(crate) fn prepare(listener: &TcpListener) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = socket2::SockRef::from(listener).set_tcp_notsent_lowat(UNSENT) {
        debug!(%error, "a listener without TCP_NOTSENT_LOWAT");
    }
}

pub(crate) struct Socket {
    stream: TcpStream,
    linger: Linger,
    transfer: Arc<Transfer>,
    /// Whether it accepts nothing at the moment.
    is_blocked: bool,
    /// Whether the client has ended its side.
    has_ended: bool,
}

impl Socket {
    pub fn new(stream: TcpStream, transfer: Arc<Transfer>) -> Self {
        Self {
            stream,
            linger: Linger::default(),
            transfer,
            is_blocked: false,
            has_ended: false,
        }
    }

    /// Notes what the socket accepted. The budget is told only about sockets that block, because most never do.
    fn note(&mut self, wrote: &Poll<io::Result<usize>>) {
        match wrote {
            Poll::Ready(Ok(bytes)) if self.is_blocked || self.has_ended => self.transfer.advance(*bytes),
            Poll::Pending if !self.is_blocked => self.transfer.wait(),
            _ => {}
        }
        self.is_blocked = wrote.is_pending();
    }

    /// Looks whether the client has ended its side, which hyper does not do while the answer is made. The task is woken
    /// when it does so. Fails if the client is gone for sure. The end is not seen behind another request that waits to
    /// be read.
    fn look_for_end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let mut byte = [0];
        if let Poll::Ready(peeked) = self.stream.poll_peek(context, &mut ReadBuf::new(&mut byte))
            && peeked? == 0
        {
            self.has_ended = true;
            self.transfer.end();
        }
        Ok(())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The kernel then discards what the client has not read. It fails if the connection is gone.
        if self.is_blocked && self.transfer.is_cut() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&wrote);
        wrote
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(&wrote);
        wrote
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes each time that it has nothing more to do.
        self.look_for_end(context)?;
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

    #[test]
    fn the_grace_period_is_the_write_time_and_one_step() {
        for (rate, seconds) in [(0, 30), (1, 150), (1024, 150), (128 << 10, 31)] {
            let limits = HttpLimits {
                write_rate: rate,
                ..HttpLimits::default()
            };
            assert_eq!(least_rate(&limits).grace, Duration::from_secs(seconds), "{rate}");
        }
    }
}
