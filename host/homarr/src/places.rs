//! Boards of Homarr are grids, with a place for each item in each layout; Portico's are sections with items in order. The
//! order is that in which a person reads the widest layout: sections from top to bottom, and in them line by line.

use std::collections::{HashMap, HashSet};

use portico_storage::Size;

use crate::boards::title_of;
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
    let columns = homarr.layouts.iter();
    let columns: HashMap<&str, i64> = columns.map(|layout| (&layout.id[..], layout.columns)).collect();
    let sizes: HashMap<&str, Size> = homarr
        .item_places
        .iter()
        .filter(|place| chosen.contains(&place.layout[..]))
        .map(|place| {
            let columns = columns.get(&place.layout[..]).copied().unwrap_or(i64::MAX);
            (&place.item[..], size_of(place, columns))
        })
        .collect();
    let size = |item: &Item| sizes.get(&item.id[..]).copied().unwrap_or(Size::Small);
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
    let mut ordered: HashMap<&str, Vec<Part<'_>>> = HashMap::new();
    let by_id = homarr.sections.iter().map(|section| (&section.id[..], section));
    let mut walk = Walk {
        by_id: by_id.collect(),
        sections: &sections,
        seen: HashSet::new(),
        items: Vec::new(),
    };
    for section in roots {
        add(&mut ordered, &section.board, Some(section), None);
        walk.section(section, section, 0);
        for (part, item) in walk.items.drain(..) {
            // Uses the item's own board, because a place may name a section of another one.
            let part = (item.board == part.board).then_some(part);
            add(&mut ordered, &item.board, part, Some((item, size(item))));
        }
    }
    // Items without a place in that layout.
    for item in homarr
        .items
        .iter()
        .filter(|item| !walk.seen.contains(&item.id[..]))
    {
        add(&mut ordered, &item.board, None, Some((item, size(item))));
    }
    ordered
}

/// Adds an item to a board's part of this section, which begins if it is not the last one.
fn add<'a>(
    ordered: &mut HashMap<&'a str, Vec<Part<'a>>>,
    board: &'a str,
    section: Option<&'a Section>,
    item: Option<(&'a Item, Size)>,
) {
    let parts = ordered.entry(board).or_default();
    let id = |section: Option<&'a Section>| section.map(|section| &section.id);
    if parts.last().is_none_or(|last| id(last.section) != id(section)) {
        let items = Vec::new();
        parts.push(Part { section, items });
    }
    if let Some(part) = parts.last_mut() {
        part.items.extend(item);
    }
}

/// The size that comes nearest.
fn size_of(place: &ItemPlace, columns: i64) -> Size {
    match (place.width, place.height) {
        (width, _) if columns > 1 && width >= columns => Size::Wide,
        (2.., 2..) => Size::Large,
        (2.., _) => Size::Broad,
        _ => Size::Small,
    }
}

struct Walk<'s, 'a> {
    by_id: HashMap<&'a str, &'a Section>,
    sections: &'s HashMap<&'a str, Vec<(Position, SectionContent<'a>)>>,
    /// Items and sections, each of which has one place.
    seen: HashSet<&'a str>,
    /// Items, and the section in which Portico shows each.
    items: Vec<(&'a Section, &'a Item)>,
}

impl<'a> Walk<'_, 'a> {
    /// `part` is the section in which what is in this one is shown.
    fn section(&mut self, section: &'a Section, part: &'a Section, depth: usize) {
        if depth > DEEPEST || !self.seen.insert(&section.id) {
            return;
        }
        for (_, entry) in self.sections.get(&section.id[..]).into_iter().flatten() {
            match entry {
                SectionContent::Item(item) => {
                    if self.seen.insert(&item.id) {
                        self.items.push((part, item));
                    }
                }
                SectionContent::Section(inner) => {
                    if let Some(inner) = self.by_id.get(inner).copied() {
                        // In Homarr 2 every section with a title is inside another one.
                        let part = if title_of(inner).is_some() { inner } else { part };
                        self.section(inner, part, depth + 1);
                    }
                }
            }
        }
    }
}
