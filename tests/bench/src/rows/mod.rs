//! The measurements: rows of the table, in groups whose names begin with the same word.

mod console;
mod families;
mod footprint;
mod passwords;
mod postgresql;
mod reads;
mod search;
mod visibility;
mod writes;

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context as _, bail};
use tempfile::TempDir;

use crate::{
    data::{self, Data},
    disk::SlowDisk,
    load::{Load, Sample},
    process::{Server, on_two_cores},
    report::Row,
};

/// Measures a group of rows.
type Measure = fn(&Bench) -> anyhow::Result<Vec<Row>>;

/// A group of rows, by the word that their names begin with.
pub type Group = (&'static str, Measure);

const GROUPS: [Group; 13] = [
    ("by-id", reads::by_id),
    ("list", reads::list),
    ("batch", reads::batch),
    ("search", search::search),
    ("worst", families::worst),
    ("visibility", visibility::visibility),
    ("create", writes::create),
    ("postgresql", postgresql::postgresql),
    ("argon2id", passwords::hashing),
    ("sign-ins", passwords::reads_beside_sign_ins),
    ("console", console::console),
    ("start", footprint::start),
    ("memory", footprint::memory),
];

/// The groups with these names; all of them if none is named.
pub fn chosen(names: &[String]) -> anyhow::Result<Vec<Group>> {
    let known = GROUPS.map(|(name, _)| name);
    let names: Vec<_> = names.iter().filter(|name| !name.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there are no rows {unknown:?}; there are: {}", known.join(", "));
    }
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| *chosen == name);
    Ok(GROUPS.into_iter().filter(|(name, _)| is_chosen(name)).collect())
}

/// The environment of the measurements.
#[derive(Clone)]
pub struct Bench {
    /// This program.
    this: PathBuf,
    /// The measured binary.
    portico: PathBuf,
    /// A folder for data and scripts, removed at the end.
    folder: Rc<TempDir>,
    /// The disk that servers use instead of this machine's.
    disk: Option<SlowDisk>,
    /// How often each case is measured.
    rounds: usize,
    /// The length of each measurement, in seconds.
    seconds: u32,
    /// Whether rows that miss their bounds are measured once more.
    again: bool,
    /// Counts groups, repeated measurements and disks. Each has folders of its own.
    attempt: Rc<Cell<u32>>,
}

/// A load on a server.
pub struct Case<'a>(pub &'a Server, pub Load<'a>);

impl Bench {
    /// Measures these binaries.
    pub fn new(this: PathBuf, portico: PathBuf, quick: bool) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("portico-bench-").tempdir()?;
        // Many short rounds, because the speed of machines varies from minute to minute.
        let (rounds, seconds) = if quick { (3, 1) } else { (9, 1) };
        Ok(Self {
            this,
            portico,
            folder: Rc::new(folder),
            disk: None,
            rounds,
            seconds,
            again: quick,
            attempt: Rc::default(),
        })
    }

    /// Measures these groups, one after the other.
    pub fn measure(&self, groups: &[Group]) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (number, (name, measure)) in groups.iter().enumerate() {
            eprintln!("{} of {}: {name}", number + 1, groups.len());
            let measure = || {
                self.attempt.update(|attempt| attempt + 1);
                measure(self).with_context(|| format!("the rows {name} could not be measured"))
            };
            let mut measured = measure()?;
            if self.again && measured.iter().any(Row::is_beyond_bounds) {
                eprintln!("  beyond the bounds: once more, for others may have been at work");
                // A row that is really too slow is too slow twice.
                for (row, again) in measured.iter_mut().zip(measure()?) {
                    if row.is_beyond_bounds() {
                        *row = again;
                    }
                }
            }
            rows.extend(measured.into_iter().map(|row| Row {
                work: format!("{name}: {}", row.work),
                ..row
            }));
        }
        Ok(rows)
    }

    /// The same environment on this disk; none: the machine's disk.
    fn on_disk(&self, disk: Option<SlowDisk>) -> Self {
        self.attempt.update(|attempt| attempt + 1);
        Self { disk, ..self.clone() }
    }

    /// Whether this is the quick form.
    fn is_quick(&self) -> bool {
        self.again
    }

    /// The folder for data and scripts.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A folder with this name for the present attempt.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{}-{name}", self.attempt.get()))
    }

    /// Two data directories with the same content.
    fn twins(&self, name: &str, apps: usize, users: usize) -> anyhow::Result<(Data, PathBuf, PathBuf)> {
        let (first, second) = (
            self.path(&format!("{name}-portico")),
            self.path(&format!("{name}-native")),
        );
        let data = data::seed(&first, apps, users)?;
        data::copy(&first, &second)?;
        Ok((data, first, second))
    }

    /// The command that starts Portico.
    pub fn portico_command(&self, data: &Path) -> std::process::Command {
        let mut command = on_two_cores(&self.portico);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("PORTICO_ICON_SOURCES", "")
            // All sign-ins come from one address, which the throttle would limit.
            .env("PORTICO_SIGN_IN_THROTTLE", "off")
            .env("PORTICO_LOG", "warn")
            .env("PORTICO_CACHE", self.folder.path().join("cache"));
        command
    }

    /// The command that starts the native server.
    fn native_command(&self, data: &Path) -> std::process::Command {
        let mut command = on_two_cores(&self.this);
        command.arg("native").arg(data);
        command
    }

    fn portico(&self, data: &Path) -> anyhow::Result<Server> {
        self.start(self.portico_command(data))
    }

    fn native(&self, data: &Path) -> anyhow::Result<Server> {
        self.start(self.native_command(data))
    }

    fn start(&self, mut server: std::process::Command) -> anyhow::Result<Server> {
        if let Some(disk) = &self.disk {
            disk.put_below(&mut server);
        }
        Server::start(server)
    }

    /// Loads each case in turn, for several rounds in different orders, and returns the rounds of each case. A
    /// first round warms up and does not count.
    fn interleave<const N: usize>(&self, cases: [Case<'_>; N]) -> anyhow::Result<[Vec<Sample>; N]> {
        let mut samples = [const { Vec::new() }; N];
        let run = |case: &Case<'_>, seconds| case.1.run(case.0, self.folder.path(), seconds);
        for case in &cases {
            run(case, 1)?;
        }
        for round in 0..self.rounds {
            eprint!("\r  round {} of {} ", round + 1, self.rounds);
            for step in 0..N {
                let index = (round + step) % N;
                samples[index].push(run(&cases[index], self.seconds)?);
            }
        }
        eprintln!();
        Ok(samples)
    }
}
