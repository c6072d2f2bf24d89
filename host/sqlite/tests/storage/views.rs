//! Whose view of the apps a function takes, where callers see only the apps on boards that they may view.

use portico_model::App;
use portico_storage::{AppFilter, BoardItem, Slice, Viewer};

use crate::store::{Store, app, board, shares, texts, user};

/// On which board an app is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    PublicItem,
    PublicBookmark,
    SharedItem,
    SharedBookmark,
    HiddenItem,
    HiddenBookmark,
    PublicAndHidden,
    Nowhere,
}

use Place::{
    HiddenBookmark, HiddenItem, Nowhere, PublicAndHidden, PublicBookmark, PublicItem, SharedBookmark,
    SharedItem,
};

const PLACES: [Place; 8] = [
    PublicItem,
    PublicBookmark,
    SharedItem,
    SharedBookmark,
    HiddenItem,
    HiddenBookmark,
    PublicAndHidden,
    Nowhere,
];

const PUBLIC: &[Place] = &[PublicItem, PublicBookmark, PublicAndHidden];
const SHARED: &[Place] = &[
    PublicItem,
    PublicBookmark,
    PublicAndHidden,
    SharedItem,
    SharedBookmark,
];
const ON_A_BOARD: &[Place] = &[
    PublicItem,
    PublicBookmark,
    PublicAndHidden,
    SharedItem,
    SharedBookmark,
    HiddenItem,
    HiddenBookmark,
];

/// What each viewer sees.
fn views() -> Vec<(Viewer, &'static [Place])> {
    let user = |id: &str| Viewer::User(id.into());
    vec![
        (Viewer::Everything, &PLACES),
        (Viewer::Anonymous, PUBLIC),
        (user("owner"), SHARED),
        (user("by user"), SHARED),
        (user("by group"), SHARED),
        (user("stranger"), PUBLIC),
        (user("deleted"), PUBLIC),
        (user("by permission"), ON_A_BOARD),
        (user("admin"), ON_A_BOARD),
    ]
}

struct Placed {
    app: App,
    place: Place,
}

/// Apps in the order of their names, more than a driver takes for few, in each place.
async fn fill(store: &Store) -> Vec<Placed> {
    let place = |number: usize| PLACES[number * 5 % PLACES.len()];
    let name = |number: usize| {
        let rare = if number.is_multiple_of(9) { "rare " } else { "" };
        format!("{number:03} common {rare}name")
    };
    let apps: Vec<_> = (0..640)
        .map(|number| app(&format!("a{number}"), &name(number)))
        .collect();
    let placed = apps.iter().enumerate().map(|(number, stored)| Placed {
        app: stored.app.clone(),
        place: place(number),
    });
    let placed: Vec<_> = placed.collect();

    let ids = |wanted: &[Place]| {
        let there = placed.iter().filter(|placed| wanted.contains(&placed.place));
        there.map(|placed| placed.app.id.clone()).collect::<Vec<_>>()
    };
    let items = |wanted: &[Place], bookmarks: &[Place]| {
        let items = ids(wanted).into_iter().map(|app_id| BoardItem::App { app_id });
        let bookmarks = BoardItem::Bookmarks {
            app_ids: ids(bookmarks),
        };
        items.chain([bookmarks]).collect::<Vec<_>>()
    };
    let mut public = board(
        "public",
        None,
        items(&[PublicItem, PublicAndHidden], &[PublicBookmark]),
    );
    public.board.is_public = true;
    let shared = board("shared", Some("owner"), items(&[SharedItem], &[SharedBookmark]));
    let hidden = board(
        "hidden",
        None,
        items(&[HiddenItem, PublicAndHidden], &[HiddenBookmark, HiddenBookmark]),
    );

    let mut writer = store.write().await;
    writer.insert_apps(&apps).await.unwrap();
    for id in [
        "owner",
        "by user",
        "by group",
        "stranger",
        "by permission",
        "admin",
    ] {
        writer.insert_user(&user(id, id)).await.unwrap();
    }
    for (group, permission, member) in [
        ("sharers", "app-look", "by group"),
        ("viewers", "board-view-all", "by permission"),
        ("administrators", "admin", "admin"),
        ("others", "board-create", "stranger"),
    ] {
        assert!(writer.insert_group(group, group, group).await.unwrap());
        let permissions = texts(&[permission]);
        assert!(writer.set_group_permissions(group, &permissions).await.unwrap());
        assert!(writer.add_to_group(member, group).await.unwrap());
    }
    for board in [&public, &shared, &hidden] {
        assert!(writer.insert_board(board, &board.board.id).await.unwrap());
    }
    let shares = shares(&["by user"], &["sharers"]);
    assert!(writer.share_board("shared", &shares).await.unwrap());
    writer.commit().await.unwrap();
    placed
}

const TEXTS: [Option<&str>; 8] = [
    None,
    Some(""),
    // In all names.
    Some("common"),
    // In few.
    Some("rare"),
    Some("018 common rare"),
    // Shorter than three characters.
    Some("8"),
    Some("nothing"),
    Some("%"),
];

const SLICES: [Slice; 8] = [
    Slice::ALL,
    Slice::first(10),
    Slice::first(0),
    Slice::first(u32::MAX),
    slice(3, Some(5)),
    slice(3, None),
    slice(95, Some(10)),
    slice(u32::MAX, Some(10)),
];

const fn slice(offset: u32, limit: Option<u32>) -> Slice {
    Slice { offset, limit }
}

/// Asserts that every function shows exactly these apps, which are in the order of their names, to a viewer.
async fn assert_shown(store: &Store, viewer: &Viewer, placed: &[Placed], is_shown: impl Fn(Place) -> bool) {
    let shown: Vec<_> = placed.iter().filter(|placed| is_shown(placed.place)).collect();
    let mut reader = store.read().await;
    for contains in TEXTS {
        let filter = AppFilter {
            viewer: viewer.clone(),
            name_contains: contains.map(Into::into),
        };
        let hits = shown.iter().map(|placed| &placed.app);
        let hits: Vec<_> = hits
            .filter(|app| app.name.contains(contains.unwrap_or_default()))
            .cloned()
            .collect();
        // Before it was counted, and after.
        for is_counted in [false, true] {
            for slice in SLICES {
                if is_counted {
                    let count = reader.count_apps(&filter).await.unwrap();
                    assert_eq!(count as usize, hits.len(), "{filter:?}");
                }
                let limit = slice.limit.unwrap_or(u32::MAX) as usize;
                let page: Vec<_> = hits.iter().skip(slice.offset as usize).take(limit).collect();
                let found = reader.list_apps(&filter, slice).await.unwrap();
                assert_eq!(found.iter().collect::<Vec<_>>(), page, "{filter:?} {slice:?}");
            }
        }
    }
    for placed in &placed[..PLACES.len()] {
        let expected = Some(&placed.app).filter(|_| is_shown(placed.place));
        let found = reader.get_app(&placed.app.id, viewer).await.unwrap();
        assert_eq!(found.as_ref(), expected, "{viewer:?} {:?}", placed.place);
    }
    assert_eq!(reader.get_app("missing", viewer).await.unwrap(), None);
    for asked in [&placed[..0], &placed[..3], placed] {
        let mut ids: Vec<_> = asked.iter().map(|placed| placed.app.id.clone()).collect();
        ids.extend(texts(&["missing", ""]));
        ids.extend(ids.first().cloned());
        let mut found = reader.get_apps(&ids, viewer).await.unwrap();
        found.sort_by(|app, other| app.name.cmp(&other.name));
        let expected = asked.iter().filter(|placed| is_shown(placed.place));
        let expected: Vec<_> = expected.map(|placed| placed.app.clone()).collect();
        assert_eq!(found, expected, "{viewer:?} {}", asked.len());
    }
}

pub async fn callers_see_the_apps_on_the_boards_that_they_may_view(store: &Store) {
    let store = store.another_by_board().await;
    let placed = fill(&store).await;
    for (viewer, places) in views() {
        assert_shown(&store, &viewer, &placed, |place| places.contains(&place)).await;
    }
}
