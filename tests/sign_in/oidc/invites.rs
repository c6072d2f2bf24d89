//! Sign-up by invite: a new person at the issuer needs the link of one.

use portico_tests::{Answer, Client, Fixtures, Portico, Session};
use serde_json::{Value, json};

use super::{
    browser::{Browser, Page},
    groups::{group, groups_of},
    harness::{Issuer, sign_in, signed_in, start, start_url, user, users},
};

const BY_INVITE: (&str, &str) = ("PORTICO_OIDC_SIGN_UP", "invite");

/// The link of an invite: id and secret.
struct Link {
    id: String,
    token: String,
}

#[track_caller]
fn invite(administrator: &Session, groups: &[&str]) -> Link {
    let input = json!({"expirationDate": "2999-12-31T00:00:00.000Z", "groupIds": groups});
    let made = administrator.mutate("invite.createInvite", &input).data();
    let text = |field: &str| made[field].as_str().expect("a text").to_owned();
    Link {
        id: text("id"),
        token: text("token"),
    }
}

fn start_with(server: &Portico, link: &Link) -> String {
    let Link { id, token } = link;
    format!("{}?inviteId={id}&token={token}", start_url(server))
}

/// Signs in from the link, all the way.
fn sign_up(server: &Portico, link: &Link, subject: &str) -> (Browser, Page) {
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_with(server, link), subject);
    let page = browser.get(&callback);
    (browser, page)
}

fn invites(administrator: &Session) -> usize {
    let listed: Answer = administrator.query("invite.getAll", &Value::Null);
    listed.data().as_array().expect("invites").len()
}

fn two_people(issuer: &Issuer) {
    issuer.knows(json!({
        "1": {"preferred_username": "ada", "groups": ["editors"]},
        "2": {"preferred_username": "eve"},
    }));
}

#[test]
fn a_new_person_needs_an_invite_which_makes_one_user_with_its_groups() {
    let (issuer, server, administrator) = start(&[BY_INVITE]);
    two_people(&issuer);
    let family = group(&administrator, "family", &["app-create"]);
    let link = invite(&administrator, &[&family]);
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(403, "FORBIDDEN");
    assert!(page.body.contains("need an invite"), "{page:?}");
    server.wait_for_log(0, "came without an invite");
    assert_eq!((users(&administrator).len(), invites(&administrator)), (1, 1));

    // Two people begin with the same invite. The second to come back is too late.
    let (first, second) = (Browser::new(), Browser::new());
    let callbacks = [(&first, "1"), (&second, "2")].map(|(browser, subject)| {
        let callback = browser.at_issuer(&start_with(&server, &link), subject);
        (browser, callback)
    });
    let [(ada, to_ada), (eve, to_eve)] = callbacks;
    ada.get(&to_ada).assert_redirect("/");
    let token = ada.cookie("portico_session").expect("a session");
    let found = user(&server, &token);
    assert_eq!(found["permissions"], json!(["app-create"]));
    assert_eq!(groups_of(&administrator, &found["id"]), ["family"]);
    eve.get(&to_eve).assert_refused(403, "FORBIDDEN");
    server.wait_for_log(0, "their invite is used, deleted or has expired");
    assert_eq!(
        (users(&administrator), invites(&administrator)),
        (vec!["ada".into(), "root".into()], 0)
    );
    // The row of the sign-in has the groups of the invite.
    let input = json!({"page": 1, "pageSize": 10, "procedure": "sign-in", "outcome": "OK"});
    let rows = administrator.query("audit.getPaginated", &input).data();
    assert_eq!(rows["items"][0]["groups"], json!(format!("+{family}")));

    // From now on she has a user, and needs none.
    assert_eq!(user(&server, &signed_in(&server, "1"))["id"], found["id"]);
    let again = invite(&administrator, &[]);
    let (_, page) = sign_up(&server, &again, "1");
    page.assert_redirect("/");
    assert_eq!(invites(&administrator), 1, "it is for someone who needs it");
    assert_eq!(groups_of(&administrator, &found["id"]), ["family"]);
}

#[test]
fn without_a_good_invite_no_sign_in_begins_and_the_issuer_is_not_asked() {
    let (issuer, server, administrator) = start(&[BY_INVITE]);
    let (good, other) = (administrator.invite(), administrator.invite());
    let past = json!({"expirationDate": "2020-01-01T00:00:00.000Z"});
    let past = administrator.mutate("invite.createInvite", &past).data();
    let past = [past["id"].as_str(), past["token"].as_str()].map(|text| text.expect("a text"));
    issuer.forget();
    for query in [
        format!("inviteId={}&token={}", good.id, other.token),
        format!("inviteId={}&token=", good.id),
        format!("inviteId={}", good.id),
        format!("token={}", good.token),
        format!("inviteId=%00&token={}", good.token),
        format!("inviteId={}&token={}", past[0], past[1]),
        "inviteId=&token=".to_owned(),
    ] {
        let page = Browser::new().get(&format!("{}?{query}", start_url(&server)));
        page.assert_refused(403, "FORBIDDEN");
    }
    assert_eq!(issuer.asked("/.well-known/openid-configuration"), 0);
    // One that is withdrawn while the person is at the issuer makes no user.
    let link = Link {
        id: good.id,
        token: good.token,
    };
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_with(&server, &link), "1");
    let withdrawn = json!({"id": link.id});
    administrator.mutate("invite.deleteInvite", &withdrawn).data();
    browser.get(&callback).assert_refused(403, "FORBIDDEN");
    assert_eq!(users(&administrator), ["root"]);
}

#[test]
fn a_sign_up_that_fails_leaves_the_invite_and_open_sign_up_uses_it_too() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    two_people(&issuer);
    let editors = group(&administrator, "editors", &[]);
    let family = group(&administrator, "family", &[]);
    let link = invite(&administrator, &[&family]);
    signed_in(&server, "2");
    issuer.knows(json!({"3": {"preferred_username": "eve"}, "1": {"preferred_username": "ada", "groups": ["editors"]}}));
    let (_, page) = sign_up(&server, &link, "3");
    page.assert_refused(403, "FORBIDDEN");
    assert_eq!(invites(&administrator), 1, "the name is taken");
    // Where the issuer states groups, they are all that counts.
    let (browser, page) = sign_up(&server, &link, "1");
    page.assert_redirect("/");
    let token = browser.cookie("portico_session").expect("a session");
    let ada = user(&server, &token)["id"].clone();
    assert_eq!(groups_of(&administrator, &ada), ["editors"]);
    assert_eq!(invites(&administrator), 0);
    // The row has all groups that a new user joins, also one that the invite gives and the issuer states.
    issuer.knows(json!({"4": {"preferred_username": "bob", "groups": ["editors", "family"]}}));
    let (_, page) = sign_up(&server, &invite(&administrator, &[&family]), "4");
    page.assert_redirect("/");
    let mut joined = [format!("+{editors}"), format!("+{family}")];
    joined.sort();
    let input = json!({"page": 1, "pageSize": 10, "procedure": "sign-in", "outcome": "OK"});
    let rows = administrator.query("audit.getPaginated", &input).data();
    assert_eq!(rows["items"][0]["groups"], json!(joined.join(" ")));
}

#[test]
fn the_page_of_an_invite_leads_to_the_issuer() {
    let (issuer, server, administrator) = start(&[BY_INVITE, ("PORTICO_PASSWORD_SIGN_IN", "administrators")]);
    two_people(&issuer);
    let link = invite(&administrator, &[]);
    let browser = Browser::new();
    let here = format!("http://{}", server.address());
    let page = browser.get(&format!(
        "{here}/register?invite={}&token={}",
        link.id, link.token
    ));
    assert_eq!(page.status, 200, "{page:?}");
    assert!(
        !page.body.contains(r#"type="password""#),
        "passwords are not for everyone"
    );
    let (_, after) = page
        .body
        .split_once(r#"href="/api/auth/oidc/start"#)
        .expect("a link");
    let (query, _) = after.split_once('"').expect("its end");
    let address = format!(
        "{}{}",
        start_url(&server),
        query.replace("&amp;", "&").replace("&#38;", "&")
    );
    let callback = browser.at_issuer(&address, "1");
    browser.get(&callback).assert_redirect("/");
    assert_eq!(users(&administrator), ["ada", "root"]);
}
