//! `procedures.json` fits the functions of `wit/`: each input gives every parameter a value of its type.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use wit_parser::{Resolve, Type, TypeDefKind};

/// A type, without its other names.
fn plain<'a>(resolve: &'a Resolve, ty: &'a Type) -> Result<&'a TypeDefKind, &'a Type> {
    match ty {
        Type::Id(id) => match &resolve.types[*id].kind {
            TypeDefKind::Type(other) => plain(resolve, other),
            kind => Ok(kind),
        },
        ty => Err(ty),
    }
}

/// The expressions of one procedure, compared with the parameters of its function.
struct Check<'a> {
    resolve: &'a Resolve,
    name: &'a str,
    /// Whether the input may be absent as a whole.
    optional: bool,
    /// The keys of the input that became parameters.
    used: BTreeSet<&'a str>,
}

impl<'a> Check<'a> {
    #[track_caller]
    fn expression(&mut self, expression: &'a Value, ty: &'a Type, input: &'a Value) {
        let name = self.name;
        let (kind, argument) = expression.as_object().and_then(|one| one.iter().next()).unwrap();
        match (&kind[..], plain(self.resolve, ty)) {
            ("record", Ok(TypeDefKind::Record(record))) => {
                let given: Vec<_> = argument.as_object().unwrap().keys().collect();
                let fields: Vec<_> = record.fields.iter().map(|field| &field.name).collect();
                assert_eq!(given, fields, "{name}");
                for field in &record.fields {
                    self.expression(&argument[&field.name], &field.ty, input);
                }
            }
            ("each", Ok(TypeDefKind::List(item))) => self.expression(argument, item, &input["items"]),
            ("input", _) => self.value(input, ty),
            ("change", Ok(TypeDefKind::Variant(change))) => {
                let cases: Vec<_> = change.cases.iter().map(|case| &case.name[..]).collect();
                assert_eq!(cases, ["keep", "clear", "set"], "{name}");
                let (schema, may_be_absent) = self.member(argument, input);
                assert!(
                    may_be_absent && schema["type"][0] == "string" && schema["type"][1] == "null",
                    "{name}"
                );
            }
            ("key", found) => {
                let (schema, may_be_absent) = self.member(argument, input);
                let is_nullable = schema["type"][1] == "null";
                match found {
                    Ok(TypeDefKind::Option(some)) => self.value(schema, some),
                    _ => {
                        assert!(!may_be_absent && !is_nullable, "{name}: {argument} may be none");
                        self.value(schema, ty);
                    }
                }
            }
            _ => panic!("{name}: {expression} has another type"),
        }
    }

    /// The schema of a member of the input, and whether it may be absent.
    #[track_caller]
    fn member(&mut self, key: &'a Value, input: &'a Value) -> (&'a Value, bool) {
        let key = key.as_str().unwrap();
        self.used.insert(key);
        let schema = &input["properties"][key];
        assert!(schema.is_object(), "{}: there is no {key}", self.name);
        let required = input["required"].as_array();
        let is_required = required.is_some_and(|required| required.iter().any(|name| name == key));
        (schema, self.optional || !is_required)
    }

    /// A schema whose values all are of a type.
    #[track_caller]
    fn value(&self, schema: &Value, ty: &Type) {
        let types = &schema["type"];
        let json = types.as_str().or(types[0].as_str()).unwrap();
        let range =
            |most: u64| schema["minimum"].as_u64().is_some() && schema["maximum"].as_u64().unwrap() <= most;
        let fits = match (json, plain(self.resolve, ty)) {
            ("string", Err(Type::String)) => schema.get("enum").is_none(),
            ("string", Ok(TypeDefKind::Enum(cases))) => {
                let choices: Vec<_> = schema["enum"].as_array().unwrap().iter().collect();
                cases.cases.iter().map(|case| &case.name).eq(choices)
            }
            ("boolean", Err(Type::Bool)) => true,
            ("integer", Err(Type::U8)) => range(u8::MAX.into()),
            ("integer", Err(Type::U32)) => range(u32::MAX.into()),
            ("array", Ok(TypeDefKind::List(item))) => {
                self.value(&schema["items"], item);
                true
            }
            _ => false,
        };
        assert!(fits, "{}: {schema} does not fit {ty:?}", self.name);
    }
}

#[test]
fn the_inputs_become_the_parameters_of_every_procedure() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("procedures.json")).expect("contract/procedures.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let mut resolve = Resolve::new();
    let (package, _) = resolve.push_dir(root.join("../wit")).expect("wit/");
    let package = &resolve.packages[package];
    assert_eq!(file["package"], package.name.to_string());

    let mut functions: BTreeSet<_> = ["users", "apps"]
        .into_iter()
        .flat_map(|name| {
            let interface = &resolve.interfaces[package.interfaces[name]];
            interface
                .functions
                .keys()
                .map(move |function| (name, &function[..]))
        })
        .collect();
    for procedure in file["procedures"].as_array().expect("a list") {
        let text = |key: &str| procedure[key].as_str().unwrap();
        let (name, interface, function) = (text("name"), text("interface"), text("function"));
        assert!(
            functions.remove(&(interface, function)),
            "{name} is there twice, or no function"
        );
        let parameters = &resolve.interfaces[package.interfaces[interface]].functions[function].params;
        let expressions = procedure["parameters"].as_array().expect("a list");
        assert_eq!(expressions.len() + 1, parameters.len(), "{name}");

        let mut check = Check {
            resolve: &resolve,
            name,
            optional: procedure["optional"] == true,
            used: BTreeSet::new(),
        };
        for (expression, parameter) in expressions.iter().zip(&parameters[1..]) {
            check.expression(expression, &parameter.ty, &procedure["input"]);
        }
        let input = &procedure["input"];
        let properties = input.get("properties").or(input["items"].get("properties"));
        let keys = properties
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|keys| keys.keys());
        assert_eq!(
            check.used,
            keys.map(|key| &key[..]).collect(),
            "{name}: a key that is not used"
        );
    }
    assert_eq!(functions, BTreeSet::new(), "functions without a procedure");
}
