//! Load with wrk, from one script for both servers.

use std::{
    fmt::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::process::{Server, on_two_cores};

/// A request, ready to be sent.
#[derive(Clone)]
pub struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Request {
    /// `GET path`.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// `POST path` with a JSON body.
    pub fn post(path: impl Into<String>, body: &serde_json::Value) -> Self {
        Self {
            method: "POST",
            headers: vec![("content-type", "application/json".into())],
            body: body.to_string(),
            ..Self::get(path)
        }
    }

    /// With an API key.
    pub fn with_key(mut self, key: &str) -> Self {
        self.headers.push(("authorization", format!("Bearer {key}")));
        self
    }

    /// With an answer that may be compressed.
    pub fn compressed(mut self) -> Self {
        self.headers.push(("accept-encoding", "gzip".into()));
        self
    }

    /// The bytes that are sent.
    pub fn text(&self) -> String {
        let Self {
            method, path, body, ..
        } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: bench\r\n");
        for (name, value) in &self.headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        if !body.is_empty() {
            let _ = write!(text, "content-length: {}\r\n", body.len());
        }
        text + "\r\n" + body
    }
}

/// Requests that are sent in turn, and on how many connections.
pub struct Load<'a> {
    /// Each is sent equally often.
    pub requests: &'a [Request],
    /// The number of concurrent connections.
    pub connections: u32,
}

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Answers per second.
    pub rate: f64,
    /// The number of answers.
    pub answers: f64,
    /// The median latency, in microseconds.
    pub p50: f64,
    /// The 99th percentile of the latency, in microseconds.
    pub p99: f64,
    /// Processor time of the server, in microseconds per answer.
    pub processor: f64,
}

/// The output of the script.
#[derive(Deserialize)]
struct Summary {
    answers: f64,
    micros: f64,
    p50: f64,
    p99: f64,
    errors: u64,
}

/// Fails if wrk is missing.
pub fn check() -> anyhow::Result<()> {
    let found = Command::new("wrk").arg("--version").output();
    found.context("wrk is missing: use `make bench`, or install it (Debian: apt-get install wrk)")?;
    Ok(())
}

/// A running wrk.
pub struct Running(Child);

impl Load<'_> {
    /// Loads a server for this many seconds.
    pub fn run(&self, server: &Server, folder: &Path, seconds: u32) -> anyhow::Result<Sample> {
        let before = server.processor_time()?;
        let mut sample = self.start(server, folder, "load", seconds)?.finish()?;
        let time = server.processor_time()? - before;
        sample.processor = time.as_secs_f64() * 1e6 / sample.answers;
        Ok(sample)
    }

    /// Starts to load a server. Loads that run at the same time need different names.
    pub fn start(&self, server: &Server, folder: &Path, name: &str, seconds: u32) -> anyhow::Result<Running> {
        let script = folder.join(format!("{name}.lua"));
        std::fs::write(&script, self.script())?;
        let wrk = on_two_cores(Path::new("wrk"))
            .args(["--threads", "1", "--timeout", "60s"])
            .args(["--connections", &self.connections.to_string()])
            .args(["--duration", &format!("{seconds}s"), "--script"])
            .arg(&script)
            .arg(format!("http://{}", server.address))
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start wrk")?;
        Ok(Running(wrk))
    }

    /// The requests are prepared in advance; the script only picks the next one.
    fn script(&self) -> String {
        let mut script = String::from("local requests = {\n");
        for request in self.requests {
            // For ASCII text, a JSON string is also a Lua string.
            let _ = writeln!(script, "{},", serde_json::Value::from(request.text()));
        }
        script + SCRIPT
    }
}

const SCRIPT: &str = r#"}
local next_request, count = 0, #requests
function request()
    next_request = next_request % count + 1
    return requests[next_request]
end
function done(summary, latency)
    local errors = 0
    for _, number in pairs(summary.errors) do errors = errors + number end
    io.write(string.format('\n{"answers":%d,"micros":%d,"p50":%d,"p99":%d,"errors":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors))
end
"#;

impl Running {
    /// Waits for the end. The run fails if any answer is not a success.
    pub fn finish(mut self) -> anyhow::Result<Sample> {
        let output = self.0.stdout.take().context("a pipe")?;
        let text = std::io::read_to_string(output)?;
        ensure!(self.0.wait()?.success(), "wrk failed:\n{text}");
        let summary = text.lines().rfind(|line| line.starts_with('{'));
        let summary = summary.with_context(|| format!("no summary from wrk:\n{text}"))?;
        let summary: Summary = serde_json::from_str(summary)?;
        ensure!(
            summary.errors == 0 && summary.answers > 0.0,
            "{} of {} answers were errors:\n{text}",
            summary.errors,
            summary.answers
        );
        Ok(Sample {
            rate: summary.answers / (summary.micros / 1e6),
            answers: summary.answers,
            p50: summary.p50,
            p99: summary.p99,
            processor: 0.0,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After an error elsewhere it may still be running.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
