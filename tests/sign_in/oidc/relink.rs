//! `portico relink`: the same users at an issuer's new URL.

use std::fs;

use portico_tests::{Client, Finished, Portico, command, run};
use serde_json::json;

use super::harness::{Issuer, ada, sign_in, signed_in, start, user};

/// Runs the command on the data of a service that has stopped.
fn relink(server: &Portico, from: &str, to: &str, more: &[&str]) -> Finished {
    let mut command = command();
    command
        .args(["relink", "oidc", "--from", from, "--to", to, "--data"])
        .arg(server.data())
        .args(more);
    run(&mut command, "")
}

fn two_people() -> serde_json::Value {
    json!({"1": ada(), "2": {"preferred_username": "eve"}})
}

/// Starts the service again on its data, with another issuer.
fn at_issuer(mut server: Portico, issuer: &Issuer) -> Portico {
    server.start_again_with(&["--oidc-issuer", &issuer.url]);
    server
}

#[test]
fn people_of_an_issuer_that_has_moved_are_the_same_users() {
    let (old, mut server, administrator) = start(&[]);
    let new = Issuer::start();
    old.knows(two_people());
    new.knows(two_people());
    let users = ["1", "2"].map(|subject| user(&server, &signed_in(&server, subject))["id"].clone());
    server.stop();

    let dry = relink(&server, &old.url, &new.url, &["--dry-run"]).succeeded();
    assert!(
        dry.contains("would move: ada") && dry.contains("2 users would move"),
        "{dry}"
    );
    let mut server = at_issuer(server, &new);
    sign_in(&server, "1").1.assert_refused(403, "FORBIDDEN");
    server.stop();
    let done = relink(&server, &old.url, &new.url, &[]).succeeded();
    assert!(
        done.contains("moved: eve") && done.contains("2 users moved"),
        "{done}"
    );
    let nothing = relink(&server, &old.url, &new.url, &[]).succeeded();
    assert!(nothing.contains("No user"), "{nothing}");

    server.start_again();
    for (subject, id) in ["1", "2"].iter().zip(&users) {
        assert_eq!(user(&server, &signed_in(&server, subject))["id"], *id);
    }
    let input = json!({"page": 1, "pageSize": 10, "procedure": "relink"});
    let rows = administrator.query("audit.getPaginated", &input).data()["items"].clone();
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        assert!(users.contains(&row["target"]), "{row}");
        assert_eq!(
            (&row["authentication"], &row["provider"]),
            (&json!("operator"), &json!("oidc"))
        );
    }
}

#[test]
fn a_map_moves_only_those_in_it_and_no_one_gets_the_subject_of_another_user() {
    let (old, mut server, _) = start(&[]);
    let new = Issuer::start();
    old.knows(two_people());
    let ada_id = user(&server, &signed_in(&server, "1"))["id"].clone();
    signed_in(&server, "2");
    server.stop();
    // Someone has signed in at the new issuer already.
    let mut server = at_issuer(server, &new);
    new.knows(json!({"7": {"preferred_username": "carol"}, "1": {"preferred_username": "mallory"}}));
    let carol = user(&server, &signed_in(&server, "7"))["id"].clone();
    server.stop();

    let folder = tempfile::tempdir().expect("a folder");
    let map = |text: &str| {
        let file = folder.path().join("subjects.json");
        fs::write(&file, text).expect("write it");
        file.to_str().expect("a path").to_owned()
    };
    let taken = map(r#"{"1": "7", "2": "8"}"#);
    let refused = relink(&server, &old.url, &new.url, &["--map", &taken]).failed();
    assert!(refused.contains("nothing is changed"), "{refused}");
    for wrong in [
        "[]",
        r#"{"1": 7}"#,
        r#"{"1": "a", "2": "a"}"#,
        r#"{"1": "a", "1": "b"}"#,
        "",
    ] {
        relink(&server, &old.url, &new.url, &["--map", &map(wrong)]).failed();
    }
    relink(&server, &old.url, &old.url, &[]).failed();
    let good = map(r#"{"1": "abc", "9": "x"}"#);
    let done = relink(&server, &old.url, &new.url, &["--map", &good]).succeeded();
    assert!(
        done.contains("moved: ada") && done.contains("not in the map: eve") && done.contains("of no user: 9"),
        "{done}"
    );

    server.start_again();
    new.knows(json!({"7": {"preferred_username": "carol"}, "abc": ada()}));
    assert_eq!(user(&server, &signed_in(&server, "abc"))["id"], ada_id);
    assert_eq!(user(&server, &signed_in(&server, "7"))["id"], carol);
    new.knows(json!({"1": ada()}));
    sign_in(&server, "1").1.assert_refused(403, "FORBIDDEN");
}
