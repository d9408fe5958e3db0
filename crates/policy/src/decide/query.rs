//! Questions as a person types them: `fetch https://api.github.com/x`, `POST https://…`, `read notes.txt`,
//! `timers`.

use bailiwick_types::{did_you_mean, shortened};

use super::{FetchQuestion, FileOp, FileQuestion};
use crate::Capability;
use crate::network::Method;

/// A question read from a line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query<'a> {
    /// May code use a capability?
    Capability(Capability),
    /// May it make a request?
    Fetch(FetchQuestion<'a>),
    /// May it touch a path?
    File(FileQuestion<'a>),
}

/// Why a line is not a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a question")]
pub struct QueryError {
    /// What was typed, shortened.
    pub text: String,
    /// How to ask.
    pub hint: String,
}

const HOW: &str =
    "ask `fetch URL`, `METHOD URL`, `read PATH`, `write PATH`, `delete PATH` or name a capability";

impl<'a> Query<'a> {
    /// Reads a question.
    ///
    /// ```
    /// use bailiwick_policy::{Capability, Query};
    /// assert_eq!(Query::parse("timers"), Ok(Query::Capability(Capability::Timers)));
    /// assert!(Query::parse("fetch https://api.github.com/x").is_ok());
    /// assert_eq!(Query::parse("tmiers").unwrap_err().hint, "did you mean `timers`?");
    /// ```
    pub fn parse(text: &'a str) -> Result<Self, QueryError> {
        let text = text.trim();
        // `use timers` reads better than `timers` alone; it means the same.
        let text = text.strip_prefix("use ").map_or(text, str::trim);
        let error = |hint: String| QueryError { text: shortened(text), hint };
        let Some((verb, rest)) = text.split_once(char::is_whitespace) else {
            return Capability::from_name(text).map(Self::Capability).ok_or_else(|| {
                let known = Capability::ALL.iter().map(|capability| capability.name());
                error(did_you_mean(text, known, || HOW.to_owned()))
            });
        };
        let rest = rest.trim();
        let file = |op| Ok(Self::File(FileQuestion { op, path: rest }));
        match verb {
            "read" => file(FileOp::Read),
            "write" => file(FileOp::Write),
            "delete" => file(FileOp::Delete),
            "fetch" => {
                // `fetch POST https://…` as well as `fetch https://…`.
                let (method, url) = rest
                    .split_once(char::is_whitespace)
                    .filter(|(method, _)| Method::parse(method).is_some())
                    .unwrap_or(("GET", rest));
                Ok(Self::Fetch(FetchQuestion { method, url: url.trim() }))
            }
            method if Method::parse(method).is_some() => Ok(Self::Fetch(FetchQuestion { method, url: rest })),
            _ => Err(error(HOW.to_owned())),
        }
    }
}
