//! Lets Portico's own procedures check the records of an import: `state.apply`, on an empty dashboard in memory. What
//! they refuse is repaired or left out, until they accept the rest.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context as _;
use portico_homarr::{
    Dashboard, Keys, Kind, Repair, Report, What, check_rounds, document, make_names_unique, shown,
};
use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_rules::links;
use portico_service::{identity::Identity, service::Service};
use portico_storage::{Access, AppFilter, Slice, UserFilter};

use super::super::local::REQUEST_ID;

/// Names in one call of the component.
const MOST_NAMES: usize = 10_000;
/// Records that are read with one statement: this many fit into an answer of storage, whatever they contain.
const AT_ONCE: u32 = 200;

/// Turns the dashboard into one that Portico accepts, with every text as Portico stores it. `trial` is a service on an
/// empty dashboard. Returns the keys of all names.
pub async fn check(
    trial: &Arc<Service>,
    dashboard: &mut Dashboard,
    report: &mut Report,
) -> anyhow::Result<Keys> {
    let apply = trial
        .table
        .find("state.apply")
        .context("there is no state.apply")?;
    let mut repair = Repair::default();
    let mut keys = Keys::new();
    let mut rounds = 0;
    loop {
        rounds += 1;
        check_rounds(rounds)?;
        learn(trial, &mut keys, dashboard.names()).await?;
        make_names_unique(dashboard, &keys, report);
        let input = Ok(Some(document(dashboard)));
        let answer = trial.call(apply, &Identity::operator(), REQUEST_ID, input).await;
        match answer {
            Ok(answer) => {
                note_warnings(&answer, dashboard, report)?;
                break;
            }
            Err(error) if error.code == Code::BadRequest && !error.issues.is_empty() => {
                repair.repair(dashboard, &error.issues, report)?;
            }
            Err(error) => return Err(error).context("Portico refuses the records"),
        }
    }
    take_stored(trial, dashboard, report).await?;
    learn(trial, &mut keys, dashboard.names()).await?;
    Ok(keys)
}

/// Notes what was accepted though it breaks a rule of new records.
fn note_warnings(answer: &str, dashboard: &Dashboard, report: &mut Report) -> anyhow::Result<()> {
    let applied: portico_service::report::Report = serde_json::from_str(answer)?;
    // A warning has a name and a rule, and several apps may have both.
    let mut meant: HashMap<(&str, String), Vec<&str>> = HashMap::new();
    for app in &dashboard.apps {
        if let Some(rule) = app.href.as_deref().and_then(links::problem) {
            let ids = meant.entry((app.name.trim(), rule.into())).or_default();
            ids.push(&app.id);
        }
    }
    for warning in applied.warnings.iter().filter(|warning| warning.kind == "app") {
        let ids = meant.get_mut(&(&warning.name[..], warning.message.clone()));
        let id = ids.and_then(Vec::pop).unwrap_or_default();
        let text = format!("its {} {}", warning.field, warning.message);
        report.note_of(Kind::App, (id, &warning.name), What::Kept, text);
    }
    Ok(())
}

/// Gets the keys of names whose keys are not known yet.
pub async fn learn(service: &Service, keys: &mut Keys, names: Vec<String>) -> Result<(), Error> {
    let mut unknown: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown.retain(|name| !keys.contains_key(name));
    let context = Identity::operator().context(REQUEST_ID);
    for names in unknown.chunks(MOST_NAMES) {
        let found = service.sandbox.name_keys(context.clone(), names).await?;
        keys.extend(names.iter().cloned().zip(found));
    }
    Ok(())
}

/// Replaces users, apps and looks with what was stored: trimmed, normalised, with the default icon.
async fn take_stored(trial: &Service, dashboard: &mut Dashboard, report: &mut Report) -> anyhow::Result<()> {
    let context = Identity::operator().context(REQUEST_ID);
    let mut transaction = trial
        .storage
        .begin_dashboard(Access::Read, &context)
        .await
        .map_err(Error::from)?;
    let mut users = HashMap::new();
    for page in 0.. {
        let slice = Slice {
            offset: page * AT_ONCE,
            limit: Some(AT_ONCE),
        };
        let some = transaction.list_users(&UserFilter::default(), slice, true).await;
        let some = some.map_err(Error::from)?;
        let is_last = some.len() < AT_ONCE as usize;
        users.extend(
            some.into_iter()
                .map(|user| ((user.provider, user.name.clone()), user)),
        );
        if is_last {
            break;
        }
    }
    let mut apps = HashMap::new();
    for page in 0.. {
        let slice = Slice {
            offset: page * AT_ONCE,
            limit: Some(AT_ONCE),
        };
        let some = transaction.list_apps(&AppFilter::EVERYTHING, slice).await;
        let some = some.map_err(Error::from)?;
        let is_last = some.len() < AT_ONCE as usize;
        apps.extend(some.into_iter().map(|app| (app.id.clone(), app)));
        if is_last {
            break;
        }
    }
    let looks = transaction.get_looks().await.map_err(Error::from)?;
    dashboard.branding.name = looks.name;
    dashboard.branding.accent_color = looks.accent_color;
    drop(transaction);
    // A username is its own name-key.
    let mut names = Keys::new();
    let usernames = dashboard
        .users
        .iter()
        .map(|user| user.user.name.clone())
        .collect();
    learn(trial, &mut names, usernames).await?;
    for user in &mut dashboard.users {
        let name = names.get(user.user.name.trim()).context("a name without a key")?;
        let provider: Provider = user.user.provider;
        let stored = users.remove(&(provider, name.clone()));
        let stored = stored.with_context(|| format!("the user {name:?} was not stored"))?;
        if stored.name != user.user.name.trim() {
            let text = format!(
                "its name is written {:?} in Portico, in lower case",
                shown(&stored.name)
            );
            report.note_of(Kind::User, (&user.user.id, &user.user.name), What::Repaired, text);
        }
        user.user.name = stored.name;
        user.user.email = stored.email;
        user.user.email_verified = stored.email_verified;
        user.user.image = stored.image;
    }
    for app in &mut dashboard.apps {
        let stored = apps.remove(&app.id);
        *app = stored.with_context(|| format!("the app {:?} was not stored", app.name))?;
    }
    Ok(())
}
