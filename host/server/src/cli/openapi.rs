//! `portico openapi`.

use clap::Args;
use portico_http::openapi;

use super::{host, output::print, process::block_on, terminal};

#[derive(Args)]
pub struct OpenApi {}

impl OpenApi {
    pub fn run(self) -> anyhow::Result<()> {
        let service = block_on(host::without_data(None, None))?;
        print(&terminal::json(&openapi::document(&service.table))?)
    }
}
