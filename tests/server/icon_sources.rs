//! Icon sources against a real HTTP server on this machine.

pub mod index_server;

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use portico_model::Timestamp;
use portico_sandbox::icons::{Icons, NamedIcon};
use portico_server::icons::{IconSettings, IconSource, IconSources};
use portico_storage::MemoryRecords;
use portico_tests::clock::{DAY, MINUTE};
use portico_tests::{Builder, Fixtures, PATIENCE, TestClock, administrator, until, wait_until};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use index_server::{Reply, Server, TREE};

const DEFAULT: &str = "/icons/default.svg";
const FLAT: &str = r#"{"files":[{"name":"/svg/plex.svg"},{"name":"/svg/grafana-dark.svg"}]}"#;

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
    // However busy the machine is, a lookup waits for what comes.
    IconSources::new(settings, records, Some(cache.to_owned())).with_wait(PATIENCE)
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

/// The same, and fails if it waits for a source that does not answer.
async fn find_jellyfin_without_waiting(icons: &IconSources) -> Option<String> {
    let found = timeout(PATIENCE / 2, find_jellyfin(icons)).await;
    found.expect("it waited for the source")
}

#[tokio::test]
async fn a_variant_is_looked_up_in_the_index_of_the_icons_own_source() {
    let tree = Server::start(Reply::Body(
        r#"{"files":[{"name":"/svg/git hub.svg"},{"name":"/svg/git-hub-light.svg"},{"name":"/svg/plex.svg"}]}"#.into(),
    ));
    let silent = Server::start(Reply::Body(FLAT.into()));
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&tree, &silent], cache.path(), &TestClock::at(TODAY));
    let (icon, light) = (
        "http://icons.example/0/svg/git%20hub.svg",
        "http://icons.example/0/svg/git-hub-light.svg",
    );
    for (url, on_dark, expected) in [
        (icon, true, light),
        (icon, false, icon),
        (light, false, icon),
        (
            "http://icons.example/0/svg/plex.svg",
            true,
            "http://icons.example/0/svg/plex.svg",
        ),
        (
            "https://elsewhere.example/git.svg",
            true,
            "https://elsewhere.example/git.svg",
        ),
        (
            "data:image/gif;base64,R0lGODlh",
            true,
            "data:image/gif;base64,R0lGODlh",
        ),
    ] {
        let found = icons.variant(url, on_dark).await;
        assert_eq!(found.as_deref(), Some(expected), "{url} {on_dark}");
    }
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
        assert_eq!(icons.search(text, 1).await.unwrap_or_default(), [plex], "{text}");
    }
    let grafana = named("grafana-dark", "1/svg/grafana-dark.svg");
    assert_eq!(icons.search("dark", 10).await.unwrap_or_default(), [grafana]);
    assert_eq!(icons.search("nothing", 10).await.unwrap_or_default(), []);
    let (few, all) = (
        icons.search("", 2).await.unwrap_or_default(),
        icons.search("", 100).await.unwrap_or_default(),
    );
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
    let server = Server::start(Reply::Held(TREE.into()));
    let cache = TempDir::new().unwrap();
    let icons = Arc::new(icons(&[&server], cache.path(), &TestClock::at(TODAY)));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let icons = Arc::clone(&icons);
            tokio::spawn(async move { find_jellyfin(&icons).await })
        })
        .collect();
    until("a fetch", async || server.hits() > 0).await;
    server.release();
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
    server.now_replies(Reply::Held(renamed));
    let third = icons(&[&server], &cache, &clock);
    assert_eq!(
        find_jellyfin(&third).await,
        jellyfin(),
        "the old copy while the new one is fetched"
    );
    server.release();
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
    let of_silent = icons(&[&server], cache.path(), &clock);
    assert_eq!(find_jellyfin_without_waiting(&of_silent).await, jellyfin());
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
async fn a_source_that_hangs_is_waited_for_once_and_hides_no_other_source() {
    const WAIT: Duration = Duration::from_millis(500);
    let (dead, alive) = (
        Server::start(Reply::Silence),
        Server::start(Reply::Body(FLAT.into())),
    );
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&dead, &alive], cache.path(), &TestClock::at(TODAY)).with_wait(WAIT);
    let start = Instant::now();
    assert_eq!(find_jellyfin(&icons).await, None);
    assert!(start.elapsed() >= WAIT, "it gave up after {:?}", start.elapsed());
    let plex = Some("http://icons.example/1/svg/plex.svg".to_owned());
    until("the icons of the other source", async || {
        find(&icons, &["jellyfin", "plex"]).await == [None, plex.clone()]
    })
    .await;
    // Later lookups do not wait for it again.
    let icons = icons.with_wait(PATIENCE);
    assert_eq!(find_jellyfin_without_waiting(&icons).await, None);
    assert_eq!(dead.hits(), 1);
}

#[tokio::test]
async fn a_fetch_goes_on_after_the_call_that_began_it_gave_up() {
    let server = Server::start(Reply::Held(TREE.into()));
    let cache = TempDir::new().unwrap();
    let icons = icons(&[&server], cache.path(), &TestClock::at(TODAY)).with_wait(Duration::from_millis(50));
    assert_eq!(find_jellyfin(&icons).await, None);
    server.release();
    until("a use of what was fetched", async || {
        find_jellyfin(&icons).await == jellyfin()
    })
    .await;
    assert_eq!(server.hits(), 1);
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
        ("not there any more", Reply::Gone, 0),
    ] {
        let server = Server::start(reply);
        let (cache, clock) = (TempDir::new().unwrap(), TestClock::at(TODAY));
        let icons = icons(&[&server], cache.path(), &clock);
        for _ in 0..2 {
            assert_eq!(find_jellyfin_without_waiting(&icons).await, None, "{what}");
            assert_eq!(server.hits(), hits, "{what}");
        }
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
        IconSources::new(settings, Arc::new(records.clone()), None).with_wait(PATIENCE)
    };
    ([host(), host()], records)
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_share_a_copy_fetch_it_once() {
    let server = Server::start(Reply::Held(TREE.into()));
    let ([one, two], _) = hosts(&server, &TestClock::at(TODAY));
    let release = async {
        until("a fetch", async || server.hits() > 0).await;
        server.release();
    };
    let (first, second, ()) = tokio::join!(find_jellyfin(&one), find_jellyfin(&two), release);
    assert_eq!([first, second], [jellyfin(), jellyfin()]);
    assert_eq!(server.hits(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_one_host_renews_is_used_by_the_other_at_its_next_lookup() {
    let server = Server::start(Reply::Body(TREE.into()));
    let clock = TestClock::at(TODAY);
    let ([one, two], _) = hosts(&server, &clock);
    for host in [&one, &two] {
        assert_eq!(find_jellyfin(host).await, jellyfin());
    }
    let other = r#"{"tree":[{"path":"png/jellyfin.png"}]}"#;
    server.now_replies(Reply::Body(other.into()));
    clock.set(TODAY + 8 * DAY);
    let renewed = Some("http://icons.example/0/png/jellyfin.png".to_owned());
    until("a new copy", async || find_jellyfin(&one).await == renewed).await;
    server.now_replies(Reply::Status(500));
    assert_eq!(find_jellyfin(&two).await, renewed);
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

#[test]
fn the_program_finds_icons_in_the_sources_of_its_settings() {
    let server = Server::start(Reply::Body(TREE.into()));
    let sources = format!("{}|http://icons.example/0/", server.url);
    let portico = Builder::default()
        .environment("PORTICO_ICON_SOURCES", sources)
        .start();
    let admin = administrator(&portico);
    wait_until("an icon", || {
        let apps = json!([{"name": "Jellyfin"}]);
        let created = admin.output_of("app.createMany", &apps);
        created[0]["iconUrl"].as_str().map(str::to_owned) == jellyfin()
    });
}
