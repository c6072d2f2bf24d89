//! The servers as child processes, and their figures from the kernel.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};

/// How long to wait for an answer. The first start compiles the component.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    /// The address on which it listens.
    pub address: SocketAddr,
}

/// The memory of a server, in MiB.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// All resident memory.
    pub resident: f64,
    /// The part that is not backed by files.
    pub anonymous: f64,
}

/// A thread: its name and its processor time.
pub struct Thread {
    /// The name that the program gave it.
    pub name: String,
    /// Processor time since its start.
    pub time: Duration,
}

/// A command on the two measured cores, without settings from the environment.
pub fn on_two_cores(program: &Path) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = if cores > 2 {
        let mut command = Command::new("taskset");
        command.args(["-c", "0,1"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PORTICO_") {
            command.env_remove(name);
        }
    }
    // Backtraces would slow down traps.
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LOG");
    command.stdin(Stdio::null());
    command
}

impl Server {
    /// Starts a server and waits until it prints `… listens on http://ADDRESS …`.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut lines = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut line = String::new();
        let address = loop {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                let status = child.wait()?;
                bail!("a server ended before it listened ({status}); what it wrote stands above");
            }
            let address = line.split_once("listens on http://").map(|(_, rest)| rest);
            if let Some(address) = address.and_then(|rest| rest.split_whitespace().next()) {
                break address.parse()?;
            }
        };
        Ok(Self { child, address })
    }

    /// The processor time of all its threads, including ended ones.
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let stat = self.proc("stat")?;
        // The name may contain spaces. After its closing parenthesis comes the third field.
        let (_, fields) = stat.rsplit_once(')').context("a process's stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(|field| field.parse().unwrap_or(0)).sum();
        Ok(Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32)
    }

    /// Its threads by their ids.
    pub fn threads(&self) -> anyhow::Result<HashMap<u32, Thread>> {
        let mut threads = HashMap::new();
        for entry in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let folder = entry?.path();
            let read = |file: &str| fs::read_to_string(folder.join(file));
            // A thread may end meanwhile.
            let (Ok(name), Ok(time)) = (read("comm"), read("schedstat")) else {
                continue;
            };
            let nanos = time
                .split_whitespace()
                .next()
                .and_then(|nanos| nanos.parse().ok());
            let id = folder
                .file_name()
                .and_then(|id| id.to_str())
                .and_then(|id| id.parse().ok());
            if let (Some(id), Some(nanos)) = (id, nanos) {
                let name = name.trim().to_owned();
                let time = Duration::from_nanos(nanos);
                threads.insert(id, Thread { name, time });
            }
        }
        Ok(threads)
    }

    /// Its memory now.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        Ok(Memory {
            resident: self.status("VmRSS:")?,
            anonymous: self.status("RssAnon:")?,
        })
    }

    /// The most memory that it has had since [`Server::forget_peak`], in MiB.
    pub fn peak(&self) -> anyhow::Result<f64> {
        self.status("VmHWM:")
    }

    /// From now on, the peak is that of what comes.
    pub fn forget_peak(&self) -> anyhow::Result<()> {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").context("cannot reset the peak")
    }

    /// A field of its status, in MiB.
    fn status(&self, name: &str) -> anyhow::Result<f64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next());
        Ok(kib
            .with_context(|| format!("no {name} in a process's status"))?
            .parse::<f64>()?
            / 1024.0)
    }

    fn proc(&self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        fs::read_to_string(&path).with_context(|| format!("cannot read {path}: has the server ended?"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection for single requests.
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects.
    pub fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and returns the body of the answer. Fails if it is not a success.
    pub fn ask(&mut self, request: &str) -> anyhow::Result<String> {
        let (status, body) = self.send(request)?;
        let body = String::from_utf8(body)?;
        ensure!(status == "200", "{status}: {body}");
        Ok(body)
    }

    /// Sends a request and returns the status and the body of the answer.
    pub fn send(&mut self, request: &str) -> anyhow::Result<(String, Vec<u8>)> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut status = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            ensure!(
                self.0.read_line(&mut line)? > 0,
                "the server closed the connection"
            );
            if status.is_empty() {
                status = line.trim().to_owned();
            } else if line == "\r\n" {
                break;
            } else if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let status = status.split(' ').nth(1).unwrap_or_default().to_owned();
        Ok((status, body))
    }
}

/// The time from the start of a command to its first answer.
pub fn first_answer(command: Command, request: &str) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let server = Server::start(command)?;
    Connection::new(server.address)?.ask(request)?;
    Ok(started.elapsed())
}
