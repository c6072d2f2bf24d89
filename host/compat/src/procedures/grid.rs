//! Where new items stand on a board of Homarr: at the first free cells that are large enough, line by line.

use portico_storage::extras::{Area, place};
use serde_json::Value;

/// The kinds of items that are larger than one cell when they are new, as in Homarr: width and height.
const SIZES: [(&str, u64, u64); 7] = [
    ("uptimeKuma", 2, 3),
    ("audioStats", 2, 2),
    ("paperlessNgx", 2, 2),
    ("patchmon", 2, 2),
    ("mediaMissing", 4, 3),
    ("bazarr", 2, 2),
    ("assistant", 10, 4),
];

/// The most columns of a layout.
const MOST_COLUMNS: u64 = 24;

/// The columns of a section without a name: those of its gutter, or those between the gutters, of which only Homarr 2
/// has some.
fn columns_of(section: &Value, layout: &Value) -> u64 {
    let all = layout["columnCount"].as_u64().unwrap_or(10).max(1);
    let gutter = |key: &str| layout[key].as_u64().unwrap_or_default();
    let left = gutter("leftGutterColumnCount").min(all - 1);
    let right = gutter("rightGutterColumnCount").min(all - left - 1);
    match section["xOffset"].as_i64() {
        Some(-1) => left,
        Some(1) => right,
        _ => all - left - right,
    }
}

/// Places for new items: in the uppermost section without a name, and not in a gutter if there is another one.
pub(super) struct Places {
    section: Value,
    /// The id of each layout, and what is taken there.
    layouts: Vec<(Value, Grid)>,
}

impl Places {
    pub fn of(layouts: Vec<Value>, sections: &[Value], items: &[Value]) -> Self {
        let empty = sections.iter().filter(|section| section["kind"] == "empty");
        let number = |section: &Value, key: &str| section[key].as_i64().unwrap_or_default();
        let first = empty.min_by_key(|section| {
            let is_gutter = number(section, "xOffset") != 0;
            (number(section, "yOffset"), is_gutter)
        });
        let first = first.unwrap_or(&Value::Null);
        let section = first["id"].clone();
        let layouts = layouts.into_iter().map(|layout| {
            let columns = columns_of(first, &layout);
            let places = |all: &[Value], key: &str| -> Vec<Area> {
                let places = all.iter().filter_map(|one| one["layouts"].as_array()).flatten();
                let here = places.filter(|place| place["layoutId"] == layout["id"] && place[key] == section);
                here.map(area).collect()
            };
            let mut taken = places(items, "sectionId");
            taken.extend(places(sections, "parentSectionId"));
            (layout["id"].clone(), Grid::new(columns, taken))
        });
        Self {
            layouts: layouts.collect(),
            section,
        }
    }

    /// A place in every layout for an item of this kind.
    pub fn next(&mut self, kind: &str) -> Value {
        let size = SIZES.iter().find(|(name, ..)| *name == kind);
        let (width, height) = size.map_or((1, 1), |(_, width, height)| (*width, *height));
        let section = &self.section;
        let places = self.layouts.iter_mut();
        places
            .map(|(layout, grid)| place(layout, section, grid.take(width, height)))
            .collect()
    }
}

fn area(place: &Value) -> Area {
    let number = |key: &str| place[key].as_u64().unwrap_or_default();
    Area {
        x: number("xOffset"),
        y: number("yOffset"),
        width: number("width").max(1),
        height: number("height").max(1),
    }
}

/// The cells of a section in a layout.
struct Grid {
    columns: u64,
    taken: Vec<Area>,
    /// In the rows before this one, no cell is free.
    from: u64,
}

impl Grid {
    fn new(columns: u64, taken: Vec<Area>) -> Self {
        Self {
            columns: columns.clamp(1, MOST_COLUMNS),
            taken,
            from: 0,
        }
    }

    /// Takes the first free area of this size, or of the size that the layout has room for.
    fn take(&mut self, width: u64, height: u64) -> Area {
        let width = width.min(self.columns);
        let mut y = self.from;
        let x = loop {
            let end = y.saturating_add(height);
            let in_these_rows = self.taken.iter().filter(|area| area.y < end && y < bottom(area));
            let taken = in_these_rows.fold(0, |taken, area| taken | columns(area.x, area.width));
            if let Some(x) = (0..=self.columns - width).find(|x| taken & columns(*x, width) == 0) {
                break x;
            }
            // Where no area ends, a row is no better than the one above it.
            let ends = self.taken.iter().map(bottom).filter(|end| *end > y);
            match ends.min() {
                Some(next) => y = next,
                None => break 0,
            }
        };
        if (width, height) == (1, 1) {
            self.from = y;
        }
        let area = Area { x, y, width, height };
        self.taken.push(area);
        area
    }
}

fn bottom(area: &Area) -> u64 {
    area.y.saturating_add(area.height)
}

/// The columns from this one on, as bits.
fn columns(x: u64, width: u64) -> u32 {
    if x >= MOST_COLUMNS {
        return 0;
    }
    ((1 << width.min(MOST_COLUMNS - x)) - 1) << x
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn area(x: u64, y: u64, width: u64, height: u64) -> Area {
        Area { x, y, width, height }
    }

    fn corner(area: Area) -> (u64, u64, u64) {
        (area.x, area.y, area.width)
    }

    #[test]
    fn the_section_is_the_uppermost_one_and_its_columns_are_those_between_the_gutters() {
        let layout = json!({
            "id": "l", "columnCount": 10, "leftGutterColumnCount": 2, "rightGutterColumnCount": 1,
        });
        let section =
            |id: &str, x: i64, y: i64| json!({ "id": id, "kind": "empty", "xOffset": x, "yOffset": y });
        let lower = section("lower", 0, 2);
        let (left, main) = (section("left", -1, 0), section("main", 0, 0));
        let category = json!({ "id": "category", "kind": "category", "xOffset": 0, "yOffset": -1 });
        let next = |sections: &[&Value], kind: &str| {
            let sections: Vec<Value> = sections.iter().map(|section| (*section).clone()).collect();
            let places = Places::of(vec![layout.clone()], &sections, &[]).next(kind);
            (places[0]["sectionId"].clone(), places[0]["width"].clone())
        };
        // `assistant` is 10 cells wide where there is room.
        let expected = (json!("main"), json!(7));
        assert_eq!(next(&[&lower, &left, &category, &main], "assistant"), expected);
        assert_eq!(next(&[&lower, &left], "assistant"), (json!("left"), json!(2)));
        assert_eq!(next(&[&lower], "assistant"), (json!("lower"), json!(7)));
        let narrow = json!({ "columnCount": 1, "leftGutterColumnCount": 3, "rightGutterColumnCount": 3 });
        assert_eq!(columns_of(&main, &narrow), 1);
    }

    #[test]
    fn an_item_gets_the_first_cells_that_are_free() {
        let mut grid = Grid::new(4, vec![area(0, 0, 2, 1), area(3, 0, 1, 2), area(0, 2, 4, 1)]);
        assert_eq!(corner(grid.take(1, 1)), (2, 0, 1));
        assert_eq!(corner(grid.take(2, 1)), (0, 1, 2));
        assert_eq!(corner(grid.take(1, 1)), (2, 1, 1));
        assert_eq!(corner(grid.take(2, 2)), (0, 3, 2));
        assert_eq!(corner(grid.take(10, 4)), (0, 5, 4), "as wide as the layout");
        assert_eq!(corner(grid.take(1, 1)), (2, 3, 1));
    }

    #[test]
    fn a_place_is_found_on_a_full_board_and_whatever_a_client_has_saved() {
        let full = (0..1000).map(|number| area(number % 24, number / 24 * 7, 1, 7));
        let mut grid = Grid::new(24, full.collect());
        for _ in 0..1000 {
            grid.take(1, 1);
        }
        assert!(grid.from >= 287, "{}", grid.from);
        let odd = vec![
            area(u64::MAX, u64::MAX, u64::MAX, u64::MAX),
            area(0, 0, u64::MAX, u64::MAX),
        ];
        assert_eq!(corner(Grid::new(u64::MAX, odd).take(1, 1)), (0, u64::MAX, 1));
        assert_eq!(corner(Grid::new(0, Vec::new()).take(10, 4)), (0, 0, 1));
    }
}
