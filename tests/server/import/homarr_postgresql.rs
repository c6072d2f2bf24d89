//! An import into PostgreSQL.

use portico_tests::postgresql::Postgresql;
use portico_tests::{Builder, Client};
use serde_json::json;

use super::{OLD_PASSWORD, Workspace, created, report};

#[test]
#[ignore = "make test-all"]
fn homarr_moves_into_postgresql() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let place = Workspace::new();
    let file = place.everything();
    let scratch = place.path("scratch");
    let first = report(&file, &scratch, &["--database", &url]);
    assert_eq!(created(&first), [3, 7, 5, 2, 3, 2, 1]);
    let second = report(&file, &scratch, &["--database", &url]);
    assert_eq!(created(&second), [0; 7]);

    let server = Builder::default().environment("PORTICO_DATABASE", &url).start();
    let ada = server.sign_in("ada", OLD_PASSWORD);
    let user = ada.query("user.getById", &json!({"userId": "userada"})).data();
    assert_eq!(user["homeBoardId"], "boardhome");
    let key = format!("0a1b2c3d.{}", "0123456789abcdef".repeat(3));
    let wrong = key.replace("0123", "1123");
    server
        .key(&wrong)
        .get("/api/apps")
        .assert_refused(401, "UNAUTHORIZED");
    server.key(&key).get("/api/apps").assert_status(200);
    let imported = "SELECT imported_hash IS NULL FROM api_key WHERE id = '0a1b2c3d'";
    assert_eq!(postgresql.run("home", imported), "t");
    server.key(&key).get("/api/apps").assert_status(200);
}
