//! Hosts that are stopped and started again under load: no request is cut.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use portico_tests::{
    Builder, Fixtures, SetOnDrop, administrator, free_port, rounds_from_environment, wait_until,
};
use serde_json::json;

/// Half of the clients keep their connections, as browsers and proxies do; the others open one for each request.
const CLIENTS: usize = 8;

/// How many requests are answered between two restarts, at least.
const ENOUGH: usize = 50;

/// What came of all requests.
#[derive(Default)]
pub struct Counts {
    pub answered: usize,
    /// Why others were not, or with which status.
    pub cut: Vec<String>,
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cut, answered) = (self.cut.len(), self.answered);
        write!(formatter, "{cut} of {} requests were cut", cut + answered)
    }
}

/// Clients read and write without a pause while `work` runs. It can wait until some more requests are answered.
pub fn count_while(address: &str, key: &str, work: impl FnOnce(&dyn Fn())) -> Counts {
    let (end, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let mut client = Caller {
                    address,
                    key,
                    name: format!("client {number}"),
                    keeps: number % 2 == 0,
                    kept: None,
                };
                let (end, answered) = (&end, &answered);
                scope.spawn(move || client.call_until(end, answered))
            })
            .collect();
        let ending = SetOnDrop(&end);
        work(&|| {
            let before = answered.load(Ordering::SeqCst);
            wait_until("more answers", || {
                answered.load(Ordering::SeqCst) >= before + ENOUGH
            });
        });
        drop(ending);
        clients.into_iter().fold(Counts::default(), |mut all, client| {
            let counts = client.join().expect("a client");
            all.answered += counts.answered;
            all.cut.extend(counts.cut);
            all
        })
    })
}

struct Caller<'a> {
    address: &'a str,
    key: &'a str,
    name: String,
    keeps: bool,
    kept: Option<TcpStream>,
}

impl Caller<'_> {
    fn call_until(&mut self, end: &AtomicBool, answered: &AtomicUsize) -> Counts {
        let mut counts = Counts::default();
        while !end.load(Ordering::SeqCst) {
            match self.call(counts.answered) {
                Ok(200) => {
                    counts.answered += 1;
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                Ok(status) => {
                    assert!(status >= 500, "status {status}");
                    counts.cut.push(format!("status {status}"));
                }
                Err(error) => {
                    counts.cut.push(format!("{:?}: {error}", error.kind()));
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        counts
    }

    fn call(&mut self, number: usize) -> io::Result<u16> {
        let mut stream = match self.kept.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.address)?,
        };
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let body = json!({"name": format!("{} {number}", self.name), "iconUrl": "/i.svg"}).to_string();
        let (line, body) = if number.is_multiple_of(2) {
            ("POST /api/trpc/app.create", &*body)
        } else {
            ("GET /api/boards", "")
        };
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{}\r\n{body}",
            self.address,
            self.key,
            body.len(),
            if self.keeps { "" } else { "connection: close\r\n" }
        )?;
        let mut reader = BufReader::new(&stream);
        let (mut status, mut length, mut ends) = (None, 0, !self.keeps);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("content-length: ") {
                length = number.parse().expect("a length");
            } else if line == "connection: close" {
                ends = true;
            } else if status.is_none() {
                status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        if !ends {
            self.kept = Some(stream);
        }
        status.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// Restarts a host under load: a few times, and more often in `make soak`.
fn restart_under_load(what: &str, builder: Builder) -> Counts {
    // A client that keeps its connection has this long to send another request, and to be told that it was the last.
    let mut server = builder.environment("PORTICO_DRAIN", "2").start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).key;
    let rounds = rounds_from_environment(3).min(200);
    let address = server.address();
    let counts = count_while(&address, &key, |wait_for_more| {
        for _ in 0..rounds {
            wait_for_more();
            server.restart();
        }
        wait_for_more();
    });
    println!("{rounds} restarts {what}: {counts}");
    counts
}

#[test]
fn with_a_socket_that_stays_open_a_restart_cuts_no_request() {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let counts = restart_under_load("with a socket that stays open", Builder::default().socket(socket));
    assert!(counts.cut.is_empty(), "{counts}: {:?}", counts.cut);
}

/// Nothing listens until the next host does.
#[test]
fn a_plain_restart_cuts_only_connections_that_were_not_accepted() {
    let address = format!("127.0.0.1:{}", free_port());
    let counts = restart_under_load("without one", Builder::default().listen(&address));
    // Refused, or reset where the kernel had accepted it after the last look.
    let was_accepted = |why: &&String| !why.starts_with("Connection");
    let cut: Vec<_> = counts.cut.iter().filter(was_accepted).collect();
    assert!(cut.is_empty(), "{cut:?}");
}

#[test]
fn sockets_that_cannot_be_served_are_refused_in_words() {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let connected = TcpStream::connect(socket.local_addr().expect("its address")).expect("connect");
    // The type is that of a listener; the socket is not.
    let connected = TcpListener::from(std::os::fd::OwnedFd::from(connected));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut serve = portico_tests::command();
    serve.args(["serve", "--data"]).arg(folder.path());
    let mut serve = portico_tests::with_socket(&serve, &connected);
    let output = serve.output().expect("an end");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("does not listen for TCP"), "{text}");
}
