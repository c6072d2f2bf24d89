//! Signing in on the console's page by an identity provider, in Chromium.

use std::process::Command;

use portico_tests::{Portico, administrator, node};

use crate::{
    ldap::slapd::{PASSWORD, Slapd},
    oidc::harness,
};

#[track_caller]
fn run(server: &Portico, name: &str, value: &str) {
    let mut command = Command::new("node");
    command
        .args(["--test", "--test-reporter=spec", "external.test.mjs"])
        .current_dir(node::client("console"))
        .env("PORTICO_URL", format!("http://{}", server.address()))
        .env("CHROMIUM", node::chromium())
        .env(name, value);
    println!("{}", node::succeed(&mut command));
}

#[test]
#[ignore = "make test-all"]
fn the_page_signs_in_by_an_issuer_and_puts_its_refusals_into_words() {
    let (_issuer, server, _administrator) = harness::start(&[("PORTICO_OIDC_LABEL", "Our issuer")]);
    run(&server, "OIDC_LABEL", "Our issuer");
}

#[test]
#[ignore = "make test-all"]
fn the_page_signs_in_by_a_directory() {
    let slapd = Slapd::start();
    let server = slapd.service().start();
    administrator(&server);
    run(&server, "LDAP_PASSWORD", PASSWORD);
}
