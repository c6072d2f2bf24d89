//! The service with the hostile component, and callers that make ordinary calls.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use portico_tests::{Answer, Client, Fixtures, Key, Portico, User, administrator, escape, hostile_component};
use serde_json::json;

/// A service with the hostile component. Ada and Grace use it as others use theirs; Mallory makes
/// it misbehave.
pub struct Hostile {
    pub server: Portico,
    pub ada: User,
    pub grace: User,
    pub mallory: User,
    /// Apps that are there from the beginning: id and name.
    apps: Vec<(String, String)>,
}

impl Hostile {
    /// The users and apps are made with the component that ships.
    pub fn start() -> Self {
        let mut server = Portico::start();
        let admin = administrator(&server);
        let group = admin.group("editors", &["app-full-all"]);
        let [ada, grace, mallory] = ["ada", "grace", "mallory"].map(|name| admin.user_in(name, &[&group]));
        let names = ["Archive", "Books", "Calendar", "Diary"];
        let apps = names.map(|name| (admin.app(name), name.to_owned())).into();
        assert!(server.stop().status.success());
        server.start_again_with(&["--component", &hostile_component().to_string_lossy()]);
        Self {
            server,
            ada,
            grace,
            mallory,
            apps,
        }
    }

    /// Mallory asks for a misbehaviour where the answer is a list.
    pub fn attack(&self, misbehaviour: &str) -> Answer {
        ask(&self.mallory.key, misbehaviour)
    }

    /// What there is now, by name.
    pub fn names(&self) -> Vec<String> {
        self.ada.app_names()
    }

    /// Checks that nothing is there but what was there from the beginning.
    #[track_caller]
    pub fn assert_untouched(&self) {
        assert_eq!(self.names(), ["Archive", "Books", "Calendar", "Diary"]);
    }

    /// Runs 1,000 ordinary calls from four concurrent callers, each of which must return the right result. Says whether
    /// they are done.
    pub fn thousand_calls(&self, done: &AtomicBool) {
        let callers = [&self.ada, &self.grace, &self.ada, &self.grace];
        thread::scope(|scope| {
            let threads: Vec<_> = callers
                .into_iter()
                .enumerate()
                .map(|(number, caller)| scope.spawn(move || self.ordinary_calls(caller, number)))
                .collect();
            let made: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            done.store(true, Ordering::SeqCst);
            let made: usize = made.into_iter().map(|made| made.expect("all were right")).sum();
            assert_eq!(made, 1000);
        });
    }

    /// 250 calls: 25 rounds of seven apps read, one created, found and deleted.
    fn ordinary_calls(&self, caller: &User, number: usize) -> usize {
        let mut made = 0;
        for round in 0..25 {
            for step in 0..7 {
                let (id, name) = &self.apps[(number + round + step) % self.apps.len()];
                // Every other one anonymously: this procedure is public.
                let path = format!("/api/apps/{id}");
                let answer = match step % 2 {
                    0 => caller.get(&path),
                    _ => self.server.anonymous().get(&path),
                };
                let expected = json!({
                    "id": id, "name": name, "description": null, "iconUrl": "/icon.svg", "href": null,
                    "pingUrl": null,
                });
                assert_eq!(answer.assert_status(200).json(), expected);
            }
            let name = format!("of caller {number} in round {round}");
            let id = caller.app(&name);
            let found = caller.get(&format!("/api/apps/search?query={}", escape(&name)));
            assert_eq!(found.json()[0]["id"], id.as_str());
            assert_eq!(found.json().as_array().map(Vec::len), Some(1));
            caller.delete(&format!("/api/apps/{id}")).assert_empty();
            made += 10;
        }
        made
    }

    /// Mallory attacks while others make 1,000 calls: again and again if the attack is short, once
    /// if it takes its time.
    #[track_caller]
    pub fn attack_beside_a_thousand_calls(&self, misbehaviour: &str, status: u16, code: &str) {
        let done = AtomicBool::new(false);
        let attacks = thread::scope(|scope| {
            let ordinary = scope.spawn(|| self.thousand_calls(&done));
            let mut attacks = 0;
            let mut longest = Duration::ZERO;
            while attacks == 0 || (!done.load(Ordering::SeqCst) && longest < Duration::from_secs(1)) {
                let began = Instant::now();
                let attack = || self.attack(&misbehaviour.replace('#', &attacks.to_string()));
                let mut answer = attack();
                longest = longest.max(began.elapsed());
                // The time of a call also passes while the machine does other work, and may end it, or its wait for a
                // turn, before the limit that is meant does.
                for _ in 0..2 {
                    if [503, 504].contains(&answer.status) && answer.status != status {
                        answer = attack();
                    }
                }
                assert_refused(&answer, status, code);
                attacks += 1;
            }
            ordinary.join().expect("the ordinary calls");
            attacks
        });
        assert!(attacks > 0);
    }
}

/// Asks for a misbehaviour where the answer is a list.
pub fn ask(caller: &Key, misbehaviour: &str) -> Answer {
    let path = format!(
        "/api/apps/search?query={}",
        escape(&format!("hostile:{misbehaviour}"))
    );
    caller.try_send("GET", &path, &[], None).expect("an answer")
}

/// Asks for a misbehaviour where the answer is one app.
pub fn ask_for_one(caller: &impl Client, misbehaviour: &str) -> Answer {
    let path = format!("/api/apps/{}", escape(&format!("hostile:{misbehaviour}")));
    caller.try_send("GET", &path, &[], None).expect("an answer")
}

/// Checks that a call failed as it should, and says no more than it may.
#[track_caller]
pub fn assert_refused(answer: &Answer, status: u16, code: &str) {
    answer.assert_refused(status, code);
    let message = answer.error()["message"].as_str().expect("a message").to_owned();
    let internal = message
        .strip_prefix("Internal server error (request ")
        .and_then(|rest| rest.strip_suffix(')'));
    match status {
        500 => assert!(internal.is_some_and(|id| id.len() >= 16), "{answer}"),
        _ => assert!(internal.is_none(), "{answer}"),
    }
}
