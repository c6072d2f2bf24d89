//! Directories that are down, slow, or up to no good: servers of the test's own.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use portico_tests::{Answer, Client, PASSWORD as LOCAL_PASSWORD, PATIENCE, SetOnDrop, free_port, wait_until};

use super::{at, sign_in, start};

/// Listens, does this with every connection, and counts them.
pub fn listen(work: impl Fn(TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("ldap://{}", listener.local_addr().expect("its address"));
    let (connections, work) = (Arc::new(AtomicUsize::new(0)), Arc::new(work));
    let counted = connections.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            counted.fetch_add(1, Ordering::SeqCst);
            let work = work.clone();
            thread::spawn(move || work(stream));
        }
    });
    (url, connections)
}

/// Never responds.
fn silent() -> (String, Arc<AtomicUsize>) {
    listen(|mut stream| {
        let mut sink = Vec::new();
        let _ = stream.read_to_end(&mut sink);
    })
}

#[track_caller]
fn assert_unreachable(answer: &Answer) {
    answer.assert_unavailable();
    assert!(
        answer
            .text()
            .contains("The directory cannot be reached; try again later"),
        "{answer}"
    );
}

#[test]
fn a_directory_that_is_down_keeps_only_its_own_users_out() {
    let url = format!("ldap://127.0.0.1:{}", free_port());
    let server = start(at(&url));
    assert_unreachable(&sign_in(&server, "ada", "a password"));
    server.wait_for_log(0, "Connection refused");
    server.sign_in("root", LOCAL_PASSWORD);
}

fn is_busy(answer: &Answer) -> bool {
    answer.text().contains("Too many sign-ins at once")
}

#[test]
fn sign_ins_that_wait_for_a_directory_hold_up_no_others_and_open_sixteen_connections() {
    const AT_ONCE: usize = 16;
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let (url, connections) = listen(move |_stream| {
        while !ends.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    });
    let server = start(at(&url).environment("PORTICO_LDAP_TIME_LIMIT", "60"));
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        let _over = SetOnDrop(&is_over);
        for number in 0..40 {
            let (server, answered) = (&server, &answered);
            scope.spawn(move || {
                let answer = sign_in(server, &format!("user-{number}"), "a password");
                answered.fetch_add(1, Ordering::SeqCst);
                answer.assert_unavailable();
            });
        }
        wait_until("sixteen connections", || {
            connections.load(Ordering::SeqCst) >= AT_ONCE
        });
        // Meanwhile other users sign in and read without delay: after half a minute those who wait give up.
        let session = server.sign_in("root", LOCAL_PASSWORD);
        for _ in 0..10 {
            session.get("/api/apps").assert_status(200);
        }
        assert_eq!(
            answered.load(Ordering::SeqCst),
            0,
            "they waited for the directory"
        );
        assert_eq!(connections.load(Ordering::SeqCst), AT_ONCE);
    });
}

#[test]
fn a_silent_directory_costs_the_time_limit_and_those_who_wait_for_a_connection_half_of_it() {
    const LIMIT: Duration = Duration::from_secs(2);
    let (url, _) = silent();
    let server = start(at(&url).environment("PORTICO_LDAP_TIME_LIMIT", "2"));
    let (busy, slow) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        // More than there are connections, until there was an answer of each kind.
        for number in 0..40 {
            let (server, busy, slow) = (&server, &busy, &slow);
            scope.spawn(move || {
                while busy.load(Ordering::SeqCst) == 0 || slow.load(Ordering::SeqCst) == 0 {
                    let begun = Instant::now();
                    let answer = sign_in(server, &format!("user-{number}"), "a password");
                    let took = begun.elapsed();
                    if is_busy(&answer) {
                        answer.assert_unavailable();
                        assert_eq!(answer.header("retry-after"), Some("2"), "{answer}");
                        assert!(took >= LIMIT / 2, "{took:?}");
                        busy.fetch_add(1, Ordering::SeqCst);
                    } else {
                        assert_unreachable(&answer);
                        assert!(took >= LIMIT, "{took:?}");
                        slow.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    server.wait_for_log(0, "no answer within 2 seconds");
}

#[test]
fn a_name_or_password_that_no_user_can_have_is_not_sent() {
    let (url, connections) = silent();
    let server = start(at(&url));
    // What the service itself tries at its start.
    wait_until("a connection", || connections.load(Ordering::SeqCst) == 1);
    let long = "x".repeat(256);
    let longer = "x".repeat(1025);
    let tries = [
        ("ada", ""),
        ("ada", "\0"),
        ("ada", "a\0b"),
        ("ada", &longer),
        ("", "a password"),
        ("  ", "a password"),
        ("a\0da", "a password"),
        ("a\nda", "a password"),
        (&long, "a password"),
    ];
    thread::scope(|scope| {
        for (username, password) in tries {
            let server = &server;
            scope.spawn(move || {
                sign_in(server, username, password)
                    .assert_refused(401, "UNAUTHORIZED")
                    .status
            });
        }
    });
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[test]
fn nothing_is_sent_unencrypted_if_start_tls_is_refused() {
    for answer in [
        // Not supported (protocolError), a success of something else, nothing that is LDAP.
        &b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x02\x04\x00\x04\x00"[..],
        b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"",
    ] {
        let (heard, hears) = std::sync::mpsc::channel();
        let heard = std::sync::Mutex::new(heard);
        let (url, _) = listen(move |mut stream| {
            let mut asked = [0; 31];
            let _ = stream.read_exact(&mut asked);
            let _ = stream.write_all(answer);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            let _ = heard.lock().expect("the lock").send(rest);
        });
        let server = start(at(&url).environment("PORTICO_LDAP_START_TLS", "on"));
        assert_unreachable(&sign_in(&server, "ada", "a password"));
        server.wait_for_log(0, "StartTLS");
        let rest = hears.recv_timeout(PATIENCE).expect("it ends");
        assert_eq!(rest, b"", "said after a refusal");
    }
}

/// Sequences in each other, as many as a message of 60 KiB holds.
fn nested() -> Vec<u8> {
    let mut length = 0_usize;
    let mut headers = Vec::new();
    while length < 60_000 {
        let header = match length {
            0..128 => vec![0x30, length as u8],
            128..256 => vec![0x30, 0x81, length as u8],
            _ => vec![0x30, 0x82, (length >> 8) as u8, length as u8],
        };
        length += header.len();
        headers.push(header);
    }
    headers.into_iter().rev().flatten().collect()
}

#[test]
fn a_malformed_answer_ends_only_its_own_connection() {
    let nested = nested();
    let answers: [(Vec<u8>, &str); 5] = [
        (nested, "too deep"),
        (b"\x30\x84\x7f\xff\xff\xff".to_vec(), "longer than 64 KiB"),
        (b"\x30\x80\x02\x01\x01".to_vec(), "has no length"),
        (b"\x30\x05\x02\x01\x01\x61\x05".to_vec(), "does not fit together"),
        // It is well-formed, but not a response to a bind.
        (b"\x30\x03\x02\x01\x01".to_vec(), "binding as ldap-bind-dn"),
    ];
    for (answer, problem) in answers {
        let (url, _) = listen(move |mut stream| {
            let mut asked = [0; 2];
            let _ = stream.read_exact(&mut asked);
            let _ = stream.write_all(&answer);
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let server = start(at(&url));
        assert_unreachable(&sign_in(&server, "ada", "a password"));
        server.wait_for_log(0, problem);
        server.sign_in("root", LOCAL_PASSWORD);
    }
}
