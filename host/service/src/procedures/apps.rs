//! The rows of `app.*`.

use portico_model::{App, AppChange, AppDraft, AppInput, error::Code};
use portico_rules::bounds;
use serde::Serialize;

use super::{
    call::{ById, ID, SEARCH, Search},
    component::component,
    row::{MOST_VALUES, Row, described},
};
use crate::shape::{
    Bound, Field, NULLABLE_TEXT, PAGE_SIZE,
    Shape::{self, Bounded, List, Named, Nothing, Nullable, Position, Record, Text},
    Shaped, join, optional, records, required, shape_of,
};

// The component checks these bounds. They are stated here for the description.
pub(crate) const NAME: Shape = Bounded(&Text, Bound::length(bounds::APP_NAME));
pub(crate) const DESCRIPTION: Shape = Nullable(&Bounded(&Text, Bound::length(bounds::DESCRIPTION)));
pub(crate) const ICON_URL: Shape = Bounded(&Text, Bound::length(bounds::ICON_URL));
const LINK: Shape = Bounded(&Text, Bound::length(bounds::LINK));
pub(crate) const HREF: Shape = Nullable(&LINK);
pub(crate) const PING_URL: Shape = Nullable(&Bounded(
    &LINK,
    Bound::Pattern(r"^\s*([Hh][Tt][Tt][Pp][Ss]?:.*)?\s*$"),
));

const APP_FIELDS: &[Field] = &[
    required("id", Text),
    required("name", Text),
    required("description", NULLABLE_TEXT),
    required("iconUrl", Text),
    required("href", NULLABLE_TEXT),
    required("pingUrl", NULLABLE_TEXT),
];

pub(crate) const APP: Shape = Named("App", &Record(APP_FIELDS));

const CREATED: Shape = Named(
    "CreatedApp",
    &Record(join!(
        &[required("appId", Text).about("The id once more, where clients look for it.")],
        APP_FIELDS,
    )),
);

shape_of!(AppInput {
    name: required("name", NAME),
    icon_url: required("iconUrl", ICON_URL),
    description: optional("description", DESCRIPTION),
    href: optional("href", HREF),
    ping_url: optional("pingUrl", PING_URL),
});

shape_of!(AppDraft {
    name: required("name", NAME),
    icon_url: optional("iconUrl", Nullable(&ICON_URL)),
    description: optional("description", DESCRIPTION),
    href: optional("href", HREF),
    ping_url: optional("pingUrl", PING_URL),
});

shape_of!(AppChange {
    id: required("id", Text),
    name: optional("name", NAME),
    icon_url: optional("iconUrl", ICON_URL),
    description: optional("description", DESCRIPTION),
    href: optional("href", HREF),
    ping_url: optional("pingUrl", PING_URL),
});

records! {
    struct Page {
        page: u32 = required("page", Bounded(&Position, Bound::From(1))).about("Which page, from 1."),
        page_size: u32 = required("pageSize", PAGE_SIZE).about("How many apps a page has."),
        search: Option<String> = optional("search", Text)
            .about("What the name contains, trimmed; an empty text fits every name."),
    }
}

/// A created app has its id twice: clients of the reference system read `appId`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    app_id: String,
    #[serde(flatten)]
    app: App,
}

impl From<App> for Created {
    fn from(app: App) -> Self {
        Self {
            app_id: app.id.clone(),
            app,
        }
    }
}

pub(super) static ROWS: &[Row] = &[
    described(
        "app.all",
        Nothing,
        List(&APP),
        component!(portico_dashboard_apps.call_all()),
    )
    .at("GET", "/api/apps")
    .refuses(&[Code::Conflict]),
    described(
        "app.getPaginated",
        Page::SHAPE,
        Named(
            "AppPage",
            &Record(&[
                required("items", List(&APP)),
                required("totalCount", Bounded(&Position, Bound::From(0))),
            ]),
        ),
        component!(portico_dashboard_apps.call_get_paginated(input: Page =>
            input.page, input.page_size, input.search.as_deref())),
    )
    .at("GET", "/api/apps/paginated"),
    described(
        "app.search",
        SEARCH,
        List(&APP),
        component!(portico_dashboard_apps.call_search(input: Search => &input.query, input.limit)),
    )
    .at("GET", "/api/apps/search"),
    described(
        "app.selectable",
        Nothing,
        List(&APP),
        component!(portico_dashboard_apps.call_selectable()),
    )
    .at("GET", "/api/apps/selectable")
    .refuses(&[Code::Conflict]),
    described(
        "app.byId",
        ID,
        APP,
        component!(portico_dashboard_apps.call_by_id(input: ById => &input.id)),
    )
    .at("GET", "/api/apps/{id}")
    .refuses(&[Code::NotFound]),
    described(
        "app.byIds",
        Bounded(&List(&Text), Bound::count(bounds::ENTRIES)),
        List(&APP),
        component!(portico_dashboard_apps.call_by_ids(ids: Vec<String> => &ids)),
    )
    .refuses(&[Code::Conflict]),
    described(
        "app.create",
        Named("AppInput", &AppInput::SHAPE),
        CREATED,
        component!(portico_dashboard_apps.call_create(input: AppInput => &input), |app| Created::from(app)),
    )
    .at("POST", "/api/apps"),
    described(
        "app.createMany",
        Bounded(
            &List(&Named("AppDraft", &AppDraft::SHAPE)),
            Bound::count(bounds::NEW_APPS),
        ),
        List(&CREATED),
        component!(
            portico_dashboard_apps.call_create_many(inputs: Vec<AppDraft> => &inputs),
            |apps| apps.into_iter().map(Created::from).collect::<Vec<_>>()
        ),
    )
    .large_input(MOST_VALUES),
    described(
        "app.update",
        Named("AppChange", &AppChange::SHAPE),
        Nothing,
        component!(portico_dashboard_apps.call_update(input: AppChange => &input)),
    )
    .at("PATCH", "/api/apps/{id}")
    .refuses(&[Code::NotFound]),
    described(
        "app.delete",
        ID,
        Nothing,
        component!(portico_dashboard_apps.call_delete(input: ById => &input.id)),
    )
    .at("DELETE", "/api/apps/{id}"),
];
