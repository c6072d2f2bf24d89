//! Shapes as JSON Schema, and small parts that are used throughout the document. A named shape becomes one schema of
//! the components.

use portico_service::{
    shape::{Bound, Field, Shape},
    words,
};
use serde_json::{Map, Value, json};

pub(super) const JSON: &str = "application/json";

/// Schemas whose fields the contract describes under another name.
const SAME_FIELDS: &[(&str, &str)] = &[("CreatedApp", "App")];

/// Descriptions of schemas that are not in the contract.
const ABOUT: &[(&str, &str)] = &[
    ("AppStatus", "Whether an app can be reached."),
    ("Address", "An address that may be an app's."),
    ("ApiKey", "An API key, without its secret."),
    (
        "AppGate",
        "What is set of an app for the gate in front of apps: where else it is, and whether everyone gets in.",
    ),
    ("Session", "A session, without its token."),
    (
        "AppName",
        "An app by its name, or by its id where several apps share the name.",
    ),
    ("AuditPage", "A page of the audit log."),
    ("AuditRow", "A call that was made or refused."),
    ("Board", "A board with its content."),
    (
        "BoardContent",
        "An app on a board, a list of bookmarks, a note or a clock.",
    ),
    ("BoardItem", "An app, a list of bookmarks, a note or a clock."),
    ("BoardPart", "A section of a board, with its items by name."),
    ("BoardSection", "Items of a board that are shown together."),
    ("BoardShare", "A user or a group with whom a board is shared."),
    ("BoardShares", "With whom a board is shared."),
    ("BoardSummary", "A board in a list."),
    (
        "Extras",
        "What clients keep about a record where Portico has no field for it.",
    ),
    ("ChangeableBoard", "A board that the caller may change."),
    ("ChangedEntry", "A record that existed and was changed."),
    ("CreatedApiKey", "A new API key."),
    ("EndedSessions", "The sessions that a call ended."),
    ("CreatedApp", "A new app."),
    ("CreatedInvite", "A new invite."),
    (
        "CreatedPicture",
        "A stored picture: the id by which looks refer to it, and where it is served.",
    ),
    ("CurrentSession", "Who is signed in, and until when."),
    ("CurrentStep", "The current step of the first setup."),
    (
        "DefaultHome",
        "The boards that the members of a group see first, or everyone does, who have chosen none.",
    ),
    (
        "Document",
        "The desired state of a dashboard. An absent key leaves existing records as they are and gives new ones the default; null clears; lists replace.",
    ),
    ("FieldChange", "A field that differs."),
    (
        "GateContent",
        "What is set of an app, by its name, for the gate in front of apps.",
    ),
    ("Group", "Users with the same permissions."),
    ("Health", "The process answers."),
    ("HeldInvite", "An invite, as its holder sees it."),
    ("Icon", "An icon that an app may have."),
    ("Invite", "An invite, without its secret."),
    ("InviteReference", "An invite by its id and its secret."),
    ("IdentityProvider", "A way to sign in."),
    (
        "Looks",
        "What the dashboard looks like, for everyone: name, logo, colour, wallpaper and tiles.",
    ),
    (
        "LooksChange",
        "A change of what the dashboard looks like. An absent key leaves it as it is; null sets it back.",
    ),
    ("Membership", "A user in a group."),
    ("Named", "A record by its id and name."),
    ("NewPicture", "A picture to store."),
    ("PlacedItem", "An item of a board with its size."),
    ("PasswordLink", "A link with which a user sets a new password."),
    ("Readiness", "The host is ready to serve, with this component."),
    ("Reference", "A record by its id."),
    ("Report", "The changes that applying a document made."),
    ("ReportEntry", "A record in a report."),
    ("Search", "What to search for, in names."),
    ("SearchEngine", "A search engine that the dashboard offers."),
    (
        "SetDefaultHome",
        "The boards that the members of a group are to see first, or everyone is, who have chosen none.",
    ),
    (
        "Share",
        "A user or a group by id: to view the board, unless it says more.",
    ),
    ("Shareable", "Users and groups with whom a board may be shared."),
    (
        "SharedGroup",
        "A group by name, to view the board, unless it says more.",
    ),
    (
        "SharedUser",
        "A user by name, to view the board, unless it says more.",
    ),
    ("SeenApp", "An app that a user sees, and through which boards."),
    ("SeenApps", "A page of the apps that a user sees."),
    ("SeenAppsQuery", "Whose apps to list, and which page of the list."),
    ("SeenBy", "Who sees an app, and through which boards."),
    (
        "SeenOnBoard",
        "A board that an app is on, and who may view the board.",
    ),
    (
        "SeenThrough",
        "A board through which a user sees an app, and why they may view it.",
    ),
    ("SecondFactor", "A second factor, without its secret."),
    (
        "SecondFactorCode",
        "What completes a sign-in whose password was right.",
    ),
    (
        "PasskeyOptions",
        "What a browser needs to make or to use a passkey.",
    ),
    ("NewPasskeyCredential", "A passkey that a browser has made."),
    ("PasskeyCredential", "A passkey that a browser has used."),
    ("PasskeySignIn", "What begins a session with a passkey alone."),
    (
        "SecondFactorPasskey",
        "A passkey that completes a sign-in whose password was right.",
    ),
    (
        "FirstPasskey",
        "The first passkey of a user, with which a sign-in is completed.",
    ),
    ("SecondFactors", "The second factors of a user."),
    ("AddedSecondFactor", "A new second factor."),
    (
        "RecoveryCodes",
        "New recovery codes, in place of the earlier ones.",
    ),
    ("RemovedSecondFactors", "The second factors that a call removed."),
    ("NewSecret", "A new secret of codes."),
    ("SignInTicket", "What a sign-in goes on with."),
    (
        "FirstSecondFactor",
        "The first second factor of a user, with which a sign-in is completed.",
    ),
    (
        "SignedInWithFactor",
        "A new session, and the recovery codes of the second factor that was set up.",
    ),
    ("SessionUser", "The user who is signed in."),
    ("SignIn", "A username and a password."),
    ("SignedIn", "A new session."),
    (
        "Site",
        "What the dashboard looks like, for everyone, and who sees which app.",
    ),
    ("State", "The whole dashboard as a document."),
    ("StateBoard", "A board of a state."),
    ("StateGroup", "A group of a state."),
    ("StatePicture", "A picture of a state."),
    ("StateSearchEngine", "A search engine of a state."),
    ("StateShares", "With whom a board is shared."),
    ("StateUser", "A user of a state."),
    (
        "StateWarning",
        "A field that was taken from a document though it breaks a rule.",
    ),
    (
        "SuggestedApp",
        "What the page at an address says of itself, for the form of a new app.",
    ),
    (
        "Unnamed",
        "By kind, the number of records that a document does not name.",
    ),
    (
        "UserName",
        "A user by name, with the provider where users of several providers share the name.",
    ),
    ("UserReference", "A user by their id."),
    ("WantedApp", "An app of a document."),
    ("WantedBoard", "A board of a document."),
    ("WantedGroup", "A group of a document."),
    ("WantedPicture", "A picture of a document."),
    ("WantedSearchEngine", "A search engine of a document."),
    ("WantedShares", "With whom a board is shared."),
    ("WantedUser", "A user of a document."),
];

/// The named schemas so far.
#[derive(Default)]
pub(super) struct Schemas {
    found: Map<String, Value>,
}

impl Schemas {
    /// All of them, by name.
    pub fn into_components(self) -> Value {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        Value::Object(found.into_iter().collect())
    }

    /// Adds a schema under this name, unless it exists, and returns the reference to it.
    pub fn add(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.found.contains_key(name) {
            // Reserves the name: a schema may refer to itself.
            self.found.insert(name.to_owned(), Value::Null);
            let schema = make(self);
            self.found.insert(name.to_owned(), schema);
        }
        reference(name)
    }

    /// A shape as a schema; an unnamed object gets this name. `scope` is the name under which the contract
    /// describes the object's keys.
    pub fn named(&mut self, name: &str, shape: &Shape, scope: &str) -> Value {
        match shape {
            Shape::Record(_) | Shape::Exact(_) => self.add(name, |schemas| {
                let mut schema = schemas.of(shape, scope);
                schema["description"] = format!("The input of `{scope}`.").into();
                schema
            }),
            Shape::Optional(shape) => self.named(name, shape, scope),
            shape => self.of(shape, scope),
        }
    }

    pub fn of(&mut self, shape: &Shape, scope: &str) -> Value {
        match shape {
            // Any value, because it is ignored.
            Shape::Nothing | Shape::Anything => json!({}),
            Shape::Text => json!({ "type": "string" }),
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Integer => json!({ "type": "integer", "format": "int32" }),
            Shape::Position => json!({ "type": "integer" }),
            Shape::Date => json!({ "type": "string", "format": "date-time" }),
            Shape::Choice(choices) => json!({ "type": "string", "enum": choices }),
            Shape::List(shape) => json!({ "type": "array", "items": self.of(shape, scope) }),
            Shape::Record(fields) => self.object(fields, scope),
            Shape::Exact(fields) => {
                let mut schema = self.object(fields, scope);
                schema["additionalProperties"] = false.into();
                schema
            }
            Shape::Tagged(kinds) => {
                let of_kind = |(kind, fields): &(&str, &[Field])| {
                    let mut schema = self.object(fields, scope);
                    let tag = json!({ "type": "string", "const": kind, "description": "What kind it is." });
                    schema["properties"]["kind"] = tag;
                    match schema["required"].as_array_mut() {
                        Some(required) => required.insert(0, "kind".into()),
                        None => schema["required"] = json!(["kind"]),
                    }
                    schema
                };
                json!({ "oneOf": kinds.iter().map(of_kind).collect::<Vec<_>>() })
            }
            Shape::Either(one, other) => json!({ "anyOf": [self.of(one, scope), self.of(other, scope)] }),
            Shape::Nullable(shape) => or_null(self.of(shape, scope)),
            Shape::Optional(shape) => self.of(shape, scope),
            Shape::Named(name, shape) => self.add(name, |schemas| {
                let mut schema = schemas.of(shape, name);
                schema["description"] = about(name).into();
                schema
            }),
            Shape::Bounded(shape, bound) => {
                let mut schema = self.of(shape, scope);
                state(bound, &mut schema);
                schema
            }
        }
    }

    /// An object with these keys. Inputs may have other keys, which are ignored.
    pub fn object(&mut self, fields: &[Field], scope: &str) -> Value {
        let mut schema = json!({ "type": "object" });
        let required: Vec<_> = fields.iter().filter(|field| !field.optional).collect();
        if !required.is_empty() {
            schema["required"] = required.iter().map(|field| field.name).collect();
        }
        let mut properties = Map::new();
        for field in fields {
            properties.insert(field.name.into(), self.property(field, scope));
        }
        schema["properties"] = properties.into();
        schema
    }

    /// One key of an object, or one parameter, with its description.
    pub fn property(&mut self, field: &Field, scope: &str) -> Value {
        let mut schema = self.of(&field.shape, scope);
        if let Some(about) = about_field(field, scope) {
            schema["description"] = about.into();
        }
        schema
    }
}

/// The description of a key, from the row or otherwise from the contract.
pub(super) fn about_field(field: &Field, scope: &str) -> Option<&'static str> {
    if !field.about.is_empty() {
        return Some(field.about);
    }
    let same = SAME_FIELDS.iter().find(|(name, _)| *name == scope);
    words::about_field(same.map_or(scope, |(_, same)| same), field.name)
}

fn about(name: &str) -> &'static str {
    let own = ABOUT
        .iter()
        .find(|(own, _)| *own == name)
        .map(|(_, about)| *about);
    own.or_else(|| words::about(name)).unwrap_or_default()
}

/// The reference to a schema of the components.
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn or_null(mut schema: Value) -> Value {
    match schema.get("type").cloned() {
        Some(Value::String(kind)) if schema.get("enum").is_none() => {
            schema["type"] = json!([kind, "null"]);
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

fn state(bound: &Bound, schema: &mut Value) {
    match *bound {
        Bound::Length(from, to) => {
            if from > 0 {
                schema["minLength"] = from.into();
            }
            schema["maxLength"] = to.into();
        }
        Bound::Range(from, to) => {
            schema["minimum"] = from.into();
            schema["maximum"] = to.into();
        }
        Bound::From(from) => schema["minimum"] = from.into(),
        Bound::Count(from, to) => {
            if from > 0 {
                schema["minItems"] = from.into();
            }
            schema["maxItems"] = to.into();
        }
        Bound::Pattern(pattern) => schema["pattern"] = pattern.into(),
    }
}

/// The schema with a description for this use of it.
pub(super) fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = about.into();
    schema
}

/// The reference to the header with the request's id.
pub(super) fn request_id() -> Value {
    json!({ "$ref": "#/components/headers/RequestId" })
}
