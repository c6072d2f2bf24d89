//! Every bound that the document states is true: a value just within it is accepted, a value just beyond
//! it is refused with an error that names the field.

use std::collections::BTreeSet;

use portico_tests::procedures::row;
use portico_tests::{Answer, Client, Fixtures, Key, Portico, Target, World, administrator, escape};
use serde_json::{Value, json};

use super::{document, operations, resolved};

/// A bound of one value of an input.
struct Bound {
    /// Where the value is: names of fields, positions in lists.
    path: Vec<String>,
    /// `maxLength` and so on.
    rule: String,
    limit: Value,
}

impl Bound {
    /// The field that the value is of, or is in a list of.
    fn field(&self) -> &str {
        let names = self.path.iter().rev().find(|step| *step != "0");
        names.map_or("", String::as_str)
    }
}

/// Every bound in a schema of an input.
fn bounds(document: &Value, schema: &Value, path: &mut Vec<String>, found: &mut Vec<Bound>) {
    const RULES: [&str; 8] = [
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "pattern",
        "enum",
    ];
    let schema = resolved(document, schema);
    for rule in RULES {
        if let Some(limit) = schema.get(rule) {
            found.push(Bound {
                path: path.clone(),
                rule: rule.to_owned(),
                limit: limit.clone(),
            });
        }
    }
    let mut descend = |step: &str, schema: &Value| {
        path.push(step.to_owned());
        bounds(document, schema, path, found);
        path.pop();
    };
    if let Some(items) = schema.get("items") {
        descend("0", items);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        descend(name, property);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for schema in schema[choice].as_array().into_iter().flatten() {
            bounds(document, schema, path, found);
        }
    }
}

/// A service for inputs within and beyond a bound.
struct Bench {
    server: Portico,
    /// Where there is no user yet.
    untouched: Portico,
    admin: Key,
    world: World,
    target: Target,
}

impl Bench {
    fn new() -> Self {
        let server = Portico::start();
        let root = administrator(&server);
        let target = Target::from(&root.user("alice"));
        // A document may name as creator a user of any provider.
        let others = ["oidc", "ldap"].map(|provider| json!({"name": target.name, "provider": provider}));
        root.mutate("state.apply", &json!({"users": others})).data();
        Self {
            server,
            untouched: Portico::start(),
            admin: root.key_of(&root.user_id),
            world: World::new(root),
            target,
        }
    }

    /// An input that is good, and changes nothing if it is a document.
    fn input(&self, procedure: &str) -> Value {
        let mut input = self.world.input(row(procedure), &self.target);
        if procedure == "state.apply" {
            input["dryRun"] = true.into();
            let app = input["boards"][0]["sections"][0]["items"][0]["bookmarks"][0].clone();
            let address = "https://wiki.home.example/";
            input["gate"] = json!([{"app": app, "addresses": [address], "isOpen": true}]);
            input["site"] = json!({"pingAllow": ["nas.home.example"]});
        }
        input
    }

    /// The same, with what this place is in: a board has items or sections, and each item is of one kind.
    fn input_at(&self, procedure: &str, path: &[String]) -> Value {
        let mut input = self.input(procedure);
        let place = path.iter().position(|step| step == "items" || step == "sections");
        let (Some(place), true) = (
            place,
            procedure.contains("oard") || path.first().is_some_and(|first| first == "boards"),
        ) else {
            return input;
        };
        let is_document = procedure == "state.apply";
        let board = match is_document {
            true => &mut input["boards"][0],
            false => &mut input,
        };
        let named = |name: &str| path.iter().any(|step| step == name);
        let item = match is_document {
            true if named("note") => json!({"note": "Milk"}),
            true if named("bookmarks") => board["sections"][0]["items"][0].clone(),
            true => json!({"clock": {}}),
            false if named("text") => json!({"kind": "note", "text": "Milk"}),
            false => json!({"kind": "clock"}),
        };
        let board = board.as_object_mut().expect("an object");
        board.remove("items");
        board.remove("sections");
        let content = match &*path[place] {
            "items" => json!([item]),
            _ => json!([{"items": [item]}]),
        };
        board.insert(path[place].clone(), content);
        input
    }

    fn call(&self, procedure: &str, input: &Value) -> Answer {
        match (procedure, row(procedure).kind) {
            ("user.initUser", _) => self.untouched.anonymous().mutate(procedure, input),
            (_, "query") => self.admin.query(procedure, input),
            _ => self.admin.mutate(procedure, input),
        }
    }
}

/// A text of this length that is good for this field, if the length allows one.
fn text(field: &str, length: usize) -> String {
    let (start, end) = match field {
        "href" | "pingUrl" | "addresses" => ("https://x.example/", ""),
        "urlTemplate" => ("http://%s", ""),
        "email" => ("", "@b"),
        "image" => ("data:image/png;base64,iVBORw0KGgoA", ""),
        _ => ("", ""),
    };
    // Where any character is allowed, a character of two bytes shows that characters are counted.
    let filler = if start.is_empty() && end.is_empty() {
        "ü"
    } else {
        "a"
    };
    match length.checked_sub(start.len() + end.len()) {
        Some(rest) => format!("{start}{}{end}", filler.repeat(rest)),
        None => filler.repeat(length),
    }
}

/// Values just within a bound, and just beyond it.
fn values(bound: &Bound, present: &Value) -> (Vec<Value>, Value) {
    let field = bound.field();
    let number = || usize::try_from(bound.limit.as_i64().expect("a number")).expect("not negative");
    let of_length = |length: usize| Value::from(text(field, length));
    let of_items = |count: usize| {
        // A name in a list of choices can only be repeated.
        let item = present.get(0).cloned().unwrap_or_default();
        if is_list_of_document(&bound.path) {
            return (0..count).map(|number| numbered(&item, number)).collect();
        }
        Value::from(vec![item; count])
    };
    match &*bound.rule {
        "maxLength" => (vec![of_length(number())], of_length(number() + 1)),
        "minLength" => (vec![of_length(number())], of_length(number() - 1)),
        "maximum" => (vec![bound.limit.clone()], json!(number() + 1)),
        "minimum" => (
            vec![bound.limit.clone()],
            json!(bound.limit.as_i64().expect("a number") - 1),
        ),
        "maxItems" => (vec![of_items(number())], of_items(number() + 1)),
        "minItems" => (vec![of_items(number())], of_items(number() - 1)),
        "pattern" => {
            let good = match field {
                "slug" => json!(format!("a{}", "-1".repeat(63))),
                "timeZone" => json!("America/Argentina/Buenos_Aires"),
                "accentColor" => json!("#3A5bcc"),
                _ => of_length(98),
            };
            (vec![good], json!("ftp nothing"))
        }
        "enum" => (bound.limit.as_array().expect("choices").clone(), json!("another")),
        rule => panic!("{rule}"),
    }
}

/// A second fault for an input that is within a bound, so that it changes nothing: the first user can be
/// created only once, and a hundred thousand apps take their time.
fn other_fault(procedure: &str, path: &[String]) -> Option<(Vec<String>, Value)> {
    let (place, wrong): (&[&str], _) = match procedure {
        "user.initUser" if path == ["email"] => (&["username"], "@"),
        "user.initUser" => (&["email"], "@"),
        "state.apply" if path == ["groups"] => (&["boards", "0", "name"], ""),
        "state.apply" if path.len() == 1 => (&["groups", "0", "name"], ""),
        _ => return None,
    };
    Some((place.iter().map(|step| step.to_string()).collect(), json!(wrong)))
}

/// The same input, for a name of a document with the user who may have the shortest one: another provider's.
fn with_shortest_name(procedure: &str, path: &[String], input: Value) -> Value {
    if procedure != "state.apply" || path != ["users", "0", "name"] {
        return input;
    }
    put(
        &input,
        &["users", "0", "provider"].map(String::from),
        json!("ldap"),
    )
}

/// Whether no two entries of the list may be the same.
fn is_list_of_document(path: &[String]) -> bool {
    const LISTS: [&str; 5] = ["groups", "users", "apps", "searchEngines", "boards"];
    matches!(path, [list] if LISTS.contains(&&**list))
}

/// The same entry under names of its own.
fn numbered(entry: &Value, number: usize) -> Value {
    let mut entry = entry.clone();
    for (key, value) in entry.as_object_mut().into_iter().flatten() {
        if ["id", "name", "short"].contains(&&**key) {
            *value = format!("{number:06}").into();
        }
    }
    entry
}

/// Whether a value just within the bound is never good for another reason: an image is in base64, which
/// after this head is never 350,000 characters long, and a URL never has one character.
fn is_never_good(field: &str, rule: &str) -> bool {
    [("image", "maxLength"), ("addresses", "minLength")].contains(&(field, rule))
}

fn put(input: &Value, path: &[String], value: Value) -> Value {
    let mut input = input.clone();
    let mut place = &mut input;
    for step in path {
        place = match place {
            Value::Array(items) => &mut items[step.parse::<usize>().expect("a position")],
            // A list that the good input leaves out.
            absent @ Value::Null if step == "0" => {
                *absent = json!([null]);
                &mut absent[0]
            }
            object => &mut object[step.as_str()],
        };
    }
    *place = value;
    input
}

fn get<'a>(input: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(input, |value, step| match value {
        Value::Array(items) => &items[step.parse::<usize>().expect("a position")],
        object => &object[step.as_str()],
    })
}

#[track_caller]
fn assert_beyond(answer: &Answer, bound: &Bound) {
    match bound.path.first() {
        Some(field) => answer.assert_bad_field(field),
        None => answer.assert_bad_input(),
    };
    if ["maxLength", "maxItems", "maximum", "minimum"].contains(&&*bound.rule) {
        assert!(
            answer.text().contains("got "),
            "refused for another reason? {answer}"
        );
    }
}

#[track_caller]
fn assert_within(answer: &Answer, bound: &Bound) {
    if is_never_good(bound.field(), &bound.rule) {
        assert!(!answer.text().contains("characters, got"), "{answer}");
        return;
    }
    // A name or an id within its bounds may be taken, or unknown.
    assert!(
        [200, 403, 404, 409].contains(&answer.status),
        "{} of {:?}: {answer}",
        bound.rule,
        bound.path
    );
}

/// Every procedure with the bounds of its input.
fn bounds_of_procedures(document: &Value) -> Vec<(String, Vec<Bound>)> {
    let mut all = Vec::new();
    for (_, path, operation) in operations(document) {
        let Some(procedure) = path.strip_prefix("/api/trpc/") else {
            continue;
        };
        let mut found = Vec::new();
        for schema in [
            "/requestBody/content/application~1json/schema",
            "/parameters/0/content/application~1json/schema",
        ] {
            if let Some(schema) = operation.pointer(schema) {
                bounds(document, schema, &mut Vec::new(), &mut found);
            }
        }
        all.push((procedure.to_owned(), found));
    }
    all
}

/// Checks that an input breaks no rule of this value.
#[track_caller]
fn assert_taken(send: impl Fn(&Value) -> Answer, procedure: &str, bound: &Bound, input: &Value) {
    let Some((place, wrong)) = other_fault(procedure, &bound.path) else {
        assert_within(&send(input), bound);
        return;
    };
    let answer = send(&put(input, &place, wrong));
    answer.assert_bad_field(&place[0]);
    assert_eq!(
        answer.error()["data"]["zodError"]["fieldErrors"]
            .as_object()
            .map(|all| all.len()),
        Some(1),
        "{answer}"
    );
}

#[test]
fn every_text_but_passwords_and_ids_is_trimmed_before_it_is_measured() {
    let bench = Bench::new();
    let document = document(&bench.server);
    let mut trimmed = BTreeSet::new();
    for (procedure, found) in bounds_of_procedures(&document) {
        let send = |input: &Value| bench.call(&procedure, input);
        for bound in found {
            let field = bound.field().to_owned();
            let is_of_text = ["maxLength", "pattern"].contains(&&*bound.rule);
            if !is_of_text || is_never_good(&field, &bound.rule) {
                continue;
            }
            let input = bench.input_at(&procedure, &bound.path);
            let (within, _) = values(&bound, get(&input, &bound.path));
            let text = within[0].as_str().expect("a text");
            let input = put(&input, &bound.path, json!(format!(" \t\u{2003}{text}\u{a0}\r\n")));
            if ["password", "id"].contains(&&*field) {
                assert_beyond(&send(&input), &bound);
            } else {
                assert_taken(send, &procedure, &bound, &input);
                trimmed.insert(field);
            }
        }
    }
    let fields = [
        "accentColor",
        "addresses",
        "description",
        "email",
        "extras",
        "href",
        "iconUrl",
        "image",
        "name",
        "note",
        "pingUrl",
        "short",
        "slug",
        "text",
        "timeZone",
        "urlTemplate",
        "username",
    ];
    assert_eq!(trimmed, BTreeSet::from(fields.map(String::from)));
}

#[test]
fn every_documented_bound_of_a_procedure_is_exact() {
    let bench = Bench::new();
    let document = document(&bench.server);
    let mut tried = 0;
    for (procedure, found) in bounds_of_procedures(&document) {
        let send = |input: &Value| bench.call(&procedure, input);
        for bound in found {
            let input = with_shortest_name(&procedure, &bound.path, bench.input_at(&procedure, &bound.path));
            let (within, beyond) = values(&bound, get(&input, &bound.path));
            for value in within {
                assert_taken(send, &procedure, &bound, &put(&input, &bound.path, value));
            }
            // A good call uses up what it needs, such as a link for a new password.
            let input = with_shortest_name(&procedure, &bound.path, bench.input_at(&procedure, &bound.path));
            assert_beyond(&send(&put(&input, &bound.path, beyond)), &bound);
            tried += 1;
        }
    }
    assert!(tried > 120, "only {tried} bounds were found");
}

#[test]
fn every_stated_bound_of_a_query_string_is_where_it_is_stated() {
    let bench = Bench::new();
    let document = document(&bench.server);
    let mut tried = 0;
    for (_, path, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] != "query" || parameter.get("content").is_some() {
                continue;
            }
            let mut found = Vec::new();
            let name = parameter["name"].as_str().expect("a name").to_owned();
            bounds(
                &document,
                &parameter["schema"],
                &mut vec![name.clone()],
                &mut found,
            );
            for bound in found {
                let send = |value: &Value| {
                    let mut query = json!({"query": "", "page": 1, "pageSize": 1});
                    query[&name] = value.clone();
                    let pairs = query.as_object().expect("an object").iter();
                    let pairs: Vec<_> = pairs
                        .map(|(name, value)| {
                            let text = value
                                .as_str()
                                .map_or_else(|| value.to_string(), ToOwned::to_owned);
                            format!("{name}={}", escape(&text))
                        })
                        .collect();
                    let path = path.replace("{userId}", &bench.target.id);
                    bench.admin.get(&format!("{path}?{}", pairs.join("&")))
                };
                let (within, beyond) = values(&bound, &Value::Null);
                for value in within {
                    send(&value).assert_status(200);
                }
                assert_beyond(&send(&beyond), &bound);
                tried += 1;
            }
        }
    }
    assert!(tried >= 5, "only {tried} bounds were found");
}

#[test]
fn rest_states_the_same_inputs_as_procedure_calls() {
    let server = Portico::start();
    let document = document(&server);
    let schema = "/requestBody/content/application~1json/schema";
    let mut compared = 0;
    for (_, path, operation) in operations(&document) {
        let (Some(rest), false) = (
            operation.pointer(schema),
            path.starts_with("/api/trpc") || path.starts_with("/api/auth"),
        ) else {
            continue;
        };
        let id = operation["operationId"].as_str().expect("an id");
        let id = format!("call{}{}", id[..1].to_uppercase(), &id[1..]);
        let (_, _, call) = operations(&document)
            .find(|(_, _, operation)| operation["operationId"] == *id)
            .unwrap_or_else(|| panic!("{id}"));
        let call = call
            .pointer(schema)
            .or(call.pointer("/parameters/0/content/application~1json/schema"));
        let call = call.unwrap_or_else(|| panic!("{id} has no input"));
        let properties = |schema: &Value| resolved(&document, schema)["properties"].clone();
        let mut of_call = properties(call);
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            of_call
                .as_object_mut()
                .expect("an object")
                .remove(parameter["name"].as_str().expect("a name"));
        }
        assert_eq!(properties(rest), of_call, "{path}");
        compared += 1;
    }
    assert!(compared >= 7, "only {compared} inputs were compared");
}
