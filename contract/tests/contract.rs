//! The contract keeps what was promised, and its page says what it says.

use std::path::{Path, PathBuf};

use portico_contract::{Contract, Recorded, check_promises, document};

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
    let (present, recorded) = (contract().recorded().unwrap(), recorded());
    assert!(
        recorded.contains(&present),
        "{} was not recorded like this: undo it, or raise the version in wit/ and `make record-contract`",
        present.version
    );
    check_promises(&present, &recorded).unwrap();
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

/// Whether the contract keeps its promises under this version and after a change, where 1.0.0 was recorded.
#[track_caller]
fn check(version: &str, old: &str, new: &str) -> anyhow::Result<()> {
    let recorded = contract().recorded().unwrap();
    assert!(recorded.text.contains(old), "{old} is not in the contract");
    let changed = Recorded {
        version: version.parse().unwrap(),
        text: recorded.text.replace(old, new),
    };
    check_promises(&changed, &[recorded])
}

const LAST_FUNCTION: &str = "keys: func(names: list<string>) -> list<string>;";

#[test]
fn a_change_that_breaks_components_or_hosts_needs_another_major_version() {
    for (old, new) in [
        // A parameter, a result, a field, a case.
        (
            LAST_FUNCTION,
            "keys: func(names: list<string>, more: bool) -> list<string>;",
        ),
        (LAST_FUNCTION, "keys: func(names: list<string>) -> list<u8>;"),
        ("cost: cost,", "cost: cost,\n    more: u32,"),
        ("    retry,\n", "    retry,\n    later,\n"),
        // A new host calls what an old component lacks.
        (
            LAST_FUNCTION,
            "keys: func(names: list<string>) -> list<string>;\n  more: func();",
        ),
        // An old component calls what a new host lacks.
        (
            "\n  @since(version = 1.0.0)\n  default-icon: func() -> string;\n",
            "",
        ),
        // An old host calls what a new component lacks.
        ("  @since(version = 1.0.0)\n  export names;\n", ""),
        // A new component calls what an old host lacks.
        (
            "default-icon: func() -> string;",
            "default-icon: func() -> string;\n  another: func() -> string;",
        ),
        (
            "import log;",
            "import log;\n  import more: interface { more: func(); }",
        ),
    ] {
        for version in ["1.0.1", "1.1.0"] {
            let error = format!("{:#}", check(version, old, new).expect_err(new));
            for words in ["what 1.0.0 promised: undo it", "does not run in a host of the"] {
                assert!(error.contains(words), "{words} is not in: {error}");
            }
        }
        check("2.0.0", old, new).unwrap();
    }
}

#[test]
fn another_export_breaks_nothing() {
    check(
        "1.1.0",
        "export names;",
        "export names;\n  export more: interface { more: func(); }",
    )
    .unwrap();
    let more = "interface more { more: func(); }\n\n@since(version = 1.0.0)\nworld plugin {\n  export more;";
    check("1.1.0", "@since(version = 1.0.0)\nworld plugin {", more).unwrap();
}

#[test]
fn what_is_recorded_is_never_written_over() {
    let folder = std::env::temp_dir().join(format!("portico-contract-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let kept = |text: &str| Recorded {
        version: "1.0.0".parse().unwrap(),
        text: text.into(),
    };
    kept("one").write_to(&folder).unwrap();
    kept("one").write_to(&folder).unwrap();
    let refused = kept("another").write_to(&folder).unwrap_err().to_string();
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
