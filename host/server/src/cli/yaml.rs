//! YAML with limits, and the line numbers of its parts.

use std::fmt;

use anyhow::anyhow;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_saphyr::{DoubleQuoted, Error, Options, Spanned, alias_limits, budget, options};

use super::terminal::{is_control_in_lines, printable, quoted};

/// More nodes than the largest document that `state.apply` accepts.
const MAX_NODES: usize = 3_000_000;

/// How many values all aliases of a document may expand to.
const MAX_ALIASED: usize = 100_000;

/// Reads one document. The expansion of aliases is limited, duplicate keys are refused, and only `true`
/// and `false` are booleans.
pub fn read(text: &str) -> anyhow::Result<Value> {
    serde_saphyr::from_str_with_options(text, limits()).map_err(|error| match error {
        Error::DuplicateMappingKey { key, location } => anyhow!(
            "the key {} stands twice, at line {}, column {}",
            printable(&key.unwrap_or_default()),
            location.line(),
            location.column()
        ),
        Error::MultipleDocuments { location, .. } => anyhow!(
            "a second document begins at line {} (after ---): give each in a file of its own",
            location.line()
        ),
        error => anyhow!("{error}"),
    })
}

/// Writes a document. Text that another program could read as another type is quoted, and control
/// characters are escaped.
pub fn write(value: &Value) -> anyhow::Result<String> {
    let text = serde_saphyr::to_string(&Quoted(value))?;
    Ok(quoted(&text).into_owned())
}

/// Double-quotes the texts in which `quoted` will escape something. Keys are names of fields, which never
/// need escaping.
struct Quoted<'a>(&'a Value);

impl Serialize for Quoted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) if text.contains(is_control_in_lines) => {
                DoubleQuoted(text).serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Quoted)),
            Value::Object(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, Quoted(value))))
            }
            other => other.serialize(serializer),
        }
    }
}

/// The line numbers of all parts of a text.
pub struct LineNumbers(Spanned<Node>);

impl LineNumbers {
    /// `None` if the text is invalid.
    pub fn of(text: &str) -> Option<Self> {
        serde_saphyr::from_str_with_options(text, limits()).ok().map(Self)
    }

    /// The line (the first is 1) of the deepest part of this path (`apps[3].href`) that exists.
    pub fn line_of(&self, path: &str) -> u64 {
        let mut here = &self.0;
        for step in path.split(['.', '[']) {
            let next = match (&here.value, step.strip_suffix(']')) {
                (Node::List(items), Some(index)) => {
                    index.parse().ok().and_then(|index: usize| items.get(index))
                }
                (Node::Map(entries), None) => {
                    let mut entries = entries.iter();
                    entries.find(|(key, _)| key == step).map(|(_, value)| value)
                }
                _ => None,
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here.referenced.line()
    }
}

fn limits() -> Options {
    options! {
        strict_booleans: true,
        // A snippet would repeat the text, which may be a password.
        with_snippet: false,
        alias_limits: alias_limits! {
            max_total_replayed_events: MAX_ALIASED,
        },
        budget: budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
        },
    }
}

/// A value with positions and without the content of its leaves.
enum Node {
    Leaf,
    List(Vec<Spanned<Node>>),
    Map(Vec<(String, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl<'de> de::Visitor<'de> for Visitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "\
# A dashboard
groups:
  - name: family
apps:
  - name: Jellyfin
    href: x
  - {name: Storage,
     href: y}
";

    #[test]
    fn line_numbers_are_those_of_the_text() {
        for (path, line) in [
            ("groups[0].name", 3),
            ("apps[0]", 5),
            ("apps[0].href", 6),
            ("apps[1].href", 8),
            // For a missing part, the line of what would contain it.
            ("apps[0].iconUrl", 5),
            ("apps[7].name", 5),
            ("input", 2),
        ] {
            assert_eq!(LineNumbers::of(TEXT).unwrap().line_of(path), line, "{path}");
        }
        let json = "{\"apps\": [\n{\"name\": \"a\"},\n{\"name\":\n5}]}";
        assert_eq!(LineNumbers::of(json).unwrap().line_of("apps[1].name"), 4);
        assert!(LineNumbers::of("{").is_none());
    }

    #[test]
    fn written_text_reads_back_the_same() {
        let texts = [
            "",
            " ",
            "a ",
            " a",
            "yes",
            "No",
            "on",
            "null",
            "~",
            "true",
            "1",
            "1.0",
            "0x1f",
            "1e3",
            "-",
            "- a",
            "a: b",
            "a #b",
            "#",
            "?",
            ": ",
            "'",
            "\"",
            "\\",
            "a\nb",
            "a\n",
            "\na",
            "a\n\n",
            "  a\nb",
            "a\tb",
            "\t",
            "%a",
            "@a",
            "`a`",
            "!a",
            "&a",
            "*a",
            "{a}",
            "[a]",
            "|",
            ">",
            "---",
            "...",
            "2026-01-01",
            "12:30:45",
            "🦀 Crab",
            "e\u{301}",
            "\u{feff}a",
            "\u{85}",
            "\u{2028}",
            "\u{7f}",
            "\u{9b}31m",
            "\u{202e}a",
            "a\u{2066}\n b",
            "# \u{1b}[2J",
            "a\tb\n\tc",
            "a\r\nb",
            "=",
            "<<",
            ".inf",
            "0o7",
            "1_000",
        ];
        let long = [
            "word ".repeat(60),
            "x".repeat(400_000),
            format!("{}\n", "word ".repeat(60)),
        ];
        let all: Vec<_> = texts.iter().map(|text| (*text).to_owned()).chain(long).collect();
        for text in &all {
            let is_plain_key = !text.contains(['\u{202e}', '\u{2066}']);
            let key = if is_plain_key { &text[..] } else { "key" };
            let value = json!({"list": [text, {"key": text}], (key): text, "last": null});
            let written = write(&value).unwrap();
            assert_eq!(read(&written).unwrap(), value, "{written}");
            assert!(!written.contains(is_control_in_lines), "{written:?}");
        }
        let value = json!({"a": [], "b": {}, "c": [[], [1, -2, 2.5, true, null]], "d": all});
        assert_eq!(read(&write(&value).unwrap()).unwrap(), value);
    }

    #[test]
    fn large_and_ambiguous_documents_are_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(", ")));
        }
        for text in [
            &bomb[..],
            &"[".repeat(100_000),
            "a: 1\na: 2",
            "a: 1\n---\na: 2",
            "a: [",
            "a: b: c",
        ] {
            let shown: String = text.chars().take(40).collect();
            assert!(read(text).is_err() && LineNumbers::of(text).is_none(), "{shown}");
        }
        let refused = read("a: 1\nb:\n  password: canary\n  password: canary").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the key password stands twice, at line 4, column 3"
        );
        let refused = read("a: 1\npassword: [canary").unwrap_err().to_string();
        assert!(
            refused.contains("line 2, column 11") && !refused.contains("canary"),
            "{refused}"
        );
        assert_eq!(
            read("a: &x {b: 1}\nc: *x\nd: no").unwrap(),
            json!({"a": {"b": 1}, "c": {"b": 1}, "d": "no"})
        );
    }
}
