//! Records the contract and documents it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Parser, Subcommand};
use portico_contract::{Contract, Recorded, check_promises, componentize, compose, document};

/// The contract in wit/: recorded, compared and described
#[derive(Parser)]
#[command(name = "portico-contract")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Records the contract of this version, with dist/portico.wasm
    Record,
    /// Writes docs/contract.md
    Docs,
    /// Writes the package of WIT, encoded, to dist/portico-dashboard.wasm
    Package,
    /// Writes dist/portico-sql.wasm, and dist/portico-with-sql.wasm with the rules of dist/portico.wasm
    ReadyStorage {
        /// The core module of component/sql
        module: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().context("a workspace around this crate")?;
    let contract = Contract::read(&root.join("wit"))?;
    match Arguments::parse().command {
        Action::Docs => fs::write(root.join("docs/contract.md"), document(&contract)?)?,
        Action::Package => {
            fs::create_dir_all(root.join("dist"))?;
            fs::write(root.join("dist/portico-dashboard.wasm"), contract.encode()?)?;
        }
        Action::ReadyStorage { module } => {
            let dist = root.join("dist");
            let module = fs::read(&module).with_context(|| module.display().to_string())?;
            let storage = componentize(&module)?;
            let rules = fs::read(dist.join("portico.wasm"))
                .context("dist/portico.wasm: `make component` builds it")?;
            let composed = compose(rules, storage.clone())?;
            fs::write(dist.join("portico-sql.wasm"), storage)?;
            fs::write(dist.join("portico-with-sql.wasm"), composed)?;
        }
        Action::Record => {
            let folder = here.join("recorded");
            let present = contract.recorded()?;
            check_promises(&present, &Recorded::all(&folder)?)?;
            let component = root.join(format!("tests/fixtures/portico-{}.wasm", present.version));
            if !component.exists() {
                fs::create_dir_all(root.join("tests/fixtures"))?;
                fs::copy(root.join("dist/portico.wasm"), &component)
                    .context("dist/portico.wasm: `make component` builds it")?;
            }
            let text = present.write_to(&folder)?;
            println!("{}\n{}", text.display(), component.display());
        }
    }
    Ok(())
}
