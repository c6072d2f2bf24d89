//! How a connection ends so that its last answer arrives.
//!
//! A request may be answered before its body is read: whoever may not call does not get to send
//! one. If the connection is closed while the rest is still on its way, the client's kernel learns
//! of it before the client has read the answer, and throws the answer away. So the host first says
//! that it sends no more, and then reads on for a while, without looking, until the client has
//! nothing left to send.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

/// A client that sends nothing for so long has nothing left to send.
const SILENCE: Duration = Duration::from_millis(500);

/// Nobody keeps a connection open for longer by sending on.
const LONGEST: Duration = Duration::from_secs(10);

/// A connection that lingers when it is shut down.
pub(super) struct Lingering {
    stream: TcpStream,
    ending: Option<Ending>,
}

struct Ending {
    silence: Pin<Box<Sleep>>,
    latest: Instant,
}

impl Lingering {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, ending: None }
    }

    /// Lets the kernel forget, when this is dropped, what the client has not read.
    pub fn reset(&self) {
        // A connection that is gone has nothing to forget.
        let _ = self.stream.set_zero_linger();
    }
}

impl AsyncRead for Lingering {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, ending } = self.get_mut();
        if ending.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        let ending = ending.get_or_insert_with(|| Ending {
            silence: Box::pin(sleep(SILENCE)),
            latest: Instant::now() + LONGEST,
        });
        let mut ignored = [0; 16 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut ignored);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    let now = Instant::now();
                    if now >= ending.latest {
                        return Poll::Ready(Ok(()));
                    }
                    ending.silence.as_mut().reset(now + SILENCE);
                }
                // It has closed its side, or is gone.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(ending.silence.as_mut().poll(context));
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}
