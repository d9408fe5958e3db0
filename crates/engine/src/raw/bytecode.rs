//! Source to bytecode in one context, bytecode to a value in another: the only way for code to get into a context that
//! cannot evaluate text. Bytecode is trusted by the engine without a check, so it must never come from anywhere else.
#![expect(unsafe_code, reason = "compiling without running and loading bytecode are not wrapped")]

use std::ffi::CStr;
use std::ptr::NonNull;

use rquickjs::{Ctx, Error, Exception, Result, Value, qjs};

/// Compiled code. Made only by [`compile`].
pub(crate) struct Bytecode(Vec<u8>);

/// Whether the text of functions is kept with them, for `Function.prototype.toString`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Keep it: the author's own code.
    Source,
    /// Drop it, and every place in it: our scripts look native, and no stack shows where they are.
    Nothing,
}

/// Compiles a script without running any of it. The first line counts as `first_line`, which must not be zero.
pub(crate) fn compile(
    ctx: &Ctx<'_>,
    mut source: String,
    name: &CStr,
    first_line: i32,
    keep: Keep,
) -> Result<Bytecode> {
    let length = source.len();
    source.push('\0');
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let mut options = qjs::JSEvalOptions {
        version: 1,
        eval_flags: flags.cast_signed(),
        filename: name.as_ptr(),
        line_num: first_line,
    };
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is alive and locked by `ctx`; the text has a zero behind its length, and it and the options
    // outlive the call.
    let compiled = unsafe {
        let value = qjs::JS_Eval2(raw, source.as_ptr().cast(), length as _, &raw mut options);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        value
    };
    let mut flags = qjs::JS_WRITE_OBJ_BYTECODE;
    if keep == Keep::Nothing {
        flags |= qjs::JS_WRITE_OBJ_STRIP_SOURCE | qjs::JS_WRITE_OBJ_STRIP_DEBUG;
    }
    let mut size = 0;
    // SAFETY: the value is ours and is freed once; the buffer that comes back has `size` bytes and is freed by the
    // allocator it came from.
    unsafe {
        let buffer = qjs::JS_WriteObject(raw, &raw mut size, compiled, flags.cast_signed());
        qjs::JS_FreeValue(raw, compiled);
        if buffer.is_null() {
            return Err(Error::Exception);
        }
        let bytes = std::slice::from_raw_parts(buffer, usize::try_from(size).unwrap_or(0)).to_vec();
        qjs::js_free(raw, buffer.cast());
        Ok(Bytecode(bytes))
    }
}

/// Loads compiled code into this context and runs it: gives the value of its last expression.
pub(crate) fn run<'js>(ctx: &Ctx<'js>, code: &Bytecode) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the bytes were written by `compile`, the same engine, in this process; `JS_EvalFunction` takes the
    // value over, and what it gives is handed to a `Value`, which frees it.
    unsafe {
        let function = qjs::JS_ReadObject(
            raw,
            code.0.as_ptr(),
            code.0.len() as _,
            qjs::JS_READ_OBJ_BYTECODE.cast_signed(),
        );
        if qjs::JS_IsException(function) {
            return Err(Error::Exception);
        }
        let value = qjs::JS_EvalFunction(raw, function);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

/// A context that can compile, to be used while another one of the same runtime runs. Its context must not be taken
/// down before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiler(NonNull<qjs::JSContext>);

impl Compiler {
    /// The compiler that this context is.
    pub(crate) fn of(ctx: &Ctx<'_>) -> Self {
        Self(ctx.as_raw())
    }

    /// Compiles a script of ours for a context of the same runtime. An error is that context's own: one of the
    /// compiler's would hand its function constructor to a guest.
    pub(crate) fn compile(self, for_whom: &Ctx<'_>, source: &str, name: &CStr) -> Result<Bytecode> {
        // SAFETY: the compiler's context is alive as long as the engine is, and the runtime of both is locked by
        // `for_whom`, which outlives this one.
        let ctx = unsafe { Ctx::from_raw(self.0) };
        compile(&ctx, source.to_owned(), name, 1, Keep::Nothing).map_err(|_| {
            for_whom.catch();
            Exception::throw_internal(for_whom, "out of memory")
        })
    }
}
