//! The docs agree with the repository: the crates know what docs/architecture.md says they know, and what the
//! docs name is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use portico_tests::repository;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The crates of the page's table, and which of ours each may know.
fn on_the_page(root: &Path) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `portico"));
    let names = |cell: &str| -> BTreeSet<String> {
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };
    let mut crates: BTreeMap<_, _> = rows
        .map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let name = cells[1].trim_matches('`').to_owned();
            let folder = cells[2].trim_matches('`').to_owned();
            (name, (folder, cells[4].to_owned()))
        })
        .collect();
    let all: BTreeSet<String> = crates.keys().cloned().collect();
    let mut read = BTreeMap::new();
    while let Some((name, (folder, known))) = crates.pop_first() {
        let mut known = match known.strip_prefix("all of them but") {
            Some(but) => &all - &names(but),
            None => names(&known),
        };
        known.remove(&name);
        read.insert(name, (folder, known));
    }
    read
}

/// Which crates of ours a manifest depends on, tests aside.
fn in_the_manifest(folder: &Path) -> BTreeSet<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && let Some(name) = line.split(['.', ' ', '=']).next()
            && name.starts_with("portico")
        {
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn crates_know_what_the_page_says() {
    let root = repository();
    let page = on_the_page(root);
    assert!(page.len() >= 5, "the page's table was not found: {page:?}");
    for (name, (folder, known)) in &page {
        let actual = in_the_manifest(&root.join(folder));
        let more: Vec<_> = actual.difference(known).collect();
        assert!(
            more.is_empty(),
            "{name} knows {more:?}, which docs/architecture.md does not say"
        );
    }
}

#[test]
fn every_crate_of_the_host_is_on_the_page() {
    let root = repository();
    let page = on_the_page(root);
    let described: BTreeSet<_> = page.values().map(|(folder, _)| root.join(folder)).collect();
    for entry in fs::read_dir(root.join("host")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("Cargo.toml").exists() {
            assert!(
                described.contains(&folder),
                "{} is not on the page",
                folder.display()
            );
        }
    }
}

#[test]
fn the_documented_dependencies_have_no_cycle() {
    let arrows: Arrows = on_the_page(repository())
        .into_iter()
        .map(|(name, (_, known))| (name, known))
        .collect();
    for name in arrows.keys() {
        let (mut reached, mut next) = (BTreeSet::new(), vec![name]);
        while let Some(one) = next.pop() {
            for known in arrows.get(one).into_iter().flatten() {
                assert_ne!(known, name, "{name} knows itself through {one}");
                if reached.insert(known) {
                    next.push(known);
                }
            }
        }
    }
}

/// The texts in backticks of a page, without blocks of code.
fn quoted(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let prose: Vec<_> = text.split("```").step_by(2).collect();
    let quoted = prose.iter().flat_map(|prose| prose.split('`').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_path_that_the_docs_name_exists() {
    let folders = [
        ".cargo",
        "bindings",
        "component",
        "contract",
        "docs",
        "examples",
        "host",
        "packaging",
        "rules",
        "storage-kit",
        "tests",
        "wit",
    ];
    let pages = fs::read_dir(repository().join("docs")).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let mut count = 0;
    for page in pages.chain([repository().join("README.md")]) {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for text in quoted(&page) {
            let Some((first, _)) = text.split_once('/') else {
                continue;
            };
            let is_plain = text
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "/._-".contains(character));
            if is_plain && (folders.contains(&first) || text.ends_with(".rs")) {
                assert!(repository().join(&text).exists(), "{}: {text}", page.display());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count} paths");
}

/// Calls this with each Rust file of a folder and its text.
fn each_source(folder: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
            each_source(&path, visit);
        } else if name.ends_with(".rs") {
            visit(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// The names of all functions in the Rust files of this folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    each_source(folder, &mut |_, text| {
        let names = text.split("fn ").skip(1).map(|rest| {
            let is_part = |character: &char| character.is_alphanumeric() || *character == '_';
            rest.chars().take_while(is_part).collect()
        });
        found.extend(names.collect::<Vec<String>>());
    });
}

#[test]
fn no_crate_compiles_the_sources_of_another_one() {
    let attribute = ["#[path", " = "].concat();
    for folder in [
        "component",
        "contract",
        "examples",
        "host",
        "rules",
        "storage-kit",
        "tests",
    ] {
        each_source(&repository().join(folder), &mut |file, text| {
            for path in text.split(&attribute).skip(1) {
                let path = path.split('"').nth(1).unwrap();
                // Tests of several crates share the files of `tests/support`, and a fuzzer reaches what is not public.
                let is_fuzzed = file.starts_with(repository().join("tests/fuzz"));
                let is_shared =
                    is_fuzzed || path.contains("../tests/support/") || path.starts_with("../../support/");
                assert!(is_shared || !path.starts_with(".."), "{}: {path}", file.display());
            }
        });
    }
}

#[test]
fn every_test_that_the_pages_on_security_name_exists() {
    let mut known = BTreeSet::new();
    for folder in ["component", "host", "rules", "storage-kit", "tests"] {
        functions(&repository().join(folder), &mut known);
    }
    let mut count = 0;
    for page in fs::read_dir(repository().join("docs")).unwrap() {
        let page = page.unwrap().path();
        let name = page.file_name().unwrap().to_string_lossy();
        if !name.starts_with("security") {
            continue;
        }
        for text in quoted(&page) {
            let name = text.rsplit("::").next().unwrap_or_default();
            let is_name = name.chars().all(|character| {
                character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_'
            });
            if is_name && name.matches('_').count() >= 3 {
                assert!(known.contains(name), "{}: {text}", page.display());
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count} names");
}

#[test]
fn make_test_runs_the_tests_that_have_postgresql_in_their_names() {
    let makefile = fs::read_to_string(repository().join("Makefile")).unwrap();
    // A test of another name that starts a server fails: tests/support/postgresql.rs.
    let group = "postgresql_tests := test(postgresql) | binary_id(portico-postgres::database)";
    assert!(makefile.lines().any(|line| line == group), "it is not {group}");
    assert!(makefile.contains("'($(postgresql_tests)) - ($(long_postgresql_tests))'"));
}
