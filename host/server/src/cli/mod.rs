//! The command line: one file for each command.

mod apply;
mod apps;
mod audit;
mod backup;
mod backups;
mod call;
mod compat;
mod compile;
mod component;
mod copy;
mod copy_places;
mod data_check;
mod database;
mod demo;
mod diff;
mod difference;
mod doctor;
mod document;
mod environment;
mod export;
mod front;
mod healthcheck;
mod host;
mod icons;
mod import;
mod inspect;
mod layers;
mod ldap;
mod listen;
mod local;
mod notify;
mod oidc;
mod openapi;
pub mod output;
mod passwords;
mod ping;
mod procedures;
mod process;
mod progress;
mod provider;
mod proxy;
mod recover;
mod reload;
mod remote;
mod restore;
mod second_factor;
mod secret;
mod serve;
mod settings;
mod starting;
mod storage_kit;
mod target;
mod terminal;
mod waiting;
mod yaml;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use self::settings::Settings;

/// The users and apps of a dashboard: a sandboxed component, and the host that serves it.
///
/// Look around with `portico demo`. Start with `portico serve`, then create the administrator:
///
///   curl -H 'content-type: application/json' http://127.0.0.1:7575/api/trpc/user.initUser \
///     -d '{"username": "ada", "password": "correct horse"}'
#[derive(Parser)]
#[command(version, verbatim_doc_comment, max_term_width = 100)]
struct Cli {
    /// A TOML file with settings. Flags override the environment, which overrides the file
    #[arg(long, env = "PORTICO_CONFIG", value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve users and apps over HTTP until stopped (SIGTERM or Ctrl-C)
    Serve(Box<serve::Serve>),
    /// Look around a sample household in memory, on this machine only: nothing is stored
    Demo(demo::Demo),
    /// Ask whether the host on this machine is ready: the exit code says so
    Healthcheck(healthcheck::Healthcheck),
    /// Look at everything that `portico serve` needs, and say what to do
    Doctor(Box<doctor::Doctor>),
    /// List every procedure: name, who may call it, REST route, input
    Procedures(procedures::Procedures),
    /// Print the description of the HTTP interface in OpenAPI 3.1, as JSON
    #[command(name = "openapi")]
    OpenApi(openapi::OpenApi),
    /// Call one procedure, on the data directory or through a running host
    Call(call::Call),
    /// Make the dashboard match a document: groups, users, apps, search engines, boards
    Apply(apply::Apply),
    /// Compare the dashboard with a document: the exit code says whether they differ
    Diff(diff::Diff),
    /// Write the dashboard as a document that `portico apply` takes
    Export(export::Export),
    /// Copy the database into one file, also while a host uses it
    Backup(backup::Backup),
    /// Move in from Homarr: users with their passwords, groups, API keys, apps, boards
    Import(import::Import),
    /// Replace the database with a backup
    Restore(restore::Restore),
    /// Copy everything from SQLite to PostgreSQL, or back
    Copy(copy::Copy),
    /// Fetch the icons of apps and search engines before they are shown
    Icons(icons::Icons),
    /// Show imports and exports of a component, and whether this host can run it
    Inspect(inspect::Inspect),
    /// Give a user a new password, shown once, end their sessions, and enable them
    Recover(recover::Recover),
    /// Test an implementation of storage against the contract
    StorageKit(storage_kit::StorageKit),
    /// What a host starts to compile a component
    #[command(name = compile::NAME, hide = true)]
    Compile,
}

/// Runs the command that the command line names.
pub fn run() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    if let Command::Compile = cli.command {
        // It has no settings.
        return compile::run();
    }
    process::prepare()?;
    if let Command::Demo(demo) = cli.command {
        // It has none of the settings of a host.
        return demo.run().map(|()| ExitCode::SUCCESS);
    }
    let settings = Settings::load(cli.config.as_deref())?;
    match cli.command {
        Command::Serve(serve) => serve.run(settings),
        Command::Healthcheck(healthcheck) => healthcheck.run(&settings),
        Command::Doctor(doctor) => return doctor.run(settings),
        Command::Procedures(procedures) => procedures.run(),
        Command::OpenApi(openapi) => openapi.run(),
        Command::Call(call) => call.run(settings),
        Command::Apply(apply) => apply.run(settings),
        Command::Diff(diff) => return diff.run(settings),
        Command::Export(export) => export.run(settings),
        Command::Backup(backup) => backup.run(settings),
        Command::Import(import) => import.run(settings),
        Command::Restore(restore) => restore.run(settings),
        Command::Copy(copy) => copy.run(settings),
        Command::Icons(icons) => icons.run(settings),
        Command::Inspect(inspect) => inspect.run(),
        Command::Recover(recover) => recover.run(settings),
        Command::StorageKit(kit) => return Ok(kit.run()),
        Command::Demo(demo) => demo.run(),
        Command::Compile => return compile::run(),
    }
    .map(|()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
