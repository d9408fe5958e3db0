//! Pages: how much is asked for, and where the next one begins. A cursor is opaque to whoever gets it.

use bailiwick_types::ErrorCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use utoipa::IntoParams;

use super::problem::Refused;

/// How many are given where nobody says.
const USUAL: u32 = 100;
/// The most of one page.
const MOST: u32 = 500;

/// A page that somebody wants.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// `next` of the page before.
    pub(crate) after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 500, default = 100)]
    pub(crate) limit: Option<u32>,
}

/// How many are given at most.
pub(crate) fn limit(asked: Option<u32>) -> Result<u32, Refused> {
    match asked.unwrap_or(USUAL) {
        limit @ 1..=MOST => Ok(limit),
        limit => Err(Refused::new(
            ErrorCode::InvalidInput,
            format!("`limit` is {limit}; a page has 1 to {MOST}"),
            "ask for fewer, and for the next page by its cursor",
        )),
    }
}

/// The cursor of a place.
pub(crate) fn cursor(place: &str) -> String {
    URL_SAFE_NO_PAD.encode(place)
}

/// The place of a cursor.
pub(crate) fn place(cursor: &str) -> Result<String, Refused> {
    let place = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    place.ok_or_else(bad_cursor)
}

/// What whoever made up a cursor is told.
pub(crate) fn bad_cursor() -> Refused {
    Refused::new(ErrorCode::InvalidInput, "`after` is no cursor of ours", "give `next` of the page before")
}

/// Cuts what was asked for with one more down to a page, and gives that one.
pub(crate) fn cut<T>(items: &mut Vec<T>, limit: u32) -> Option<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit.saturating_add(1));
    if more { items.pop() } else { None }
}
