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
    assert_eq!(search(" \tALPHA\r\n"), [first, second], "trimmed as every text");
    assert_eq!(search(" \n"), sorted);
    assert_eq!(
        search("e\u{301}C"),
        ["\u{c9}cole"],
        "two characters for one letter"
    );
    assert_eq!(search("%"), ["100%"]);
    assert_eq!(search("a_b"), ["a_b"]);
    assert_eq!(search("\\"), [""; 0]);
    assert_eq!(search(""), sorted);
    admin.query("app.search", &json!({})).assert_bad_field("query");
    for limit in [json!(0), json!(101), json!(-1), Value::Null] {
        admin
            .query("app.search", &json!({"query": "", "limit": limit}))
            .assert_bad_field("limit");
    }

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
    assert_eq!(
        page(json!({"page": 3, "pageSize": 3})),
        (vec!["\u{c9}cole".to_owned()], json!(7))
    );
    assert_eq!(page(json!({"page": 4, "pageSize": 3})), (vec![], json!(7)));
    assert_eq!(
        page(json!({"page": 2_147_483_647, "pageSize": 100})),
        (vec![], json!(7))
    );
    assert_eq!(page(json!({"page": 1e20, "pageSize": 100})), (vec![], json!(7)));
    assert_eq!(
        page(json!({"page": 2, "pageSize": 1, "search": " ALPHA "})),
        (vec![second.into()], json!(2))
    );
    assert_eq!(
        page(json!({"page": 1, "pageSize": 1, "search": " "})),
        (vec!["100%".into()], json!(7))
    );
    for (field, bad) in [
        ("page", json!(0)),
        ("page", json!(1.5)),
        ("page", json!("1")),
        ("pageSize", json!(0)),
        ("pageSize", json!(101)),
        ("search", json!(1)),
    ] {
        let mut input = json!({"page": 1, "pageSize": 1});
        input[field] = bad;
        admin.query("app.getPaginated", &input).assert_bad_field(field);
    }
    let answer = admin.query("app.getPaginated", &json!({}));
    answer.assert_bad_field("page").assert_bad_field("pageSize");
}

#[test]
fn a_search_text_longer_than_any_name_finds_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    let longest = "a".repeat(64);
    let apps = vec![json!({"name": longest, "iconUrl": "/a.svg"}); 1000];
    admin.mutate("app.createMany", &json!(apps)).assert_status(200);
    let total = |text: &str| {
        let input = json!({"page": 1, "pageSize": 10, "search": text});
        let page = admin.query("app.getPaginated", &input).data();
        let items = page["items"].as_array().expect("a list").len();
        (items, page["totalCount"].clone())
    };
    assert_eq!(total(&longest), (10, json!(1000)));
    assert_eq!(total(&"a".repeat(65)), (0, json!(0)));

    for length in [300, 20_000] {
        let long = "a".repeat(length);
        for path in ["/api/apps/search", "/api/apps/paginated"] {
            let (query, rest) = match path {
                "/api/apps/search" => ("query", ""),
                _ => ("search", "&page=1&pageSize=10"),
            };
            let answer = admin.get(&format!("{path}?{query}={long}{rest}"));
            answer.assert_status(200);
            let apps = answer.json();
            let apps = apps.get("items").unwrap_or(&apps).as_array().map(Vec::len);
            assert_eq!(apps, Some(0));
        }
        assert_eq!(
            admin.query("app.search", &json!({"query": long})).data(),
            json!([])
        );
        assert_eq!(total(&long), (0, json!(0)));
        assert_eq!(
            admin.query("user.search", &json!({"query": long})).data(),
            json!([])
        );
    }
}

#[test]
fn a_search_gives_ten_unless_asked_for_more() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.apps(120, "/icon.svg");
    let count = |input: Value| admin.query("app.search", &input).data().as_array().map(Vec::len);
    assert_eq!(count(json!({"query": "app"})), Some(10));
    assert_eq!(count(json!({"query": "app", "limit": 1})), Some(1));
    assert_eq!(count(json!({"query": "app", "limit": 100})), Some(100));
    assert_eq!(count(json!({"query": "app", "limit": 5.0})), Some(5));
    assert_eq!(admin.app_names().len(), 120);
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
    assert_eq!(ids(json!([])), [""; 0]);
    let mut thousand: Vec<_> = (0..999).map(|number| format!("{number}")).collect();
    thousand.push(first.clone());
    assert_eq!(ids(json!(thousand)), [&*first]);
    thousand.push(second);
    server
        .anonymous()
        .query("app.byIds", &json!(thousand))
        .assert_bad_input();
    server
        .anonymous()
        .query("app.byIds", &json!(first))
        .assert_bad_input();
    server
        .anonymous()
        .query("app.byIds", &json!([5]))
        .assert_refused(400, "BAD_REQUEST");
}
