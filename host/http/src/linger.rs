//! Ends a connection so that its last response arrives.
//!
//! The host may respond to a request before it has read the body, for example when the caller is not authorised. If it
//! closes the connection while the rest of the body is still arriving, the client's kernel learns of that before the
//! client has read the response, and discards the response. So the host first announces that it will send no more, and
//! then reads and discards until the client has nothing left to send.

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

/// A client that sends nothing for this long has nothing left to send.
const SILENCE: Duration = Duration::from_millis(500);

/// The connection is closed after this time even if the client still sends.
const LONGEST: Duration = Duration::from_secs(10);

/// The shutdown of a connection, in progress or not yet begun.
#[derive(Default)]
pub(crate) struct Linger(Option<Ending>);

struct Ending {
    silence: Pin<Box<Sleep>>,
    latest: Instant,
}

impl Linger {
    /// Shuts the stream down, and completes once it can be closed.
    pub fn poll_shutdown(
        &mut self,
        stream: &mut TcpStream,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if self.0.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        let ending = self.0.get_or_insert_with(|| Ending {
            silence: Box::pin(sleep(SILENCE)),
            latest: Instant::now() + LONGEST,
        });
        let mut discarded = [0; 16 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut discarded);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    let now = Instant::now();
                    if now >= ending.latest {
                        return Poll::Ready(Ok(()));
                    }
                    ending.silence.as_mut().reset(now + SILENCE);
                }
                // The client has closed its side, or is gone.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(ending.silence.as_mut().poll(context));
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}
