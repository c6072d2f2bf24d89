//! Reads where things stand on boards: in the tables of layouts, or, of Homarr 1.0 to 1.7, in columns of items and
//! sections, from which migration 0030 makes one layout for each board.

use std::collections::HashMap;

use crate::homarr::{Item, ItemPlace, Layout, Section, SectionPlace};
use crate::rows::{Holds, Optional, Reader, Row, values};

/// What stands on boards, and where.
pub struct Grid {
    pub layouts: Vec<Layout>,
    pub sections: Vec<Section>,
    pub section_places: Vec<SectionPlace>,
    pub items: Vec<Item>,
    pub item_places: Vec<ItemPlace>,
}

impl Grid {
    pub fn read(db: &Reader<'_>) -> anyhow::Result<Self> {
        let of_items = db.columns_of("item")?;
        if !of_items.iter().any(|column| column == "board_id") {
            return before_layouts(db);
        }
        Ok(Self {
            layouts: layouts(db)?,
            sections: sections(db)?,
            section_places: section_places(db)?,
            items: items(db)?,
            item_places: item_places(db)?,
        })
    }
}

/// The name that migration 0029 gives the only layout of a board, whose id is that of the board.
const ONLY_LAYOUT: &str = "Base";

fn before_layouts(db: &Reader<'_>) -> anyhow::Result<Grid> {
    let layouts = db.read("board", &["id", "column_count"], |row| {
        Ok(Layout {
            id: row.text(0)?,
            board: row.text(0)?,
            columns: row.number(1)?.unwrap_or_default(),
            breakpoint: 0,
            name: ONLY_LAYOUT.to_owned(),
            more: serde_json::Map::new(),
        })
    })?;
    let mut sections = sections(db)?;
    let columns = [
        "id",
        "board_id",
        "parent_section_id",
        "x_offset",
        "y_offset",
        "width",
        "height",
    ];
    let section_places = db.read("section", &columns, |row| {
        Ok(SectionPlace {
            section: row.text(0)?,
            layout: row.text(1)?,
            parent: row.optional_text(2)?,
            x: number(row, 3)?,
            y: number(row, 4)?,
            width: number(row, 5)?,
            height: number(row, 6)?,
        })
    })?;
    let dynamic = sections.iter_mut().filter(|section| section.kind == "dynamic");
    for section in dynamic {
        (section.x, section.y) = (0, 0);
    }
    let board_of: HashMap<&str, &str> = sections
        .iter()
        .map(|section| (&section.id[..], &section.board[..]))
        .collect();
    let board_of = |section: &str| board_of.get(section).copied().unwrap_or_default().to_owned();
    let columns = ["id", "section_id", "kind", "options", "advanced_options"];
    let items = db.read("item", &columns, |row| {
        Ok(Item {
            id: row.text(0)?,
            board: board_of(&row.text(1)?),
            kind: row.text(2)?,
            options: row.text(3)?,
            advanced_options: row.text(4)?,
        })
    })?;
    let columns = ["id", "section_id", "x_offset", "y_offset", "width", "height"];
    let item_places = db.read("item", &columns, |row| {
        let section = row.text(1)?;
        Ok(ItemPlace {
            item: row.text(0)?,
            layout: board_of(&section),
            section,
            x: number(row, 2)?,
            y: number(row, 3)?,
            width: number(row, 4)?,
            height: number(row, 5)?,
        })
    })?;
    Ok(Grid {
        layouts,
        section_places: section_places
            .into_iter()
            .filter(|place| place.parent.is_some())
            .collect(),
        sections,
        items,
        item_places,
    })
}

fn number(row: &Row<'_, '_>, column: usize) -> anyhow::Result<i64> {
    Ok(row.number(column)?.unwrap_or_default())
}

/// The columns of layouts that came with Homarr 2, and their names in its interface.
const OF_LAYOUTS: [Optional; 4] = [
    ("left_gutter_column_count", "leftGutterColumnCount", Holds::Number),
    (
        "right_gutter_column_count",
        "rightGutterColumnCount",
        Holds::Number,
    ),
    ("role", "role", Holds::Text),
    ("resize_source", "resizeSource", Holds::Text),
];

fn layouts(db: &Reader<'_>) -> anyhow::Result<Vec<Layout>> {
    let mut columns = vec!["id", "board_id", "column_count", "breakpoint", "name"];
    let more = db.add_present("layout", &mut columns, &OF_LAYOUTS)?;
    db.read("layout", &columns, |row| {
        Ok(Layout {
            id: row.text(0)?,
            board: row.text(1)?,
            columns: row.number(2)?.unwrap_or_default(),
            breakpoint: row.number(3)?.unwrap_or_default(),
            name: row.text(4)?,
            more: values(row, &more)?,
        })
    })
}

fn sections(db: &Reader<'_>) -> anyhow::Result<Vec<Section>> {
    let mut columns = vec!["id", "board_id", "kind", "x_offset", "y_offset", "name"];
    let has_options = db.columns_of("section")?.iter().any(|name| name == "options");
    if has_options {
        columns.push("options");
    }
    db.read("section", &columns, |row| {
        Ok(Section {
            id: row.text(0)?,
            board: row.text(1)?,
            kind: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            name: row.optional_text(5)?,
            options: if has_options { row.optional_text(6)? } else { None },
        })
    })
}

fn items(db: &Reader<'_>) -> anyhow::Result<Vec<Item>> {
    let columns = ["id", "board_id", "kind", "options", "advanced_options"];
    db.read("item", &columns, |row| {
        Ok(Item {
            id: row.text(0)?,
            board: row.text(1)?,
            kind: row.text(2)?,
            options: row.text(3)?,
            advanced_options: row.text(4)?,
        })
    })
}

fn section_places(db: &Reader<'_>) -> anyhow::Result<Vec<SectionPlace>> {
    let columns = [
        "section_id",
        "layout_id",
        "parent_section_id",
        "x_offset",
        "y_offset",
        "width",
        "height",
    ];
    db.read("section_layout", &columns, |row| {
        Ok(SectionPlace {
            section: row.text(0)?,
            layout: row.text(1)?,
            parent: row.optional_text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            width: row.number(5)?.unwrap_or_default(),
            height: row.number(6)?.unwrap_or_default(),
        })
    })
}

fn item_places(db: &Reader<'_>) -> anyhow::Result<Vec<ItemPlace>> {
    let columns = [
        "item_id",
        "section_id",
        "layout_id",
        "x_offset",
        "y_offset",
        "width",
        "height",
    ];
    db.read("item_layout", &columns, |row| {
        Ok(ItemPlace {
            item: row.text(0)?,
            section: row.text(1)?,
            layout: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            width: row.number(5)?.unwrap_or_default(),
            height: row.number(6)?.unwrap_or_default(),
        })
    })
}
