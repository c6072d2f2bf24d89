//! Boards of Homarr are grids, with a place for each item in each layout; Portico's are lists. The items are in the
//! order in which a person reads the widest layout: sections from top to bottom, and in them line by line.

use std::collections::{HashMap, HashSet};

use crate::homarr::{Homarr, Item, Layout};

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

/// The items of each board, in order.
pub fn items_in_order(homarr: &Homarr) -> HashMap<&str, Vec<&Item>> {
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
    let mut ordered: HashMap<&str, Vec<&Item>> = HashMap::new();
    let mut walk = Walk {
        sections: &sections,
        seen: HashSet::new(),
        items: Vec::new(),
    };
    for section in roots {
        walk.section(&section.id, 0);
        for item in walk.items.drain(..) {
            // Uses the item's own board, because a place may name a section of another one.
            ordered.entry(&item.board).or_default().push(item);
        }
    }
    // Items without a place in that layout.
    for item in homarr
        .items
        .iter()
        .filter(|item| !walk.seen.contains(&item.id[..]))
    {
        ordered.entry(&item.board).or_default().push(item);
    }
    ordered
}

struct Walk<'s, 'a> {
    sections: &'s HashMap<&'a str, Vec<(Position, SectionContent<'a>)>>,
    /// Items and sections, each of which has one place.
    seen: HashSet<&'a str>,
    items: Vec<&'a Item>,
}

impl<'a> Walk<'_, 'a> {
    fn section(&mut self, id: &'a str, depth: usize) {
        if depth > DEEPEST || !self.seen.insert(id) {
            return;
        }
        for (_, entry) in self.sections.get(id).into_iter().flatten() {
            match entry {
                SectionContent::Item(item) => {
                    if self.seen.insert(&item.id) {
                        self.items.push(item);
                    }
                }
                SectionContent::Section(inner) => self.section(inner, depth + 1),
            }
        }
    }
}
