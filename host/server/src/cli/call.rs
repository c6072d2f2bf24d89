//! `portico call`.

use std::io::Read;

use anyhow::Context as _;
use clap::Args;
use portico_service::json;
use serde_json::Value;

use super::{
    output::print,
    settings::Settings,
    target::{ProcedureRef, Target},
    terminal,
};

#[derive(Args)]
pub struct Call {
    /// The procedure, as `portico procedures` lists it
    procedure: String,
    /// Its input as JSON; `-` reads it from the standard input
    input: Option<String>,
    /// Act as this user instead of as the operator, who may do anything
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    user: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Call {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let input = read_input(self.input.as_deref())?;
        let procedure = ProcedureRef {
            name: &self.procedure,
            kind: None,
        };
        let output = self
            .target
            .call(settings, procedure, self.user.as_deref(), input)?;
        if let Some(output) = output {
            print(&terminal::json(&output)?)?;
        }
        Ok(())
    }
}

fn read_input(argument: Option<&str>) -> anyhow::Result<Option<Value>> {
    let text = match argument {
        None => return Ok(None),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read the standard input")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    Ok(Some(
        json::read(text.as_bytes()).context("the input is not valid JSON")?,
    ))
}
