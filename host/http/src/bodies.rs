//! Bodies whose bytes are counted in a [budget](crate::budget).
//!
//! Invariants: a part of an answer counts until hyper has dropped its bytes, which it does when the socket has taken
//! them. The body of a request counts until its reader has all of it or gives up.

use std::{
    convert::Infallible,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    net::IpAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use axum::{BoxError, body::Body};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};

use portico_service::throttle::Source;

use crate::budget::{Budget, Cut, FREE, Held, Owner, Transfer, Work};

/// Small texts are joined up to about this size, in bytes.
const JOINED: usize = 64 << 10;

/// What a received frame takes in memory in addition to its bytes: a client may send each byte in a chunk of its own.
const AROUND_FRAME: usize = 64;

/// Bytes that are counted until they are dropped.
struct HeldBytes {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Counts bytes of an answer from now on, if they are many. If the sockets are not ours, nothing is counted.
pub(crate) fn hold(transfer: Option<&Arc<Transfer>>, mut bytes: Vec<u8>) -> Bytes {
    // Spare capacity would not be counted.
    bytes.shrink_to_fit();
    hold_bytes(transfer, bytes.into())
}

fn hold_bytes(transfer: Option<&Arc<Transfer>>, bytes: Bytes) -> Bytes {
    match transfer {
        Some(transfer) if bytes.len() >= FREE => {
            let _held = transfer.hold(bytes.len());
            Bytes::from_owner(HeldBytes { bytes, _held })
        }
        _ => bytes,
    }
}

/// Counts a body that was made elsewhere, if it is one of known length in memory.
pub(crate) async fn hold_body(transfer: &Arc<Transfer>, body: Body) -> Body {
    match body.size_hint().exact() {
        Some(size) if size >= FREE as u64 => match body.collect().await {
            Ok(whole) => hold_bytes(Some(transfer), whole.to_bytes()).into(),
            Err(error) => Body::from_stream(futures_util::stream::iter([Err::<Bytes, _>(error)])),
        },
        _ => body,
    }
}

/// A body that is being built: large parts are not copied, small ones are joined.
pub(crate) struct Parts<'a> {
    transfer: Option<&'a Arc<Transfer>>,
    parts: Vec<Bytes>,
    open: Vec<u8>,
}

impl<'a> Parts<'a> {
    pub fn new(transfer: Option<&'a Arc<Transfer>>) -> Self {
        Self {
            transfer,
            parts: Vec::new(),
            open: Vec::new(),
        }
    }

    pub fn push(&mut self, text: &str) {
        self.open.extend_from_slice(text.as_bytes());
        if self.open.len() >= JOINED {
            self.close();
        }
    }

    /// Appends bytes that are already counted, if they are many.
    pub fn push_bytes(&mut self, bytes: Bytes) {
        if bytes.len() < FREE {
            self.open.extend_from_slice(&bytes);
        } else {
            self.close();
            self.parts.push(bytes);
        }
    }

    pub fn into_parts(mut self) -> Vec<Bytes> {
        self.close();
        self.parts
    }

    /// The parts as a body of known length.
    pub fn into_body(self) -> Body {
        let mut parts = self.into_parts();
        match parts.len() {
            0 | 1 => Body::from(parts.pop().unwrap_or_default()),
            _ => Body::new(InParts {
                left: parts.iter().map(|part| part.len() as u64).sum(),
                parts: parts.into_iter(),
            }),
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            self.parts.push(hold(self.transfer, open));
        }
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

/// Who sends a request: its address, and its user as soon as that is known.
#[derive(Clone)]
pub(crate) struct Sender {
    peer: IpAddr,
    known: Arc<OnceLock<(Owner, IpAddr)>>,
}

impl Sender {
    pub fn new(peer: IpAddr) -> Self {
        let known = Arc::default();
        Self { peer, known }
    }

    /// Notes who it is: a user, or else an address.
    pub fn identify(&self, user: Option<&str>, address: Option<IpAddr>) {
        let address = address.unwrap_or(self.peer);
        self.known.get_or_init(|| (owner(user, address), address));
    }

    /// Its address: what a trusted proxy says, as soon as that is known.
    pub fn address(&self) -> IpAddr {
        self.known.get().map_or(self.peer, |(_, address)| *address)
    }

    fn owner(&self) -> Owner {
        let known = self.known.get().map(|(owner, _)| *owner);
        known.unwrap_or_else(|| owner(None, self.peer))
    }
}

fn owner(user: Option<&str>, address: IpAddr) -> Owner {
    let mut hasher = DefaultHasher::new();
    match user {
        Some(user) => user.hash(&mut hasher),
        None => Source::from(address).hash(&mut hasher),
    }
    Owner {
        is_anonymous: user.is_none(),
        id: hasher.finish(),
    }
}

/// The error of a request's body that was cut.
#[derive(Debug)]
pub(crate) struct WasCut;

impl fmt::Display for WasCut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the body arrived too slowly")
    }
}

impl std::error::Error for WasCut {}

/// The body of a request.
pub(crate) struct ReceivedBody {
    body: Incoming,
    budget: Arc<Budget>,
    sender: Sender,
    /// Counts it from the first read on.
    arriving: Option<Arriving>,
}

struct Arriving {
    transfer: Arc<Transfer>,
    held: Held,
    cut: Cut,
    _work: Work,
}

impl ReceivedBody {
    pub fn new(body: Incoming, budget: Arc<Budget>, sender: Sender) -> Self {
        Self {
            body,
            budget,
            sender,
            arriving: None,
        }
    }
}

impl Arriving {
    fn begin(budget: &Arc<Budget>, owner: Owner) -> Self {
        let (transfer, cut) = budget.open(owner);
        Self {
            held: transfer.hold(0),
            _work: transfer.begin_work(),
            transfer,
            cut,
        }
    }
}

impl hyper::body::Body for ReceivedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Self {
            body,
            budget,
            sender,
            arriving,
        } = self.get_mut();
        let arriving = arriving.get_or_insert_with(|| Arriving::begin(budget, sender.owner()));
        if arriving.cut.poll_unpin(context).is_ready() {
            return Poll::Ready(Some(Err(WasCut.into())));
        }
        let polled = Pin::new(body).poll_frame(context);
        match &polled {
            Poll::Pending => arriving.transfer.wait(),
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                arriving.transfer.advance(bytes);
                arriving.held.grow(bytes + AROUND_FRAME);
            }
            Poll::Ready(_) => {}
        }
        polled.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::tests::budget;

    #[tokio::test]
    async fn a_large_part_counts_until_its_bytes_are_dropped_and_a_small_one_never() {
        let budget = budget(1 << 20);
        let (transfer, _cut) = budget.open(Owner::default());
        let mut parts = Parts::new(Some(&transfer));
        parts.push("[");
        parts.push_bytes(hold(Some(&transfer), vec![b'a'; FREE]));
        parts.push(",");
        parts.push_bytes(hold(Some(&transfer), vec![b'b'; FREE - 1]));
        let mut parts = parts.into_parts();
        let sizes: Vec<_> = parts.iter().map(Bytes::len).collect();
        assert_eq!((&sizes[..], budget.counted()), (&[1, FREE, FREE][..], 2 * FREE));
        let half = parts.remove(1).split_off(FREE / 2);
        assert_eq!(budget.counted(), 2 * FREE, "half of it is still there");
        drop((half, parts));
        assert_eq!(budget.counted(), 0);
    }

    #[tokio::test]
    async fn a_large_body_of_another_maker_counts_until_its_bytes_are_dropped() {
        let budget = budget(1 << 20);
        let (transfer, _cut) = budget.open(Owner::default());
        let body = hold_body(&transfer, Body::from("a".repeat(FREE))).await;
        assert_eq!(body.size_hint().exact(), Some(FREE as u64));
        let bytes = body.collect().await.expect("it is in memory").to_bytes();
        assert_eq!((budget.counted(), bytes.len()), (FREE, FREE));
        drop(bytes);
        let _small = hold_body(&transfer, Body::from("c".repeat(FREE - 1))).await;
        assert_eq!(budget.counted(), 0);
    }

    #[tokio::test]
    async fn a_body_in_parts_has_a_known_length() {
        let mut parts = Parts::new(None);
        parts.push("[");
        parts.push_bytes(vec![b'a'; FREE].into());
        parts.push("]");
        let body = parts.into_body();
        assert_eq!(body.size_hint().exact(), Some(FREE as u64 + 2));
        assert_eq!(body.collect().await.expect("parts").to_bytes().len(), FREE + 2);
    }
}
