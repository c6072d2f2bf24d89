//! Where a command calls a procedure: on the data directory, or through a running host.

use std::path::PathBuf;

use clap::Args;
use portico_sandbox::Kind;
use serde_json::Value;

use super::{
    host, local,
    process::block_on,
    remote, secret,
    settings::{HostArgs, Settings},
};

/// The data directory, which no host may use meanwhile, or with `--url` a running host.
#[derive(Args)]
pub struct Target {
    /// Call a running host instead of opening the data directory
    #[arg(long)]
    url: Option<String>,
    /// The API key for the running host; safer in the environment, where `ps` does not show it
    #[arg(long, env = "PORTICO_KEY", hide_env_values = true)]
    key: Option<String>,
    /// The file with that key
    #[arg(long, env = "PORTICO_KEY_FILE", value_name = "FILE")]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
}

/// The procedure to call.
pub struct ProcedureRef<'a> {
    pub name: &'a str,
    /// `None` if the component in this binary says it.
    pub kind: Option<Kind>,
}

impl Target {
    /// The data directory in the settings, even if a running host is called.
    pub fn data(&self, settings: &Settings) -> PathBuf {
        let data = self.host.data.data.clone();
        data.unwrap_or_else(|| settings.data())
    }

    /// Whether a running host is called.
    pub fn is_remote(&self) -> bool {
        self.url.is_some()
    }

    /// Calls a procedure as this user or as the operator; through a running host, as the owner of the key. Returns
    /// `None` if the procedure has no output.
    pub fn call(
        self,
        settings: Settings,
        procedure: ProcedureRef<'_>,
        user: Option<&str>,
        input: Option<Value>,
    ) -> anyhow::Result<Option<Value>> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let Some(url) = &self.url else {
            return block_on(local::call(&settings, procedure.name, user, input));
        };
        let cache = settings.cache.as_deref().map(std::path::absolute).transpose()?;
        let kind = match procedure.kind {
            Some(kind) => kind,
            // A newer host may have more procedures. Those are sent as mutations; if one is a query, the
            // host says so.
            None => block_on(host::without_data(None, cache))?
                .table
                .find(procedure.name)
                .map_or(Kind::Mutation, |procedure| procedure.kind),
        };
        let key = secret::read("key", self.key.as_deref(), self.key_file.as_deref())?;
        remote::call(url, key.as_deref(), procedure.name, kind, input)
    }
}
