//! `portico inspect` says which components fit and why others do not, and `serve` says the same.

use std::path::PathBuf;

use portico_sandbox::COMPONENT;
use portico_tests::{Builder, Finished, Fixtures, administrator, command, run};
use serde_json::Value;
use tempfile::TempDir;

/// A file in a folder of its own.
struct File {
    path: PathBuf,
    folder: TempDir,
}

fn file(bytes: &[u8]) -> File {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("some.wasm");
    std::fs::write(&path, bytes).expect("write the file");
    File { path, folder }
}

impl File {
    fn inspect(&self, arguments: &[&str]) -> Finished {
        run(command().arg("inspect").arg(&self.path).args(arguments), "")
    }

    fn serve(&self) -> Finished {
        let data = self.folder.path().join("data");
        run(
            command()
                .args(["serve", "--listen", "127.0.0.1:0", "--data"])
                .arg(data)
                .arg("--component")
                .arg(&self.path),
            "",
        )
    }

    /// Why it cannot be run, after checking that all ways of asking agree.
    #[track_caller]
    fn refused(&self) -> Vec<String> {
        let finished = self.inspect(&["--json"]);
        assert_eq!(finished.status.code(), Some(1), "{}", finished.text());
        let answer: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let problems = answer["problems"].as_array().expect("a list").iter();
        let problems: Vec<_> = problems
            .map(|text| text.as_str().expect("a text").to_owned())
            .collect();
        assert!(!problems.is_empty(), "{answer}");

        let finished = self.inspect(&[]);
        assert_eq!(finished.status.code(), Some(1));
        assert!(finished.stderr.contains("cannot run"), "{}", finished.stderr);
        let refusal = self.serve().failed();
        assert!(refusal.contains("some.wasm"), "the file is named:\n{refusal}");
        for problem in &problems {
            assert!(
                finished.stdout.contains(problem),
                "{problem} is not in:\n{}",
                finished.stdout
            );
            assert!(refusal.contains(problem), "{problem} is not in:\n{refusal}");
        }
        assert!(
            !refusal.contains("resource implementation is missing") && !refusal.contains("wasm trap"),
            "words, not wasmtime's:\n{refusal}"
        );
        problems
    }

    /// The only reason why it cannot be run.
    #[track_caller]
    fn refused_for(&self, words: &[&str]) {
        let problems = self.refused();
        assert_eq!(problems.len(), 1, "{problems:#?}");
        for word in words {
            assert!(problems[0].contains(word), "{word} is not in: {}", problems[0]);
        }
    }
}

/// The component that ships with a name changed throughout, to one of the same length.
#[track_caller]
fn renamed(old: &str, new: &str) -> File {
    file(&portico_tests::renamed(&COMPONENT, old, new))
}

/// A component from its text form.
#[track_caller]
fn component(text: &str) -> File {
    file(&wat::parse_str(text).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn the_component_inside_is_shown_with_all_that_it_wants_and_offers() {
    let text = run(command().arg("inspect"), "").succeeded();
    for word in [
        "portico:dashboard/storage@1.0.0",
        "portico:dashboard/apps@1.0.0",
        "wasi:random/random@0.2.6",
        &format!("{} bytes", COMPONENT.len()),
        "user.getAll",
        "app.createMany",
        "can run it",
    ] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    let shipped = file(&COMPONENT);
    let answer: Value = serde_json::from_str(&shipped.inspect(&["--json"]).succeeded()).expect("JSON");
    assert_eq!(answer["kind"], "component");
    assert_eq!(answer["size"], COMPONENT.len());
    assert_eq!(answer["problems"], serde_json::json!([]));
    assert_eq!(answer["procedures"].as_array().expect("a list").len(), 28);
    // The hash as another program computes it.
    let sum = std::process::Command::new("sha256sum")
        .arg(&shipped.path)
        .output();
    let sum = String::from_utf8(sum.expect("sha256sum").stdout).expect("a text");
    assert_eq!(
        Some(answer["sha256"].as_str().expect("a text")),
        sum.split(' ').next()
    );
}

#[test]
fn a_file_that_is_no_component_is_refused_with_what_it_is() {
    let module = wat::parse_str("(module (func (export \"run\")))").expect("a module");
    file(&module).refused_for(&["core module", "wasm-tools component new"]);
    file(&COMPONENT[..COMPONENT.len() / 2]).refused_for(&["is truncated", "copy it again"]);
    file(&COMPONENT[..6]).refused_for(&["is truncated"]);
    file(b"").refused_for(&["empty"]);
    file(b"(component)").refused_for(&["text form", "wasm-tools parse"]);
    file(b"PK\x03\x04 something else").refused_for(&["not WebAssembly"]);
    file(&std::fs::read("/proc/self/exe").expect("this program"))
        .refused_for(&["program for this kind of machine"]);
    file(b"\0asm\x0e\0\x01\0").refused_for(&["encoding", "newer portico"]);
    let missing = run(command().args(["inspect", "/nowhere/some.wasm"]), "").failed();
    assert!(missing.contains("cannot read /nowhere/some.wasm"), "{missing}");
}

#[test]
fn a_component_with_unknown_imports_is_told_what_the_host_offers() {
    let program = component(
        r#"(component
            (import "wasi:cli/environment@0.2.6" (instance
                (export "get-arguments" (func (result (list string))))))
            (import "wasi:cli/exit@0.2.6" (instance (export "exit" (func (param "code" u8))))))"#,
    );
    let problems = program.refused();
    assert_eq!(problems.len(), 2, "{problems:#?}");
    for word in [
        "wasi:cli/environment@0.2.6, wasi:cli/exit@0.2.6",
        "portico:dashboard/storage@1.0.0",
        "standard library",
    ] {
        assert!(problems[0].contains(word), "{word} is not in: {}", problems[0]);
    }
    for word in [
        "does not offer",
        "portico:dashboard/apps@1.0.0",
        "portico:dashboard/names@1.0.0",
    ] {
        assert!(problems[1].contains(word), "{word} is not in: {}", problems[1]);
    }
    // Not an interface at all.
    let problems = component(r#"(component (import "ask" (func (param "question" string))))"#).refused();
    assert!(problems[0].contains("ask"), "{problems:#?}");
}

#[test]
fn a_component_of_another_version_is_told_both_versions() {
    renamed("@1.0.0", "@2.0.0").refused_for(&[
        "made for portico:dashboard@2.0.0",
        "supports portico:dashboard@1.0.0",
        "run a portico that supports the other version, or build the component with the wit/ of this one",
        "storage",
        "apps",
    ]);
}

#[test]
fn a_component_of_a_compatible_version_runs() {
    let minor = file(&portico_tests::later(&COMPONENT));
    let text = minor.inspect(&[]).succeeded();
    for interface in ["apps", "more"] {
        assert!(
            text.contains(&format!("portico:dashboard/{interface}@1.1.0")),
            "{text}"
        );
    }
    let newer = renamed("@1.0.0", "@1.0.7");
    let text = newer.inspect(&[]).succeeded();
    assert!(text.contains("portico:dashboard/apps@1.0.7"), "{text}");
    for component in [minor, newer] {
        let server = Builder::default()
            .argument("--component")
            .argument(component.path.to_str().expect("a text"))
            .start();
        administrator(&server).app("An app");
    }
}

#[test]
fn differences_from_the_contract_are_named() {
    let advice = "build it with the wit/ of this portico, or run the portico that it was built for";
    renamed("default-icon", "another-icon").refused_for(&[
        "portico:dashboard/icons@1.0.0",
        "another-icon",
        advice,
    ]);
    renamed("one-of", "two-of").refused_for(&["one-of", "two-of", advice]);
}

#[test]
fn procedures_that_are_not_those_of_the_table_are_named() {
    renamed("user.getAll", "user.getOld").refused_for(&["user.getOld", "does not know"]);
}
