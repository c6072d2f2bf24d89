//! The unmodified tRPC client in Node against the service: `clients/trpc/judge.test.mjs`.

use std::process::Command;

use portico_tests::{Fixtures, Portico, administrator, node};

#[test]
fn the_unmodified_trpc_client_works() {
    let folder = node::client("trpc");

    let server = Portico::start();
    let administrator = administrator(&server);
    let key = administrator.key_of(&administrator.user_id);
    node::succeed(
        Command::new("node")
            .args(["--test", "--test-reporter=spec", "judge.test.mjs"])
            .current_dir(&folder)
            .env("PORTICO_URL", format!("http://{}", server.address()))
            .env("PORTICO_KEY", &key.key)
            .env("PORTICO_USER_ID", &administrator.user_id),
    );
}
