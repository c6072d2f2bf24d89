//! Calls whose transactions collide with others, in a dashboard that embeds the library: the host
//! waits before each further try, and logs the calls that it gives up.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use portico::{Authentication, Code, Error, Identity, Limits, Plugin, Random};
use portico_model::{App, AppInput};
use portico_storage::{self as storage, Access, CallContext, Storage, Transaction, memory::MemoryStorage};
use portico_tests::SeededBytes;
use tokio::{
    select,
    sync::{Barrier, Notify},
    task::JoinSet,
    time::sleep,
};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Answers `retry` to the first write transactions, this many.
struct Refusing {
    inner: MemoryStorage,
    refusals: AtomicU32,
    /// When each of them wanted to begin.
    began: Mutex<Vec<Instant>>,
    begins: Notify,
}

impl Refusing {
    fn new(refusals: u32) -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStorage::new(),
            refusals: AtomicU32::new(refusals),
            began: Mutex::default(),
            begins: Notify::new(),
        })
    }

    /// The times between two tries, in milliseconds.
    fn gaps(&self) -> Vec<f64> {
        let began = self.began.lock().unwrap();
        let gap = |pair: &[Instant]| (pair[1] - pair[0]).as_secs_f64() * 1000.0;
        began.windows(2).map(gap).collect()
    }
}

#[async_trait]
impl Storage for Refusing {
    async fn begin(&self, access: Access, context: &CallContext) -> storage::Result<Box<dyn Transaction>> {
        if access == Access::Write {
            self.began.lock().unwrap().push(Instant::now());
            self.begins.notify_one();
            let one_less = |left: u32| left.checked_sub(1);
            let refused = self
                .refusals
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
            if refused.is_ok() {
                return Err(storage::Error::Retry);
            }
        }
        self.inner.begin(access, context).await
    }
}

/// Of all who write at the same time the first to end wins, as in a database that cannot order them;
/// each takes a round trip.
struct Colliding {
    inner: MemoryStorage,
    commits: AtomicU64,
    collisions: AtomicU32,
    /// The first try of each begins at the same moment.
    together: Barrier,
    first_tries: AtomicU32,
}

/// More than a call has tries: without waits some are refused.
const WRITERS: u32 = 10;
const ROUND_TRIP: Duration = Duration::from_millis(2);

impl Colliding {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStorage::new(),
            commits: AtomicU64::new(0),
            collisions: AtomicU32::new(0),
            together: Barrier::new(WRITERS as usize),
            first_tries: AtomicU32::new(WRITERS),
        })
    }
}

#[async_trait]
impl Storage for Colliding {
    async fn begin(&self, access: Access, context: &CallContext) -> storage::Result<Box<dyn Transaction>> {
        if access == Access::Write {
            let one_less = |left: u32| left.checked_sub(1);
            let is_first = (self.first_tries).fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
            if is_first.is_ok() {
                self.together.wait().await;
            }
            let seen = self.commits.load(Ordering::SeqCst);
            sleep(ROUND_TRIP).await;
            let won = (self.commits).compare_exchange(seen, seen + 1, Ordering::SeqCst, Ordering::SeqCst);
            if won.is_err() {
                self.collisions.fetch_add(1, Ordering::SeqCst);
                return Err(storage::Error::Retry);
            }
        }
        self.inner.begin(access, context).await
    }
}

/// Every byte is this one: of the longest wait, as large a part as it is of 255.
struct Always(u8);

impl Random for Always {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(self.0);
    }
}

async fn plugin(storage: Arc<dyn Storage>, random: Arc<dyn Random>, retry_wait: Duration) -> Plugin {
    let limits = Limits {
        retry_wait,
        ..Limits::default()
    };
    let plugin = Plugin::builder(storage)
        .cache(portico_tests::cache())
        .random(random)
        .limits(limits);
    plugin.build().await.unwrap()
}

const AS_BY_DEFAULT: Duration = Duration::from_secs(5);

async fn create(plugin: &Plugin) -> Result<App, Error> {
    let admin = Identity::user("admin".into(), vec!["admin".into()], Authentication::Host);
    let input = AppInput {
        name: "Jellyfin".into(),
        icon_url: "/icon.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    };
    plugin.apps().create(&admin, input).await
}

#[tokio::test]
async fn a_call_that_collided_waits_longer_each_time_before_it_tries_again() {
    let storage = Refusing::new(5);
    let plugin = plugin(storage.clone(), Arc::new(Always(51)), AS_BY_DEFAULT).await;
    create(&plugin).await.expect("the sixth try succeeds");
    let gaps = storage.gaps();
    // A fifth of each bound.
    let least = [5.0, 15.0, 45.0, 135.0, 200.0];
    assert_eq!(gaps.len(), least.len());
    assert!(
        gaps.iter().zip(least).all(|(gap, least)| *gap >= least),
        "{gaps:?}"
    );
}

/// How many of the writers are refused, and how often they collided.
async fn write_together(retry_wait: Duration) -> (usize, u32) {
    let storage = Colliding::new();
    let plugin = plugin(storage.clone(), SeededBytes::new(14), retry_wait).await;
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let plugin = plugin.clone();
        writers.spawn(async move { create(&plugin).await.is_err() });
    }
    let refused = writers.join_all().await;
    let refused = refused.into_iter().filter(|refused| *refused).count();
    (refused, storage.collisions.load(Ordering::SeqCst))
}

#[tokio::test]
async fn ten_writers_that_collide_all_succeed_because_they_wait() {
    let (refused, collisions) = write_together(AS_BY_DEFAULT).await;
    assert_eq!(refused, 0);
    assert!(collisions >= WRITERS - 1, "only {collisions} collisions");
    // The same without waits, to see that it is the waits.
    let (refused, _) = write_together(Duration::ZERO).await;
    assert!(refused > 0, "they do not collide");
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_tries_no_more() {
    let storage = Refusing::new(u32::MAX);
    let plugin = plugin(storage.clone(), Arc::new(Always(255)), AS_BY_DEFAULT).await;
    select! {
        _ = create(&plugin) => panic!("it waits for 25 ms"),
        () = storage.begins.notified() => {}
    }
    let tries = || storage.began.lock().unwrap().len();
    let tried = tries();
    // It would wait for 75 ms before a third try.
    sleep(Duration::from_millis(500)).await;
    assert_eq!(tries(), tried);
}

/// A log to look at.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_in_the_log_with_its_procedure_and_its_request() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    let _log = subscriber
        .with_writer(move || writer.clone())
        .finish()
        .set_default();
    let storage = Refusing::new(6);
    let plugin = plugin(storage.clone(), Arc::new(Always(0)), AS_BY_DEFAULT).await;
    let refusal = create(&plugin).await.unwrap_err();
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    let (_, id) = refusal.message.rsplit_once("(request ").expect("a request");
    let request = id.trim_end_matches(')');
    let lines = log.lines();
    let has = |words: &[&str]| {
        let mut lines = lines.iter();
        lines.any(|line| line.contains("WARN") && words.iter().all(|word| line.contains(word)))
    };
    // What the component says, and what the host knows of it.
    assert!(
        has(&["portico::component", "gave up", "each of 6 tries", request]),
        "{lines:#?}"
    );
    assert!(
        has(&["app.create", "`retry` 6 times", "SERVICE_UNAVAILABLE", request]),
        "{lines:#?}"
    );
    assert!(!lines.iter().any(|line| line.contains("ERROR")), "{lines:#?}");
}
