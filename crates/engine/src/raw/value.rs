//! What a value is and says, asked of the engine itself: nothing of the guest's runs for an answer.
#![expect(unsafe_code, reason = "class names and text with lone surrogates are not wrapped")]

use rquickjs::{Ctx, Error, Result, Value, qjs};

/// The engine's class of an object (`Map`, `Proxy`, `Uint8Array`), whatever its prototype claims; undefined for what
/// is no object.
pub(crate) fn class_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Value<'js> {
    if !value.is_object() {
        return Value::new_undefined(ctx.clone());
    }
    if value.is_proxy() {
        let name = rquickjs::String::from_str(ctx.clone(), "Proxy");
        return name.map_or_else(|_| Value::new_undefined(ctx.clone()), rquickjs::String::into_value);
    }
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is alive; the atom that `JS_GetClassName` gives is ours and freed once, the value made of it
    // is handed to a `Value`.
    unsafe {
        let id = qjs::JS_GetClassID(value.as_raw());
        let atom = qjs::JS_GetClassName(qjs::JS_GetRuntime(raw), id);
        let name = qjs::JS_AtomToString(raw, atom);
        qjs::JS_FreeAtom(raw, atom);
        Value::from_raw(ctx.clone(), name)
    }
}

/// The target of a proxy; null when it is revoked, or is no proxy.
pub(crate) fn proxy_target<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Value<'js> {
    if !value.is_proxy() {
        return Value::new_null(ctx.clone());
    }
    // SAFETY: the context is alive and the value is one of its proxies; what comes back is handed to a `Value`. An
    // exception is taken off the context at once.
    let target = unsafe {
        let target = qjs::JS_GetProxyTarget(ctx.as_raw().as_ptr(), value.as_raw());
        if qjs::JS_IsException(target) {
            ctx.catch();
            return Value::new_null(ctx.clone());
        }
        Value::from_raw(ctx.clone(), target)
    };
    if target.is_object() { target } else { Value::new_null(ctx.clone()) }
}

/// The text of a string value; a lone surrogate becomes U+FFFD.
pub(crate) fn text(value: &Value<'_>) -> Result<String> {
    let raw = value.ctx().as_raw().as_ptr();
    let mut length = 0;
    // SAFETY: the context is alive; the bytes stay as they are until they are freed, once, after they were copied.
    let bytes = unsafe {
        let start = qjs::JS_ToCStringLen2(raw, &raw mut length, value.as_raw(), false);
        if start.is_null() {
            return Err(Error::Exception);
        }
        let bytes =
            std::slice::from_raw_parts(start.cast::<u8>(), usize::try_from(length).unwrap_or(0)).to_vec();
        qjs::JS_FreeCString(raw, start);
        bytes
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => well_formed(error.as_bytes()),
    })
}

/// The engine writes a lone surrogate as three bytes that are no UTF-8: ED, A0 to BF, 80 to BF.
fn well_formed(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(good) => {
                text.push_str(good);
                break;
            }
            Err(error) => {
                let (good, bad) = rest.split_at_checked(error.valid_up_to()).unwrap_or((rest, &[]));
                text.push_str(std::str::from_utf8(good).unwrap_or_default());
                text.push('\u{FFFD}');
                let width = if bad.first() == Some(&0xED) { 3 } else { 1 };
                rest = bad.get(width..).unwrap_or(&[]);
            }
        }
    }
    text
}

/// The bytes of a typed array, copied; none when its buffer is gone.
pub(crate) fn copy_of(array: &rquickjs::TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: nothing of the guest's runs, and nothing is freed, between the borrow and the end of the copy.
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}
