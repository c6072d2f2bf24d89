use super::compare;
use crate::inspect::contract::{contract, parse};

/// The problems of a component whose contract has this change.
#[track_caller]
fn problems(old: &str, new: &str) -> Vec<String> {
    let contract = contract().unwrap();
    let found = std::cell::Cell::new(false);
    let changed = parse(|text| {
        found.set(found.get() || text.contains(old));
        text.replace(old, new)
    });
    assert!(found.get(), "{old} is not in wit/");
    compare(&contract, &changed.unwrap()).problems
}

#[track_caller]
fn assert_problem(old: &str, new: &str, words: &str) {
    let problems = problems(old, new);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].contains(words), "{words} is not in: {}", problems[0]);
}

#[test]
fn differences_of_types_are_described() {
    let keys = "keys: func(names: list<string>) -> list<string>";
    let word = "parameter `names`: u32 where this host has string";
    assert_problem(keys, "keys: func(names: list<u32>) -> list<string>", word);
    let word = "parameter `names`: option<string> where this host has list<string>";
    assert_problem(keys, "keys: func(names: option<string>) -> list<string>", word);
    let word = "it has 2 parameters, and here it has 1";
    assert_problem(
        keys,
        "keys: func(names: list<string>, to: bool) -> list<string>",
        word,
    );
    assert_problem(keys, "keys: func(names: list<string>)", "it has no result");
    let word = "record `procedure`: it adds `costs`";
    assert_problem("cost: cost,", "cost: cost, costs: u32,", word);
    let word = "record `procedure`: field `cost`: u8 where this host has cost";
    assert_problem("cost: cost,", "cost: u8,", word);
    assert_problem("        debug,\n", "", "enum `level`: it lacks `debug`");
    assert_problem(
        "        debug,\n",
        "        inform,\n",
        "it lacks `debug` and adds `inform`",
    );
    let order = "parameter `level`: string where this host has level";
    assert_problem(
        "level: level, message: string",
        "message: string, level: level",
        order,
    );
    let word = "variant `access`: case `one-of`: string where this host has list<string>";
    assert_problem("one-of(list<string>)", "one-of(string)", word);
}

#[test]
fn what_either_side_lacks_is_described() {
    let word = "does not offer portico:dashboard/sign-in@1.0.0, which this host calls";
    assert_problem("@since(version = 1.0.0)\n    export sign-in;", "", word);
    assert_problem(
        "write: func(",
        "shout: func(",
        "`shout`: this host does not offer it",
    );
    assert_problem(
        "keys: func(",
        "locks: func(",
        "`keys`: the component does not offer it",
    );
    let more = "interface log { more: func();";
    assert_problem("interface log {", more, "`more`: this host does not offer it");
    let version = "portico:dashboard@2.0.0";
    assert_problem("portico:dashboard@1.0.0", version, version);
}

#[test]
fn compatible_differences_are_no_problem() {
    for (old, new) in [
        ("portico:dashboard@1.0.0", "portico:dashboard@1.0.4"),
        ("@since(version = 1.0.0)\n    import icons;", ""),
        ("keys: func(names:", "keys: func(words:"),
        ("interface names {", "interface names { more: func();"),
        ("export names;", "export names; export more: func();"),
        (
            "import log;",
            "import log; import more: interface { record pair { a: u8, b: u8 } }",
        ),
    ] {
        assert_eq!(problems(old, new), [""; 0], "{new}");
    }
}
