use portico_model::PathSegment;
use serde_json::json;

use super::*;
use crate::procedures::call::{ID, SEARCH};

fn refusal(shape: Shape, input: Value) -> String {
    shape.check(Some(input)).unwrap_err().message
}

#[test]
fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
    assert_eq!(
        SEARCH.check(Some(json!({"query": "", "limit": 5.0}))).unwrap()["limit"],
        json!(5)
    );
}

#[test]
fn a_number_beyond_32_bits_is_refused_or_clamped_as_a_position() {
    for beyond in [json!(99_999_999_999_i64), json!(-1e300)] {
        let message = refusal(SEARCH, json!({"query": "", "limit": beyond}));
        assert!(message.ends_with(&format!("got {beyond}")), "{message}");
    }
    assert_eq!(
        Shape::Position.check(Some(json!(1e300))).unwrap(),
        json!(i32::MAX)
    );
    assert_eq!(
        Shape::Position.check(Some(json!(-5e12))).unwrap(),
        json!(i32::MIN)
    );
}

#[test]
fn types_are_never_coerced() {
    for (input, got) in [
        (json!(2.5), "2.5"),
        (json!("5"), "a text"),
        (json!(null), "null"),
        (json!(true), "true or false"),
    ] {
        assert_eq!(
            refusal(SEARCH, json!({"query": "", "limit": input})),
            format!("Input validation failed: limit must be a whole number, got {got}")
        );
    }
}

#[test]
fn unknown_keys_are_ignored_unless_the_shape_lists_all() {
    const PART: Shape = Shape::Exact(&[optional("age", Shape::Integer)]);
    const WHOLE: Shape = Shape::Record(&[optional("part", PART)]);
    assert!(
        WHOLE
            .check(Some(json!({"confirm": "a", "part": {"age": 5}})))
            .is_ok()
    );
    let input = json!({"part": {"agee": 5, "x".repeat(100): 1}});
    let error = WHOLE.check(Some(input)).unwrap_err();
    let paths: Vec<_> = error.issues.iter().map(|issue| &issue.path[1]).collect();
    let field = |name: &str| PathSegment::Field(name.into());
    assert_eq!(paths, [&field("agee"), &field(&"x".repeat(64))]);
    assert_eq!(error.issues[0].message, "is not one of the keys age");
    assert_eq!(WHOLE.describe(), "{part?: {age?: integer}}");
}

#[test]
fn every_broken_field_is_named_at_once() {
    let error = SEARCH.check(Some(json!({"limit": []}))).unwrap_err();
    assert_eq!(error.issues.len(), 2);
    assert_eq!(error.issues[0].path, [PathSegment::Field("query".into())]);
    assert_eq!(error.issues[1].path, [PathSegment::Field("limit".into())]);
}

#[test]
fn a_record_with_a_part_has_the_fields_of_both_in_order() {
    records! {
        struct Part {
            first_name: Option<String> = optional("firstName", NULLABLE_TEXT).about("A name."),
            age: u32 = required("age", Shape::Integer),
        }

        struct Whole {
            id: String = required("id", Shape::Text),
            ..part: Part,
            is_new: bool = required("isNew", Shape::Boolean),
        }
    }
    assert_eq!(
        Whole::SHAPE.describe(),
        "{id: text, firstName?: text|null, age: integer, isNew: boolean}"
    );
    assert_eq!(Whole::FIELDS[1].about, "A name.");
    let input = json!({"id": "a", "firstName": "Ada", "age": 5, "isNew": true});
    let whole: Whole = serde_json::from_value(Whole::SHAPE.check(Some(input)).unwrap()).unwrap();
    assert_eq!((whole.id.as_str(), whole.is_new), ("a", true));
    assert_eq!(
        (whole.part.first_name.as_deref(), whole.part.age),
        (Some("Ada"), 5)
    );
}

#[test]
fn a_query_string_is_read_by_the_shape() {
    let read = |pairs: &[(&str, &str)]| {
        SEARCH.read_query(
            pairs
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
        )
    };
    assert_eq!(
        read(&[("query", "5"), ("limit", "5")]).unwrap(),
        Some(json!({"query": "5", "limit": 5}))
    );
    for limit in ["", "0x10", "1e1", "+5", "5.0", "a"] {
        assert!(read(&[("limit", limit)]).is_err(), "{limit:?}");
    }
    assert!(read(&[("query", "a"), ("query", "a")]).is_err());
    for (limit, got) in [("2.5", "2.5"), ("1e1", "10.0"), ("a secret", "a text")] {
        let error = read(&[("limit", limit)]).unwrap_err();
        assert_eq!(
            error.issues[0].message,
            format!("must be a whole number, got {got}")
        );
    }
}

#[test]
fn one_of_two_shapes_is_chosen_by_the_json_type() {
    const NAME: Shape = Shape::Either(&Shape::Text, &ID);
    assert!(NAME.check(Some(json!("a"))).is_ok() && NAME.check(Some(json!({"id": "a"}))).is_ok());
    assert_eq!(
        refusal(NAME, json!(5)),
        "Input validation failed: input must be a text or an object, got a number"
    );
    assert_eq!(
        refusal(NAME, json!({})),
        "Input validation failed: id is required: a text"
    );
    assert_eq!(NAME.describe(), "text|{id: text}");
}

#[test]
fn dates_are_found_with_their_paths() {
    const LIST: Shape = Shape::List(&Shape::Record(&[required("at", Shape::Nullable(&Shape::Date))]));
    let mut found = Vec::new();
    LIST.each_date(
        &json!([{"at": null}, {"at": "2026-01-31T12:00:00.000Z"}]),
        &mut Vec::new(),
        &mut |path| found.push(path.join(".")),
    );
    assert_eq!(found, ["1.at"]);
}

#[test]
fn names_and_bounds_are_described_and_not_checked() {
    const NAME: Shape = Shape::Named("Name", &Shape::Bounded(&Shape::Text, Bound::Length(1, 3)));
    const NAMES: Shape = Shape::Bounded(&Shape::List(&NAME), Bound::Count(0, 2));
    assert_eq!(NAMES.describe(), "[text 1..3] ..2");
    assert!(NAMES.check(Some(json!(["", "abcdef", "c"]))).is_ok());
    assert_eq!(
        refusal(NAMES, json!([5])),
        "Input validation failed: [0] must be a text, got a number"
    );
}

#[test]
fn a_missing_input_is_named_as_a_whole() {
    assert_eq!(
        SEARCH.check(None).unwrap_err().message,
        "Input validation failed: input is required: an object"
    );
    assert!(Shape::Optional(&SEARCH).check(None).is_ok());
    assert!(Shape::Nothing.check(Some(json!(5))).is_ok());
}

#[test]
fn a_text_that_not_every_database_can_hold_is_refused_where_that_is_asked_for() {
    const NAMES: Shape = Shape::List(&Shape::Record(&[required("name", Shape::Text)]));
    let input = json!([{"name": "a"}, {"name": "a\0"}]);
    assert!(NAMES.check(Some(input.clone())).is_ok());
    assert_eq!(
        NAMES.check_storable(Some(input)).unwrap_err().message,
        "Input validation failed: [1].name must not contain U+0000"
    );
    assert!(NAMES.check_storable(Some(json!([{"name": "a\u{1}"}]))).is_ok());
}
