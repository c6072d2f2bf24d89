//! The disk: how long it takes to make a page durable, and the same servers on a slower one.
//!
//! What sharing commits is worth depends on that time and on little else. The targets were set where
//! it was [`USUAL`]; a virtual disk may be several times quicker, and real ones are slower.

use std::{
    fs::OpenOptions,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use crate::report::median;

/// How long a page took where the targets were set.
pub const USUAL: Duration = Duration::from_micros(160);

/// How often it is tried.
const TRIES: u32 = 300;

/// How long a page takes in this folder; the middle of many times.
pub fn time_of_a_page(folder: &Path) -> anyhow::Result<Duration> {
    let path = folder.join("page");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)?;
    let mut times = Vec::new();
    for number in 0..TRIES {
        // Over what is there, as in a log that begins anew.
        file.seek(SeekFrom::Start(u64::from(number % 16) * 4096))?;
        file.write_all(&[1; 4096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed().as_secs_f64());
    }
    std::fs::remove_file(&path)?;
    Ok(Duration::from_secs_f64(median(times.into_iter())))
}

/// A disk on which a page takes [`USUAL`], though the one below is quicker.
#[derive(Clone)]
pub struct SlowDisk {
    library: PathBuf,
}

impl SlowDisk {
    /// Builds what makes it slow, in this folder; and sees that it does, with this program.
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

    /// Has a server work on it.
    pub fn put_below(&self, server: &mut Command) {
        server
            .env("LD_PRELOAD", &self.library)
            .env("SLOW_DISK_MICROS", USUAL.as_micros().to_string());
    }
}
