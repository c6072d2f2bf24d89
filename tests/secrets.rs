//! No password, no hash and no token that a call did not issue itself ever leaves the service: not
//! in an answer, not in a log, not in a file.

use std::sync::Mutex;

use portico_tests::{Answer, Builder, Client, Door, Fixtures, NO_INPUT, PASSWORD, Session, administrator};
use serde_json::json;

/// A client who remembers every answer.
struct Recorder<'a> {
    client: &'a Session,
    answers: Mutex<Vec<Answer>>,
}

impl Client for Recorder<'_> {
    fn door(&self) -> &Door {
        self.client.door()
    }

    fn credentials(&self) -> Vec<(String, String)> {
        self.client.credentials()
    }

    fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> anyhow::Result<Answer> {
        let answer = self.client.try_send(method, path, headers, body)?;
        self.answers.lock().expect("the lock").push(answer.clone());
        Ok(answer)
    }
}

const NEW_PASSWORD: &str = "canary-number-two-&4";

#[test]
fn nothing_that_is_secret_comes_out() {
    let mut server = Builder::default().environment("PORTICO_LOG", "trace").start();
    let session = administrator(&server);
    let admin = Recorder {
        client: &session,
        answers: Mutex::default(),
    };

    // Each secret, and the one answer that may hold it.
    let invite = admin.invite();
    let mut issued = vec![invite.token.clone(), session.token.clone(), session.bearer().key];
    issued.push(admin.make("apiKeys.create", &json!({}), "apiKey"));
    let alice = admin.user_with("alice", "app-create");
    issued.push(alice.key.key.clone());
    let signing_in = admin.post(
        "/api/auth/sign-in",
        &json!({"username": "alice", "password": PASSWORD}),
    );
    issued.push(signing_in.json()["token"].as_str().expect("a token").to_owned());
    let by_rest = admin.post(
        "/api/invites",
        &json!({"expirationDate": "2999-12-31T00:00:00.000Z"}),
    );
    issued.push(by_rest.json()["token"].as_str().expect("a token").to_owned());

    let user = json!({"userId": alice.id});
    for path in [
        "/api/users",
        "/api/users/selectable",
        "/api/apps",
        "/api/invites",
        "/api/auth/session",
    ] {
        admin.get(path).assert_status(200);
    }
    for procedure in [
        "user.getAll",
        "user.selectable",
        "apiKeys.getAll",
        "invite.getAll",
        "group.getAll",
        "board.getAll",
        "searchEngine.getAll",
        "onboard.currentStep",
        "app.all",
    ] {
        admin.query(procedure, &NO_INPUT).assert_status(200);
    }
    admin.query("user.getById", &user).assert_status(200);
    admin
        .post("/api/users/search", &json!({"query": ""}))
        .assert_status(200);

    // Refusals must not repeat what they refuse.
    let account = json!({"username": "al", "password": PASSWORD, "email": 5, "groupIds": []});
    admin.mutate("user.create", &account).assert_status(400);
    admin
        .post(
            "/api/users",
            &json!({"username": "alice", "password": PASSWORD, "groupIds": []}),
        )
        .assert_status(409);
    admin.mutate("user.initUser", &account).assert_status(403);
    let wrong = json!({"userId": session.user_id, "previousPassword": NEW_PASSWORD, "password": PASSWORD});
    admin.mutate("user.changePassword", &wrong).assert_status(403);
    let wrong =
        json!({"userId": session.user_id, "previousPassword": [PASSWORD], "password": {"x": PASSWORD}});
    admin.mutate("user.changePassword", &wrong).assert_status(400);
    let right = json!({"userId": session.user_id, "previousPassword": PASSWORD, "password": NEW_PASSWORD});
    admin.mutate("user.changePassword", &right).assert_status(200);
    admin
        .post(
            "/api/auth/sign-in",
            &json!({"username": "root", "password": PASSWORD}),
        )
        .assert_status(401);
    admin
        .post("/api/auth/sign-in", &json!({"username": PASSWORD, "password": 5}))
        .assert_status(400);
    let registration = json!({
        "username": "guest", "password": PASSWORD, "email": "g@example.com", "inviteId": invite.id, "token": "wrong",
    });
    admin.mutate("user.register", &registration).assert_status(403);
    admin
        .send_text(
            "POST",
            "/api/trpc/user.create",
            &format!("{{\"password\": \"{PASSWORD}\""),
        )
        .assert_status(400);
    server
        .anonymous()
        .get(&format!("/api/users?key={}", alice.key.key))
        .assert_status(401);

    let answers = admin.answers.into_inner().expect("the lock");
    assert!(answers.len() > 25, "{} answers", answers.len());
    for answer in &answers {
        let text = format!("{} {:?}", answer.text(), answer.headers);
        for password in [PASSWORD, NEW_PASSWORD, "$argon2"] {
            assert!(!text.contains(password), "{password} came out: {answer}");
        }
    }
    for secret in &issued {
        let holders = answers
            .iter()
            .filter(|answer| answer.text().contains(secret.as_str()))
            .count();
        assert!(holders <= 1, "a token was shown {holders} times");
    }

    let log = server.stop().text();
    assert!(log.lines().count() > 1, "there is a log to look into");
    let files: Vec<_> = std::fs::read_dir(server.data())
        .expect("the data directory")
        .map(|file| file.expect("a file").path())
        .filter(|file| file.is_file())
        .collect();
    assert!(!files.is_empty(), "there are files to look into");
    for secret in issued.iter().map(String::as_str).chain([PASSWORD, NEW_PASSWORD]) {
        // What stands before the dot of a key is its id, which is no secret.
        let secret = secret.rsplit('.').next().unwrap_or(secret);
        assert!(!log.contains(secret), "a secret is in the log:\n{log}");
        for file in &files {
            let bytes = std::fs::read(file).expect("read the file");
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "a secret is in {}", file.display());
        }
    }
    assert!(!log.contains("$argon2"), "a hash is in the log");
}
