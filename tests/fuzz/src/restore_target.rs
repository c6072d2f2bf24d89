//! Files to restore: a file is refused, or it becomes a database that opens, with the tables, indexes, views and triggers
//! that Portico makes and no others.
//!
//! The first byte says what the others are: a file; edits of a database (offset in four bytes, a length, and that many
//! bytes); or SQL that changes one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use portico_sqlite::{SqliteStorage, backup, restore};
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// What all runs begin with.
struct Base {
    folder: TempDir,
    /// A database of Portico.
    database: Vec<u8>,
    schema: Vec<String>,
    runtime: Runtime,
}

pub fn run(bytes: &[u8]) {
    static BASE: OnceLock<Base> = OnceLock::new();
    let base = BASE.get_or_init(begin);
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let file = base.path("file.db");
    match kind % 3 {
        0 => fs::write(&file, rest).expect("a file"),
        1 => fs::write(&file, edited(&base.database, rest)).expect("a file"),
        _ => {
            let Ok(sql) = str::from_utf8(rest) else {
                return;
            };
            fs::write(&file, &base.database).expect("a file");
            change(&file, sql);
        }
    }
    let database = base.path("portico.db");
    let restored = restore(&file, &database, true, "fuzz", &mut |_| true);
    if restored.is_ok() {
        assert_eq!(schema_of(&database), base.schema, "it has another schema");
        let _entered = base.runtime.enter();
        let storage = SqliteStorage::open(&database);
        drop(storage.expect("a database that was restored opens"));
    }
    for entry in fs::read_dir(base.folder.path()).expect("the folder") {
        let _ = fs::remove_file(entry.expect("a file").path());
    }
}

impl Base {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn begin() -> Base {
    // In memory, if there is such a place: each run writes and flushes a few files.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let folder = folder.expect("a folder");
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (made, copy) = (folder.path().join("made.db"), folder.path().join("copy.db"));
    {
        let _entered = runtime.enter();
        drop(SqliteStorage::open(&made).expect("a database"));
    }
    backup(&made, &copy, false, &mut |_| true).expect("a copy in one file");
    let (database, schema) = (fs::read(&copy).expect("the copy"), schema_of(&copy));
    Base {
        folder,
        database,
        schema,
        runtime,
    }
}

fn schema_of(file: &Path) -> Vec<String> {
    let connection = Connection::open(file).expect("a database");
    let sql = "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema ORDER BY 1";
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

fn edited(database: &[u8], mut edits: &[u8]) -> Vec<u8> {
    let mut file = database.to_vec();
    while let Some((head, rest)) = edits.split_at_checked(5) {
        let offset = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize % file.len();
        let length = usize::from(head[4]).min(rest.len()).min(file.len() - offset);
        file[offset..offset + length].copy_from_slice(&rest[..length]);
        edits = &rest[length..];
    }
    file
}

/// Runs SQL of anyone on a database, without reaching other files, and not for long.
fn change(file: &Path, sql: &str) {
    let mut connection = Connection::open(file).expect("a database");
    let mut steps = 0;
    let go_on = move || {
        steps += 1;
        steps > 100
    };
    connection.progress_handler(1000, Some(go_on)).expect("a limit");
    let allow = |context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    };
    connection.authorizer(Some(allow)).expect("a limit");
    let _ = connection.execute_batch(sql);
    // One file again, like a backup.
    let _ = connection.pragma_update(None, "journal_mode", "DELETE");
}
