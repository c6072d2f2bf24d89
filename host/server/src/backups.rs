//! Backups that a host makes of its own database, in SQLite.
//!
//! Invariants:
//! - A backup is due when the newest one in the folder is older than the interval. So a restart neither delays nor repeats
//!   one.
//! - Old backups are removed only once a newer one is complete, and only files whose names are ours.

use std::fs::{self, DirBuilder};
use std::num::NonZero;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use portico_metrics::{Counter, Gauge};
use portico_model::Timestamp;
use portico_model::time::{self, Clock, SystemClock};
use portico_sqlite as sqlite;
use portico_storage::nice::lower_priority;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tracing::{error, info};

/// The clock is looked at again after this time: it may have been set.
const LOOK_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// When the newest backup of this process was made, in seconds since 1970; 0: none yet.
pub static MADE_AT: Gauge = Gauge::new();
/// From one backup to the next, in seconds; 0: none are made.
pub static INTERVAL: Gauge = Gauge::new();
/// Backups that failed.
pub static FAILED: Counter = Counter::new();

/// Which database to copy, where to, how often, and how many copies to keep.
pub struct Backups {
    /// The file of the database.
    pub database: PathBuf,
    /// Created if it does not exist.
    pub folder: PathBuf,
    /// From one backup to the next.
    pub every: Duration,
    /// The number of backups that stay.
    pub keep: NonZero<usize>,
}

impl Backups {
    /// Makes a backup whenever one is due. An error is logged, and the backup is tried again after ten minutes.
    pub async fn run(self) {
        let backups = Arc::new(self);
        INTERVAL.set(i64::try_from(backups.every.as_secs()).unwrap_or(i64::MAX));
        loop {
            let due_in = backups.due_in(SystemClock.now());
            if !due_in.is_zero() {
                sleep(due_in.min(LOOK_INTERVAL)).await;
                continue;
            }
            if let Err(error) = backups.clone().make().await {
                FAILED.increment();
                error!(
                    "there is no new backup in {}: {error:#}",
                    backups.folder.display()
                );
                sleep(LOOK_INTERVAL).await;
            }
        }
    }

    /// How long it is until the next backup.
    fn due_in(&self, now: Timestamp) -> Duration {
        // One that was made while the clock was ahead does not count.
        let newest = self.list().into_iter().rev().find(|(made_at, _)| *made_at <= now);
        newest.map_or(Duration::ZERO, |(newest, _)| {
            self.every.saturating_sub(Duration::from_millis(now - newest))
        })
    }

    /// Dropping the future stops the copy.
    async fn make(self: Arc<Self>) -> anyhow::Result<()> {
        let stop = StopOnDrop::default();
        let (go_on, (sender, made)) = (stop.0.clone(), oneshot::channel());
        // Not as a blocking task of the runtime, which a stop would wait for.
        thread::Builder::new()
            .name("portico-backup".into())
            .spawn(move || {
                lower_priority();
                let _ = sender.send(self.copy(SystemClock.now(), &go_on));
            })?;
        made.await.context("the thread of the backup ended")?
    }

    fn copy(&self, now: Timestamp, stopped: &AtomicBool) -> anyhow::Result<()> {
        if !self.folder.exists() {
            let mut folder = DirBuilder::new();
            let created = folder.recursive(true).mode(0o700).create(&self.folder);
            created.with_context(|| format!("cannot create the folder {}", self.folder.display()))?;
        }
        let Some(name) = name_of(now) else {
            bail!("the clock is beyond the year 9999");
        };
        let file = self.folder.join(name);
        let contents = sqlite::backup(&self.database, &file, false, &mut |_| {
            !stopped.load(Ordering::Relaxed)
        })?;
        MADE_AT.set(i64::try_from(now / 1000).unwrap_or(i64::MAX));
        info!(bytes = contents.bytes, "made the backup {}", file.display());
        if let Some(problem) = contents.refused {
            error!(
                "`portico restore` will refuse the backup {}: {problem}",
                file.display()
            );
        }
        let mut backups = self.list();
        backups.retain(|(made_at, _)| *made_at <= now);
        backups.truncate(backups.len().saturating_sub(self.keep.get()));
        for (_, old) in backups {
            fs::remove_file(&old).with_context(|| format!("cannot remove {}", old.display()))?;
            info!("removed the backup {}", old.display());
        }
        Ok(())
    }

    /// Our backups in the folder, the oldest first.
    fn list(&self) -> Vec<(Timestamp, PathBuf)> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut backups: Vec<_> = files
            .filter_map(|file| Some((made_at(&file.path())?, file.path())))
            .collect();
        backups.sort_unstable();
        backups
    }
}

/// `portico-2026-01-31T12-00-00.000Z.db`: a colon is not allowed in every file system.
fn name_of(moment: Timestamp) -> Option<String> {
    Some(format!("portico-{}.db", time::format(moment)?.replace(':', "-")))
}

/// When the backup of this name was made; `None` if the name is not ours.
fn made_at(file: &Path) -> Option<Timestamp> {
    let name = file.file_name()?.to_str()?;
    let (day, moment) = name
        .strip_prefix("portico-")?
        .strip_suffix(".db")?
        .split_once('T')?;
    let made_at = time::parse(&format!("{day}T{}", moment.replace('-', ":")))?;
    (name_of(made_at)? == name).then_some(made_at)
}

/// Tells the thread to stop.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = 1_769_860_800_000;
    const HOUR: Timestamp = 60 * 60 * 1000;

    fn backups_of(folder: &Path) -> Backups {
        let database = folder.join("portico.db");
        drop(sqlite::SqliteStorage::open(&database).unwrap());
        Backups {
            database,
            folder: folder.join("backups"),
            every: Duration::from_millis(24 * HOUR),
            keep: NonZero::new(2).unwrap(),
        }
    }

    #[test]
    fn a_backup_is_due_when_the_newest_is_too_old_whoever_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let backups = backups_of(folder.path());
        assert_eq!(backups.due_in(NOON), Duration::ZERO);
        backups.copy(NOON, &AtomicBool::new(false)).unwrap();
        assert_eq!(backups.due_in(NOON + HOUR), Duration::from_millis(23 * HOUR));
        assert_eq!(backups.due_in(NOON + 25 * HOUR), Duration::ZERO);
        // It was made while the clock was ahead.
        assert_eq!(backups.due_in(NOON - HOUR), Duration::ZERO);
    }

    #[test]
    fn only_our_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let backups = backups_of(folder.path());
        fs::create_dir(&backups.folder).unwrap();
        let others = ["portico-2020-01-01.db", "portico-before.db", "mine"];
        for name in others {
            fs::write(backups.folder.join(name), "").unwrap();
        }
        for day in 0..4 {
            backups
                .copy(NOON + day * 24 * HOUR, &AtomicBool::new(false))
                .unwrap();
        }
        let names = backups.list().into_iter().map(|(made_at, _)| made_at);
        assert_eq!(names.collect::<Vec<_>>(), [NOON + 48 * HOUR, NOON + 72 * HOUR]);
        assert!(others.iter().all(|name| backups.folder.join(name).exists()));
    }

    #[test]
    fn a_backup_that_is_stopped_leaves_nothing_and_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let backups = Backups {
            keep: NonZero::new(1).unwrap(),
            ..backups_of(folder.path())
        };
        backups.copy(NOON, &AtomicBool::new(false)).unwrap();
        backups.copy(NOON + HOUR, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(fs::read_dir(&backups.folder).unwrap().count(), 1);
        assert_eq!(backups.list()[0].0, NOON);
    }
}
