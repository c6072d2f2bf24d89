//! The rows of `app.*`.

use serde::{Deserialize, Serialize};

use super::{ById, Row, Search, component, row};
use crate::{
    model::{App, AppChange, AppDraft, AppInput},
    shape::{
        Field, ID, NULLABLE_TEXT, SEARCH,
        Shape::{self, Integer, List, Nothing, Position, Record, Text},
        optional, required,
    },
};

const APP: Shape = Record(&[
    required("id", Text),
    required("name", Text),
    required("description", NULLABLE_TEXT),
    required("iconUrl", Text),
    required("href", NULLABLE_TEXT),
    required("pingUrl", NULLABLE_TEXT),
]);

const CREATED: Shape = Record(&[
    required("appId", Text),
    required("id", Text),
    required("name", Text),
    required("description", NULLABLE_TEXT),
    required("iconUrl", Text),
    required("href", NULLABLE_TEXT),
    required("pingUrl", NULLABLE_TEXT),
]);

const fn input(icon_url: Field) -> [Field; 5] {
    [
        required("name", Text),
        icon_url,
        optional("description", NULLABLE_TEXT),
        optional("href", NULLABLE_TEXT),
        optional("pingUrl", NULLABLE_TEXT),
    ]
}

const APP_INPUT: &[Field] = &input(required("iconUrl", Text));
const APP_DRAFT: &[Field] = &input(optional("iconUrl", NULLABLE_TEXT));

/// A new app says its id twice: clients of the reference system look for `appId`.
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    page: i32,
    page_size: i32,
    #[serde(default)]
    search: Option<String>,
}

pub(super) static ROWS: &[Row] = &[
    row(
        "app.all",
        Nothing,
        List(&APP),
        component!(portico_dashboard_apps.call_all()),
    )
    .at("GET", "/api/apps"),
    row(
        "app.getPaginated",
        Record(&[
            required("page", Position),
            required("pageSize", Integer),
            optional("search", Text),
        ]),
        Record(&[required("items", List(&APP)), required("totalCount", Integer)]),
        component!(portico_dashboard_apps.call_get_paginated(input: Page =>
            input.page, input.page_size, input.search.as_deref())),
    )
    .at("GET", "/api/apps/paginated"),
    row(
        "app.search",
        SEARCH,
        List(&APP),
        component!(portico_dashboard_apps.call_search(input: Search => &input.query, input.limit)),
    )
    .at("GET", "/api/apps/search"),
    row(
        "app.selectable",
        Nothing,
        List(&APP),
        component!(portico_dashboard_apps.call_selectable()),
    )
    .at("GET", "/api/apps/selectable"),
    row(
        "app.byId",
        ID,
        APP,
        component!(portico_dashboard_apps.call_by_id(input: ById => &input.id)),
    )
    .at("GET", "/api/apps/{id}"),
    row(
        "app.byIds",
        List(&Text),
        List(&APP),
        component!(portico_dashboard_apps.call_by_ids(ids: Vec<String> => &ids)),
    ),
    row(
        "app.create",
        Record(APP_INPUT),
        CREATED,
        component!(portico_dashboard_apps.call_create(input: AppInput => &input), |app| Created::from(app)),
    )
    .at("POST", "/api/apps"),
    row(
        "app.createMany",
        List(&Record(APP_DRAFT)),
        List(&CREATED),
        component!(
            portico_dashboard_apps.call_create_many(inputs: Vec<AppDraft> => &inputs),
            |apps| apps.into_iter().map(Created::from).collect::<Vec<_>>()
        ),
    )
    .large(),
    row(
        "app.update",
        Record(&[
            required("id", Text),
            optional("name", Text),
            optional("iconUrl", Text),
            optional("description", NULLABLE_TEXT),
            optional("href", NULLABLE_TEXT),
            optional("pingUrl", NULLABLE_TEXT),
        ]),
        Nothing,
        component!(portico_dashboard_apps.call_update(input: AppChange => &input)),
    )
    .at("PATCH", "/api/apps/{id}"),
    row(
        "app.delete",
        ID,
        Nothing,
        component!(portico_dashboard_apps.call_delete(input: ById => &input.id)),
    )
    .at("DELETE", "/api/apps/{id}"),
];
