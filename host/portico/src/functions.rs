//! The functions of the contract, typed. `wit/users.wit`, `wit/apps.wit` and `wit/sign-in.wit` say what each takes,
//! returns and refuses.

use std::{net::IpAddr, sync::Arc};

use portico_model::refusal::Missing;
use portico_model::{
    App, AppChange, AppDraft, AppInput, AppPage, ColorScheme, HomeBoards, NewAccount, PasswordChange,
    ProfileChange, Registration, SearchPreferences, User, UserMatch, UserOption, UserPage, UserQuery,
    UserSummary, error::Error,
};
use portico_sandbox::{ExternalIdentity, Linking, SignedIn, ask};
use portico_service::{
    identity::Identity,
    request_id::new_request_id,
    service::{Service, report},
    sign_in::{Claim, verify},
};

/// The users. Every function takes the caller first, and checks access itself.
pub struct Users(pub(super) Arc<Service>);

/// The apps. Every function takes the caller first, and checks access itself.
pub struct Apps(pub(super) Arc<Service>);

/// Authentication of users. The dashboard begins the session and sets the cookie afterwards.
pub struct SignIn(pub(super) Arc<Service>);

macro_rules! functions {
    ($group:ident, $interface:ident: $(
        $(#[$about:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $procedure:literal, $function:ident($($given:expr),*);
    )+) => {
        impl $group {
            $(
                $(#[$about])*
                pub async fn $name(&self, caller: &Identity, $($argument: $type),*) -> Result<$answer, Error> {
                    let procedure = self.0.table.find($procedure);
                    let procedure = procedure.ok_or_else(|| Error::not_found(Missing::Procedure))?;
                    self.0
                        .call_with(procedure, caller, &new_request_id(), |mut call| async move {
                            let mut instance = call.enter().await?;
                            let answer = ask!(instance.$interface.$function(&call.caller(), $($given),*));
                            let answer = instance.read_result(answer);
                            instance.leave();
                            answer
                        })
                        .await
                }
            )+
        }
    };
}

functions! { Users, portico_dashboard_users:
    /// All users by name. Permission `admin`.
    get_all() -> Vec<UserSummary> = "user.getAll", call_get_all();
    /// One page of the users by name, without images. Permission `admin`.
    get_paginated(query: UserQuery) -> UserPage = "user.getPaginated", call_get_paginated(&query);
    /// Users to choose from, by name. Any signed-in caller.
    selectable(exclude_external_providers: Option<bool>) -> Vec<UserOption>
        = "user.selectable", call_selectable(exclude_external_providers);
    /// The first users by name whose name contains the query. Permission `admin`. `limit` is 1 to 100, and 10 by
    /// default.
    search(query: String, limit: Option<u32>) -> Vec<UserMatch> = "user.search", call_search(&query, limit);
    /// One user. Own or admin.
    get_by_id(user_id: String) -> User = "user.getById", call_get_by_id(&user_id);
    /// Creates the first user, with the permission `admin`, and returns its id.
    init_user(account: NewAccount) -> String = "user.initUser", call_init_user(&account);
    /// Creates a user with an invite, which is used up, and returns its id.
    register(registration: Registration) -> String = "user.register", call_register(&registration);
    /// Creates a user who is a member of these groups, and returns its id. Permission `admin`.
    create(account: NewAccount, group_ids: Vec<String>) -> String
        = "user.create", call_create(&account, &group_ids);
    /// Sets or removes a profile image. Own or admin.
    set_profile_image(user_id: String, image: Option<String>) -> ()
        = "user.setProfileImage", call_set_profile_image(&user_id, image.as_deref());
    /// Changes name and email. Own or admin.
    edit_profile(change: ProfileChange) -> () = "user.editProfile", call_edit_profile(&change);
    /// Changes a password and ends the user's other sessions. If an administrator sets it, the user's API
    /// keys end as well. Own or admin.
    change_password(change: PasswordChange) -> () = "user.changePassword", call_change_password(&change);
    /// Sets the home boards. Own or admin.
    change_home_boards(user_id: String, boards: HomeBoards) -> ()
        = "user.changeHomeBoards", call_change_home_boards(&user_id, &boards);
    /// Sets the search preferences. Own or admin.
    change_search_preferences(user_id: String, preferences: SearchPreferences) -> ()
        = "user.changeSearchPreferences", call_change_search_preferences(&user_id, &preferences);
    /// Sets the caller's colour scheme. Any signed-in caller.
    change_color_scheme(color_scheme: ColorScheme) -> ()
        = "user.changeColorScheme", call_change_color_scheme(color_scheme);
    /// Sets whether apps show the state of their ping. Own or admin.
    change_ping_icons_enabled(id: String, enabled: bool) -> ()
        = "user.changePingIconsEnabled", call_change_ping_icons_enabled(&id, enabled);
    /// Sets the first day of the week: 0 = Sunday to 6 = Saturday. Own or admin.
    change_first_day_of_week(id: String, first_day_of_week: u8) -> ()
        = "user.changeFirstDayOfWeek", call_change_first_day_of_week(&id, first_day_of_week);
    /// Disables a user, who can no longer sign in and whose sessions and keys end, or enables them. Permission
    /// `admin`.
    set_disabled(user_id: String, disabled: bool) -> ()
        = "user.setDisabled", call_set_disabled(&user_id, disabled);
    /// Deletes a user and everything that belongs to them. Own or admin.
    delete(user_id: String) -> () = "user.delete", call_delete(&user_id);
}

functions! { Apps, portico_dashboard_apps:
    /// All apps by name. Any signed-in caller.
    all() -> Vec<App> = "app.all", call_all();
    /// One page, from 1, of 1 to 100 of the apps whose name contains `search`. Any signed-in caller.
    get_paginated(page: u32, page_size: u32, search: Option<String>) -> AppPage
        = "app.getPaginated", call_get_paginated(page, page_size, search.as_deref());
    /// The first apps by name whose name contains the query. Any signed-in caller. `limit` is 1 to 100, and 10 by
    /// default.
    search(query: String, limit: Option<u32>) -> Vec<App> = "app.search", call_search(&query, limit);
    /// All apps by name, to choose from. Any signed-in caller.
    selectable() -> Vec<App> = "app.selectable", call_selectable();
    /// One app. Public.
    by_id(id: String) -> App = "app.byId", call_by_id(&id);
    /// Those of these apps (at most 1,000 ids) that exist, in the order asked, each once. Public.
    by_ids(ids: Vec<String>) -> Vec<App> = "app.byIds", call_by_ids(&ids);
    /// Creates an app. Permission `app-create`.
    create(input: AppInput) -> App = "app.create", call_create(&input);
    /// Creates 1 to 1,000 apps, all or none. Permission `app-create`.
    create_many(inputs: Vec<AppDraft>) -> Vec<App> = "app.createMany", call_create_many(&inputs);
    /// Changes an app. Permission `app-modify-all`.
    update(change: AppChange) -> () = "app.update", call_update(&change);
    /// Deletes an app, also from every board. Permission `app-full-all`.
    delete(id: String) -> () = "app.delete", call_delete(&id);
}

impl SignIn {
    /// Checks a username and a password. `address`: the client's, if it is known. Each call counts as an attempt for
    /// the account and for the address; after too many, further attempts are refused for a while. It takes tens of
    /// milliseconds of processor time on a thread of its own, for at most one call per core at the same time.
    ///
    /// The password may change while it is checked. Begin the session only if, in the transaction that
    /// begins it, the user exists, is not disabled, and still has this `password_version`.
    pub async fn password(
        &self,
        username: &str,
        password: &str,
        address: Option<IpAddr>,
    ) -> Result<SignedIn, Error> {
        let request_id = new_request_id();
        let claim = Claim {
            username: username.to_owned(),
            password: password.to_owned(),
            address,
            request_id: (*request_id).into(),
        };
        let checked = async {
            let (user, attempt) = verify(self.0.resources(), claim, |_| async { Ok(true) }).await?;
            attempt.settle(&Ok(())).await;
            Ok(user)
        };
        self.0
            .in_time(checked)
            .await
            .map_err(|error| report(error, "sign-in.password", &request_id))
    }

    /// Finds the user whom an external identity provider has authenticated, and updates name, email and
    /// picture. The first sign-in creates the user, or links the identity to an existing one.
    pub async fn external(&self, identity: &ExternalIdentity, linking: Linking) -> Result<SignedIn, Error> {
        let request_id = new_request_id();
        let context = Identity::anonymous().context(&*request_id);
        let found = async {
            let mut instance = self.0.sandbox.enter(context).await?;
            let (plugin, store) = instance.parts()?;
            let answer = plugin
                .portico_dashboard_sign_in()
                .call_external(store, &request_id, identity, linking)
                .await;
            instance.read_result(answer)
        };
        self.0
            .in_time(found)
            .await
            .map_err(|error| report(error, "sign-in.external", &request_id))
    }
}
