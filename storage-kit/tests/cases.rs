//! The cases have the form that README.md describes, and cover every sentence of `wit/storage.wit`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use portico_storage_kit::{Case, Expectation, all};
use wit_parser::{Docs, Resolve, TypeDefKind};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn contract() -> Resolve {
    let mut resolve = Resolve::new();
    resolve.push_dir(root().join("wit")).expect("read wit/");
    resolve
}

/// All comments of wit/, on one line.
fn words() -> String {
    let mut words = String::new();
    for file in std::fs::read_dir(root().join("wit")).expect("wit/") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "wit") {
            let text = std::fs::read_to_string(path).expect("a text");
            let comments = text.lines().filter_map(|line| line.trim().strip_prefix("///"));
            words.extend(comments.flat_map(|line| [line.trim(), " "]));
        }
    }
    words
}

#[test]
fn every_file_is_read() {
    let mut files = BTreeSet::new();
    for file in std::fs::read_dir(root().join("storage-kit/cases")).expect("cases/") {
        let path = file.expect("a file").path();
        files.insert(path.file_stem().expect("a name").display().to_string());
    }
    let read: BTreeSet<_> = all().into_iter().map(|case| case.file.to_owned()).collect();
    assert_eq!(files, read);
}

#[test]
fn every_rule_quotes_the_contract() {
    let words = words();
    for Case { file, name, rule, .. } in all() {
        assert!(words.contains(&rule), "{file}: {name}: wit/ does not say: {rule}");
    }
}

#[test]
fn no_two_cases_have_one_name() {
    let mut names = BTreeSet::new();
    for case in all() {
        assert!(names.insert(case.name.clone()), "{}", case.name);
    }
}

/// Some case calls every function with success, and some case breaks every constraint.
#[test]
fn every_function_and_every_constraint_is_in_some_case() {
    let resolve = contract();
    let interfaces = resolve.interfaces.iter().map(|(_, interface)| interface);
    let mut named = interfaces.filter(|interface| interface.name.as_deref() == Some("storage"));
    let storage = named.next().expect("the interface storage");
    let mut called = BTreeSet::new();
    let mut broken = BTreeSet::new();
    for step in all().into_iter().flat_map(|case| case.steps) {
        match step.expected {
            Expectation::Error(error) => {
                let constraint = error["constraint"].as_object();
                broken.extend(constraint.into_iter().flat_map(|names| names.keys().cloned()));
            }
            _ if step.transaction.is_some() => drop(called.insert(step.call)),
            _ => {}
        }
    }
    assert!(called.remove("drop"), "no transaction is dropped");
    let functions = storage.functions.values().map(|function| {
        let name = function.name.rsplit('.').next();
        name.unwrap_or(&function.name).to_owned()
    });
    assert_eq!(called, functions.collect::<BTreeSet<_>>());
    let TypeDefKind::Variant(constraints) = &resolve.types[storage.types["constraint"]].kind else {
        panic!("`constraint` is no variant")
    };
    let constraints = constraints.cases.iter().map(|case| case.name.clone());
    // `other` is for rules of a dashboard's own.
    let constraints = constraints.filter(|name| name != "other");
    assert_eq!(broken, constraints.collect::<BTreeSet<_>>());
}

/// Every sentence of a function's comment is the rule of some case.
#[test]
fn every_sentence_about_a_function_is_a_rule_of_some_case() {
    let resolve = contract();
    let interfaces = resolve.interfaces.iter().map(|(_, interface)| interface);
    let mut named = interfaces.filter(|interface| interface.name.as_deref() == Some("storage"));
    let storage = named.next().expect("the interface storage");
    let rules: Vec<_> = all().into_iter().map(|case| case.rule).collect();
    // Sentences that no case can test from outside.
    let unseen = [
        "Begins a transaction of the call with this context.",
        "Makes every change of the transaction durable, or none of them.",
        "Store only a hash of the secret, and compare in constant time.",
        "At most 1,000 ids.",
    ];
    let mut missing = Vec::new();
    for function in storage.functions.values() {
        let Docs { contents: Some(docs) } = &function.docs else {
            panic!("{} has no comment", function.name)
        };
        let text = docs.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in text.split_inclusive(". ").map(str::trim) {
            let is_shown = rules
                .iter()
                .any(|rule| rule.contains(sentence.trim_end_matches('.')) || sentence.contains(&rule[..]));
            if !is_shown && !unseen.contains(&sentence) {
                missing.push(format!("{}: {sentence}", function.name));
            }
        }
    }
    assert!(missing.is_empty(), "no case has the rule: {missing:#?}");
}

/// Every transaction that begins ends, and the bridge is called only while none is open, except for sign-ins and keys.
#[test]
fn every_transaction_of_a_case_ends() {
    for case in all() {
        let mut open = BTreeSet::new();
        for step in &case.steps {
            let place = format!("{}: {}: {}", case.file, case.name, step.call);
            match (&step.transaction, &step.call[..]) {
                (None, "end-sign-in" | "put-key") => {}
                (None, _) => assert!(open.is_empty(), "{place}: while {open:?} is open"),
                (Some(name), "begin") => assert!(open.insert(name.clone()), "{place}: {name} is open"),
                (Some(name), "commit" | "drop") => assert!(open.remove(name), "{place}: {name} is not open"),
                (Some(name), _) => assert!(open.contains(name), "{place}: {name} is not open"),
            }
        }
        assert!(
            open.is_empty(),
            "{}: {}: {open:?} never ends",
            case.file,
            case.name
        );
    }
}
