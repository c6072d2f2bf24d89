//! `portico inspect`.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use portico_sandbox::{
    COMPONENT,
    inspect::{Compatibility, Inspection, Interface, inspect},
};
use portico_service::identity::Identity;
use serde_json::json;

use super::{
    component, host,
    local::REQUEST_ID,
    output::print,
    process::block_on,
    terminal::{self, printable},
};

const HELP: &str = "\
Prints size, SHA-256, imports, exports and procedures. If this host cannot run the file, it says why
and what to do about it, and the exit code is 1. To list its procedures, the component is started, with
no access to data.

Examples:
  portico inspect plugin.wasm
  portico inspect --json | jq -r .sha256";

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Inspect {
    /// The file [default: the component inside this binary]
    #[arg(value_name = "FILE.wasm")]
    file: Option<PathBuf>,
    /// Print JSON; `problems` is empty if and only if this host can run the file
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub fn run(self) -> anyhow::Result<()> {
        let (name, bytes) = match &self.file {
            Some(file) => {
                let bytes =
                    component::read(file).with_context(|| format!("cannot read {}", file.display()))?;
                (file.display().to_string(), bytes)
            }
            None => ("the component inside portico".into(), COMPONENT.to_vec()),
        };
        let mut inspection = inspect(&bytes)?;
        let mut procedures = Vec::new();
        if inspection.problems.is_empty() {
            match block_on(procedures_of(&bytes)) {
                Ok(described) => procedures = described,
                Err(error) => inspection.problems.push(format!("{error:#}")),
            }
        }
        if self.json {
            let mut answer = serde_json::to_value(&inspection)?;
            answer["file"] = json!(self.file);
            answer["procedures"] = json!(procedures);
            print(&terminal::json(&answer)?)?;
        } else {
            show(&name, &inspection, &procedures)?;
        }
        if !inspection.problems.is_empty() {
            bail!("this host cannot run {name}");
        }
        Ok(())
    }
}

/// The names of the procedures that the component describes.
async fn procedures_of(bytes: &[u8]) -> anyhow::Result<Vec<String>> {
    let service = host::without_data(Some(bytes.to_vec()), None).await?;
    let described = service
        .sandbox
        .describe(Identity::operator().context(REQUEST_ID))
        .await?;
    Ok(described.into_iter().map(|procedure| procedure.name).collect())
}

fn show(name: &str, inspection: &Inspection, procedures: &[String]) -> anyhow::Result<()> {
    print(name)?;
    print(&format!("  kind      {}", inspection.kind))?;
    print(&format!("  size      {} bytes", inspection.size))?;
    print(&format!("  sha-256   {}", inspection.sha256))?;
    show_interfaces("imports", &inspection.imports, |standing| match standing {
        Compatibility::Fits => "offered",
        Compatibility::Missing => "not offered",
        Compatibility::Unused => "types only",
    })?;
    show_interfaces("exports", &inspection.exports, |standing| match standing {
        Compatibility::Fits => "called",
        Compatibility::Missing => "lacking",
        Compatibility::Unused => "not called",
    })?;
    if !procedures.is_empty() {
        print(&format!("procedures: {}", procedures.len()))?;
        print(&format!("  {}", printable(&procedures.join(" "))))?;
    }
    let host = format!("portico {} ({})", env!("CARGO_PKG_VERSION"), inspection.contract);
    if inspection.problems.is_empty() {
        return print(&format!("{host} can run it."));
    }
    print(&format!("{host} cannot run it:"))?;
    inspection
        .problems
        .iter()
        .try_for_each(|problem| print(&format!("  - {}", printable(problem))))
}

fn show_interfaces(
    title: &str,
    interfaces: &[Interface],
    standing: fn(Compatibility) -> &'static str,
) -> anyhow::Result<()> {
    if interfaces.is_empty() {
        return Ok(());
    }
    print(title)?;
    interfaces.iter().try_for_each(|interface| {
        let functions = match interface.functions {
            1 => "1 function".into(),
            count => format!("{count} functions"),
        };
        print(&format!(
            "  {:<42} {functions:<14} {}",
            printable(&interface.name),
            standing(interface.standing)
        ))
    })
}
