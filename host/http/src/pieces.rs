//! Bodies assembled from texts.
//!
//! Invariants: a text of [`LARGE`] bytes or more is not copied, and is counted until hyper has dropped its
//! bytes ([`Held`]); smaller texts are joined, so that a body of many is written in few steps. A body's
//! length is known. A body that was made elsewhere is counted as a whole ([`counted`]).

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};

use crate::outgoing::{Connection, Held, LARGE};

/// Small texts are joined up to about this size, in bytes.
pub(crate) const JOINED: usize = 64 << 10;

/// A counted text: the owner of the bytes that hyper writes.
struct CountedText {
    text: String,
    _held: Held,
}

impl AsRef<[u8]> for CountedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// A body in the making.
pub(crate) struct Pieces<'a> {
    connection: &'a Arc<Connection>,
    parts: Vec<Bytes>,
    open: String,
}

impl<'a> Pieces<'a> {
    /// For an answer on this connection, with room for this many bytes of small texts.
    pub fn new(connection: &'a Arc<Connection>, capacity: usize) -> Self {
        Self {
            connection,
            parts: Vec::new(),
            open: String::with_capacity(capacity),
        }
    }

    /// Appends a small text.
    pub fn push(&mut self, text: &str) {
        self.open.push_str(text);
    }

    /// Appends a text of any size. `held`: its count, if it is counted already.
    pub fn push_answer(&mut self, text: String, held: Option<Held>) {
        if text.len() < LARGE {
            self.open.push_str(&text);
            if self.open.len() >= JOINED {
                self.close();
            }
            return;
        }
        self.close();
        self.add(text, held);
    }

    /// The texts so far.
    pub fn into_parts(mut self) -> Vec<Bytes> {
        self.close();
        self.parts
    }

    /// The texts as a body of known length.
    pub fn into_body(self) -> Body {
        let mut parts = self.into_parts();
        match parts.len() {
            0 => Body::empty(),
            1 => parts.pop().map_or_else(Body::empty, Body::from),
            _ => Body::new(InParts {
                left: parts.iter().map(|part| part.len() as u64).sum(),
                parts: parts.into_iter(),
            }),
        }
    }

    fn close(&mut self) {
        let text = std::mem::take(&mut self.open);
        if text.len() >= LARGE {
            self.add(text, None);
        } else if !text.is_empty() {
            self.parts.push(text.into());
        }
    }

    fn add(&mut self, mut text: String, held: Option<Held>) {
        // Spare capacity would not be counted.
        text.shrink_to_fit();
        let _held = held.unwrap_or_else(|| self.connection.hold(text.len()));
        self.parts.push(Bytes::from_owner(CountedText { text, _held }));
    }
}

/// A body of one text; a large one is counted.
pub(crate) fn body(connection: &Arc<Connection>, text: String) -> Body {
    if text.len() < LARGE {
        return text.into();
    }
    let mut pieces = Pieces::new(connection, 0);
    pieces.push_answer(text, None);
    pieces.into_body()
}

/// A part of a body that was made elsewhere.
struct CountedBytes {
    bytes: Bytes,
    _held: Arc<Held>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body that was made elsewhere; a large one of known length is counted from now on.
pub(crate) fn counted(connection: &Arc<Connection>, body: Body) -> Body {
    let size = body.size_hint().exact().unwrap_or_default() as usize;
    if size < LARGE {
        return body;
    }
    let held = Arc::new(connection.hold(size));
    Body::new(CountedBody { body, held })
}

struct CountedBody {
    body: Body,
    held: Arc<Held>,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let counted = |bytes| {
            let _held = self.held.clone();
            Bytes::from_owner(CountedBytes { bytes, _held })
        };
        Poll::Ready(frame.map(|frame| Ok(frame?.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body in parts; each is freed as soon as it is written.
struct InParts {
    parts: std::vec::IntoIter<Bytes>,
    left: u64,
}

impl hyper::body::Body for InParts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.parts.next();
        self.left -= part.as_ref().map_or(0, |part| part.len() as u64);
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::outgoing::Outgoing;

    #[test]
    fn a_large_text_is_counted_until_its_bytes_are_dropped_and_a_small_one_never() {
        let outgoing = Outgoing::new(1 << 20);
        let connection = outgoing.connect();
        let mut pieces = Pieces::new(&connection, 0);
        pieces.push("[");
        pieces.push_answer("a".repeat(LARGE), None);
        pieces.push(",");
        pieces.push_answer("b".repeat(LARGE - 1), None);
        pieces.push("]");
        let mut parts = pieces.into_parts();
        let sizes: Vec<_> = parts.iter().map(Bytes::len).collect();
        assert_eq!(sizes, [1, LARGE, LARGE + 1]);
        assert_eq!(
            (connection.held(), outgoing.load()),
            (2 * LARGE + 1, 2 * LARGE + 1)
        );
        let half = parts.remove(1).split_off(LARGE / 2);
        assert_eq!(connection.held(), 2 * LARGE + 1, "half of it is still there");
        drop((half, parts));
        assert_eq!(connection.held(), 0);
        drop(body(&connection, "c".repeat(LARGE - 1)));
    }

    #[tokio::test]
    async fn a_large_body_of_another_maker_is_counted_until_its_bytes_are_dropped() {
        let outgoing = Outgoing::new(1 << 20);
        let connection = outgoing.connect();
        let body = counted(&connection, Body::from("a".repeat(LARGE)));
        assert_eq!(body.size_hint().exact(), Some(LARGE as u64));
        let bytes = body.collect().await.expect("it is in memory").to_bytes();
        assert_eq!((connection.held(), bytes.len()), (LARGE, LARGE));
        drop(bytes);
        assert_eq!(connection.held(), 0);
        let _small = counted(&connection, Body::from("c".repeat(LARGE - 1)));
        assert_eq!(connection.held(), 0);
    }
}
