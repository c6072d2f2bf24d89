//! `docs/sandbox.md` has the numbers of the sandbox.

use std::{path::Path, time::Duration};

use portico_sandbox::Limits;

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sandbox.md");
    std::fs::read_to_string(page).expect("the page")
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs())
}

fn mebibytes(bytes: usize) -> String {
    assert_eq!(bytes % (1 << 20), 0);
    format!("{} MiB", bytes >> 20)
}

/// With commas between thousands.
fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn the_page_has_every_limit_with_its_number() {
    // Without `..`, so that a new limit does not compile until it is added here and on the page.
    let Limits {
        time,
        duration,
        write_time,
        instances,
        warm,
        warm_time,
        wait,
        retry_wait,
        memory,
        small,
        medium,
        hashing: _,
        medium_calls: _,
        large_calls,
        transfer,
        arguments,
        record,
        host_calls,
        entries,
        icon_name,
        log_messages,
        log_message,
        random_bytes,
        table_elements,
        file,
        compile_time,
    } = Limits::default();
    let rows = [
        ("processor time of one call", seconds(time)),
        ("one call from beginning to end", seconds(duration)),
        ("holding a write transaction", seconds(write_time)),
        ("calls at once", number(instances as usize)),
        (
            "instances that wait for their user's next call",
            number(warm as usize),
        ),
        ("how long they wait", seconds(warm_time)),
        ("waiting for a turn or for memory", seconds(wait)),
        (
            "waits of one call after collisions, together",
            seconds(retry_wait),
        ),
        ("memory of one call", mebibytes(memory)),
        ("memory without asking", mebibytes(small)),
        ("calls at once that hash a password", "one for each core".into()),
        (
            "calls at once that grow with the data",
            "one for each core".into(),
        ),
        (
            "long inputs that are read, and long pages that are written, at once",
            "one for each core".into(),
        ),
        ("calls at once with up to 32 MiB", "16, or twice the cores".into()),
        ("calls at once with more", number(large_calls as usize)),
        ("an answer", mebibytes(transfer)),
        ("what one call of the host takes", mebibytes(arguments)),
        ("either with memory up to 2 MiB", mebibytes(2 * small)),
        ("either with memory up to 32 MiB", mebibytes(2 * medium)),
        ("one record, one refusal, one log message", mebibytes(record)),
        ("calls of the host", number(host_calls as usize)),
        ("entries of a list for the host", number(entries)),
        (
            "a name to look up an icon for",
            format!("{} bytes", number(icon_name)),
        ),
        ("log messages", number(log_messages as usize)),
        (
            "what the log shows of a message",
            format!("{} bytes", number(log_message)),
        ),
        ("random bytes at once", number(random_bytes)),
        ("entries of a table", number(table_elements)),
        ("the file of a component", mebibytes(file)),
        ("compiling it", seconds(compile_time)),
    ];
    let page = page();
    for (what, number) in &rows {
        let row = format!("| {what} | {number} |");
        assert!(page.contains(&row), "no row begins with {row}");
    }
    let count = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.matches('|').count() == 4)
        .count();
    assert_eq!(count, rows.len() + 1, "the page has rows that are no limit");
}

#[test]
fn medium_calls_are_16_or_twice_the_cores() {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    assert_eq!(Limits::default().medium_calls as usize, 16.max(2 * cores));
}
