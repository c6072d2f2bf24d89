//! The rows of `user.*`.

use portico_model::{
    ColorScheme, HomeBoards, NewAccount, PasswordChange, ProfileChange, Registration, SearchPreferences,
    UserQuery, error::Code,
};
use portico_rules::bounds;

use super::{
    call::{Created, ID, SEARCH, Search},
    component::component,
    row::{Row, described},
};
use crate::shape::{
    Bound, COLOR_SCHEME, NULLABLE_DATE, NULLABLE_TEXT, PAGE_SIZE, PROVIDER,
    Shape::{
        self, Boolean, Bounded, Integer, List, Named, Nothing, Nullable, Optional, Position, Record, Text,
    },
    Shaped, optional, records, required, shape_of,
};

// The component checks these bounds. They are stated here for the description.
/// The name of a user of any provider. The component checks the bounds of each.
pub(crate) const ANY_NAME: Shape = Bounded(&Text, Bound::length(bounds::EXTERNAL_NAME));
pub(crate) const USERNAME: Shape = Bounded(&Text, Bound::length(bounds::USERNAME));
pub(crate) const PASSWORD: Shape = Bounded(&Text, Bound::length(bounds::PASSWORD));
pub(crate) const EMAIL: Shape = Bounded(&Text, Bound::length(0..=*bounds::EMAIL.end()));
/// The shortest is `a@b`.
const REQUIRED_EMAIL: Shape = Bounded(
    &Bounded(&Text, Bound::length(3..=*bounds::EMAIL.end())),
    Bound::Pattern("^[^@]+@[^@]+$"),
);
/// A data URI; for a user of an external provider also a URL.
pub(crate) const IMAGE_OR_URL: Shape = Bounded(&Text, Bound::length(bounds::IMAGE));
const IMAGE: Shape = Bounded(
    &IMAGE_OR_URL,
    Bound::Pattern(
        r"^\s*[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z]+;[Bb][Aa][Ss][Ee]64,[A-Za-z0-9+/]+=*\s*$",
    ),
);
const DAY_OF_WEEK: Shape = Bounded(
    &Integer,
    Bound::Range(
        *bounds::DAY_OF_WEEK.start() as i32,
        *bounds::DAY_OF_WEEK.end() as i32,
    ),
);

records! {
    struct ForUser {
        user_id: String = required("userId", Text).about("The user's id."),
    }

    #[derive(Default)]
    struct Selectable {
        exclude_external_providers: Option<bool> = optional("excludeExternalProviders", Boolean)
            .about("Whether to leave only users of the provider `credentials`; false if absent."),
    }

    struct Create {
        ..account: NewAccount,
        group_ids: Vec<String> = required("groupIds", Bounded(&List(&Text), Bound::count(bounds::ENTRIES)))
            .about("The groups that the user is a member of: their ids."),
    }

    struct SetImage {
        user_id: String = required("userId", Text).about("The user's id."),
        image: Option<String> = required("image", Nullable(&IMAGE))
            .about("The image as a data URI; null removes it."),
    }

    struct ChangeHomeBoards {
        user_id: String = required("userId", Text).about("The user's id."),
        ..boards: HomeBoards,
    }

    struct ChangeSearchPreferences {
        user_id: String = required("userId", Text).about("The user's id."),
        ..preferences: SearchPreferences,
    }

    struct ChangeColorScheme {
        color_scheme: ColorScheme = required("colorScheme", COLOR_SCHEME),
    }

    struct ChangePingIcons {
        id: String = required("id", Text).about("The user's id."),
        ping_icons_enabled: bool = required("pingIconsEnabled", Boolean)
            .about("Whether apps show the state of their ping."),
    }

    struct ChangeFirstDay {
        id: String = required("id", Text).about("The user's id."),
        first_day_of_week: u8 = required("firstDayOfWeek", DAY_OF_WEEK).about("0 = Sunday to 6 = Saturday."),
    }

    struct SetDisabled {
        user_id: String = required("userId", Text).about("The user's id."),
        disabled: bool = required("disabled", Boolean).about("Whether the user cannot sign in."),
    }
}

shape_of!(UserQuery {
    page: required("page", Bounded(&Position, Bound::From(1))).about("Which page, from 1."),
    page_size: required("pageSize", PAGE_SIZE).about("How many users a page has."),
    search: optional("search", Text)
        .about("What the name contains, trimmed; an empty text matches every name."),
    provider: optional("provider", PROVIDER).about("Only users of this provider."),
    disabled: optional("disabled", Boolean).about("Only users who are, or are not, disabled."),
});

shape_of!(NewAccount {
    username: required("username", USERNAME),
    password: required("password", PASSWORD),
    email: optional("email", EMAIL),
});

shape_of!(ProfileChange {
    id: required("id", Text).about("The user's id."),
    name: required("name", USERNAME),
    email: optional("email", Nullable(&EMAIL)).about(
        "The email; null and an empty text remove it, absent leaves it as it was. One that differs resets \
         `emailVerified`.",
    ),
});

shape_of!(PasswordChange {
    user_id: required("userId", Text).about("The user's id."),
    previous_password: optional("previousPassword", Text),
    password: required("password", PASSWORD),
});

shape_of!(HomeBoards {
    home_board_id: required("homeBoardId", NULLABLE_TEXT),
    mobile_home_board_id: required("mobileHomeBoardId", NULLABLE_TEXT),
});

shape_of!(SearchPreferences {
    default_search_engine_id: required("defaultSearchEngineId", NULLABLE_TEXT),
    open_in_new_tab: required("openInNewTab", Boolean),
});

const USER_ID: Shape = Named("UserReference", &ForUser::SHAPE);

const USER: Shape = Named(
    "User",
    &Record(&[
        required("id", Text),
        required("name", Text),
        required("email", NULLABLE_TEXT),
        required("emailVerified", NULLABLE_DATE),
        required("image", NULLABLE_TEXT),
        required("provider", PROVIDER),
        required("homeBoardId", NULLABLE_TEXT),
        required("mobileHomeBoardId", NULLABLE_TEXT),
        required("firstDayOfWeek", DAY_OF_WEEK),
        required("pingIconsEnabled", Boolean),
        required("defaultSearchEngineId", NULLABLE_TEXT),
        required("openSearchInNewTab", Boolean),
    ]),
);

const SUMMARIES: Shape = List(&Named(
    "UserSummary",
    &Record(&[
        required("id", Text),
        required("name", Text),
        required("email", NULLABLE_TEXT),
        required("emailVerified", NULLABLE_DATE),
        required("image", NULLABLE_TEXT),
    ]),
));

const OPTIONS: Shape = List(&Named(
    "UserOption",
    &Record(&[
        required("id", Text),
        required("name", Text),
        required("image", NULLABLE_TEXT),
    ]),
));

const MATCHES: Shape = List(&Named(
    "UserMatch",
    &Record(&[
        required("id", Text),
        required("name", Text),
        required("email", NULLABLE_TEXT),
        required("image", NULLABLE_TEXT),
    ]),
));

const PAGE: Shape = Named(
    "UserPage",
    &Record(&[
        required(
            "items",
            List(&Named(
                "UserEntry",
                &Record(&[
                    required("id", Text),
                    required("name", Text),
                    required("email", NULLABLE_TEXT),
                    required("emailVerified", NULLABLE_DATE),
                    required("provider", PROVIDER),
                    required("disabled", Boolean),
                ]),
            )),
        ),
        required("totalCount", Bounded(&Position, Bound::From(0))),
    ]),
);

pub(super) static ROWS: &[Row] = &[
    described(
        "user.getAll",
        Nothing,
        SUMMARIES,
        component!(portico_dashboard_users.call_get_all()),
    )
    .at("GET", "/api/users")
    .refuses(&[Code::Conflict]),
    described(
        "user.getPaginated",
        UserQuery::SHAPE,
        PAGE,
        component!(portico_dashboard_users.call_get_paginated(query: UserQuery => &query)),
    )
    .at("GET", "/api/users/paginated"),
    described(
        "user.selectable",
        Optional(&Selectable::SHAPE),
        OPTIONS,
        component!(portico_dashboard_users.call_selectable(input: Option<Selectable> =>
            input.unwrap_or_default().exclude_external_providers)),
    )
    .at("GET", "/api/users/selectable")
    .refuses(&[Code::Conflict]),
    described(
        "user.search",
        SEARCH,
        MATCHES,
        component!(portico_dashboard_users.call_search(input: Search => &input.query, input.limit)),
    )
    .at("POST", "/api/users/search"),
    described(
        "user.getById",
        USER_ID,
        USER,
        component!(portico_dashboard_users.call_get_by_id(input: ForUser => &input.user_id)),
    )
    .at("GET", "/api/users/{userId}")
    .refuses(&[Code::NotFound]),
    described(
        "user.initUser",
        Named("NewAccount", &NewAccount::SHAPE),
        ID,
        component!(portico_dashboard_users.call_init_user(input: NewAccount => &input), |id| Created { id }),
    ),
    described(
        "user.register",
        Named(
            "Registration",
            &Record(&[
                required("username", USERNAME),
                required("password", PASSWORD),
                required("email", REQUIRED_EMAIL).about(
                    "As HTML's email field accepts it, non-ASCII allowed, trimmed; at most 254 characters.",
                ),
                required("inviteId", Text),
                required("token", Text),
            ]),
        ),
        ID,
        component!(portico_dashboard_users.call_register(input: Registration => &input), |id| Created { id }),
    )
    .refuses(&[Code::Forbidden, Code::Conflict]),
    described(
        "user.create",
        Create::SHAPE,
        ID,
        component!(
            portico_dashboard_users.call_create(input: Create => &input.account, &input.group_ids),
            |id| Created { id }
        ),
    )
    .at("POST", "/api/users")
    .refuses(&[Code::NotFound, Code::Conflict]),
    described(
        "user.setProfileImage",
        SetImage::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_set_profile_image(input: SetImage =>
            &input.user_id, input.image.as_deref())),
    )
    .at("PUT", "/api/users/profileImage")
    .refuses(&[Code::NotFound]),
    described(
        "user.editProfile",
        Named("ProfileChange", &ProfileChange::SHAPE),
        Nothing,
        component!(portico_dashboard_users.call_edit_profile(input: ProfileChange => &input)),
    )
    .at("PUT", "/api/users/profile")
    .refuses(&[Code::NotFound, Code::Conflict]),
    described(
        "user.changePassword",
        Named("PasswordChange", &PasswordChange::SHAPE),
        Nothing,
        component!(portico_dashboard_users.call_change_password(input: PasswordChange => &input)),
    )
    .refuses(&[Code::NotFound, Code::Conflict]),
    described(
        "user.changeHomeBoards",
        ChangeHomeBoards::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_change_home_boards(input: ChangeHomeBoards =>
            &input.user_id, &input.boards)),
    )
    .refuses(&[Code::NotFound]),
    described(
        "user.changeSearchPreferences",
        ChangeSearchPreferences::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_change_search_preferences(input: ChangeSearchPreferences =>
            &input.user_id, &input.preferences)),
    )
    .refuses(&[Code::NotFound]),
    described(
        "user.changeColorScheme",
        ChangeColorScheme::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_change_color_scheme(input: ChangeColorScheme =>
            input.color_scheme)),
    )
    .refuses(&[Code::NotFound]),
    described(
        "user.changePingIconsEnabled",
        ChangePingIcons::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_change_ping_icons_enabled(input: ChangePingIcons =>
            &input.id, input.ping_icons_enabled)),
    )
    .refuses(&[Code::NotFound]),
    described(
        "user.changeFirstDayOfWeek",
        ChangeFirstDay::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_change_first_day_of_week(input: ChangeFirstDay =>
            &input.id, input.first_day_of_week)),
    )
    .refuses(&[Code::NotFound]),
    described(
        "user.setDisabled",
        SetDisabled::SHAPE,
        Nothing,
        component!(portico_dashboard_users.call_set_disabled(input: SetDisabled =>
            &input.user_id, input.disabled)),
    )
    .at("PATCH", "/api/users/{userId}/disabled")
    .refuses(&[Code::NotFound, Code::Conflict]),
    described(
        "user.delete",
        USER_ID,
        Nothing,
        component!(portico_dashboard_users.call_delete(input: ForUser => &input.user_id)),
    )
    .at("DELETE", "/api/users/{userId}")
    .refuses(&[Code::Conflict]),
];
