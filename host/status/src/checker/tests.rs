use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
};

use portico_model::Timestamp;
use portico_service::reachability::{Down, Refused};

use super::*;

/// A clock that stands still until a test sets it.
#[derive(Default)]
struct Stopped(AtomicU64);

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        self.0.load(SeqCst)
    }
}

/// A port on which nothing listens, and nothing else can as long as it is held.
pub(crate) fn closed_port() -> (tokio::net::TcpSocket, u16) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

fn checker(clock: Arc<Stopped>) -> Checker {
    Checker::new(CheckerSettings {
        allow: Some("127.0.0.1".parse().unwrap()),
        time_limit: Duration::from_secs(60),
        about: "https://portico.example/status".into(),
        clock,
        ..CheckerSettings::default()
    })
    .unwrap()
}

/// A server that answers every request. Returns its address and the heads that it received.
fn serve() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let received = heads.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<_> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            received.lock().unwrap().push(head.join("\n"));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        }
    });
    (address, heads)
}

#[test]
fn a_look_returns_at_once_and_starts_the_check_that_a_later_look_finds() {
    let (clock, (address, heads)) = (Arc::new(Stopped::default()), serve());
    let checker = checker(clock.clone());
    let url = format!("http://{address}/health?a=b");
    assert_eq!(checker.look(&[&url], &[]), [Known::NOTHING]);
    checker.wait_until_idle();
    clock.0.store(1000, SeqCst);
    let [known] = checker.look(&[&url], &[])[..] else {
        panic!("one URL");
    };
    assert!(matches!(known.status, Status::Up { .. }), "{known:?}");
    assert_eq!((known.since, known.checked_at), (Some(0), Some(0)));
    let version = env!("CARGO_PKG_VERSION");
    let agent = format!(
        "User-Agent: portico/{version} (checks whether apps can be reached; https://portico.example/status)"
    );
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 1, "{heads:?}");
    assert!(heads[0].starts_with("GET /health?a=b HTTP/1.1\n"), "{heads:?}");
    assert!(heads[0].lines().any(|line| line == agent), "{heads:?}");
    for private in ["cookie", "referer", "authorization", "forwarded"] {
        assert!(!heads[0].to_lowercase().contains(private), "{heads:?}");
    }
}

#[test]
fn the_same_url_a_thousand_times_and_by_many_is_one_request_a_minute() {
    let (clock, (address, heads)) = (Arc::new(Stopped::default()), serve());
    let checker = checker(clock.clone());
    let url = format!("http://{address}/");
    let urls = vec![url.as_str(); 1000];
    for minute in 0..3 {
        clock.0.store(minute * 60_000, SeqCst);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(checker.look(&urls, &[]).len(), urls.len()));
            }
        });
        checker.wait_until_idle();
        assert_eq!(heads.lock().unwrap().len() as u64, minute + 1);
    }
    // Nobody looks.
    clock.0.store(60 * 60_000, SeqCst);
    checker.wait_until_idle();
    assert_eq!(heads.lock().unwrap().len(), 3);
}

#[test]
fn ten_thousand_apps_that_are_down_are_all_found_to_be() {
    let clock = Arc::new(Stopped::default());
    let checker = checker(clock.clone());
    let (_taken, port) = closed_port();
    let urls: Vec<_> = (0..10_000)
        .map(|number| format!("http://127.0.0.1:{port}/{number}"))
        .collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    assert!(
        checker
            .look(&urls, &[])
            .iter()
            .all(|known| *known == Known::NOTHING)
    );
    checker.wait_until_idle();
    let known = checker.look(&urls, &[]);
    assert!(
        known
            .iter()
            .all(|known| known.status == Status::Down(Down::Connection))
    );
}

#[test]
fn what_cannot_be_checked_is_said_at_once() {
    let checker = checker(Arc::default());
    let statuses = checker.look(&["http://127.0.0.1:25/", "ftp://127.0.0.1/", "nas.lan"], &[]);
    let statuses: Vec<_> = statuses.iter().map(|known| known.status).collect();
    let refused = [Refused::Port, Refused::Url, Refused::Url].map(Status::NotAllowed);
    assert_eq!(statuses, refused);
    checker.wait_until_idle();
}

#[test]
fn a_checker_that_is_dropped_gives_up_what_runs_and_what_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let checker = checker(Arc::default());
    let urls: Vec<_> = (0..1000)
        .map(|number| format!("http://{address}/{number}"))
        .collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    checker.look(&urls, &[]);
    // One runs, and is never answered.
    let (mut stream, _) = listener.accept().unwrap();
    drop(checker);
    // Its connection ends, with what was sent before.
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

/// Loopback is what the operator alone allows, so a stored list cannot make anything of a test answer.
#[test]
fn what_is_stored_is_followed_from_the_next_look_on_and_what_the_operator_says_overrides_it() {
    let url = "http://[fd5a:9c31:77e0::1]:8080/";
    let checker = Checker::new(CheckerSettings {
        time_limit: Duration::from_millis(1),
        clock: Arc::new(Stopped::default()),
        ..CheckerSettings::default()
    })
    .unwrap();
    let status_with = |stored: &[String]| {
        checker.look(&[url], stored);
        checker.wait_until_idle();
        checker.look(&[url], stored)[0].status
    };
    let private = ["fd00::/8".to_owned()];
    assert_eq!(checker.fixed_hosts(), None);
    assert_eq!(status_with(&[]), Status::NotAllowed(Refused::Address));
    assert_eq!(
        status_with(&["*.lan".to_owned()]),
        Status::NotAllowed(Refused::Address)
    );
    let Status::Down(_) = status_with(&private) else {
        panic!("it is allowed, and there is nothing");
    };

    let fixed = Checker::new(CheckerSettings {
        allow: Some("*.lan,192.168.1.1/16".parse().unwrap()),
        ..CheckerSettings::default()
    })
    .unwrap();
    assert_eq!(fixed.fixed_hosts().unwrap(), ["*.lan", "192.168.0.0/16"]);
    fixed.look(&[url], &private);
    fixed.wait_until_idle();
    assert_eq!(
        fixed.look(&[url], &private)[0].status,
        Status::NotAllowed(Refused::Address)
    );
}
