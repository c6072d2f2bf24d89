//! The benchmark: `make bench`.
//!
//! Every figure is a ratio within one run. Two servers run as child processes on the same data: Portico as
//! it ships, and this program's own handlers (`native`). These authenticate in the same way, use the same
//! storage driver and answer the same bytes, but without a component. wrk loads them in turn, for several
//! rounds; the medians count. Server and wrk share two cores.

mod data;
mod disk;
mod load;
mod native;
#[path = "../../support/postgresql.rs"]
mod postgresql;
mod process;
mod report;
mod rows;
mod scale;
mod steps;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use clap::{Parser, Subcommand};

use crate::rows::Bench;

// The same allocator as in Portico.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Portico against the same work without a component
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    /// Run a short form; fails if a ratio misses its target by more than twice, also on a second try
    #[arg(long)]
    quick: bool,
    /// Only run rows whose names begin with these words: by-id,search
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    rows: Vec<String>,
    /// Write the results to this file, as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench.json")]
    json: PathBuf,
    /// The binary to measure [default: the `portico` next to this program]
    #[arg(long, value_name = "FILE")]
    portico: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Time each step of a call separately
    Steps,
    /// Time every procedure with many apps and users, beside the same with few
    Scale(scale::Options),
    /// Print how many microseconds it takes to make a page durable in this folder (used internally)
    Page {
        /// The folder
        folder: PathBuf,
    },
    /// Serve the native handlers on this data directory (used internally)
    Native {
        /// The data directory
        data: PathBuf,
        /// A database of PostgreSQL instead of the file in the data directory
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let may_be_slow = matches!(&cli.command, Some(Command::Scale(options)) if options.is_quick());
    ensure!(
        may_be_slow || !cfg!(debug_assertions),
        "only a release build says anything: use `make bench`"
    );
    let this = std::env::current_exe()?;
    let portico = cli.portico.unwrap_or_else(|| this.with_file_name("portico"));
    match cli.command {
        None => {}
        Some(Command::Scale(options)) => {
            return scale::run(&options, this, portico).map(|()| ExitCode::SUCCESS);
        }
        Some(Command::Steps) => return steps::run().map(|()| ExitCode::SUCCESS),
        Some(Command::Page { folder }) => {
            println!("{}", disk::time_of_a_page(&folder)?.as_micros());
            return Ok(ExitCode::SUCCESS);
        }
        Some(Command::Native { data, database }) => {
            return native::run(&data, database.as_deref()).map(|()| ExitCode::SUCCESS);
        }
    }
    ensure!(
        portico.exists(),
        "{} is missing: use `make bench`, which builds it",
        portico.display()
    );
    load::check()?;
    let rows = rows::chosen(&cli.rows)?;
    let bench = Bench::new(this, portico, cli.quick)?;

    let since = report::Machinery::now();
    let measured = bench.measure(&rows)?;
    let page = disk::time_of_a_page(bench.folder())?;
    let report = report::Report::new(cli.quick, &since, page, measured);
    print!("{report}");
    write(&cli.json, &report)?;
    Ok(if cli.quick && report.is_beyond_bounds() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn write(file: &Path, report: &report::Report) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(file, serde_json::to_vec_pretty(report)?)?)
    };
    write().with_context(|| format!("cannot write the results to {}", file.display()))
}
