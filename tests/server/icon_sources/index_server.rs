//! A server that responds with an index of icons, or with something else.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// A good index.
pub const TREE: &str =
    r#"{"tree":[{"path":"svg/jellyfin.svg"},{"path":"png/plex.png"},{"path":"svg/a b#c.svg"}]}"#;

/// What the server does with a request.
#[derive(Clone)]
pub enum Reply {
    Body(String),
    Status(u16),
    /// Reads the request and never responds.
    Silence,
    /// Responds once the test releases it.
    Held(String),
    /// Sends the client to the same place again, for ever.
    Circle,
    /// Sends the client there.
    Redirect(String),
    /// This many bytes of blanks, then a good index.
    Padded(usize),
    /// Promises more than it sends.
    Cut,
    /// Takes no connections.
    Gone,
}

pub struct Server {
    pub url: String,
    hits: Arc<AtomicUsize>,
    pub agents: Arc<Mutex<Vec<String>>>,
    reply: Arc<Mutex<Reply>>,
    is_released: Arc<AtomicBool>,
}

impl Server {
    pub fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            url: format!("http://{}/index", listener.local_addr().unwrap()),
            hits: Arc::default(),
            agents: Arc::default(),
            reply: Arc::new(Mutex::new(reply)),
            is_released: Arc::default(),
        };
        if matches!(*server.reply.lock().unwrap(), Reply::Gone) {
            return server;
        }
        let (hits, agents, reply) = (server.hits.clone(), server.agents.clone(), server.reply.clone());
        let is_released = server.is_released.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                hits.fetch_add(1, SeqCst);
                let reply = reply.lock().unwrap().clone();
                let (agents, is_released) = (agents.clone(), is_released.clone());
                thread::spawn(move || {
                    agents.lock().unwrap().push(read_user_agent(&stream));
                    // A client that hangs up early is part of the tests.
                    let _ = answer(stream, reply, &is_released);
                });
            }
        });
        server
    }

    pub fn hits(&self) -> usize {
        self.hits.load(SeqCst)
    }

    /// Sends the responses that are held.
    pub fn release(&self) {
        self.is_released.store(true, SeqCst);
    }

    pub fn now_replies(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }
}

fn read_user_agent(stream: &TcpStream) -> String {
    let mut agent = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("user-agent:") {
            value.trim().clone_into(&mut agent);
        }
        if line.is_empty() {
            break;
        }
    }
    agent
}

fn answer(mut stream: TcpStream, reply: Reply, is_released: &AtomicBool) -> std::io::Result<()> {
    let mut send = |head: &str, length: usize, body: &str| {
        write!(
            stream,
            "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    };
    match reply {
        Reply::Body(body) => send("200 OK", body.len(), &body),
        Reply::Status(status) => send(&format!("{status} Refused"), 2, "{}"),
        Reply::Circle => send("302 Found\r\nLocation: /index", 0, ""),
        Reply::Redirect(url) => send(&format!("302 Found\r\nLocation: {url}"), 0, ""),
        Reply::Cut => send("200 OK", TREE.len() + 1_000, TREE),
        Reply::Held(body) => {
            while !is_released.load(SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            send("200 OK", body.len(), &body)
        }
        Reply::Padded(blanks) => {
            let body = " ".repeat(blanks) + TREE;
            send("200 OK", body.len(), &body)
        }
        Reply::Silence | Reply::Gone => {
            thread::sleep(Duration::from_secs(60));
            Ok(())
        }
    }
}
