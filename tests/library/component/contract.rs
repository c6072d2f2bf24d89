//! What the file that ships wants and offers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use portico_sandbox::{Access, COMPONENT, Cost, Described, Kind};
use portico_tests::{
    procedures::{Row, TABLE, Who},
    repository,
};
use wasmparser::{BinaryReader, ComponentName, ComponentNameSectionReader, Parser, Payload};
use wasmtime::{
    Engine, Store,
    component::{Component, Linker, Val, types::ComponentItem},
};
use wit_parser::{
    Resolve, UnresolvedPackageGroup, WorldItem,
    decoding::{DecodedWasm, decode},
};

use super::harness::{Harness, context};

fn component() -> (Engine, Component) {
    let engine = Engine::default();
    let component = Component::new(&engine, &*COMPONENT).unwrap();
    (engine, component)
}

/// The interfaces that the file imports, with their functions.
fn imports() -> Vec<(String, Vec<String>)> {
    let (engine, component) = component();
    component
        .component_type()
        .imports(&engine)
        .map(|(name, import)| match import.ty {
            ComponentItem::ComponentInstance(interface) => {
                let functions = interface
                    .exports(&engine)
                    .filter(|(_, export)| matches!(export.ty, ComponentItem::ComponentFunc(_)));
                (
                    name.to_owned(),
                    functions.map(|(name, _)| name.to_owned()).collect(),
                )
            }
            other => panic!("the import {name} is no interface: {other:?}"),
        })
        .collect()
}

#[test]
fn the_file_that_ships_can_reach_storage_icons_log_time_and_random_bytes_and_nothing_else() {
    let mut functional: Vec<_> = imports()
        .into_iter()
        .filter(|(_, functions)| !functions.is_empty())
        .map(|(name, _)| name)
        .collect();
    functional.sort();
    assert_eq!(
        functional,
        [
            "portico:dashboard/icons@1.0.0",
            "portico:dashboard/log@1.0.0",
            "portico:dashboard/storage@1.0.0",
            "wasi:clocks/wall-clock@0.2.6",
            "wasi:random/random@0.2.6",
        ]
    );
    let without_functions: Vec<_> = imports()
        .into_iter()
        .filter(|(_, functions)| functions.is_empty())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        without_functions,
        ["portico:dashboard/types@1.0.0"],
        "an interface with nothing but types"
    );
}

#[test]
fn the_file_that_ships_offers_these_interfaces_and_nothing_else() {
    let (engine, component) = component();
    let mut exports: Vec<_> = component
        .component_type()
        .exports(&engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    exports.sort();
    let interfaces = ["apps", "names", "procedures", "sign-in", "state", "users"];
    assert_eq!(
        exports,
        interfaces.map(|name| format!("portico:dashboard/{name}@1.0.0"))
    );
}

/// Promised in docs/contract.md. That types stay the same is a matter of `wit/` (`contract/src/promises.rs`).
#[test]
fn the_file_that_ships_imports_no_function_that_the_first_version_lacks() {
    let mut first = Resolve::new();
    let text = fs::read_to_string(repository().join("contract/recorded/1.0.0.wit")).expect("its text");
    let package = first.push_source("1.0.0.wit", &text).expect("WIT");
    let world = first.select_world(&[package], Some("plugin")).expect("its world");
    let without_version = |name: &str| name.split('@').next().map(str::to_owned);
    let offered: BTreeMap<_, _> = first.worlds[world]
        .imports
        .iter()
        .filter_map(|(key, item)| match item {
            WorldItem::Interface { id, .. } => Some((
                without_version(&first.name_world_key(key)),
                &first.interfaces[*id].functions,
            )),
            _ => None,
        })
        .collect();
    let imports = imports();
    assert!(imports.len() > 1);
    for (interface, functions) in imports {
        let offered = offered.get(&without_version(&interface)).expect(&interface);
        for function in functions {
            assert!(offered.contains_key(&function), "{interface} had no {function}");
        }
    }
}

/// The custom sections of the file itself, not of what is in it.
fn custom_sections() -> BTreeMap<String, Vec<u8>> {
    let (mut depth, mut sections) = (0, BTreeMap::new());
    for part in Parser::new(0).parse_all(&COMPONENT) {
        match part.expect("a component") {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::CustomSection(section) if depth == 1 => {
                let earlier = sections.insert(section.name().to_owned(), section.data().to_owned());
                assert!(earlier.is_none(), "{} is there twice", section.name());
            }
            _ => {}
        }
    }
    sections
}

#[test]
fn the_file_that_ships_says_what_it_is() {
    let sections = custom_sections();
    let text = |name: &str| std::str::from_utf8(&sections[name]).expect("a text");
    assert_eq!(text("version"), "1.0.0");
    assert_eq!(text("licenses"), "Apache-2.0");
    let about = "The users and apps of a dashboard: who may sign in, and the apps that they find there.";
    assert_eq!(text("description"), about);
    let names = BinaryReader::new(&sections["component-name"], 0);
    let names: Result<Vec<_>, _> = ComponentNameSectionReader::new(names).collect();
    let [ComponentName::Component { name: "portico", .. }] = names.expect("names")[..] else {
        panic!("it is not named portico, or not it alone");
    };

    // Every line of wit/ with its comments, as one text that tools read.
    let contract = text("portico:contract");
    UnresolvedPackageGroup::parse("contract.wit", contract).expect("WIT");
    let lines: BTreeSet<_> = contract.lines().map(str::trim).collect();
    for entry in fs::read_dir(repository().join("wit")).expect("wit/") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "wit") {
            let file = fs::read_to_string(path).expect("a text");
            let missing = file.lines().find(|line| !lines.contains(line.trim()));
            assert_eq!(missing, None);
        }
    }

    let DecodedWasm::Component(resolve, world) = decode(&COMPONENT).expect("a component") else {
        panic!("the file is not a component");
    };
    let docs = resolve.worlds[world].docs.contents.as_deref().unwrap_or_default();
    for words in [about, "offers"] {
        assert!(docs.contains(words), "{words} is not in: {docs}");
    }
}

/// What the component says of its procedures.
async fn described(harness: &Harness) -> Vec<Described> {
    let mut instance = harness.enter().await;
    let (plugin, store) = instance.parts().unwrap();
    let procedures = plugin.portico_dashboard_procedures();
    procedures.call_describe(store).await.unwrap()
}

#[tokio::test]
async fn all_procedures_of_users_and_apps_are_described_and_exported() {
    let described = described(&Harness::new()).await;
    let names: BTreeSet<_> = described.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), described.len(), "a procedure is described twice");
    assert_eq!(names, of_component().map(|row| row.name).collect());

    let (engine, component) = component();
    let exports: Vec<_> = component
        .component_type()
        .exports(&engine)
        .filter_map(|(interface, export)| match export.ty {
            ComponentItem::ComponentInstance(item) => Some((
                interface.to_owned(),
                item.exports(&engine)
                    .map(|(name, _)| name.to_owned())
                    .collect::<Vec<_>>(),
            )),
            _ => None,
        })
        .collect();
    for row in described {
        let (area, function) = row.name.split_once('.').unwrap();
        let interface = format!("portico:dashboard/{area}s@1.0.0");
        let function: String = function
            .chars()
            .flat_map(|letter| {
                let dash = letter.is_uppercase().then_some('-');
                dash.into_iter().chain(letter.to_lowercase())
            })
            .collect();
        let functions = &exports.iter().find(|(name, _)| *name == interface).unwrap().1;
        assert!(functions.contains(&function), "{interface} has no {function}");
    }
}

/// The rows of the tests' table that the component describes.
fn of_component() -> impl Iterator<Item = &'static Row> {
    // Links for a new password, who sees what, and what asks other hosts about apps, are of the dashboard side.
    const OF_HOST: [&str; 4] = ["app.status", "app.readAddress", "app.seenBy", "user.seenApps"];
    let is_of_host = |row: &&Row| {
        OF_HOST.contains(&row.name) || row.name.contains("PasswordLink") || row.name.contains("ByLink")
    };
    let of_users_and_apps = |row: &&Row| ["user", "app"].contains(&row.area());
    TABLE
        .iter()
        .filter(move |row| of_users_and_apps(row) && !is_of_host(row))
}

#[tokio::test]
async fn describe_tells_kinds_and_lists_implied_permissions() {
    let described = described(&Harness::new()).await;
    let find = |name: &str| described.iter().find(|row| row.name == name).unwrap();
    for row in of_component() {
        let described = find(row.name);
        let kind = match described.kind {
            Kind::Query => "query",
            Kind::Mutation => "mutation",
        };
        assert_eq!(kind, row.kind, "{}", row.name);
        let access = &described.access;
        let is_same = match (&row.who, access) {
            (Who::Everyone, Access::Public)
            | (Who::Onboarding, Access::Onboarding)
            | (Who::SignedIn, Access::Protected) => true,
            (Who::OwnOrAdmin, Access::OwnUserOr(permissions)) => permissions == &["admin"],
            (Who::Holders(holders), Access::OneOf(permissions)) => {
                let permissions = permissions.iter().map(String::as_str);
                permissions.collect::<BTreeSet<_>>() == holders.iter().copied().collect()
            }
            _ => false,
        };
        assert!(is_same, "{}: {access:?}", row.name);
    }
    let queries = described.iter().filter(|row| row.kind == Kind::Query);
    let queries: Vec<_> = queries.map(|row| row.name.as_str()).collect();
    let of_table = of_component().filter(|row| row.kind == "query");
    assert_eq!(
        queries,
        of_table.map(|row| row.name).collect::<Vec<_>>(),
        "the order"
    );
    assert_eq!(find("user.changePassword").cost, Cost::Hash);
    assert_eq!(find("app.create").cost, Cost::Small);
    assert_eq!(find("app.all").cost, Cost::Large);
}

#[tokio::test]
async fn name_keys_are_the_same_for_everyone() {
    let harness = Harness::new();
    let names = [
        "ÅNGSTRÖM",
        "A\u{30a}ngstro\u{308}m",
        "İstanbul",
        "ΣΊΣΥΦΟΣ",
        "STRASSE",
        "straße",
        "🦀 Crab",
    ];
    let names = names.map(str::to_owned);
    let keys = harness.sandbox.name_keys(context(), &names).await.unwrap();
    let same = "ångström";
    assert_eq!(
        keys,
        [
            same,
            same,
            "i\u{307}stanbul",
            "σίσυφοσ",
            "strasse",
            "straße",
            "🦀 crab"
        ]
    );
}

/// The component asks for random bytes and gets none: something that it cannot go on from. The
/// place is in the log then, and nothing of the message, which might quote an input.
#[test]
fn a_panic_reaches_the_log_with_its_place_alone() {
    let (engine, component) = component();
    let mut linker: Linker<Vec<String>> = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&component).unwrap();
    linker.allow_shadowing(true);
    let mut log = linker.instance("portico:dashboard/log@1.0.0").unwrap();
    log.func_new("write", |mut store, _, arguments, _| {
        let (Val::Enum(level), Val::String(message)) = (&arguments[0], &arguments[1]) else {
            unreachable!()
        };
        store.data_mut().push(format!("{level}: {message}"));
        Ok(())
    })
    .unwrap();
    let mut clock = linker.instance("wasi:clocks/wall-clock@0.2.6").unwrap();
    clock
        .func_new("now", |_, _, _, results| {
            results[0] = Val::Record(vec![
                ("seconds".into(), Val::U64(1_767_225_600)),
                ("nanoseconds".into(), Val::U32(0)),
            ]);
            Ok(())
        })
        .unwrap();
    let mut random = linker.instance("wasi:random/random@0.2.6").unwrap();
    random
        .func_new("get-random-bytes", |_, _, _, results| {
            results[0] = Val::List(Vec::new());
            Ok(())
        })
        .unwrap();

    let mut store = Store::new(&engine, Vec::new());
    let instance = linker.instantiate(&mut store, &component).unwrap();
    let apps = instance
        .get_export_index(&mut store, None, "portico:dashboard/apps@1.0.0")
        .unwrap();
    let create = instance
        .get_export_index(&mut store, Some(&apps), "create")
        .unwrap();
    let create = instance.get_func(&mut store, create).unwrap();
    let text = |text: &str| Val::String(text.into());
    let user = Val::Record(vec![
        ("id".into(), text("a user")),
        ("permissions".into(), Val::List(vec![text("admin")])),
    ]);
    let caller = Val::Record(vec![
        ("user".into(), Val::Option(Some(Box::new(user)))),
        ("context".into(), text("a context")),
    ]);
    let input = Val::Record(vec![
        ("name".into(), text("Jellyfin")),
        ("icon-url".into(), text("/icon.svg")),
        ("description".into(), Val::Option(None)),
        ("href".into(), Val::Option(None)),
        ("ping-url".into(), Val::Option(None)),
    ]);
    let mut results = [Val::Bool(false)];
    create
        .call(&mut store, &[caller, input], &mut results)
        .expect_err("a panic ends the call");
    let log = store.data();
    assert_eq!(log.len(), 1, "{log:?}");
    let place = log[0].strip_prefix("error: panicked at ").expect("a panic");
    let parts: Vec<_> = place.split(':').collect();
    let [file, line, column] = parts[..] else {
        panic!("not only a place: {place:?}");
    };
    assert!(file.ends_with(".rs"), "{place:?}");
    assert!(
        line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok(),
        "{place:?}"
    );
}
