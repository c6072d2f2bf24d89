//! Reading, converting and merging, on databases in memory with Homarr's schema.

mod boards;

use std::collections::HashMap;

use portico_model::{Issue, PathSegment, Provider};
use portico_storage::{BoardItem, ProviderSubject, Size};
use rusqlite::Connection;

use crate::{
    Dashboard, Homarr, Kind, Present, Repair, Report, SUPPORTED, Surroundings, What, convert, document, merge,
};

const SCHEMA: &str = include_str!("../../../tests/fixtures/homarr/schema-0041.sql");
const SCHEMA_1_0: &str = include_str!("../../../tests/fixtures/homarr/schema-0020.sql");
const STEPS_2: &str = include_str!("../../../tests/fixtures/homarr/steps-2.sql");
const HOUSEHOLD_2: &str = include_str!("../../../tests/fixtures/homarr/household-2.sql");
const EVERYTHING: &str = include_str!("../../../tests/fixtures/homarr/everything.sql");

fn everything() -> Homarr {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(SCHEMA).unwrap();
    db.execute_batch(EVERYTHING).unwrap();
    Homarr::read_from(&db).unwrap()
}

fn surroundings() -> Surroundings {
    Surroundings {
        now: 1_800_000_000_000,
        issuer: Some("https://id.example".into()),
        public_url: None,
    }
}

fn dashboard() -> (Dashboard, Report) {
    let mut report = Report::default();
    let dashboard = convert(&everything(), &surroundings(), &mut report);
    (dashboard, report)
}

/// The keys of names, computed in a simple way.
fn keys(dashboard: &Dashboard) -> HashMap<String, String> {
    let names = dashboard.names().into_iter();
    names
        .map(|name| (name.trim().to_owned(), name.trim().to_lowercase()))
        .collect()
}

#[test]
fn every_supported_schema_names_a_commit() {
    for schema in &SUPPORTED {
        assert_eq!(schema.commit.len(), 40, "{}", schema.migration);
        assert!(
            schema.commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{}",
            schema.migration
        );
    }
    assert_eq!(
        SUPPORTED.last().unwrap().migration,
        "0048_add_fixed_board_scaling"
    );
    assert_eq!(&everything().identified.schema.migration[..4], "0041");
}

#[test]
fn a_person_at_the_issuer_is_the_issuer_and_the_subject() {
    let (dashboard, _) = dashboard();
    let carol = dashboard
        .users
        .iter()
        .find(|user| user.user.id == "usercarol")
        .unwrap();
    let subject = ProviderSubject {
        provider: Provider::Oidc,
        subject: "https://id.example subject-of-carol".into(),
    };
    assert_eq!(carol.subjects, [subject]);
}

#[test]
fn no_reference_leads_to_a_record_that_does_not_come_along() {
    let (mut dashboard, mut report) = dashboard();
    dashboard.users.retain(|user| user.user.id != "userada");
    dashboard.apps.retain(|app| app.id != "appnas");
    dashboard.groups.clear();
    dashboard.drop_dangling(&mut report);
    assert!(dashboard.keys.iter().all(|key| key.user_id != "userada"));
    assert_eq!(dashboard.boards[0].board.creator_id, None);
    assert_eq!(dashboard.boards[0].shown().len(), 5);
    assert_eq!(dashboard.invites[0].creator_id, None);
    assert!(dashboard.memberships.is_empty());
    let lost = |kind, text: &str| {
        let mut notes = report.notes.iter();
        notes.any(|note| note.kind == kind && note.text.starts_with(text))
    };
    assert!(lost(Kind::Group, "2 memberships in this group"));
    assert!(lost(Kind::Board, "its creator"));
    assert!(lost(Kind::Board, "2 places of apps"));
    assert!(lost(Kind::Board, "1 share with groups"));
    assert!(lost(Kind::Invite, "its creator"));
}

#[test]
fn a_field_is_repaired_once_and_then_its_record_is_left_out() {
    let (mut dashboard, mut report) = dashboard();
    let position = dashboard
        .users
        .iter()
        .position(|user| user.user.id == "userbo")
        .unwrap();
    let issue = Issue {
        path: vec![
            PathSegment::Field("users".into()),
            PathSegment::Index(position as u32),
            PathSegment::Field("name".into()),
        ],
        message: "must have at least 3 characters, got 2".into(),
    };
    let count = dashboard.users.len();
    let mut repair = Repair::default();
    repair
        .repair(&mut dashboard, std::slice::from_ref(&issue), &mut report)
        .unwrap();
    assert_eq!(dashboard.users[position].user.name, "bo-user");
    repair.repair(&mut dashboard, &[issue], &mut report).unwrap();
    assert_eq!(dashboard.users.len(), count - 1);
    assert_eq!(report.notes.last().unwrap().what, What::LeftOut);
    assert_eq!(report.notes.last().unwrap().name, "bo-user");
}

#[test]
fn an_issue_of_no_imported_record_ends_the_import() {
    let (mut dashboard, mut report) = dashboard();
    let at = |index: usize| Issue {
        path: vec![
            PathSegment::Field("groups".into()),
            PathSegment::Index(index as u32),
            PathSegment::Field("name".into()),
        ],
        message: "is taken".into(),
    };
    // The administrator of the document comes after the groups.
    let groups = document(&dashboard)["groups"].as_array().unwrap().len();
    let refused = Repair::default().repair(&mut dashboard, &[at(groups - 1)], &mut report);
    assert!(refused.unwrap_err().to_string().contains("unexpected reason"));
}

#[test]
fn a_record_is_found_by_id_then_by_person_then_by_name() {
    let (dashboard, mut report) = dashboard();
    let keys = keys(&dashboard);
    let carol = ProviderSubject {
        provider: Provider::Oidc,
        subject: "https://id.example subject-of-carol".into(),
    };
    let present = Present {
        users: vec![
            ("userada".into(), Provider::Credentials, "renamed".into()),
            ("other".into(), Provider::Credentials, "bob".into()),
            ("person".into(), Provider::Oidc, "caroline".into()),
            ("elsewhere".into(), Provider::Oidc, "dave".into()),
        ],
        subjects: [(carol, "person".to_owned())].into(),
        groups: vec![("groupfamily".into(), "kin".into())],
        ..Present::default()
    };
    let plan = merge(dashboard, &present, &keys, &mut report);
    let count = report.counts[&Kind::User];
    assert_eq!((count.present, count.joined, count.created), (1, 2, 4));
    let new: Vec<&str> = plan.new.users.iter().map(|user| &user.user.id[..]).collect();
    // The same name at another provider is another user.
    assert!(new.contains(&"userdave") && !new.contains(&"userbob"), "{new:?}");
    // Neither end of carol's membership in Family is new.
    let pair = |user: &str, group: &str| (user.to_owned(), group.to_owned());
    assert!(plan.memberships.contains(&pair("other", "groupeveryone")));
    assert!(
        !plan.memberships.contains(&pair("person", "groupfamily")),
        "{:?}",
        plan.memberships
    );
    // Something was imported before, so a key that is not there may have been deleted since.
    assert!(plan.new.keys.is_empty());
}

#[test]
fn keys_of_joined_users_come_along_the_first_time_unless_the_user_is_disabled() {
    let users = vec![("other".to_owned(), Provider::Credentials, "bob".to_owned())];
    let first = |disabled: &[&str]| {
        let (dashboard, mut report) = dashboard();
        let keys = keys(&dashboard);
        let present = Present {
            users: users.clone(),
            disabled: disabled.iter().map(|id| (*id).to_owned()).collect(),
            ..Present::default()
        };
        merge(dashboard, &present, &keys, &mut report)
    };
    let is_of_other = |plan: &crate::Plan| plan.new.keys.iter().any(|key| key.user_id == "other");
    assert!(is_of_other(&first(&[])));
    assert!(!is_of_other(&first(&["other"])));
}

/// A database in memory with these statements.
fn database(sql: &[&str]) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    for sql in sql {
        db.execute_batch(sql).unwrap();
    }
    db
}

/// Inserts a row into every table, with a value in every column, so that nothing is skipped for being empty.
fn fill_every_table(db: &Connection) {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '__drizzle_migrations'";
    let mut statement = db.prepare(sql).unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for table in tables {
        let columns = db.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let count = columns.column_names().len();
        let types: Vec<String> = db
            .prepare("SELECT type FROM pragma_table_info(?1)")
            .unwrap()
            .query_map([&table], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(types.len(), count);
        let values = types.iter().map(|kind| match kind.to_uppercase().as_str() {
            "INTEGER" => "1",
            "BLOB" => "x'00'",
            _ => "'x'",
        });
        let values: Vec<_> = values.collect();
        let sql = format!("INSERT INTO \"{table}\" VALUES ({})", values.join(", "));
        db.execute_batch(&sql).unwrap();
    }
}

#[test]
fn every_column_of_the_newest_schema_is_read_or_listed() {
    let db = database(&[SCHEMA, STEPS_2]);
    fill_every_table(&db);
    let homarr = Homarr::read_from(&db).unwrap();
    assert_eq!(homarr.unread.newer, [""; 0]);
    assert_eq!(homarr.identified.newer, 0);
    assert!(homarr.unread.left_out.len() > 20, "{:?}", homarr.unread.left_out);

    // A column and a table more are named.
    db.execute_batch(
        "ALTER TABLE \"user\" ADD \"mood\" TEXT DEFAULT 'fine';
        CREATE TABLE \"uptime\" (\"id\" TEXT); INSERT INTO \"uptime\" VALUES ('a'), ('b');
        CREATE TABLE \"empty\" (\"id\" TEXT);
        CREATE VIEW \"view\" AS SELECT 1;
        INSERT INTO \"__drizzle_migrations\" (\"hash\", \"created_at\") VALUES ('', 1900000000000)",
    )
    .unwrap();
    let homarr = Homarr::read_from(&db).unwrap();
    assert_eq!(
        homarr.unread.newer,
        ["2 rows of the table \"uptime\"", "the column \"mood\" of user"]
    );
    assert_eq!(homarr.identified.newer, 1);
    let mut report = Report::default();
    convert(&homarr, &surroundings(), &mut report);
    for text in [
        "what is new in 1 migration after 0048_add_fixed_board_scaling",
        "2 rows of the table \"uptime\", which is newer than this portico knows",
    ] {
        assert!(
            report.notes.iter().any(|note| note.text.starts_with(text)),
            "{text}"
        );
    }
}

#[test]
fn every_column_of_the_first_schema_is_read_or_listed() {
    let db = database(&[SCHEMA_1_0]);
    fill_every_table(&db);
    let homarr = Homarr::read_from(&db).unwrap();
    assert_eq!(homarr.unread.newer, [""; 0]);
    assert_eq!(homarr.identified.schema.migration, "0020_empty_hellfire_club");
}

#[test]
fn a_file_with_very_many_unknown_tables_has_a_short_report_or_is_refused() {
    let db = database(&[SCHEMA]);
    let more = |from: usize, to: usize| -> String {
        (from..to)
            .map(|number| {
                format!("CREATE TABLE \"t{number}\"\"x\" (a); INSERT INTO \"t{number}\"\"x\" VALUES (1);")
            })
            .collect()
    };
    db.execute_batch(&more(0, 300)).unwrap();
    let homarr = Homarr::read_from(&db).unwrap();
    assert_eq!(homarr.unread.newer.len(), 101);
    assert_eq!(homarr.unread.newer[100], "200 more tables and columns");
    db.execute_batch(&more(300, 600)).unwrap();
    let refused = Homarr::read_from(&db).unwrap_err().to_string();
    assert!(refused.contains("more than 500 tables"), "{refused}");
}

#[test]
fn a_journal_that_begins_with_homarr_1_is_accepted_and_one_with_a_gap_is_not() {
    let db = database(&[SCHEMA, STEPS_2]);
    let at = |moment: i64| format!("DELETE FROM __drizzle_migrations WHERE created_at = {moment}");
    // A branch of Homarr 2 without the step of this moment.
    db.execute_batch(&at(1_787_556_956_665)).unwrap();
    let identified = Homarr::read_from(&db).unwrap().identified;
    assert_eq!(identified.schema.migration, "0045_add_assistant_tables");
    assert_eq!(identified.newer, 2);
    db.execute_batch(&at(1_783_176_100_870)).unwrap();
    let refused = Homarr::read_from(&db).unwrap_err().to_string();
    assert!(refused.contains("some of them are not Homarr's"), "{refused}");
}

#[test]
fn what_homarr_2_adds_comes_along() {
    let homarr = Homarr::read_from(&database(&[SCHEMA, STEPS_2, HOUSEHOLD_2])).unwrap();
    let mut report = Report::default();
    let surroundings = Surroundings {
        public_url: Some("https://home.example".into()),
        ..surroundings()
    };
    let dashboard = convert(&homarr, &surroundings, &mut report);
    let ann = &dashboard.users[0];
    assert_eq!(ann.preferences["byteUnitSystem"], "binary");
    assert_eq!(ann.preferences["headerPreferences"]["visible"], false);
    let board = &dashboard.boards[0];
    assert_eq!(board.layouts[0]["leftGutterColumnCount"], 2);
    assert_eq!(board.layouts[0]["role"], "desktop");
    assert_eq!(board.looks["fixedItemSize"], 160);
    assert_eq!(board.sections[1]["xOffset"], -1);
    // The rail on the left is read before the main part.
    let app = |id: &str| BoardItem::App { app_id: id.into() };
    let note = BoardItem::Note { text: "Milk".into() };
    assert_eq!(board.shown(), [app("approuter"), note, app("appnas")]);
    let sections = board.shown_sections();
    let names: Vec<_> = sections.iter().map(|section| section.name.as_deref()).collect();
    assert_eq!(names, [None, Some("Media"), Some("Later")]);
    // As wide as the gutter, and as the part between the gutters.
    let sizes: Vec<Size> = sections[0].items.iter().map(|item| item.size).collect();
    assert_eq!(sizes, [Size::Broad, Size::Wide]);
    assert_eq!(sections[2].items, []);
    let later = &board.sections[3];
    assert_eq!(
        (&later["kind"], &later["options"]["title"]),
        (&"container".into(), &"Later".into())
    );
    assert_eq!(later["layouts"][0]["parentSectionId"], "rootmain");
    assert_eq!(board.looks["opacity"], 99.5);
    // Pictures in notebooks and CSS.
    let note = board.items[1].kept["options"]["content"].as_str().unwrap();
    assert!(note.contains("Milk <img src=\"/api/pictures/"), "{note}");
    let css = board.looks["customCss"].as_str().unwrap();
    assert!(css.contains("url(/api/pictures/"), "{css}");
    assert_eq!(dashboard.used_pictures().count(), 2);
    let router = &dashboard.apps[0];
    assert_eq!(router.href.as_deref(), Some("https://home.example/router"));
    assert_eq!(router.icon_url, "data:image/png;base64,iVBORw==");
    assert_eq!(dashboard.apps[1].icon_url, "");
    assert_eq!(dashboard.branding.name.as_deref(), Some(" Casa Ann "));
    assert_eq!(dashboard.branding.accent_color.as_deref(), Some("#0D47A1"));
    assert!(
        dashboard
            .pictures
            .contains_key(&dashboard.branding.logo.expect("a logo"))
    );
    let ids: Vec<&str> = dashboard.keys.iter().map(|key| &key.id[..]).collect();
    assert_eq!(ids, ["halos-bootstrap", "okid1", "okid2"]);
    for text in [
        "its owner \"Ann\"",
        "of the branding: its greeting",
        "its icon, the uploaded file \"gone\", is not there",
        "1 uploaded file, which nothing shows",
        "1 row of conversations with the assistant",
        "1 row of secrets of custom widgets",
        "its id has a dot or a space",
    ] {
        assert!(
            report.notes.iter().any(|note| note.text.contains(text)),
            "{text} is not in {:?}",
            report.notes
        );
    }
}

#[test]
fn notes_of_a_board_that_is_joined_do_not_claim_its_widgets() {
    let (mut dashboard, mut report) = dashboard();
    let keys = keys(&dashboard);
    let about = |report: &Report, words: &str| {
        let notes = report.notes.iter();
        notes
            .filter(|note| note.name == "Home" && note.text.contains(words))
            .count()
    };
    // Also not what follows from a user who is left out.
    for board in &mut dashboard.boards {
        board.board.creator_id = Some("userdave".into());
    }
    assert_eq!(about(&report, "its grid"), 1);
    let lost = report.counts[&Kind::Board].lost;
    let present = Present {
        boards: vec![("here".into(), "home".into())],
        users: vec![("person".into(), Provider::Ldap, "dave".into())],
        linked: ["person".to_owned()].into(),
        ..Present::default()
    };
    merge(dashboard, &present, &keys, &mut report);
    let creators = report
        .notes
        .iter()
        .filter(|note| note.text.starts_with("its creator"));
    let creators: Vec<&str> = creators.map(|note| &note.name[..]).collect();
    assert!(
        creators.contains(&"Lab") && !creators.contains(&"Home"),
        "{creators:?}"
    );
    assert_eq!(about(&report, "its grid"), 0);
    assert_eq!(about(&report, "a board of this name is here"), 1);
    assert!(report.counts[&Kind::Board].lost < lost);
}

#[test]
fn the_home_boards_are_those_that_homarr_shows() {
    let homes = |everyone: [&str; 2], server: [&str; 2]| {
        let value = |board: &str| match board {
            "" => "NULL".to_owned(),
            board => format!("'{board}'"),
        };
        let [home, mobile] = everyone.map(value);
        let [of_server, mobile_of_server] =
            server.map(|board| value(board).replace('\'', "\"").to_lowercase());
        let sql = format!(
            "INSERT INTO \"board\" (\"id\", \"name\", \"is_public\") VALUES
                ('a', 'A', 1), ('b', 'B', 1), ('m', 'M', 1), ('private', 'P', 0);
            INSERT INTO \"group\" (\"id\", \"name\", \"home_board_id\", \"mobile_home_board_id\", \"position\")
                VALUES ('e', 'everyone', {home}, {mobile}, -1);
            INSERT INTO \"serverSetting\" VALUES ('board',
                '{{\"json\": {{\"homeBoardId\": {of_server}, \"mobileHomeBoardId\": {mobile_of_server}}}}}');"
        );
        let homarr = Homarr::read_from(&database(&[SCHEMA, &sql])).unwrap();
        let mut report = Report::default();
        let dashboard = convert(&homarr, &surroundings(), &mut report);
        let of_all = dashboard.default_homes.first().map(|home| home.boards.clone());
        let of_all = of_all.unwrap_or_default();
        let lost = report
            .notes
            .iter()
            .filter(|note| note.text.starts_with("the home board of the server"));
        let text = |board: Option<String>| board.unwrap_or_default();
        let shown = [
            of_all.home_board_id,
            of_all.mobile_home_board_id,
            dashboard.start_board,
        ];
        (shown.map(text), lost.count())
    };
    let expected = |boards: [&str; 3], lost: usize| (boards.map(str::to_owned), lost);
    assert_eq!(homes(["", ""], ["b", "m"]), expected(["b", "m", ""], 0));
    // On phones, everyone's board for all screens comes before the server's for phones, which only visitors see.
    assert_eq!(homes(["a", ""], ["b", "m"]), expected(["a", "", "b"], 1));
    assert_eq!(homes(["a", ""], ["b", "b"]), expected(["a", "", "b"], 0));
    assert_eq!(homes(["a", ""], ["a", ""]), expected(["a", "", ""], 0));
    assert_eq!(homes(["a", ""], ["", "m"]), expected(["a", "", ""], 1));
    assert_eq!(homes(["", "m"], ["b", ""]), expected(["b", "m", ""], 0));
    assert_eq!(homes(["a", "m"], ["private", ""]), expected(["a", "m", ""], 1));
    assert_eq!(homes(["a", ""], ["gone", ""]), expected(["a", "", ""], 0));
}

#[test]
fn what_cannot_be_read_of_a_user_has_a_line() {
    let odd = "UPDATE \"user\" SET \"header_preferences\" = 'no json', \"color_scheme\" = 'sepia'";
    let homarr = Homarr::read_from(&database(&[SCHEMA, STEPS_2, HOUSEHOLD_2, odd])).unwrap();
    let mut report = Report::default();
    let dashboard = convert(&homarr, &surroundings(), &mut report);
    assert_eq!(dashboard.users[0].preferences.get("headerPreferences"), None);
    let told = |words: &str| {
        report
            .notes
            .iter()
            .any(|note| note.name == "Ann" && note.text.contains(words))
    };
    assert!(
        told("headerPreferences, which cannot be read"),
        "{:?}",
        report.notes
    );
    assert!(told("no such colour scheme as \"sepia\""), "{:?}", report.notes);
}
