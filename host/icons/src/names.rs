//! Icons of names that had none when their apps were made: looked up again, once a day if one was found and once a
//! minute if none was: collections may not have been reached yet.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use portico_model::{Timestamp, time::Clock};

/// Finds the URL of the icon that fits a name.
pub type FindIcon = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync>;

/// What an icon is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Light colours.
    Light,
    /// Dark colours.
    Dark,
}

impl Ground {
    /// By its name in an address.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }
}

/// Whether the collection of an icon has a variant of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// It has, at this URL.
    At(String),
    /// The icon itself is what it has.
    Itself,
    /// Its index is not there at the moment.
    Unknown,
}

/// Finds the variant of the icon at a URL that is made for a ground. It requests nothing for one icon.
pub type FindVariant =
    Arc<dyn Fn(String, Ground) -> Pin<Box<dyn Future<Output = Variant> + Send>> + Send + Sync>;

/// How long a look-up counts.
const A_DAY: Timestamp = 24 * 60 * 60 * 1000;

/// How long one counts that found nothing.
const A_MINUTE: Timestamp = 60 * 1000;

/// The most names that are remembered.
const MOST: usize = 10_000;

pub(crate) struct Names {
    find: FindIcon,
    clock: Arc<dyn Clock>,
    known: Mutex<HashMap<String, (Option<String>, Timestamp)>>,
}

impl Names {
    pub fn new(find: FindIcon, clock: Arc<dyn Clock>) -> Self {
        Self {
            find,
            clock,
            known: Mutex::default(),
        }
    }

    /// The URL of the icon that fits a name, as it was found last.
    pub async fn icon_of(&self, name: &str) -> Option<String> {
        let now = self.clock.now();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((url, until)) = known.get(name)
                && now < *until
            {
                return url.clone();
            }
        }
        let url = (self.find)(name.to_owned()).await;
        let lasts = if url.is_some() { A_DAY } else { A_MINUTE };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(name.to_owned(), (url.clone(), now.saturating_add(lasts)));
        url
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

    use super::*;

    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            self.0.load(Relaxed)
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_up_once_a_day_and_a_minute_after_nothing_was_found() {
        let (clock, asked) = (Arc::new(Hand(AtomicU64::new(0))), Arc::new(AtomicUsize::new(0)));
        let counted = asked.clone();
        let find: FindIcon = Arc::new(move |name| {
            let number = counted.fetch_add(1, Relaxed);
            Box::pin(async move { (number > 0).then_some(name) })
        });
        let names = Names::new(find, clock.clone());
        assert_eq!(names.icon_of("nas").await, None);
        assert_eq!(names.icon_of("nas").await, None);
        assert_eq!(asked.load(Relaxed), 1);
        for (moment, found, times) in [
            (A_MINUTE - 1, None, 1),
            (A_MINUTE, Some("nas"), 2),
            (A_MINUTE + A_DAY - 1, Some("nas"), 2),
            (A_MINUTE + A_DAY, Some("nas"), 3),
        ] {
            clock.0.store(moment, Relaxed);
            assert_eq!(names.icon_of("nas").await.as_deref(), found, "{moment}");
            assert_eq!(asked.load(Relaxed), times, "{moment}");
        }
    }
}
