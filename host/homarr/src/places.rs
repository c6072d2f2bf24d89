//! Boards of Homarr are grids, with a place for each item in each layout; Portico's are sections with items in order. The
//! order is that in which a person reads the widest layout: sections from top to bottom, and in them line by line.

use std::collections::{HashMap, HashSet};

use portico_storage::Size;

use crate::homarr::{Homarr, Item, ItemPlace, Layout, Section};

/// How deep dynamic sections may be nested. Items in deeper ones come at the end of the board.
const DEEPEST: usize = 16;

/// A place: the line, and the column.
type Position = (i64, i64);

/// What is in a section.
#[derive(Clone, Copy)]
enum SectionContent<'a> {
    Item(&'a Item),
    Section(&'a str),
}

/// Items of a board that stand in one section, also in sections without a title inside it.
pub struct Part<'a> {
    /// `None` of items without a place.
    pub section: Option<&'a Section>,
    pub items: Vec<(&'a Item, Size)>,
}

/// The sections of each board with their items, in order.
pub fn parts_in_order(homarr: &Homarr) -> HashMap<&str, Vec<Part<'_>>> {
    let mut layouts: HashMap<&str, &Layout> = HashMap::new();
    for layout in &homarr.layouts {
        let widest = layouts.entry(&layout.board).or_insert(layout);
        if (layout.columns, layout.breakpoint) > (widest.columns, widest.breakpoint) {
            *widest = layout;
        }
    }
    let chosen: HashSet<&str> = layouts.values().map(|layout| &layout.id[..]).collect();

    let items: HashMap<&str, &Item> = homarr.items.iter().map(|item| (&item.id[..], item)).collect();
    let mut sections: HashMap<&str, Vec<(Position, SectionContent<'_>)>> = HashMap::new();
    for place in homarr
        .item_places
        .iter()
        .filter(|place| chosen.contains(&place.layout[..]))
    {
        if let Some(item) = items.get(&place.item[..]) {
            let entries = sections.entry(&place.section).or_default();
            entries.push(((place.y, place.x), SectionContent::Item(item)));
        }
    }
    let main_columns = layouts
        .values()
        .map(|layout| (&layout.id[..], layout.main_columns()));
    let sizes = Sizes {
        main_columns: main_columns.collect(),
        places: homarr
            .item_places
            .iter()
            .filter(|place| chosen.contains(&place.layout[..]))
            .map(|place| (&place.item[..], place))
            .collect(),
    };
    let mut inner = HashSet::new();
    for place in homarr
        .section_places
        .iter()
        .filter(|place| chosen.contains(&place.layout[..]))
    {
        if let Some(parent) = &place.parent {
            inner.insert(&place.section[..]);
            let entries = sections.entry(parent).or_default();
            entries.push(((place.y, place.x), SectionContent::Section(&place.section)));
        }
    }
    for entries in sections.values_mut() {
        entries.sort_by_key(|(place, _)| *place);
    }

    let mut roots: Vec<_> = homarr
        .sections
        .iter()
        .filter(|section| !inner.contains(&section.id[..]))
        .collect();
    roots.sort_by_key(|section| (section.y, section.x));
    let titled = homarr.sections.iter().filter(|section| section.title().is_some());
    let titled: HashSet<&str> = titled.map(|section| &section.id[..]).collect();
    let mut ordered = Ordered {
        titled: &titled,
        boards: HashMap::new(),
        begun: HashMap::new(),
    };
    let by_id = homarr.sections.iter().map(|section| (&section.id[..], section));
    let mut walk = Walk {
        by_id: by_id.collect(),
        sections: &sections,
        titled: &titled,
        seen: HashSet::new(),
        found: Vec::new(),
    };
    for root in roots {
        walk.section(root, root, 0);
        for (part, item) in walk.found.drain(..) {
            let Some(item) = item else {
                ordered.add(&part.board, Some(part), None);
                continue;
            };
            // Uses the item's own board, because a place may name a section of another one.
            let part = (item.board == part.board).then_some(part);
            ordered.add(&item.board, part, Some((item, sizes.of(item, Some(root)))));
        }
    }
    // Items without a place in that layout.
    for item in homarr
        .items
        .iter()
        .filter(|item| !walk.seen.contains(&item.id[..]))
    {
        ordered.add(&item.board, None, Some((item, sizes.of(item, None))));
    }
    ordered.boards
}

/// The parts of each board so far.
struct Ordered<'s, 'a> {
    /// The sections with a title: each is one part, whatever else stands in between.
    titled: &'s HashSet<&'a str>,
    boards: HashMap<&'a str, Vec<Part<'a>>>,
    /// Which part of its board a section with a title is.
    begun: HashMap<&'a str, usize>,
}

impl<'a> Ordered<'_, 'a> {
    /// Adds an item to a board's part of this section, which begins if it is not there yet, or, without a title, not the
    /// last one.
    fn add(&mut self, board: &'a str, section: Option<&'a Section>, item: Option<(&'a Item, Size)>) {
        let parts = self.boards.entry(board).or_default();
        let id = section.map(|section| &section.id[..]);
        let titled = id.filter(|id| self.titled.contains(id));
        let is_last = |part: &Part<'_>| part.section.map(|section| &section.id[..]) == id;
        let place = match titled.and_then(|id| self.begun.get(id).copied()) {
            Some(place) => place,
            None if parts.last().is_some_and(is_last) => parts.len() - 1,
            None => {
                let items = Vec::new();
                parts.push(Part { section, items });
                self.begun.extend(titled.map(|id| (id, parts.len() - 1)));
                parts.len() - 1
            }
        };
        parts[place].items.extend(item);
    }
}

/// How large items are in the layouts that count.
struct Sizes<'a> {
    /// The columns of each layout, without its gutters.
    main_columns: HashMap<&'a str, i64>,
    places: HashMap<&'a str, &'a ItemPlace>,
}

impl Sizes<'_> {
    /// The size that comes nearest. What stands in a gutter is never as wide as the layout.
    fn of(&self, item: &Item, root: Option<&Section>) -> Size {
        let Some(place) = self.places.get(&item.id[..]) else {
            return Size::Small;
        };
        let columns = match root {
            Some(root) if root.is_gutter() => i64::MAX,
            _ => self
                .main_columns
                .get(&place.layout[..])
                .copied()
                .unwrap_or(i64::MAX),
        };
        match (place.width, place.height) {
            (width, _) if columns > 1 && width >= columns => Size::Wide,
            (2.., 2..) => Size::Large,
            (2.., _) => Size::Broad,
            _ => Size::Small,
        }
    }
}

struct Walk<'s, 'a> {
    by_id: HashMap<&'a str, &'a Section>,
    sections: &'s HashMap<&'a str, Vec<(Position, SectionContent<'a>)>>,
    titled: &'s HashSet<&'a str>,
    /// Items and sections, each of which has one place.
    seen: HashSet<&'a str>,
    /// The sections that Portico shows, each where it begins, and before each item the one in which it is shown.
    found: Vec<(&'a Section, Option<&'a Item>)>,
}

impl<'a> Walk<'_, 'a> {
    /// `part` is the section in which what is in this one is shown.
    fn section(&mut self, section: &'a Section, part: &'a Section, depth: usize) {
        if depth > DEEPEST || !self.seen.insert(&section.id) {
            return;
        }
        if part.id == section.id {
            self.found.push((part, None));
        }
        for (_, entry) in self.sections.get(&section.id[..]).into_iter().flatten() {
            match entry {
                SectionContent::Item(item) => {
                    if self.seen.insert(&item.id) {
                        self.found.push((part, Some(item)));
                    }
                }
                SectionContent::Section(inner) => {
                    if let Some(inner) = self.by_id.get(inner).copied() {
                        // In Homarr 2 every section with a title is inside another one.
                        let is_titled = self.titled.contains(&inner.id[..]);
                        let part = if is_titled { inner } else { part };
                        self.section(inner, part, depth + 1);
                    }
                }
            }
        }
    }
}
