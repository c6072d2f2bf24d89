//! `portico openapi`.

use clap::Args;
use portico::{COMPONENT, openapi};

use super::{block_on, host, print};

#[derive(Args)]
pub struct OpenApi {}

impl OpenApi {
    pub fn run(self) -> anyhow::Result<()> {
        let service = block_on(host::without_data(COMPONENT, None))?;
        print(&serde_json::to_string_pretty(&openapi::document(&service.table))?)
    }
}
