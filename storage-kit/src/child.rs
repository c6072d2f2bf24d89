//! An implementation in a child process, which speaks JSON lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;

use crate::protocol::{Answer, Broken, Implementation, Request};

/// A child process. Dropping this stops it.
pub struct Child {
    process: process::Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
}

impl Child {
    /// Starts it. It shares this process's standard error.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let input = process.stdin.take();
        let output = process
            .stdout
            .take()
            .context("a process without standard output")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output).lines();
            // Ends when the output ends, or when the receiver is dropped.
            while output.next().is_some_and(|line| sender.send(line).is_ok()) {}
        });
        Ok(Self {
            process,
            input,
            lines,
        })
    }

    fn exit_report(&mut self) -> Broken {
        let how = match self.process.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Broken(format!("the bridge has ended ({how})"))
    }
}

impl Implementation for Child {
    fn send(&mut self, request: &Request) -> Result<(), Broken> {
        let mut line = request.to_json().to_string().into_bytes();
        line.push(b'\n');
        let sent = self.input.as_mut().map(|input| input.write_all(&line));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.exit_report()),
        }
    }

    fn receive(&mut self, within: Duration) -> Result<Option<(u64, Answer)>, Broken> {
        let line = match self.lines.recv_timeout(within) {
            Ok(line) => line.map_err(|error| Broken(format!("the bridge's output: {error}")))?,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(self.exit_report()),
        };
        let read = match serde_json::from_str::<Value>(&line) {
            Ok(value) => Answer::from_json(value).ok_or("no `id` with either `ok` or `error`".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        read.map(Some).map_err(|reason| {
            Broken(format!(
                "the bridge wrote a line that is no answer ({reason}): {line:.200}"
            ))
        })
    }
}

impl Drop for Child {
    /// Closes its input, and kills it if it has not ended after a while.
    fn drop(&mut self) {
        self.input = None;
        let while_it_ends = Duration::from_secs(2);
        let end = Instant::now() + while_it_ends;
        while Instant::now() < end {
            match self.lines.recv_timeout(end - Instant::now()) {
                Ok(_) => {}
                Err(_) => break,
            }
        }
        if !matches!(self.process.try_wait(), Ok(Some(_))) {
            thread::sleep(Duration::from_millis(100));
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}
