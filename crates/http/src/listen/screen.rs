//! What is refused before anything is asked of the perimeter: shapes of a request that nobody honest sends.

use axum::response::Response;
use bailiwick_types::ErrorCode;
use http::{HeaderValue, Method, Request, StatusCode, Version, header};

use crate::problem::problem_as;

/// The longest target of a request.
const MOST_TARGET: usize = 8 << 10;

/// The refusal of a request that is not let through.
pub(super) fn refused<B>(request: &Request<B>, headers: usize, body_bytes: u64) -> Option<Response> {
    let bad = |detail: &str| {
        let hint = "send it as a usual HTTP client does";
        problem_as(StatusCode::BAD_REQUEST, ErrorCode::InvalidInput, detail, hint)
    };
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        let mut response = problem_as(
            StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::InvalidInput,
            "the methods CONNECT and TRACE are not answered",
            "this is a server, not a proxy",
        );
        let allowed = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        response.headers_mut().insert(header::ALLOW, allowed);
        return Some(response);
    }
    if request.headers().len() > headers {
        return Some(problem_as(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ErrorCode::InvalidInput,
            format!("the request has more than {headers} headers"),
            "send fewer",
        ));
    }
    let target = request.uri();
    if target.path_and_query().is_some_and(|text| text.as_str().len() > MOST_TARGET) {
        return Some(problem_as(
            StatusCode::URI_TOO_LONG,
            ErrorCode::InvalidInput,
            format!("the address has more than {MOST_TARGET} bytes"),
            "send long values in the body",
        ));
    }
    if let Err(detail) = path(target.path()) {
        return Some(bad(detail));
    }
    if target.query().is_some_and(|query| decoded(query).is_none()) {
        return Some(bad("the query has a `%` without two hexadecimal digits behind it, or is not UTF-8"));
    }
    if request.version() < Version::HTTP_11 && request.headers().contains_key(header::TRANSFER_ENCODING) {
        return Some(bad("HTTP/1.0 has no Transfer-Encoding"));
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length > body_bytes) {
        return Some(too_large(body_bytes));
    }
    None
}

/// What somebody is told whose body is too large.
pub(super) fn too_large(body_bytes: u64) -> Response {
    problem_as(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::InvalidInput,
        format!("the body is larger than {}", bailiwick_types::format_size(body_bytes)),
        "send less, or have the operator raise server.body",
    )
}

/// A path that says one thing only.
fn path(path: &str) -> Result<(), &'static str> {
    if !path.starts_with('/') {
        return Err("the address is not a path");
    }
    for segment in path.split('/') {
        let decoded = decoded(segment)
            .ok_or("the path has a `%` without two hexadecimal digits behind it, or is not UTF-8")?;
        if decoded == "." || decoded == ".." {
            return Err("the path has a segment `.` or `..`");
        }
        if decoded.chars().any(char::is_control) || decoded.contains('\\') {
            return Err("the path has a control character or a backslash");
        }
    }
    Ok(())
}

/// Without its percent-encoding; none where that is broken.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}
