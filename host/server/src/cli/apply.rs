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
Creates the records that the document names and that do not exist, changes those that differ, and
leaves all others alone. With --prune it also removes records that the document's lists do not name.
Either everything is applied or nothing. Applying the same document again changes nothing.
docs/desired-state.md describes documents; `portico export` writes one.

Examples:
  portico apply home.yaml --dry-run
  portico apply home.yaml --prune --data /var/lib/portico
  PORTICO_KEY=… portico apply home.yaml --url http://127.0.0.1:7575
  kubectl get configmap home -o 'jsonpath={.data.home\\.yaml}' | portico apply - --url …

The exit code is 0 if the dashboard is as the document says (with --dry-run: would be), and 1 if
nothing was changed because of an error. Passwords are never shown.";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Apply {
    /// The document: JSON if the file name ends in .json, else YAML; `-` reads the standard input
    file: PathBuf,
    /// Say what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove records that the document's lists do not name
    #[arg(long)]
    prune: bool,
    /// Print the answer of `state.apply` as JSON
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
        // `difference` has already escaped the text; escaping it here would remove its colours.
        print_as_is(text.trim_end())
    }
}
