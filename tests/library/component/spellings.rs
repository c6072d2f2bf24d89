//! Storage that takes every spelling of a UUID for the same id, as a column of the type `uuid` does. The component compares
//! ids as texts: under another spelling there is no such user and no such app.

use std::sync::Arc;

use async_trait::async_trait;
use portico_model::{
    App, AppChange, AppInput, Caller, ColorScheme, HomeBoards, PasswordChange, ProfileChange,
    SearchPreferences, TextChange, Timestamp, User,
    error::{Code, Error as Refusal},
};
use portico_storage::{
    Access, Account, AccountKey, AppFilter, CallContext, ListedUser, NewUser, Profile, ProviderSubject,
    Result, Slice, Storage, StoredApp, Transaction, UserFilter, Viewer, memory::MemoryStorage,
};

use super::harness::{Harness, account, admin, anonymous, call, call_context, user};

struct Folding(Arc<MemoryStorage>);

#[async_trait]
impl Storage for Folding {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(FoldingTransaction(self.0.begin(access, context).await?)))
    }
}

/// The canonical spelling, if it is a UUID.
fn fold(id: &str) -> String {
    let digits: String = id
        .chars()
        .filter(|character| !"{}-".contains(*character))
        .collect();
    let digits = digits.to_lowercase();
    if digits.len() != 32 {
        return id.into();
    }
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

struct FoldingTransaction(Box<dyn Transaction>);

/// Forwards the functions, with the first parameter folded if it is in brackets.
macro_rules! forward {
    (
        $($name:ident $([$id:ident])? ($($argument:ident: $type:ty),*) -> $answer:ty;)+
        { $($also:item)* }
    ) => {
        #[async_trait]
        impl Transaction for FoldingTransaction {
            $(async fn $name(&mut self, $($id: &str,)? $($argument: $type),*) -> Result<$answer> {
                self.0.$name($(&fold($id),)? $($argument),*).await
            })+
            $($also)*
        }
    };
}

forward! {
    has_users() -> bool;
    get_user[id]() -> Option<User>;
    list_users(filter: &UserFilter, slice: Slice, with_images: bool) -> Vec<ListedUser>;
    count_users(filter: &UserFilter) -> u32;
    insert_user(user: &NewUser) -> ();
    insert_identity[user_id](subject: &ProviderSubject) -> ();
    set_profile[id](profile: &Profile) -> bool;
    set_image[id](image: Option<&str>) -> bool;
    set_home_boards[id](boards: &HomeBoards) -> bool;
    set_search_preferences[id](preferences: &SearchPreferences) -> bool;
    set_color_scheme[id](color_scheme: ColorScheme) -> bool;
    set_ping_icons_enabled[id](enabled: bool) -> bool;
    set_first_day_of_week[id](day: u8) -> bool;
    set_disabled[id](disabled: bool) -> bool;
    set_password_if[id](old: Option<&str>, new: &str) -> bool;
    rehash_password_if[id](old: &str, new: &str) -> bool;
    delete_user[id]() -> bool;
    has_another_admin[except]() -> bool;
    grant_admin[id]() -> ();
    add_to_group[user_id](group_id: &str) -> bool;
    has_invite[id](token: &str, now: Timestamp) -> bool;
    take_invite[id](token: &str, now: Timestamp) -> bool;
    can_view_board[user_id](board_id: &str) -> bool;
    has_search_engine[id]() -> bool;
    get_app[id](viewer: &Viewer) -> Option<App>;
    list_apps(filter: &AppFilter, slice: Slice) -> Vec<App>;
    count_apps(filter: &AppFilter) -> u32;
    insert_apps(apps: &[StoredApp]) -> ();
    delete_app[id]() -> bool;
    {
        async fn commit(self: Box<Self>) -> Result<()> {
            self.0.commit().await
        }

        async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
            match key {
                AccountKey::Id(id) => self.0.get_account(&AccountKey::Id(fold(id))).await,
                other => self.0.get_account(other).await,
            }
        }

        async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
            let ids: Vec<_> = ids.iter().map(|id| fold(id)).collect();
            self.0.get_apps(&ids, viewer).await
        }

        async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
            let mut app = app.clone();
            app.app.id = fold(&app.app.id);
            self.0.update_app(&app).await
        }
    }
}

/// Other texts of the same UUID.
fn spellings(id: &str) -> [String; 3] {
    [id.to_uppercase(), format!("{{{id}}}"), id.replace('-', "")]
}

/// An administrator with an app, over storage that folds ids.
async fn ada_and_her_app() -> (Harness, Caller, String, App) {
    let storage = Arc::new(MemoryStorage::new());
    let harness = Harness::over(storage.clone(), Arc::new(Folding(storage)));
    let ada = account("ada");
    let id = call!(
        harness,
        portico_dashboard_users.call_init_user(&anonymous(), &ada)
    )
    .unwrap();
    let caller = user(&id, &["admin"]);
    let input = AppInput {
        name: "Jellyfin".into(),
        icon_url: "/icon.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    };
    let app = call!(harness, portico_dashboard_apps.call_create(&caller, &input)).unwrap();
    (harness, caller, id, app)
}

#[track_caller]
fn assert_not_found<T: std::fmt::Debug>(answer: std::result::Result<T, Refusal>) {
    assert_eq!(answer.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn a_user_is_not_there_under_another_spelling_of_the_id() {
    let (harness, ada, id, _) = ada_and_her_app().await;
    let before = call!(harness, portico_dashboard_users.call_get_by_id(&ada, &id)).unwrap();
    for other in spellings(&id) {
        macro_rules! not_found {
            ($function:ident($($argument:expr),*)) => {
                let answer = call!(harness, portico_dashboard_users.$function(&admin(), $($argument),*));
                assert_not_found(answer);
            };
        }
        not_found!(call_get_by_id(&other));
        not_found!(call_set_profile_image(&other, None));
        not_found!(call_set_disabled(&other, true));
        not_found!(call_change_ping_icons_enabled(&other, true));
        not_found!(call_change_first_day_of_week(&other, 3));
        let boards = HomeBoards {
            home_board_id: None,
            mobile_home_board_id: None,
        };
        not_found!(call_change_home_boards(&other, &boards));
        let preferences = SearchPreferences {
            default_search_engine_id: None,
            open_in_new_tab: false,
        };
        not_found!(call_change_search_preferences(&other, &preferences));
        let profile = ProfileChange {
            id: other.clone(),
            name: "eve".into(),
            email: TextChange::Keep,
        };
        not_found!(call_edit_profile(&profile));
        let password = PasswordChange {
            user_id: other.clone(),
            previous_password: None,
            password: "another horse".into(),
        };
        not_found!(call_change_password(&password));
        // Nor does the user get around the previous password.
        let own = call!(
            harness,
            portico_dashboard_users.call_change_password(&ada, &password)
        );
        assert_not_found(own);
        call!(harness, portico_dashboard_users.call_delete(&admin(), &other)).unwrap();
    }
    let after = call!(harness, portico_dashboard_users.call_get_by_id(&ada, &id)).unwrap();
    assert_eq!(after, before);
    let sign_in = call!(
        harness,
        portico_dashboard_sign_in.call_password(&call_context(), "ada", "correct horse")
    );
    assert_eq!(sign_in.unwrap().id, id);
}

#[tokio::test]
async fn an_app_is_not_there_under_another_spelling_of_the_id() {
    let (harness, ada, _, app) = ada_and_her_app().await;
    for other in spellings(&app.id) {
        assert_not_found(call!(harness, portico_dashboard_apps.call_by_id(&ada, &other)));
        let found = call!(
            harness,
            portico_dashboard_apps.call_by_ids(&ada, std::slice::from_ref(&other))
        );
        assert_eq!(found.unwrap(), []);
        let change = AppChange {
            id: other.clone(),
            name: Some("Eve".into()),
            icon_url: None,
            description: TextChange::Keep,
            href: TextChange::Keep,
            ping_url: TextChange::Keep,
        };
        assert_not_found(call!(harness, portico_dashboard_apps.call_update(&ada, &change)));
        call!(harness, portico_dashboard_apps.call_delete(&ada, &other)).unwrap();
    }
    let present = call!(harness, portico_dashboard_apps.call_by_id(&ada, &app.id));
    assert_eq!(present.unwrap(), app);
}
