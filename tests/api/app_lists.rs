//! Reading apps: lists, searches, pages, and many by their ids.

use portico_tests::{Client, Fixtures, MISSING, Portico, administrator};
use serde_json::{Value, json};

#[test]
fn lists_of_apps_are_in_the_order_of_names_and_found_by_any_part_of_it() {
    let server = Portico::start();
    let admin = administrator(&server);
    let names = ["Zeta", "alpha", "\u{c9}cole", "100%", "a_b", "axb", "Alpha"];
    let inputs = names.map(|name| json!({"name": name}));
    let made = admin.mutate("app.createMany", &json!(inputs)).data();
    // By the folded name, then by id.
    let mut same = [1, 6].map(|index| (made[index]["id"].to_string(), names[index]));
    same.sort_unstable();
    let [first, second] = same.map(|(_, name)| name);
    let sorted = ["100%", "a_b", first, second, "axb", "Zeta", "\u{c9}cole"];
    assert_eq!(admin.app_names(), sorted);

    let names_of = |answer: Value| {
        let apps = answer.as_array().expect("a list").iter();
        apps.map(|app| app["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let search = |query: &str| names_of(admin.query("app.search", &json!({"query": query})).data());
    assert_eq!(search("ALPHA"), [first, second]);
    assert_eq!(search("%"), ["100%"]);
    assert_eq!(search(""), sorted);
    admin
        .query("app.search", &json!({"query": "", "limit": 101}))
        .assert_bad_field("limit");

    let page = |input: Value| {
        let page = admin.query("app.getPaginated", &input).data();
        (names_of(page["items"].clone()), page["totalCount"].clone())
    };
    let three = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    assert_eq!(
        page(json!({"page": 1, "pageSize": 3})),
        (three(["100%", "a_b", first]), json!(7))
    );
    assert_eq!(
        page(json!({"page": 2, "pageSize": 3})),
        (three([second, "axb", "Zeta"]), json!(7))
    );
    assert_eq!(page(json!({"page": 4, "pageSize": 3})), (vec![], json!(7)));
    assert_eq!(
        page(json!({"page": 2, "pageSize": 1, "search": " ALPHA "})),
        (vec![second.into()], json!(2))
    );
    let answer = admin.query("app.getPaginated", &json!({}));
    answer.assert_bad_field("page").assert_bad_field("pageSize");
}

#[test]
fn many_ids_give_each_app_once_in_the_order_asked() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (first, second, third) = (admin.app("one"), admin.app("two"), admin.app("three"));
    let ids = |input: Value| {
        let apps = server.anonymous().query("app.byIds", &input).data();
        let apps = apps.as_array().expect("a list").iter();
        apps.map(|app| app["id"].as_str().expect("an id").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(json!([third, MISSING, first, third, "", second])),
        [&*third, &first, &second]
    );
    server
        .anonymous()
        .query("app.byIds", &json!([5]))
        .assert_refused(400, "BAD_REQUEST");
}
