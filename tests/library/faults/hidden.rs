//! What a caller may not see is looked up like what does not exist, so that the time that it takes does not tell.

use portico_storage::Error;
use portico_tests::{Client, Fixtures, PASSWORD};
use serde_json::json;

use super::first_user;
use super::server::{Driver, Server, Store};
use super::storage::Failing;

#[test]
fn a_board_that_is_hidden_is_looked_up_like_one_that_does_not_exist() {
    let store = Store::new(&Driver::Memory);
    let server = Server::start(&store);
    let client = &server.client;
    client.mutate("user.initUser", &first_user()).assert_status(200);
    let root = client.sign_in("root", PASSWORD);
    let board = json!({"name": "Secret", "slug": "secret", "isPublic": false, "items": []});
    let id = root.output_of("board.create", &board)["id"].clone();
    let id = id.as_str().expect("an id");
    root.user("bob");
    let bob = client.sign_in("bob", PASSWORD);
    let callers: [&dyn Client; 2] = [client, &bob];
    for caller in callers {
        let calls_of = |path: String| {
            server.storage.plan.set(Failing::None, Error::Retry);
            caller.get(&path).assert_refused(404, "NOT_FOUND");
            server.storage.plan.end().names
        };
        for (path, hidden) in [("/api/boards/", id), ("/api/boards/by-slug/", "secret")] {
            let missing = calls_of(format!("{path}another"));
            assert_eq!(calls_of(format!("{path}{hidden}")), missing, "{path}");
            assert!(!missing.contains(&"get_board"), "{missing:?}");
        }
    }
}
