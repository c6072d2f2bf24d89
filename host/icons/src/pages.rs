//! What a page says of itself, for a new app: its title and its icon, by the rules of fetching icons.
//!
//! Invariants:
//! - Nothing is fetched from where no icon would be fetched, at any redirect (`fetch.rs`).
//! - Of a page at most 256 KiB are read, no further than its head, in five seconds. Its icons together take at most
//!   five more.
//! - At most [`MOST_AT_ONCE`] pages are read at the same time, on threads of their own.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};
use tracing::{info, warn};
use url::Url;

use crate::{
    allow::AllowList,
    error::IconError,
    fetch::{Beginning, Network},
    head::{self, Head},
    picture::Picture,
    place::{PictureSource, data, fetchable},
};

/// Pages that are read at the same time: people wait for one, and programs should not keep all threads busy.
const MOST_AT_ONCE: usize = 4;

/// How long a page waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Icons of a page that are tried.
const MOST_TRIED: usize = 2;

/// The longest `data:` URL that is taken for an icon, in bytes: lists of apps hold it.
const LONGEST_DATA: usize = 4 << 10;

/// What a page says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its title, on one line.
    pub title: Option<String>,
    /// The name of the application or the site, if it says so.
    pub application: Option<String>,
    /// The URL of its icon, which has been fetched once.
    pub icon_url: Option<String>,
}

/// Why a page says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPage {
    /// Its address, or one to which it redirects, is not one from which icons may be fetched.
    NotAllowed(String),
    /// Its host did not answer, or not with a page.
    NoAnswer(String),
    /// Too many pages are being read; this one can be requested again.
    Busy,
}

/// Reads pages.
pub struct Pages(Arc<Networks>);

struct Networks {
    pages: Network,
    pictures: Network,
    slots: Arc<Semaphore>,
}

impl Pages {
    /// Pages from where icons may be fetched.
    pub fn new(allow: AllowList) -> Self {
        Self::with(
            Network::for_pages(allow.clone()),
            Network::new(allow).for_a_moment(),
        )
    }

    fn with(pages: Network, pictures: Network) -> Self {
        Self(Arc::new(Networks {
            pages,
            pictures,
            slots: Arc::new(Semaphore::new(MOST_AT_ONCE)),
        }))
    }

    /// What the page at a URL with `http:` or `https:` says of itself.
    pub async fn read(&self, url: &str) -> Result<Page, NoPage> {
        let url = match PictureSource::of(url) {
            Ok(PictureSource::Web(url)) => url,
            Ok(PictureSource::Data(_)) => {
                return Err(NoPage::NoAnswer("it is not the address of a page".into()));
            }
            Err(error) => return Err(NoPage::of(&error)),
        };
        let waiting = timeout(PATIENCE, self.0.slots.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = waiting else {
            return Err(NoPage::Busy);
        };
        let (sender, receiver) = oneshot::channel();
        let networks = self.0.clone();
        let spawned = thread::Builder::new().name("page".to_owned()).spawn(move || {
            // This fails if the caller has given up, or the host stops.
            let _ = sender.send(networks.read(&url));
            drop(permit);
        });
        if let Err(error) = spawned {
            warn!("no thread to read a page: {error}");
            return Err(NoPage::Busy);
        }
        receiver.await.unwrap_or(Err(NoPage::Busy))
    }
}

impl NoPage {
    fn of(error: &IconError) -> Self {
        match error {
            IconError::NotAllowed(message) => Self::NotAllowed(message.to_string()),
            error => Self::NoAnswer(error.to_string()),
        }
    }
}

impl Networks {
    fn read(&self, url: &Url) -> Result<Page, NoPage> {
        let fetched = self.pages.fetch_beginning(url, head::has_ended);
        let page = fetched.map_err(|error| {
            // The query may contain a secret.
            let origin = url.origin().ascii_serialization();
            info!("no page from {origin}{}: {error}", url.path());
            NoPage::of(&error)
        })?;
        let kind = page.content_type.split(';').next().unwrap_or_default().trim();
        let is_page =
            ["", "text/html", "application/xhtml+xml"].contains(&kind.to_ascii_lowercase().as_str());
        if !is_page {
            return Err(NoPage::NoAnswer("what is there is no page".into()));
        }
        let head = head::read(&page.bytes, &page.content_type);
        Ok(Page {
            icon_url: self.icon(&page, &head),
            title: head.title,
            application: head.application,
        })
    }

    /// The first icon of a page that is a picture.
    fn icon(&self, page: &Beginning, head: &Head) -> Option<String> {
        let base = head.base.as_deref().and_then(|base| page.url.join(base).ok());
        let base = base.as_ref().unwrap_or(&page.url);
        let usual = "/favicon.ico".to_owned();
        let named = head.icons.iter().chain([&usual]).take(MOST_TRIED);
        let mut urls = named.filter_map(|href| base.join(href).ok());
        // All share the time of one: people wait.
        let deadline = self.pictures.deadline();
        urls.find_map(|url| self.picture(&url, deadline))
    }

    /// The URL as it is fetched, if there is a picture.
    fn picture(&self, url: &Url, deadline: Instant) -> Option<String> {
        let (url, bytes) = match url.scheme() {
            "data" if url.as_str().len() > LONGEST_DATA => return None,
            "data" => (url.clone(), data(url.as_str().strip_prefix("data:")?).ok()?),
            _ => {
                let url = fetchable(url.clone()).ok()?;
                let bytes = self.pictures.fetch_until(&url, deadline).ok()?;
                (url, bytes)
            }
        };
        Picture::of(bytes).ok()?;
        Some(url.to_string())
    }
}

#[cfg(test)]
mod tests;
