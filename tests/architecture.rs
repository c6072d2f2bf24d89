//! The crates know what docs/architecture.md says they know, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
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
fn no_crate_on_the_page_knows_itself_by_a_detour() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let arrows: Arrows = on_the_page(root)
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
