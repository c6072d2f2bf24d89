//! The ways to misbehave, by name: `hostile:NAME`, or `hostile:NAME:ARGUMENT`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use crate::bindings::icons;
use crate::bindings::log::{self, Level};
use crate::bindings::storage::{self, Access, AppFilter, Slice, Transaction, Viewer};
use crate::bindings::types::{App, Error, ErrorCode};
use crate::bindings::wasi::{clocks::wall_clock, random::random};
use crate::ordinary::{app, failure, stored};
use crate::secret;

const MIB: usize = 1 << 20;
/// The filter that fits every app.
const EVERY_APP: AppFilter = AppFilter {
    viewer: Viewer::Everything,
    name_contains: None,
};
/// All of the apps that a filter fits.
const ALL: Slice = Slice {
    offset: 0,
    limit: None,
};

/// What a misbehaviour returns, if it returns.
pub enum Answer {
    One(Result<App, Error>),
    Many(Vec<App>),
}

/// Misbehaves if the text asks for that. `context` is that of the call.
pub fn of(context: &str, text: &str) -> Option<Answer> {
    let request = text.strip_prefix("hostile:")?;
    let (name, argument) = request.split_once(':').unwrap_or((request, ""));
    let number = argument.parse().unwrap_or(0_u64);
    let count = number as usize;
    match name {
        "loop" => spin(),
        "loop-over-storage" => loop_over_storage(context),
        "loop-over-lists" => loop_over_lists(context),
        "wait" => wait(),
        "icons" => look_up(argument),
        "icons-on-and-on" => look_up_on_and_on(),
        "ids" => ids(context, count),
        "insert" => insert(context, count),
        "copy" => copy(),
        "loop-in-write" => loop_in_write(context, argument),
        "lists-in-write" => lists_in_write(context, argument),
        "begin-twice" => begin_twice(context, argument),
        "handles" => handles(context),
        "memory" => memory(),
        "hold" => hold(count, 200),
        "recursion" => drop(black_box(recursion(black_box(1)))),
        "panic" => panic!("as asked: {argument}"),
        "trap-in-write" => trap_in_write(context, argument),
        "trap-after-commit" => trap_after_commit(context, argument),
        "log" => log_flood(count, "a line among many"),
        "log-huge" => log_flood(count, &"x".repeat(50 * MIB)),
        "log-forged" => log::write(Level::Info, "\n2026-01-01 ERROR forged \u{1b}[2J"),
        "random" => drop(random::get_random_bytes(number)),
        "long-error" => return Some(Answer::One(Err(failure(ErrorCode::Conflict, &long(count))))),
        "answer" => return Some(Answer::One(Ok(app("answer", &long(count))))),
        "escapes" => return Some(Answer::One(Ok(app("answer", &"\u{1}".repeat(count))))),
        "many" => return Some(Answer::Many(vec![empty(); count])),
        "aliases" => return Some(Answer::Many(aliases(count))),
        "not-text" => return Some(Answer::One(Ok(app("answer", &not_text())))),
        "hide" => secret::hide(argument),
        "look" => return Some(Answer::One(Ok(app("look", &secret::find())))),
        "look-in-memory" => return Some(Answer::One(Ok(app("look", &secret::search())))),
        "hide-and-trap" => {
            secret::hide(argument);
            panic!("with a secret in memory");
        }
        "hide-far" => secret::hide_far(argument),
        "hide-far-and-trap" => {
            secret::hide_far(argument);
            panic!("with a secret far out in memory");
        }
        "look-far" => return Some(Answer::One(Ok(app("look", &secret::find_far())))),
        _ => panic!("there is no such misbehaviour: {text}"),
    }
    Some(Answer::One(Ok(app("done", name))))
}

fn long(mebibytes: usize) -> String {
    "x".repeat(mebibytes * MIB)
}

fn spin() -> ! {
    loop {
        black_box(());
    }
}

fn begin(context: &str, access: Access) -> Transaction {
    storage::begin(access, context).expect("a transaction")
}

/// A write transaction in which an app of this name was inserted.
fn writing(context: &str, name: &str) -> Transaction {
    let transaction = begin(context, Access::Write);
    let inserted = transaction.insert_apps(&[stored(app(name, name))]);
    inserted.expect("a new app");
    transaction
}

fn loop_over_storage(context: &str) {
    loop {
        drop(begin(context, Access::Read));
    }
}

fn loop_over_lists(context: &str) {
    let transaction = begin(context, Access::Read);
    loop {
        drop(black_box(transaction.list_apps(&EVERY_APP, ALL)));
    }
}

/// Looks up icons in an endless loop.
fn wait() {
    loop {
        drop(icons::find(&[String::from("Jellyfin")]));
    }
}

fn loop_in_write(context: &str, name: &str) {
    let _transaction = writing(context, name);
    spin();
}

/// Looks up icons in one call: `COUNT:LENGTH` of the names.
fn look_up(argument: &str) {
    let (count, length) = argument.split_once(':').expect("COUNT:LENGTH");
    let (count, length): (usize, usize) =
        (count.parse().expect("a count"), length.parse().expect("a length"));
    if count * length > 64 * MIB {
        // Who has much memory may pass much to the host.
        drop(black_box(Vec::<u8>::with_capacity(40 * MIB)));
    }
    let names = shared(length, count);
    drop(icons::find(&names));
    core::mem::forget(names);
}

/// Looks up as many icons as one call may, again and again.
fn look_up_on_and_on() -> ! {
    let names = shared(256, 1000);
    loop {
        drop(black_box(icons::find(&names)));
    }
}

fn ids(context: &str, count: usize) {
    let ids = vec![String::new(); count];
    drop(begin(context, Access::Read).get_apps(&ids, &Viewer::Everything));
}

fn insert(context: &str, count: usize) {
    let apps: Vec<_> = (0..count)
        .map(|number| stored(app(&format!("app {number}"), "App")))
        .collect();
    drop(begin(context, Access::Write).insert_apps(&apps));
}

/// Copies memory in an endless loop, as much as there is.
fn copy() -> ! {
    let mut bytes = vec![1_u8; 250 * MIB];
    loop {
        bytes.copy_within(1.., 0);
        black_box(&bytes);
    }
}

fn lists_in_write(context: &str, name: &str) {
    let transaction = writing(context, name);
    loop {
        drop(black_box(transaction.list_apps(&EVERY_APP, ALL)));
    }
}

fn begin_twice(context: &str, name: &str) {
    let _first = writing(context, name);
    drop(storage::begin(Access::Write, context));
}

fn handles(context: &str) {
    loop {
        core::mem::forget(begin(context, Access::Read));
    }
}

fn memory() {
    let mut kept = Vec::new();
    loop {
        kept.push(vec![1_u8; MIB]);
        black_box(&kept);
    }
}

/// Uses this much memory for this many milliseconds.
fn hold(mebibytes: usize, milliseconds: u64) {
    let kept = vec![1_u8; mebibytes * MIB];
    let now = || {
        let now = wall_clock::now();
        now.seconds * 1000 + u64::from(now.nanoseconds / 1_000_000)
    };
    let end = now() + milliseconds;
    while now() < end {
        // Rarely enough to stay below the limit of host calls.
        for _ in 0..1_000_000 {
            black_box(&kept);
        }
    }
}

#[expect(unconditional_recursion, reason = "that is the point")]
fn recursion(depth: u64) -> u64 {
    black_box(recursion(black_box(depth + 1))) + depth
}

fn trap_in_write(context: &str, name: &str) {
    let _transaction = writing(context, name);
    panic!("in the middle of a write");
}

fn trap_after_commit(context: &str, name: &str) {
    let first = writing(context, name);
    Transaction::commit(first).expect("a commit");
    trap_in_write(context, &format!("{name}-second"));
}

fn log_flood(lines: usize, line: &str) {
    for _ in 0..lines {
        log::write(Level::Error, line);
    }
}

/// An app with no texts.
fn empty() -> App {
    App {
        icon_url: String::new(),
        ..app("", "")
    }
}

/// This many apps, whose names all are the same mebibyte of memory.
fn aliases(count: usize) -> Vec<App> {
    let names = shared(MIB, count);
    names.into_iter().map(|name| App { name, ..empty() }).collect()
}

/// This many texts, all of which are the same bytes of memory.
#[expect(unsafe_code, reason = "safe Rust cannot share a string's memory")]
fn shared(length: usize, count: usize) -> Vec<String> {
    let shared = core::mem::ManuallyDrop::new("x".repeat(length));
    let one = || {
        // SAFETY: none. Each of these strings would free the same memory, but the program ends when it
        // has answered.
        unsafe { String::from_raw_parts(shared.as_ptr().cast_mut(), length, length) }
    };
    (0..count).map(|_| one()).collect()
}

#[expect(unsafe_code, reason = "safe Rust cannot make such a string")]
fn not_text() -> String {
    // SAFETY: none, but nothing in here reads it as text.
    unsafe { String::from_utf8_unchecked(vec![0xff, 0xfe, 0xc0]) }.to_string()
}
