//! The doc comments of the contract, by the names that clients use for what they describe:
//!
//! - `user.getById`: a procedure; `user.getById/userId`: one of its parameters, described by its type
//! - `User`: a record; `User/emailVerified`: one of its fields
//!
//! A record within a record, or among the parameters, is replaced by its fields: clients see one flat object.
//! "See `user`." is replaced by that record's description of the same field.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use wit_parser::{Docs, Interface, Resolve, Type, TypeDef, TypeDefKind};

type Words = BTreeMap<String, String>;

/// The words as Rust: a list of pairs, sorted by the first.
pub fn of_contract(wit: &Path) -> anyhow::Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit)?;
    let interfaces = [("", "types"), ("user", "users"), ("app", "apps")].map(|(prefix, name)| {
        let id = resolve.packages[package].interfaces[name];
        (prefix, &resolve.interfaces[id])
    });
    let names = Names::of(&interfaces, &resolve);
    let mut words = Words::new();
    for (prefix, interface) in interfaces {
        for (name, id) in &interface.types {
            let ty = &resolve.types[*id];
            if let TypeDefKind::Record(_) = ty.kind {
                let name = pascal(name);
                note(&mut words, &name, &ty.docs, &names);
                fields(&resolve, ty, &name, &mut words, &names);
            }
        }
        for (name, function) in &interface.functions {
            let name = format!("{prefix}.{}", camel(name));
            note(&mut words, &name, &function.docs, &names);
            // The host states the caller, not the client.
            for parameter in function
                .params
                .iter()
                .filter(|parameter| parameter.name != "caller")
            {
                match type_of(&resolve, &parameter.ty) {
                    Some(ty) if matches!(ty.kind, TypeDefKind::Record(_)) => {
                        fields(&resolve, ty, &name, &mut words, &names);
                    }
                    Some(ty) => {
                        let key = format!("{name}/{}", camel(&parameter.name));
                        note(&mut words, &key, &ty.docs, &names);
                    }
                    None => {}
                }
            }
        }
    }
    Ok(format!(
        "&{:#?}",
        resolved(&words).into_iter().collect::<Vec<_>>()
    ))
}

/// Notes the descriptions of a record's fields.
fn fields(resolve: &Resolve, record: &TypeDef, scope: &str, words: &mut Words, names: &Names) {
    let TypeDefKind::Record(record) = &record.kind else {
        return;
    };
    for field in &record.fields {
        match type_of(resolve, &field.ty) {
            Some(ty) if matches!(ty.kind, TypeDefKind::Record(_)) => {
                fields(resolve, ty, scope, words, names);
            }
            _ => note(
                words,
                &format!("{scope}/{}", camel(&field.name)),
                &field.docs,
                names,
            ),
        }
    }
}

/// The type behind a name, through every `use`.
fn type_of<'a>(resolve: &'a Resolve, ty: &Type) -> Option<&'a TypeDef> {
    let Type::Id(id) = ty else { return None };
    let def = &resolve.types[*id];
    match &def.kind {
        TypeDefKind::Type(inner @ Type::Id(_)) => type_of(resolve, inner),
        _ => Some(def),
    }
}

fn note(words: &mut Words, key: &str, docs: &Docs, names: &Names) {
    if let Some(text) = &docs.contents {
        let paragraphs: Vec<_> = text
            .trim()
            .split("\n\n")
            .map(|paragraph| names.as_clients_write(&paragraph.replace('\n', " ")))
            .collect();
        words.insert(key.to_owned(), paragraphs.join("\n\n"));
    }
}

fn resolved(words: &Words) -> Words {
    let refers = |text: &str| {
        let name = text.strip_prefix("See `")?.strip_suffix("`.")?;
        Some(name.to_owned())
    };
    let text = |key: &str, text: &str| {
        let other = refers(text).and_then(|record| {
            let (_, field) = key.split_once('/')?;
            words.get(&format!("{record}/{field}"))
        });
        other.map_or(text, String::as_str).to_owned()
    };
    words
        .iter()
        .map(|(key, value)| (key.clone(), text(key, value)))
        .collect()
}

/// How clients write the names of the contract: fields and parameters in camel case, records in
/// Pascal case, the codes of errors in capitals. Any other text stays as it is.
struct Names(HashMap<String, String>);

impl Names {
    fn of(interfaces: &[(&str, &Interface)], resolve: &Resolve) -> Self {
        let mut names = HashMap::new();
        for (_, interface) in interfaces {
            let parameters = interface.functions.values().flat_map(|function| &function.params);
            names.extend(parameters.map(|parameter| (parameter.name.clone(), camel(&parameter.name))));
        }
        let types = || interfaces.iter().flat_map(|(_, interface)| &interface.types);
        for (name, ty) in types() {
            match &resolve.types[*ty].kind {
                TypeDefKind::Record(record) => {
                    let fields = record.fields.iter();
                    names.extend(fields.map(|field| (field.name.clone(), camel(&field.name))));
                }
                TypeDefKind::Variant(codes) if name == "error-code" => {
                    let capitals = |name: &str| name.to_uppercase().replace('-', "_");
                    let cases = codes.cases.iter();
                    names.extend(cases.map(|code| (code.name.clone(), capitals(&code.name))));
                }
                _ => {}
            }
        }
        // A record takes precedence over a field of the same name: "under the rules of `new-account`".
        let is_record = |ty: &TypeDef| matches!(ty.kind, TypeDefKind::Record(_));
        let records = types().filter(|(_, ty)| is_record(&resolve.types[**ty]));
        names.extend(records.map(|(name, _)| (name.clone(), pascal(name))));
        Self(names)
    }

    /// The text with every name between backticks as clients write it.
    fn as_clients_write(&self, text: &str) -> String {
        let parts = text.split('`').enumerate().map(|(index, part)| {
            let is_code = index % 2 == 1;
            match self.0.get(part) {
                Some(name) if is_code => name.as_str(),
                _ => part,
            }
        });
        parts.collect::<Vec<_>>().join("`")
    }
}

fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    name.split('-').map(word).collect()
}

fn camel(name: &str) -> String {
    let name = pascal(name);
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}
