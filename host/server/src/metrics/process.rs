//! What the system counts of this process.

use std::{fs, time::Duration};

use rustix::{
    param,
    time::{ClockId, clock_gettime},
};

/// The processor time that it has used.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Its memory that is resident, in bytes; `None` where the system does not say.
pub fn memory() -> Option<u64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(resident * param::page_size() as u64)
}

/// How many files and connections it has open; `None` where the system does not say.
pub fn open_files() -> Option<u64> {
    // One of them is that of the folder.
    let count = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    Some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_memory_time_and_files() {
        assert!(processor_time() > Duration::ZERO);
        assert!(memory().unwrap() > 1 << 16);
        let before = open_files().unwrap();
        let _file = fs::File::open("/proc/self/statm").unwrap();
        assert!(open_files().unwrap() > 0 && before > 0);
    }
}
