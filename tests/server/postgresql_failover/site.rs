//! Three hosts on one database, with HAProxy in front of them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use portico_postgres::{Limits, PostgresStorage};
use portico_tests::{Anonymous, Builder, Client, Haproxy, Listening, Portico, TestService, free_port};
use tokio::runtime::Runtime;

/// How long a host may take until it serves again, once its database does. Far more than it takes.
const BOUND: Duration = Duration::from_secs(60);

/// Three hosts, and what is in front of them. Dropping it ends them.
pub struct Site {
    pub hosts: [Portico; 3],
    haproxy: Haproxy,
}

impl Site {
    /// Starts three hosts at the same time on this database, and HAProxy.
    pub fn start(url: &str) -> Self {
        Self::start_as(url, |host| host)
    }

    /// The same, with what each start of a host adds to the usual.
    pub fn start_as(url: &str, change: fn(Builder) -> Builder) -> Self {
        Self::start_with([url, url, url], change)
    }

    /// The same, where each host reaches the database in its own way.
    pub fn start_on(urls: [&str; 3]) -> Self {
        Self::start_with(urls, |host| host)
    }

    fn start_with(urls: [&str; 3], change: fn(Builder) -> Builder) -> Self {
        let start = |url: &str| {
            let host = Builder::default()
                .environment("PORTICO_DATABASE", url)
                .environment("PORTICO_TRUSTED_PROXIES", "127.0.0.1")
                .listen(&format!("127.0.0.1:{}", free_port()));
            change(host).start()
        };
        let hosts = thread::scope(|scope| {
            let starting = urls.map(|url| scope.spawn(move || start(url)));
            starting.map(|host| host.join().expect("a host"))
        });
        let this = Self {
            haproxy: Haproxy::start(&[0, 1, 2].map(|number: usize| hosts[number].address())),
            hosts,
        };
        this.wait_until_ready();
        this
    }

    /// A client without credentials, whose requests go to one host after the other.
    pub fn anonymous(&self) -> Anonymous {
        self.haproxy.anonymous()
    }

    /// Waits until each host is ready, and HAProxy passes requests on.
    pub fn wait_until_ready(&self) {
        let clients = self
            .hosts
            .iter()
            .map(Portico::anonymous)
            .chain([self.anonymous()]);
        for client in clients {
            wait_until("a host that is ready", || is_ready(&client));
        }
    }
}

/// A host in this process, which waits for its database for seconds only. The runtime is that of its storage.
pub fn impatient_host(url: &str) -> (Listening, Runtime) {
    let limits = Limits {
        answer: Duration::from_secs(4),
        wait: Duration::from_secs(4),
        ..Limits::default()
    };
    let runtime = Runtime::new().expect("a runtime");
    let storage = runtime.block_on(PostgresStorage::open_with(url, limits));
    let service = TestService::over(Arc::new(storage.expect("a database")));
    (service.listen(), runtime)
}

pub fn is_ready(client: &Anonymous) -> bool {
    let answer = client.try_send("GET", "/api/health/ready", &[], None);
    answer.is_ok_and(|answer| answer.status == 200)
}

/// Waits until the condition holds, for at most [`BOUND`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < BOUND, "no {what} within {BOUND:?}");
        thread::sleep(Duration::from_millis(20));
    }
}
