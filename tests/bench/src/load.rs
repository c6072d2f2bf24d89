//! Requests as text, and load by wrk with one script for both servers.

use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::server::Server;

/// `GET path`, with this key.
pub fn get(path: &str, key: Option<&str>) -> String {
    request("GET", path, key, "")
}

/// `POST path` with a JSON body and this key.
pub fn post(path: &str, key: Option<&str>, body: &Value) -> String {
    request("POST", path, key, &body.to_string())
}

fn request(method: &str, path: &str, key: Option<&str>, body: &str) -> String {
    let key = key.map(|key| format!("authorization: Bearer {key}\r\n"));
    let length = body.len();
    let length =
        (length > 0).then(|| format!("content-type: application/json\r\ncontent-length: {length}\r\n"));
    let (key, length) = (key.unwrap_or_default(), length.unwrap_or_default());
    format!("{method} {path} HTTP/1.1\r\nhost: bench\r\n{key}{length}\r\n{body}")
}

/// Requests that are sent in turn to a server, on so many connections.
pub struct Load<'a> {
    pub server: &'a Server,
    pub requests: &'a [String],
    pub connections: u32,
}

/// The result of one run.
pub struct Sample {
    /// Answers per second.
    pub rate: f64,
    /// Processor time of the server, in microseconds per answer.
    pub processor: f64,
}

impl Load<'_> {
    /// Loads the server for a second. Fails if any answer is not a success.
    pub fn run(&self) -> anyhow::Result<Sample> {
        // For ASCII text, a JSON string is also a Lua string.
        let requests = serde_json::to_string(self.requests)?;
        let requests = &requests[1..requests.len() - 1];
        let script = tempfile::NamedTempFile::new()?;
        std::fs::write(&script, format!("local requests = {{{requests}}}\n{SCRIPT}"))?;
        let mut wrk = Command::new("wrk");
        wrk.args(["--threads", "1", "--timeout", "60s", "--duration", "1s"])
            .args(["--connections", &self.connections.to_string(), "--script"])
            .arg(script.path())
            .arg(format!("http://{}", self.server.address));
        let before = self.server.processor_time()?;
        let output = wrk.output();
        let output = output.context("cannot start wrk: use `make bench`, or apt-get install wrk")?;
        let time = self.server.processor_time()? - before;
        let text = String::from_utf8_lossy(&output.stdout);
        let summary = text.lines().rfind(|line| line.starts_with('['));
        let summary = summary.with_context(|| format!("no summary from wrk:\n{text}"))?;
        let [answers, micros, errors]: [f64; 3] = serde_json::from_str(summary)?;
        ensure!(
            errors == 0.0 && answers > 0.0,
            "not every answer was a success:\n{text}"
        );
        Ok(Sample {
            rate: answers / (micros / 1e6),
            processor: time.as_secs_f64() * 1e6 / answers,
        })
    }
}

/// The requests are prepared in advance; this only picks the next one.
const SCRIPT: &str = r"
local next_request, count = 0, #requests
function request()
    next_request = next_request % count + 1
    return requests[next_request]
end
function done(summary)
    local errors = 0
    for _, number in pairs(summary.errors) do errors = errors + number end
    io.write(string.format('\n[%d,%d,%d]\n', summary.requests, summary.duration, errors))
end
";
