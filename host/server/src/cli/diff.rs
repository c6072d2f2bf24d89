//! `portico diff`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    apply::{report, show},
    document::Document,
    settings::Settings,
    target::Target,
};

/// The exit code if the dashboard differs from the document. An error is 1, as in every command.
const DRIFT: u8 = 2;

const HELP: &str = "\
Says what `portico apply` would change, and writes nothing. Records that the document does not name
are no difference, except with --prune.

Examples:
  portico diff home.yaml --data /var/lib/portico
  PORTICO_KEY=… portico diff home.yaml --prune --url http://127.0.0.1:7575 || echo 'not as in Git'

The exit code is 0 if the dashboard is as the document says, 2 if it differs, and 1 for an error.
Passwords are never shown.";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Diff {
    /// The document: JSON if the file name ends in .json, else YAML; `-` reads the standard input
    file: PathBuf,
    /// Records that the document's lists do not name are a difference, too
    #[arg(long)]
    prune: bool,
    /// Print the answer of `state.apply` as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: Target,
}

impl Diff {
    pub fn run(self, settings: Settings) -> anyhow::Result<ExitCode> {
        let mut document = Document::read(&self.file)?;
        document.complain_of_unknown_keys();
        document.set("dryRun", true);
        document.set("prune", self.prune);
        let report = report(self.target, settings, &document)?;
        let report = show(&report, &document, self.json)?;
        Ok(if report.differs() {
            ExitCode::from(DRIFT)
        } else {
            ExitCode::SUCCESS
        })
    }
}
