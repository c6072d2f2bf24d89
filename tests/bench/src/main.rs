//! The benchmark: `make bench` compares Portico with handlers that do the same without a component, `make bench-scale`
//! times requests with many records. Both print a table of figures with their targets. A target that is missed is a
//! figure like others: only what cannot be measured is a failure.

mod counting;
mod data;
mod load;
mod native;
mod rows;
mod scale;
mod server;
mod table;

use std::path::PathBuf;

use anyhow::ensure;
use clap::{Parser, Subcommand};
use portico_tests::postgresql::Postgresql;

// The same allocator as in Portico.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Portico against the same work without a component
#[derive(Parser)]
struct Cli {
    /// Try it: few repetitions, also of a debug build; the figures say nothing
    #[arg(long, global = true)]
    quick: bool,
    /// The binary to measure [default: the `portico` next to this program]
    #[arg(long, global = true, value_name = "FILE")]
    portico: Option<PathBuf>,
    /// Only these rows: by-id,create
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rows: Vec<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Time requests with many apps and users
    Scale(scale::Options),
    /// Serve the handlers that Portico is compared with (used internally)
    Native {
        /// The data directory
        data: PathBuf,
        /// A database of PostgreSQL instead of the file in the data directory
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if let Some(Command::Native { data, database }) = cli.command {
        return native::run(&data, database.as_deref());
    }
    ensure!(
        cli.quick || !cfg!(debug_assertions),
        "only a release build says anything: use `make bench`, or `--quick` to try it"
    );
    let next_to_this = std::env::current_exe()?.with_file_name("portico");
    let portico = cli.portico.unwrap_or(next_to_this);
    ensure!(portico.exists(), "{} is missing", portico.display());
    match cli.command {
        Some(Command::Scale(options)) => scale::run(&options, portico, cli.quick),
        _ => rows::run(&cli.rows, portico, cli.quick),
    }
}

/// Whether PostgreSQL can be measured. Says so where it cannot.
fn has_postgresql() -> bool {
    let has = Postgresql::is_installed();
    if !has {
        println!("PostgreSQL was left out: its programs are not here (Debian: apt-get install postgresql)\n");
    }
    has
}
