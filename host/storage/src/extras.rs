//! The form of what Portico stores with users and boards for clients of Homarr, where it has no field of its own.
//!
//! For each user and each board that is one JSON object, which is stored as a text. `portico-compat` reads and changes
//! it for clients, and `portico-homarr` makes it from a database of Homarr. Both take keys, defaults and forms from
//! here.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use portico_model::PICTURES;
use serde_json::{Map, Value, json};

use crate::looks::Picture;

/// The key of a board's layouts: `[{id, name, columnCount, breakpoint}]`. Homarr 2 has more fields.
pub const LAYOUTS: &str = "layouts";
/// The key of a board's sections: `[{id, kind, …}]`.
pub const SECTIONS: &str = "sections";
/// The key of a board's items ([`item`]). The apps and bookmarks among them are in the order of Portico's own items.
pub const ITEMS: &str = "items";
/// Whether the notebooks and clocks among a board's items are all of Portico's notes and clocks: `true`, or absent from
/// boards that were saved when Portico had none.
pub const NOTES: &str = "notes";
/// The key of a board's looks ([`LOOKS`]).
pub const SETTINGS: &str = "settings";

/// The preferences of a user that Portico stores but does not use, with their defaults.
pub static PREFERENCES: LazyLock<[(&str, Value); 6]> = LazyLock::new(|| {
    [
        ("ddgBangs", json!(true)),
        ("enableRightClickOnWidgets", json!(true)),
        ("completedManageTour", json!(false)),
        ("completedBoardTour", json!(false)),
        ("byteUnitSystem", json!("decimal")),
        ("headerPreferences", Value::Null),
    ]
});

/// The looks of a board, with their defaults.
pub static LOOKS: LazyLock<Vec<(&str, Value)>> = LazyLock::new(|| {
    vec![
        ("pageTitle", Value::Null),
        ("metaTitle", Value::Null),
        ("logoImageUrl", Value::Null),
        ("faviconImageUrl", Value::Null),
        ("backgroundImageUrl", Value::Null),
        ("backgroundImageAttachment", json!("fixed")),
        ("backgroundImageRepeat", json!("no-repeat")),
        ("backgroundImageSize", json!("cover")),
        ("primaryColor", json!("#fa5252")),
        ("secondaryColor", json!("#fd7e14")),
        ("opacity", json!(100)),
        ("customCss", json!("")),
        ("iconColor", Value::Null),
        ("itemRadius", json!("lg")),
        ("disableStatus", json!(false)),
        ("fixedScaling", json!(false)),
        ("fixedItemSize", json!(200)),
    ]
});

/// The most pictures that the extras of a board keep.
const MOST_PICTURES: usize = 100;

/// The ids of the stored pictures that a text names by their paths, in order.
pub fn pictures_in(text: &str) -> BTreeSet<&str> {
    let after = text.split(PICTURES).skip(1);
    let ids = after
        .filter_map(|rest| rest.get(..64))
        .filter(|id| Picture::is_id(id));
    let mut found = BTreeSet::new();
    for id in ids {
        if found.len() < MOST_PICTURES {
            found.insert(id);
        }
    }
    found
}

/// The place of something in a layout, in cells.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Area {
    pub x: u64,
    pub y: u64,
    pub width: u64,
    pub height: u64,
}

/// A layout of a board.
pub fn layout(id: &str, name: &str, columns: u64, breakpoint: i64) -> Value {
    json!({ "id": id, "name": name, "columnCount": columns, "breakpoint": breakpoint })
}

/// The place of an item in a layout: the section that it is in, and where.
pub fn place(layout: &Value, section: &Value, area: Area) -> Value {
    json!({
        "layoutId": layout,
        "sectionId": section,
        "xOffset": area.x,
        "yOffset": area.y,
        "width": area.width,
        "height": area.height,
    })
}

/// The place of a section inside another one.
pub fn inner_place(layout: &Value, parent: &Value, area: Area) -> Value {
    json!({
        "layoutId": layout,
        "parentSectionId": parent,
        "xOffset": area.x,
        "yOffset": area.y,
        "width": area.width,
        "height": area.height,
    })
}

/// A section without a name, below or above the others; in Homarr 2 also left (-1) or right (1) of them.
pub fn empty_section(id: &str, x: i64, y: u64) -> Value {
    json!({ "id": id, "kind": "empty", "xOffset": x, "yOffset": y })
}

/// An item of a board, with its place in each layout.
pub fn item(id: &str, kind: &str, options: Value, layouts: Value) -> Value {
    json!({
        "id": id,
        "kind": kind,
        "options": options,
        "layouts": layouts,
        "integrationIds": [],
        "advancedOptions": { "title": null, "customCssClasses": [], "borderColor": "" },
    })
}

/// The text that is stored. Portico takes no text with control characters, and JSON may hold some as they are.
pub fn text(extras: &Map<String, Value>) -> String {
    let json = serde_json::to_string(extras).unwrap_or_default();
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_control() {
            let _ = write!(text, "\\u{:04x}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text
}

/// Parses a stored text; empty if it does not have this form, because other programs may store something there.
pub fn read(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_has_no_control_characters_and_reads_back_as_it_was() {
        let mut extras = Map::new();
        extras.insert("a".into(), json!("one\u{7f}two\u{9f}\u{0}\n\u{ad}ä"));
        let stored = text(&extras);
        assert!(!stored.chars().any(char::is_control), "{stored}");
        assert_eq!(read(&stored), extras);
        assert_eq!(read("no json"), Map::new());
    }
}
