//! `portico apply`.

use std::{io::IsTerminal, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use portico_sandbox::Kind;
use serde_json::Value;

use super::{
    difference::{Colours, difference},
    document::Document,
    output::{complain, print, print_as_is},
    settings::Settings,
    target::{ProcedureRef, Target},
    terminal,
};

const HELP: &str = "\
Creates what the document names and is not there, changes what differs, and leaves alone what it does
not name; with --prune, what it does not name in the lists that it has is removed. All of it or
nothing. Applying the same document again changes nothing. docs/desired-state.md says what a document
may hold; `portico export` writes one.

Examples:
  portico apply home.yaml --dry-run
  portico apply home.yaml --prune --data /var/lib/portico
  PORTICO_KEY=… portico apply home.yaml --url http://127.0.0.1:7575
  kubectl get configmap home -o 'jsonpath={.data.home\\.yaml}' | portico apply - --url …

The exit code is 0 if the dashboard is as the document says, or would be; else 1, and nothing was
changed. Passwords are never shown.";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Apply {
    /// The document: JSON if its name ends in .json, else YAML; `-` is the standard input
    file: PathBuf,
    /// Say what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove what the lists of the document do not name
    #[arg(long)]
    prune: bool,
    /// Print the answer as JSON, as `state.apply` gives it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: Target,
}

impl Apply {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let mut document = Document::read(&self.file)?;
        let unknown = document.unknown_keys();
        if !unknown.is_empty() {
            complain(&format!("nothing reads these keys:\n  {}", unknown.join("\n  ")));
        }
        for (flag, key) in [(self.dry_run, "dryRun"), (self.prune, "prune")] {
            if flag {
                document.content.insert(key.into(), true.into());
            }
        }
        let procedure = ProcedureRef {
            name: "state.apply",
            kind: Some(Kind::Mutation),
        };
        let input = Value::Object(document.content.clone());
        let answer = self
            .target
            .call(settings, procedure, None, Some(input))
            .map_err(|error| document.explain(error))?
            .context("no answer to `state.apply`")?;
        if self.json {
            return print(&terminal::json(&answer)?);
        }
        let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let text = difference(&answer, &document.content, Colours(colours));
        // `difference` escapes what it shows; its colours are for the terminal.
        print_as_is(text.trim_end())
    }
}
