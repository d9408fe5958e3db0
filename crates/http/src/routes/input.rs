//! What a request holds, as the shapes of `api`. Everything that does not fit is told as problem+json, with its place.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use bailiwick_api::DocumentIn;
use bailiwick_core::{Fault, Refusal};
use bailiwick_types::ErrorCode;
use serde::de::{DeserializeOwned, Error as _};

use super::problem::Refused;

/// What a body in JSON holds.
pub(crate) struct Json<T>(pub(crate) T);

/// What a body in JSON holds; without one, nothing is said.
pub(crate) struct Maybe<T>(pub(crate) T);

/// A document: in JSON, or as its own text.
pub(crate) struct Document(pub(crate) DocumentIn);

/// What the query of an address holds.
pub(crate) struct Asked<T>(pub(crate) T);

/// What the path of an address holds.
pub(crate) struct At<T>(pub(crate) T);

/// What a body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Json,
    Yaml,
    Otherwise,
}

fn written_in(headers: &HeaderMap) -> Written {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" => Written::Json,
        "application/yaml" | "application/x-yaml" | "text/yaml" => Written::Yaml,
        other if other.starts_with("application/") && other.ends_with("+json") => Written::Json,
        _ => Written::Otherwise,
    }
}

fn wrong_kind(takes: &str) -> Refused {
    Refused::new(ErrorCode::InvalidInput, "the body is of a kind that is not read here", takes)
        .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

/// All of a body.
pub(crate) async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Refused> {
    Bytes::from_request(request, state).await.map_err(|rejection| {
        let status = rejection.status();
        let (message, hint) = if status == StatusCode::PAYLOAD_TOO_LARGE {
            ("the body is larger than `server.body` allows", "send less, or raise the limit")
        } else {
            ("the body could not be read to its end", "send it again")
        };
        Refused::new(ErrorCode::InvalidInput, message, hint).with_status(status)
    })
}

/// The most values of a body: each takes many times the room in memory that it has on the wire.
const MOST_VALUES: usize = 50_000;

/// How many values a body has at most, without reading it: what comes behind a comma or an opening bracket.
fn values(bytes: &[u8]) -> usize {
    let (mut count, mut within, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if within => escaped = true,
            b'"' => within = !within,
            b',' | b'[' | b'{' if !within => count = count.saturating_add(1),
            _ => {}
        }
    }
    count
}

/// Refuses a body that would take too much room when it is read.
pub(crate) fn bounded(bytes: &[u8]) -> Result<(), Refused> {
    if values(bytes) <= MOST_VALUES {
        return Ok(());
    }
    let message = format!("the body holds more than {MOST_VALUES} values");
    let hint = "send fewer, or a text that the tool reads";
    Err(Refused::new(ErrorCode::InvalidInput, message, hint).with_status(StatusCode::PAYLOAD_TOO_LARGE))
}

/// Reads JSON, and tells where it does not fit.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    bounded(bytes)?;
    // A reader of ours would take a list for the fields in their order.
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let read = if is_list {
        Err(serde_json::Error::custom("expected an object"))
    } else {
        serde_json::from_slice(bytes)
    };
    read.map_err(|error| {
        let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (line, column) = (place(error.line()), place(error.column()));
        let whole = error.to_string();
        let message = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
        let fault = Fault {
            document: "body".to_owned(),
            path: String::new(),
            line,
            column,
            message: message.to_owned(),
            hint: None,
        };
        let said = if error.is_data() {
            "the body does not have the shape that is taken here"
        } else {
            "the body is not JSON"
        };
        Refusal::new(ErrorCode::InvalidInput, format!("{said}: {message}"))
            .with_hint("GET /v1/openapi.json tells its shape")
            .with_faults(vec![fault])
            .into()
    })
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        if written_in(request.headers()) != Written::Json {
            return Err(wrong_kind("send JSON, with content-type: application/json"));
        }
        Ok(Self(parse(&bytes(request, state).await?)?))
    }
}

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Maybe<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        let kind = written_in(request.headers());
        let bytes = bytes(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        if kind != Written::Json {
            return Err(wrong_kind("send JSON, with content-type: application/json, or nothing"));
        }
        Ok(Self(parse::<Option<T>>(&bytes)?.unwrap_or_default()))
    }
}

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refused> {
        match written_in(request.headers()) {
            Written::Json => Ok(Self(parse(&bytes(request, state).await?)?)),
            Written::Yaml => {
                let bytes = bytes(request, state).await?;
                let text = std::str::from_utf8(&bytes).map_err(|_| {
                    Refused::new(ErrorCode::InvalidInput, "the document is not UTF-8", "send it as UTF-8")
                })?;
                let document = serde_json::value::to_raw_value(text).map_err(|_| Refused::unexpected())?;
                Ok(Self(DocumentIn { name: None, document, approval_off: false }))
            }
            Written::Otherwise => Err(wrong_kind(
                "send {\"document\": …} as application/json, or the document as application/yaml",
            )),
        }
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Query(asked) = Query::<T>::from_request_parts(parts, state).await.map_err(|rejection| {
            Refused::new(
                ErrorCode::InvalidInput,
                rejection.body_text(),
                "GET /v1/openapi.json tells which there are",
            )
        })?;
        Ok(Self(asked))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Path(at) = Path::<T>::from_request_parts(parts, state).await.map_err(|rejection| {
            Refused::new(
                ErrorCode::InvalidInput,
                rejection.body_text(),
                "write the path in UTF-8, percent-encoded",
            )
        })?;
        Ok(Self(at))
    }
}
