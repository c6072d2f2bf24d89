//! The servers as child processes, and connections to them.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};

/// How long to wait for an answer. The first start compiles the component.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// A command without settings from the environment.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("PORTICO_")) {
        command.env_remove(name);
    }
    // Backtraces would slow down traps.
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LOG");
    command.stdin(Stdio::null());
    command
}

/// The command that starts Portico on this data, with its cache in this folder.
pub fn portico(program: &Path, data: &Path, cache: &Path) -> Command {
    let mut command = command(program);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .env("PORTICO_ICON_SOURCES", "")
        // All sign-ins come from one address, which the throttle would limit.
        .env("PORTICO_SIGN_IN_THROTTLE", "off")
        .env("PORTICO_LOG", "warn")
        .env("PORTICO_CACHE", cache);
    command
}

impl Server {
    /// Starts a server and waits until it prints `… listens on http://ADDRESS …`.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let child = command.stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        loop {
            let line = lines.next().transpose()?;
            let line = line.context("a server ended before it listened; what it wrote stands above")?;
            let address = line.split_once("listens on http://").map(|(_, rest)| rest);
            if let Some(address) = address.and_then(|rest| rest.split_whitespace().next()) {
                let address = address.parse()?;
                return Ok(Self { child, address });
            }
        }
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

    /// The most memory that it has had, in MiB.
    pub fn peak(&self) -> anyhow::Result<u64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next());
        Ok(kib.context("no VmHWM in a process's status")?.parse::<u64>()? / 1024)
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
    pub fn new(server: &Server) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(server.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and returns the body of the answer. Fails if it is not a success.
    pub fn ask(&mut self, request: &str) -> anyhow::Result<String> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let mut length = 0;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.trim().is_empty() {
                break;
            } else if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let body = String::from_utf8(body)?;
        ensure!(
            status.starts_with("HTTP/1.1 200"),
            "{request}\n{} {body}",
            status.trim()
        );
        Ok(body)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line)?;
        ensure!(length > 0, "the server closed the connection");
        Ok(line)
    }
}
