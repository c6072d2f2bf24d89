//! Looks icons up by name: the contract's interface `icons`. Also reads the pages of new apps.
//!
//! Invariants:
//! - A lookup takes at most 2 seconds and never fails. A source that cannot be reached has no icons.
//! - As long as the sources stay the same, the same name gets the same icon, at every host of a storage.

mod copies;
mod listing;
mod matching;
mod settings;
mod source;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use portico_icons::Pages;
use portico_sandbox::icons::{Icons, NamedIcon, NoPage, Page};
use portico_storage::SharedRecords;
use sha2::{Digest, Sha256};
use tokio::{
    runtime::Handle,
    task::{spawn_blocking, yield_now},
    time::{Instant, timeout_at},
};
use tracing::warn;

use self::copies::{Copy, CopyFile};
use self::matching::Table;
pub use self::settings::{IconSettings, IconSource};
use self::source::Source;

/// How long a lookup waits for its sources. The contract allows 2 seconds; the rest is for the search.
const WAIT: Duration = Duration::from_millis(1_900);

/// Names that are looked up before other work on the same thread gets its turn.
const BATCH: usize = 64;

/// Finds icons in the configured sources. Their indexes are fetched on first use and stored.
pub struct IconSources {
    sources: Vec<Arc<Source>>,
    pages: Pages,
    default_icon: String,
    records: Arc<dyn SharedRecords>,
    wait: Duration,
}

impl IconSources {
    /// Reads and fetches nothing yet, but needs a runtime. Copies of the indexes are in the records and, if these do
    /// not outlive this host, also in a folder, which need not exist.
    pub fn new(settings: IconSettings, records: Arc<dyn SharedRecords>, folder: Option<PathBuf>) -> Self {
        let copy = |source: &IconSource| {
            let digest = Sha256::digest(format!("{} {}", source.index, source.base));
            let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
            let file = |folder: &PathBuf| CopyFile {
                index: source.index.clone(),
                path: folder.join(format!("{name}.json")),
            };
            Copy {
                file: folder.as_ref().map(file),
                records: records.clone(),
                runtime: Handle::current(),
                name,
            }
        };
        let sources = settings.sources.into_iter();
        let sources = sources.map(|source| Arc::new(Source::new(source.clone(), copy(&source))));
        Self {
            sources: sources.collect(),
            pages: Pages::new(settings.allow),
            default_icon: settings.default_icon,
            records,
            wait: WAIT,
        }
    }

    /// Lookups wait this long for their sources. For tests: the contract allows 2 seconds.
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Starts what is due before a lookup.
    async fn start(&self, deadline: Instant) {
        let keys: Vec<_> = self.sources.iter().map(|source| source.version_key()).collect();
        match timeout_at(deadline, self.records.read(&keys)).await {
            Ok(Ok((versions, now))) => {
                for (source, version) in self.sources.iter().zip(&versions) {
                    source.start_if_due(version, now);
                }
            }
            // Uses what is loaded.
            Ok(Err(error)) => warn!(?error, "it is not known which icons there are"),
            Err(_) => warn!("it is not known in time which icons there are"),
        }
    }

    /// The icons of each source, as far as they are available in time.
    async fn tables(&self) -> Vec<Option<Arc<Table>>> {
        let deadline = Instant::now() + self.wait;
        self.start(deadline).await;
        let mut tables = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            // After the deadline this returns the tables that are already loaded.
            tables.push(source.table(deadline).await);
        }
        tables
    }

    /// The URL of the best icon for a folded name.
    fn best(&self, tables: &[Option<Arc<Table>>], name: &str) -> Option<String> {
        let found = tables.iter().zip(&self.sources).enumerate();
        let found = found.filter_map(|(at, (table, source))| {
            let found = table.as_ref()?.find(name)?;
            Some((found.rank, at, source.url(found.path)))
        });
        found.min().map(|(_, _, url)| url)
    }
}

/// The best matches of a folded text in all tables, the first of equal ones from the first source.
fn search(
    tables: &[Option<Arc<Table>>],
    sources: &[Arc<Source>],
    text: &str,
    limit: usize,
) -> Vec<NamedIcon> {
    let tables = tables.iter().enumerate();
    let tables = tables.filter_map(|(at, table)| Some((at, table.as_ref()?)));
    let mut found: Vec<_> = tables
        .flat_map(|(at, table)| {
            let matches = table.containing(text);
            matches.map(move |found| (found.rank, at, found.path))
        })
        .collect();
    found.sort_unstable();
    let best = found.into_iter().take(limit);
    best.map(|(rank, at, path)| NamedIcon {
        name: rank.stem().to_owned(),
        url: sources[at].url(path),
    })
    .collect()
}

#[async_trait]
impl Icons for IconSources {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        let mut folded: Vec<String> = Vec::with_capacity(names.len());
        for names in names.chunks(BATCH) {
            folded.extend(names.iter().map(|name| matching::fold(name)));
            yield_now().await;
        }
        if folded.iter().all(String::is_empty) {
            return vec![None; names.len()];
        }

        let tables = self.tables().await;

        let mut answers: HashMap<&str, Option<String>> = HashMap::new();
        let mut found = Vec::with_capacity(names.len());
        for names in folded.chunks(BATCH) {
            found.extend(names.iter().map(|name| {
                let search = || self.best(&tables, name);
                answers.entry(name).or_insert_with(search).clone()
            }));
            yield_now().await;
        }
        found
    }

    async fn search(&self, text: &str, limit: usize) -> Option<Vec<NamedIcon>> {
        let (tables, sources) = (self.tables().await, self.sources.clone());
        if !sources.is_empty() && tables.iter().all(Option::is_none) {
            return None;
        }
        let text = matching::fold(text);
        // It looks at every icon of every source.
        let searched = spawn_blocking(move || search(&tables, &sources, &text, limit)).await;
        Some(searched.unwrap_or_default())
    }

    async fn page(&self, url: &str) -> Result<Page, NoPage> {
        let read = self.pages.read(url).await;
        let page = read.map_err(|error| match error {
            portico_icons::NoPage::NotAllowed(_) => NoPage::NotAllowed,
            portico_icons::NoPage::NoAnswer(_) => NoPage::NoAnswer,
            portico_icons::NoPage::Busy => NoPage::Busy,
        })?;
        Ok(Page {
            title: page.title,
            application: page.application,
            icon_url: page.icon_url,
        })
    }

    async fn variant(&self, url: &str, on_dark: bool) -> Option<String> {
        let own = self
            .sources
            .iter()
            .find_map(|source| Some((source, source.path_of(url)?)));
        // What comes from elsewhere has no variants.
        let Some((source, path)) = own else {
            return Some(url.to_owned());
        };
        let table = match source.loaded() {
            Some(table) => table,
            None => {
                let deadline = Instant::now() + self.wait;
                self.start(deadline).await;
                source.table(deadline).await?
            }
        };
        let found = table.variant(&path, on_dark);
        Some(found.map_or_else(|| url.to_owned(), |path| source.url(path)))
    }

    fn default_icon(&self) -> String {
        self.default_icon.clone()
    }
}
