//! Requests byte by byte, for what a well-behaved client would never send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::{Answer, PATIENCE};

/// A connection, open and silent.
#[track_caller]
pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    stream
}

/// The head of a request, complete with its empty line.
pub fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "\r\n"
}

/// A request with only these headers, such as another `Host`, and the length of its body.
pub fn with_headers(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let length = body.len();
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request + "\r\n" + body
}

/// A request with a body of JSON.
pub fn with_json(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let length = body.len().to_string();
    let mut headers = headers.to_vec();
    headers.extend([
        ("content-type", "application/json"),
        ("content-length", length.as_str()),
    ]);
    head(method, path, &headers) + body
}

/// Sends these bytes on a new connection, ends the sending side, and reads the answer.
#[track_caller]
pub fn send_and_close(address: &str, request: &[u8]) -> Answer {
    let mut stream = connect(address);
    // The service may have refused and stopped reading: its response still counts.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    read_answer(&mut stream, request)
}

/// Sends these bytes on a new connection and reads the answer.
#[track_caller]
pub fn send(address: &str, request: &[u8]) -> Answer {
    let mut stream = connect(address);
    let _ = stream.write_all(request);
    read_answer(&mut stream, request)
}

/// Sends the head of a request on a new connection, and waits until the service is ready for its body
/// of JSON: then it is accepted for sure, and its caller has been looked up.
#[track_caller]
pub fn send_head(address: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let headers = [headers, &[("expect", "100-continue")]].concat();
    let request = with_json("POST", path, &headers, body);
    let mut stream = connect(address);
    let head = request.len() - body.len();
    stream
        .write_all(&request.as_bytes()[..head])
        .expect("send the head");
    let mut answer = [0; GO_ON.len()];
    stream.read_exact(&mut answer).expect("an answer to the head");
    assert_eq!(answer, GO_ON, "{request}");
    stream
}

/// Ends a connection so that the service learns that nobody is there any more. A connection that is only closed looks
/// like that of a client that has ended its side and waits for its answer.
#[track_caller]
pub fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .expect("no lingering");
    drop(stream);
}

/// Asks on a connection that stays open, and gives the status. The answer has a known length.
#[track_caller]
pub fn ask(
    stream: &mut TcpStream,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &Value,
) -> u16 {
    let body = body.to_string();
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("\r\n{body}"));
    stream
        .write_all(request.as_bytes())
        .expect("the connection is open");
    let mut stream = BufReader::new(stream);
    let (mut status, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a line");
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.parse().expect("a number");
        } else if status.is_none() {
            status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        }
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).expect("the body");
    status.expect("a status")
}

/// Reads until the service closes the connection. The request is for failure messages.
#[track_caller]
pub fn read_answer(stream: &mut TcpStream, request: &[u8]) -> Answer {
    let answer = read_answer_allowing_5xx(stream, request);
    let path = answer.request.split(' ').nth(1).unwrap_or_default().to_owned();
    answer.checked(&path)
}

/// The same where the service may answer with a 5xx.
#[track_caller]
pub fn read_answer_allowing_5xx(stream: &mut TcpStream, request: &[u8]) -> Answer {
    let mut bytes = Vec::new();
    // A connection that is reset after the answer is an answer.
    let end = stream.read_to_end(&mut bytes);
    let request = String::from_utf8_lossy(&request[..request.len().min(500)]).into_owned();
    let Some(split) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        panic!(
            "no answer to {request:?} ({end:?}): {:?}",
            String::from_utf8_lossy(&bytes)
        );
    };
    let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|status| status.parse().ok());
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let body = &bytes[split + 4..];
    let chunked = headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { join_chunks(body) } else { body.to_vec() };
    Answer {
        status: status.expect("a status"),
        headers,
        body,
        request,
    }
    .checked_with_5xx()
}

fn join_chunks(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..line])
            .ok()
            .and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else {
            break;
        };
        let chunk = &bytes[line + 2..];
        assert!(chunk.len() >= size + 2, "the answer was cut off");
        body.extend_from_slice(&chunk[..size]);
        bytes = &chunk[size + 2..];
    }
    body
}
