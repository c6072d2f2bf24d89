//! Procedure calls, in the form in which Homarr's clients make them.
//!
//! Homarr returns superjson for every call. Portico does so if the input is superjson. So a call without an input gets
//! the input `undefined`, and passes on. Nothing, `{}` and `{"json":null}` are all no input. Invariants:
//! - A request that names no procedure of this crate passes on with its body unread, unless the body is small.
//! - A request that names one is handled here, in the order of its path. Its calls of other procedures are made one by
//!   one, as the client has sent them.

use std::sync::Arc;

use axum::{
    body::HttpBody as _,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::Response,
};
use bytes::Bytes;
use portico_http::{read_json_bytes, read_json_text};
use portico_model::{error::Code, refusal::Refusal};
use serde_json::{Map, Value, json};

use crate::{
    Compat,
    caller::{Beginning, Caller, LARGEST_ANSWER, SMALL_BODY, is_json, pass_on, read_beginning},
    form,
    outcome::{Failure, Outcome, json_response},
    procedures, superjson,
};

struct Call {
    name: String,
    /// Exactly as the client has sent it.
    input: Option<Value>,
}

impl Call {
    /// Whether its answer is superjson: all are, except for a client that sends plain JSON.
    fn is_superjson(&self) -> bool {
        self.input.as_ref().is_none_or(superjson::is_wrapped)
    }

    async fn make(&self, caller: &Caller, method: &Method) -> Outcome {
        let input = self.input.clone();
        let wraps = self.is_superjson();
        let procedure = procedures::find(&self.name).filter(|procedure| wraps || !procedure.is_portico_s);
        let Some(procedure) = procedure else {
            let input = input.unwrap_or_else(superjson::undefined);
            return caller.call(method.clone(), &self.name, input).await;
        };
        if *method != procedure.kind.method() {
            let message = format!("Unsupported {method}-request at path \"{}\"", self.name);
            return Err(Failure::new(Code::MethodNotSupported, message));
        }
        let input = input.and_then(|input| match superjson::is_wrapped(&input) {
            true => superjson::unwrap(input),
            false => Some(input),
        });
        (procedure.run)(caller, input.unwrap_or_default()).await
    }
}

/// How many calls of a batch are handled here: each makes calls of its own. The others are refused.
const MOST_HERE: usize = 16;

/// The most calls of a batch that is refused call by call, as clients of Homarr expect, if four times as many calls as a
/// batch may have are not more. A larger one is refused as a whole.
const REFUSED_ONE_BY_ONE: usize = 1024;

/// Responds to a request to `/api/trpc/` and these names.
pub(crate) async fn respond(compat: &Arc<Compat>, names: &str, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let is_batch = form::value_of(query, "batch").as_deref() == Some("1");
    let path = form::unescape(names.strip_suffix('/').unwrap_or(names));
    let names: Vec<&str> = match is_batch {
        true => path.split(',').collect(),
        false => vec![&path],
    };
    let is_here = names.iter().any(|name| procedures::find(name).is_some());
    let most = compat.limits.batch;
    if names.len() > most && names.len() <= most.saturating_mul(4).max(REFUSED_ONE_BY_ONE) {
        return refuse_each(compat, &names, request).await;
    }
    if names.len() > most || request.method() == Method::HEAD {
        return pass_on(compat, request).await;
    }
    if !is_here {
        return match with_inputs(compat, request, is_batch, names.len()).await {
            Ok(request) => pass_on(compat, request).await,
            Err(failure) => {
                let body = json!({ "error": { "json": failure.rpc(&path) } });
                json_response(failure.status(), body.to_string())
            }
        };
    }
    match answer_here(compat, &names, is_batch, request).await {
        Ok(response) => response,
        Err(failure) => {
            let body = json!({ "error": { "json": failure.rpc(&path) } });
            json_response(failure.status(), body.to_string())
        }
    }
}

/// Refuses each call of a batch that is too large, in the form that the client speaks. None is made, and inputs of a body
/// that is not small are not read.
async fn refuse_each(compat: &Arc<Compat>, names: &[&str], request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let sent = match parts.method {
        Method::GET => {
            let query = parts.uri.query().unwrap_or_default();
            form::value_of(query, "input").map(Bytes::from)
        }
        _ => match read_beginning(body, SMALL_BODY, compat.limits.receive_time).await {
            Ok(Beginning::Whole(sent)) => Some(sent),
            _ => None,
        },
    };
    let input = sent.and_then(|sent| read_json_text(&sent).ok());
    let calls = calls(names, true, input.filter(Value::is_object)).unwrap_or_default();
    let streams = wants_stream(
        parts.headers.get("trpc-accept"),
        parts.headers.get(header::ACCEPT),
    );
    let message = format!(
        "Batch call exceeds maximum size: {} calls, at most {}",
        names.len(),
        compat.limits.batch
    );
    let refuse = |(index, call): (usize, &Call)| {
        let failure = Failure::new(Code::BadRequest, message.clone());
        let status = failure.status();
        let place = match streams {
            true => Wrapping::Line(index),
            false => Wrapping::Envelope,
        };
        (status, None, written(call, Err(failure), place))
    };
    let answers = calls.iter().enumerate().map(refuse).collect();
    let superjson = calls.iter().any(Call::is_superjson);
    assembled(&Caller::new(compat, parts), answers, true, streams, superjson)
}

/// The request, with the input `undefined` for calls without an input.
async fn with_inputs(
    compat: &Compat,
    mut request: Request,
    is_batch: bool,
    calls: usize,
) -> Result<Request, Failure> {
    if request.method() == Method::POST {
        return with_body(compat, request, is_batch, calls).await;
    }
    let query = request.uri().query().unwrap_or_default();
    if request.method() != Method::GET || form::pairs(query).filter(|(key, _)| key == "input").count() > 1 {
        return Ok(request);
    }
    let sent = form::value_of(query, "input").filter(|input| !input.is_empty());
    let sent = match sent.map(|sent| read_json_text(sent.as_bytes())).transpose() {
        Ok(sent) => sent,
        // The router says why.
        Err(_) => return Ok(request),
    };
    let Some(input) = filled(sent, is_batch, calls) else {
        return Ok(request);
    };
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && *pair != "input" && !pair.starts_with("input="))
        .map(ToOwned::to_owned)
        .collect();
    pairs.push(format!("input={}", form::escape(&input.to_string())));
    let target = format!("{}?{}", request.uri().path(), pairs.join("&"));
    // A target that has become too long passes on without these inputs.
    if let Ok(uri) = target.parse::<Uri>() {
        *request.uri_mut() = uri;
    }
    Ok(request)
}

/// The same for inputs in the body. A body that is not small has an input.
async fn with_body(
    compat: &Compat,
    request: Request,
    is_batch: bool,
    calls: usize,
) -> Result<Request, Failure> {
    if request.body().size_hint().lower() > SMALL_BODY as u64 {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let sent = match read_beginning(body, SMALL_BODY, compat.limits.receive_time).await? {
        Beginning::Whole(sent) => sent,
        Beginning::OfMore(body) => return Ok(Request::from_parts(parts, body)),
    };
    if !sent.is_empty() && !is_json(&parts.headers) {
        return Ok(Request::from_parts(parts, sent.into()));
    }
    let input = match sent.is_empty() {
        true => Ok(None),
        false => read_json_text(&sent).map(Some),
    };
    let input = input
        .ok()
        .and_then(|input| filled(input, is_batch, calls))
        .map(|input| input.to_string());
    let Some(input) = input else {
        return Ok(Request::from_parts(parts, sent.into()));
    };
    let kind = HeaderValue::from_static("application/json");
    parts.headers.insert(header::CONTENT_TYPE, kind);
    parts.headers.insert(header::CONTENT_LENGTH, input.len().into());
    Ok(Request::from_parts(parts, input.into()))
}

/// The inputs, with `undefined` for those that are absent. `None` if none is, or if the client speaks plain JSON.
fn filled(sent: Option<Value>, is_batch: bool, calls: usize) -> Option<Value> {
    if !is_batch {
        return sent.is_none_or(|sent| is_blank(&sent)).then(superjson::undefined);
    }
    let mut inputs = match sent {
        None => Map::new(),
        Some(Value::Object(inputs)) => inputs,
        Some(_) => return None,
    };
    if inputs
        .values()
        .any(|input| !is_blank(input) && !superjson::is_wrapped(input))
    {
        return None;
    }
    let mut is_changed = false;
    for index in 0..calls {
        let input = inputs.entry(index.to_string()).or_insert(Value::Null);
        if input.is_null() || is_blank(input) {
            *input = superjson::undefined();
            is_changed = true;
        }
    }
    is_changed.then_some(Value::Object(inputs))
}

/// Whether an input is one of the ways in which clients send no input.
fn is_blank(input: &Value) -> bool {
    let Value::Object(input) = input else {
        return false;
    };
    input.is_empty() || (input.len() == 1 && input.get("json") == Some(&Value::Null))
}

async fn answer_here(
    compat: &Arc<Compat>,
    names: &[&str],
    is_batch: bool,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let streams = wants_stream(
        parts.headers.get("trpc-accept"),
        parts.headers.get(header::ACCEPT),
    );
    if streams && !is_batch {
        let message = "Streaming requests must be batched (batch=1)";
        return Err(Failure::new(Code::BadRequest, message));
    }
    let method = parts.method.clone();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let caller = Caller::new(compat, parts);
    let sent = if method == Method::GET {
        None
    } else {
        let says_json = is_json(caller.headers());
        let body = match says_json {
            true => caller.read(body).await?,
            false => caller.read_small(body).await?,
        };
        if !says_json && !body.is_empty() {
            let message = "The body needs the header content-type: application/json";
            return Err(Failure::new(Code::UnsupportedMediaType, message));
        }
        Some(body)
    };
    let _turn = caller.turn().await?;
    let input = match sent {
        Some(body) if body.is_empty() => None,
        Some(body) => read_json_bytes(caller.headers(), caller.extensions(), body).await?,
        None => {
            let text = form::value_of(&query, "input").filter(|text| !text.is_empty());
            text.map(|text| read_json_text(text.as_bytes())).transpose()?
        }
    };
    let calls = calls(names, is_batch, input)?;
    let mut room = LARGEST_ANSWER;
    let mut answers = Vec::with_capacity(calls.len());
    let mut cookies = Vec::new();
    let mut here = 0;
    for call in &calls {
        here += usize::from(procedures::find(&call.name).is_some());
        let mut outcome = match room {
            _ if here > MOST_HERE && procedures::find(&call.name).is_some() => {
                let message =
                    format!("A batch has at most {MOST_HERE} calls of procedures that only Homarr has");
                Err(Failure::new(Code::BadRequest, message))
            }
            0 => Err(Refusal::AnswersTooLarge.into()),
            _ => call.make(&caller, &method).await,
        };
        if let Ok(output) = &mut outcome {
            cookies.append(&mut output.cookies);
        }
        let status = outcome.as_ref().map_or_else(Failure::status, |_| StatusCode::OK);
        let retry_after = outcome.as_ref().err().and_then(Failure::retry_after).cloned();
        let place = if streams {
            Wrapping::Line(answers.len())
        } else {
            Wrapping::Envelope
        };
        let text = written(call, outcome, place);
        room = room.saturating_sub(text.len());
        answers.push((status, retry_after, text));
    }
    let superjson = calls.iter().any(Call::is_superjson);
    let mut response = assembled(&caller, answers, is_batch, streams, superjson);
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    let vary = HeaderValue::from_static("trpc-accept, accept");
    response.headers_mut().insert(header::VARY, vary);
    Ok(response)
}

fn calls(names: &[&str], is_batch: bool, input: Option<Value>) -> Result<Vec<Call>, Failure> {
    let mut inputs = match (is_batch, input) {
        (false, input) => Map::from_iter(input.map(|input| ("0".to_owned(), input))),
        (true, None) => Map::new(),
        (true, Some(Value::Object(inputs))) => inputs,
        (true, Some(_)) => {
            let message = "\"input\" needs to be an object when doing a batch call";
            return Err(Failure::new(Code::BadRequest, message));
        }
    };
    let calls = names.iter().enumerate().map(|(index, name)| Call {
        name: (*name).to_owned(),
        input: inputs.remove(&index.to_string()).filter(|input| !is_blank(input)),
    });
    Ok(calls.collect())
}

/// Whether the client asks for a stream of lines.
fn wants_stream(trpc_accept: Option<&HeaderValue>, accept: Option<&HeaderValue>) -> bool {
    trpc_accept
        .or(accept)
        .is_some_and(|accept| accept.as_bytes() == b"application/jsonl")
}

#[derive(Clone, Copy)]
enum Wrapping {
    /// In an envelope of its own.
    Envelope,
    /// In the line of a stream, after this many others.
    Line(usize),
}

/// An answer as text.
fn written(call: &Call, outcome: Outcome, place: Wrapping) -> String {
    let wraps = call.is_superjson();
    if let Wrapping::Line(index) = place {
        let mut meta = None;
        let answer = match outcome {
            Err(failure) => json!({ "error": failure.rpc(&call.name) }),
            Ok(output) => {
                meta = output.meta;
                match output.json {
                    Some(json) => json!({ "result": { "data": json } }),
                    None => json!({ "result": {} }),
                }
            }
        };
        let line = json!([index, 0, [[answer]]]);
        if !wraps {
            return format!("{line}\n");
        }
        let meta = meta.and_then(|meta| superjson::moved(meta, "2.0.0.result.data"));
        let mut line = json!({ "json": line });
        if let Some(meta) = meta {
            line["meta"] = meta;
        }
        return format!("{line}\n");
    }
    let answer = match outcome {
        Err(failure) if wraps => json!({ "error": { "json": failure.rpc(&call.name) } }),
        Err(failure) => json!({ "error": failure.rpc(&call.name) }),
        Ok(output) => match (output.json, wraps) {
            (None, true) => json!({ "result": { "data": superjson::undefined() } }),
            (None, false) => json!({ "result": {} }),
            (Some(json), false) => json!({ "result": { "data": json } }),
            (Some(json), true) => {
                let mut data = json!({ "json": json });
                if let Some(meta) = output.meta {
                    data["meta"] = meta;
                }
                json!({ "result": { "data": data } })
            }
        },
    };
    answer.to_string()
}

/// The answers as one response, in the order of their calls.
fn assembled(
    caller: &Caller,
    answers: Vec<(StatusCode, Option<HeaderValue>, String)>,
    is_batch: bool,
    streams: bool,
    superjson: bool,
) -> Response {
    let first = answers.first().map_or(StatusCode::OK, |(status, ..)| *status);
    let are_same = answers.iter().all(|(status, ..)| *status == first);
    let retry_after = answers.iter().find_map(|(_, retry_after, _)| retry_after.clone());
    let texts: Vec<String> = answers.into_iter().map(|(.., text)| text).collect();
    let (status, body) = if streams {
        let head = stream_head(texts.len(), superjson);
        (StatusCode::OK, head + &texts.concat())
    } else if is_batch {
        let status = if are_same { first } else { StatusCode::MULTI_STATUS };
        (status, format!("[{}]", texts.join(",")))
    } else {
        (first, texts.concat())
    };
    let mut response = json_response(status, caller.body(body));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

/// The first line of a stream: each call's position, and the number of the chunk to wait for.
fn stream_head(calls: usize, superjson: bool) -> String {
    let entries = (0..calls).map(|index| (index.to_string(), json!([[0], [null, 0, index]])));
    let head = Value::Object(entries.collect());
    match superjson {
        true => format!("{}\n", json!({ "json": head })),
        false => format!("{head}\n"),
    }
}
