//! A board as Homarr shows it: Portico's board, and the extras that are stored with it.
//!
//! Invariants:
//! - Portico's board says which apps it has. An item of the extras for an app that is no longer there is left out, and
//!   an item that only Portico has gets a place.
//! - What a client has saved reads back as it was.

use std::collections::{HashSet, VecDeque};

use portico_model::refusal::Refusal;
use portico_storage::extras::{
    ITEMS, LAYOUTS, LOOKS, NOTES, SECTIONS, SETTINGS, empty_section, item, layout,
};
use portico_storage::notes::{MOST_OF_NOTES, clock_of, html_of, text_of};
use serde_json::{Map, Value, json};

use super::{extras, grid::Places, text};
use crate::{caller::Caller, outcome::Failure};

/// The most items and sections of a board.
const MOST: usize = 1000;

pub(super) struct View {
    /// Portico's: `{id, name, isPublic, creatorId, items}`.
    pub board: Value,
    /// The extras: `{sections?, layouts?, items?, settings?}`.
    pub extras: Map<String, Value>,
    /// The version of both, or an older one.
    pub version: Value,
}

impl View {
    /// A board that the caller may view.
    pub async fn load(caller: &Caller, id: &str) -> Result<Self, Failure> {
        // The version is read first: if the board changes between the two reads, it cannot be saved with that version.
        let kept = extras::of_board(caller, id).await?;
        let board = caller.query("board.byId", json!({ "id": id })).await?.value();
        Ok(Self {
            board,
            extras: kept.extras,
            version: kept.version,
        })
    }

    /// A new board with one layout of this many columns.
    pub fn empty(id: &str, columns: u64) -> Self {
        let mut view = Self {
            board: json!({ "id": id, "items": [] }),
            extras: Map::new(),
            version: Value::Null,
        };
        let mut layouts = view.layouts();
        layouts[0]["columnCount"] = columns.into();
        view.extras.insert(LAYOUTS.into(), layouts.into());
        view.extras.insert(SECTIONS.into(), view.sections().into());
        view
    }

    fn id(&self) -> &str {
        self.board["id"].as_str().unwrap_or_default()
    }

    /// The objects of a list in the extras.
    fn kept_list(&self, key: &str) -> Vec<Value> {
        let kept = self.extras.get(key).and_then(Value::as_array);
        let kept = kept.into_iter().flatten();
        kept.filter(|one| one.is_object()).cloned().collect()
    }

    /// The layouts: at least one.
    pub fn layouts(&self) -> Vec<Value> {
        let mut kept = self.kept_list(LAYOUTS);
        if kept.is_empty() {
            let id = format!("{}-base", self.id());
            kept.push(layout(&id, "Base", 10, 0));
        }
        kept
    }

    /// The sections: at least one, and one without a name.
    pub fn sections(&self) -> Vec<Value> {
        let mut kept = self.kept_list(SECTIONS);
        if !kept.iter().any(|section| section["kind"] == "empty") {
            let id = format!("{}-main", self.id());
            kept.push(empty_section(&id, 0, kept.len() as u64));
        }
        kept
    }

    /// Where new items have room, next to these.
    fn places(&self, items: &[Value]) -> Places {
        Places::of(self.layouts(), &self.sections(), items)
    }

    /// The items of clients, and those that only Portico has.
    pub fn items(&self) -> Vec<Value> {
        let own = self.board["items"].as_array().cloned().unwrap_or_default();
        let of = |kind: &str| -> Vec<Value> {
            let of_kind = own.iter().filter(|item| item["kind"] == kind);
            of_kind.cloned().collect()
        };
        let (apps, bookmarks) = (of("app"), of("bookmarks"));
        let (mut apps, mut bookmarks) = (VecDeque::from(apps), VecDeque::from(bookmarks));
        let (mut notes, mut clocks) = (of("note"), of("clock"));
        let are_all = self.extras.get(NOTES).is_some_and(|notes| *notes == true);
        let mut items = Vec::new();
        for mut item in self.kept_list(ITEMS) {
            let is_there = match item["kind"].as_str() {
                Some("app") => match item["options"]["appId"].as_str().filter(|id| !id.is_empty()) {
                    None => true,
                    Some(id) => match apps.iter().position(|app| app["appId"] == id) {
                        Some(place) => apps.remove(place).is_some(),
                        None => false,
                    },
                },
                // Portico may have lost some apps of the list, or changed it.
                Some("bookmarks") => match bookmarks.pop_front() {
                    Some(list) => {
                        item["options"]["items"] = list["appIds"].clone();
                        true
                    }
                    None => false,
                },
                Some(kind @ ("notebook" | "clock")) => {
                    let own = if kind == "clock" { &mut clocks } else { &mut notes };
                    let place = own.iter().position(|own| same(own, &item));
                    let is_own = place.map(|place| own.remove(place)).is_some();
                    is_own || !are_all
                }
                _ => true,
            };
            if is_there {
                items.push(item);
            }
        }
        let mut places = self.places(&items);
        let used: HashSet<String> = items
            .iter()
            .filter_map(|item| item["id"].as_str().map(str::to_owned))
            .collect();
        let free = (0..).map(|number| format!("{}-{number}", self.id()));
        let free = free.filter(|id| !used.contains(id));
        let more = apps.iter().map(|app| ("app", json!({ "appId": app["appId"] })));
        let lists = bookmarks
            .iter()
            .map(|list| ("bookmarks", json!({ "items": list["appIds"] })));
        let texts = notes.iter().map(|note| {
            let html = html_of(note["text"].as_str().unwrap_or_default());
            (
                "notebook",
                json!({ "showToolbar": true, "allowReadOnlyCheck": true, "content": html }),
            )
        });
        let hours = clocks.iter().map(|clock| {
            let zone = &clock["timeZone"];
            (
                "clock",
                json!({ "useCustomTimezone": zone.is_string(), "timezone": zone.as_str().unwrap_or("UTC") }),
            )
        });
        for ((kind, options), id) in more.chain(lists).chain(texts).chain(hours).zip(free) {
            items.push(item(&id, kind, options, places.next(kind)));
        }
        items
    }

    /// All looks.
    pub fn settings(&self) -> Map<String, Value> {
        let kept = self.extras.get(SETTINGS);
        let value =
            |key: &str, default: &Value| kept.and_then(|kept| kept.get(key)).unwrap_or(default).clone();
        let all = LOOKS.iter();
        all.map(|(key, default)| ((*key).to_owned(), value(key, default)))
            .collect()
    }

    /// As `board.getBoardByName` returns it, except for the creator.
    pub fn whole(&self) -> Value {
        let mut whole = json!({
            "id": self.board["id"],
            "name": self.board["name"],
            "isPublic": self.board["isPublic"],
            "creatorId": self.board["creatorId"],
        });
        if let Value::Object(whole) = &mut whole {
            whole.extend(self.settings());
        }
        whole["layouts"] = self.layouts().into();
        whole["sections"] = self.sections().into();
        whole["items"] = self.items().into();
        whole["userPermissions"] = json!([]);
        whole["groupPermissions"] = json!([]);
        whole
    }

    /// Replaces sections and items with those of `board.saveBoard`.
    pub fn replace(&mut self, input: &Value) -> Result<(), Failure> {
        let sections = objects(input, "sections")?;
        let mut items = Vec::new();
        for sent in objects(input, "items")? {
            let mut kept =
                json!({ "integrationIds": [], "advancedOptions": {}, "layouts": [], "options": {} });
            for key in [
                "id",
                "kind",
                "options",
                "layouts",
                "integrationIds",
                "advancedOptions",
            ] {
                if !sent[key].is_null() {
                    kept[key] = sent[key].clone();
                }
            }
            text(&kept, "id")?;
            text(&kept, "kind")?;
            if !kept["options"].is_object() {
                return Err(Failure::bad_input(
                    "items",
                    "must have options that are an object",
                ));
            }
            items.push(kept);
        }
        self.extras.insert(LAYOUTS.into(), self.layouts().into());
        self.extras.insert(SECTIONS.into(), sections.into());
        self.set_items(items);
        Ok(())
    }

    /// Replaces the layouts. Places in a removed layout are removed with it.
    pub fn replace_layouts(&mut self, input: &Value) -> Result<(), Failure> {
        let layouts = objects(input, "layouts")?;
        for layout in &layouts {
            text(layout, "id")?;
        }
        if layouts.is_empty() {
            return Err(Failure::bad_input("layouts", "must have one layout or more"));
        }
        let mut items = self.items();
        for item in &mut items {
            if let Value::Array(places) = &mut item["layouts"] {
                places.retain(|place| layouts.iter().any(|layout| layout["id"] == place["layoutId"]));
            }
        }
        self.extras.insert(LAYOUTS.into(), layouts.into());
        self.set_items(items);
        Ok(())
    }

    /// Adds an item at the next free place. Returns its id.
    pub fn add(&mut self, kind: &str, input: &Value) -> Result<String, Failure> {
        let options = match &input["options"] {
            Value::Null => json!({}),
            options if options.is_object() => options.clone(),
            _ => return Err(Failure::bad_input("options", "must be an object")),
        };
        let mut bytes = [0; 12];
        getrandom::fill(&mut bytes).map_err(|_| Refusal::Internal)?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut items = self.items();
        let mut added = item(&id, kind, options, self.places(&items).next(kind));
        if input["integrationIds"].is_array() {
            added["integrationIds"] = input["integrationIds"].clone();
        }
        items.push(added);
        self.set_items(items);
        Ok(id)
    }

    /// Sets the items: all of them in the extras, and those that Portico has too as its own. If these and their order
    /// stay, so do Portico's sections.
    fn set_items(&mut self, items: Vec<Value>) {
        let (mut own, mut characters, mut fits) = (Vec::new(), 0, true);
        for item in &items {
            own.extend(match item["kind"].as_str() {
                Some("app") => {
                    let id = item["options"]["appId"].as_str().filter(|id| !id.is_empty());
                    id.map(|id| json!({ "kind": "app", "appId": id }))
                }
                Some("bookmarks") => {
                    let ids = item["options"]["items"].as_array().cloned().unwrap_or_default();
                    Some(json!({ "kind": "bookmarks", "appIds": ids }))
                }
                Some("notebook") => {
                    let (text, _) = note_of(item);
                    characters += text.chars().count();
                    fits &= characters <= MOST_OF_NOTES;
                    fits.then(|| json!({ "kind": "note", "text": text }))
                }
                Some("clock") => Some(json!(clock_of(&item["options"]))),
                _ => None,
            });
        }
        self.board["items"] = own.into();
        self.extras.insert(ITEMS.into(), items.into());
        if fits {
            self.extras.insert(NOTES.into(), true.into());
        } else {
            self.extras.remove(NOTES);
        }
    }
}

/// The text of a notebook, and whether it was cut.
fn note_of(item: &Value) -> (String, bool) {
    text_of(item["options"]["content"].as_str().unwrap_or_default())
}

/// Whether a note or a clock of Portico is this item.
fn same(own: &Value, item: &Value) -> bool {
    match item["kind"].as_str() {
        Some("clock") => *own == json!(clock_of(&item["options"])),
        _ => own["text"] == note_of(item).0.as_str(),
    }
}

/// The list of objects at a key of the input.
fn objects(input: &Value, key: &str) -> Result<Vec<Value>, Failure> {
    let list = input[key].as_array();
    let list = list.filter(|list| list.len() <= MOST && list.iter().all(Value::is_object));
    let rule = format!("must be a list of at most {MOST} objects");
    list.cloned().ok_or_else(|| Failure::bad_input(key, &rule))
}
