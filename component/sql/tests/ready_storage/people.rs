//! `people` and the rules together: sessions, keys, groups and invites of a dashboard.

use std::sync::Arc;
use std::thread;

use portico_model::{AppInput, Caller, Error, ErrorCode, PasswordChange, Registration};

use crate::bindings::composed::exports::portico::sql::people::Credential;
use crate::databases::{Postgres, Sqlite};
use crate::gate::{Gate, Gated};
use crate::host::{Dashboard, Database, MINUTE, NEW_YEAR};
use crate::plugin::{PASSWORD, Plugin, account, anonymous, call};
use crate::postgresql::Postgresql;

const OTHER: &str = "another horse";

fn plugin() -> Plugin {
    Plugin::new(Dashboard::new(Arc::new(Sqlite::new())))
}

#[track_caller]
fn assert_code<T: std::fmt::Debug>(answer: Result<T, Error>, code: ErrorCode) {
    assert_eq!(answer.unwrap_err().code, code);
}

fn change_password(
    plugin: &Plugin,
    caller: &Caller,
    user_id: &str,
    old: &str,
    new: &str,
) -> Result<(), Error> {
    let change = PasswordChange {
        user_id: user_id.into(),
        previous_password: Some(old.into()),
        password: new.into(),
    };
    call!(
        plugin,
        portico_dashboard_users.call_change_password(caller, &change)
    )
}

#[test]
fn a_user_signs_in_works_and_signs_out() {
    let plugin = plugin();
    let id = plugin.init("ada");
    assert_code(plugin.sign_in("ada", OTHER), ErrorCode::Unauthorized);
    let session = plugin.sign_in("ADA", PASSWORD).unwrap();
    let authenticated = plugin.authenticate(&session.token).unwrap();
    let user = authenticated.caller.user.clone().unwrap();
    assert_eq!(
        (user.id, user.permissions),
        (id.clone(), vec!["admin".to_owned()])
    );
    assert!(matches!(&authenticated.credential, Credential::Session(of) if *of == session.id));

    let input = AppInput {
        name: "Jellyfin".into(),
        icon_url: "/j.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    };
    let app = call!(
        plugin,
        portico_dashboard_apps.call_create(&authenticated.caller, &input)
    )
    .unwrap();
    assert_code(
        call!(plugin, portico_dashboard_apps.call_create(&anonymous(), &input)),
        ErrorCode::Unauthorized,
    );
    plugin.dashboard.counts.take();
    let found = call!(plugin, portico_dashboard_apps.call_by_id(&anonymous(), &app.id)).unwrap();
    assert_eq!(found.name, "Jellyfin");
    assert_eq!(
        plugin.dashboard.counts.take(),
        [1, 0, 0],
        "a look-up is one call of the database"
    );
    plugin.authenticate(&session.token).unwrap();
    assert_eq!(plugin.dashboard.counts.take(), [1, 0, 0]);

    call!(plugin, portico_sql_people.call_end_session(&session.token)).unwrap();
    assert!(plugin.authenticate(&session.token).is_none());
    let sessions = call!(plugin, portico_sql_people.call_list_sessions(&id)).unwrap();
    assert!(sessions.is_empty());
}

#[test]
fn what_is_no_secret_costs_no_statement() {
    let plugin = plugin();
    plugin.dashboard.counts.take();
    let long = "x".repeat(1 << 20);
    for secret in ["", "portico_session_", "a.b", "\0", &long] {
        assert!(plugin.authenticate(secret).is_none());
    }
    assert_eq!(plugin.dashboard.counts.take(), [0, 0, 0]);
}

#[test]
fn a_session_lasts_as_long_as_it_is_used_and_no_longer_than_its_end() {
    let plugin = plugin();
    plugin.init("ada");
    let session = plugin.sign_in("ada", PASSWORD).unwrap();
    assert_eq!(session.ends_at, NEW_YEAR + 60 * MINUTE);
    let expires_at = || {
        plugin
            .authenticate(&session.token)
            .and_then(|found| found.expires_at)
    };
    assert_eq!(expires_at(), Some(NEW_YEAR + 10 * MINUTE));
    // Its use is noted once a minute; the answer is from before the note.
    for _ in 0..6 {
        plugin.dashboard.advance(9 * MINUTE);
        assert!(expires_at().is_some());
    }
    assert_eq!(expires_at(), Some(session.ends_at));
    plugin.dashboard.advance(6 * MINUTE - 1);
    assert!(expires_at().is_some());
    plugin.dashboard.advance(1);
    assert_eq!(expires_at(), None);

    let unused = plugin.sign_in("ada", PASSWORD).unwrap();
    plugin.dashboard.advance(10 * MINUTE);
    assert!(plugin.authenticate(&unused.token).is_none());
}

#[test]
fn a_changed_password_ends_other_sessions_and_gives_this_one_another_token() {
    let plugin = plugin();
    let id = plugin.init("ada");
    let [here, elsewhere] = [(); 2].map(|()| plugin.sign_in("ada", PASSWORD).unwrap());
    let key = call!(plugin, portico_sql_people.call_create_key(&id, Some("script"))).unwrap();
    let caller = plugin.authenticate(&here.token).unwrap().caller;

    let renewal = call_renew(&plugin, &caller);
    assert_code(
        change_password(&plugin, &renewal.0, &id, "wrong", OTHER),
        ErrorCode::Forbidden,
    );
    assert!(plugin.authenticate(&here.token).is_some() && plugin.authenticate(&renewal.1).is_none());

    change_password(&plugin, &renewal.0, &id, PASSWORD, OTHER).unwrap();
    let renewed = plugin
        .authenticate(&renewal.1)
        .expect("the session with its new token");
    assert!(matches!(renewed.credential, Credential::Session(id) if id == here.id));
    for token in [&here.token, &elsewhere.token] {
        assert!(plugin.authenticate(token).is_none());
    }
    // Who changes their own password keeps their keys.
    assert!(plugin.authenticate(&key.key).is_some());
    assert_code(plugin.sign_in("ada", PASSWORD), ErrorCode::Unauthorized);
    plugin.sign_in("ada", OTHER).unwrap();
}

fn call_renew(plugin: &Plugin, caller: &Caller) -> (Caller, String) {
    let renewal = call!(plugin, portico_sql_people.call_renew_with_password(caller));
    (renewal.caller, renewal.token)
}

#[test]
fn a_password_that_an_administrator_sets_ends_sessions_and_keys() {
    let plugin = plugin();
    let admin = plugin.init("ada");
    let admin = call!(plugin, portico_sql_people.call_caller_of(&admin))
        .unwrap()
        .unwrap();
    let bob = call!(
        plugin,
        portico_dashboard_users.call_create(&admin, &account("bob"), &[])
    )
    .unwrap();
    let session = plugin.sign_in("bob", PASSWORD).unwrap();
    let key = call!(plugin, portico_sql_people.call_create_key(&bob, None)).unwrap();
    change_password(&plugin, &admin, &bob, "", OTHER).unwrap();
    assert!(plugin.authenticate(&session.token).is_none() && plugin.authenticate(&key.key).is_none());
}

/// Two sign-ins have checked the old password, and begin their sessions while the change is open.
fn assert_no_session_outlives_a_change(database: impl Database + 'static) {
    let gate = Gate::new();
    let database = Gated {
        database,
        gate: gate.clone(),
    };
    let plugin = Plugin::new(Dashboard::new(Arc::new(database)));
    let id = plugin.init("ada");
    let caller = call!(plugin, portico_sql_people.call_caller_of(&id))
        .unwrap()
        .unwrap();
    let before = plugin.sign_in("ada", PASSWORD).unwrap();
    let signed_in = call!(
        plugin,
        portico_dashboard_sign_in.call_password(&String::new(), "ada", PASSWORD)
    )
    .unwrap();
    let begin = || {
        call!(
            plugin,
            portico_sql_people.call_begin_session(&signed_in.id, signed_in.password_version)
        )
    };
    gate.hold_next_commit();
    let begun = thread::scope(|scope| {
        let changing = scope.spawn(|| change_password(&plugin, &caller, &id, PASSWORD, OTHER));
        gate.wait_until_held(0);
        let begun = [scope.spawn(begin), scope.spawn(begin)];
        gate.wait_until_held(begun.len());
        gate.release();
        changing.join().unwrap().unwrap();
        begun.map(|begun| begun.join().unwrap())
    });
    for begun in begun {
        assert_code(begun, ErrorCode::Unauthorized);
    }
    assert!(plugin.authenticate(&before.token).is_none());
    assert_code(begin(), ErrorCode::Unauthorized);
}

#[test]
fn no_session_outlives_a_password_that_changes_meanwhile() {
    assert_no_session_outlives_a_change(Sqlite::new());
}

#[test]
#[ignore = "make test-all"]
fn on_postgresql_no_session_outlives_a_password_that_changes_meanwhile() {
    let server = Postgresql::shared();
    assert_no_session_outlives_a_change(Postgres::new(server.create_database("race")));
}

#[test]
fn a_disabled_user_has_no_session_no_key_and_gets_none() {
    let plugin = plugin();
    let admin = plugin.init("ada");
    let admin = call!(plugin, portico_sql_people.call_caller_of(&admin))
        .unwrap()
        .unwrap();
    let bob = call!(
        plugin,
        portico_dashboard_users.call_create(&admin, &account("bob"), &[])
    )
    .unwrap();
    let session = plugin.sign_in("bob", PASSWORD).unwrap();
    let key = call!(plugin, portico_sql_people.call_create_key(&bob, None)).unwrap();
    let signed_in = call!(
        plugin,
        portico_dashboard_sign_in.call_password(&String::new(), "bob", PASSWORD)
    )
    .unwrap();
    call!(
        plugin,
        portico_dashboard_users.call_set_disabled(&admin, &bob, true)
    )
    .unwrap();

    assert!(plugin.authenticate(&session.token).is_none() && plugin.authenticate(&key.key).is_none());
    assert_code(plugin.sign_in("bob", PASSWORD), ErrorCode::Unauthorized);
    let begun = call!(
        plugin,
        portico_sql_people.call_begin_session(&bob, signed_in.password_version)
    );
    assert_code(begun, ErrorCode::Unauthorized);
    assert_code(
        call!(plugin, portico_sql_people.call_create_key(&bob, None)),
        ErrorCode::NotFound,
    );
    assert!(
        call!(plugin, portico_sql_people.call_caller_of(&bob))
            .unwrap()
            .is_none()
    );
}

#[test]
fn an_invite_lets_one_person_register_until_it_expires() {
    let plugin = plugin();
    let admin = plugin.init("ada");
    let invite = |expires_at| {
        call!(
            plugin,
            portico_sql_people.call_create_invite(Some(&admin), expires_at)
        )
        .unwrap()
    };
    let register = |invite: &(String, String), name: &str| {
        let registration = Registration {
            account: account(name),
            invite_id: invite.0.clone(),
            token: invite.1.clone(),
        };
        call!(
            plugin,
            portico_dashboard_users.call_register(&anonymous(), &registration)
        )
    };
    let used = invite(NEW_YEAR + MINUTE);
    let used = (used.id, used.token);
    assert_code(
        register(&(used.0.clone(), "wrong".into()), "bob"),
        ErrorCode::Forbidden,
    );
    register(&used, "bob").unwrap();
    assert_code(register(&used, "eve"), ErrorCode::Forbidden);

    let late = invite(NEW_YEAR + MINUTE);
    let listed = call!(plugin, portico_sql_people.call_list_invites()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        listed[0].creator.as_ref().map(|creator| &creator.name[..]),
        Some("ada")
    );
    plugin.dashboard.advance(MINUTE);
    assert_code(
        register(&(late.id.clone(), late.token), "eve"),
        ErrorCode::Forbidden,
    );
    call!(plugin, portico_sql_people.call_delete_invite(&late.id)).unwrap();
    assert!(
        call!(plugin, portico_sql_people.call_list_invites())
            .unwrap()
            .is_empty()
    );

    let missing = call!(
        plugin,
        portico_sql_people.call_create_invite(Some(&"nobody".into()), NEW_YEAR)
    );
    assert_code(missing, ErrorCode::NotFound);
    let never = call!(plugin, portico_sql_people.call_create_invite(None, u64::MAX));
    assert_code(never, ErrorCode::BadRequest);
}

#[test]
fn groups_give_permissions_and_one_administrator_is_left() {
    let plugin = plugin();
    let ada = plugin.init("ada");
    let create = |id: Option<&String>, name: &str, permissions: &[&str]| {
        let permissions: Vec<String> = permissions.iter().map(|&name| name.into()).collect();
        call!(
            plugin,
            portico_sql_people.call_create_group(id, name, &permissions)
        )
    };
    let id = create(None, " Editors ", &["app-create", "widgets", "app-create"]).unwrap();
    assert_code(create(None, "EDITORS", &[]), ErrorCode::Conflict);
    assert_code(create(Some(&id), "Others", &[]), ErrorCode::Conflict);
    let long = "x".repeat(65);
    for name in ["", " ", &long, "two\nlines", "\u{202e}"] {
        assert_code(create(None, name, &[]), ErrorCode::BadRequest);
    }
    for permission in ["", "two\nlines", &long] {
        assert_code(create(None, "Others", &[permission]), ErrorCode::BadRequest);
    }
    assert_code(create(Some(&String::new()), "Others", &[]), ErrorCode::BadRequest);

    call!(plugin, portico_sql_people.call_add_member(&id, &ada)).unwrap();
    let missing = call!(plugin, portico_sql_people.call_add_member(&id, &"nobody".into()));
    assert_code(missing, ErrorCode::NotFound);
    let permissions = call!(plugin, portico_sql_people.call_permissions_of(&ada)).unwrap();
    assert_eq!(permissions, ["admin", "app-create", "widgets"]);

    let groups = call!(plugin, portico_sql_people.call_list_groups()).unwrap();
    let [admins, editors] = &groups[..] else {
        panic!("{groups:?}");
    };
    assert_eq!((&admins.name[..], &editors.name[..]), ("admins", "Editors"));
    assert_eq!(editors.members[0].name, "ada");
    for refused in [
        call!(plugin, portico_sql_people.call_delete_group(&admins.id)),
        call!(plugin, portico_sql_people.call_remove_member(&admins.id, &ada)),
        call!(
            plugin,
            portico_sql_people.call_set_group_permissions(&admins.id, &[])
        ),
    ] {
        assert_code(refused, ErrorCode::Conflict);
    }
    call!(plugin, portico_sql_people.call_rename_group(&id, "editors")).unwrap();
    call!(plugin, portico_sql_people.call_delete_group(&id)).unwrap();
    assert_eq!(
        call!(plugin, portico_sql_people.call_list_groups())
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_key_works_until_it_is_deleted_by_its_owner() {
    let plugin = plugin();
    let ada = plugin.init("ada");
    let key = call!(plugin, portico_sql_people.call_create_key(&ada, Some(" script "))).unwrap();
    let found = plugin.authenticate(&key.key).unwrap();
    assert!(matches!(found.credential, Credential::Key(id) if id == key.id));
    let listed = call!(plugin, portico_sql_people.call_list_keys(&ada)).unwrap();
    assert_eq!(listed[0].name.as_deref(), Some("script"));
    assert_eq!(listed[0].last_used_at, Some(NEW_YEAR));
    call!(
        plugin,
        portico_sql_people.call_delete_key(&"another user".into(), &key.id)
    )
    .unwrap();
    assert!(plugin.authenticate(&key.key).is_some());
    call!(plugin, portico_sql_people.call_delete_key(&ada, &key.id)).unwrap();
    assert!(plugin.authenticate(&key.key).is_none());
}

#[test]
fn a_key_that_may_do_less_than_its_user_is_not_valid() {
    let sqlite = Arc::new(Sqlite::new());
    let plugin = Plugin::new(Dashboard::new(sqlite.clone()));
    let ada = plugin.init("ada");
    let set = |limit: &str| {
        let mut connection = sqlite.begin(&["BEGIN".into()]).unwrap();
        connection
            .execute(&format!("UPDATE portico_api_key SET {limit}"), &[])
            .unwrap();
        connection.commit().unwrap();
    };
    let key = call!(plugin, portico_sql_people.call_create_key(&ada, None)).unwrap();
    for (limit, none) in [
        ("read_only = 1", "read_only = 0"),
        ("permissions = 'app-create'", "permissions = NULL"),
        ("permissions = ''", "permissions = NULL"),
    ] {
        set(limit);
        assert!(plugin.authenticate(&key.key).is_none(), "{limit}");
        set(none);
        assert!(plugin.authenticate(&key.key).is_some(), "{none}");
    }
}

#[test]
fn a_deleted_user_leaves_nothing_even_where_the_driver_turns_foreign_keys_off() {
    let sqlite = Arc::new(Sqlite::with_foreign_keys(false));
    let plugin = Plugin::new(Dashboard::new(sqlite));
    let ada = plugin.init("ada");
    let admin = call!(plugin, portico_sql_people.call_caller_of(&ada))
        .unwrap()
        .unwrap();
    let bob = call!(
        plugin,
        portico_dashboard_users.call_create(&admin, &account("bob"), &[])
    )
    .unwrap();
    let session = plugin.sign_in("bob", PASSWORD).unwrap();
    let key = call!(plugin, portico_sql_people.call_create_key(&bob, None)).unwrap();
    call!(plugin, portico_dashboard_users.call_delete(&admin, &bob)).unwrap();
    assert!(plugin.authenticate(&session.token).is_none() && plugin.authenticate(&key.key).is_none());
    assert!(
        call!(plugin, portico_sql_people.call_list_sessions(&bob))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_context_that_is_not_of_people_is_refused() {
    let plugin = plugin();
    plugin.init("ada");
    let caller = Caller {
        context: "a note of the dashboard's".into(),
        ..anonymous()
    };
    let refused = call!(plugin, portico_dashboard_apps.call_by_id(&caller, &"x".into()));
    assert_code(refused, ErrorCode::Unavailable);
    assert!(
        plugin
            .dashboard
            .log
            .lock()
            .unwrap()
            .concat()
            .contains("portico:sql/people")
    );
}
