//! A data directory that has something in every column of every table.

use portico_storage::copying::{TABLES, Value};
use portico_storage::hash_secret;
use portico_tests::databases::Rows;
use portico_tests::procedures::picture;
use portico_tests::{Client, Fixtures, PASSWORD, Portico, Session, User, administrator};
use serde_json::json;

use super::rows_in;

/// Texts that databases compare, sort and store in ways of their own.
pub const TEXTS: [&str; 9] = [
    "ISTANBUL istanbul \u{131}\u{130}",
    "Straße STRASSE",
    "ΟΔΟΣ οδός",
    "🦊 \u{1F3F3}\u{FE0F}\u{200D}\u{1F308}",
    "100% of_it",
    "back\\slash 'quote' \"double\"",
    " \t\r\n\u{7f}\u{85}\u{feff}",
    "same",
    "Same",
];

/// The largest number in the audit log.
const LAST_NUMBER: u64 = 5_000_000_000;

/// The service that is copied, stopped, and what its users have.
pub struct Everything {
    pub server: Portico,
    pub admin: Session,
    /// A user with an API key.
    pub alice: User,
    pub app: String,
    pub rows: Rows,
}

impl Everything {
    #[track_caller]
    pub fn make() -> Self {
        let mut server = Portico::start();
        let admin = administrator(&server);
        let alice = admin.user_with("alice", "app-create");
        let app = admin.app("An app");
        let engine = admin.search_engine("Search", "s");
        let sections = json!([
            {"items": [{"kind": "app", "appId": app}, {"kind": "bookmarks", "appIds": [app]}]},
            {"name": "Section", "collapsed": true, "items": [
                {"kind": "note", "text": "A note", "size": "wide"}, {"kind": "clock"},
                {"kind": "bookmarks", "appIds": []},
            ]},
        ]);
        let board = json!({"name": "A board", "isPublic": true, "slug": "board", "sections": sections});
        let board = admin.make("board.create", &board, "id");
        let group = admin.group("viewers", &["board-view-all", "app-modify-all"]);
        admin
            .mutate(
                "board.share",
                &json!({
                    "boardId": board,
                    "users": [{"id": alice.id, "mayChange": true}],
                    "groups": [group],
                }),
            )
            .assert_done();
        let image = json!({"image": picture("everything")});
        let uploaded = admin.output_of("picture.create", &image)["id"].clone();
        let logo = format!("/api/pictures/{}", uploaded.as_str().unwrap_or_default());
        for (of, id) in [("User", &alice.id), ("Board", &board)] {
            let extras = json!({"id": id, "extras": json!({"logoImageUrl": logo}).to_string()});
            admin.mutate(&format!("extras.saveOf{of}"), &extras).assert_done();
        }
        let looks = json!({
            "name": "Casa", "logo": uploaded, "wallpaper": uploaded, "accentColor": "#aa3355", "columns": 5, "appVisibility": "boards",
        });
        admin.mutate("site.update", &looks).assert_done();
        for of in [json!(null), json!(group)] {
            let home = json!({"groupId": of, "homeBoardId": board, "mobileHomeBoardId": board});
            admin.mutate("board.setDefaultHome", &home).assert_done();
        }
        let invite = json!({
            "expirationDate": "2999-12-31T00:00:00.000Z", "note": "Grandma", "groupIds": [group],
        });
        admin.output_of("invite.createInvite", &invite);
        admin.output_of("user.createPasswordLink", &json!({"userId": alice.id}));
        server.sign_in("alice", PASSWORD);
        let gate = json!({"id": app, "addresses": ["https://tv.home.example/", "http://tv.lan:8096/x"], "isOpen": true});
        admin.mutate("gate.update", &gate).assert_done();
        assert!(server.stop().status.success());
        let database = rusqlite::Connection::open(server.data().join("portico.db")).expect("the database");
        let insert = "INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
            VALUES (?1, ?2, ?2, ?2, ?2, ?2, ?2)";
        for (number, text) in TEXTS.iter().enumerate() {
            database
                .execute(insert, [format!("text {number}"), (*text).to_owned()])
                .expect("an app");
        }
        let subject = "s".repeat(3000);
        let hash = |subject: &str| hash_secret(subject).map(|byte| format!("{byte:02x}")).concat();
        let rest = format!(
            "UPDATE user_account SET email = 'a@b', email_verified = 1700000000000, image = 'data:,' || hex(zeroblob(200000)),
                home_board_id = '{board}', mobile_home_board_id = '{board}', first_day_of_week = 6,
                ping_icons_enabled = 1, default_search_engine_id = '{engine}', open_search_in_new_tab = 1,
                color_scheme = 'light', password_version = 5000000000
                WHERE id = '{alice}';
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
                open_search_in_new_tab, disabled) VALUES ('gone', 'oidc', 'gone', 'gone', 'auto', 0, 0, 0, 1);
            INSERT INTO identity VALUES ('oidc', x'{long}', '{subject}', 'gone'), ('ldap', x'{short}', 'cn=ÄÖÜ', 'gone');
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
                open_search_in_new_tab, disabled) SELECT id, 'oidc', id, id, 'auto', 0, 0, 0, 0 FROM {sorted};
            INSERT INTO second_factor VALUES ('f', 'gone', 'passkey', 'A key', 'handle', 'data', 1, 2, 5000000000);
            INSERT INTO recovery_code VALUES ('gone', 9, zeroblob(32));
            INSERT INTO user_extras SELECT id, '{{}}' FROM {sorted};
            INSERT INTO board (id, name, name_key, is_public) SELECT id, id, id, 0 FROM {sorted};
            INSERT INTO board_extras SELECT id, '{{}}' FROM {sorted};
            INSERT INTO gate_pass SELECT id, zeroblob(32), token_hash FROM session LIMIT 1;
            UPDATE search_engine SET description = 'finds';
            UPDATE session SET browser = 'Firefox on Linux', address = '::1';
            UPDATE api_key SET expires_at = 9000000000000, last_used_at = 1700000000001, name = 'robot',
                permissions = 'app-create';
            INSERT INTO api_key (id, secret_hash, user_id, created_at, imported_hash, permissions, read_only)
                VALUES ('0a1b2c3d', zeroblob(32), '{alice}', 1, '$2b$10$imported', '', 1);
            INSERT INTO audit VALUES (4000, unixepoch() * 1000, 'gone', 'key', 'k', '::1', 'r', 'app.create', 'oidc', 'app', 3, 'OK', 1, NULL),
                ({LAST_NUMBER}, unixepoch() * 1000, NULL, 'none', NULL, NULL, 'r', 'sign-in', NULL, NULL, 0, 'UNAUTHORIZED', 12, '+g -h');",
            alice = alice.id,
            // In the order of their bytes, which is not that of any language.
            sorted = "(SELECT 'Bob' AS id UNION ALL SELECT 'alice')",
            subject = subject,
            long = hash(&subject),
            short = hash("cn=ÄÖÜ"),
        );
        database.execute_batch(&rest).expect("the rest");
        drop(database);
        let rows = rows_in(&server.data());
        for (table, (_, rows)) in TABLES.iter().zip(&rows) {
            for (place, column) in table.columns.iter().enumerate() {
                let is_set = rows.iter().any(|row| row[place] != Value::Null);
                assert!(
                    is_set,
                    "{}.{column} is empty: nothing shows that it is copied",
                    table.name
                );
            }
        }
        Self {
            server,
            admin,
            alice,
            app,
            rows,
        }
    }

    /// What was good at the source is good at the service that was started on a copy.
    #[track_caller]
    pub fn assert_alive(&self, copy: &Portico) {
        let session = copy
            .key(&self.admin.token)
            .get("/api/auth/session")
            .assert_status(200)
            .json();
        assert_eq!(session["user"]["name"], "root", "{session}");
        let alice = copy.key(&self.alice.key.key);
        let input = json!({"name": "By an old key", "iconUrl": "/i.svg"});
        let made = alice.mutate("app.create", &input).data();
        let root = copy.sign_in("root", PASSWORD);
        assert_eq!(
            root.query("app.byId", &json!({"id": self.app})).data()["name"],
            "An app"
        );
        // The numbers of the audit log continue.
        let log = root
            .query("audit.getPaginated", &json!({"page": 1, "pageSize": 100}))
            .data();
        let mut rows = log["items"].as_array().expect("rows").iter();
        let creation = rows
            .find(|row| row["target"] == made["appId"])
            .expect("the row of the new app");
        let number = creation["number"].as_u64().expect("a number");
        assert!(
            (LAST_NUMBER + 1..LAST_NUMBER + 10).contains(&number),
            "{creation}"
        );
    }
}
