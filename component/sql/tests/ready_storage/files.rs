//! What the two files import and export.

use crate::host::{ENGINE, component};

const REACHED: [&str; 6] = [
    "portico:dashboard/log@1.0.0",
    "portico:dashboard/types@1.0.0",
    "portico:sql/database@0.1.0",
    "portico:sql/surroundings@0.1.0",
    "wasi:clocks/wall-clock@0.2.6",
    "wasi:random/random@0.2.6",
];

#[track_caller]
fn assert_reaches(file: &str, imports: &[&str], exports: &[&str]) {
    let kind = component(file).component_type();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let imported = kind.imports(&ENGINE).map(|(name, _)| name.to_owned()).collect();
    let mut expected = imports.to_vec();
    expected.sort_unstable();
    assert_eq!(sorted(imported), expected);
    let exported = kind.exports(&ENGINE).map(|(name, _)| name.to_owned()).collect();
    let mut expected = exports.to_vec();
    expected.sort_unstable();
    assert_eq!(sorted(exported), expected);
}

#[test]
fn the_ready_storage_reaches_a_database_the_time_and_random_bytes() {
    let exports = ["portico:dashboard/storage@1.0.0", "portico:sql/people@0.1.0"];
    assert_reaches("portico-sql.wasm", &REACHED, &exports);
}

#[test]
fn with_the_rules_it_offers_what_they_offer_and_people() {
    let imports: Vec<_> = REACHED
        .into_iter()
        .chain(["portico:dashboard/icons@1.0.0"])
        .collect();
    let exports = [
        "portico:dashboard/apps@1.0.0",
        "portico:dashboard/names@1.0.0",
        "portico:dashboard/procedures@1.0.0",
        "portico:dashboard/sign-in@1.0.0",
        "portico:dashboard/state@1.0.0",
        "portico:dashboard/users@1.0.0",
        "portico:sql/people@0.1.0",
    ];
    assert_reaches("portico-with-sql.wasm", &imports, &exports);
}
