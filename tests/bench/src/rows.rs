//! The rows of `make bench`: ratios within one run.
//!
//! Portico as it ships and the native handlers run as child processes on the same data. wrk loads them in turn, for
//! several rounds; the medians count. Servers and wrk share the processors.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context as _, bail, ensure};
use portico_tests::{Anonymous, Client as _, PASSWORD, escape, postgresql::Postgresql, trpc_query_path};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    counting,
    data::{self, Database},
    load::{Load, Sample, get, post},
    server::{self, Connection, Server},
    table::{Bound, Row, Table, median},
};

const APPS: usize = 10_000;
const USERS: usize = 1_000;
const CONNECTIONS: u32 = 32;
/// The calls in a batch.
const BATCH: usize = 50;

/// Measures a group of rows.
type Measure = fn(&Bench) -> anyhow::Result<Vec<Row>>;

const GROUPS: [(&str, Measure); 9] = [
    ("by-id", by_id),
    ("list", list),
    ("batch", batch),
    ("create", create),
    ("sign-in", sign_in),
    ("start", start),
    ("gate", gate),
    ("metrics", metrics),
    ("postgresql", postgresql),
];

/// Measures the groups of these names, or all, and prints the table.
pub fn run(chosen: &[String], portico: PathBuf, quick: bool) -> anyhow::Result<()> {
    let chosen: Vec<_> = chosen.iter().filter(|name| !name.is_empty()).collect();
    let names = GROUPS.map(|(name, _)| name);
    if let Some(unknown) = chosen.iter().find(|name| !names.contains(&&name[..])) {
        bail!("there are no rows {unknown:?}; there are: {}", names.join(", "));
    }
    let bench = Bench {
        this: std::env::current_exe()?,
        portico,
        folder: tempfile::Builder::new().prefix("portico-bench-").tempdir()?,
        rounds: if quick { 1 } else { 9 },
    };
    let mut rows = Vec::new();
    for (name, measure) in GROUPS {
        if chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name) {
            eprintln!("{name}");
            rows.extend(measure(&bench).with_context(|| format!("{name} could not be measured"))?);
        }
    }
    print!("{}", Table("work", &rows));
    Ok(())
}

/// The environment of the measurements.
struct Bench {
    /// This program, which holds the native handlers.
    this: PathBuf,
    portico: PathBuf,
    /// For data, removed at the end.
    folder: TempDir,
    /// How often each case is measured.
    rounds: usize,
}

/// Portico and the native handlers on the same data, and the keys of its users.
struct Twins {
    portico: Server,
    native: Server,
    keys: Vec<String>,
}

impl Bench {
    fn create(&self, name: &str, apps: usize, users: usize) -> anyhow::Result<Database<'_>> {
        Database::create(&self.portico, self.folder.path(), name, None, (apps, users))
    }

    fn twins(&self, name: &str, apps: usize, users: usize) -> anyhow::Result<Twins> {
        let database = self.create(name, apps, users)?;
        let keys = database.add_keys(users)?;
        let copy = database.copy(&format!("{name}-native"))?;
        Ok(Twins {
            portico: database.start(self.portico(&database.folder))?,
            native: copy.start(self.native(&copy.folder))?,
            keys,
        })
    }

    fn portico(&self, data: &Path) -> Command {
        server::portico(&self.portico, data, self.folder.path())
    }

    fn native(&self, data: &Path) -> Command {
        let mut command = server::command(&self.this);
        command.arg("native").arg(data);
        command
    }

    /// Runs two loads in turn, for several rounds. A first round does not count.
    fn in_turn(&self, [one, other]: &[Load<'_>; 2]) -> anyhow::Result<Vec<[Sample; 2]>> {
        let rounds = (0..=self.rounds).map(|_| Ok([one.run()?, other.run()?]));
        Ok(rounds.collect::<anyhow::Result<Vec<_>>>()?.split_off(1))
    }

    /// A row of the answers per second of both servers to the same requests.
    fn rate(&self, work: &str, twins: &Twins, requests: &[String], least: f64) -> anyhow::Result<Row> {
        eprintln!("  {work}");
        let rounds = self.in_turn(&twins.loads(requests, CONNECTIONS))?;
        let rates = rounds.iter().map(|[one, other]| [one.rate, other.rate]);
        let text = |rate| format!("{rate:.0}/s");
        Ok(ratio(work, rates, text, Bound::AtLeast(least, "")))
    }
}

impl Twins {
    /// The same requests to both.
    fn loads<'a>(&'a self, requests: &'a [String], connections: u32) -> [Load<'a>; 2] {
        [&self.native, &self.portico].map(|server| Load {
            server,
            requests,
            connections,
        })
    }
}

/// A row of the median ratio of the second figure to the first, and of the medians of both.
fn ratio(work: &str, pairs: impl Iterator<Item = [f64; 2]>, text: fn(f64) -> String, target: Bound) -> Row {
    let pairs: Vec<_> = pairs.collect();
    let figure = median(pairs.iter().map(|[one, other]| other / one));
    let [one, other] = [0, 1].map(|side| text(median(pairs.iter().map(|pair| pair[side]))));
    Row {
        work: work.to_owned(),
        measured: format!("{figure:.2}: {other} compared with {one}"),
        figure,
        target: Some(target),
    }
}

fn milliseconds(micros: f64) -> String {
    format!("{:.2} ms", micros / 1e3)
}

/// `GET /api/apps/{id}`, with one key, with many keys, and without a key.
fn by_id(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let twins = bench.twins("by-id", APPS, USERS)?;
    let request = |number, key| get(&format!("/api/apps/{}", data::app_id(number)), key);
    let keys = twins.keys.iter().enumerate();
    let many = keys.map(|(number, key)| request(number, Some(key))).collect();
    let mut rows = Vec::new();
    for (who, requests, least) in [
        (
            "by id, one key",
            vec![request(APPS / 3, Some(&twins.keys[0]))],
            0.5,
        ),
        ("by id, 1,000 users' keys", many, 0.35),
        ("by id, anonymous", vec![request(APPS / 3, None)], 0.35),
    ] {
        assert_same_answer(&twins, &requests[0])?;
        rows.push(bench.rate(who, &twins, &requests, least)?);
    }
    Ok(rows)
}

/// `GET /api/apps`, 100 apps.
fn list(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let twins = bench.twins("list", 100, 1)?;
    let request = get("/api/apps", Some(&twins.keys[0]));
    assert_same_answer(&twins, &request)?;
    Ok(vec![bench.rate("a list of 100 apps", &twins, &[request], 0.5)?])
}

/// Fifty queries in one request, compared with one by one.
fn batch(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let database = bench.create("batch", APPS, 1)?;
    let key = &database.add_keys(1)?[0];
    let server = database.start(bench.portico(&database.folder))?;
    let input = |number| json!({ "id": data::app_id(number) });
    let single = |number| get(&trpc_query_path("app.byId", &input(number)), Some(key));
    let single: Vec<_> = (0..BATCH).map(single).collect();
    let inputs = (0..BATCH).map(|number| (number.to_string(), input(number)));
    let inputs = Value::Object(inputs.collect());
    let together = trpc_query_path(&["app.byId"; BATCH].join(","), &inputs);
    let together = [get(&format!("{together}&batch=1"), Some(key))];

    let mut connection = Connection::new(&server)?;
    let answers = single.iter().map(|request| connection.ask(request));
    let answers: Vec<_> = answers.collect::<anyhow::Result<_>>()?;
    ensure!(
        connection.ask(&together[0])? == format!("[{}]", answers.join(",")),
        "a batch returns something else than its calls one by one"
    );
    let loads = [&single[..], &together].map(|requests| Load {
        server: &server,
        requests,
        connections: 1,
    });
    let rounds = bench.in_turn(&loads)?;
    let times = rounds
        .iter()
        .map(|[one, all]| [BATCH as f64 * 1e6 / one.rate, 1e6 / all.rate]);
    let work = "a batch of 50 queries, compared with one by one";
    Ok(vec![ratio(work, times, milliseconds, Bound::AtMost(0.25, ""))])
}

/// `POST /api/apps`, compared with a transaction for each call. Every answer is durable.
fn create(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let twins = bench.twins("create", 1_000, 1)?;
    let request = create_app(&twins)?;
    let work = "create, compared with a transaction for each call";
    Ok(vec![bench.rate(work, &twins, &[request], 3.5)?])
}

/// A request that creates an app, for which both servers return the same.
fn create_app(twins: &Twins) -> anyhow::Result<String> {
    let app = json!({
        "name": " Jellyfin ",
        "iconUrl": "https://icons.example/svg/jellyfin.svg",
        "description": "Films and series",
        "href": "https://jellyfin.home.example/",
    });
    let request = post("/api/apps", Some(&twins.keys[0]), &app);
    let created = |server| {
        let mut app: Value = serde_json::from_str(&Connection::new(server)?.ask(&request)?)?;
        ensure!(app["id"].take() == app["appId"].take(), "two ids: {app}");
        Ok(app)
    };
    let (portico, native) = (created(&twins.portico)?, created(&twins.native)?);
    ensure!(
        portico == native,
        "Portico creates {portico}, native handlers {native}"
    );
    Ok(request)
}

/// The processor time of a sign-in, almost all of which is that of the hash.
fn sign_in(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    const USERS: usize = 7;
    let twins = bench.twins("sign-in", 1, USERS)?;
    let body = |number| json!({"username": data::name(number, USERS), "password": PASSWORD});
    let request = |number| post("/api/auth/sign-in", None, &body(number));
    let requests: Vec<_> = (0..USERS).map(request).collect();
    let rounds = bench.in_turn(&twins.loads(&requests, 1))?;
    let times = rounds.iter().map(|[one, other]| [one.processor, other.processor]);
    let work = "sign-in, processor time";
    Ok(vec![ratio(work, times, milliseconds, Bound::AtMost(2.8, ""))])
}

/// The time from the start of the program to its first answer, with the compiled component cached.
fn start(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let database = bench.create("start", APPS, 1)?;
    let copy = database.copy("start-native")?;
    let request = get(&format!("/api/apps/{}", data::app_id(0)), None);
    let time = |command| {
        let started = Instant::now();
        let server = Server::start(command)?;
        Connection::new(&server)?.ask(&request)?;
        anyhow::Ok(started.elapsed().as_secs_f64() * 1e6)
    };
    let (native, portico) = (|| bench.native(&copy.folder), || bench.portico(&database.folder));
    let times = (0..=bench.rounds * 5).map(|_| Ok([time(native())?, time(portico())?]));
    let times: Vec<_> = times.collect::<anyhow::Result<_>>()?;
    let (work, times) = ("second start, to the first answer", times.into_iter().skip(1));
    Ok(vec![ratio(work, times, milliseconds, Bound::AtMost(2.5, ""))])
}

/// The processor time of a decision of the gate, compared with that of `GET /api/apps/{id}` with a key, among all apps.
fn gate(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let database = bench.create("gate", APPS, 1)?;
    let keys = database.add_keys(1)?;
    let host = format!("app-{}.example", APPS / 3);
    let mut command = bench.portico(&database.folder);
    command.args(["--trusted-proxies=127.0.0.1", &format!("--gate-domain={host}")]);
    command.arg(format!("--public-url=http://portico.{host}"));
    let server = database.start(command)?;
    let session = Anonymous::at(&server.address.to_string()).sign_in(&data::name(0, 1), PASSWORD);
    let given = session.get(&format!(
        "/api/auth/gate?next={}",
        escape(&format!("https://{host}/"))
    ));
    let pass = given
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next());
    let pass = pass.context("no pass")?;
    let verify = format!(
        "GET /api/auth/verify HTTP/1.1\r\nhost: bench\r\nx-forwarded-proto: https\r\nx-forwarded-host: {host}\r\n\
         x-forwarded-uri: /\r\ncookie: {pass}\r\n\r\n"
    );
    let by_id = get(&format!("/api/apps/{}", data::app_id(APPS / 3)), Some(&keys[0]));
    let (by_id, verify) = ([by_id], [verify]);
    let loads = [&by_id, &verify].map(|requests| Load {
        server: &server,
        requests,
        connections: CONNECTIONS,
    });
    let rounds = bench.in_turn(&loads)?;
    let times = rounds.iter().map(|[one, other]| [one.processor, other.processor]);
    let work = "a decision of the gate, compared with by id, processor time";
    Ok(vec![ratio(work, times, milliseconds, Bound::AtMost(2.0, ""))])
}

/// `GET /api/apps/{id}` of a host that publishes metrics, compared with one that does not; and what is counted of it in
/// either, compared with all of the host's processor time for it.
fn metrics(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let database = bench.create("metrics", APPS, 1)?;
    let keys = database.add_keys(1)?;
    let copy = database.copy("metrics-published")?;
    let plain = database.start(bench.portico(&database.folder))?;
    let mut command = bench.portico(&copy.folder);
    command.args(["--metrics", "127.0.0.1:0"]);
    let published = copy.start(command)?;
    let requests = [get(
        &format!("/api/apps/{}", data::app_id(APPS / 3)),
        Some(&keys[0]),
    )];
    let loads = [&plain, &published].map(|server| Load {
        server,
        requests: &requests,
        connections: CONNECTIONS,
    });
    let rounds = bench.in_turn(&loads)?;
    let rates = rounds.iter().map(|[one, other]| [one.rate, other.rate]);
    let text = |rate| format!("{rate:.0}/s");
    let work = "by id with metrics, compared with by id without";
    let rate = ratio(work, rates, text, Bound::AtLeast(0.9, ""));
    let processor = median(rounds.iter().map(|[one, _]| one.processor));
    let counted = counting::nanoseconds(bench.rounds)? / 1e3;
    let figure = counted / processor;
    Ok(vec![
        rate,
        Row {
            work: "what metrics count of a call by id, of its processor time".to_owned(),
            measured: format!("{figure:.3}: {counted:.2} us of {processor:.1} us"),
            figure,
            target: Some(Bound::AtMost(0.1, "")),
        },
    ])
}

/// By id and create on one PostgreSQL database, whose server also shares the processors.
fn postgresql(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    if !crate::has_postgresql() {
        return Ok(Vec::new());
    }
    // A commit is durable, as it would be anywhere else.
    let server = Postgresql::start_with(&["-c", "fsync=on"]);
    let folder = bench.folder.path();
    let database = Database::create(&bench.portico, folder, "postgresql", Some(&server), (APPS, 1))?;
    let twins = Twins {
        keys: database.add_keys(1)?,
        portico: database.start(bench.portico(&database.folder))?,
        native: database.start(bench.native(&folder.join("postgresql-native")))?,
    };
    let path = format!("/api/apps/{}", data::app_id(APPS / 3));
    let by_id = get(&path, Some(&twins.keys[0]));
    assert_same_answer(&twins, &by_id)?;
    let create = create_app(&twins)?;
    Ok(vec![
        bench.rate("PostgreSQL: by id", &twins, &[by_id], 0.6)?,
        bench.rate("PostgreSQL: create", &twins, &[create], 0.6)?,
    ])
}

/// Fails unless both servers return the same bytes.
fn assert_same_answer(twins: &Twins, request: &str) -> anyhow::Result<()> {
    let ask = |server| Connection::new(server)?.ask(request);
    let (portico, native) = (ask(&twins.portico)?, ask(&twins.native)?);
    ensure!(
        portico == native,
        "Portico returns {portico}, native handlers {native}"
    );
    Ok(())
}
