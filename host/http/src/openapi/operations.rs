//! The operations: each procedure as its REST route and as its procedure call, and the routes that are
//! not procedures.

use portico_model::error::Code;
use portico_sandbox::{Access, Kind};
use portico_service::{
    procedures::{self, Procedure, method},
    shape::{Field, Shape},
    words,
};
use serde_json::{Map, Value, json};

use super::{
    endpoints::Endpoint,
    errors,
    schema::{JSON, Schemas, about_field, described, request_id},
};

/// Errors of every route that works on data.
const FAILURES: [Code; 4] = [
    Code::PayloadTooLarge,
    Code::InternalServerError,
    Code::ServiceUnavailable,
    Code::Timeout,
];

/// The operations so far.
#[derive(Default)]
pub(super) struct Operations {
    pub paths: Map<String, Value>,
    pub tags: Vec<Value>,
    pub schemas: Schemas,
}

impl Operations {
    /// A procedure as its REST route, if it has one.
    pub fn rest(&mut self, procedure: &Procedure) {
        let Some(route) = procedure.route else { return };
        let tag = self.tag(route.path.split('/').nth(2).unwrap_or_default(), "REST.");
        let scope = scope(procedure);
        let fields = procedure.input.fields().unwrap_or_default();
        let (in_path, others): (Vec<&Field>, Vec<&Field>) = fields
            .iter()
            .partition(|field| route.path.contains(&format!("{{{}}}", field.name)));
        // An earlier operation may have the same path with other names for its parameters.
        let known = self.paths.keys().find(|path| route.is_at(path)).cloned();
        let path = known.unwrap_or_else(|| route.path.to_owned());
        let mut parameters: Vec<_> = in_path
            .iter()
            .map(|field| {
                let mut parameter = self.parameter("path", field, scope);
                let mut names = route.parameters().zip(procedures::parameters(&path));
                if let Some((_, name)) = names.find(|(own, _)| *own == field.name) {
                    parameter["name"] = name.into();
                }
                parameter["schema"]["minLength"] = 1.into();
                parameter
            })
            .collect();
        let mut codes = codes(procedure);
        let mut operation = operation(procedure, operation_id("", procedure.name), tag);
        match route.method {
            "GET" => parameters.extend(others.iter().map(|field| self.parameter("query", field, scope))),
            "DELETE" => {}
            // It takes none, but reads what is sent as JSON.
            _ if matches!(procedure.input, Shape::Nothing) => codes.push(Code::UnsupportedMediaType),
            _ => {
                let needs_body = others.iter().any(|field| !field.optional);
                let schema = if in_path.is_empty() {
                    self.input(procedure)
                } else {
                    // The path has the other fields.
                    let others: Vec<Field> = others.into_iter().copied().collect();
                    let name = format!("{}Body", component(procedure));
                    self.schemas.add(&name, |schemas| {
                        let mut schema = schemas.object(&others, scope);
                        schema["description"] =
                            format!("The input of `{}`, without what the path says.", procedure.name).into();
                        schema
                    })
                };
                // The body is optional if the path has every required field.
                let is_optional = matches!(procedure.input, Shape::Optional(_));
                let is_required = (in_path.is_empty() && !is_optional) || needs_body;
                operation["requestBody"] = body(schema, is_required);
                codes.push(Code::UnsupportedMediaType);
            }
        }
        if fields.is_empty() && matches!(route.method, "GET" | "DELETE") {
            codes.retain(|code| *code != Code::BadRequest);
        }
        let output = match procedure.output {
            Shape::Nothing => None,
            output => Some(self.schemas.of(&output, scope)),
        };
        operation["responses"] = answers(output, &codes, "");
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
            errors::add_too_long(&mut operation);
        }
        self.put(route.method, &path, operation);
    }

    /// A procedure as its procedure call.
    pub fn call(&mut self, procedure: &Procedure) {
        let (router, _) = procedure.name.split_once('.').unwrap_or((procedure.name, ""));
        let tag = self.tag(
            &format!("calls of {router}"),
            "Procedure calls, as tRPC v11 does them.",
        );
        let mut operation = operation(procedure, operation_id("call", procedure.name), tag);
        let mut codes = codes(procedure);
        let method = method(procedure.kind);
        match (&procedure.input, procedure.kind) {
            (Shape::Nothing, _) => {}
            (input, Kind::Query) => {
                let schema = self.input(procedure);
                operation["parameters"] = json!([{
                    "name": "input",
                    "in": "query",
                    "required": !matches!(input, Shape::Optional(_)),
                    "description": "The input, as JSON.",
                    "content": { JSON: { "schema": schema } },
                }]);
            }
            (input, Kind::Mutation) => {
                let required = !matches!(input, Shape::Optional(_));
                let mut body = body(self.input(procedure), required);
                if !required {
                    body["description"] =
                        "May be empty; the header `content-type` is needed even then.".into();
                }
                operation["requestBody"] = body;
            }
        }
        if procedure.kind == Kind::Mutation {
            codes.push(Code::UnsupportedMediaType);
        }
        let result = match procedure.output {
            Shape::Nothing => json!({ "type": "object", "description": "Empty: it has no output." }),
            output => json!({
                "type": "object",
                "description": "What it answers.",
                "required": ["data"],
                "properties": { "data": described(self.schemas.of(&output, scope(procedure)), "The output.") },
            }),
        };
        let envelope =
            json!({ "type": "object", "required": ["result"], "properties": { "result": result } });
        operation["responses"] = answers(Some(envelope), &codes, "Call");
        if operation.get("parameters").is_some() {
            errors::add_too_long(&mut operation);
        }
        self.put(method, &format!("/api/trpc/{}", procedure.name), operation);
    }

    /// A route that is not a procedure.
    pub fn endpoint(&mut self, endpoint: &Endpoint<'_>) {
        let tag = self.tag(endpoint.tag, "REST.");
        let mut operation = json!({
            "operationId": endpoint.id,
            "tags": [tag],
            "summary": words::summary(endpoint.about),
            "description": endpoint.about,
            "security": if endpoint.signed_in { credentials() } else { json!([]) },
        });
        if endpoint.route.method == "GET" {
            let fields = endpoint.input.fields().unwrap_or_default();
            let place = |field: &Field| match endpoint.route.path.contains(&format!("{{{}}}", field.name)) {
                true => "path",
                false => "query",
            };
            let parameters = fields
                .iter()
                .map(|field| self.parameter(place(field), field, endpoint.id));
            operation["parameters"] = parameters.collect();
        } else if !matches!(endpoint.input, Shape::Nothing) {
            let schema = self.schemas.of(&endpoint.input, endpoint.id);
            operation["requestBody"] = body(schema, true);
        }
        let output = match endpoint.output {
            Shape::Nothing => None,
            output => Some(self.schemas.of(&output, endpoint.id)),
        };
        let mut responses = answers(output, endpoint.refusals, "");
        if let Some(content_type) = endpoint.content_type {
            let kind = if content_type == JSON { "object" } else { "string" };
            responses["200"]["content"] = json!({ content_type: { "schema": { "type": kind } } });
        }
        if let Some((name, about)) = endpoint.header {
            let header = json!({ "description": about, "required": true, "schema": { "type": "string" } });
            responses["200"]["headers"][name] = header.clone();
            if name == "ETag" {
                responses["304"] = json!({
                    "description": "Not modified.",
                    "headers": { "x-request-id": request_id(), "ETag": header },
                });
            }
        }
        if endpoint.redirects {
            responses["303"] = responses["200"].take();
            responses["303"]["description"] = "Redirects the browser.".into();
            responses["303"]["headers"]["Location"] = json!({
                "description": "The redirect target.", "required": true, "schema": { "type": "string" },
            });
            if let Value::Object(responses) = &mut responses {
                responses.shift_remove("200");
                responses.sort_keys();
            }
        }
        if endpoint.is_gate {
            let mut passes = responses["200"].take();
            passes["description"] = "The request may pass; the headers say who sends it.".into();
            for name in [
                "Remote-User",
                "Remote-Name",
                "Remote-Email",
                "Remote-Groups",
                "Cookie",
            ] {
                passes["headers"][name] = json!({
                    "description": "For the app; empty where there is none.",
                    "required": true,
                    "schema": { "type": "string" },
                });
            }
            responses["302"] = passes.clone();
            responses["302"]["description"] = "A person has to sign in first.".into();
            responses["302"]["headers"] = json!({
                "x-request-id": request_id(),
                "Location": { "description": "Where they sign in.", "required": true, "schema": { "type": "string" } },
            });
            responses["204"] = passes;
            if let Value::Object(responses) = &mut responses {
                responses.shift_remove("200");
                responses.sort_keys();
            }
        }
        operation["responses"] = responses;
        self.put(endpoint.route.method, endpoint.route.path, operation);
    }

    fn input(&mut self, procedure: &Procedure) -> Value {
        self.schemas.named(
            &format!("{}Input", component(procedure)),
            &procedure.input,
            scope(procedure),
        )
    }

    fn parameter(&mut self, place: &str, field: &Field, scope: &str) -> Value {
        json!({
            "name": field.name,
            "in": place,
            "required": !field.optional,
            "description": about_field(field, scope),
            "schema": self.schemas.of(&field.shape, scope),
        })
    }

    fn tag(&mut self, name: &str, about: &str) -> String {
        if !self.tags.iter().any(|tag| tag["name"] == name) {
            self.tags.push(json!({ "name": name, "description": about }));
        }
        name.to_owned()
    }

    fn put(&mut self, method: &str, path: &str, operation: Value) {
        let path = self.paths.entry(path).or_insert_with(|| json!({}));
        path[method.to_ascii_lowercase()] = operation;
    }
}

/// The parts that the two operations of a procedure share.
fn operation(procedure: &Procedure, id: String, tag: String) -> Value {
    let (security, access) = match &procedure.access {
        Access::Public => (optional_credentials(), "anyone".into()),
        Access::Onboarding => (json!([]), "anyone, only while no user exists".into()),
        Access::Protected => (credentials(), "any signed-in caller".into()),
        Access::OwnUserOr(permissions) => (
            credentials(),
            format!(
                "a signed-in caller on their own user; on any user with {}",
                one_of(permissions)
            ),
        ),
        Access::OneOf(permissions) => (
            credentials(),
            format!("a signed-in caller with {}", one_of(permissions)),
        ),
    };
    json!({
        "operationId": id,
        "tags": [tag],
        "summary": procedure.summary(),
        "description": format!("{}\n\n**Access**: {access}.", procedure.about()),
        "security": security,
    })
}

fn one_of(permissions: &[String]) -> String {
    let names: Vec<_> = permissions.iter().map(|name| format!("`{name}`")).collect();
    format!("the permission {}", names.join(" or "))
}

/// Any of the three kinds of credentials is required.
fn credentials() -> Value {
    json!([{ "bearer": [] }, { "apiKey": [] }, { "session": [] }])
}

/// Credentials are optional; with them, a caller may see more.
fn optional_credentials() -> Value {
    json!([{}, { "bearer": [] }, { "apiKey": [] }, { "session": [] }])
}

/// `userGetById` for the route and `callUserGetById` for the call of `user.getById`.
fn operation_id(prefix: &str, procedure: &str) -> String {
    let name: String = pascal(procedure);
    match prefix {
        "" => name[..1].to_lowercase() + &name[1..],
        prefix => prefix.to_owned() + &name,
    }
}

/// `UserGetById` for `user.getById`.
fn pascal(procedure: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    procedure.split('.').map(word).collect()
}

/// The base name of a procedure's schemas: its input's name, if it has one.
fn component(procedure: &Procedure) -> String {
    match name_of(&procedure.input) {
        Some(name) => name.into(),
        None => pascal(procedure.name),
    }
}

/// The name under which the contract describes the keys of a procedure's input.
fn scope(procedure: &Procedure) -> &str {
    name_of(&procedure.input).unwrap_or(procedure.name)
}

fn name_of(input: &Shape) -> Option<&'static str> {
    match input {
        Shape::Named(name, _) => Some(name),
        Shape::Optional(shape) => name_of(shape),
        _ => None,
    }
}

fn body(schema: Value, required: bool) -> Value {
    json!({ "required": required, "content": { JSON: { "schema": schema } } })
}

/// The codes with which a procedure may refuse a call.
fn codes(procedure: &Procedure) -> Vec<Code> {
    let mut codes = vec![Code::BadRequest];
    let checks_site = procedure.kind == Kind::Mutation;
    match procedure.access {
        Access::Public => {}
        Access::Onboarding => codes.push(Code::Forbidden),
        Access::Protected if !checks_site => codes.push(Code::Unauthorized),
        Access::Protected | Access::OwnUserOr(_) | Access::OneOf(_) => {
            codes.extend([Code::Unauthorized, Code::Forbidden]);
        }
    }
    if procedure.is_throttled() {
        codes.push(Code::TooManyRequests);
    }
    codes.extend(procedure.refusals);
    codes.extend(FAILURES);
    codes
}

/// The responses by status. `prefix` distinguishes the errors of procedure calls from those of REST.
fn answers(output: Option<Value>, codes: &[Code], prefix: &str) -> Value {
    let mut good = json!({ "description": "Done.", "headers": { "x-request-id": request_id() } });
    match output {
        Some(schema) => good["content"] = json!({ JSON: { "schema": schema } }),
        None => good["description"] = "Done. The body is empty.".into(),
    }
    let mut by_status: Vec<_> = codes
        .iter()
        .map(|code| {
            let name = format!("#/components/responses/{prefix}{code:?}");
            (code.http_status(), json!({ "$ref": name }))
        })
        .collect();
    by_status.sort_by_key(|(status, _)| *status);
    let mut answers = Map::new();
    answers.insert("200".into(), good);
    answers.extend(
        by_status
            .into_iter()
            .map(|(status, answer)| (status.to_string(), answer)),
    );
    answers.into()
}
