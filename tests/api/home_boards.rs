//! What people see first: what they have chosen, or else what was chosen for a group or for everyone.

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, Portico, Session, administrator};
use serde_json::{Value, json};

fn set(admin: &Session, group: Option<&str>, home: Value, mobile: Value) {
    let input = json!({"groupId": group, "homeBoardId": home, "mobileHomeBoardId": mobile});
    admin.mutate("board.setDefaultHome", &input).assert_status(200);
}

/// What a caller sees first, on large screens and on phones.
fn home(client: &dyn Client) -> [Value; 2] {
    let home = client.query("board.getHome", &NO_INPUT).data();
    ["homeBoardId", "mobileHomeBoardId"].map(|field| home[field].clone())
}

#[test]
fn what_people_have_not_chosen_is_that_of_their_groups_or_of_everyone_if_they_may_view_it() {
    let server = Portico::start();
    let admin = administrator(&server);
    let [public, shared, hidden] = [("public", true), ("shared", false), ("hidden", false)]
        .map(|(name, is_public)| Value::from(admin.board(name, is_public)));
    let [zoo, art] = ["zoo", "art"].map(|name| admin.group(name, &[]));
    let ann = admin.user_in("ann", &[&zoo, &art]);
    let share = json!({"boardId": shared, "users": [], "groups": [zoo]});
    admin.mutate("board.share", &share).assert_status(200);
    assert_eq!(home(&ann), [Value::Null, Value::Null]);

    set(&admin, None, public.clone(), Value::Null);
    assert_eq!(home(&ann), [public.clone(), Value::Null]);
    assert_eq!(home(&server.anonymous()), [public.clone(), Value::Null]);
    // Who comes later has it, too.
    assert_eq!(home(&admin.user("late")), [public.clone(), Value::Null]);

    // A board of a group is also for phones, before another one of everyone.
    set(&admin, None, public.clone(), public.clone());
    set(&admin, Some(&zoo), shared.clone(), Value::Null);
    assert_eq!(home(&ann), [shared.clone(), Value::Null]);
    set(&admin, None, public.clone(), Value::Null);
    set(&admin, Some(&zoo), shared.clone(), shared.clone());
    assert_eq!(home(&ann), [shared.clone(), shared.clone()]);
    // The first group by name has one that its members may not view, and one that they may.
    set(&admin, Some(&art), hidden.clone(), public.clone());
    assert_eq!(home(&ann), [shared.clone(), public.clone()]);
    assert_eq!(home(&admin.user("other")), [public.clone(), Value::Null]);

    // Of what everyone has, strangers see only what is public.
    set(&admin, None, hidden.clone(), Value::Null);
    assert_eq!(home(&server.anonymous()), [Value::Null, Value::Null]);
    assert_eq!(home(&admin), [hidden.clone(), Value::Null]);

    // What people choose comes before, also if they choose it for phones alone.
    let own = json!({"userId": ann.id, "homeBoardId": null, "mobileHomeBoardId": shared});
    ann.mutate("user.changeHomeBoards", &own).assert_status(200);
    assert_eq!(home(&ann), [shared.clone(), shared.clone()]);
    // As long as they may view it.
    let nobody = json!({"boardId": shared, "users": [], "groups": []});
    admin.mutate("board.share", &nobody).assert_status(200);
    assert_eq!(home(&ann), [Value::Null, public.clone()]);

    let homes = admin.query("board.getDefaultHomes", &NO_INPUT).data();
    let expected = json!({"groupId": null, "homeBoardId": hidden, "mobileHomeBoardId": null});
    assert_eq!((homes.as_array().map(Vec::len), &homes[0]), (Some(3), &expected));
    admin
        .mutate("group.deleteGroup", &json!({"id": zoo}))
        .assert_status(200);
    set(&admin, None, Value::Null, Value::Null);
    let homes = admin.query("board.getDefaultHomes", &NO_INPUT).data();
    assert_eq!(homes[0]["groupId"], art);
    assert_eq!(homes.as_array().map(Vec::len), Some(1));
    for (group, board) in [(json!(MISSING), public), (Value::Null, json!(MISSING))] {
        let input = json!({"groupId": group, "homeBoardId": board, "mobileHomeBoardId": null});
        admin.mutate("board.setDefaultHome", &input).assert_status(404);
    }
}

#[test]
fn a_document_says_what_people_see_first_by_the_names_of_boards() {
    let server = Portico::start();
    let admin = administrator(&server);
    let old = admin.board("Old", true);
    set(&admin, None, old.into(), Value::Null);
    let document = json!({
        "boards": [{"name": "Home"}, {"name": "Phone"}],
        "groups": [{"name": "family", "homeBoard": "home", "mobileHomeBoard": "OLD"}],
        "homeBoard": "Phone", "mobileHomeBoard": "Home",
    });
    let report = admin.mutate("state.apply", &document).data();
    let changes = &report["changed"][0]["changes"];
    assert_eq!(
        (&changes[0]["field"], &changes[0]["before"], &changes[0]["after"]),
        (&json!("homeBoard"), &json!("Old"), &json!("Phone")),
        "{report}"
    );
    let homes = |of: &Value| [of["homeBoard"].clone(), of["mobileHomeBoard"].clone()];
    let of_both = |exported: &Value| {
        let groups = exported["groups"].as_array().expect("groups");
        let family = groups.iter().find(|group| group["name"] == "family");
        (homes(exported), homes(family.expect("family")))
    };
    let exported = admin.query("state.export", &NO_INPUT).data();
    assert_eq!(
        of_both(&exported),
        ([json!("Phone"), json!("Home")], [json!("Home"), json!("Old")])
    );
    // Its own export changes nothing, and what a document leaves out stays.
    for document in [
        exported.clone(),
        json!({"groups": [{"name": "family"}], "mobileHomeBoard": "Home"}),
    ] {
        let report = admin.mutate("state.apply", &document).data();
        assert_eq!(
            (&report["changed"], &report["removed"]),
            (&json!([]), &json!([])),
            "{report}"
        );
    }
    // A board that the document removes is no one's home.
    let pruned =
        json!({"boards": [{"name": "Home"}], "prune": true, "groups": exported["groups"], "homeBoard": null});
    admin.mutate("state.apply", &pruned).assert_status(400);
    let pruned = json!({"boards": [{"name": "Home"}], "prune": true, "homeBoard": null});
    admin.mutate("state.apply", &pruned).assert_status(200);
    let exported = admin.query("state.export", &NO_INPUT).data();
    assert_eq!(
        of_both(&exported),
        ([Value::Null, json!("Home")], [json!("Home"), Value::Null])
    );
}
