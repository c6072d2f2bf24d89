//! `app.status`: whether apps can be reached, for callers who see these apps.
//!
//! Invariant: the component says which apps the caller sees, and only these are looked at. So an app that does not
//! exist, and one that the caller does not see, are left out alike, and neither starts a check. What may be checked in private
//! networks is read for each call, so what administrators change holds from the next look on, at every host.

use portico_model::{
    App, Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::bounds;
use portico_storage::Access;
use serde::Serialize;

use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, query},
    },
    reachability::{Known, REASONS, Status},
    shape::{
        Bound, NULLABLE_DATE,
        Shape::{Bounded, Choice, Integer, List, Named, Nullable, Optional, Record, Text},
        required,
    },
};

pub(super) static ROWS: &[Row] = &[query(
    "app.status",
    Optional(&Bounded(&List(&Text), Bound::count(bounds::ENTRIES))),
    List(&Named(
        "AppStatus",
        &Record(&[
            required("id", Text).about("The app's id."),
            required("status", Choice(&["up", "down", "unknown", "not-allowed"])).about(
                "`up`: its ping URL answered with an HTTP status below 500. `unknown`: it was not checked yet, or not for \
                 15 minutes. `not-allowed`: the host may not check this address.",
            ),
            required("milliseconds", Nullable(&Integer)).about("How long that took; null if it is not up."),
            required("since", NULLABLE_DATE).about("Since when every check has ended like this."),
            required("checkedAt", NULLABLE_DATE).about("When the last check ended."),
            required("reason", Nullable(&Choice(&REASONS))).about("Why it is down or not allowed; otherwise null."),
        ]),
    )),
    |call| Box::pin(status(call)),
)
.public()
.large()
.about(
    "Whether apps can be reached: those with these ids, or all that a signed-in caller sees. Left out are apps without a \
     ping URL and those that the caller does not see; everything is left out where the host checks no apps, and for \
     callers who are not signed in unless the host checks for everyone. It returns what is known and waits for no check: \
     what is due, once a minute at most, is checked afterwards.",
)
.at("GET", "/api/apps/status")
.refuses(&[Code::Conflict])];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppStatus<'a> {
    id: &'a str,
    status: &'static str,
    milliseconds: Option<u32>,
    #[serde(serialize_with = "time::serialize_option")]
    since: Option<Timestamp>,
    #[serde(serialize_with = "time::serialize_option")]
    checked_at: Option<Timestamp>,
    reason: Option<&'static str>,
}

impl<'a> AppStatus<'a> {
    fn new(id: &'a str, known: Known) -> Self {
        let (status, milliseconds, reason) = match known.status {
            Status::Unknown => ("unknown", None, None),
            Status::Up { milliseconds } => ("up", Some(milliseconds.min(i32::MAX as u32)), None),
            Status::Down(down) => ("down", None, Some(down.name())),
            Status::NotAllowed(refused) => ("not-allowed", None, Some(refused.name())),
        };
        Self {
            id,
            status,
            milliseconds,
            since: known.since,
            checked_at: known.checked_at,
            reason,
        }
    }
}

async fn status(mut call: Call) -> Result<Output, Error> {
    let ids: Option<Vec<String>> = call.input()?;
    let is_signed_in = call.caller().user.is_some();
    let apps = match ids {
        None if !is_signed_in => Vec::new(),
        ids => seen_apps(&mut call, ids).await?,
    };
    let checker = call.resources.reachability.clone();
    let Some(checker) = checker.filter(|checker| is_signed_in || checker.is_for_everyone()) else {
        return json(&[(); 0]);
    };
    let checked = apps
        .iter()
        .filter_map(|app| Some((&*app.id, app.ping_url.as_deref()?)));
    let (ids, urls): (Vec<_>, Vec<_>) = checked.unzip();
    let stored = match checker.fixed_hosts().is_some() || urls.is_empty() {
        true => Vec::new(),
        false => call.begin(Access::Lookup).await?.get_looks().await?.ping_allow,
    };
    let known = checker.look(&urls, &stored);
    let statuses = ids.into_iter().zip(known);
    let statuses: Vec<_> = statuses.map(|(id, known)| AppStatus::new(id, known)).collect();
    json(&statuses)
}

/// The apps with these ids that the caller sees, or all that they see.
async fn seen_apps(call: &mut Call, ids: Option<Vec<String>>) -> Result<Vec<App>, Error> {
    let mut instance = call.enter().await?;
    let caller = call.caller();
    let answer = match ids {
        Some(ids) => portico_sandbox::ask!(instance.portico_dashboard_apps.call_by_ids(&caller, &ids)),
        None => portico_sandbox::ask!(instance.portico_dashboard_apps.call_all(&caller)),
    };
    let apps = instance.read_result(answer);
    instance.leave();
    apps
}
