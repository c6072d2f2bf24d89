use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use super::*;
use crate::{
    resolve::{MOST_LOOKUPS, Names},
    tls,
};

/// Longer than any check of these tests takes that does not wait for it.
const PATIENT: Duration = Duration::from_secs(60);
/// For what is never answered.
const SHORT: Duration = Duration::from_millis(200);

/// A certificate that nobody has signed but itself, and its key, which is for this test alone.
const CERTIFICATE: &str = "MIIBdTCCARugAwIBAgIUBAXrWQ+ssz2QkzFGpYA+E1YeoI8wCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjgy \
     MDExMjBaGA8yMTI2MTEwNDIwMTEyMFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN/2QyQgFQ2S \
     6XNP5Zyw3XT2eveBGqU2vOXK+Ertz/093umpD9ozZWmAOx4LZn+jyD5bXFm9uogMvwiaqh9P7+OjUzBRMB0GA1UdDgQWBBTQ9wFx \
     TeJz35dI2SNnyMxT00YvbjAfBgNVHSMEGDAWgBTQ9wFxTeJz35dI2SNnyMxT00YvbjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49 \
     BAMCA0gAMEUCIH0lLT8bJuT/TDbSbIK4N6Zrkjf60AcGUl+R+j8uq5uVAiEAqgtUy91USAU+mkQfK9rjzu6LJyY/gQip/2hDShVl \
     cFo=";
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgV4/wKDHOxuX9xWp08f0ed0dqXBULYbK3HeDrliCNOvehRANCAATf \
     9kMkIBUNkulzT+WcsN109nr3gRqlNrzlyvhK7c/9Pd7pqQ/aM2VpgDseC2Z/o8g+W1xZvbqIDL8ImqofT+/j";

/// Serves each connection on a thread of its own. Returns the port, and how many there were.
fn serve(respond: impl Fn(TcpStream) + Send + Sync + 'static) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (respond, count) = (Arc::new(respond), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, SeqCst);
            let respond = respond.clone();
            thread::spawn(move || respond(stream.unwrap()));
        }
    });
    (port, count)
}

/// Reads the head of a request.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn serve_text(text: impl Into<String>) -> (u16, Arc<AtomicUsize>) {
    let text = text.into();
    serve(move |mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(text.as_bytes());
    })
}

/// Names with these addresses.
struct Fixed(Vec<(&'static str, Vec<IpAddr>)>, AtomicUsize);

impl Names for Fixed {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.1.fetch_add(1, SeqCst);
        let found = self.0.iter().find(|(known, _)| *known == name);
        Ok(found.map(|(_, addresses)| addresses.clone()).unwrap_or_default())
    }
}

fn fixed(names: &[(&'static str, &[&str])]) -> Arc<Fixed> {
    let names = names.iter().map(|(name, addresses)| {
        let addresses = addresses.iter().map(|address| address.parse().unwrap());
        (*name, addresses.collect())
    });
    Arc::new(Fixed(names.collect(), AtomicUsize::new(0)))
}

fn probe(allow: &str, names: Arc<dyn Names>, limit: Duration) -> (Probe, AllowList) {
    let probe = Probe {
        resolver: Resolver::new(names),
        tls: tls::connector().unwrap(),
        limit,
    };
    (probe, allow.parse().unwrap())
}

async fn check_with((probe, allow): &(Probe, AllowList), url: &str) -> Option<Status> {
    probe.check(&Target::of(url, "portico").unwrap(), allow).await
}

/// Checks a URL of this machine.
async fn check(url: &str, limit: Duration) -> Status {
    let probe = probe("127.0.0.0/8", fixed(&[]), limit);
    check_with(&probe, url).await.unwrap()
}

#[tokio::test]
async fn any_status_below_500_is_up() {
    for (status, is_up) in [
        (200, true),
        (204, true),
        (401, true),
        (404, true),
        (499, true),
        (500, false),
        (503, false),
    ] {
        let (port, _) = serve_text(format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n"));
        let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
        match outcome {
            Status::Up { milliseconds } => assert!(is_up && milliseconds < 60_000, "{status}"),
            outcome => assert_eq!((outcome, is_up), (Status::Down(Down::Server), false), "{status}"),
        }
    }
}

#[tokio::test]
async fn a_redirect_is_up_and_not_followed() {
    let (other, others) = serve_text("HTTP/1.1 200 OK\r\n\r\n");
    let (port, _) = serve_text(format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{other}/\r\n\r\n"
    ));
    let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
    assert!(matches!(outcome, Status::Up { .. }), "{outcome:?}");
    assert_eq!(others.load(SeqCst), 0);
}

#[tokio::test]
async fn what_comes_after_the_status_line_is_not_read() {
    for start in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX: "] {
        let (tell, closed): (Sender<()>, Receiver<()>) = channel();
        let tell = Mutex::new(tell);
        let (port, _) = serve(move |mut stream| {
            read_head(&mut stream);
            let _ = stream.write_all(start.as_bytes());
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
            tell.lock().unwrap().send(()).unwrap();
        });
        let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
        assert!(matches!(outcome, Status::Up { .. }), "{outcome:?}");
        closed.recv_timeout(PATIENT).expect("the connection is closed");
    }
}

#[tokio::test]
async fn a_server_that_never_comes_to_its_status_is_down() {
    let (port, _) = serve(|mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 103 Early Hints\r\nX: ");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
    assert_eq!(outcome, Status::Down(Down::Http));
}

#[tokio::test]
async fn what_is_not_http_or_ends_early_is_down() {
    for text in ["SSH-2.0-OpenSSH_9\r\n", "", "HTTP/1.1 20"] {
        let (port, _) = serve_text(text);
        let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
        assert_eq!(outcome, Status::Down(Down::Http), "{text:?}");
    }
}

#[tokio::test]
async fn a_server_that_stays_silent_is_down_after_the_time_limit() {
    let (port, _) = serve(|mut stream| {
        // Until the check gives up; nothing of TLS is understood either.
        while stream.read(&mut [0; 512]).is_ok_and(|count| count > 0) {}
    });
    for scheme in ["http", "https"] {
        let outcome = check(&format!("{scheme}://127.0.0.1:{port}/"), SHORT).await;
        assert_eq!(outcome, Status::Down(Down::Time), "{scheme}");
    }
}

#[tokio::test]
async fn a_server_that_sends_a_byte_now_and_then_is_down_after_the_time_limit() {
    let (port, _) = serve(|mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 103 X\r\nX: ");
        let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
        // Nothing more comes from the client, so each read takes a moment.
        while stream.write_all(b"x").is_ok() {
            let _ = stream.read(&mut [0]);
        }
    });
    let outcome = check(&format!("http://127.0.0.1:{port}/"), SHORT).await;
    assert_eq!(outcome, Status::Down(Down::Time));
}

#[tokio::test]
async fn a_port_on_which_nothing_listens_is_down() {
    let (_taken, port) = crate::checker::tests::closed_port();
    let outcome = check(&format!("http://127.0.0.1:{port}/"), PATIENT).await;
    assert_eq!(outcome, Status::Down(Down::Connection));
}

#[tokio::test]
async fn any_certificate_will_do() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    let certificate = CertificateDer::from(
        STANDARD
            .decode(CERTIFICATE.replace(char::is_whitespace, ""))
            .unwrap(),
    );
    let key = PrivatePkcs8KeyDer::from(STANDARD.decode(KEY.replace(char::is_whitespace, "")).unwrap());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key))
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        }
    });
    let probe = probe(
        "127.0.0.1,nas.lan",
        fixed(&[("nas.lan", &["127.0.0.1"])]),
        PATIENT,
    );
    for host in ["127.0.0.1", "nas.lan"] {
        let outcome = check_with(&probe, &format!("https://{host}:{port}/")).await;
        assert!(matches!(outcome, Some(Status::Up { .. })), "{host}: {outcome:?}");
    }
    // What does not speak TLS says so when it has read the first bytes.
    let (plain, _) = serve(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let outcome = check(&format!("https://127.0.0.1:{plain}/"), PATIENT).await;
    assert_eq!(outcome, Status::Down(Down::Tls));
}

#[tokio::test]
async fn nothing_is_sent_to_an_address_that_is_not_allowed_however_it_is_written() {
    let (port, count) = serve_text("HTTP/1.1 200 OK\r\n\r\n");
    let names = fixed(&[
        ("nas.lan", &["127.0.0.1"]),
        (
            "mixed.example",
            &["169.254.169.254", "::1", "::ffff:127.0.0.1", "0.0.0.0"],
        ),
    ]);
    let probe = probe("192.168.0.0/16,*.lan", names, PATIENT);
    for host in [
        "127.0.0.1",
        "localhost.lan",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "nas.lan",
        "mixed.example",
    ] {
        let outcome = check_with(&probe, &format!("http://{host}:{port}/")).await;
        let expected = match host {
            "localhost.lan" => Status::Down(Down::Name),
            _ => Status::NotAllowed(Refused::Address),
        };
        assert_eq!(outcome, Some(expected), "{host}");
    }
    assert_eq!(count.load(SeqCst), 0);
}

#[tokio::test]
async fn the_address_that_was_checked_is_connected_to_and_the_name_is_looked_up_once() {
    let (port, count) = serve_text("HTTP/1.1 200 OK\r\n\r\n");
    // The second one is the only one that is allowed, and the server listens there.
    let names = fixed(&[("x.example", &["127.0.0.9", "127.0.0.1"])]);
    let probe = probe("127.0.0.1", names.clone(), PATIENT);
    let outcome = check_with(&probe, &format!("http://x.example:{port}/")).await;
    assert!(matches!(outcome, Some(Status::Up { .. })), "{outcome:?}");
    assert_eq!((names.1.load(SeqCst), count.load(SeqCst)), (1, 1));
}

/// Blocks at names that begin with `stalls`, until the test ends.
struct Stalling(Mutex<Receiver<()>>, Mutex<Sender<()>>);

impl Names for Stalling {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if name.starts_with("stalls") {
            let _ = self.1.lock().unwrap().send(());
            if let Ok(gate) = self.0.lock() {
                let _ = gate.recv();
            }
        }
        Ok(vec![[127, 0, 0, 1].into()])
    }
}

#[test]
fn names_that_stall_are_down_and_those_that_get_no_thread_are_not_said_to_be() {
    let (open, gate) = channel();
    let (tell, told) = channel();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(MOST_LOOKUPS)
        .enable_all()
        .build()
        .unwrap();
    let probe = Arc::new(probe(
        "127.0.0.1",
        Arc::new(Stalling(Mutex::new(gate), Mutex::new(tell))),
        Duration::from_secs(2),
    ));
    let (port, _) = serve_text("HTTP/1.1 200 OK\r\n\r\n");
    let check = |host: String| {
        let probe = probe.clone();
        runtime.spawn(async move { check_with(&probe, &format!("http://{host}:{port}/")).await })
    };
    // Checks of one name share its look-up.
    let stalled: Vec<_> = (0..MOST_LOOKUPS)
        .flat_map(|number| [number; 3])
        .map(|number| check(format!("stalls{number}.example")))
        .collect();
    for _ in 0..MOST_LOOKUPS {
        told.recv_timeout(PATIENT).expect("each name has a thread");
    }
    for check in stalled {
        assert_eq!(runtime.block_on(check).unwrap(), Some(Status::Down(Down::Time)));
    }
    assert_eq!(runtime.block_on(check("nas.example".into())).unwrap(), None);
    let outcome = runtime.block_on(check("127.0.0.1".into())).unwrap();
    assert!(
        matches!(outcome, Some(Status::Up { .. })),
        "addresses need no look-up: {outcome:?}"
    );
    drop(open);
    while runtime.block_on(check("nas.example".into())).unwrap().is_none() {}
    assert!(told.try_recv().is_err(), "one thread for each name");
}
