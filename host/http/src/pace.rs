//! How slowly a client may read.
//!
//! A client whose socket takes nothing falls behind; every byte that it takes makes up for the time
//! that this byte may take at the least rate. One that is behind by the longest time is cut off. So
//! a client that takes nothing has that long, and one that reads at the least rate, in whatever
//! steps, is served to the end. Only time in which something waits to be written counts.

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

use super::{HttpLimits, linger::Lingering, outgoing::Connection};

/// How much the kernel takes beyond what is under way to the client, in bytes. If it took megabytes,
/// as it may, a slow client would seem to stand still between two of them.
const UNSENT: u32 = 128 << 10;

/// Sets up a listener so that progress on its connections is seen in small steps.
pub(super) fn prepare(listener: &TcpListener) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = socket2::SockRef::from(listener).set_tcp_notsent_lowat(UNSENT) {
        debug!(%error, "a listener without TCP_NOTSENT_LOWAT");
    }
}

/// A connection that ends when its client reads too slowly, or when it has to make room.
pub(super) struct Paced {
    stream: Lingering,
    connection: Arc<Connection>,
    longest: Duration,
    rate: u64,
    /// Since the socket took less than it was offered for the first time.
    behind: Option<Box<Behind>>,
}

struct Behind {
    by: Duration,
    /// When the socket stopped to take anything, unless it takes something now.
    since: Option<Instant>,
    end: Pin<Box<Sleep>>,
}

impl Paced {
    pub fn new(stream: TcpStream, connection: Arc<Connection>, limits: &HttpLimits) -> Self {
        Self {
            stream: Lingering::new(stream),
            connection,
            longest: limits.write_time,
            rate: limits.write_rate,
            behind: None,
        }
    }

    /// Takes note of what the socket took.
    fn note(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(bytes)) => {
                if let Some(behind) = &mut self.behind {
                    behind.take(bytes, self.rate, &self.connection);
                }
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.block(context),
        }
    }

    fn block(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let longest = self.longest;
        let behind = self.behind.get_or_insert_with(|| {
            Box::new(Behind {
                by: Duration::ZERO,
                since: None,
                end: Box::pin(sleep(longest)),
            })
        });
        if behind.since.is_none() {
            let now = Instant::now();
            behind.since = Some(now);
            behind.end.as_mut().reset(now + longest.saturating_sub(behind.by));
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

    /// Whether it was told to end. Only a connection that was blocked is.
    fn is_ended(&self) -> bool {
        self.behind.is_some() && self.connection.is_ended()
    }
}

impl Behind {
    fn take(&mut self, bytes: usize, rate: u64, connection: &Connection) {
        if let Some(since) = self.since.take() {
            self.by += since.elapsed();
            connection.unblock();
        }
        let worth = match rate {
            0 => self.by,
            rate => Duration::from_secs_f64(bytes as f64 / rate as f64),
        };
        self.by = self.by.saturating_sub(worth);
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        if self.behind.is_some() {
            self.connection.unblock();
        }
        // What its client did not read is not kept in the kernel either.
        if self.is_ended() {
            self.stream.reset();
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
        if self.is_ended() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_ended() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
