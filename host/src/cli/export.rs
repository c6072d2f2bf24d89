//! `portico export`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use portico::sandbox::Kind;

use super::{
    print,
    settings::Settings,
    target::{Named, Target},
    terminal, yaml,
};

const HELP: &str = "\
Writes every group, user, app, search engine and board, and no secret: no password, no key, no
session. `portico apply` of the same document changes nothing, and on an empty data directory it makes
the same dashboard. It is no backup: see `portico backup` for that.

Examples:
  portico export --data /var/lib/portico > home.yaml
  PORTICO_KEY=… portico export --url http://127.0.0.1:7575 -o home.json";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Export {
    /// The form [default: json for a file whose name ends in .json, else yaml]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write to this file, replacing it, instead of the standard output
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
        let procedure = Named {
            name: "state.export",
            kind: Some(Kind::Query),
        };
        let is_json = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "json");
        let format = match self.format {
            Some(format) => format,
            None if self.output.as_ref().is_some_and(is_json) => Format::Json,
            None => Format::Yaml,
        };
        let state = self
            .target
            .call(settings, procedure, None, None)?
            .context("no answer to `state.export`")?;
        let text = match format {
            Format::Yaml => yaml::write(&state)?,
            Format::Json => terminal::json(&state)?,
        };
        // No more than one: at the end of a text in YAML others may count.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match &self.output {
            Some(file) => std::fs::write(file, format!("{text}\n"))
                .with_context(|| format!("cannot write {}", file.display())),
            None => print(text),
        }
    }
}
