//! The `OpenAPI` document, made from the handlers, with what all of them have in common added in one place.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{
    ApprovalNews, MEDIA_TYPE, MissedEvents, Output, Problem, Progress, SandboxChange, TerminalSaid,
    TerminalTold, TestEvent, ToolChange, schema,
};
use utoipa::OpenApi as _;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, Header, HeaderBuilder, OpenApi, PathItem, Ref, RefOr, Required,
    Response as OpenApiResponse, ResponseBuilder,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Served, idempotency};

/// What the document says of itself, and the shapes that only events carry.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Bailiwick",
        description = "Walled JavaScript tools for agents. Errors are problem+json with a `code` that never changes its \
                       meaning. A call that ran, or that policy or a person refused, is a 200 with `ok: false`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(
        Problem,
        ApprovalNews,
        ToolChange,
        TestEvent,
        Progress,
        MissedEvents,
        Output,
        SandboxChange,
        TerminalTold,
        TerminalSaid,
        schema::LogLine,
        schema::Record
    ))
)]
struct Base;

/// The document without any route.
pub(crate) fn base() -> OpenApi {
    let mut document = Base::openapi();
    document.info.contact = None;
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("bwk_…, or a JWT of the issuer that the operator named")
        .build();
    if let Some(components) = &mut document.components {
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    }
    // Without a key a caller on the same machine may call what is published.
    let keyless = SecurityRequirement::default();
    document.security = Some(vec![SecurityRequirement::new("bearer", Vec::<String>::new()), keyless]);
    document
}

pub(crate) fn routes() -> OpenApiRouter<Served> {
    OpenApiRouter::new().routes(routes!(document))
}

/// This document
#[utoipa::path(get, path = "/openapi.json", tag = "about", operation_id = "openapi",
    responses((status = 200, body = serde_json::Value)))]
async fn document() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(super::openapi);
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}

/// What kind of place an operation is at, for what it can be refused with.
struct Place<'a> {
    path: &'a str,
    writes: bool,
}

/// Adds what every operation has: how it is refused, and the headers that it takes and gives.
pub(crate) fn complete(document: &mut OpenApi) {
    if let Some(components) = &mut document.components {
        components.responses.extend(shared());
    }
    for (path, item) in &mut document.paths.paths {
        let PathItem { get, put, post, delete, .. } = item;
        for (operation, writes) in [(get, false), (put, true), (post, true), (delete, true)] {
            if let Some(operation) = operation {
                operation_completed(operation, &Place { path, writes });
            }
        }
        if let Some(post) = &mut item.post
            && idempotency::TAKEN.iter().any(|(taken, _)| taken == path)
        {
            let about = "Sent twice within a day, the request is done once and answered alike. Kept in memory, within \
                         bounds: not over a restart of the server.";
            add(post, named("idempotency-key", about));
        }
    }
}

fn operation_completed(operation: &mut Operation, place: &Place<'_>) {
    if place.path.starts_with("/v1/") {
        let about = "What ties the request to the records it leaves. Made where it is left out, and told by the answer.";
        add(operation, named("x-correlation-id", about));
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            response.headers.insert("x-correlation-id".to_owned(), RefOr::T(correlation()));
            // A description has to be there, whatever it says.
            if response.description.is_empty() {
                "It is done".clone_into(&mut response.description);
            }
        }
    }
    for status in refusals(operation, place) {
        let shared = RefOr::Ref(Ref::new(format!("#/components/responses/{}", shared_name(status))));
        operation.responses.responses.entry(status.to_owned()).or_insert(shared);
    }
}

/// Every status of a refusal, and what it tells.
const REFUSALS: &[(&str, &str)] = &[
    ("400", "What was asked is wrong: VALIDATION, INVALID_INPUT, MISSING_SECRET, …"),
    ("401", "No valid credentials: UNAUTHORIZED"),
    ("403", "The credentials do not cover it: FORBIDDEN"),
    ("404", "There is no such thing: NOT_FOUND"),
    ("409", "It contradicts what is there: CONFLICT, REVOKED, STALE"),
    ("413", "The body, the code or the file is too large"),
    ("415", "The body is of a kind that is not read here"),
    ("429", "Too many requests: RATE_LIMITED; `retry-after` tells when"),
    ("500", "A fault of the server: INTERNAL"),
    ("501", "This build or machine does not offer that: UNSUPPORTED, UNENFORCEABLE"),
    ("503", "Not now: BUSY, UNAVAILABLE; `retry-after` tells when"),
];

fn shared_name(status: &str) -> String {
    format!("Refused{status}")
}

/// The answers that refuse, once for all operations.
fn shared() -> impl Iterator<Item = (String, RefOr<OpenApiResponse>)> {
    REFUSALS.iter().map(|(status, about)| {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let mut response = ResponseBuilder::new().description(*about).content(MEDIA_TYPE, problem).build();
        response.headers.insert("x-correlation-id".to_owned(), RefOr::T(correlation()));
        (shared_name(status), RefOr::T(response))
    })
}

/// The statuses that an operation can be refused with.
fn refusals(operation: &Operation, place: &Place<'_>) -> impl Iterator<Item = &'static str> + use<> {
    let (has_path, has_body) = (place.path.contains('{'), operation.request_body.is_some());
    let (writes, is_open) = (place.writes, !place.path.starts_with("/v1/"));
    let is_optional = place.path.starts_with("/.well-known/");
    // What is asked for may be larger than is handed over at once.
    let gives_files = place.path.ends_with("/files") && !writes;
    REFUSALS.iter().map(|(status, _)| *status).filter(move |status| match *status {
        "400" | "503" => true,
        "404" if is_optional => true,
        _ if is_open => false,
        "404" | "409" => has_path || writes,
        "413" if gives_files => true,
        "413" | "415" => has_body,
        _ => true,
    })
}

fn correlation() -> Header {
    HeaderBuilder::new().schema(Some(text())).description(Some("What the request is tied to.")).build()
}

fn add(operation: &mut Operation, parameter: Parameter) {
    operation.parameters.get_or_insert_default().push(RefOr::T(parameter));
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).min_length(Some(1)).max_length(Some(128))
}

fn named(header: &str, about: &str) -> Parameter {
    ParameterBuilder::new()
        .name(header)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(text().pattern(Some("^[!-~]+$"))))
        .build()
}
