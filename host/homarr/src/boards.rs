//! Converts Homarr's boards to Portico's: sections with apps, bookmarks, notes and clocks, and the grid, other widgets and
//! looks as extras.

use std::collections::{BTreeMap, HashMap, HashSet};

use portico_storage::extras::{Area, LOOKS};
use portico_storage::notes::{MOST_OF_NOTES, clock_of, text_of};
use portico_storage::{BoardItem, BoardSummary, Share, Shares};
use serde_json::{Map, Value, json};

use crate::board::{self, Board};
use crate::homarr::{self, Homarr, Item, ItemPlace, Section, SectionPlace, unwrapped};
use crate::ids::check_id;
use crate::pictures::Pictures;
use crate::places::{Part, parts_in_order};
use crate::report::{Kind, Report, What, counted, shown};

/// The most items of a board, and apps in a list of bookmarks.
const MOST_ITEMS: usize = 1000;

pub fn boards(homarr: &Homarr, pictures: &mut Pictures<'_>, report: &mut Report) -> Vec<Board> {
    report.count(Kind::Board).found = homarr.boards.len() as u64;
    let apps: HashSet<&str> = homarr.apps.iter().map(|app| &app.id[..]).collect();
    let grids = Grids::new(homarr);
    let users = grouped(&homarr.board_users, |share| &share.board);
    let groups = grouped(&homarr.board_groups, |share| &share.board);
    let mut parts = parts_in_order(homarr);
    let mut boards = Vec::new();
    for board in &homarr.boards {
        if !check_id(report, Kind::Board, &board.id, &board.name) {
            continue;
        }
        let of_board = parts.remove(&board.id[..]).unwrap_or_default();
        grids.note(board, report);
        let items = of_board.iter().flat_map(|part| &part.items);
        let links: usize = items.map(|(item, _)| grids.links_of(item)).sum();
        if links > 0 {
            let text = counted(links, "link") + " of its items to integrations, which Portico does not have";
            report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
        }
        boards.push(Board {
            board: BoardSummary {
                id: board.id.clone(),
                name: board.name.trim().to_owned(),
                slug: None,
                is_public: board.is_public,
                creator_id: board.creator.clone(),
            },
            items: items_of(board, &of_board, &apps, &grids, pictures, report),
            parts: of_board
                .iter()
                .map(|part| part.section.and_then(Section::title))
                .collect(),
            shares: Shares {
                users: shared_with(&users, board, "users", report),
                groups: shared_with(&groups, board, "groups", report),
            },
            layouts: grids.layouts_of(board),
            sections: grids.sections_of(board),
            looks: looks_of(board, pictures, report),
        });
        pictures.note_lost((&board.id, &board.name), report);
    }
    boards
}

/// The looks of a board that are pictures, and what they are called.
const PICTURES_OF_LOOKS: [(&str, &str); 3] = [
    ("logoImageUrl", "logo"),
    ("faviconImageUrl", "favicon"),
    ("backgroundImageUrl", "background"),
];

/// The looks of a board that are not Homarr's defaults.
fn looks_of(board: &homarr::Board, pictures: &mut Pictures<'_>, report: &mut Report) -> Map<String, Value> {
    let is_default = |key: &String, value: &Value| {
        let mut defaults = LOOKS.iter();
        value.is_null() || defaults.any(|(name, default)| key == name && value == default)
    };
    let own = board.looks.iter().filter(|(key, value)| !is_default(key, value));
    let mut own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    for (key, what) in PICTURES_OF_LOOKS {
        if let Some(Value::String(url)) = own.get_mut(key) {
            *url = pictures.of_board(what, (&board.id, &board.name), url, report);
        }
    }
    if let Some(css) = own.get_mut("customCss") {
        pictures.replace_in(css);
    }
    own
}

/// The items of a board, in order.
fn items_of(
    board: &homarr::Board,
    parts: &[Part<'_>],
    apps: &HashSet<&str>,
    grids: &Grids<'_>,
    pictures: &mut Pictures<'_>,
    report: &mut Report,
) -> Vec<board::Item> {
    let mut kept = Vec::new();
    let mut widgets: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut dangling, mut unreadable, mut beyond, mut shown_items) = (0, 0, 0, 0);
    let mut notes = Notes::default();
    let items = parts.iter().enumerate();
    let items =
        items.flat_map(|(part, of_part)| of_part.items.iter().map(move |(item, size)| (part, item, *size)));
    for (part, item, size) in items {
        let mut options = unwrapped(&item.options);
        options.values_mut().for_each(|value| pictures.replace_in(value));
        let found = match &item.kind[..] {
            "app" => options.get("appId").and_then(Value::as_str).map(|id| vec![id]),
            "bookmarks" => {
                let ids = options.get("items").and_then(Value::as_array);
                ids.map(|ids| ids.iter().filter_map(Value::as_str).collect())
            }
            other => {
                let shown = match other {
                    _ if shown_items == MOST_ITEMS => None,
                    "notebook" => notes.note(&options),
                    "clock" => Some(clock_of(&Value::Object(options.clone()))),
                    _ => {
                        *widgets.entry(other).or_default() += 1;
                        None
                    }
                };
                shown_items += usize::from(shown.is_some());
                kept.push(board::Item {
                    kept: grids.kept_fields(item, options),
                    shown,
                    part,
                    size,
                });
                continue;
            }
        };
        let Some(mut ids) = found else {
            unreadable += 1;
            continue;
        };
        let all = ids.len();
        ids.retain(|id| apps.contains(id));
        dangling += all - ids.len();
        beyond += ids.len().saturating_sub(MOST_ITEMS);
        ids.truncate(MOST_ITEMS);
        if shown_items == MOST_ITEMS {
            beyond += 1;
            continue;
        }
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let mut ids = ids.into_iter();
        let shown = if item.kind == "bookmarks" {
            BoardItem::Bookmarks {
                app_ids: ids.collect(),
            }
        } else if let Some(app_id) = ids.next() {
            BoardItem::App { app_id }
        } else {
            continue;
        };
        shown_items += 1;
        kept.push(board::Item {
            kept: grids.kept_fields(item, options),
            shown: Some(shown),
            part,
            size,
        });
    }
    notes.report(board, report);
    let mut too_many = kept.len().saturating_sub(MOST_ITEMS);
    beyond += too_many;
    // From the end, and widgets before what Portico shows.
    for place in (0..kept.len()).rev() {
        if too_many > 0 && kept[place].shown.is_none() {
            kept.remove(place);
            too_many -= 1;
        }
    }
    for (kind, count) in widgets {
        let text = format!(
            "{count} of the widget {:?}, which Portico does not have: only clients of Homarr find it",
            shown(kind)
        );
        report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
    }
    for (count, why) in [
        (dangling, "of apps that do not exist"),
        (unreadable, "whose options cannot be read"),
        (
            beyond,
            "because a board and a list of bookmarks have at most 1,000",
        ),
    ] {
        if count > 0 {
            let text = format!("{} {why}", counted(count, "place"));
            report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
        }
    }
    kept
}

/// The notes of a board so far.
#[derive(Default)]
struct Notes {
    characters: usize,
    cut: usize,
    beyond: usize,
}

impl Notes {
    /// A notebook as a note; `None` if the board has no room for it.
    fn note(&mut self, options: &Map<String, Value>) -> Option<BoardItem> {
        let html = options.get("content").and_then(Value::as_str).unwrap_or_default();
        let (text, is_cut) = text_of(html);
        let characters = self.characters + text.chars().count();
        if characters > MOST_OF_NOTES {
            self.beyond += 1;
            return None;
        }
        self.characters = characters;
        self.cut += usize::from(is_cut);
        Some(BoardItem::Note { text })
    }

    fn report(&self, board: &homarr::Board, report: &mut Report) {
        for (count, why) in [
            (self.cut, "after 8,192 characters"),
            (
                self.beyond,
                "because the notes of a board have at most 131,072 characters",
            ),
        ] {
            if count > 0 {
                let text = format!(
                    "the rest of {} {why}: only clients of Homarr find it",
                    counted(count, "notebook")
                );
                report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
            }
        }
    }
}

/// What is at which place.
struct Grids<'a> {
    layouts: HashMap<&'a str, Vec<&'a homarr::Layout>>,
    sections: HashMap<&'a str, Vec<&'a Section>>,
    items: HashMap<&'a str, Vec<&'a ItemPlace>>,
    inner: HashMap<&'a str, Vec<&'a SectionPlace>>,
    /// How many integrations an item is linked to.
    links: HashMap<&'a str, usize>,
}

impl<'a> Grids<'a> {
    fn new(homarr: &'a Homarr) -> Self {
        let mut links: HashMap<&str, usize> = HashMap::new();
        for item in &homarr.linked_items {
            *links.entry(item).or_default() += 1;
        }
        Self {
            layouts: grouped(&homarr.layouts, |layout| &layout.board),
            sections: grouped(&homarr.sections, |section| &section.board),
            items: grouped(&homarr.item_places, |place| &place.item),
            inner: grouped(&homarr.section_places, |place| &place.section),
            links,
        }
    }

    fn links_of(&self, item: &Item) -> usize {
        self.links.get(&item.id[..]).copied().unwrap_or_default()
    }

    fn layouts_of(&self, board: &homarr::Board) -> Vec<Value> {
        let layouts = self.layouts.get(&board.id[..]).into_iter().flatten();
        layouts
            .map(|layout| {
                let columns = u64::try_from(layout.columns).unwrap_or(1);
                let mut kept =
                    portico_storage::extras::layout(&layout.id, &layout.name, columns, layout.breakpoint);
                for (key, value) in layout.more.iter().filter(|(_, value)| !value.is_null()) {
                    kept[key] = value.clone();
                }
                kept
            })
            .collect()
    }

    fn sections_of(&self, board: &homarr::Board) -> Vec<Value> {
        let sections = self.sections.get(&board.id[..]).into_iter().flatten();
        sections.map(|section| self.section(section)).collect()
    }

    fn section(&self, section: &Section) -> Value {
        let mut kept = portico_storage::extras::empty_section(&section.id, section.x, cells(section.y));
        if section.kind == "empty" {
            return kept;
        }
        kept["kind"] = json!(section.kind);
        kept["collapsed"] = json!(false);
        if let Some(name) = &section.name {
            kept["name"] = json!(name);
        }
        let options = section.options();
        // What has a place inside another section: `dynamic` in Homarr 1, `container` in Homarr 2.
        let is_inner = matches!(&section.kind[..], "dynamic" | "container");
        if is_inner || !options.is_empty() {
            kept["options"] = options.into();
        }
        let places = self.inner.get(&section.id[..]).into_iter().flatten();
        let places: Vec<Value> = places
            .filter_map(|place| {
                let parent = json!(place.parent.as_ref()?);
                let area = area(place.x, place.y, place.width, place.height);
                Some(portico_storage::extras::inner_place(
                    &json!(place.layout),
                    &parent,
                    area,
                ))
            })
            .collect();
        if is_inner || !places.is_empty() {
            kept["layouts"] = places.into();
        }
        kept
    }

    /// An item as it is stored in the extras.
    fn kept_fields(&self, item: &Item, options: Map<String, Value>) -> Value {
        let places = self.items.get(&item.id[..]).into_iter().flatten();
        let places = places.map(|place| {
            let area = area(place.x, place.y, place.width, place.height);
            portico_storage::extras::place(&json!(place.layout), &json!(place.section), area)
        });
        let mut kept = portico_storage::extras::item(&item.id, &item.kind, options.into(), places.collect());
        for (key, value) in unwrapped(&item.advanced_options) {
            kept["advancedOptions"][key] = value;
        }
        kept
    }

    /// Notes what Portico itself does not show of a board.
    fn note(&self, board: &homarr::Board, report: &mut Report) {
        let layouts = self.layouts.get(&board.id[..]).map_or(0, Vec::len);
        let mut lost = vec![format!(
            "its grid ({}): it has sections and sizes, in the order of the widest layout",
            counted(layouts, "layout")
        )];
        let is_set = |key: &str| {
            board
                .looks
                .get(key)
                .is_some_and(|look| look.as_str().is_some_and(|text| !text.trim().is_empty()))
        };
        let own = [
            ("customCss", ", its CSS"),
            ("backgroundImageUrl", ", its background"),
            ("logoImageUrl", ", its logo"),
        ];
        let own = own.iter().filter(|(key, _)| is_set(key));
        let own: String = own.map(|(_, words)| *words).collect();
        lost.push(format!("its titles and colours{own}"));
        let text = format!("{}; only clients of Homarr find these", lost.join("; "));
        report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
    }
}

fn grouped<'a, T>(rows: &'a [T], by: impl Fn(&'a T) -> &'a String) -> HashMap<&'a str, Vec<&'a T>> {
    let mut groups: HashMap<&str, Vec<&T>> = HashMap::new();
    for row in rows {
        groups.entry(by(row)).or_default().push(row);
    }
    groups
}

fn cells(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn area(x: i64, y: i64, width: i64, height: i64) -> Area {
    Area {
        x: cells(x),
        y: cells(y),
        width: cells(width),
        height: cells(height),
    }
}

/// With whom a board is shared, each once.
fn shared_with(
    shares: &HashMap<&str, Vec<&homarr::Share>>,
    board: &homarr::Board,
    whom: &str,
    report: &mut Report,
) -> Vec<Share> {
    let of_board = shares.get(&board.id[..]).map_or(&[][..], |shares| shares);
    let more = of_board.iter().filter(|share| share.permission == "full").count();
    if more > 0 {
        let text = format!(
            "{} of {whom} to share and delete it: whom a board is shared with may at most change it",
            counted(more, "right")
        );
        report.note_of(Kind::Board, (&board.id, &board.name), What::Lost, text);
    }
    let mut rights: BTreeMap<&String, bool> = BTreeMap::new();
    for share in of_board {
        let may_change = matches!(&share.permission[..], "modify" | "full");
        *rights.entry(&share.with).or_default() |= may_change;
    }
    let shares = rights.into_iter().map(|(id, may_change)| Share {
        id: id.clone(),
        may_change,
    });
    shares.collect()
}
