//! `portico healthcheck`: for containers, which have no other program that could ask.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::Value;
use ureq::{Agent, http::Uri};

use super::{
    listen,
    output::print,
    serve::DEFAULT_LISTEN,
    settings::{Settings, Within},
    terminal::printable,
};

const HELP: &str = "\
The exit code is 0 if a host at this address is ready: it serves, its database answers and accepts
changes, and it is not about to stop. Otherwise the exit code is 1, and a line says why.

Examples:
  portico healthcheck
  portico healthcheck --live
  portico healthcheck --url https://portico.example";

/// The most of an answer that is read, in bytes.
const LARGEST: u64 = 64 << 10;
const DEFAULT_TIME_LIMIT: u64 = 5;

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Healthcheck {
    /// The host [default: the one that listens on the address of --listen]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The address that `portico serve` listens on [default: 127.0.0.1:7575]
    #[arg(long, env = "PORTICO_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Ask only whether the process answers, as it does while it waits for its database
    #[arg(long)]
    live: bool,
    /// How long the answer may take, 1 to 60 [default: 5]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<Within<1, 60>>,
}

impl Healthcheck {
    pub fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let url = match self.url {
            Some(url) => url,
            None => {
                let address = match self.listen.or(settings.listen) {
                    Some(address) => address,
                    None => DEFAULT_LISTEN.parse()?,
                };
                ensure!(
                    address.port() != 0,
                    "the host listens on a port that it chose itself: name it with --url http://127.0.0.1:PORT"
                );
                format!("http://{}", listen::seen_from_here(address))
            }
        };
        let check = if self.live { Check::Live } else { Check::Ready };
        let limit = self.time_limit.map_or(DEFAULT_TIME_LIMIT, |limit| limit.0);
        let answer = ask(&url, check, Duration::from_secs(limit))?;
        print(&answer)
    }
}

/// What to ask a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Whether the process answers.
    Live,
    /// Whether it can serve.
    Ready,
}

/// Asks a host, and returns its answer in words. Anything but its right answer is an error. Blocks.
pub fn ask(url: &str, check: Check, limit: Duration) -> anyhow::Result<String> {
    let url = url.trim_end_matches('/');
    let shown = printable(url);
    let parsed: Option<Uri> = url.parse().ok();
    let is_fit = parsed.is_some_and(|url| {
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let names_host = url
            .authority()
            .is_some_and(|authority| !authority.as_str().contains('@'));
        is_http && names_host && url.query().is_none()
    });
    // It is not repeated, because it may hold a password.
    ensure!(
        is_fit,
        "the URL is not one of a host: it must be like http://127.0.0.1:7575, without a name and password and without \
         a query"
    );
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        // Another host is not the one that was asked about, and neither is a proxy that containers name.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .timeout_global(Some(limit))
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let path = match check {
        Check::Live => "live",
        Check::Ready => "ready",
    };
    let answer = agent.get(format!("{url}/api/health/{path}")).call();
    let mut answer = answer.with_context(|| format!("no host answers at {shown}"))?;
    let status = answer.status();
    let body = answer.body_mut().with_config().limit(LARGEST).read_to_string();
    let body: Value = body
        .ok()
        .and_then(|body| serde_json::from_str(&body).ok())
        .unwrap_or_default();
    if status == 200 && body["status"] == "ok" {
        let version = body["version"]
            .as_str()
            .map_or(String::new(), |version| format!(": portico {version}"));
        return Ok(printable(&format!("{url} is {path}{version}")).into_owned());
    }
    let message = body["message"]
        .as_str()
        .unwrap_or("this is not a Portico, or something in front of it");
    anyhow::bail!(
        "{shown} is not {path}: {} {}",
        status.as_u16(),
        printable(message)
    );
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// The result for a server that sends these pieces, and repeats the last one until the client leaves.
    fn asked(pieces: &'static [&'static str], limit: Duration) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            for piece in pieces {
                let _ = stream.write_all(piece.as_bytes());
            }
            if let Some(last) = pieces.last().filter(|last| last.len() > 1000) {
                while stream.write_all(last.as_bytes()).is_ok() {}
            }
            if pieces.is_empty() {
                // Until the client gives up.
                let _ = stream.read(&mut [0; 1]);
            }
        });
        let asked = ask(&url, Check::Ready, limit).map_err(|error| format!("{error:#}"));
        server.join().unwrap();
        asked
    }

    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn the_answer_of_a_host_that_is_ready_is_enough() {
        const READY: &str =
            "HTTP/1.1 200 OK\r\ncontent-length: 34\r\n\r\n{\"status\":\"ok\",\"version\":\"0.1.0\" }";
        let said = asked(&[READY], PATIENT).unwrap();
        assert!(said.ends_with("is ready: portico 0.1.0"), "{said}");
    }

    #[test]
    fn anything_else_is_not_ready() {
        for (answer, said) in [
            (
                "HTTP/1.1 503 X\r\ncontent-length: 23\r\n\r\n{\"message\":\"Not\\u001b\"}",
                "503 Not\\u{1b}",
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nokay",
                "200 this is not a Portico",
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{\"status\":\"down\"}",
                "200 this is not a Portico",
            ),
            (
                "HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
                "302 this is not",
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"status\":\"ok\"}",
                "200 this is not a Portico",
            ),
            ("SSH-2.0-OpenSSH\r\n", "no host answers at http://127.0.0.1:"),
        ] {
            let pieces: &'static [&'static str] = Box::leak(Box::new([answer]));
            let refusal = asked(pieces, PATIENT).unwrap_err();
            assert!(refusal.contains(said), "{refusal}");
        }
    }

    #[test]
    fn an_answer_without_end_is_cut() {
        let piece: &'static str = "{\"status\":\"ok\"}      ".repeat(500).leak();
        let pieces = ["HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", piece];
        let refusal = asked(Box::leak(Box::new(pieces)), PATIENT).unwrap_err();
        assert!(refusal.contains("200 this is not a Portico"), "{refusal}");
    }

    #[test]
    fn a_host_that_says_nothing_is_not_waited_for() {
        let refusal = asked(&[], Duration::from_millis(50)).unwrap_err();
        assert!(refusal.contains("no host answers at"), "{refusal}");
    }

    #[test]
    fn a_url_that_is_not_of_a_host_is_refused_without_repeating_it() {
        for url in [
            "",
            "127.0.0.1:7575",
            "ftp://127.0.0.1",
            "file:///etc/passwd",
            "http://ann:secret@127.0.0.1:7575",
            "http://127.0.0.1:7575/?secret",
            "http://",
            "http://a b",
        ] {
            let refusal = ask(url, Check::Live, PATIENT).unwrap_err().to_string();
            assert!(
                refusal.starts_with("the URL is not one of a host"),
                "{url}: {refusal}"
            );
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }
}
