//! Writes name, version, licence, source and docs into a component, as custom sections at its end: those that
//! `wasm-tools metadata show` and `wasm-tools component wit` show, and one with the whole contract and its comments.
//!
//! `make component` runs it, also in the middle of another build: so it depends on nothing, and is built in a moment. The
//! result depends on the component, `wit/` and Cargo.toml alone (`contract/tests/reproducible.rs`).

mod contract;
mod sections;

use std::{env, error::Error, fs, path::Path};

use crate::contract::Contract;
use crate::sections::Annotated;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [from, to] = &arguments[..] else {
        return Err("annotate COMPONENT RESULT".into());
    };
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let contract = Contract::read(&wit)?;
    let component = fs::read(from).map_err(|error| format!("{from}: {error}"))?;
    fs::write(to, annotated(&component, &contract)?)?;
    Ok(())
}

fn annotated(component: &[u8], contract: &Contract) -> Result<Vec<u8>, &'static str> {
    let mut annotated = Annotated::new(component)?;
    annotated.add_name("portico");
    annotated.add_text("description", &contract.description);
    annotated.add_text("licenses", env!("CARGO_PKG_LICENSE"));
    annotated.add_text("version", &contract.version);
    // The address of the sources is that of Cargo.toml, once they have a public one.
    match env!("CARGO_PKG_REPOSITORY") {
        "" => {}
        source => annotated.add_text("source", source),
    }
    annotated.add_docs(&contract.docs);
    annotated.add_text("portico:contract", &contract.text);
    Ok(annotated.finish())
}
