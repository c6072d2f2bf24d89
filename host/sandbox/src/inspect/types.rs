//! How the type of a function differs from the one in the contract, in words.
//!
//! Types are compared by their structure, as the component model does; of parameters only the order
//! counts, not the names. The first difference is named.

use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId};

/// A type, and the package that defines it.
#[derive(Clone, Copy)]
struct Typed<'a> {
    resolve: &'a Resolve,
    ty: Type,
}

/// How this function of a component differs from the contract's.
pub(crate) fn difference(
    (their_resolve, theirs): (&Resolve, &Function),
    (our_resolve, ours): (&Resolve, &Function),
) -> Option<String> {
    let typed = |theirs, ours| differ(Typed::new(their_resolve, theirs), Typed::new(our_resolve, ours));
    if theirs.params.len() != ours.params.len() {
        return Some(format!(
            "it has {} parameters, and here it has {}",
            theirs.params.len(),
            ours.params.len()
        ));
    }
    for (their_parameter, our_parameter) in theirs.params.iter().zip(&ours.params) {
        if let Some(difference) = typed(their_parameter.ty, our_parameter.ty) {
            return Some(format!("parameter `{}`: {difference}", our_parameter.name));
        }
    }
    match (theirs.result, ours.result) {
        (None, None) => None,
        (Some(theirs), Some(ours)) => typed(theirs, ours).map(|difference| format!("result: {difference}")),
        (Some(_), None) => Some("it has a result, and here it has none".into()),
        (None, Some(_)) => Some("it has no result, and here it has one".into()),
    }
}

fn differ(theirs: Typed, ours: Typed) -> Option<String> {
    use TypeDefKind::{
        Enum, FixedLengthList, Flags, Handle, List, Map, Option as Maybe, Record, Result, Tuple, Variant,
    };
    let otherwise = || Some(format!("{} where this host has {}", theirs.name(), ours.name()));
    let (their_kind, our_kind) = match (theirs.kind(), ours.kind()) {
        (Some(their_kind), Some(our_kind)) => (their_kind, our_kind),
        (None, None) if theirs.ty == ours.ty => return None,
        _ => return otherwise(),
    };
    let inner = |their_type: &Type, our_type: &Type| differ(theirs.of(*their_type), ours.of(*our_type));
    let payload = |their_type: &Option<Type>, our_type: &Option<Type>| match (their_type, our_type) {
        (None, None) => None,
        (Some(theirs), Some(ours)) => inner(theirs, ours),
        _ => otherwise(),
    };
    let name = ours.name();
    match (their_kind, our_kind) {
        (Record(their_record), Record(our_record)) => {
            let (their_fields, our_fields) = (&their_record.fields, &our_record.fields);
            let names = names(
                their_fields.iter().map(|field| &field.name[..]),
                our_fields.iter().map(|field| &field.name[..]),
            );
            let field = || {
                their_fields.iter().zip(our_fields).find_map(|(theirs, ours)| {
                    Some(format!("field `{}`: {}", ours.name, inner(&theirs.ty, &ours.ty)?))
                })
            };
            names
                .or_else(field)
                .map(|text| format!("record `{name}`: {text}"))
        }
        (Variant(their_variant), Variant(our_variant)) => {
            let (their_cases, our_cases) = (&their_variant.cases, &our_variant.cases);
            let names = names(
                their_cases.iter().map(|case| &case.name[..]),
                our_cases.iter().map(|case| &case.name[..]),
            );
            let case = || {
                their_cases.iter().zip(our_cases).find_map(|(theirs, ours)| {
                    Some(format!(
                        "case `{}`: {}",
                        ours.name,
                        payload(&theirs.ty, &ours.ty)?
                    ))
                })
            };
            names
                .or_else(case)
                .map(|text| format!("variant `{name}`: {text}"))
        }
        (Enum(their_enum), Enum(our_enum)) => names(
            their_enum.cases.iter().map(|case| &case.name[..]),
            our_enum.cases.iter().map(|case| &case.name[..]),
        )
        .map(|text| format!("enum `{name}`: {text}")),
        (Flags(their_flags), Flags(our_flags)) => names(
            their_flags.flags.iter().map(|flag| &flag.name[..]),
            our_flags.flags.iter().map(|flag| &flag.name[..]),
        )
        .map(|text| format!("flags `{name}`: {text}")),
        (Tuple(their_tuple), Tuple(our_tuple)) if their_tuple.types.len() == our_tuple.types.len() => {
            let mut pairs = their_tuple.types.iter().zip(&our_tuple.types);
            pairs.find_map(|(theirs, ours)| inner(theirs, ours))
        }
        (Maybe(theirs), Maybe(ours)) | (List(theirs), List(ours)) => inner(theirs, ours),
        (FixedLengthList(theirs, their_length), FixedLengthList(ours, our_length))
            if their_length == our_length =>
        {
            inner(theirs, ours)
        }
        (Map(their_key, their_value), Map(our_key, our_value)) => {
            inner(their_key, our_key).or_else(|| inner(their_value, our_value))
        }
        (Result(theirs), Result(ours)) => {
            payload(&theirs.ok, &ours.ok).or_else(|| payload(&theirs.err, &ours.err))
        }
        (Handle(their_handle), Handle(our_handle)) if same(theirs, *their_handle, ours, *our_handle) => None,
        _ => otherwise(),
    }
}

/// Whether two handles are of the same kind, and to resources of the same name.
fn same(theirs: Typed, their_handle: Handle, ours: Typed, our_handle: Handle) -> bool {
    let (their_id, our_id) = match (their_handle, our_handle) {
        (Handle::Own(theirs), Handle::Own(ours)) | (Handle::Borrow(theirs), Handle::Borrow(ours)) => {
            (theirs, ours)
        }
        _ => return false,
    };
    theirs.of(Type::Id(their_id)).name() == ours.of(Type::Id(our_id)).name()
}

/// How a list of names differs from the contract's.
fn names<'a>(theirs: impl Iterator<Item = &'a str>, ours: impl Iterator<Item = &'a str>) -> Option<String> {
    let (theirs, ours): (Vec<_>, Vec<_>) = (theirs.collect(), ours.collect());
    if theirs == ours {
        return None;
    }
    let without = |some: &[&str], others: &[&str]| {
        let only = some.iter().filter(|name| !others.contains(name));
        only.map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (lacks, adds) = (without(&ours, &theirs), without(&theirs, &ours));
    Some(match (lacks.is_empty(), adds.is_empty()) {
        (false, false) => format!("it lacks {lacks} and adds {adds}"),
        (false, true) => format!("it lacks {lacks}"),
        (true, false) => format!("it adds {adds}"),
        (true, true) => "it has them in another order".into(),
    })
}

impl<'a> Typed<'a> {
    fn new(resolve: &'a Resolve, ty: Type) -> Self {
        Self { resolve, ty }.of(ty)
    }

    /// Another type of the same package; for an alias, the type that it stands for.
    fn of(self, mut ty: Type) -> Self {
        while let Type::Id(id) = ty
            && let TypeDefKind::Type(original) = self.resolve.types[id].kind
        {
            ty = original;
        }
        Self { ty, ..self }
    }

    /// The structure of a type; none for a primitive one.
    fn kind(self) -> Option<&'a TypeDefKind> {
        match self.ty {
            Type::Id(id) => Some(&self.resolve.types[id].kind),
            _ => None,
        }
    }

    fn name(self) -> String {
        let part = |ty: &Type| self.of(*ty).name();
        let maybe = |ty: &Option<Type>| ty.as_ref().map_or_else(|| "_".into(), part);
        let resource = |id: &TypeId| self.of(Type::Id(*id)).name();
        let definition = match self.ty {
            Type::Id(id) => &self.resolve.types[id],
            primitive => return format!("{primitive:?}").to_lowercase(),
        };
        match (&definition.name, &definition.kind) {
            (Some(name), _) => name.clone(),
            (None, TypeDefKind::Option(ty)) => format!("option<{}>", part(ty)),
            (None, TypeDefKind::List(ty)) => format!("list<{}>", part(ty)),
            (None, TypeDefKind::Result(result)) => {
                format!("result<{}, {}>", maybe(&result.ok), maybe(&result.err))
            }
            (None, TypeDefKind::Tuple(tuple)) => {
                format!(
                    "tuple<{}>",
                    tuple.types.iter().map(part).collect::<Vec<_>>().join(", ")
                )
            }
            (None, TypeDefKind::Handle(Handle::Own(id))) => resource(id),
            (None, TypeDefKind::Handle(Handle::Borrow(id))) => format!("borrow<{}>", resource(id)),
            (None, kind) => kind.as_str().into(),
        }
    }
}
