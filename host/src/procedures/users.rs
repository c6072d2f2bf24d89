//! The rows of `user.*`.

use serde::Deserialize;

use super::{Created, Row, Search, component, row};
use crate::{
    model::{
        ColorScheme, HomeBoards, NewAccount, PasswordChange, ProfileChange, Registration, SearchPreferences,
    },
    shape::{
        ID, NULLABLE_DATE, NULLABLE_TEXT, PROVIDER, SEARCH,
        Shape::{self, Boolean, Choice, Integer, List, Nothing, Optional, Record, Text},
        optional, required,
    },
};

const USER_ID: Shape = Record(&[required("userId", Text)]);

const USER: Shape = Record(&[
    required("id", Text),
    required("name", Text),
    required("email", NULLABLE_TEXT),
    required("emailVerified", NULLABLE_DATE),
    required("image", NULLABLE_TEXT),
    required("provider", PROVIDER),
    required("homeBoardId", NULLABLE_TEXT),
    required("mobileHomeBoardId", NULLABLE_TEXT),
    required("firstDayOfWeek", Integer),
    required("pingIconsEnabled", Boolean),
    required("defaultSearchEngineId", NULLABLE_TEXT),
    required("openSearchInNewTab", Boolean),
]);

const SUMMARIES: Shape = List(&Record(&[
    required("id", Text),
    required("name", Text),
    required("email", NULLABLE_TEXT),
    required("emailVerified", NULLABLE_DATE),
    required("image", NULLABLE_TEXT),
]));

const OPTIONS: Shape = List(&Record(&[
    required("id", Text),
    required("name", Text),
    required("image", NULLABLE_TEXT),
]));

const MATCHES: Shape = List(&Record(&[
    required("id", Text),
    required("name", Text),
    required("email", NULLABLE_TEXT),
    required("image", NULLABLE_TEXT),
]));

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForUser {
    user_id: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Selectable {
    #[serde(default)]
    exclude_external_providers: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    #[serde(flatten)]
    account: NewAccount,
    group_ids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetImage {
    user_id: String,
    image: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeHomeBoards {
    user_id: String,
    #[serde(flatten)]
    boards: HomeBoards,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeSearchPreferences {
    user_id: String,
    #[serde(flatten)]
    preferences: SearchPreferences,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeColorScheme {
    color_scheme: ColorScheme,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangePingIcons {
    id: String,
    ping_icons_enabled: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeFirstDay {
    id: String,
    first_day_of_week: i32,
}

pub(super) static ROWS: &[Row] = &[
    row(
        "user.getAll",
        Nothing,
        SUMMARIES,
        component!(portico_dashboard_users.call_get_all()),
    )
    .at("GET", "/api/users"),
    row(
        "user.selectable",
        Optional(&Record(&[optional("excludeExternalProviders", Boolean)])),
        OPTIONS,
        component!(portico_dashboard_users.call_selectable(input: Option<Selectable> =>
            input.unwrap_or_default().exclude_external_providers)),
    )
    .at("GET", "/api/users/selectable"),
    row(
        "user.search",
        SEARCH,
        MATCHES,
        component!(portico_dashboard_users.call_search(input: Search => &input.query, input.limit)),
    )
    .at("POST", "/api/users/search"),
    row(
        "user.getById",
        USER_ID,
        USER,
        component!(portico_dashboard_users.call_get_by_id(input: ForUser => &input.user_id)),
    )
    .at("GET", "/api/users/{userId}"),
    row(
        "user.initUser",
        Record(&[
            required("username", Text),
            required("password", Text),
            optional("email", Text),
        ]),
        ID,
        component!(portico_dashboard_users.call_init_user(input: NewAccount => &input), |id| Created { id }),
    ),
    row(
        "user.register",
        Record(&[
            required("username", Text),
            required("password", Text),
            required("email", Text),
            required("inviteId", Text),
            required("token", Text),
        ]),
        ID,
        component!(portico_dashboard_users.call_register(input: Registration => &input), |id| Created { id }),
    ),
    row(
        "user.create",
        Record(&[
            required("username", Text),
            required("password", Text),
            optional("email", Text),
            required("groupIds", List(&Text)),
        ]),
        ID,
        component!(
            portico_dashboard_users.call_create(input: Create => &input.account, &input.group_ids),
            |id| Created { id }
        ),
    )
    .at("POST", "/api/users"),
    row(
        "user.setProfileImage",
        Record(&[required("userId", Text), required("image", NULLABLE_TEXT)]),
        Nothing,
        component!(portico_dashboard_users.call_set_profile_image(input: SetImage =>
            &input.user_id, input.image.as_deref())),
    )
    .at("PUT", "/api/users/profileImage"),
    row(
        "user.editProfile",
        Record(&[
            required("id", Text),
            required("name", Text),
            optional("email", NULLABLE_TEXT),
        ]),
        Nothing,
        component!(portico_dashboard_users.call_edit_profile(input: ProfileChange => &input)),
    )
    .at("PUT", "/api/users/profile"),
    row(
        "user.changePassword",
        Record(&[
            required("userId", Text),
            optional("previousPassword", Text),
            required("password", Text),
        ]),
        Nothing,
        component!(portico_dashboard_users.call_change_password(input: PasswordChange => &input)),
    ),
    row(
        "user.changeHomeBoards",
        Record(&[
            required("userId", Text),
            required("homeBoardId", NULLABLE_TEXT),
            required("mobileHomeBoardId", NULLABLE_TEXT),
        ]),
        Nothing,
        component!(portico_dashboard_users.call_change_home_boards(input: ChangeHomeBoards =>
            &input.user_id, &input.boards)),
    ),
    row(
        "user.changeSearchPreferences",
        Record(&[
            required("userId", Text),
            required("defaultSearchEngineId", NULLABLE_TEXT),
            required("openInNewTab", Boolean),
        ]),
        Nothing,
        component!(portico_dashboard_users.call_change_search_preferences(input: ChangeSearchPreferences =>
            &input.user_id, &input.preferences)),
    ),
    row(
        "user.changeColorScheme",
        Record(&[required("colorScheme", Choice(&["light", "dark", "auto"]))]),
        Nothing,
        component!(portico_dashboard_users.call_change_color_scheme(input: ChangeColorScheme =>
            input.color_scheme)),
    ),
    row(
        "user.changePingIconsEnabled",
        Record(&[required("id", Text), required("pingIconsEnabled", Boolean)]),
        Nothing,
        component!(portico_dashboard_users.call_change_ping_icons_enabled(input: ChangePingIcons =>
            &input.id, input.ping_icons_enabled)),
    ),
    row(
        "user.changeFirstDayOfWeek",
        Record(&[required("id", Text), required("firstDayOfWeek", Integer)]),
        Nothing,
        component!(portico_dashboard_users.call_change_first_day_of_week(input: ChangeFirstDay =>
            &input.id, input.first_day_of_week)),
    ),
    row(
        "user.delete",
        USER_ID,
        Nothing,
        component!(portico_dashboard_users.call_delete(input: ForUser => &input.user_id)),
    )
    .at("DELETE", "/api/users/{userId}"),
];
