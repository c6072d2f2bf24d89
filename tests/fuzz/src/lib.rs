//! What a fuzzer gives hostile bytes to, and what must hold whatever they are.
//!
//! `make fuzz` runs these with libFuzzer, which keeps inputs that reach new branches; the ordinary tests run them with the
//! committed corpus (`tests/corpus.rs`). A target panics if something does not hold. What a fuzzer found has a test of its
//! own next to what was mended, or its input is in the corpus.
//!
//! Some modules are not public, and are compiled here once more: so their crates need not offer them to others.

mod pictures_target;
mod restore_target;
mod state_target;
mod superjson_target;
mod tokens_target;

extern crate alloc;

#[allow(dead_code, reason = "HTTP uses all of it")]
#[path = "../../../host/http/src/trpc/superjson.rs"]
mod superjson;
#[allow(dead_code, reason = "the command line uses all of it")]
#[path = "../../../host/server/src/cli/terminal.rs"]
mod terminal;
#[allow(dead_code, reason = "sign-in uses all of it")]
#[path = "../../../host/sign-in/src/oidc/token.rs"]
mod token;
#[allow(dead_code, reason = "the command line uses all of it")]
#[path = "../../../host/server/src/cli/yaml.rs"]
mod yaml;

/// Gives bytes to what is tested.
pub type Target = fn(&[u8]);

/// The targets and their names.
pub const TARGETS: [(&str, Target); 5] = [
    ("pictures", pictures_target::run),
    ("restore", restore_target::run),
    ("state", state_target::run),
    ("superjson", superjson_target::run),
    ("tokens", tokens_target::run),
];

/// The target of this name.
pub fn find(name: &str) -> Option<Target> {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.map(|(_, run)| *run)
}
