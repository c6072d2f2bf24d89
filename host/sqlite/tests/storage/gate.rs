//! What is kept of apps for the gate, and the user with a pass.

use portico_storage::{AppGate, AppPlace, BoardItem, StoredApp, Viewer, hash_secret};

use crate::store::{Store, app, board, session, user};

fn gate(app_id: &str, addresses: &[&str], is_open: bool) -> AppGate {
    AppGate {
        app_id: app_id.into(),
        addresses: addresses.iter().map(|&address| address.into()).collect(),
        is_open,
    }
}

fn linked(id: &str, href: Option<&str>) -> StoredApp {
    let mut stored = app(id, id);
    stored.app.href = href.map(Into::into);
    stored
}

fn of(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.into()).collect()
}

pub async fn what_is_set_of_an_app_reads_back_and_goes_with_it(store: &Store) {
    let mut writer = store.write().await;
    let apps = [
        linked("a", Some("https://a.example")),
        linked("b", None),
        linked("c", None),
    ];
    writer.insert_apps(&apps).await.unwrap();
    writer.commit().await.unwrap();
    let both = gate("b", &["https://b.example/", "http://b.lan:80/x"], true);
    for wanted in [
        &both,
        &gate("b", &[], true),
        &gate("b", &["https://b.example/"], false),
        &both,
    ] {
        let mut writer = store.write().await;
        assert!(writer.set_app_gate(wanted).await.unwrap());
        writer.commit().await.unwrap();
        let mut reader = store.read().await;
        assert_eq!(reader.get_app_gate("b").await.unwrap().as_ref(), Some(wanted));
        assert_eq!(
            reader.list_app_gates().await.unwrap(),
            std::slice::from_ref(wanted)
        );
    }
    let mut writer = store.write().await;
    assert!(
        !writer
            .set_app_gate(&gate("missing", &["https://x.example/"], true))
            .await
            .unwrap()
    );
    assert!(!writer.set_app_gate(&gate("missing", &[], false)).await.unwrap());
    assert!(writer.set_app_gate(&gate("a", &[], false)).await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.get_app_gate("missing").await.unwrap(), None);
    assert_eq!(
        reader.get_app_gate("a").await.unwrap(),
        Some(gate("a", &[], false))
    );
    assert_eq!(
        reader.list_app_gates().await.unwrap(),
        std::slice::from_ref(&both)
    );
    let place = |app_id: &str, href: Option<&str>, addresses: &[String]| AppPlace {
        app_id: app_id.into(),
        href: href.map(Into::into),
        addresses: addresses.to_vec(),
    };
    let places = [
        place("a", Some("https://a.example"), &[]),
        place("b", None, &both.addresses),
    ];
    assert_eq!(reader.list_app_places().await.unwrap(), places);
    drop(reader);
    let mut writer = store.write().await;
    assert!(writer.delete_app("b").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(store.read().await.list_app_gates().await.unwrap(), []);
}

pub async fn an_app_is_found_by_who_sees_it_and_one_that_is_open_on_a_public_board(store: &Store) {
    let mut writer = store.write().await;
    writer
        .insert_apps(&[linked("a", None), linked("b", None), linked("c", None)])
        .await
        .unwrap();
    let item = |id: &str| BoardItem::App { app_id: id.into() };
    assert!(
        writer
            .insert_board(&board("p", None, vec![item("b")]), "p")
            .await
            .unwrap()
    );
    for id in ["a", "b"] {
        assert!(writer.set_app_gate(&gate(id, &[], true)).await.unwrap());
    }
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    let all = of(&["c", "b", "a", "missing", "\0"]);
    for (viewer, ids, found) in [
        (Viewer::Everything, &all, Some("a")),
        (Viewer::Everything, &of(&["c", "b"]), Some("b")),
        (Viewer::Everything, &of(&["missing"]), None),
        (Viewer::Everything, &of(&[]), None),
    ] {
        let seen = reader.find_seen_app(ids, &viewer).await.unwrap();
        assert_eq!(seen.as_deref(), found, "{ids:?}");
    }
    // A board of the tests is not public.
    assert_eq!(reader.find_open_app(&all).await.unwrap(), None);
    drop(reader);
    let mut writer = store.write().await;
    let mut public = board("p", None, vec![item("b"), item("c")]);
    public.board.is_public = true;
    assert!(writer.update_board(&public, "p").await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.find_open_app(&all).await.unwrap().as_deref(), Some("b"));
    assert_eq!(reader.find_open_app(&of(&["c", "a"])).await.unwrap(), None);
}

pub async fn a_pass_is_good_as_long_as_its_session_and_the_token_of_that(store: &Store) {
    let (pass, token) = (hash_secret("pass"), hash_secret("token"));
    let mut writer = store.write().await;
    for (id, name) in [("ann", "ann"), ("bob", "bob")] {
        let mut person = user(id, name);
        person.user.email = Some(format!("{id}@example.com"));
        person.user.email_verified = (id == "bob").then_some(1);
        writer.insert_user(&person).await.unwrap();
    }
    for (id, name, permission) in [("g1", "Family", "board-view-all"), ("g2", "admins too", "admin")] {
        assert!(writer.insert_group(id, name, name).await.unwrap());
        writer
            .set_group_permissions(id, &[permission.into()])
            .await
            .unwrap();
        writer.add_to_group("ann", id).await.unwrap();
    }
    writer
        .insert_session(&session("s", "ann", 9), &token)
        .await
        .unwrap();
    for (session, token, text, is_stored) in [
        ("missing", "token", "pass", false),
        ("s", "token", "earlier", true),
        ("s", "token", "pass", true),
        // A token that the session does not have, or no longer.
        ("s", "another token", "stolen", false),
    ] {
        let (token, pass) = (hash_secret(token), hash_secret(text));
        let stored = writer.put_gate_pass(session, &token, &pass).await.unwrap();
        assert_eq!(stored, is_stored, "{session} {text}");
    }
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(
        reader.find_gate_visitor(&hash_secret("earlier")).await.unwrap(),
        None
    );
    assert_eq!(reader.find_gate_visitor(&token).await.unwrap(), None);
    let visitor = reader.find_gate_visitor(&pass).await.unwrap().expect("ann");
    assert_eq!(
        (&*visitor.session_id, &*visitor.user_id, &*visitor.name),
        ("s", "ann", "ann")
    );
    assert_eq!(visitor.groups, of(&["Family", "admins too"]));
    assert_eq!(visitor.permissions, of(&["admin", "board-view-all"]));
    assert_eq!(visitor.expires_at, 9);
    assert!(!visitor.is_name_shared);
    assert_eq!(visitor.email, None, "she may have chosen another's");
    drop(reader);
    let (bobs_pass, bobs_token) = (hash_secret("bob's pass"), hash_secret("bob's token"));
    let mut writer = store.write().await;
    writer
        .insert_session(&session("b", "bob", 9), &bobs_token)
        .await
        .unwrap();
    assert!(writer.put_gate_pass("b", &bobs_token, &bobs_pass).await.unwrap());
    writer.commit().await.unwrap();
    let bob = store.read().await.find_gate_visitor(&bobs_pass).await.unwrap();
    assert_eq!(bob.expect("bob").email.as_deref(), Some("bob@example.com"));
    // Another user of this name, by another provider.
    let mut writer = store.write().await;
    let mut other = user("ann at work", "ann");
    other.user.provider = portico_model::Provider::Ldap;
    writer.insert_user(&other).await.unwrap();
    writer.commit().await.unwrap();
    let visitor = store.read().await.find_gate_visitor(&pass).await.unwrap();
    assert!(visitor.expect("ann").is_name_shared);
    // For that one, people who chose the name themselves do not count, unless they are administrators.
    let secrets_of = |name: &str| {
        (
            hash_secret(&format!("{name}'s pass")),
            hash_secret(&format!("{name}'s token")),
        )
    };
    let mut writer = store.write().await;
    let mut later = user("bob at work", "bob");
    later.user.provider = portico_model::Provider::Ldap;
    writer.insert_user(&later).await.unwrap();
    for id in ["ann at work", "bob at work"] {
        let (pass, token) = secrets_of(id);
        writer.insert_session(&session(id, id, 9), &token).await.unwrap();
        assert!(writer.put_gate_pass(id, &token, &pass).await.unwrap());
    }
    writer.commit().await.unwrap();
    for (id, is_shared) in [("ann at work", true), ("bob at work", false)] {
        let found = store
            .read()
            .await
            .find_gate_visitor(&secrets_of(id).0)
            .await
            .unwrap();
        assert_eq!(found.expect("a visitor").is_name_shared, is_shared, "{id}");
    }
    let bob = store.read().await.find_gate_visitor(&bobs_pass).await.unwrap();
    assert!(bob.expect("bob").is_name_shared);
    // Two who did not choose it.
    let mut writer = store.write().await;
    let mut third = user("bob of the issuer", "bob");
    third.user.provider = portico_model::Provider::Oidc;
    writer.insert_user(&third).await.unwrap();
    // An email counts if it is verified or the directory's: at an issuer people may have chosen it.
    let emails = [
        ("directory", portico_model::Provider::Ldap, None, true),
        ("chosen", portico_model::Provider::Oidc, None, false),
        ("verified", portico_model::Provider::Oidc, Some(1), true),
    ];
    for (id, provider, verified, _) in emails {
        let mut person = user(id, id);
        person.user.provider = provider;
        person.user.email = Some(format!("{id}@example.com"));
        person.user.email_verified = verified;
        writer.insert_user(&person).await.unwrap();
        let (pass, token) = secrets_of(id);
        writer.insert_session(&session(id, id, 9), &token).await.unwrap();
        assert!(writer.put_gate_pass(id, &token, &pass).await.unwrap());
    }
    writer.commit().await.unwrap();
    for (id, _, _, is_sent) in emails {
        let pass = secrets_of(id).0;
        let found = store.read().await.find_gate_visitor(&pass).await.unwrap();
        let email = is_sent.then(|| format!("{id}@example.com"));
        assert_eq!(found.expect("a visitor").email, email, "{id}");
    }
    let found = store
        .read()
        .await
        .find_gate_visitor(&secrets_of("bob at work").0)
        .await
        .unwrap();
    assert!(found.expect("a visitor").is_name_shared);
    // It ends with the session.
    let mut writer = store.write().await;
    assert!(writer.delete_session("s").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(store.read().await.find_gate_visitor(&pass).await.unwrap(), None);
    let mut writer = store.write().await;
    writer
        .insert_session(&session("s", "ann", 9), &token)
        .await
        .unwrap();
    writer.commit().await.unwrap();
    // A user who is disabled or deleted has no session.
    let mut writer = store.write().await;
    assert!(writer.put_gate_pass("s", &token, &pass).await.unwrap());
    assert!(writer.set_disabled("ann", true).await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(store.read().await.find_gate_visitor(&pass).await.unwrap(), None);
}
