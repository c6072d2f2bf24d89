//! The service described in OpenAPI 3.1, from the same sources that it runs on: the procedure table, the shapes, and
//! the doc comments of the contract.
//!
//! Invariant: `GET /api/openapi` and `portico openapi` return the same document, which depends on no data and no
//! settings.

mod endpoints;
mod errors;
mod operations;
mod schema;

use portico_service::{identity::PLAIN_COOKIE, table::Table};
use serde_json::{Value, json};

use self::{
    endpoints::{ENDPOINTS, Endpoint},
    operations::Operations,
};

const ABOUT: &str = "\
The users and apps of a dashboard.

Every procedure can be called by its name, and many are REST routes as well; the rules are the same.

- **Input**: types are never coerced, unknown keys are ignored, and dates are RFC 3339. A key that appears \
twice in a JSON object or in a query string is an error; in a query string, numbers are decimal digits.
- **Texts**: outer whitespace (Unicode's White_Space), line ends included, is trimmed from every text \
except passwords. Lengths count Unicode scalar values after trimming (usernames are also normalised to \
NFC and lower case first). Ids, tokens, and names of procedures, permissions and outcomes are not \
changed.
- **Output**: dates are RFC 3339 in UTC with milliseconds. A procedure without output answers `200` with \
an empty body.
- **Errors** are `Error`, in procedure calls `CallError`. `issues` and `data.zodError` name each invalid \
field and the rule that it breaks.
- **Procedure calls** are those of tRPC v11: this document shows the plain ones; batches, streams and \
superjson are for its clients.
- **Credentials**: `Authorization: Bearer`, else the header `ApiKey`, else the session cookie. Each \
may hold an API key or a session token. Where credentials are optional, invalid ones are ignored. A user \
who changes their own password with the session cookie receives a new cookie.
- **The first user**: until it exists, requests of browsers are answered with `403` unless they come from \
this service's own pages, at an IP address, `localhost` or the host of the setting `public-url`.
";

pub fn document(table: &Table) -> Value {
    let mut operations = Operations::default();
    for procedure in table.iter() {
        operations.rest(procedure);
    }
    for procedure in table.routes() {
        let (id, refusals) = (endpoints::id(procedure), endpoints::refusals(procedure));
        if let Some(endpoint) = Endpoint::of(procedure, &id, &refusals) {
            operations.endpoint(&endpoint);
        }
    }
    for endpoint in ENDPOINTS {
        operations.endpoint(endpoint);
    }
    for procedure in table.iter() {
        operations.call(procedure);
    }
    let Operations {
        paths,
        tags,
        mut schemas,
    } = operations;
    let responses = errors::responses(&mut schemas);
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Portico",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        // Relative to the document: /api/openapi, even if a proxy adds a path prefix.
        "servers": [{ "url": "..", "description": "Where this document comes from" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas.into_components(),
            "responses": responses,
            "headers": {
                "RequestId": {
                    "description": "The request's id: in the log, and in the message of an unexpected failure.",
                    "required": true,
                    "schema": { "type": "string" },
                },
            },
            "securitySchemes": security_schemes(),
        },
    })
}

fn security_schemes() -> Value {
    let key = |place: &str, name: &str, about: &str| json!({ "type": "apiKey", "in": place, "name": name, "description": about });
    json!({
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key (`apiKeys.create`) or the token of a session (`POST /api/auth/sign-in`).",
        },
        "apiKey": key("header", "ApiKey", "The same, in a header of its own."),
        "session": key(
            "cookie",
            PLAIN_COOKIE,
            "The cookie that signing in sets; where the service is told that it is behind TLS, it is \
             `__Host-portico_session`. It authorises no changes that another site asks the browser for.",
        ),
    })
}
