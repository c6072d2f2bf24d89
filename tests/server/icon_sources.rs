//! Icon sources against a real HTTP server on this machine.

pub mod index_server;

use std::{
    fs,
    net::TcpListener,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use portico_model::Timestamp;
use portico_sandbox::icons::{Icons, NamedIcon};
use portico_server::icons::{IconSettings, IconSource, IconSources};
use portico_storage::MemoryRecords;
use portico_tests::clock::{DAY, MINUTE};
use portico_tests::{PATIENCE, TestClock, until};
use tempfile::TempDir;

use index_server::{Reply, Server, TREE};

const DEFAULT: &str = "/icons/default.svg";
const FLAT: &str = r#"{"files":[{"name":"/svg/plex.svg"},{"name":"/svg/grafana-dark.svg"}]}"#;

/// A call that waits for a source waits at least this long.
const WAIT: Duration = Duration::from_millis(1_900);

/// 2027-01-15T08:00:00Z.
const TODAY: Timestamp = 1_800_000_000_000;

fn icons(servers: &[&Server], cache: &Path, clock: &Arc<TestClock>) -> IconSources {
    let sources = servers
        .iter()
        .enumerate()
        .map(|(at, server)| {
            // With and without a slash at the end: the URL of an icon has exactly one there.
            let slash = if at == 0 { "/" } else { "" };
            IconSource::new(&server.url, &format!("http://icons.example/{at}{slash}")).unwrap()
        })
        .collect();
    let settings = IconSettings {
        sources,
        default_icon: DEFAULT.to_owned(),
        ..IconSettings::default()
    };
    let records = Arc::new(MemoryRecords::new(clock.clone()));
    IconSources::new(settings, records, Some(cache.to_owned()))
}

async fn find(icons: &IconSources, names: &[&str]) -> Vec<Option<String>> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    icons.find(&names).await
}

async fn find_jellyfin(icons: &IconSources) -> Option<String> {
    find(icons, &["jellyfin"]).await.remove(0)
}

fn jellyfin() -> Option<String> {
    Some("http://icons.example/0/svg/jellyfin.svg".to_owned())
}

/// Does this up to five times, and fails if a source was waited for each time: a busy machine may take long once.
async fn assert_no_wait(mut work: impl AsyncFnMut()) {
    let mut times = Vec::new();
    while times.len() < 5 {
        let start = Instant::now();
        work().await;
        times.push(start.elapsed());
        if times.last().is_some_and(|time| *time < WAIT) {
            return;
        }
    }
    panic!("it waited for the source: {times:?}");
}

#[tokio::test]
async fn icons_come_from_both_forms_of_an_index_in_the_order_of_the_names() {
    let (tree, flat) = (
        Server::start(Reply::Body(TREE.into())),
        Server::start(Reply::Body(FLAT.into())),
    );
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&tree, &flat], cache.path(), &TestClock::at(TODAY));
    let found = find(
        &icons,
        &["Grafana", "nothing", "Jellyfin", "", "Plex", "A-B C", "Jellyfin"],
    )
    .await;
    assert_eq!(
        found,
        [
            Some("http://icons.example/1/svg/grafana-dark.svg".to_owned()),
            None,
            jellyfin(),
            None,
            // The second source has it as svg, the first only as png.
            Some("http://icons.example/1/svg/plex.svg".to_owned()),
            Some("http://icons.example/0/svg/a%20b%23c.svg".to_owned()),
            jellyfin(),
        ]
    );
    let agent = format!("portico/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(*tree.agents.lock().unwrap(), [agent]);
}

#[tokio::test]
async fn people_search_the_icons_of_all_sources() {
    let (tree, flat) = (
        Server::start(Reply::Body(TREE.into())),
        Server::start(Reply::Body(FLAT.into())),
    );
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&tree, &flat], cache.path(), &TestClock::at(TODAY));
    let named = |name: &str, url: &str| NamedIcon {
        name: name.to_owned(),
        url: format!("http://icons.example/{url}"),
    };
    // Both sources have it; the format decides.
    for text in ["Plex", "LEX"] {
        let plex = named("plex", "1/svg/plex.svg");
        assert_eq!(icons.search(text, 1).await, [plex], "{text}");
    }
    let grafana = named("grafana-dark", "1/svg/grafana-dark.svg");
    assert_eq!(icons.search("dark", 10).await, [grafana]);
    assert_eq!(icons.search("nothing", 10).await, []);
    let (few, all) = (icons.search("", 2).await, icons.search("", 100).await);
    assert_eq!(few, all[..2]);
}

#[tokio::test]
async fn a_source_in_the_own_network_may_redirect_within_it() {
    let there = Server::start(Reply::Body(TREE.into()));
    let here = Server::start(Reply::Redirect(there.url.replace("127.0.0.1", "localhost")));
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&here], cache.path(), &TestClock::at(TODAY));
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!((here.hits(), there.hits()), (1, 1));
}

#[tokio::test]
async fn of_equal_icons_the_one_of_the_first_source_is_taken() {
    let (first, second) = (
        Server::start(Reply::Body(TREE.into())),
        Server::start(Reply::Body(TREE.into())),
    );
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&first, &second], cache.path(), &TestClock::at(TODAY));
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
}

#[tokio::test]
async fn nothing_is_fetched_before_it_is_needed() {
    let server = Server::start(Reply::Body(TREE.into()));
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&server], cache.path(), &TestClock::at(TODAY));
    assert_eq!(icons.default_icon(), DEFAULT);
    assert_eq!(find(&icons, &[]).await, []);
    assert_eq!(find(&icons, &["%%%"]).await, [None]);
    assert_eq!(server.hits(), 0);
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn many_callers_share_one_fetch() {
    let server = Server::start(Reply::Late(Duration::from_millis(300), TREE.into()));
    let cache = TempDir::new().unwrap();
    let icons = Arc::new(icons(&[&server], cache.path(), &TestClock::at(TODAY)));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let icons = Arc::clone(&icons);
            tokio::spawn(async move { find_jellyfin(&icons).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), jellyfin());
    }
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn an_index_is_kept_on_disk_and_fetched_again_after_seven_days() {
    let server = Server::start(Reply::Body(TREE.into()));
    let (folder, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
    let cache = folder.path().join("not/there/yet");
    assert_eq!(
        find_jellyfin(&icons(&[&server], &cache, &clock)).await,
        jellyfin()
    );

    clock.advance(7 * DAY - 1);
    assert_eq!(
        find_jellyfin(&icons(&[&server], &cache, &clock)).await,
        jellyfin()
    );
    assert_eq!(server.hits(), 1);

    clock.advance(1);
    let renamed = TREE.replace("svg/jellyfin", "new/jellyfin");
    server.now_replies(Reply::Late(Duration::from_millis(300), renamed));
    let third = icons(&[&server], &cache, &clock);
    assert_eq!(
        find_jellyfin(&third).await,
        jellyfin(),
        "the old copy while the new one is fetched"
    );
    let new = Some("http://icons.example/0/new/jellyfin.svg".to_owned());
    until("a use of the new copy", async || {
        find_jellyfin(&third).await == new
    })
    .await;
    assert_eq!(find_jellyfin(&icons(&[&server], &cache, &clock)).await, new);
    assert_eq!(server.hits(), 2);
    let files = fs::read_dir(&cache).unwrap().count();
    assert_eq!(files, 1, "temporary files are left");
}

#[tokio::test]
async fn an_old_copy_is_used_while_the_source_fails() {
    let server = Server::start(Reply::Body(TREE.into()));
    let (cache, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
    assert_eq!(
        find_jellyfin(&icons(&[&server], cache.path(), &clock)).await,
        jellyfin()
    );

    clock.advance(30 * DAY);
    server.now_replies(Reply::Silence);
    assert_no_wait(async || {
        let icons = icons(&[&server], cache.path(), &clock);
        assert_eq!(find_jellyfin(&icons).await, jellyfin());
    })
    .await;
    until("another fetch", async || server.hits() > 1).await;

    let hits = server.hits();
    server.now_replies(Reply::Status(500));
    let icons = icons(&[&server], cache.path(), &clock);
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    until("one more fetch", async || server.hits() > hits).await;
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
}

#[tokio::test]
async fn a_failure_is_remembered_for_ten_minutes() {
    let server = Server::start(Reply::Status(403));
    let (cache, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
    let icons = icons(&[&server], cache.path(), &clock);
    assert_eq!(find_jellyfin(&icons).await, None);
    assert_eq!(find_jellyfin(&icons).await, None);
    clock.advance(10 * MINUTE - 1);
    assert_eq!(find_jellyfin(&icons).await, None);
    assert_eq!(server.hits(), 1);

    clock.advance(1);
    server.now_replies(Reply::Body(TREE.into()));
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!(server.hits(), 2);
}

#[tokio::test]
async fn a_source_that_hangs_costs_two_seconds_and_hides_no_other_source() {
    let (dead, alive) = (
        Server::start(Reply::Silence),
        Server::start(Reply::Body(FLAT.into())),
    );
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&dead, &alive], cache.path(), &TestClock::at(TODAY));
    let start = Instant::now();
    let found = find(&icons, &["jellyfin", "plex"]).await;
    let elapsed = start.elapsed();
    assert_eq!(
        found,
        [None, Some("http://icons.example/1/svg/plex.svg".to_owned())]
    );
    assert!(
        elapsed > Duration::from_millis(1_500),
        "it gave up after {elapsed:?}"
    );

    // The next search does not wait for it again.
    assert_no_wait(async || assert_eq!(find_jellyfin(&icons).await, None)).await;
    assert_eq!(dead.hits(), 1);
}

#[tokio::test]
async fn a_fetch_goes_on_after_the_call_that_began_it_gave_up() {
    let server = Server::start(Reply::Late(Duration::from_secs(5), TREE.into()));
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&server], cache.path(), &TestClock::at(TODAY));
    assert_eq!(find_jellyfin(&icons).await, None);
    until("a use of what was fetched", async || {
        find_jellyfin(&icons).await == jellyfin()
    })
    .await;
    assert_eq!(server.hits(), 1);
}

#[tokio::test]
async fn a_source_that_cannot_be_reached_costs_no_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let cache = TempDir::new().unwrap();
    assert_no_wait(async || {
        let settings = IconSettings {
            sources: vec![IconSource::new(&url, &url).unwrap()],
            default_icon: DEFAULT.to_owned(),
            ..IconSettings::default()
        };
        let records = Arc::new(MemoryRecords::new(TestClock::at(TODAY)));
        let icons = IconSources::new(settings, records, Some(cache.path().to_owned()));
        assert_eq!(find_jellyfin(&icons).await, None);
    })
    .await;
}

#[tokio::test]
async fn an_index_that_cannot_be_used_is_a_failure_like_any_other() {
    let too_many = format!(
        r#"{{"tree":[{}]}}"#,
        vec![r#"{"path":"jellyfin.svg"}"#; 200_001].join(",")
    );
    for (what, reply, hits) in [
        ("no JSON", Reply::Body("<html>".into()), 1),
        ("another shape", Reply::Body(r#"{"message":"moved"}"#.into()), 1),
        (
            "no icons",
            Reply::Body(r#"{"tree":[{"path":"readme.md"}]}"#.into()),
            1,
        ),
        ("too many entries", Reply::Body(too_many), 1),
        ("too large", Reply::Padded(32 << 20), 1),
        ("cut off", Reply::Cut, 1),
        ("redirects for ever", Reply::Circle, 4),
    ] {
        let server = Server::start(reply);
        let (cache, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
        let icons = icons(&[&server], cache.path(), &clock);
        // The largest of these may take longer than a call waits: ask until the failure is known.
        let start = Instant::now();
        loop {
            let call = Instant::now();
            assert_eq!(find_jellyfin(&icons).await, None, "{what}");
            if call.elapsed() < Duration::from_secs(1) && server.hits() == hits {
                break;
            }
            assert!(start.elapsed() < PATIENCE, "{what}: {} hits", server.hits());
        }
        assert_eq!(find_jellyfin(&icons).await, None, "{what}");
        assert_eq!(server.hits(), hits, "{what}");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0, "{what} was kept");
    }
}

#[tokio::test]
async fn a_bad_copy_on_disk_is_ignored_and_replaced() {
    let (cache, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
    let server = Server::start(Reply::Body(TREE.into()));
    assert_eq!(
        find_jellyfin(&icons(&[&server], cache.path(), &clock)).await,
        jellyfin()
    );
    let file = fs::read_dir(cache.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let good = fs::read_to_string(&file).unwrap();
    let future = good.replace("1800000000000", "1900000000000");
    assert_ne!(future, good);

    let bad = [
        String::new(),
        "garbage".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replace(&server.url, "http://another.example/"),
        r#"{"index":"X","fetched":1800000000000,"paths":[]}"#.replace('X', &server.url),
    ];
    for (at, text) in bad.iter().enumerate() {
        fs::write(&file, text).unwrap();
        assert_eq!(
            find_jellyfin(&icons(&[&server], cache.path(), &clock)).await,
            jellyfin(),
            "{text}"
        );
        assert_eq!(server.hits(), at + 2, "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), good, "{text}");
    }

    // A good copy from the future (the clock was set back) is used, but not trusted to be fresh.
    fs::write(&file, future).unwrap();
    assert_eq!(
        find_jellyfin(&icons(&[&server], cache.path(), &clock)).await,
        jellyfin()
    );
    until("another fetch", async || server.hits() == bad.len() + 2).await;
}

#[tokio::test]
async fn a_cache_folder_that_cannot_be_written_costs_only_the_copy() {
    let server = Server::start(Reply::Body(TREE.into()));
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    let icons = icons(&[&server], &file.join("cache"), &TestClock::at(TODAY));
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!(find_jellyfin(&icons).await, jellyfin());
    assert_eq!(server.hits(), 1);
}

/// Two hosts that share the copies of the indexes, by this clock.
fn hosts(server: &Server, clock: &Arc<TestClock>) -> ([IconSources; 2], MemoryRecords) {
    let records = MemoryRecords::new(clock.clone());
    let host = || {
        let settings = IconSettings {
            sources: vec![IconSource::new(&server.url, "http://icons.example/0").unwrap()],
            default_icon: DEFAULT.to_owned(),
            ..IconSettings::default()
        };
        IconSources::new(settings, Arc::new(records.clone()), None)
    };
    ([host(), host()], records)
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_share_a_copy_fetch_it_once() {
    let server = Server::start(Reply::Late(Duration::from_millis(300), TREE.into()));
    let ([one, two], _) = hosts(&server, &TestClock::at(TODAY));
    // Both wait for the one that fetches; on a busy machine not long enough.
    let (first, second) = tokio::join!(find_jellyfin(&one), find_jellyfin(&two));
    until("the same answer", async || {
        find_jellyfin(&one).await == jellyfin() && find_jellyfin(&two).await == jellyfin()
    })
    .await;
    assert!([jellyfin(), None].contains(&first) && [jellyfin(), None].contains(&second));
    assert_eq!(server.hits(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_one_host_renews_is_used_by_the_other_at_its_next_lookup() {
    let server = Server::start(Reply::Body(TREE.into()));
    let clock = TestClock::at(TODAY);
    let ([one, two], _) = hosts(&server, &clock);
    until("icons", async || {
        find_jellyfin(&one).await == jellyfin() && find_jellyfin(&two).await == jellyfin()
    })
    .await;
    let other = r#"{"tree":[{"path":"png/jellyfin.png"}]}"#;
    server.now_replies(Reply::Body(other.into()));
    clock.set(TODAY + 8 * DAY);
    let renewed = Some("http://icons.example/0/png/jellyfin.png".to_owned());
    until("a new copy", async || find_jellyfin(&one).await == renewed).await;
    server.now_replies(Reply::Status(500));
    until("the same answer", async || find_jellyfin(&two).await == renewed).await;
    assert_eq!(server.hits(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_cannot_fetch_uses_what_another_has_fetched() {
    let server = Server::start(Reply::Status(500));
    let clock = TestClock::at(TODAY);
    let ([one, two], records) = hosts(&server, &clock);
    assert_eq!(find_jellyfin(&one).await, None);
    until("a failure", async || server.hits() == 1).await;
    server.now_replies(Reply::Body(TREE.into()));
    until("icons", async || find_jellyfin(&two).await == jellyfin()).await;
    // Although this host does not try to fetch again for ten minutes.
    until("the same answer", async || {
        find_jellyfin(&one).await == jellyfin()
    })
    .await;
    // A store that does not answer leaves what is loaded.
    records.fail(true);
    assert_eq!(find_jellyfin(&one).await, jellyfin());
}
