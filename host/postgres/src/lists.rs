//! The thread that reads long lists.
//!
//! A list without pages may have a million rows. The first few are read where the statement was asked for. The rest is
//! read on one thread of low priority, which all lists of the process share in turn: threads that serve requests only
//! pass the bytes on.

use std::future::pending;
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::thread;

use futures_util::{Stream, TryStreamExt};
use portico_storage::Error;
use portico_storage::priority::{end_step, lower_priority};
use tokio::runtime::{Builder, Handle};
use tokio::task::{AbortHandle, yield_now};

use super::failure::{Failure, Result};

/// How many rows are read on the thread that asks: more than a page has.
const FEW: usize = 256;

/// After so many rows it is the turn of another list.
const TURN: usize = 256;

/// The runtime of the thread, which ends with the process; none if the thread could not be started.
static THREAD: LazyLock<Option<Handle>> = LazyLock::new(|| {
    let (sender, started) = channel();
    let thread = thread::Builder::new().name("portico-lists".into());
    let spawned = thread.spawn(move || {
        lower_priority();
        if let Ok(runtime) = Builder::new_current_thread().build() {
            drop(sender.send(runtime.handle().clone()));
            runtime.block_on(pending::<()>());
        }
    });
    spawned.ok()?;
    started.recv().ok()
});

/// Adds rows to a value, one by one. If it is dropped, so are the rows.
pub(super) async fn fold<R, E, A>(
    rows: impl Stream<Item = std::result::Result<R, E>> + Send + 'static,
    value: A,
    add: impl FnMut(&mut A, &R) -> Result<()> + Send + 'static,
) -> Result<A>
where
    R: Send + 'static,
    A: Send + 'static,
    Failure: From<E>,
    E: 'static,
{
    let mut fold = Fold {
        rows: Box::pin(rows),
        value,
        add,
    };
    if fold.ends_within(FEW).await? {
        return Ok(fold.value);
    }
    let rest = async move {
        while !fold.ends_within(TURN).await? {
            yield_now().await;
        }
        Ok(fold.value)
    };
    let Some(thread) = &*THREAD else {
        return rest.await;
    };
    let rest = thread.spawn(rest);
    let _ends_with_this = AbortOnDrop(rest.abort_handle());
    let ended = |_| Failure::Storage(Error::Unavailable("a list has ended early".into()));
    rest.await.map_err(ended)?
}

/// Rows, and the value to which they are added.
struct Fold<S, A, F> {
    rows: Pin<Box<S>>,
    value: A,
    add: F,
}

impl<S, A, F> Fold<S, A, F> {
    /// Adds at most so many rows. Answers whether there are no more.
    async fn ends_within<R, E>(&mut self, most: usize) -> Result<bool>
    where
        S: Stream<Item = std::result::Result<R, E>>,
        F: FnMut(&mut A, &R) -> Result<()>,
        Failure: From<E>,
    {
        for _ in 0..most {
            match self.rows.try_next().await? {
                Some(row) => {
                    (self.add)(&mut self.value, &row)?;
                    end_step();
                }
                None => return Ok(true),
            }
        }
        Ok(false)
    }
}

/// Ends a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::task::Poll;

    use futures_util::stream::{self, StreamExt};

    use super::*;

    impl From<Infallible> for Failure {
        fn from(never: Infallible) -> Self {
            match never {}
        }
    }

    type Threads = BTreeMap<String, usize>;

    /// How many of these rows each thread has read.
    async fn threads(rows: usize) -> Threads {
        let numbers = stream::iter((0..rows).map(Ok::<_, Infallible>));
        let count = |threads: &mut Threads, _: &usize| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            *threads.entry(name).or_default() += 1;
            Ok(())
        };
        fold(numbers, Threads::new(), count).await.unwrap()
    }

    #[tokio::test]
    async fn the_thread_that_asks_reads_a_few_rows_and_another_one_the_rest() {
        let this = thread::current().name().unwrap().to_owned();
        assert_eq!(threads(FEW - 1).await, Threads::from([(this.clone(), FEW - 1)]));
        let expected = Threads::from([(this, FEW), ("portico-lists".into(), 100_000 - FEW)]);
        assert_eq!(threads(100_000).await, expected);
    }

    #[tokio::test]
    async fn an_error_in_the_rest_of_a_list_is_the_answer() {
        let numbers = stream::iter((0..10_000).map(Ok::<_, Infallible>));
        let read = fold(numbers, (), |(), number| match number {
            9_000 => Err(Failure::TooLarge),
            _ => Ok(()),
        });
        assert!(matches!(read.await, Err(Failure::TooLarge)));
    }

    #[tokio::test]
    async fn rows_are_dropped_with_the_call_that_reads_them() {
        let held = Arc::new(());
        let (row, mut numbers) = (held.clone(), 0..2 * FEW);
        // After these rows, no other ever comes.
        let rows = stream::poll_fn(move |_| match numbers.next() {
            Some(_) => Poll::Ready(Some(Ok::<_, Infallible>(row.clone()))),
            None => Poll::Pending,
        });
        let mut read = Box::pin(fold(rows.fuse(), (), |(), _| Ok(())));
        // It is with the other thread.
        while Arc::strong_count(&held) == 1 || !futures_util::poll!(&mut read).is_pending() {}
        drop(read);
        while Arc::strong_count(&held) > 1 {
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_list_that_waits_for_rows_keeps_no_other_from_being_read() {
        let waiting = stream::iter((0..=FEW).map(Ok::<_, Infallible>)).chain(stream::pending());
        let mut waiting = Box::pin(fold(waiting, (), |(), _| Ok(())));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(threads(10_000).await["portico-lists"], 10_000 - FEW);
    }
}
