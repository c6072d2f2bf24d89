//! What becomes of boards: their sections, items, sizes and extras.

use portico_storage::{BoardItem, ExtrasOf, PlacedItem, Section, Size};

use super::{SCHEMA_1_0, dashboard, database, surroundings};
use crate::{Homarr, Report, convert};

#[test]
fn items_stand_in_the_order_in_which_the_widest_layout_is_read() {
    let (dashboard, _) = dashboard();
    let home = &dashboard.boards[0];
    let app = |id: &str| BoardItem::App { app_id: id.into() };
    let bookmarks = BoardItem::Bookmarks {
        app_ids: vec!["appnas".into(), "appjellyfin".into()],
    };
    let clock = || BoardItem::Clock { time_zone: None };
    let shown: Vec<(Option<String>, Vec<BoardItem>)> = home
        .shown_sections()
        .into_iter()
        .map(|section| {
            let items = section.items.into_iter().map(|placed| placed.item);
            (section.name, items.collect())
        })
        .collect();
    assert_eq!(
        shown,
        [
            (None, vec![clock(), app("appjellyfin")]),
            (Some("Inner".into()), vec![app("appnas")]),
            (Some("Media".into()), vec![bookmarks]),
            (None, vec![app("apprel"), clock()]),
        ]
    );
}

#[test]
fn what_a_board_keeps_for_clients_is_bounded_and_has_the_apps_that_portico_shows() {
    let (mut dashboard, mut report) = dashboard();
    let home = &mut dashboard.boards[0];
    home.change_apps(|ids| ids.into_iter().map(|id| format!("{id}-here")).collect());
    let kept = home.extras(&mut report).unwrap();
    assert!(kept.contains("\"appId\":\"appjellyfin-here\""), "{kept}");
    assert!(kept.contains("[\"appnas-here\",\"appjellyfin-here\"]"), "{kept}");
    let notes = report.notes.len();

    let too_long = "x".repeat(ExtrasOf::MOST_OF_BOARD);
    home.items[0].kept["options"]["text"] = too_long.clone().into();
    let kept = home.extras(&mut report).unwrap();
    assert!(
        kept.contains("\"clock\"") && kept.contains("appjellyfin-here"),
        "{kept}"
    );
    let note = &report.notes[notes].text;
    let largest = "1 widget, the largest: \"clock\" \"Time\" with 262";
    assert!(note.starts_with(largest), "{note}");
    home.sections[0]["name"] = too_long.into();
    assert_eq!(home.extras(&mut report), None);
    assert!(report.notes[notes + 1].text.starts_with("its grid"));
}

#[test]
fn boards_of_homarr_1_0_have_one_layout() {
    let board = "
        INSERT INTO \"board\" (\"id\", \"name\", \"column_count\") VALUES ('b', 'Home', 8);
        INSERT INTO \"app\" (\"id\", \"name\", \"icon_url\") VALUES ('one', 'One', '/a.svg'), ('two', 'Two', '/b.svg');
        INSERT INTO \"section\" (\"id\", \"board_id\", \"kind\", \"x_offset\", \"y_offset\", \"width\", \"height\", \"name\",
            \"parent_section_id\") VALUES
            ('main', 'b', 'empty', 0, 0, NULL, NULL, NULL, NULL), ('media', 'b', 'category', 0, 1, NULL, NULL, 'Media', NULL),
            ('inner', 'b', 'dynamic', 3, 0, 2, 2, NULL, 'main');
        INSERT INTO \"item\" (\"id\", \"section_id\", \"kind\", \"x_offset\", \"y_offset\", \"width\", \"height\", \"options\") VALUES
            ('i1', 'media', 'app', 0, 0, 1, 1, '{\"json\": {\"appId\": \"one\"}}'),
            ('i2', 'inner', 'app', 1, 0, 1, 1, '{\"json\": {\"appId\": \"two\"}}'),
            ('i3', 'main', 'app', 0, 0, 2, 1, '{\"json\": {\"appId\": \"one\"}}');";
    let homarr = Homarr::read_from(&database(&[SCHEMA_1_0, board])).unwrap();
    let dashboard = convert(&homarr, &surroundings(), &mut Report::default());
    let board = &dashboard.boards[0];
    let app = |id: &str| BoardItem::App { app_id: id.into() };
    assert_eq!(board.shown(), [app("one"), app("two"), app("one")]);
    assert_eq!(board.layouts.len(), 1);
    assert_eq!(board.layouts[0]["columnCount"], 8);
    let inner = &board.items[1].kept["layouts"][0];
    assert_eq!(
        (&inner["sectionId"], &inner["xOffset"]),
        (&"inner".into(), &1.into())
    );
    let section = board
        .sections
        .iter()
        .find(|section| section["id"] == "inner")
        .unwrap();
    assert_eq!(section["layouts"][0]["parentSectionId"], "main");
    assert_eq!(section["layouts"][0]["xOffset"], 3);
}

#[test]
fn notebooks_and_clocks_come_along_with_sections_and_sizes() {
    let board = "
        INSERT INTO \"board\" (\"id\", \"name\", \"column_count\") VALUES ('b', 'Home', 8);
        INSERT INTO \"section\" (\"id\", \"board_id\", \"kind\", \"x_offset\", \"y_offset\", \"name\") VALUES
            ('main', 'b', 'empty', 0, 0, NULL), ('media', 'b', 'category', 0, 1, ' Media ');
        INSERT INTO \"item\" (\"id\", \"section_id\", \"kind\", \"x_offset\", \"y_offset\", \"width\", \"height\", \"options\") VALUES
            ('i1', 'main', 'notebook', 0, 0, 8, 3, '{\"json\": {\"content\": \"<p>Milk</p>\"}}'),
            ('i2', 'main', 'clock', 0, 3, 2, 1,
                '{\"json\": {\"useCustomTimezone\": true, \"timezone\": \"Europe/Berlin\"}}'),
            ('i3', 'media', 'clock', 0, 0, 2, 2, '{\"json\": {\"timezone\": \"Europe/Berlin\"}}'),
            ('i4', 'media', 'weather', 2, 0, 1, 1, '{\"json\": {}}'),
            ('i5', 'media', 'notebook', 3, 0, 1, 1, '{\"json\": {}}');";
    let homarr = Homarr::read_from(&database(&[SCHEMA_1_0, board])).unwrap();
    let mut report = Report::default();
    let dashboard = convert(&homarr, &surroundings(), &mut report);
    let clock = |zone: Option<&str>| BoardItem::Clock {
        time_zone: zone.map(Into::into),
    };
    let note = |text: &str| BoardItem::Note { text: text.into() };
    let placed = |item, size| PlacedItem { item, size };
    let section = |name: Option<&str>, items| Section {
        name: name.map(Into::into),
        collapsed: false,
        items,
    };
    let expected = [
        section(
            None,
            vec![
                placed(note("Milk"), Size::Wide),
                placed(clock(Some("Europe/Berlin")), Size::Broad),
            ],
        ),
        section(
            Some("Media"),
            vec![placed(clock(None), Size::Large), placed(note(""), Size::Small)],
        ),
    ];
    assert_eq!(dashboard.boards[0].shown_sections(), expected);
    let told = |words: &str| report.notes.iter().any(|note| note.text.contains(words));
    assert!(told("1 of the widget \"weather\"") && !told("widget \"clock\"") && !told("notebook"));
}

#[test]
fn a_notebook_that_is_too_large_goes_alone_and_by_name() {
    let (mut dashboard, mut report) = dashboard();
    let home = &mut dashboard.boards[0];
    let widget = |text: String, title: &str| crate::Item {
        kept: serde_json::json!({
            "kind": "notebook", "options": { "content": text }, "advancedOptions": { "title": title },
        }),
        shown: None,
        part: 0,
        size: Size::Small,
    };
    home.items.push(widget("x".repeat(300_000), "Diary"));
    for _ in 0..7 {
        home.items.push(widget("y".repeat(1000), "Short"));
    }
    let notes = report.notes.len();
    let kept = home.extras(&mut report).unwrap();
    assert_eq!(kept.matches("\"Short\"").count(), 7);
    assert!(!kept.contains("Diary") && kept.contains("\"clock\""));
    let note = &report.notes[notes].text;
    let named = "1 widget, the largest: \"notebook\" \"Diary\" with 300";
    assert!(note.starts_with(named), "{note}");
}

#[test]
fn a_section_with_a_title_is_one_also_around_another_one() {
    let board = "
        INSERT INTO \"board\" (\"id\", \"name\", \"column_count\") VALUES ('b', 'Home', 8);
        INSERT INTO \"section\" (\"id\", \"board_id\", \"kind\", \"x_offset\", \"y_offset\", \"width\", \"height\", \"name\",
            \"parent_section_id\") VALUES
            ('outer', 'b', 'category', 0, 0, NULL, NULL, 'Outer', NULL),
            ('inner', 'b', 'dynamic', 0, 1, 2, 2, 'Inner', 'outer');
        INSERT INTO \"item\" (\"id\", \"section_id\", \"kind\", \"x_offset\", \"y_offset\", \"width\", \"height\", \"options\") VALUES
            ('i1', 'outer', 'clock', 0, 0, 1, 1, '{\"json\": {}}'), ('i2', 'inner', 'clock', 0, 0, 1, 1, '{\"json\": {}}'),
            ('i3', 'outer', 'notebook', 0, 3, 1, 1, '{\"json\": {}}');";
    let homarr = Homarr::read_from(&database(&[SCHEMA_1_0, board])).unwrap();
    let dashboard = convert(&homarr, &surroundings(), &mut Report::default());
    let sections = dashboard.boards[0].shown_sections();
    let counts: Vec<_> = sections
        .iter()
        .map(|section| (section.name.as_deref(), section.items.len()))
        .collect();
    assert_eq!(counts, [(Some("Outer"), 2), (Some("Inner"), 1)]);
}
