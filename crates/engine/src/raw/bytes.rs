//! The bytes of an `ArrayBuffer`, seen while nothing else runs.
#![expect(unsafe_code, reason = "a view of a buffer is sound only as long as no code of the engine runs")]

use rquickjs::{Value, qjs};

/// Looks at bytes of a buffer; nothing when the value is no buffer, is detached, or has no such bytes. What looks must
/// not call into the engine.
pub(crate) fn look<T>(
    buffer: &Value<'_>,
    offset: u32,
    length: u32,
    see: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    let bytes = whole(buffer)?;
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(start..end).map(see)
}

/// Looks at all the bytes of a buffer, likewise.
pub(crate) fn look_at_all<T>(buffer: &Value<'_>, see: impl FnOnce(&[u8]) -> T) -> Option<T> {
    whole(buffer).map(see)
}

/// The bytes as they are now. They must not be held while the engine runs: only the two functions above use them.
fn whole<'a>(buffer: &'a Value<'_>) -> Option<&'a [u8]> {
    if !buffer.is_object() {
        return None;
    }
    let ctx = buffer.ctx();
    let mut size = 0;
    // SAFETY: the context is alive. A pointer that comes back is that of the buffer's memory, which has `size` bytes
    // and stays until the engine runs again. An exception is taken off the context at once.
    unsafe {
        let start = qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &raw mut size, buffer.as_raw());
        if start.is_null() {
            if ctx.has_exception() {
                ctx.catch();
                return None;
            }
            // An empty buffer may have no memory at all.
            return Some(&[]);
        }
        Some(std::slice::from_raw_parts(start, usize::try_from(size).ok()?))
    }
}
