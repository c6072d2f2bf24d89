//! The disk: measures how long it takes to make a page durable, and simulates a slower disk.
//!
//! The gain from sharing commits depends almost only on that time. The targets were set on a disk with
//! [`USUAL`]. Virtual disks may be several times faster, and real ones are slower.

use std::{
    fs::OpenOptions,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use crate::report::median;

/// The time per page on the disk for which the targets were set.
pub const USUAL: Duration = Duration::from_micros(160);

/// How often the time is measured.
const TRIES: u32 = 300;

/// The median time to make a page durable in this folder.
pub fn time_of_a_page(folder: &Path) -> anyhow::Result<Duration> {
    let path = folder.join("page");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)?;
    let mut times = Vec::new();
    for number in 0..TRIES {
        // Overwrites existing bytes, as a write-ahead log does after a restart.
        file.seek(SeekFrom::Start(u64::from(number % 16) * 4096))?;
        file.write_all(&[1; 4096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed().as_secs_f64());
    }
    std::fs::remove_file(&path)?;
    Ok(Duration::from_secs_f64(median(times.into_iter())))
}

/// A simulated disk on which a page takes [`USUAL`], on top of a faster one.
#[derive(Clone)]
pub struct SlowDisk {
    library: PathBuf,
}

impl SlowDisk {
    /// Builds the library that delays writes, in this folder, and checks with this program that it works.
    pub fn new(this: &Path, folder: &Path) -> anyhow::Result<Self> {
        let (source, library) = (folder.join("slow_disk.c"), folder.join("slow_disk.so"));
        std::fs::write(&source, include_str!("slow_disk.c"))?;
        let mut compiler = Command::new("cc");
        compiler
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source);
        let built = compiler.status().context("cannot run cc, the compiler of C")?;
        ensure!(built.success(), "cc failed on slow_disk.c");
        let disk = Self { library };
        let mut probe = Command::new(this);
        disk.put_below(probe.arg("page").arg(folder));
        let output = probe.output()?;
        let micros = String::from_utf8_lossy(&output.stdout).trim().parse();
        let page = Duration::from_micros(micros.context("how long a page takes on the slow disk")?);
        ensure!(page >= USUAL, "the slow disk is not slow: a page takes {page:?}");
        Ok(disk)
    }

    /// Makes a server use this disk.
    pub fn put_below(&self, server: &mut Command) {
        server
            .env("LD_PRELOAD", &self.library)
            .env("SLOW_DISK_MICROS", USUAL.as_micros().to_string());
    }
}
