//! PostgreSQL: the native handlers run the same statements over the same pool.
//!
//! They run one after the other, as one would write it by hand. A further row compares with a handler that reads the app
//! at once with its caller, as Portico does.
//!
//! Both servers work on one database, and the server of PostgreSQL shares the two cores with them and wrk.

use anyhow::ensure;

use super::{
    Bench, Case,
    reads::{p99, rate, same_answer},
    writes::{created, new_app},
};
use crate::{
    data,
    load::{Load, Request},
    postgresql::Postgresql,
    report::{Row, Target},
};

const APPS: usize = 10_000;
const CONNECTIONS: u32 = 32;

/// `GET /api/apps/{id}` and `POST /api/apps`. No rows where the programs of PostgreSQL are missing.
pub fn postgresql(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    if !Postgresql::is_installed() {
        eprintln!("  left out: PostgreSQL is not installed (Debian: apt-get install postgresql)");
        return Ok(Vec::new());
    }
    // A commit is durable, as it would be anywhere else.
    let server = Postgresql::start_with(&["-c", "fsync=on"]);
    let url = server.create_database("portico");
    let data = data::seed_postgresql(&url, APPS, 1)?;
    server.run("portico", "VACUUM ANALYZE");
    let on_database = |mut command: std::process::Command| {
        command.args(["--database", &url]);
        bench.start(command)
    };
    let portico = on_database(bench.portico_command(&bench.path("postgresql-portico")))?;
    let native = on_database(bench.native_command(&bench.path("postgresql-native")))?;

    let get = |path: String| [Request::get(path).with_key(&data.keys[0])];
    let path = format!("/api/apps/{}", data.apps[APPS / 3]);
    let by_id = get(path);
    let create = [Request::post("/api/apps", &new_app()).with_key(&data.keys[0])];
    same_answer(&portico, &native, &by_id[0])?;
    ensure!(
        created(&native, &create[0])? == created(&portico, &create[0])?,
        "the native handlers create something else"
    );
    let mut rows = Vec::new();
    for (work, requests, least) in [("by id", &by_id, 0.75), ("create", &create, 0.7)] {
        for connections in [CONNECTIONS, 1] {
            let work = match connections {
                1 => format!("{work}, 1 connection"),
                _ => format!("{work}, {connections} connections"),
            };
            eprintln!("  {work}");
            let in_turn = |natively| {
                let load = |requests| Load {
                    requests,
                    connections,
                };
                bench.interleave([Case(&native, load(natively)), Case(&portico, load(requests))])
            };
            let [theirs, ours] = in_turn(requests)?;
            let row = rate(work.clone(), &theirs, &ours);
            if connections == 1 {
                rows.push(row);
            } else {
                rows.push(row.target(Target::AtLeast(least)));
                rows.push(p99(format!("{work}, p99"), &theirs, &ours));
            }
        }
    }
    Ok(rows)
}
