//! Whether a connection works for its client or waits for it, for when the host stops.
//!
//! Calls that were accepted are finished. A client that has sent half a head or half a body and goes
//! silent is not waited for: its request was never whole.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::interval;

use super::outgoing::Connection;

/// How often a connection is looked at while the host stops.
const LOOK: Duration = Duration::from_millis(250);

/// What a connection does at the moment.
#[derive(Default)]
pub(super) struct Activity {
    /// Requests whose answers are being made.
    answering: AtomicUsize,
    /// Whether one of them waits for more of its body.
    awaits_body: AtomicBool,
    /// Parts of bodies that have come.
    parts: AtomicU64,
}

/// An answer is being made as long as this exists.
pub(super) struct Answering(Arc<Connection>);

impl Answering {
    /// One more.
    pub fn begin(connection: Arc<Connection>) -> Self {
        connection.activity.answering.fetch_add(1, Ordering::Relaxed);
        Self(connection)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.activity.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    /// Comes to its end when the host stops and this client has sent nothing that was waited for, for so
    /// long. What waits for the client to read is looked after elsewhere.
    pub async fn silent_while_stopping(&self, longest: Duration) {
        self.outgoing().stopping().await;
        let mut look = interval(LOOK);
        let (mut silent, mut parts) = (Duration::ZERO, u64::MAX);
        while silent < longest {
            look.tick().await;
            let now = self.activity.parts.load(Ordering::Relaxed);
            let waits = if self.activity.answering.load(Ordering::Relaxed) == 0 {
                self.held() == 0
            } else {
                self.activity.awaits_body.load(Ordering::Relaxed) && now == parts
            };
            parts = now;
            silent = if waits { silent + LOOK } else { Duration::ZERO };
        }
    }
}

/// The body of a request, which says whether it is waited for.
pub(super) struct Awaited {
    body: Incoming,
    connection: Arc<Connection>,
}

impl Awaited {
    /// This body, of a request on this connection.
    pub fn new(body: Incoming, connection: Arc<Connection>) -> Self {
        Self { body, connection }
    }
}

impl Body for Awaited {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let activity = &self.connection.activity;
        activity.awaits_body.store(polled.is_pending(), Ordering::Relaxed);
        if polled.is_ready() {
            activity.parts.fetch_add(1, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.connection
            .activity
            .awaits_body
            .store(false, Ordering::Relaxed);
    }
}
