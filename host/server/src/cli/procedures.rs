//! `portico procedures`.

use clap::Args;
use portico_sandbox::{Access, Kind};
use portico_service::procedures::Procedure;
use serde_json::{Value, json};

use super::{host, output::print, process::block_on, terminal};

#[derive(Args)]
pub struct Procedures {
    /// As JSON, one object for each procedure
    #[arg(long)]
    json: bool,
}

impl Procedures {
    pub fn run(self) -> anyhow::Result<()> {
        let service = block_on(host::without_data(None, None))?;
        if self.json {
            let rows: Vec<_> = service.table.iter().map(|row| as_json(row)).collect();
            return print(&terminal::json(&rows.into())?);
        }
        service.table.iter().try_for_each(|procedure| {
            let (name, kind, access) = (procedure.name, kind(procedure), access(procedure));
            let route = procedure
                .route
                .map(|route| format!("{} {}", route.method, route.path));
            let (input, output) = (procedure.input.describe(), procedure.output.describe());
            print(&format!(
                "{name:<32}{kind:<10}{access:<24}{}",
                route.unwrap_or_default()
            ))?;
            print(&format!("    {}", procedure.summary()))?;
            print(&format!("    {input} -> {output}"))
        })
    }
}

fn kind(procedure: &Procedure) -> &'static str {
    match procedure.kind {
        Kind::Query => "query",
        Kind::Mutation => "mutation",
    }
}

fn access(procedure: &Procedure) -> String {
    match &procedure.access {
        Access::Public => "public".into(),
        Access::Onboarding => "while no user exists".into(),
        Access::Protected => "signed in".into(),
        Access::OwnUserOr(permissions) => format!("own or {}", permissions.join("|")),
        Access::OneOf(permissions) => permissions.first().cloned().unwrap_or_default(),
    }
}

fn as_json(procedure: &Procedure) -> Value {
    let access = match &procedure.access {
        Access::Public => json!("public"),
        Access::Onboarding => json!("onboarding"),
        Access::Protected => json!("protected"),
        Access::OwnUserOr(permissions) => json!({ "ownUserOr": permissions }),
        Access::OneOf(permissions) => json!({ "oneOf": permissions }),
    };
    json!({
        "name": procedure.name,
        "about": procedure.about(),
        "kind": kind(procedure),
        "access": access,
        "rest": procedure.route,
        "input": procedure.input.describe(),
        "output": procedure.output.describe(),
    })
}
