//! Whether a connection works for its client or waits for it, for when the host stops.
//!
//! Calls that were accepted are finished. The host does not wait for a client that has sent half a
//! head or half a body and goes silent: its request was never complete.

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

/// How often a connection is looked at while the host stops.
const LOOK: Duration = Duration::from_millis(250);

/// What a connection does at the moment.
#[derive(Default)]
pub(crate) struct Activity {
    /// Requests whose answers are being made.
    answering: AtomicUsize,
    /// Whether one of them waits for more of its body.
    awaits_body: AtomicBool,
    /// Parts of bodies that have arrived.
    parts: AtomicU64,
}

impl Activity {
    /// Waits until the client has been silent for this long while the host waited for it to send.
    /// Silence does not count while answers wait for the client to read them: `has_unread`.
    pub async fn silence(&self, longest: Duration, has_unread: impl Fn() -> bool) {
        let mut look = interval(LOOK);
        let (mut silent, mut parts) = (Duration::ZERO, u64::MAX);
        while silent < longest {
            look.tick().await;
            let now = self.parts.load(Ordering::Relaxed);
            let waits = if self.answering.load(Ordering::Relaxed) == 0 {
                !has_unread()
            } else {
                self.awaits_body.load(Ordering::Relaxed) && now == parts
            };
            parts = now;
            silent = if waits { silent + LOOK } else { Duration::ZERO };
        }
    }
}

/// An answer is being made while this exists. A request carries it among its extensions; the tasks that
/// make a streamed answer keep it beyond the head.
pub(crate) struct Answering(Arc<Activity>);

impl Answering {
    pub fn begin(activity: Arc<Activity>) -> Self {
        activity.answering.fetch_add(1, Ordering::Relaxed);
        Self(activity)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a request, which notes whether the host waits for more of it.
pub(crate) struct WatchedBody {
    body: Incoming,
    activity: Arc<Activity>,
}

impl WatchedBody {
    pub fn new(body: Incoming, activity: Arc<Activity>) -> Self {
        Self { body, activity }
    }
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let activity = &self.activity;
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

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.activity.awaits_body.store(false, Ordering::Relaxed);
    }
}
