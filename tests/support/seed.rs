//! Records that go straight into the database of a service: too many, or too large, to be made by calls.

use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, DashboardStorage, DashboardTransaction};
use tokio::runtime::Runtime;

use crate::{Portico, new_user};

impl Portico {
    /// Stops it, changes its database in one transaction, and starts it again.
    #[track_caller]
    pub fn seed(&mut self, change: impl AsyncFnOnce(&mut dyn DashboardTransaction)) {
        assert!(self.stop().status.success());
        let database = self.data().join("portico.db");
        assert!(database.exists());
        let storage = SqliteStorage::open(&database).expect("the database");
        Runtime::new().expect("a runtime").block_on(async {
            let context = Identity::operator().context("seed");
            let transaction = storage.begin_dashboard(Access::Write, &context).await;
            let mut transaction = transaction.expect("a transaction");
            change(&mut *transaction).await;
            transaction.commit().await.expect("a commit");
        });
        drop(storage);
        self.start_again();
    }

    /// 200 users, `user 000` and so on, with the largest images: a list of 70 MB. Their ids are `id ` and the
    /// name. Gives the image.
    #[track_caller]
    pub fn seed_largest_users(&mut self) -> String {
        // The signature of a PNG, then as much as fits: base64 comes in fours.
        let image = format!("data:image/png;base64,iVBORw0KGgoA{}", "A".repeat(349_964));
        assert_eq!(image.len(), 349_998);
        self.seed(async |transaction| {
            for number in 0..200 {
                let name = format!("user {number:03}");
                let mut user = new_user(&format!("id {name}"), &name);
                user.user.image = Some(image.clone());
                transaction.insert_user(&user).await.expect("a new user");
            }
        });
        image
    }
}
