//! `portico demo`: a host in memory with a sample household, for looking around.
//!
//! Invariants: it listens on this machine only, and checks only what is there; it reads no settings of a host, and keeps
//! nothing of the household.

mod household;
mod icons;

use std::{
    env::temp_dir,
    fs::{DirBuilder, remove_dir_all},
    net::SocketAddr,
    os::unix::fs::DirBuilderExt as _,
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Context as _, ensure};
use clap::Args;
use portico_storage::secrets::{Secrets, SystemRandom};

pub use self::household::Household;
use super::{
    ping::PingSettings,
    process::block_on,
    serve::{DEFAULT_LISTEN, Start, serve},
    settings::Settings,
};

#[derive(Args)]
pub struct Demo {
    /// The address of this machine to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_LISTEN)]
    listen: SocketAddr,
    /// A folder for the compiled component, so that the next start is quicker [default: none is kept]
    #[arg(long, env = "PORTICO_CACHE", value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl Demo {
    pub fn run(self) -> anyhow::Result<()> {
        ensure!(
            self.listen.ip().is_loopback(),
            "the demo listens on this machine only, and {} is not an address of it alone: use 127.0.0.1:{}",
            self.listen.ip(),
            self.listen.port()
        );
        let folder = Folder::create()?;
        let settings = Settings {
            data: Some(folder.0.clone()),
            cache: self.cache,
            ping: PingSettings::of_this_machine(),
            ..Settings::default()
        };
        settings.start_log(true)?;
        block_on(serve(settings, Start::demo(self.listen))).map(drop)
    }
}

/// A folder for the compiled component and for pictures, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn create() -> anyhow::Result<Self> {
        let name = Secrets::new(Arc::new(SystemRandom)).password();
        let path = temp_dir().join(format!("portico-demo-{name}"));
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.with_context(|| format!("cannot create the folder {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is not of the household.
        let _ = remove_dir_all(&self.0);
    }
}
