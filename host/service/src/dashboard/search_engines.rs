//! `searchEngine.*`: the search engines that the dashboard offers.

use portico_model::error::{Code, Error};
use portico_rules::refusal::{Missing, UniqueName};
use portico_rules::rule::Rule;
use portico_rules::{bounds, icons};
use portico_storage::{Access, SearchEngine};

use super::{
    transaction::{require_found, require_name_free},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{ById, Call, Created, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, NULLABLE_TEXT,
        Shape::{self, Bounded, List, Named, Nothing, Nullable, Record, Text},
        Shaped, optional, records, required,
    },
};

pub(super) const SHORT: Shape = Bounded(&Text, Bound::length(bounds::SHORT));
pub(super) const URL: Shape = Bounded(&Text, Bound::length(bounds::ENGINE_URL));
/// The shortest is `http://%s`.
pub(super) const URL_TEMPLATE: Shape = Bounded(
    &Bounded(&Text, Bound::length(9..=*bounds::ENGINE_URL.end())),
    Bound::Pattern(r"^\s*[Hh][Tt][Tt][Pp][Ss]?://.*%s"),
);
pub(super) const ICON_URL_ABOUT: &str = "1 to 2,048 characters on one line, trimmed; not `javascript:` or \
                                         `vbscript:`, and `data:` only where it is an image.";
pub(super) const DESCRIPTION: Shape = Nullable(&Bounded(&Text, Bound::length(bounds::DESCRIPTION)));

records! {
    struct NewEngine {
        name: String = required("name", LABEL)
            .about("1 to 64 characters on one line, trimmed; unique."),
        short: String = required("short", SHORT)
            .about("1 to 8 characters on one line, trimmed; unique."),
        url_template: String = required("urlTemplate", URL_TEMPLATE)
            .about("A URL with `http://` or `https://` in which `%s` stands for the query."),
        icon_url: String = required("iconUrl", URL).about(ICON_URL_ABOUT),
        description: Option<String> = optional("description", DESCRIPTION)
            .about("At most 512 characters, trimmed."),
    }

    struct Update {
        id: String = required("id", Text).about("Which search engine: its id."),
        ..engine: NewEngine,
    }
}

const SEARCH_ENGINE: Shape = Named(
    "SearchEngine",
    &Record(&[
        required("id", Text).about("The search engine's id."),
        required("name", Text).about("Its name, unique."),
        required("short", Text).about("What people type to choose it, unique."),
        required("urlTemplate", Text).about("Where it searches; `%s` stands for the query."),
        required("iconUrl", Text).about("Where its icon is."),
        required("description", NULLABLE_TEXT).about("What it is."),
    ]),
);

const SEARCH_ENGINES: Shape = List(&SEARCH_ENGINE);

pub(super) static ROWS: &[Row] = &[
    query("searchEngine.getAll", Nothing, SEARCH_ENGINES, |call| {
        Box::pin(get_all(call))
    })
    .large()
    .about("All search engines, by name."),
    query("searchEngine.getSelectable", Nothing, SEARCH_ENGINES, |call| {
        Box::pin(get_all(call))
    })
    .protected()
    .large()
    .about("The search engines among which the caller may choose: all of them, by name.")
    .at("GET", "/api/searchEngines"),
    query("searchEngine.byId", ID, SEARCH_ENGINE, |call| {
        Box::pin(by_id(call))
    })
    .protected()
    .about("A search engine.")
    .at("GET", "/api/searchEngines/{id}")
    .refuses(&[Code::NotFound]),
    mutation("searchEngine.create", NewEngine::SHAPE, ID, |call| {
        Box::pin(create(call))
    })
    .about("Makes a search engine and answers its id.")
    .refuses(&[Code::Conflict]),
    mutation("searchEngine.update", Update::SHAPE, Nothing, |call| {
        Box::pin(update(call))
    })
    .about("Replaces a search engine.")
    .at("PUT", "/api/searchEngines/{id}")
    .refuses(&[Code::NotFound, Code::Conflict]),
    mutation("searchEngine.delete", ID, Nothing, |call| Box::pin(delete(call)))
        .about("Deletes a search engine. Users whose default it was have none.")
        .refuses(&[Code::NotFound]),
];

/// Checks a search engine and trims its texts. The caller checks a new icon with [`icons::problem`], and other new texts
/// with [`keeps_direction`].
pub(super) fn check(fields: &mut Fields, engine: SearchEngine) -> SearchEngine {
    let engine = SearchEngine {
        id: engine.id,
        name: fields.label("name", &engine.name, bounds::LABEL),
        short: fields.label("short", &engine.short, bounds::SHORT),
        url_template: fields.label("urlTemplate", &engine.url_template, bounds::ENGINE_URL),
        icon_url: fields.label("iconUrl", &engine.icon_url, bounds::ENGINE_URL),
        description: fields.text(
            "description",
            engine.description.as_deref(),
            *bounds::DESCRIPTION.end(),
        ),
    };
    let scheme = engine
        .url_template
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !matches!(scheme.as_deref(), Some("http" | "https")) || !engine.url_template.contains("%s") {
        fields.refuse("urlTemplate", Rule::NotUrlTemplate);
    }
    engine
}

/// Refuses a new name or description that changes the direction of text.
pub(super) fn keeps_direction(fields: &mut Fields, engine: &SearchEngine, present: Option<&SearchEngine>) {
    fields.keeps_direction("name", &engine.name, present.map(|present| &*present.name));
    let present = present.and_then(|present| present.description.as_deref());
    let description = engine.description.as_deref().unwrap_or_default();
    fields.keeps_direction("description", description, present);
}

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_search_engines().await?)
}

async fn by_id(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let engine = transaction.get_search_engine(&input.id).await?;
    json(&engine.ok_or_else(|| Error::not_found(Missing::SearchEngine))?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: NewEngine = call.input()?;
    let engine = checked(call.resources.new_id(), input)?;
    let mut fields = Fields::default();
    keeps_direction(&mut fields, &engine, None);
    fields.check()?;
    let [name_key, short_key] = keys(&call, &engine).await?;

    let mut transaction = call.begin(Access::Write).await?;
    let inserted = transaction
        .insert_search_engine(&engine, &name_key, &short_key)
        .await?;
    require_name_free(inserted, NAMES)?;
    transaction.commit().await?;
    json(&Created { id: engine.id })
}

async fn update(mut call: Call) -> Result<Output, Error> {
    let input: Update = call.input()?;
    let engine = checked(input.id, input.engine)?;
    let [name_key, short_key] = keys(&call, &engine).await?;

    let mut transaction = call.begin(Access::Write).await?;
    let present = transaction.list_search_engines().await?;
    let present = present.iter().find(|one| one.id == engine.id);
    require_found(present.is_some(), Missing::SearchEngine)?;
    let mut fields = Fields::default();
    keeps_direction(&mut fields, &engine, present);
    fields.check()?;
    let updated = transaction
        .update_search_engine(&engine, &name_key, &short_key)
        .await?;
    require_name_free(updated, NAMES)?;
    transaction.commit().await?;
    json(&())
}

/// What must be unique.
const NAMES: UniqueName = UniqueName::SearchEngine;

/// Checks a search engine and trims its texts.
fn checked(id: String, input: NewEngine) -> Result<SearchEngine, Error> {
    let mut fields = Fields::default();
    let engine = SearchEngine {
        id,
        name: input.name,
        short: input.short,
        url_template: input.url_template,
        icon_url: input.icon_url,
        description: input.description,
    };
    let engine = check(&mut fields, engine);
    if let Some(problem) = icons::problem(&engine.icon_url) {
        fields.refuse("iconUrl", problem);
    }
    fields.check()?;
    Ok(engine)
}

/// The name-keys of its name and its short name.
async fn keys(call: &Call, engine: &SearchEngine) -> Result<[String; 2], Error> {
    let names = [engine.name.clone(), engine.short.clone()];
    let keys = call.resources.sandbox.name_keys(call.context(), &names).await?;
    keys.try_into().map_err(|keys: Vec<String>| {
        let count = keys.len();
        Error::internal(anyhow::anyhow!("`names.keys` gave {count} keys for 2 names"))
    })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    require_found(
        transaction.delete_search_engine(&input.id).await?,
        Missing::SearchEngine,
    )?;
    transaction.commit().await?;
    json(&())
}
