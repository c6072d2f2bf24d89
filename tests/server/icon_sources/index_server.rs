//! A server that responds with an index of icons, or with something else.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
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
    /// Waits, then responds.
    Late(Duration, String),
    /// Sends the client to the same place again, for ever.
    Circle,
    /// Sends the client there.
    Redirect(String),
    /// This many bytes of blanks, then a good index.
    Padded(usize),
    /// Promises more than it sends.
    Cut,
}

pub struct Server {
    pub url: String,
    hits: Arc<AtomicUsize>,
    pub agents: Arc<Mutex<Vec<String>>>,
    reply: Arc<Mutex<Reply>>,
}

impl Server {
    pub fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            url: format!("http://{}/index", listener.local_addr().unwrap()),
            hits: Arc::default(),
            agents: Arc::default(),
            reply: Arc::new(Mutex::new(reply)),
        };
        let (hits, agents, reply) = (server.hits.clone(), server.agents.clone(), server.reply.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                hits.fetch_add(1, SeqCst);
                let reply = reply.lock().unwrap().clone();
                let agents = Arc::clone(&agents);
                thread::spawn(move || {
                    agents.lock().unwrap().push(read_user_agent(&stream));
                    // A client that hangs up early is part of the tests.
                    let _ = answer(stream, reply);
                });
            }
        });
        server
    }

    pub fn hits(&self) -> usize {
        self.hits.load(SeqCst)
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

fn answer(mut stream: TcpStream, reply: Reply) -> std::io::Result<()> {
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
        Reply::Late(delay, body) => {
            thread::sleep(delay);
            send("200 OK", body.len(), &body)
        }
        Reply::Padded(blanks) => {
            let body = " ".repeat(blanks) + TREE;
            send("200 OK", body.len(), &body)
        }
        Reply::Silence => {
            thread::sleep(Duration::from_secs(60));
            Ok(())
        }
    }
}
