//! Requests with many records: `make bench-scale`.
//!
//! For each driver and each number of apps and users, a new database is filled and Portico is started on it. Changes, and
//! reads of one record, are compared with the first, small number: they are to be flat. Pages and searches have limits.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use portico_tests::{Anonymous, PASSWORD, postgresql::Postgresql, trpc_query_path};
use serde_json::{Value, json};

use crate::{
    data::{self, COMMON, Database, NEVER, ONCE, TWELFTH, app_id, user_id},
    load::{get, post},
    server::{self, Connection, Server},
    table::{Bound, Row, Table, median, quantile},
};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const PAGE: usize = 10;
/// How often, and for how long, a request is timed.
const REPEATS: usize = 15;
const LONG: Duration = Duration::from_secs(3);
/// Flat: at most so many times what it takes with the smallest number of records.
const FLAT: f64 = 1.5;
/// How many requests are timed alongside the heaviest reads.
const ALONGSIDE: usize = 1_000;

#[derive(clap::Args)]
pub struct Options {
    /// How many apps and users; the first is what the others are compared with
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = SIZES)]
    sizes: Vec<usize>,
    #[arg(long, value_name = "DRIVERS", value_delimiter = ',', default_values = ["sqlite", "postgresql"])]
    drivers: Vec<Driver>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Driver {
    Sqlite,
    Postgresql,
}

/// What takes long with many records.
#[derive(Clone, Copy)]
enum Work {
    /// Counts, pages, and searches for three letters or more.
    Indexed,
    /// Searches for one or two letters, for which PostgreSQL has no index.
    Short,
    /// A page with its total where callers see the apps on their boards.
    ByBoards,
}

/// The most that a request may take, in milliseconds; with `None` it is only reported.
fn limit(driver: Driver, size: usize, work: Work) -> Option<f64> {
    match (driver, size <= 100_000, work) {
        (_, true, Work::ByBoards) => Some(300.0),
        (Driver::Sqlite, true, _) => Some(60.0),
        (Driver::Postgresql, true, _) => Some(200.0),
        (Driver::Postgresql, false, Work::Indexed) => Some(400.0),
        (_, false, _) => None,
    }
}

/// Measures, and prints a table for each driver and number of records.
pub fn run(options: &Options, portico: PathBuf, quick: bool) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("portico-scale-").tempdir()?;
    let sizes = if quick {
        &[1_000, 3_000][..]
    } else {
        &options.sizes[..]
    };
    for driver in &options.drivers {
        let is_postgresql = *driver == Driver::Postgresql;
        if is_postgresql && !crate::has_postgresql() {
            continue;
        }
        let settings = ["-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"];
        let server = is_postgresql.then(|| Postgresql::start_with(&settings));
        let mut smallest = Vec::new();
        for size in sizes.iter().copied() {
            let name = if is_postgresql { "PostgreSQL" } else { "SQLite" };
            let title = format!("{name}, {size} apps and users");
            eprintln!("{title}");
            let scale = Scale {
                portico: &portico,
                driver: *driver,
                size,
            };
            let rows = scale.measure(folder.path(), server.as_ref(), &mut smallest);
            println!("{}", Table(&title, &rows.with_context(|| title.clone())?));
        }
    }
    Ok(())
}

struct Scale<'a> {
    portico: &'a Path,
    driver: Driver,
    size: usize,
}

impl Scale<'_> {
    fn measure(
        &self,
        folder: &Path,
        server: Option<&Postgresql>,
        smallest: &mut Vec<f64>,
    ) -> anyhow::Result<Vec<Row>> {
        let name = format!("scale-{}-{}", self.driver as u8, self.size);
        let counts = (self.size, self.size);
        let database = Database::create(self.portico, folder, &name, server, counts)?;
        database.add_boards(self.size)?;
        let command = || server::portico(self.portico, &database.folder, folder);
        let sign_in = |server: &Server, name: &str| {
            let client = Anonymous::at(&server.address.to_string());
            client.sign_in(name, PASSWORD).token
        };

        let server = database.start(command())?;
        let key = sign_in(&server, "root");
        let mut rows = self.time_single_records(&server, &key, smallest)?;
        rows.extend(self.time_pages_and_searches(&server, &key)?);
        rows.push(self.time_alongside(&server, &key)?);
        drop(server);

        let mut by_boards = command();
        by_boards.args(["--app-visibility", "boards"]);
        let server = database.start(by_boards)?;
        let viewer = sign_in(&server, &data::name(0, self.size));
        let request = query("app.getPaginated", &page(1, None), &viewer);
        let time = time(&server, |_| request.clone())?;
        rows.push(self.row(
            "apps: a page with its total by boards".to_owned(),
            time,
            Work::ByBoards,
        ));
        drop(server);
        std::fs::remove_dir_all(&database.folder)?;
        Ok(rows)
    }

    fn row(&self, work: String, milliseconds: f64, kind: Work) -> Row {
        let limit = limit(self.driver, self.size, kind);
        Row {
            work,
            measured: format!("{milliseconds:.2} ms"),
            figure: milliseconds,
            target: limit.map(|limit| Bound::AtMost(limit, " ms")),
        }
    }

    /// By id, create, update, delete and sign-in, compared with the smallest number of records.
    fn time_single_records(
        &self,
        server: &Server,
        key: &str,
        smallest: &mut Vec<f64>,
    ) -> anyhow::Result<Vec<Row>> {
        let credentials = json!({"username": data::name(0, self.size), "password": PASSWORD});
        let (app, user) = (app_id(self.size / 2), user_id(self.size / 2));
        // What changes a record takes another one each time.
        let call = |name: &str, nth: usize| match name {
            "app.byId" => json!({"id": app}),
            "user.getById" => json!({"userId": user}),
            "app.create" => json!({"name": format!("New {nth}"), "iconUrl": "/icon.svg"}),
            "app.update" => json!({"id": app_id(100 + nth), "name": format!("Changed {nth}")}),
            "app.delete" => json!({"id": app_id(200 + nth)}),
            "user.create" => json!({"username": format!("new {nth}"), "password": PASSWORD, "groupIds": []}),
            "user.editProfile" => json!({"id": user_id(110 + nth), "name": format!("changed {nth}")}),
            _ => json!({"userId": user_id(210 + nth)}),
        };
        const WORKS: &str = "app.byId user.getById app.create app.update app.delete user.create user.editProfile \
            user.delete sign-in";
        let mut rows = Vec::new();
        for (index, work) in WORKS.split(' ').enumerate() {
            let time = time(server, |nth| match work {
                "sign-in" => post("/api/auth/sign-in", None, &credentials),
                "app.byId" | "user.getById" => query(work, &call(work, nth), key),
                _ => post(&format!("/api/trpc/{work}"), Some(key), &call(work, nth)),
            })?;
            if smallest.len() == index {
                smallest.push(time);
            }
            let growth = time / smallest[index];
            rows.push(Row {
                work: work.to_owned(),
                measured: format!("{growth:.2}: {time:.2} ms"),
                figure: growth,
                target: Some(Bound::AtMost(FLAT, "")),
            });
        }
        Ok(rows)
    }

    fn time_pages_and_searches(&self, server: &Server, key: &str) -> anyhow::Result<Vec<Row>> {
        let pages = self.size / PAGE;
        let mut requests = Vec::new();
        for kind in ["app", "user"] {
            let (paginated, search) = (format!("{kind}.getPaginated"), format!("{kind}.search"));
            for (work, number) in [("the first", 1), ("the middle", pages / 2), ("the last", pages)] {
                let work = format!("{kind}s: {work} page, with the count of all");
                requests.push((work, Work::Indexed, query(&paginated, &page(number, None), key)));
            }
            for (work, text, class) in [
                ("one hit", ONCE, Work::Indexed),
                ("no hit", NEVER, Work::Indexed),
                ("one of twelve names", TWELFTH, Work::Indexed),
                ("every name", COMMON, Work::Indexed),
                ("the end of the order", "pebble", Work::Indexed),
                ("two letters, every name", &COMMON[..2], Work::Short),
                ("two letters, one name", "tz", Work::Short),
                ("two letters, no name", "xq", Work::Short),
                ("one letter, no name", "\u{3a9}", Work::Short),
            ] {
                let hits = query(&search, &json!({"query": text, "limit": PAGE}), key);
                let total = query(&paginated, &page(1, Some(("search", json!(text)))), key);
                requests.push((format!("{kind}s: search, {work}"), class, hits));
                requests.push((
                    format!("{kind}s: search, {work}, a page with its total"),
                    class,
                    total,
                ));
            }
        }
        for filter in [("provider", json!("oidc")), ("disabled", json!(true))] {
            let work = format!("users: by {}, a page with its total", filter.0);
            let request = query("user.getPaginated", &page(1, Some(filter)), key);
            requests.push((work, Work::Indexed, request));
        }
        let rows = requests.into_iter().map(|(work, class, request)| {
            let time = time(server, |_| request.clone())?;
            Ok(self.row(work, time, class))
        });
        rows.collect()
    }

    /// Whether the heaviest reads delay a request that needs no storage: eight of them run all the time.
    fn time_alongside(&self, server: &Server, key: &str) -> anyhow::Result<Row> {
        let last_hits = page(self.size / PAGE, Some(("search", json!(COMMON))));
        let heavy = [
            ("app.all", &Value::Null),
            ("app.selectable", &Value::Null),
            ("user.getAll", &Value::Null),
            ("user.selectable", &Value::Null),
            ("group.getAll", &Value::Null),
            ("state.export", &Value::Null),
            ("app.getPaginated", &last_hits),
            ("user.getPaginated", &last_hits),
        ];
        let (stop, live) = (AtomicBool::new(false), get("/api/health/live", None));
        let mut connection = Connection::new(server)?;
        let times = thread::scope(|scope| {
            for (name, input) in heavy {
                let (request, stop) = (query(name, input, key), &stop);
                scope.spawn(move || repeat(server, name, &request, stop));
            }
            // Until all have begun.
            thread::sleep(Duration::from_millis(500));
            let times: anyhow::Result<Vec<_>> = (0..ALONGSIDE)
                .map(|_| milliseconds(&mut connection, &live))
                .collect();
            stop.store(true, Ordering::Relaxed);
            times
        });
        let p99 = quantile(times?, 0.99);
        let work = "p99 of /api/health/live alongside eight of the heaviest reads";
        Ok(Row {
            work: work.to_owned(),
            measured: format!("{p99:.1} ms (until here at most {} MiB)", server.peak()?),
            figure: p99,
            target: Some(Bound::AtMost(50.0, " ms")),
        })
    }
}

/// Sends a request again and again, each on a connection of its own, because a refusal of a long list may cut it.
fn repeat(server: &Server, name: &str, request: &str, stop: &AtomicBool) {
    // Of this thread alone: what reads long lists is not to delay what is timed.
    let _ = rustix::process::nice(19);
    let (mut count, mut refusal) = (0, None);
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        let answer = Connection::new(server).and_then(|mut connection| connection.ask(request));
        refusal = refusal.or(answer.err());
    }
    let refusal = refusal.map(|error| format!(", not all of them: {error}"));
    eprintln!("  {name} {count} times{}", refusal.unwrap_or_default());
}

/// The input for a page, with a search or another filter.
fn page(number: usize, filter: Option<(&str, Value)>) -> Value {
    let mut input = json!({"page": number, "pageSize": PAGE});
    if let Some((name, value)) = filter {
        input[name] = value;
    }
    input
}

fn query(name: &str, input: &Value, key: &str) -> String {
    get(&trpc_query_path(name, input), Some(key))
}

/// The median time of requests, in milliseconds. The first one does not count. All must succeed.
fn time(server: &Server, next: impl Fn(usize) -> String) -> anyhow::Result<f64> {
    let mut connection = Connection::new(server)?;
    let (began, mut times) = (Instant::now(), Vec::new());
    while times.len() <= REPEATS && (times.len() < 2 || began.elapsed() < LONG) {
        times.push(milliseconds(&mut connection, &next(times.len()))?);
    }
    Ok(median(times.split_off(1)))
}

fn milliseconds(connection: &mut Connection, request: &str) -> anyhow::Result<f64> {
    let sent = Instant::now();
    connection.ask(request)?;
    Ok(sent.elapsed().as_secs_f64() * 1e3)
}
