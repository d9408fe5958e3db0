//! What the scripts of the web's surface ask of Rust: URLs, encodings, parsers, hashes, chance.
//!
//! Everything here computes and nothing here reaches outside the process. What comes back to a script is one value that
//! the engine's own memory holds: a text, a number or a buffer, never an array that a guest's setters could see filled.

mod crypto;
mod encoding;
mod parser;
mod url;

use std::rc::Rc;

use bailiwick_types::did_you_mean;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Result, Value};

use crate::raw::value::text;
use crate::world::World;

/// Puts them on the object that our scripts are given.
pub(crate) fn place<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    put(native, "meant", Function::new(ctx.clone(), meant)?)?;
    url::place(ctx, native, world)?;
    encoding::place(ctx, native, world)?;
    parser::place(ctx, native, world)?;
    crypto::place(ctx, native, world)
}

/// What the author of an unknown option probably meant. The known ones stand one to a line.
#[expect(clippy::needless_pass_by_value, reason = "the engine hands over what a script gives")]
fn meant(typed: Value<'_>, known: Value<'_>) -> Result<String> {
    let (typed, known) = (text(&typed)?, text(&known)?);
    let names = || known.lines().filter(|name| !name.is_empty());
    let all = || format!("known: {}", names().collect::<Vec<_>>().join(", "));
    Ok(did_you_mean(&typed, names(), all))
}

fn put<'js>(native: &Object<'js>, name: &str, function: Function<'js>) -> Result<()> {
    native.set(name, function.with_name(name)?)
}

/// Refuses work that needs more memory than the call has left, or more time: neither is the engine's to count while
/// Rust has the word.
fn admit(ctx: &Ctx<'_>, world: &World, bytes: usize) -> Result<()> {
    if !world.heap.admits(bytes) {
        return Err(Exception::throw_internal(ctx, "out of memory"));
    }
    if bytes > WEIGHTY && world.watch.look() {
        return Err(Exception::throw_internal(ctx, "interrupted"));
    }
    Ok(())
}

/// From this size on, work in Rust looks at the clock first.
const WEIGHTY: usize = 64 * 1024;

/// A buffer that the engine's memory holds.
fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value())
}
