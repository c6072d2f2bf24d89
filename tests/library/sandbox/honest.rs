//! The default limits let every answer of the component that ships through.

use portico_model::App;
use portico_storage::StoredApp;
use portico_tests::{Builder, Client, Fixtures, NO_INPUT, Portico, administrator, wait_until};

#[test]
fn all_of_100_000_apps_are_answered() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    server.seed(async |transaction| {
        for hundred in 0..100 {
            let app = |number: usize| {
                let name = format!("app {:06}", hundred * 1000 + number);
                StoredApp {
                    name_key: name.clone(),
                    app: App {
                        id: format!("id {name}"),
                        name,
                        description: Some("A service that a family runs in a cupboard".into()),
                        icon_url: "https://icons.example/svg/service.svg".into(),
                        href: Some("https://service.example/".into()),
                        ping_url: None,
                    },
                }
            };
            let apps: Vec<_> = (0..1000).map(app).collect();
            transaction.insert_apps(&apps).await.unwrap();
        }
    });
    let names = admin.app_names();
    assert_eq!(names.len(), 100_000);
    assert!(
        names
            .iter()
            .enumerate()
            .all(|(number, name)| *name == format!("app {number:06}"))
    );
}

#[test]
fn all_of_200_users_with_the_largest_images_are_answered() {
    // Room for all three answers: otherwise one is cut if its client happens to read later than the others.
    let mut server = Builder::default().argument("--limit-unsent=300000000").start();
    let admin = administrator(&server);
    let image = server.seed_largest_users();
    // The image is one that the component takes itself.
    admin
        .mutate(
            "user.setProfileImage",
            &serde_json::json!({"userId": "id user 000", "image": image}),
        )
        .assert_done();
    let users = admin.query("user.getAll", &NO_INPUT).data();
    let images: Vec<_> = users
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|user| user["image"].as_str())
        .collect();
    assert_eq!(images.len(), 200);
    assert!(images.iter().all(|found| *found == image));

    // As many concurrent calls as there is room for.
    std::thread::scope(|scope| {
        // On a slow machine one waits too long for its turn, and asks again, as it is told to.
        let call = || {
            let mut answer = None;
            wait_until("turn", || {
                let sent = admin.try_send("GET", "/api/users", &[], None).expect("an answer");
                answer = Some(sent).filter(|answer| answer.status != 503);
                answer.is_some()
            });
            answer.expect("an answer")
        };
        let calls: Vec<_> = (0..3).map(|_| scope.spawn(call)).collect();
        for call in calls {
            let answer = call.join().unwrap();
            assert_eq!((answer.status, answer.body.len() > 70_000_000), (200, true));
        }
    });
    let peak = super::again::peak(&server);
    assert!(peak < 1500, "{peak} MiB");
}
