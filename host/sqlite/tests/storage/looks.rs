//! What the dashboard looks like, and pictures: what uses one, and what goes.

use portico_storage::{
    AppVisibility, Constraint, Density, Error, ExtrasOf, Looks, NewPicture, Picture, PictureCount,
    SearchEngine,
};

use crate::store::{Store, app, board, user};

fn picture(id: &str, uploader: Option<&str>, uploaded_at: u64) -> NewPicture {
    NewPicture {
        id: id.into(),
        picture: Picture {
            content_type: "image/png".into(),
            bytes: id.as_bytes().to_vec(),
        },
        uploader_id: uploader.map(Into::into),
        uploaded_at,
    }
}

/// Pictures that ann has uploaded, at these moments.
async fn fill(store: &Store, pictures: &[(&str, u64)]) {
    let mut writer = store.write().await;
    writer.insert_user(&user("ann", "ann")).await.unwrap();
    for (id, uploaded_at) in pictures {
        let picture = picture(id, Some("ann"), *uploaded_at);
        assert!(writer.put_picture(&picture).await.unwrap(), "{id}");
    }
    writer.commit().await.unwrap();
}

pub async fn looks_read_back_as_they_were_set(store: &Store) {
    assert_eq!(store.read().await.get_looks().await.unwrap(), Looks::default());
    fill(store, &[("logo", 1), ("wall", 1)]).await;
    let mut writer = store.write().await;
    assert!(
        writer
            .insert_board(&board("hall", None, vec![]), "hall")
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let all = Looks {
        name: Some("Casa Ü".into()),
        logo: Some("logo".into()),
        accent_color: Some("#1a2b3c".into()),
        wallpaper: Some("wall".into()),
        density: Density::Icons,
        columns: Some(7),
        wide_screens: false,
        app_visibility: AppVisibility::Boards,
        start_board: Some("hall".into()),
        ping_allow: vec!["10.0.0.0/8".into(), "*.lan".into()],
    };
    for looks in [&all, &Looks::default(), &all] {
        let mut writer = store.write().await;
        writer.set_looks(looks).await.unwrap();
        assert_eq!(writer.get_looks().await.unwrap(), *looks);
        writer.commit().await.unwrap();
        assert_eq!(store.read().await.get_looks().await.unwrap(), *looks);
    }
    for missing in [
        Looks {
            wallpaper: Some("gone".into()),
            ..all.clone()
        },
        Looks {
            start_board: Some("gone".into()),
            ..all.clone()
        },
    ] {
        let refused = store.write().await.set_looks(&missing).await;
        assert!(
            matches!(refused, Err(Error::Constraint(Constraint::Reference))),
            "{refused:?}"
        );
    }
    // It goes with its board.
    let mut writer = store.write().await;
    assert!(writer.delete_board("hall").await.unwrap());
    let without = Looks {
        start_board: None,
        ..all
    };
    assert_eq!(writer.get_looks().await.unwrap(), without);
}

pub async fn a_picture_is_stored_once_and_outlives_who_uploaded_it(store: &Store) {
    fill(store, &[("p", 1)]).await;
    let mut writer = store.write().await;
    writer.insert_user(&user("bob", "bob")).await.unwrap();
    assert!(!writer.put_picture(&picture("p", Some("bob"), 9)).await.unwrap());
    // It counts as uploaded now, and still as ann's.
    assert_eq!(writer.remove_unused_pictures(9).await.unwrap(), 0);
    assert_eq!(writer.count_unused_pictures("ann").await.unwrap().pictures, 1);
    assert_eq!(writer.count_unused_pictures("bob").await.unwrap().pictures, 0);
    assert!(writer.delete_user("ann").await.unwrap());
    writer.commit().await.unwrap();

    let mut reader = store.read().await;
    let found = reader.get_picture("p").await.unwrap();
    assert_eq!(found, Some(picture("p", None, 0).picture));
    assert_eq!(reader.get_picture_size("p").await.unwrap(), Some(1));
    assert_eq!(reader.get_picture_size("q\0").await.unwrap(), None);
    assert_eq!(reader.get_picture("q").await.unwrap(), None);
    assert_eq!(
        reader.count_unused_pictures("ann").await.unwrap(),
        PictureCount::default()
    );
}

pub async fn a_picture_that_the_extras_of_a_board_name_stays_with_the_board(store: &Store) {
    let [used, replaced] = ["a".repeat(64), "b".repeat(64)];
    fill(store, &[(used.as_str(), 1), (replaced.as_str(), 1)]).await;
    let mut writer = store.write().await;
    assert!(
        writer
            .insert_board(&board("board", None, vec![]), "board")
            .await
            .unwrap()
    );
    let of = ExtrasOf::Board("board".into());
    for (id, also) in [(&replaced, ""), (&used, "/api/pictures/short")] {
        let extras = format!("{{\"logoImageUrl\":\"/api/pictures/{id}\",\"x\":\"{also}\"}}");
        assert!(writer.set_extras(&of, Some(&extras)).await.unwrap());
    }
    assert_eq!(writer.remove_unused_pictures(9).await.unwrap(), 1);
    assert!(writer.get_picture_size(&used).await.unwrap().is_some());
    assert!(writer.delete_board("board").await.unwrap());
    assert_eq!(writer.remove_unused_pictures(9).await.unwrap(), 1);
    writer.commit().await.unwrap();
}

pub async fn pictures_that_nothing_uses_go_and_no_others(store: &Store) {
    let ids = ["logo", "wall", "app", "engine", "old", "new"];
    fill(store, &ids.map(|id| (id, if id == "new" { 10 } else { 1 }))).await;
    let mut writer = store.write().await;
    let looks = Looks {
        logo: Some("logo".into()),
        wallpaper: Some("wall".into()),
        ..Looks::default()
    };
    writer.set_looks(&looks).await.unwrap();
    let mut uses = app("a", "Uses");
    uses.app.icon_url = "/api/pictures/app".into();
    writer.insert_apps(&[uses]).await.unwrap();
    let mut without = app("b", "Does not");
    without.app.icon_url = "https://x.example/api/pictures/old".into();
    writer.insert_apps(&[without]).await.unwrap();
    let engine = SearchEngine {
        id: "e".into(),
        name: "e".into(),
        short: "e".into(),
        url_template: "http://x/%s".into(),
        icon_url: "/api/pictures/engine".into(),
        description: None,
    };
    assert!(writer.insert_search_engine(&engine, "e", "e").await.unwrap());
    let all = PictureCount {
        pictures: 6,
        bytes: ids.concat().len() as u64,
    };
    assert_eq!(writer.count_pictures().await.unwrap(), all);
    let unused = PictureCount {
        pictures: 2,
        bytes: 6,
    };
    assert_eq!(writer.count_unused_pictures("ann").await.unwrap(), unused);
    assert_eq!(writer.remove_unused_pictures(10).await.unwrap(), 1);
    writer.commit().await.unwrap();

    let mut writer = store.write().await;
    for id in ids {
        let size = writer.get_picture_size(id).await.unwrap();
        assert_eq!(size.is_some(), id != "old", "{id}");
    }
    // What used them is gone.
    writer.set_looks(&Looks::default()).await.unwrap();
    assert!(writer.delete_app("a").await.unwrap());
    assert!(writer.delete_search_engine("e").await.unwrap());
    assert_eq!(writer.remove_unused_pictures(11).await.unwrap(), 5);
    writer.commit().await.unwrap();
    let left = store.read().await.count_pictures().await.unwrap();
    assert_eq!(left, PictureCount::default());
}
