//! The default limits let every answer of the component that ships through.

use std::sync::Arc;

use portico_model::App;
use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, Storage, StoredApp};
use portico_tests::{Client, Fixtures, NO_INPUT, Portico, administrator, new_user};

/// A service whose database has this in it besides an administrator.
async fn seeded<F>(seed: impl FnOnce(Arc<SqliteStorage>) -> F) -> (Portico, portico_tests::Session)
where
    F: Future<Output = ()>,
{
    let mut server = Portico::start();
    let admin = administrator(&server);
    assert!(server.stop().status.success());
    let database = server.data().join("portico.db");
    assert!(database.exists());
    seed(Arc::new(SqliteStorage::open(&database).unwrap())).await;
    server.start_again();
    (server, admin)
}

#[tokio::test]
async fn all_of_100_000_apps_are_answered() {
    let (_server, admin) = seeded(async |storage| {
        let context = Identity::operator().context("seed");
        let mut transaction = storage.begin(Access::Write, &context).await.unwrap();
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
        transaction.commit().await.unwrap();
    })
    .await;
    let names = admin.app_names();
    assert_eq!(names.len(), 100_000);
    assert!(
        names
            .iter()
            .enumerate()
            .all(|(number, name)| *name == format!("app {number:06}"))
    );
}

#[tokio::test]
async fn all_of_200_users_with_the_largest_images_are_answered() {
    // The signature of a PNG, then as much as fits: base64 comes in fours.
    let image = format!("data:image/png;base64,iVBORw0KGgoA{}", "A".repeat(349_964));
    assert_eq!(image.len(), 349_998);
    let (server, admin) = seeded(async |storage| {
        let context = Identity::operator().context("seed");
        let mut transaction = storage.begin(Access::Write, &context).await.unwrap();
        for number in 0..200 {
            let name = format!("user {number:03}");
            let mut user = new_user(&format!("id {name}"), &name);
            user.user.image = Some(image.clone());
            transaction.insert_user(&user).await.unwrap();
        }
        transaction.commit().await.unwrap();
    })
    .await;
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

    // As many at once as there is room for.
    std::thread::scope(|scope| {
        let call = || admin.try_send("GET", "/api/users", &[], None).expect("an answer");
        let calls: Vec<_> = (0..3).map(|_| scope.spawn(call)).collect();
        for call in calls {
            let answer = call.join().unwrap();
            assert_eq!((answer.status, answer.body.len() > 70_000_000), (200, true));
        }
    });
    let peak = super::again::peak(&server);
    assert!(peak < 1500, "{peak} MiB");
}
