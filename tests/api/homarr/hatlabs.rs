//! hatlabs/homarr-container-adapter at a46c751, which halos-org/homarr-container-adapter has as well.

use portico_tests::{Builder, Client, Fixtures, Key, PASSWORD, administrator};
use serde_json::{Value, json};

use super::{ask, homarr, read, tell, with_administrator};

/// `sync` for one app of the registry: `main.rs:115`. Answers the app's id.
fn sync(client: &Key) -> Value {
    // main.rs:131, homarr.rs:718
    let boards = read(&ask(client, "board.getAllBoards", &Value::Null));
    let boards = boards.as_array().expect("boards");
    assert_eq!(boards.len(), 1, "a board to write to");
    assert!(boards[0]["isPublic"].is_boolean());
    let board = boards[0]["name"].as_str().expect("a name");
    // main.rs:152, homarr.rs:696: a bare query, whose answer must be wrapped.
    let apps = read(&ask(client, "app.selectable", &Value::Null));
    let url = "http://halos.local:3000/";
    let known = apps
        .as_array()
        .expect("apps")
        .iter()
        .find(|app| app["href"] == url);
    let mut app = json!({
        "name": "Signal K", "description": "", "iconUrl": "/icons/signalk.svg", "href": url,
        "pingUrl": "http://host.docker.internal:3000/",
    });
    let id = match known {
        // homarr.rs:830
        Some(known) => {
            app["id"] = known["id"].clone();
            tell(client, "app.update", &app).assert_status(200);
            known["id"].clone()
        }
        // homarr.rs:785
        None => read(&tell(client, "app.create", &app))["appId"].clone(),
    };
    // homarr.rs:870: it reads the board twice, and saves it with one more item unless the app is there.
    let items = read(&ask(client, "board.getBoardByName", &json!({"name": board})))["items"].clone();
    let mut items = items.as_array().expect("items").clone();
    if items.iter().any(|item| item["options"]["appId"] == id) {
        return id;
    }
    let whole = read(&ask(client, "board.getBoardByName", &json!({"name": board})));
    let sections: Vec<_> = whole["sections"].as_array().expect("sections").iter().map(|section| {
        json!({
            "id": section["id"], "kind": section["kind"], "yOffset": section["yOffset"], "xOffset": section["xOffset"],
        })
    }).collect();
    assert!(
        sections[0]["yOffset"].is_i64() && sections[0]["xOffset"].is_i64(),
        "{whole}"
    );
    let layout = &whole["layouts"][0];
    assert!(layout["columnCount"].is_i64() && layout["breakpoint"].is_i64() && layout["name"].is_string());
    items.push(json!({
        "id": "registry-signalk",
        "kind": "app",
        "options": {"appId": id},
        "layouts": [{
            "layoutId": layout["id"], "sectionId": sections[0]["id"],
            "width": 2, "height": 1, "xOffset": 3, "yOffset": 4,
        }],
        "integrationIds": [],
        "advancedOptions": {"customCssClasses": []},
    }));
    let saved = json!({"id": whole["id"], "sections": sections, "items": items, "integrations": []});
    tell(client, "board.saveBoard", &saved).assert_status(200);
    // homarr.rs:967
    let after = read(&ask(client, "board.getBoardByName", &json!({"name": board})));
    assert_eq!(after["items"], saved["items"], "it reads back what it saved");
    id
}

#[test]
fn two_syncs_leave_one_app_at_its_place() {
    let (_server, admin, key) = with_administrator();
    let board = json!({"name": "Home", "columnCount": 12, "isPublic": true});
    tell(&key, "board.createBoard", &board).assert_status(200);
    let first = sync(&key);
    let second = sync(&key);
    assert_eq!(first, second);
    assert_eq!(admin.get("/api/apps").json().as_array().map(Vec::len), Some(1));
    let whole = read(&ask(&key, "board.getBoardByName", &json!({"name": "Home"})));
    assert_eq!(whole["items"].as_array().map(Vec::len), Some(1), "{whole}");
    assert_eq!(whole["items"][0]["layouts"][0]["xOffset"], 3);
    assert_eq!(whole["layouts"][0]["columnCount"], 12);
    // Portico's own board also has the app.
    let own = admin.get(&format!("/api/boards/{}", whole["id"].as_str().expect("an id")));
    assert_eq!(own.json()["items"], json!([{"kind": "app", "appId": first}]));
}

#[test]
fn setup_creates_the_first_user_and_their_home_board() {
    let server = homarr();
    let anonymous = server.anonymous();
    // homarr.rs:310: until it is finished.
    let step =
        |client: &dyn Client| read(&ask(client, "onboard.currentStep", &Value::Null))["current"].clone();
    assert_eq!(step(&anonymous), "user");
    let user = json!({"username": "halos", "password": PASSWORD, "confirmPassword": PASSWORD});
    tell(&anonymous, "user.initUser", &user).assert_status(200);
    assert_eq!(step(&anonymous), "finish");

    // homarr.rs:659: a key takes the place of the first one.
    let first = server.sign_in("halos", PASSWORD);
    let made = read(&first.post("/api/trpc/apiKeys.create", &json!({})));
    let bootstrap = server
        .key(made["apiKey"].as_str().expect("a key"))
        .in_api_key_header();
    let made = read(&tell(&bootstrap, "apiKeys.create", &json!({})));
    let client = server
        .key(made["apiKey"].as_str().expect("a key"))
        .in_api_key_header();
    let id = bootstrap.key.split('.').next().expect("the id");
    tell(&client, "apiKeys.delete", &json!({"apiKeyId": id})).assert_status(200);

    // homarr.rs:419
    ask(&client, "board.getBoardByName", &json!({"name": "Halos"})).assert_status(404);
    let board = json!({"name": "Halos", "columnCount": 12, "isPublic": true});
    let id = read(&tell(&client, "board.createBoard", &board))["boardId"].clone();
    // homarr.rs:448
    let settings = json!({
        "id": id, "pageTitle": "Halos", "metaTitle": "On board", "primaryColor": "#0d47a1", "secondaryColor": "#42a5f5",
        "opacity": 90, "itemRadius": "md", "customCss": ".a {}",
    });
    tell(&client, "board.savePartialBoardSettings", &settings).assert_status(200);
    tell(&client, "board.setHomeBoard", &json!({"id": id})).assert_status(200);
    // homarr.rs:564
    let server_wide = json!({"settingsKey": "board", "value": {
        "homeBoardId": id, "mobileHomeBoardId": id, "enableStatusByDefault": true, "forceDisableStatus": false,
    }});
    tell(&client, "serverSettings.saveSettings", &server_wide).assert_status(200);
    // It is everyone's, also of those who are not signed in.
    let home = read(&ask(&server.anonymous(), "board.getHomeBoard", &Value::Null));
    assert_eq!(home["id"], id);
    // homarr.rs:592
    tell(
        &client,
        "user.changeColorScheme",
        &json!({"colorScheme": "light"}),
    )
    .assert_status(200);

    let whole = read(&ask(&client, "board.getBoardByName", &json!({"name": "Halos"})));
    for (key, value) in settings.as_object().expect("settings") {
        assert_eq!(&whole[key], value, "{key}");
    }
    let boards = read(&ask(&client, "board.getAllBoards", &Value::Null));
    assert_eq!(
        (&boards[0]["isHome"], &boards[0]["isMobileHome"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn an_href_that_is_a_path_reads_back_as_one_where_the_public_url_is_known() {
    let server = Builder::default()
        .argument("--compat-homarr")
        .argument("--public-url=http://halos.local:7575")
        .start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).in_api_key_header();
    // halos-org, homarr.rs:881
    let app =
        json!({"name": "Signal K", "iconUrl": "/icons/signalk.svg", "href": "/signalk/", "description": ""});
    let made = read(&tell(&key, "app.create", &app));
    assert_eq!(made["href"], "/signalk/");
    let listed = |path: &str| key.get(path).assert_status(200).text();
    for path in [
        "/api/trpc/app.selectable",
        "/api/trpc/app.all,user.getTourStatus?batch=1",
        "/api/apps",
    ] {
        assert!(listed(path).contains(r#""href":"/signalk/""#), "{}", listed(path));
    }
    let own = admin
        .send("GET", "/api/apps", &[("portico-native", "1")], None)
        .json();
    assert_eq!(own[0]["href"], "http://halos.local:7575/signalk/");
    let change = json!({"name": "Signal K", "iconUrl": "/icons/signalk.svg", "href": "/other"});
    let path = format!("/api/apps/{}", made["id"].as_str().expect("an id"));
    key.patch(&path, &change).assert_status(200);
    assert_eq!(key.get(&path).json()["href"], "/other");
    // Another site's address is not a path.
    let other = json!({"name": "x", "iconUrl": "/x.svg", "href": "//evil.example/"});
    tell(&key, "app.create", &other).assert_status(400);
}
