//! An import that is killed leaves nothing of itself.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use portico_tests::command;

use super::{NEWEST, Workspace, export, import};

/// Enough that writing takes a part of the run.
const APPS: usize = 20_000;

#[test]
fn a_killed_import_has_written_everything_or_nothing() {
    let place = Workspace::new();
    let sql = format!(
        "INSERT INTO \"user\" (id, name, provider) VALUES ('ada', 'ada', 'credentials');
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {APPS})
        INSERT INTO \"app\" (id, name, icon_url) SELECT 'app' || x, 'App ' || x, '/icon.svg' FROM n;"
    );
    let file = place.database("large.sqlite", NEWEST, &sql);
    let data = place.path("data");
    let began = Instant::now();
    import(&file, &data, &["--dry-run"]).succeeded();
    let whole = began.elapsed();

    let (mut nothing, mut everything) = (0, 0);
    for twelfth in 0..=14 {
        let mut command = command();
        command
            .args(["import", "homarr"])
            .arg(&file)
            .arg("--data")
            .arg(&data);
        let mut process = command.stdout(Stdio::null()).spawn().expect("a process");
        sleep(whole * twelfth / 12);
        let _ = process.kill();
        process.wait().expect("its end");
        // The next command removes the copy that is left.
        match export(&data)["apps"].as_array().map(Vec::len) {
            Some(0) => nothing += 1,
            Some(APPS) => everything += 1,
            apps => panic!("{apps:?} apps after {twelfth}/12 of {whole:?}"),
        }
        if everything > 0 {
            break;
        }
    }
    if nothing == 0 {
        // The machine kept this test from running between the start of an import and its end.
        eprintln!("it was never killed before its end: {whole:?}");
    }
    if everything == 0 {
        import(&file, &data, &[]).succeeded();
    }
    assert_eq!(export(&data)["apps"].as_array().map(Vec::len), Some(APPS));
    let left = std::fs::read_dir(&data).expect("the folder").flatten();
    let names: Vec<_> = left
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    import(&file, &data, &[]).succeeded();
    let left = std::fs::read_dir(&data).expect("the folder").flatten();
    let after = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let copies: Vec<_> = after.filter(|name| name.starts_with(".portico-homarr")).collect();
    assert_eq!(copies, [""; 0], "before: {names:?}");
}
