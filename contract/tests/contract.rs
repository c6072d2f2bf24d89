//! The contract keeps what was promised, and its page says what it says.

use std::path::{Path, PathBuf};

use portico_contract::{Contract, Recorded, Verdict, check, document};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn contract() -> Contract {
    Contract::read(&root().join("wit")).expect("read wit/")
}

fn recorded() -> Vec<Recorded> {
    Recorded::all(&root().join("contract/recorded")).expect("read what was recorded")
}

#[test]
fn the_contract_is_what_was_recorded_of_it() {
    let contract = contract();
    let (version, text) = (contract.version().unwrap(), contract.text().unwrap());
    let verdict = check(&version, &text, &recorded()).unwrap();
    assert_eq!(verdict, Verdict::Same, "{verdict}");
}

#[test]
fn every_recorded_version_has_a_component() {
    for Recorded { version, .. } in recorded() {
        let component = root().join(format!("tests/fixtures/portico-{version}.wasm"));
        assert!(component.exists(), "{} is missing", component.display());
    }
}

#[test]
fn the_page_is_what_the_comments_say() {
    let page = std::fs::read_to_string(root().join("docs/contract.md")).unwrap_or_default();
    assert!(
        page == document(&contract()).unwrap(),
        "docs/contract.md is not what wit/ says: `make contract-docs`"
    );
}

/// What is said of the contract after a change, under this version, where 1.0.0 was recorded.
#[track_caller]
fn verdict(version: &str, old: &str, new: &str) -> Verdict {
    let text = contract().text().unwrap();
    assert!(text.contains(old), "{old} is not in the contract");
    let kept = Recorded {
        version: "1.0.0".parse().unwrap(),
        text: text.clone(),
    };
    let changed = text.replace(old, new);
    check(&version.parse().unwrap(), &changed, &[kept]).unwrap()
}

const LAST_FUNCTION: &str = "keys: func(names: list<string>) -> list<string>;";

#[test]
fn a_change_that_breaks_components_needs_a_version_that_does_not_stand_for_this_one() {
    for (old, new) in [
        // A parameter, a result, a field, a case.
        (
            LAST_FUNCTION,
            "keys: func(names: list<string>, more: bool) -> list<string>;",
        ),
        (LAST_FUNCTION, "keys: func(names: list<string>) -> list<u8>;"),
        ("cost: cost,", "cost: cost,\n    more: u32,"),
        ("    retry,\n", "    retry,\n    later,\n"),
        // What the host calls and an old component does not have; what it wants and does not get.
        (
            LAST_FUNCTION,
            "keys: func(names: list<string>) -> list<string>;\n  more: func();",
        ),
        ("default-icon: func() -> string;", ""),
    ] {
        let Verdict::NeedsOtherVersion(version, _) = verdict("1.0.0", old, new) else {
            panic!("{new}: {:?}", verdict("1.0.0", old, new));
        };
        assert_eq!(version.to_string(), "1.0.0");
        assert!(
            matches!(verdict("1.0.1", old, new), Verdict::NeedsOtherVersion(..)),
            "{new}"
        );
        assert_eq!(verdict("2.0.0", old, new), Verdict::NotRecorded, "{new}");
    }
}

#[test]
fn a_change_that_breaks_nothing_needs_a_later_version() {
    let (old, new) = (
        "default-icon: func() -> string;",
        "default-icon: func() -> string;\n  another: func() -> string;",
    );
    let later = verdict("1.0.0", old, new);
    assert_eq!(later, Verdict::NeedsLaterVersion("1.0.0".parse().unwrap()));
    assert!(later.to_string().contains("make record-contract"), "{later}");
    assert_eq!(verdict("1.0.1", old, new), Verdict::NotRecorded);
}

#[test]
fn what_is_recorded_is_never_written_over() {
    let folder = std::env::temp_dir().join(format!("portico-contract-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let kept = |text: &str| Recorded {
        version: "1.0.0".parse().unwrap(),
        text: text.into(),
    };
    kept("one").keep(&folder).unwrap();
    kept("one").keep(&folder).unwrap();
    let refused = kept("another").keep(&folder).unwrap_err().to_string();
    assert!(refused.contains("raise the version"), "{refused}");
    assert_eq!(Recorded::all(&folder).unwrap()[0].text, "one");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_encoded_package_is_the_contract() {
    let bytes = contract().encode().unwrap();
    let wit_component::DecodedWasm::WitPackage(resolve, package) = wit_component::decode(&bytes).unwrap()
    else {
        panic!("it is no package");
    };
    assert_eq!(
        resolve.packages[package].name.to_string(),
        "portico:dashboard@1.0.0"
    );
    assert_eq!(resolve.packages[package].interfaces.len(), 10);
}
