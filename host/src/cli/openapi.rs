//! `portico openapi`.

use clap::Args;
use portico::{COMPONENT, openapi};

use super::{block_on, host, print, terminal};

#[derive(Args)]
pub struct OpenApi {}

impl OpenApi {
    pub fn run(self) -> anyhow::Result<()> {
        let service = block_on(host::without_data(COMPONENT, None))?;
        print(&terminal::json(&openapi::document(&service.table))?)
    }
}
