//! Reading, converting and merging, on databases in memory with Homarr's schema.

use std::collections::HashMap;

use portico_model::{Issue, PathSegment, Provider};
use portico_storage::{BoardItem, ExtrasOf, ProviderSubject};
use rusqlite::Connection;

use crate::{
    Dashboard, Homarr, Kind, Present, Repair, Report, SUPPORTED, Surroundings, What, convert, document, merge,
};

const SCHEMA: &str = include_str!("../../../tests/fixtures/homarr/schema-0041.sql");
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
        "0041_add_right_click_preference"
    );
    assert_eq!(&everything().schema.migration[..4], "0041");
}

#[test]
fn items_stand_in_the_order_in_which_the_widest_layout_is_read() {
    let (dashboard, _) = dashboard();
    let home = &dashboard.boards[0];
    let app = |id: &str| BoardItem::App { app_id: id.into() };
    let bookmarks = BoardItem::Bookmarks {
        app_ids: vec!["appnas".into(), "appjellyfin".into()],
    };
    assert_eq!(
        home.shown(),
        [app("appjellyfin"), app("appnas"), bookmarks, app("apprel")]
    );
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
    assert_eq!(dashboard.boards[0].shown().len(), 3);
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
        !kept.contains("\"clock\"") && kept.contains("appjellyfin-here"),
        "{kept}"
    );
    assert!(
        report.notes[notes].text.starts_with("2 widgets"),
        "{:?}",
        report.notes[notes]
    );
    home.sections[0]["name"] = too_long.into();
    assert_eq!(home.extras(&mut report), None);
    assert!(report.notes[notes + 1].text.starts_with("its grid"));
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
