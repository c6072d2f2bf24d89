//! Whether apps can be reached. A host checks it (`host/status`); this is what `app.status` asks of it.

use portico_model::Timestamp;

/// Checks URLs, and remembers how that ended.
pub trait Reachability: Send + Sync + 'static {
    /// Whether people who are not signed in are told, too.
    fn is_for_everyone(&self) -> bool;

    /// The hosts in private networks that may be checked, if the operator has said it. Otherwise those that administrators have
    /// stored may be.
    fn fixed_hosts(&self) -> Option<Vec<String>>;

    /// What is known of each of these URLs, in order. It waits for nothing: those that are due are checked afterwards,
    /// and a later look finds the outcome. From now on, what administrators have stored may be checked, unless the operator
    /// has fixed it.
    fn look(&self, ping_urls: &[&str], stored_hosts: &[String]) -> Vec<Known>;
}

/// What is known of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// How the last check ended; unknown if there was none, or none for long.
    pub status: Status,
    /// Since when every check has ended like this.
    pub since: Option<Timestamp>,
    /// When the last check ended.
    pub checked_at: Option<Timestamp>,
}

impl Known {
    /// Nothing is known yet.
    pub const NOTHING: Self = Self {
        status: Status::Unknown,
        since: None,
        checked_at: None,
    };
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There was no check yet.
    Unknown,
    /// An HTTP status below 500 came after this time, without that of looking up the name.
    Up {
        /// The time.
        milliseconds: u32,
    },
    /// No such status came.
    Down(Down),
    /// The operator does not allow it to be checked.
    NotAllowed(Refused),
}

/// Why something is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Down {
    /// Its name is not known.
    Name,
    /// No connection could be made.
    Connection,
    /// It took too long.
    Time,
    /// TLS failed.
    Tls,
    /// The response was not HTTP, or ended too early.
    Http,
    /// The HTTP status was 500 or more.
    Server,
}

/// Why something may not be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Its address is not public, and the operator has not allowed it.
    Address,
    /// Its port is one that browsers block.
    Port,
    /// It is not a URL with `http:` or `https:`.
    Url,
}

impl Down {
    /// As the API names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "unknown-name",
            Self::Connection => "no-connection",
            Self::Time => "too-slow",
            Self::Tls => "tls",
            Self::Http => "not-http",
            Self::Server => "server-error",
        }
    }
}

impl Refused {
    /// As the API names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Address => "private-address",
            Self::Port => "blocked-port",
            Self::Url => "not-a-url",
        }
    }
}

/// The reasons that the API gives.
pub const REASONS: [&str; 9] = [
    "unknown-name",
    "no-connection",
    "too-slow",
    "tls",
    "not-http",
    "server-error",
    "private-address",
    "blocked-port",
    "not-a-url",
];
