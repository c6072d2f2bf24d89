//! A document for `portico apply`: reads it from JSON or YAML, and reports errors with line numbers.

use std::{
    cell::OnceCell,
    fmt::Display,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, bail, ensure};
use portico_model::error::{Error, issue_text};
use portico_service::{
    json,
    shape::{Field, Shape},
    table::{DOCUMENT, parts_of_document},
};
use serde_json::{Map, Value};

use super::{
    output::complain,
    remote::Refused,
    terminal::printable,
    yaml::{self, LineNumbers},
};

/// The largest document, in bytes. More than a running host accepts, to leave room for YAML's indentation.
const MAX_BYTES: u64 = 64 << 20;
/// How many broken rules or unknown keys are listed.
const MAX_LISTED: usize = 20;

pub struct Document {
    /// The keys of the document.
    pub content: Map<String, Value>,
    file: PathBuf,
    text: String,
    lines: OnceCell<Option<LineNumbers>>,
}

impl Document {
    /// Reads a file, or the standard input for `-`. A name that does not end in `.json` is read as YAML,
    /// which includes JSON.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let (file, text) = if file == Path::new("-") {
            let text = read_limited(std::io::stdin()).context("cannot read the standard input")?;
            (PathBuf::from("standard input"), text)
        } else {
            let text = File::open(file).map_err(Into::into).and_then(read_limited);
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
        let is_known = |key: &String| known_fields().iter().any(|field| field.name == key);
        match value {
            Value::Object(content) if content.keys().any(is_known) => Ok(Self {
                content,
                file,
                text,
                lines: OnceCell::new(),
            }),
            _ => bail!(
                "{} is not a document: it must have one or more of the keys {}",
                file.display(),
                parts_of_document().collect::<Vec<_>>().join(", ")
            ),
        }
    }

    /// Turns an option of `state.apply` on, or leaves it as the document has it.
    pub fn set(&mut self, option: &str, is_on: bool) {
        if is_on {
            self.content.insert(option.into(), true.into());
        }
    }

    pub fn input(&self) -> Value {
        Value::Object(self.content.clone())
    }

    pub fn name(&self) -> impl Display {
        self.file.display()
    }

    /// Warns about keys that `state.apply` does not know, which are probably misspelt.
    pub fn complain_of_unknown_keys(&self) {
        let unknown = self.unknown_keys();
        if !unknown.is_empty() {
            complain(&format!("nothing reads these keys:\n  {}", unknown.join("\n  ")));
        }
    }

    /// Keys that `state.apply` does not know, each with its place.
    fn unknown_keys(&self) -> Vec<String> {
        listed(&unknown_keys(&self.content), |path| self.place(path))
    }

    /// Adds to an error every broken rule and its place in the file.
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
        match self.lines.get_or_init(|| LineNumbers::of(&self.text)) {
            Some(lines) => format!("{}:{}: {path}", self.file.display(), lines.line_of(path)),
            None => format!("{}: {path}", self.file.display()),
        }
    }
}

fn listed(all: &[String], show: impl Fn(&String) -> String) -> Vec<String> {
    let shown = |item| printable(&show(item)).into_owned();
    let mut lines: Vec<_> = all.iter().take(MAX_LISTED).map(shown).collect();
    if all.len() > MAX_LISTED {
        lines.push(format!("and {} more", all.len() - MAX_LISTED));
    }
    lines
}

fn read_limited(source: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    source.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    ensure!(
        text.len() as u64 <= MAX_BYTES,
        "it is longer than {MAX_BYTES} bytes"
    );
    Ok(text)
}

/// The keys of a document that `state.apply` does not know, each as a path such as `apps[3].hreff`.
pub fn unknown_keys(document: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    find_unknown(known_fields(), document, "", &mut found);
    found
}

fn known_fields() -> &'static [Field] {
    DOCUMENT.fields().unwrap_or_default()
}

fn find_unknown(fields: &[Field], object: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for (key, value) in object {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match fields.iter().find(|field| field.name == key) {
            Some(field) => find_unknown_below(&field.shape, value, &path, found),
            None => found.push(path),
        }
    }
}

fn find_unknown_below(shape: &Shape, value: &Value, path: &str, found: &mut Vec<String>) {
    match (shape.plain(), value) {
        (Shape::Record(fields), Value::Object(object)) => find_unknown(fields, object, path, found),
        (Shape::List(shape), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                find_unknown_below(shape, item, &format!("{path}[{index}]"), found);
            }
        }
        (Shape::Nullable(shape) | Shape::Optional(shape), value) => {
            find_unknown_below(shape, value, path, found);
        }
        (Shape::Either(one, other), value) => {
            let shape = if matches!(one.plain(), Shape::Record(_)) {
                one
            } else {
                other
            };
            find_unknown_below(shape, value, path, found);
        }
        _ => {}
    }
}
