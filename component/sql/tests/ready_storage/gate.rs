//! A database in which a test decides when a transaction commits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::bindings::database::{Dialect, Error, Row, Value};
use crate::host::{Connection, Database};

/// Only a test that fails waits so long.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Open,
    /// The next transaction that writes is held before its COMMIT.
    Armed,
    /// One is held, and so many others have asked to begin since.
    Held(usize),
}

/// Holds a transaction that writes before its COMMIT.
pub struct Gate {
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            stage: Mutex::new(Stage::Open),
            changed: Condvar::new(),
        })
    }

    pub fn hold_next_commit(&self) {
        self.set(Stage::Armed);
    }

    /// Until a transaction is held, and so many others that write have asked to begin.
    #[track_caller]
    pub fn wait_until_held(&self, others: usize) {
        self.wait_until(self.stage.lock().unwrap(), |stage| stage == Stage::Held(others));
    }

    pub fn release(&self) {
        self.set(Stage::Open);
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap() = stage;
        self.changed.notify_all();
    }

    #[track_caller]
    fn wait_until(&self, stage: MutexGuard<'_, Stage>, is_there: impl Fn(Stage) -> bool) {
        let waited = self
            .changed
            .wait_timeout_while(stage, LONGEST_WAIT, |stage| !is_there(*stage));
        assert!(
            !waited.unwrap().1.timed_out(),
            "the other threads did not come so far"
        );
    }

    fn begins(&self) {
        let mut stage = self.stage.lock().unwrap();
        if let Stage::Held(others) = *stage {
            *stage = Stage::Held(others + 1);
            self.changed.notify_all();
        }
    }

    fn commits(&self) {
        let mut stage = self.stage.lock().unwrap();
        if *stage == Stage::Armed {
            *stage = Stage::Held(0);
            self.changed.notify_all();
            self.wait_until(stage, |stage| stage == Stage::Open);
        }
    }
}

/// A database behind a gate.
pub struct Gated<D> {
    pub database: D,
    pub gate: Arc<Gate>,
}

impl<D: Database> Database for Gated<D> {
    fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    fn begin(&self, opening: &[String]) -> Result<Box<dyn Connection>, Error> {
        let writes = |sql: &String| sql == "BEGIN IMMEDIATE" || sql.ends_with("READ WRITE");
        if !opening.iter().any(writes) {
            return self.database.begin(opening);
        }
        self.gate.begins();
        Ok(Box::new(Writer {
            connection: self.database.begin(opening)?,
            gate: self.gate.clone(),
        }))
    }
}

struct Writer {
    connection: Box<dyn Connection>,
    gate: Arc<Gate>,
}

impl Connection for Writer {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        self.connection.query(sql, values)
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.connection.execute(sql, values)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        self.gate.commits();
        self.connection.commit()
    }
}
