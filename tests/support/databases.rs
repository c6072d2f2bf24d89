//! The databases that a service under test works on, so that one test body runs on each.

use portico_storage::copying::{Row, RowReader, TABLES};

use crate::postgresql::Postgresql;
use crate::{Builder, Client, Portico, wait_until};

/// A database without data.
pub enum Database {
    /// The file in the data directory.
    Sqlite,
    /// A database of PostgreSQL.
    Postgresql {
        /// The server.
        server: Box<Postgresql>,
        /// The URL of the database.
        url: String,
    },
}

impl Database {
    /// One on the server that all tests share.
    #[track_caller]
    pub fn on_shared_server() -> Self {
        Self::on(Postgresql::shared())
    }

    /// One on a server of the test's own, which it may end.
    #[track_caller]
    pub fn on_own_server() -> Self {
        Self::on(Postgresql::start())
    }

    #[track_caller]
    fn on(server: Postgresql) -> Self {
        let server = Box::new(server);
        let url = server.create_database("home");
        Self::Postgresql { server, url }
    }

    /// Starts a service on it, with a data directory of its own.
    #[track_caller]
    pub fn start(&self) -> Portico {
        match self {
            Self::Sqlite => Portico::start(),
            Self::Postgresql { url, .. } => Builder::default().environment("PORTICO_DATABASE", url).start(),
        }
    }

    /// Ends its server immediately. SQLite has no server.
    pub fn crash(&self) {
        if let Self::Postgresql { server, .. } = self {
            server.crash();
        }
    }

    /// Starts its server again, unless it runs.
    #[track_caller]
    pub fn start_again(&self) {
        if let Self::Postgresql { server, .. } = self
            && !server.is_running()
        {
            server.start_again();
        }
    }
}

/// Waits until a service that has lost its database uses it again.
#[track_caller]
pub fn wait_until_ready(server: &Portico) {
    let anonymous = server.anonymous();
    wait_until("readiness", || {
        anonymous
            .send_allowing_5xx("GET", "/api/health/ready", None)
            .status
            == 200
    });
}

/// Runs each of these functions, which take a [`Database`], on each driver; of PostgreSQL `on_shared_server` or
/// `on_own_server`.
#[macro_export]
macro_rules! on_every_database {
    ($server:ident: $($case:ident)+) => {
        mod sqlite {
            $(#[test] fn $case() { super::$case(&$crate::databases::Database::Sqlite); })+
        }
        mod postgresql {
            $(
                #[test]
                #[ignore = "make test-all"]
                fn $case() {
                    super::$case(&$crate::databases::Database::$server());
                }
            )+
        }
    };
}

/// The rows of each table.
pub type Rows = Vec<(&'static str, Vec<Row>)>;

/// All that a database holds.
pub async fn rows(reader: &mut dyn RowReader) -> Rows {
    let mut all = Rows::new();
    for table in &TABLES {
        reader.start(table).await.expect("the table");
        let mut rows = Vec::new();
        loop {
            let piece = reader.next().await.expect("rows");
            if piece.rows.is_empty() {
                break;
            }
            rows.extend(piece.rows);
        }
        all.push((table.name, rows));
    }
    all
}
