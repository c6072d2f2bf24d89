//! `portico apply`, and what other commands share with it.

use std::{io::IsTerminal, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use portico_sandbox::Kind;
use portico_service::{identity::Identity, report::Report};
use serde::Deserialize as _;
use serde_json::Value;
use tracing::info;

use super::{
    difference::{Colours, difference},
    document::Document,
    host::Host,
    local,
    output::{print, print_as_is},
    settings::Settings,
    target::{ProcedureRef, Target},
    terminal,
};

const STATE_APPLY: &str = "state.apply";

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
        document.complain_of_unknown_keys();
        document.set("dryRun", self.dry_run);
        document.set("prune", self.prune);
        let report = report(self.target, settings, &document)?;
        show(&report, &document, self.json).map(drop)
    }
}

/// Applies a document, and returns the report of `state.apply`.
pub fn report(target: Target, settings: Settings, document: &Document) -> anyhow::Result<Value> {
    let procedure = ProcedureRef {
        name: STATE_APPLY,
        kind: Some(Kind::Mutation),
    };
    target
        .call(settings, procedure, None, Some(document.input()))
        .map_err(|error| document.explain(error))?
        .context("no answer to `state.apply`")
}

/// Prints a report, and returns it.
pub fn show(answer: &Value, document: &Document, as_json: bool) -> anyhow::Result<Report> {
    let report = read(answer)?;
    if as_json {
        print(&terminal::json(answer)?)?;
        return Ok(report);
    }
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let text = difference(&report, &document.content, Colours(colours));
    // `difference` has already escaped the text; escaping it here would remove its colours.
    print_as_is(text.trim_end())?;
    Ok(report)
}

fn read(answer: &Value) -> anyhow::Result<Report> {
    Report::deserialize(answer).context("the answer to `state.apply` is not a report that this portico knows")
}

/// Applies a document as the operator, before `portico serve` accepts requests.
pub async fn apply_at_start(host: &Host, document: &Document) -> anyhow::Result<()> {
    let input = Some(document.input());
    let report = local::run(&host.service, STATE_APPLY, &Identity::operator(), input)
        .await
        .map_err(|error| document.explain(error))
        .with_context(|| format!("cannot apply {}", document.name()))?
        .context("no answer to `state.apply`")?;
    let text = difference(&read(&report)?, &document.content, Colours(false));
    for line in text.lines() {
        info!("{}: {line}", document.name());
    }
    Ok(())
}
