use std::{
    fs,
    path::Path,
    sync::{
        Condvar,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
};

use tempfile::TempDir;

use super::*;
use crate::hosts::{MOST_OF_ONE, MOST_WAITING_FOR_ONE};

const GIF: &[u8] = b"GIF89a";

/// A network that responds by the path of the URL, once it is open.
#[derive(Clone, Default)]
struct Answers {
    fetched: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
    open: Arc<(Mutex<bool>, Condvar)>,
    /// When a fetch from `silent.example` takes too long.
    timeout: Arc<(Mutex<bool>, Condvar)>,
}

impl Answers {
    fn open() -> Self {
        let answers = Self::default();
        answers.now_opens();
        answers
    }

    fn now_opens(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }

    fn now_times_out(&self) {
        *self.timeout.0.lock().unwrap() = true;
        self.timeout.1.notify_all();
    }

    fn count(&self) -> usize {
        self.fetched.load(SeqCst)
    }
}

impl Fetch for Answers {
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError> {
        self.fetched.fetch_add(1, SeqCst);
        let at_once = self.at_once.fetch_add(1, SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, SeqCst);
        if url.host_str() == Some("silent.example") {
            let mut is_over = self.timeout.0.lock().unwrap();
            while !*is_over {
                is_over = self.timeout.1.wait(is_over).unwrap();
            }
            drop(is_over);
            self.at_once.fetch_sub(1, SeqCst);
            return Err(IconError::TimedOut(Duration::from_secs(20)));
        }
        let mut is_open = self.open.0.lock().unwrap();
        while !*is_open {
            is_open = self.open.1.wait(is_open).unwrap();
        }
        drop(is_open);
        self.at_once.fetch_sub(1, SeqCst);
        match url.path() {
            "/gone" => Err(IconError::new("it is gone")),
            "/html" => Ok(b"<!doctype html><script>alert(1)</script>".to_vec()),
            "/panic" => panic!("part of the test"),
            _ => Ok(GIF.to_vec()),
        }
    }
}

#[derive(Default)]
struct SetClock(AtomicU64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        self.0.load(SeqCst)
    }
}

fn files(folder: &Path, network: &Answers) -> Arc<IconFiles> {
    files_by(folder, network, Arc::new(SetClock::default()))
}

fn files_by(folder: &Path, network: &Answers, clock: Arc<SetClock>) -> Arc<IconFiles> {
    let settings = IconFileSettings {
        clock,
        ..IconFileSettings::default()
    };
    IconFiles::with(folder.to_owned(), settings, network.clone(), network.clone())
}

fn is_gif(outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|picture| picture.bytes() == GIF)
}

#[tokio::test]
async fn a_picture_is_fetched_once_and_kept_over_restarts() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let first = files(folder.path(), &network);
    let url = "http://example.com/x.gif";
    assert!(!first.is_kept(url).await);
    for _ in 0..3 {
        assert!(is_gif(&first.get(url).await));
    }
    let second = files(folder.path(), &network);
    assert!(second.is_kept(url).await && is_gif(&second.get(url).await));
    // The fragment is not sent to the host.
    assert!(is_gif(&second.get(&format!("{url}#x")).await));
    assert_eq!(network.count(), 1);
    assert!(is_gif(&second.get("http://example.com/y.gif").await));
    assert_eq!(network.count(), 2);
}

#[tokio::test]
async fn fifty_callers_share_one_fetch() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::default());
    let files = files(folder.path(), &network);
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let files = files.clone();
            tokio::spawn(async move { files.get("http://example.com/x.gif").await })
        })
        .collect();
    network.now_opens();
    for call in calls {
        assert!(is_gif(&call.await.unwrap()));
    }
    assert_eq!(network.count(), 1);
}

#[tokio::test]
async fn sixteen_are_fetched_at_once_and_more_than_a_thousand_do_not_wait() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::default());
    let files = files(folder.path(), &network);
    let mut begun = Vec::new();
    for number in 0..MOST_WAITING {
        let url = Url::parse(&format!("http://{number}.example/")).unwrap();
        begun.push(files.fetching(Name::of(&url), url, ChosenBy::User).unwrap());
    }
    assert_eq!(files.get("http://example.com/more").await, Err(IconError::Busy));
    while network.count() < MOST_AT_ONCE {
        tokio::task::yield_now().await;
    }
    network.now_opens();
    for mut fetching in begun {
        fetching.wait_for(Option::is_some).await.unwrap();
    }
    assert_eq!(network.most_at_once.load(SeqCst), MOST_AT_ONCE);
    assert!(
        is_gif(&files.get("http://example.com/more").await),
        "it was not remembered"
    );
}

/// Starts fetches of this many icons of a host.
fn begin(files: &Arc<IconFiles>, host: &str, count: usize) -> Vec<Fetching> {
    let begin = |number| {
        let url = Url::parse(&format!("http://{host}/{number}.gif")).unwrap();
        files.fetching(Name::of(&url), url, ChosenBy::User).unwrap()
    };
    (0..count).map(begin).collect()
}

async fn outcome(mut fetching: Fetching) -> Outcome {
    let outcome = fetching.wait_for(Option::is_some).await.unwrap();
    outcome.clone().unwrap()
}

#[tokio::test]
async fn a_silent_host_has_two_fetches_and_the_icons_of_others_do_not_wait_for_it() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let clock = Arc::new(SetClock::default());
    let files = files_by(folder.path(), &network, clock.clone());
    let begun = begin(&files, "silent.example", 48);
    while network.count() < MOST_OF_ONE {
        tokio::task::yield_now().await;
    }
    for number in 0..50 {
        let other = format!("http://other-{number}.example/x.gif");
        assert!(is_gif(&files.get(&other).await));
    }
    assert_eq!(network.at_once.load(SeqCst), MOST_OF_ONE);

    network.now_times_out();
    let mut outcomes = HashMap::<String, usize>::new();
    for fetching in begun {
        let error = outcome(fetching).await.unwrap_err();
        *outcomes.entry(error.to_string()).or_default() += 1;
    }
    let expected = [
        (
            IconError::TimedOut(Duration::from_secs(20)).to_string(),
            MOST_OF_ONE,
        ),
        (IconError::Silent.to_string(), 48 - MOST_OF_ONE),
    ];
    assert_eq!(outcomes, HashMap::from(expected));
    let fetched = network.count();
    assert_eq!(
        files.get("http://silent.example/new.gif").await,
        Err(IconError::Silent)
    );
    assert_eq!(network.count(), fetched);
    clock.0.store(10_000, SeqCst);
    assert_eq!(
        files.get("http://silent.example/new.gif").await,
        Err(IconError::TimedOut(Duration::from_secs(20)))
    );
    assert_eq!(network.count(), fetched + 1);
}

#[tokio::test]
async fn a_host_for_which_many_wait_takes_no_place_from_others() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::default());
    let files = files(folder.path(), &network);
    let begun = begin(&files, "example.com", MOST_WAITING_FOR_ONE);
    assert_eq!(files.get("http://example.com/more").await, Err(IconError::Busy));
    let other = begin(&files, "other.example", 1);
    while network.count() < MOST_OF_ONE + 1 {
        tokio::task::yield_now().await;
    }
    network.now_opens();
    for fetching in begun.into_iter().chain(other) {
        assert!(is_gif(&outcome(fetching).await));
    }
    assert_eq!(network.most_at_once.load(SeqCst), MOST_OF_ONE + 1);
}

#[tokio::test]
async fn a_failure_is_remembered_for_five_minutes() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let clock = Arc::new(SetClock::default());
    let files = files_by(folder.path(), &network, clock.clone());
    for (url, words) in [
        ("http://example.com/gone", "it is gone"),
        ("http://example.com/html", "it is not a picture"),
    ] {
        clock.0.store(0, SeqCst);
        let before = network.count();
        for time in [0, 1, 5 * 60 * 1000 - 1] {
            clock.0.store(time, SeqCst);
            let error = files.get(url).await.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(network.count(), before + 1);
        clock.0.store(5 * 60 * 1000, SeqCst);
        files.get(url).await.unwrap_err();
        assert_eq!(network.count(), before + 2);
        assert!(!files.is_kept(url).await);
    }
}

#[tokio::test]
async fn failures_that_are_remembered_are_bounded() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let files = files(folder.path(), &network);
    let failed = Err(IconError::new("it is gone"));
    for number in 0..2 * MOST_FAILURES + 5 {
        let url = Url::parse(&format!("http://example.com/{number}")).unwrap();
        files.end(&Name::of(&url), &url, &failed);
        assert!(files.known().failed.len() <= MOST_FAILURES);
    }
}

#[tokio::test]
async fn a_fetch_that_panics_is_not_waited_for_for_ever() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let files = files(folder.path(), &network);
    for _ in 0..2 {
        assert_eq!(files.get("http://example.com/panic").await, Err(IconError::Busy));
    }
}

#[tokio::test]
async fn a_damaged_file_is_fetched_again() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let url = "http://example.com/x.gif";
    assert!(is_gif(&files(folder.path(), &network).get(url).await));
    let file = fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for damage in ["", "half", "<svg/>"] {
        fs::write(&file, damage).unwrap();
        let before = network.count();
        assert!(is_gif(&files(folder.path(), &network).get(url).await));
        assert_eq!(network.count(), before + 1);
        assert_eq!(fs::read(&file).unwrap(), GIF);
    }
}

#[tokio::test]
async fn a_picture_that_cannot_be_kept_is_served() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    let files = files(&file.join("icons"), &network);
    assert!(is_gif(&files.get("http://example.com/x.gif").await));
}

#[tokio::test]
async fn pictures_in_their_urls_are_not_kept_and_paths_are_refused() {
    let (folder, network) = (TempDir::new().unwrap(), Answers::open());
    let files = files(folder.path(), &network);
    let outcome = files.get("data:image/png;base64,R0lGODlh").await;
    assert_eq!(outcome.unwrap().content_type(), "image/gif", "by its content");
    for refused in ["data:image/png,hello", "/icons/x.svg", "mdi:home"] {
        assert!(files.get(refused).await.is_err(), "{refused}");
    }
    assert_eq!(network.count(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
