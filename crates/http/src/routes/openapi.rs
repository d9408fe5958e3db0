//! The OpenAPI document, made from the handlers, with what all of them have in common added in one place.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bailiwick_api::{
    ApprovalNews, MEDIA_TYPE, MissedEvents, Problem, Progress, TestEvent, ToolChange, schema,
};
use utoipa::OpenApi as _;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, OpenApi, PathItem, Ref, RefOr, Required, ResponseBuilder,
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
        schema::LogLine,
        schema::Record
    ))
)]
struct Base;

/// The document without any route.
pub(crate) fn base() -> OpenApi {
    let mut document = Base::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
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
    for (status, about) in refusals(operation, place) {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new().description(about).content(MEDIA_TYPE, problem);
        let responses = &mut operation.responses.responses;
        responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(response.build()));
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            let text =
                HeaderBuilder::new().schema(Some(text())).description(Some("What the request is tied to."));
            response.headers.insert("x-correlation-id".to_owned(), RefOr::T(text.build()));
        }
    }
}

/// The statuses that an operation can be refused with.
fn refusals(operation: &Operation, place: &Place<'_>) -> Vec<(&'static str, &'static str)> {
    let (has_path, has_body) = (place.path.contains('{'), operation.request_body.is_some());
    let listed = [
        ("400", "What was asked is wrong: VALIDATION, INVALID_INPUT, MISSING_SECRET, …", true),
        ("401", "No valid credentials: UNAUTHORIZED", true),
        ("403", "The credentials do not cover it: FORBIDDEN", true),
        ("404", "There is no such thing: NOT_FOUND", has_path || place.writes),
        ("409", "It contradicts what is there: CONFLICT, REVOKED, STALE", has_path || place.writes),
        ("413", "The body or the code is too large", has_body),
        ("415", "The body is of a kind that is not read here", has_body),
        ("429", "Too many requests: RATE_LIMITED", true),
        ("500", "A fault of the server: INTERNAL", true),
        ("501", "This build or machine does not offer that: UNSUPPORTED, UNENFORCEABLE", true),
        ("503", "Not now: BUSY, UNAVAILABLE; `retry-after` tells when", true),
    ];
    let is_health = !place.path.starts_with("/v1/");
    let of_health = ["400", "503"];
    listed
        .into_iter()
        .filter(|(status, _, applies)| *applies && (!is_health || of_health.contains(status)))
        .map(|(status, about, _)| (status, about))
        .collect()
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
