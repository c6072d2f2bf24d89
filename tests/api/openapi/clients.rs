//! The document for programs: whether it is what OpenAPI says, and whether a client that is generated
//! from it works.

use std::{fs, process::Command};

use portico_tests::{Client, PASSWORD, Portico, administrator, node};

#[test]
fn it_is_openapi_and_a_client_generated_from_it_works() {
    let folder = node::client("openapi");
    let server = Portico::start();
    administrator(&server);
    let generated = folder.join("generated");
    fs::create_dir_all(&generated).expect("a folder");
    let document = generated.join("openapi.json");
    fs::write(&document, server.anonymous().get("/api/openapi").body).expect("write the document");

    let npx = |arguments: &[&str]| {
        // What is not installed is not downloaded.
        node::succeed(
            Command::new("npx")
                .arg("--no")
                .args(arguments)
                .current_dir(&folder),
        );
    };
    node::succeed(
        Command::new("node")
            .arg("validate.mjs")
            .arg(&document)
            .current_dir(&folder),
    );
    npx(&[
        "openapi-typescript",
        "generated/openapi.json",
        "--output",
        "generated/schema.d.ts",
    ]);
    npx(&["tsc"]);
    node::succeed(
        Command::new("node")
            .args(["--test", "--test-reporter=spec", "build/client.test.js"])
            .current_dir(&folder)
            .env("PORTICO_URL", format!("http://{}", server.address()))
            .env("PORTICO_PASSWORD", PASSWORD),
    );
}
