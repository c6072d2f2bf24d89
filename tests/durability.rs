//! What was answered with success is there after the process was killed, and nothing is there by
//! half.

use std::collections::BTreeMap;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

#[test]
fn what_was_answered_is_there_after_a_kill() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let group = admin.group("editors", &["app-modify-all"]);
    let alice = admin.user_in("alice", &[&group]);
    let app = admin.app("An app");
    let board = admin.board_of("A board", true, &json!([{"kind": "app", "appId": app}]));
    let invite = admin.invite();
    admin
        .mutate(
            "user.changeFirstDayOfWeek",
            &json!({"id": alice.id, "firstDayOfWeek": 6}),
        )
        .assert_done();
    admin
        .mutate("app.update", &json!({"id": app, "name": "Renamed"}))
        .assert_done();

    server.kill();
    server.start_again();
    assert_eq!(admin.user_names(), ["alice", "root"]);
    assert_eq!(alice.profile(&alice.id)["firstDayOfWeek"], 6);
    // Whom the permission came to, it still comes to.
    alice
        .mutate("app.update", &json!({"id": app, "description": "by alice"}))
        .assert_done();
    assert_eq!(alice.app_names(), ["Renamed"]);
    assert_eq!(
        admin.query("board.byId", &json!({"id": board})).data()["items"][0]["appId"],
        app.as_str()
    );
    let input = json!({
        "username": "guest", "password": PASSWORD, "email": "g@example.com", "inviteId": invite.id,
        "token": invite.token,
    });
    server
        .anonymous()
        .mutate("user.register", &input)
        .assert_status(200);
    admin
        .mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();

    server.kill();
    server.start_again();
    alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    server
        .anonymous()
        .mutate("user.register", &input)
        .assert_refused(403, "FORBIDDEN");
    assert_eq!(admin.user_names(), ["guest", "root"]);
    server.sign_in("guest", PASSWORD);
}

/// A small generator of random numbers (xorshift), so that a failure can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// What one writer knows of its apps, which are its alone: the state that was answered last, and the one that was on
/// its way when the service was killed. `None` is an app that is not there.
#[derive(Default)]
struct Known {
    number: usize,
    steps: usize,
    answered: BTreeMap<String, Option<Value>>,
    on_its_way: Option<(String, Option<Value>)>,
    unknown_creations: Vec<Value>,
}

const WRITERS: usize = 4;

/// Writes at random until the service does not answer any more.
fn write_until_killed(
    client: &dyn Client,
    mut random: Random,
    done: &mpsc::Sender<()>,
    known: &Mutex<Known>,
) {
    let mut known = known.lock().expect("the lock");
    loop {
        known.steps += 1;
        let living: Vec<_> = known
            .answered
            .iter()
            .filter(|(_, app)| app.is_some())
            .map(|(id, _)| id.clone())
            .collect();
        let name = format!("writer {} step {}", known.number, known.steps);
        let chosen = (!living.is_empty()).then(|| living[random.below(living.len())].clone());
        let (procedure, input, after) = match (random.below(4), chosen) {
            (0 | 1, _) | (_, None) => ("app.create", json!({"name": name, "iconUrl": "/i.svg"}), None),
            (2, Some(id)) => {
                let mut app = known.answered[&id].clone().expect("a living app");
                app["name"] = name.into();
                (
                    "app.update",
                    json!({"id": id, "name": app["name"]}),
                    Some((id, Some(app))),
                )
            }
            (_, Some(id)) => ("app.delete", json!({"id": id}), Some((id, None))),
        };
        let headers = [("content-type", "application/json")];
        let path = format!("/api/trpc/{procedure}");
        match client.try_send("POST", &path, &headers, Some(input.to_string().as_bytes())) {
            Ok(answer) => {
                let data = answer.data();
                let (id, state) = after.unwrap_or_else(|| {
                    let id = data["appId"].as_str().expect("an id").to_owned();
                    let app = json!({
                        "id": id, "name": data["name"], "iconUrl": "/i.svg", "description": null, "href": null,
                        "pingUrl": null,
                    });
                    (id, Some(app))
                });
                known.answered.insert(id, state);
                // Nobody counts any more once the service is being killed.
                let _ = done.send(());
            }
            Err(_) => {
                match after {
                    Some(change) => known.on_its_way = Some(change),
                    None => known.unknown_creations.push(input["name"].clone()),
                }
                return;
            }
        }
    }
}

#[test]
fn random_writes_survive_kills_at_random_moments() {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    let seed = clock.as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut server = Portico::start();
    let admin = administrator(&server).bearer();
    let writers = (0..WRITERS).map(|number| {
        Mutex::new(Known {
            number,
            ..Known::default()
        })
    });
    let known: Vec<_> = writers.collect();

    for round in 0..5 {
        let (done, writes) = mpsc::channel();
        let enough = 20 + random.below(60);
        thread::scope(|scope| {
            for writer in &known {
                let random = Random(random.below(usize::MAX) as u64 | 1);
                let (done, client) = (done.clone(), admin.clone());
                scope.spawn(move || write_until_killed(&client, random, &done, writer));
            }
            drop(done);
            assert_eq!(
                writes.iter().take(enough).count(),
                enough,
                "the writers gave up early"
            );
            server.kill();
        });
        server.start_again();
        let apps = admin.query("app.all", &NO_INPUT).data();
        let mut apps: BTreeMap<_, _> = apps
            .as_array()
            .expect("a list")
            .iter()
            .map(|app| (app["id"].as_str().expect("an id").to_owned(), app.clone()))
            .collect();
        for writer in &known {
            let mut writer = writer.lock().expect("the lock");
            let pending = writer.on_its_way.take();
            for (id, answered) in &mut writer.answered {
                let stored = apps.remove(id);
                let on_its_way = pending
                    .as_ref()
                    .filter(|(changed, _)| changed == id)
                    .map(|(_, app)| app);
                let true_to_it = stored == *answered || on_its_way.is_some_and(|state| stored == *state);
                assert!(
                    true_to_it,
                    "seed {seed}, round {round}: {answered:?} was answered, found {stored:?}"
                );
                *answered = stored;
            }
            // What was on its way when the service was killed may be there, whole.
            for name in std::mem::take(&mut writer.unknown_creations) {
                let found = apps
                    .iter()
                    .find(|(_, app)| app["name"] == name)
                    .map(|(id, _)| id.clone());
                if let Some(id) = found {
                    let app = apps.remove(&id);
                    writer.answered.insert(id, app);
                }
            }
        }
        assert!(
            apps.is_empty(),
            "seed {seed}, round {round}: nobody wrote {apps:?}"
        );
    }
}
