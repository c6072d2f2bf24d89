//! A document for `portico apply`: read from JSON or YAML, and refused by the line.

use std::{
    cell::OnceCell,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail, ensure};
use portico_model::error::{Error, issue_text};
use portico_service::{
    json,
    shape::{Field, Shape},
    table::DOCUMENT,
};
use serde_json::{Map, Value};

use super::{
    remote::Refused,
    terminal::printable,
    yaml::{self, LineNumbers},
};

/// As much as a running host may take, with room for YAML's indentation.
const LONGEST: u64 = 64 << 20;
/// So many broken rules or unknown keys are listed.
const LISTED: usize = 20;

pub struct Document {
    /// The keys of the document.
    pub content: Map<String, Value>,
    file: PathBuf,
    text: String,
    places: OnceCell<Option<LineNumbers>>,
}

impl Document {
    /// Reads a file; `-` is the standard input. What does not end in `.json` is read as YAML, of
    /// which JSON is a part.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let (file, text) = if file == Path::new("-") {
            let text = limited(std::io::stdin()).context("cannot read the standard input")?;
            (PathBuf::from("standard input"), text)
        } else {
            let text = File::open(file).map_err(Into::into).and_then(limited);
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            (file.to_owned(), text)
        };
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let value = if is_json {
            json::read(text.as_bytes()).map_err(Into::into)
        } else {
            yaml::read(&text)
        };
        let language = if is_json { "JSON" } else { "YAML" };
        let value = value.with_context(|| format!("{} is not valid {language}", file.display()))?;
        match value {
            Value::Object(content) => Ok(Self {
                content,
                file,
                text,
                places: OnceCell::new(),
            }),
            _ => bail!(
                "{} is no document: it must have one or more of the keys groups, users, apps, searchEngines and boards",
                file.display()
            ),
        }
    }

    /// The keys that nobody reads, each with its place: probably misspelt ones.
    pub fn unknown_keys(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(fields) = DOCUMENT.fields() {
            find_unknown(fields, &self.content, "", &mut found);
        }
        listed(&found, |path| self.place(path))
    }

    /// The same error, with every broken rule and its place in the file.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let refused = error.downcast_ref::<Refused>();
        let issues: Vec<_> = match error.downcast_ref::<Error>() {
            Some(error) => error.issues.iter().map(issue_text).collect(),
            None => refused.map(|refused| refused.issues.clone()).unwrap_or_default(),
        };
        if issues.is_empty() {
            return error;
        }
        let lines = listed(&issues, |issue| {
            let path = issue.split(' ').next().unwrap_or_default();
            format!("{}{}", self.place(path), &issue[path.len()..])
        });
        anyhow!(
            "the document breaks rules, nothing was changed:\n  {}",
            lines.join("\n  ")
        )
    }

    /// `home.yaml:14: apps[3].href`.
    fn place(&self, path: &str) -> String {
        match self.places.get_or_init(|| LineNumbers::of(&self.text)) {
            Some(places) => format!("{}:{}: {path}", self.file.display(), places.line_of(path)),
            None => format!("{}: {path}", self.file.display()),
        }
    }
}

fn listed(all: &[String], show: impl Fn(&String) -> String) -> Vec<String> {
    let shown = |item| printable(&show(item)).into_owned();
    let mut lines: Vec<_> = all.iter().take(LISTED).map(shown).collect();
    if all.len() > LISTED {
        lines.push(format!("and {} more", all.len() - LISTED));
    }
    lines
}

fn limited(source: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    source.take(LONGEST + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= LONGEST, "it is longer than {LONGEST} bytes");
    Ok(text)
}

fn find_unknown(fields: &[Field], object: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for (key, value) in object {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match fields.iter().find(|field| field.name == key) {
            Some(field) => look_into(&field.shape, value, &path, found),
            None => found.push(path),
        }
    }
}

fn look_into(shape: &Shape, value: &Value, path: &str, found: &mut Vec<String>) {
    match (shape.plain(), value) {
        (Shape::Record(fields), Value::Object(object)) => find_unknown(fields, object, path, found),
        (Shape::List(shape), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                look_into(shape, item, &format!("{path}[{index}]"), found);
            }
        }
        (Shape::Nullable(shape) | Shape::Optional(shape), value) => look_into(shape, value, path, found),
        (Shape::Either(one, other), value) => {
            let shape = if matches!(one.plain(), Shape::Record(_)) {
                one
            } else {
                other
            };
            look_into(shape, value, path, found);
        }
        _ => {}
    }
}
