//! How the cost of each request grows with the number of records: `make bench-scale`.
//!
//! For each driver and each size, a new database is filled at once, Portico is started on it, and every
//! procedure is timed on one connection. What counts is the ratio to the smallest size, in the same run. In each of
//! them are as many memberships and boards, so the ratio is that of apps and users.

mod beside;
mod fill;
mod table;
mod work;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use portico_tests::postgresql::Postgresql;
use portico_tests::{Anonymous, PASSWORD, administrator_of};

use crate::{
    load::Request,
    process::{Server, first_answer},
    report::median,
    rows::Bench,
};
use fill::Database;
use table::{Figures, Table};

/// How many apps there are, and as many users.
const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];

/// How often a start is timed.
const STARTS: usize = 5;

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    /// How many apps and users: the first is what the others are compared with
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = SIZES)]
    sizes: Vec<usize>,
    /// Try it with 1,000 and 10,000 apps and users, and few repetitions
    #[arg(long)]
    quick: bool,
    /// sqlite, postgresql or both
    #[arg(long, value_name = "DRIVERS", value_delimiter = ',', default_values_t = ["sqlite".to_owned(), "postgresql".to_owned()])]
    drivers: Vec<String>,
    /// Only time work whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

impl Options {
    /// Whether it is only tried.
    pub fn is_quick(&self) -> bool {
        self.quick
    }
}

/// Measures, and prints a table for each driver. Fails where a bound is not held, unless it is only tried.
pub fn run(options: &Options, this: PathBuf, portico: PathBuf) -> anyhow::Result<()> {
    let bench = Bench::new(this, portico, options.quick)?;
    let sizes = if options.quick {
        vec![1_000, 10_000]
    } else {
        options.sizes.clone()
    };
    ensure!(!sizes.is_empty(), "no sizes are given");
    let mut not_held = Vec::new();
    for driver in &options.drivers {
        let mut table = Table::new(driver, &sizes);
        let server = match driver.as_str() {
            "sqlite" => None,
            "postgresql" if !has_postgresql() => {
                println!(
                    "postgresql was left out: its programs are not here (Debian: apt-get install postgresql)\n"
                );
                continue;
            }
            "postgresql" => Some(Postgresql::start_with(&[
                "-c",
                "shared_buffers=512MB",
                "-c",
                "max_wal_size=4GB",
            ])),
            other => anyhow::bail!("there is no driver {other:?}: give sqlite or postgresql"),
        };
        for size in &sizes {
            let figures = measure(&bench, server.as_ref(), *size, options);
            table.add(figures.with_context(|| format!("{driver} with {size} apps and users"))?);
            // As much as is known by now, in case that a later size fails.
            eprintln!("{table}");
        }
        println!("{table}");
        not_held.extend(table.not_held());
    }
    ensure!(
        options.quick || not_held.is_empty(),
        "these bounds are not held:\n{}",
        not_held.join("\n")
    );
    Ok(())
}

/// Whether the programs of a PostgreSQL server are on this machine.
fn has_postgresql() -> bool {
    let script = "PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin); command -v initdb && command -v psql";
    let found = Command::new("sh").args(["-c", script]).output();
    found.is_ok_and(|output| output.status.success())
}

/// One size on one driver.
fn measure(
    bench: &Bench,
    server: Option<&Postgresql>,
    size: usize,
    options: &Options,
) -> anyhow::Result<Vec<Figures>> {
    let name = format!("scale-{size}");
    let data = bench.folder().join(match server {
        Some(_) => format!("{name}-postgresql"),
        None => format!("{name}-sqlite"),
    });
    let database = match server {
        None => Database::Sqlite(data.join("portico.db")),
        Some(server) => Database::Postgresql {
            server,
            url: server.create_database(&name),
            name,
        },
    };
    eprintln!("{}: {size} apps and users", database.driver());
    // The tables, and the first user.
    administrator_of(&Anonymous::at(
        &start(bench, &data, &database)?.address.to_string(),
    ));
    fill::fill(&database, size)?;
    // Makes what is made at the first start.
    drop(start(bench, &data, &database)?);

    let mut figures = Vec::new();
    let first = format!("/api/apps/{}", fill::app_id(0));
    let request = Request::get(&first).text();
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        starts.push(first_answer(command(bench, &data, &database), &request)?.as_secs_f64() * 1e6);
    }
    figures.push(Figures {
        work: "start: exec to the first answer".into(),
        bound: Some(2.0),
        micros: median(starts.into_iter()),
        ..Figures::default()
    });

    let server = start(bench, &data, &database)?;
    let admin = Anonymous::at(&server.address.to_string()).sign_in("root", PASSWORD);
    let token = admin.token.clone();
    figures.extend(work::measure(&server, admin, size, &options.only, options.quick)?);
    figures.extend(beside::measure(
        &server,
        &token,
        size,
        &options.only,
        options.quick,
    )?);
    drop(server);
    if !matches!(database, Database::Postgresql { .. }) {
        std::fs::remove_dir_all(&data)?;
    }
    Ok(figures)
}

fn start(bench: &Bench, data: &Path, database: &Database<'_>) -> anyhow::Result<Server> {
    Server::start(command(bench, data, database))
}

fn command(bench: &Bench, data: &Path, database: &Database<'_>) -> Command {
    let mut command = bench.portico_command(data);
    if let Database::Postgresql { url, .. } = database {
        command.args(["--database", url]);
    }
    command
}
