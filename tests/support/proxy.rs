//! A proxy between a host and its PostgreSQL, which cuts or holds back what it was told to.
//!
//! It reads as much of the protocol as it needs: where each message ends, the message that binds the values
//! of a statement (`B`), the statement `COMMIT` (`Q`), and the answer to it (`C`). The connections are not
//! encrypted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::postgresql::Postgresql;

/// What happens to the connection on which a statement has a value with a certain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is cut in the middle of this message.
    InStatement,
    /// It is cut in the middle of the answer to the statement.
    InAnswer,
    /// It is cut before the COMMIT is passed on.
    BeforeCommit,
    /// It is cut as soon as the COMMIT is passed on.
    AfterCommit,
    /// It is cut when the server has acknowledged the COMMIT, before the response is passed on.
    BeforeAnswerOfCommit,
    /// The COMMIT is held back until [`Proxy::release`].
    HoldCommit,
    /// The answer to the COMMIT is.
    HoldAnswerOfCommit,
}

/// A proxy on a port of this machine. Dropping it cuts all connections.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// The socket of the server.
    server: PathBuf,
    /// The cut to make, and the text that a value must contain.
    plan: Mutex<Option<(Cut, String)>>,
    made: AtomicUsize,
    holds: AtomicBool,
    is_silent: AtomicBool,
    held_back: AtomicUsize,
    is_slow: AtomicBool,
    counts: AtomicBool,
    round_trips: AtomicUsize,
    is_closed: AtomicBool,
    links: Mutex<Vec<Arc<Link>>>,
}

/// Both connections of a client.
struct Link {
    client: TcpStream,
    server: UnixStream,
    /// What happens to the next answer of the server.
    to_answer: Mutex<Option<Cut>>,
    /// Whether the client has sent something since the last answer that it has.
    is_waiting: AtomicBool,
}

impl Proxy {
    /// Starts a proxy in front of a server.
    pub fn start(server: &Postgresql) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            server: server.folder().join(".s.PGSQL.5432"),
            plan: Mutex::default(),
            made: AtomicUsize::default(),
            holds: AtomicBool::new(true),
            is_silent: AtomicBool::default(),
            held_back: AtomicUsize::default(),
            is_slow: AtomicBool::default(),
            counts: AtomicBool::default(),
            round_trips: AtomicUsize::default(),
            is_closed: AtomicBool::default(),
            links: Mutex::default(),
        });
        let accepting = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.is_closed.load(Ordering::SeqCst) {
                    break;
                }
                // A server that is away refuses the connection.
                if let Ok(server) = UnixStream::connect(&accepting.server) {
                    accepting.clone().join(client, server);
                }
            }
        });
        Self { address, shared }
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://dashboard@{}/{database}?sslmode=disable", self.address)
    }

    /// The URL of a database behind the first of two proxies that responds.
    pub fn url_of_both(&self, other: &Self, database: &str) -> String {
        format!(
            "postgres://dashboard@{},{}/{database}?sslmode=disable&target_session_attrs=read-write",
            self.address, other.address
        )
    }

    /// Makes this cut, once, on the connection on which the next statement has a value that contains this text.
    pub fn cut_at(&self, cut: Cut, text: &str) {
        self.shared.holds.store(true, Ordering::SeqCst);
        *self.shared.plan.lock().expect("the lock") = Some((cut, text.to_owned()));
    }

    /// How many cuts were made.
    pub fn made(&self) -> usize {
        self.shared.made.load(Ordering::SeqCst)
    }

    /// Passes on what is held back.
    pub fn release(&self) {
        self.shared.holds.store(false, Ordering::SeqCst);
    }

    /// From now on it takes connections and messages, and passes nothing on; or, it passes everything on.
    pub fn set_silent(&self, is_silent: bool) {
        self.shared.is_silent.store(is_silent, Ordering::SeqCst);
    }

    /// How many messages of clients it has held back because it was silent.
    pub fn held_back(&self) -> usize {
        self.shared.held_back.load(Ordering::SeqCst)
    }

    /// From now on each message of an answer arrives by itself, a moment after the one before it.
    pub fn pass_answers_in_pieces(&self) {
        self.shared.is_slow.store(true, Ordering::SeqCst);
    }

    /// How often clients have waited for answers while this works: what is sent before an answer has arrived takes one
    /// round trip. Answers are held back for a moment, so that all that is sent without waiting for them has come.
    pub fn round_trips(&self, work: impl FnOnce()) -> usize {
        self.shared.counts.store(true, Ordering::SeqCst);
        let before = self.shared.round_trips.load(Ordering::SeqCst);
        work();
        self.shared.counts.store(false, Ordering::SeqCst);
        self.shared.round_trips.load(Ordering::SeqCst) - before
    }

    /// Cuts all connections.
    pub fn cut_all(&self) {
        for link in self.shared.links.lock().expect("the lock").drain(..) {
            link.cut();
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
        self.cut_all();
    }
}

impl Shared {
    /// Passes on between these two, in both directions.
    fn join(self: Arc<Self>, client: TcpStream, server: UnixStream) {
        // Each message is sent when it is written.
        let _ = client.set_nodelay(true);
        let link = Arc::new(Link {
            client,
            server,
            to_answer: Mutex::default(),
            is_waiting: AtomicBool::default(),
        });
        self.links.lock().expect("the lock").push(link.clone());
        let (requests, answers) = ((self.clone(), link.clone()), (self, link));
        thread::spawn(move || {
            let (shared, link) = requests;
            let _ = shared.pass_requests(&link);
            link.cut();
        });
        thread::spawn(move || {
            let (shared, link) = answers;
            let _ = shared.pass_answers(&link);
            link.cut();
        });
    }

    /// Ends with an error when a connection ends or is cut.
    fn pass_requests(&self, link: &Link) -> io::Result<()> {
        let (mut client, mut server) = (&link.client, &link.server);
        // The first message has no type.
        let first = read(&mut client, 4)?;
        self.wait_while_silent();
        server.write_all(&first)?;
        let mut planned = None;
        loop {
            let message = read(&mut client, 5)?;
            if self.is_silent.load(Ordering::SeqCst) {
                self.held_back.fetch_add(1, Ordering::SeqCst);
            }
            self.wait_while_silent();
            if !link.is_waiting.swap(true, Ordering::SeqCst) {
                self.round_trips.fetch_add(1, Ordering::SeqCst);
            }
            match message[0] {
                b'B' => planned = self.planned(&message).or(planned),
                b'Q' if message[5..].starts_with(b"COMMIT\0") => match planned.take() {
                    Some(Cut::BeforeCommit) => return self.count(),
                    Some(Cut::AfterCommit) => {
                        // The answer is not passed on, however soon it comes.
                        *link.to_answer.lock().expect("the lock") = Some(Cut::AfterCommit);
                        // The answer cuts the connection, too, and the host responds then.
                        self.count()?;
                        return server.write_all(&message);
                    }
                    Some(Cut::HoldCommit) => {
                        self.count()?;
                        self.hold();
                    }
                    None => {}
                    to_answer => *link.to_answer.lock().expect("the lock") = to_answer,
                },
                _ => {}
            }
            match planned {
                Some(Cut::InStatement) => {
                    server.write_all(&message[..message.len() / 2])?;
                    return self.count();
                }
                Some(Cut::InAnswer) => *link.to_answer.lock().expect("the lock") = planned.take(),
                _ => {}
            }
            server.write_all(&message)?;
        }
    }

    fn pass_answers(&self, link: &Link) -> io::Result<()> {
        let (mut client, mut server) = (&link.client, &link.server);
        loop {
            let message = read(&mut server, 5)?;
            self.wait_while_silent();
            let of_commit = message[0] == b'C' && message[5..].starts_with(b"COMMIT\0");
            let mut planned = link.to_answer.lock().expect("the lock");
            match *planned {
                // The rows of the answer, or their number.
                Some(Cut::InAnswer) if b"DC".contains(&message[0]) => {
                    client.write_all(&message[..message.len() / 2])?;
                    return self.count();
                }
                Some(Cut::AfterCommit) => return Ok(()),
                Some(Cut::BeforeAnswerOfCommit) if of_commit => return self.count(),
                Some(Cut::HoldAnswerOfCommit) if of_commit => {
                    *planned = None;
                    drop(planned);
                    self.count()?;
                    self.hold();
                }
                _ => drop(planned),
            }
            // The end of an answer.
            if message[0] == b'Z' {
                if self.counts.load(Ordering::SeqCst) && link.is_waiting.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(20));
                }
                link.is_waiting.store(false, Ordering::SeqCst);
            }
            client.write_all(&message)?;
            if self.is_slow.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// The cut that is planned for this statement.
    fn planned(&self, message: &[u8]) -> Option<Cut> {
        let mut plan = self.plan.lock().expect("the lock");
        let (cut, text) = plan.as_ref()?;
        let text = text.as_bytes();
        let is_meant = text.is_empty() || message.windows(text.len()).any(|part| part == text);
        let cut = is_meant.then_some(*cut)?;
        *plan = None;
        Some(cut)
    }

    fn count(&self) -> io::Result<()> {
        self.made.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn hold(&self) {
        while self.holds.load(Ordering::SeqCst) && !self.is_closed.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_while_silent(&self) {
        while self.is_silent.load(Ordering::SeqCst) && !self.is_closed.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Link {
    fn cut(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

/// Reads a message whose head has this many bytes; the last four of them are the length of the rest and their own.
fn read(from: &mut impl Read, head: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; head];
    from.read_exact(&mut message)?;
    let length = message[head - 4..].try_into().map(u32::from_be_bytes);
    let length = usize::try_from(length.map_err(io::Error::other)?).map_err(io::Error::other)?;
    message.resize(head - 4 + length, 0);
    from.read_exact(&mut message[head..])?;
    Ok(message)
}
