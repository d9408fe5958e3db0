//! The shapes that an author's code can have, and what is put around it. The text before it always ends with line
//! breaks that are not counted, so a place in the compiled text is the same place in the author's.
//!
//! Text that closes a bracket of ours and opens another would run outside its place. So code is compiled in two shapes
//! that no such text fits both: behind its first closing bracket one shape allows only what the other refuses. One of
//! the two is run.

use bailiwick_wire::Entry;
use rquickjs::{Ctx, Exception, Result};

use crate::errors::AUTHOR;
use crate::raw::bytecode::{Bytecode, Keep, compile};

/// The line breaks between our text and the author's, and the number that makes the author's first line the first.
const BREAKS: &str = "\n\n\n";
const FIRST_LINE: i32 = -2;

/// Why code did not compile.
#[derive(Debug)]
pub(crate) struct NotCompiled {
    /// What the engine says, without the class of the error.
    pub(crate) message: String,
    /// Where, as the engine writes it.
    pub(crate) stack: String,
}

/// Compiles the author's code in the shape of its entry; `defined` is the variable that holds `execute`. Runs none
/// of it.
pub(crate) fn build(
    ctx: &Ctx<'_>,
    entry: Entry,
    code: &str,
    names: &[String],
    defined: &str,
) -> std::result::Result<Bytecode, NotCompiled> {
    let attempt = |source: String, first_line: i32| -> std::result::Result<Bytecode, NotCompiled> {
        let compiled: Result<Bytecode> = compile(ctx, source, AUTHOR, first_line, Keep::Source);
        compiled.map_err(|_| explain(ctx))
    };
    let names = names.join(",");
    let [run, guard] = match entry {
        Entry::Emit | Entry::Script => return attempt(code.to_owned(), 1),
        // Behind a method stands `,` or `}`; no statement begins with either.
        Entry::Body => [
            format!("({{async \"\"({names}){{{BREAKS}{code}\n}}}})"),
            format!("async function _({names}){{{BREAKS}{code}\n}}"),
        ],
        Entry::Execute => [
            format!(
                "({{async \"\"(){{{BREAKS}{code}\n;return typeof {defined}==='undefined'?void 0:{defined}}}}})"
            ),
            format!("async function _(){{{BREAKS}{code}\n}}"),
        ],
        // What closes a parenthesis does not close a bracket.
        Entry::Expression => {
            let code = code.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
            [
                format!("({{async \"\"({names}){{return({BREAKS}{code}\n)}}}})"),
                format!("async function _({names}){{return[{BREAKS}{code}\n]}}"),
            ]
        }
    };
    let built = attempt(run, FIRST_LINE)?;
    // Without a closing bracket nothing can close one of ours.
    let closes = if entry == Entry::Expression { ')' } else { '}' };
    if code.contains(closes) {
        attempt(guard, FIRST_LINE)?;
    }
    Ok(built)
}

/// What the engine says about text that does not compile. No guest has run, so its error can be read as it is.
fn explain(ctx: &Ctx<'_>) -> NotCompiled {
    let thrown = ctx.catch();
    let error = thrown.into_object().and_then(Exception::from_object);
    NotCompiled {
        message: error.as_ref().and_then(Exception::message).unwrap_or_else(|| "out of memory".to_owned()),
        stack: error.as_ref().and_then(Exception::stack).unwrap_or_default(),
    }
}
