//! Looks icons up by name: the contract's interface `icons`.
//!
//! Invariants:
//! - A lookup takes at most 2 seconds and never fails. A source that cannot be reached has no icons.
//! - As long as the sources stay the same, the same name gets the same answer.

mod listing;
mod matching;
mod network;
mod settings;
mod source;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use portico_model::time::Clock;
use portico_sandbox::icons::Icons;
use tokio::time::Instant;

pub use self::settings::{IconSettings, IconSource};
use self::source::Source;

/// How long a lookup waits for its sources. The contract allows 2 seconds; the rest is for the search.
const WAIT: Duration = Duration::from_millis(1_900);

/// Finds icons in the configured sources. Their indexes are fetched on first use and kept on disk.
pub struct IconSources {
    sources: Vec<Arc<Source>>,
    default_icon: String,
}

impl IconSources {
    /// Reads and fetches nothing yet. The folder need not exist.
    pub fn new(settings: IconSettings, cache_dir: PathBuf, clock: Arc<dyn Clock>) -> Self {
        let source = |source| Arc::new(Source::new(source, Path::new(&cache_dir), Arc::clone(&clock)));
        Self {
            sources: settings.sources.into_iter().map(source).collect(),
            default_icon: settings.default_icon,
        }
    }
}

#[async_trait]
impl Icons for IconSources {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        let folded: Vec<String> = names.iter().map(|name| matching::fold(name)).collect();
        if folded.iter().all(String::is_empty) {
            return vec![None; names.len()];
        }

        let deadline = Instant::now() + WAIT;
        for source in &self.sources {
            source.start_if_due();
        }
        let mut tables = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            // After the deadline this returns the tables that are already loaded.
            tables.push(source.table(deadline).await);
        }

        let mut answers: HashMap<&str, Option<String>> = HashMap::new();
        folded
            .iter()
            .map(|name| {
                let search = || {
                    let found = tables.iter().zip(&self.sources).enumerate();
                    let found = found.filter_map(|(at, (table, source))| {
                        let found = table.as_ref()?.find(name)?;
                        Some((found.rank, at, source.url(found.path)))
                    });
                    found.min().map(|(_, _, url)| url)
                };
                answers.entry(name).or_insert_with(search).clone()
            })
            .collect()
    }

    fn default_icon(&self) -> String {
        self.default_icon.clone()
    }
}
