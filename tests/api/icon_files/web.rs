//! A host on this machine that has pictures, and other things.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// A picture with all that an SVG may hold.
pub const SVG: &str = "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\">\
                       <style>rect { fill: red }</style><script>alert(2)</script><rect width=\"9\" height=\"9\"/></svg>";
pub const HTML: &str = "<!doctype html><script>alert(1)</script>";
pub const GIF: &str = "GIF89a";
pub const PAGE: &str = "<!doctype html><title>My &amp; your NAS</title><link rel=icon href=/y.gif>";

/// Answers by the path of the request.
pub struct Web {
    port: u16,
    paths: Arc<Mutex<Vec<String>>>,
    is_held: Arc<AtomicBool>,
}

impl Web {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let web = Self {
            port: listener.local_addr().expect("an address").port(),
            paths: Arc::default(),
            is_held: Arc::default(),
        };
        let (paths, is_held) = (web.paths.clone(), web.is_held.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (paths, is_held) = (paths.clone(), is_held.clone());
                thread::spawn(move || {
                    let mut stream = stream.expect("a connection");
                    let mut lines = BufReader::new(stream.try_clone().expect("a connection")).lines();
                    let Some(Ok(first)) = lines.next() else {
                        return;
                    };
                    lines.map_while(Result::ok).find(String::is_empty);
                    let path = first.split(' ').nth(1).expect("a path").to_owned();
                    paths.lock().expect("the lock").push(path.clone());
                    while is_held.load(SeqCst) {
                        thread::sleep(Duration::from_millis(10));
                    }
                    // A client that hangs up early is part of the tests.
                    let _ = answer(&mut stream, &path);
                });
            }
        });
        web
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// As it is in the list of allowed hosts.
    pub fn origin(&self) -> String {
        self.url("/")
    }

    /// The paths that were requested.
    pub fn requests(&self) -> Vec<String> {
        self.paths.lock().expect("the lock").clone()
    }

    /// Sets whether responses wait from now on.
    pub fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, SeqCst);
    }
}

fn answer(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (kind, body) = match path {
        "/x.svg" => ("text/html", SVG),
        "/x.gif" | "/y.gif" => ("text/plain", GIF),
        "/page.png" => ("image/png", HTML),
        "/page" => ("text/html", PAGE),
        "/to" => {
            return write!(
                stream,
                "HTTP/1.1 302 Found\r\nLocation: {query}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        "/large.gif" => {
            let body = GIF.to_owned() + &" ".repeat(query.parse::<usize>().expect("a size") - GIF.len());
            let length = body.len();
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
        _ => return write!(stream, "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"),
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
