//! `contract/procedures.json` states the same inputs as the host's own table.

use std::{fs, path::Path};

use portico_service::{
    procedures::Procedure,
    shape::{Bound, Shape},
    table::Table,
};
use serde_json::{Map, Value, json};

use super::harness::Harness;

/// A shape as the file states it.
fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Boolean => json!({"type": "boolean"}),
        // A larger position is past the end of any list, so the host takes it; the component's type has this bound.
        Shape::Position => json!({"type": "integer", "maximum": u32::MAX}),
        Shape::Integer => json!({"type": "integer"}),
        Shape::Choice(choices) => json!({"type": "string", "enum": choices}),
        Shape::List(item) => json!({"type": "array", "items": schema(item)}),
        Shape::Record(fields) => {
            let properties = fields
                .iter()
                .map(|field| (field.name.to_owned(), schema(&field.shape)));
            let required = fields.iter().filter(|field| !field.optional);
            let required: Vec<_> = required.map(|field| field.name).collect();
            json!({"type": "object", "properties": properties.collect::<Map<_, _>>(), "required": required})
        }
        Shape::Nullable(shape) => {
            let mut schema = schema(shape);
            schema["type"] = json!([schema["type"], "null"]);
            schema
        }
        Shape::Named(_, shape) => schema(shape),
        Shape::Bounded(shape, bound) => {
            let mut schema = schema(shape);
            match *bound {
                Bound::Length(least, most) => {
                    schema["minLength"] = least.into();
                    schema["maxLength"] = most.into();
                }
                Bound::Range(least, most) => {
                    schema["minimum"] = least.into();
                    schema["maximum"] = most.into();
                }
                Bound::From(least) => schema["minimum"] = least.into(),
                Bound::Count(least, most) => {
                    schema["minItems"] = least.into();
                    schema["maxItems"] = most.into();
                }
                Bound::Pattern(pattern) => schema["pattern"] = pattern.into(),
            }
            schema
        }
        other => panic!("the file has no form for {other:?}"),
    }
}

/// Without the bounds that say nothing, and with one form of no required keys.
fn plain(mut schema: Value) -> Value {
    if let Some(object) = schema.as_object_mut() {
        for bound in ["minLength", "minItems"] {
            if object.get(bound) == Some(&json!(0)) {
                object.remove(bound);
            }
        }
        if object.get("required") == Some(&json!([])) {
            object.remove("required");
        }
        for value in object.values_mut() {
            *value = plain(value.take());
        }
    }
    schema
}

/// The input of a procedure, and whether it may be absent as a whole.
fn input(procedure: &Procedure) -> (Value, bool) {
    match &procedure.input {
        Shape::Nothing => (Value::Null, false),
        Shape::Optional(shape) => (schema(shape), true),
        shape => (schema(shape), false),
    }
}

#[tokio::test]
async fn the_file_of_inputs_states_what_the_host_takes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract/procedures.json");
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let stated = file["procedures"].as_array().unwrap();

    let harness = Harness::new();
    let mut instance = harness.enter().await;
    let (plugin, store) = instance.parts().unwrap();
    let procedures = plugin.portico_dashboard_procedures();
    let table = Table::new(procedures.call_describe(store).await.unwrap()).unwrap();

    let mut differences = Vec::new();
    for procedure in table.iter() {
        let found = stated.iter().find(|stated| stated["name"] == procedure.name);
        let found = found.map(|stated| {
            let optional = stated["optional"] == true;
            (plain(stated["input"].clone()), optional)
        });
        let (expected, optional) = input(procedure);
        if found != Some((plain(expected.clone()), optional)) {
            differences.push(format!(
                "{}: {found:?}, not {expected} {optional}",
                procedure.name
            ));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(stated.len(), table.iter().count());
}
