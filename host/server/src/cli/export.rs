//! `portico export`.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use portico_sandbox::Kind;
use portico_server::data_dir::DataDir;
use portico_sqlite::{self as sqlite, temporary::Temporary};

use super::{
    output::print,
    settings::Settings,
    target::{ProcedureRef, Target},
    terminal, yaml,
};

/// The prefix of temporary files.
const TEMPORARY: &str = ".portico-export-";

const HELP: &str = "\
Writes every group, user, app, search engine and board, without secrets: no passwords, keys or
sessions. Applying the document with `portico apply` changes nothing; on an empty data directory it
creates the same dashboard. This is not a backup: use `portico backup` for that.

Examples:
  portico export --data /var/lib/portico > home.yaml
  PORTICO_KEY=… portico export --url http://127.0.0.1:7575 -o home.json";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Export {
    /// The format [default: json for a file whose name ends in .json, else yaml]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write to this file instead of the standard output; an existing file is replaced once the new
    /// one is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

impl Export {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let procedure = ProcedureRef {
            name: "state.export",
            kind: Some(Kind::Query),
        };
        let is_json = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "json");
        let format = match self.format {
            Some(format) => format,
            None if self.output.as_ref().is_some_and(is_json) => Format::Json,
            None => Format::Yaml,
        };
        let data = self.target.data(&settings);
        let state = self
            .target
            .call(settings, procedure, None, None)?
            .context("no answer to `state.export`")?;
        let text = match format {
            Format::Yaml => yaml::write(&state)?,
            Format::Json => terminal::json(&state)?,
        };
        // Only one line end: in YAML, more of them may belong to the last text.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match &self.output {
            Some(file) => replace(file, &format!("{text}\n"), &data)
                .with_context(|| format!("cannot write {}", file.display())),
            None => print(text),
        }
    }
}

/// Replaces the content of a file, all of it or nothing. Refuses files of a data directory.
fn replace(file: &Path, text: &str, data: &Path) -> anyhow::Result<()> {
    // For a link, replace the file that it points to.
    let file = match fs::canonicalize(file) {
        Ok(there) => there,
        Err(_) => std::path::absolute(file)?,
    };
    let there = fs::metadata(&file).ok();
    if let Some(there) = &there {
        ensure!(!there.is_dir(), "it is a folder: name a file in it");
        ensure!(
            there.is_file(),
            "it is a device or a pipe: leave out --output to write to the standard output"
        );
    }
    let folder = file.parent().context("a file has a folder")?;
    ensure!(
        folder.is_dir(),
        "there is no folder {}: make it first",
        folder.display()
    );
    // A data directory is the folder in the settings, or any folder that contains a database.
    for home in [data, folder] {
        let database = DataDir::database_in(home);
        let is_home = home == data && home.is_dir() || database.try_exists()?;
        ensure!(
            !(is_home && sqlite::belongs_to(&database, &file)?),
            "it belongs to the data directory itself: choose another name"
        );
    }
    let mut new = Temporary::create(folder, TEMPORARY, 0o666)?;
    if let Some(there) = there {
        new.file().set_permissions(there.permissions())?;
    }
    new.file().write_all(text.as_bytes())?;
    Ok(new.place(&file, true)?)
}
