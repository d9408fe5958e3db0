//! Our own scripts, and their bytecode: each is compiled once, when a realm first needs it. Nothing of a guest's is
//! ever compiled here.

use std::cell::OnceCell;
use std::ffi::CStr;

use rquickjs::{Context, Ctx, Function, Result};

use crate::globals::Purity;
use crate::raw::bytecode::{self, Bytecode, Compiler, Keep};

/// One of our scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Primordials,
    Inspect,
    Errors,
    Effects,
    Result,
    Console,
    Clone,
    Timers,
    Globals,
    Invoke,
    Date,
    Modules,
    Idl,
    Exception,
    Params,
    Url,
    Encoding,
    Crypto,
    Walk,
    Headers,
    Abort,
    Form,
    Bodies,
    Request,
    Response,
    Fetch,
    Files,
    Parser,
    Exec,
}

impl Script {
    const COUNT: usize = 29;

    const fn text(self) -> (&'static str, &'static CStr) {
        match self {
            Self::Primordials => (include_str!("js/primordials.js"), c"bailiwick:primordials"),
            Self::Inspect => (include_str!("js/inspect.js"), c"bailiwick:inspect"),
            Self::Errors => (include_str!("js/errors.js"), c"bailiwick:errors"),
            Self::Effects => (include_str!("js/effects.js"), c"bailiwick:effects"),
            Self::Result => (include_str!("js/result.js"), c"bailiwick:result"),
            Self::Console => (include_str!("js/console.js"), c"bailiwick:console"),
            Self::Clone => (include_str!("js/clone.js"), c"bailiwick:clone"),
            Self::Timers => (include_str!("js/timers.js"), c"bailiwick:timers"),
            Self::Globals => (include_str!("js/globals.js"), c"bailiwick:globals"),
            Self::Invoke => (include_str!("js/invoke.js"), c"bailiwick:invoke"),
            Self::Date => (include_str!("js/date.js"), c"bailiwick:date"),
            Self::Modules => (include_str!("js/modules.js"), c"bailiwick:modules"),
            Self::Idl => (include_str!("js/idl.js"), c"bailiwick:idl"),
            Self::Exception => (include_str!("js/exception.js"), c"bailiwick:exception"),
            Self::Params => (include_str!("js/params.js"), c"bailiwick:params"),
            Self::Url => (include_str!("js/url.js"), c"bailiwick:url"),
            Self::Encoding => (include_str!("js/encoding.js"), c"bailiwick:encoding"),
            Self::Crypto => (include_str!("js/crypto.js"), c"bailiwick:crypto"),
            Self::Walk => (include_str!("js/walk.js"), c"bailiwick:walk"),
            Self::Headers => (include_str!("js/headers.js"), c"bailiwick:headers"),
            Self::Abort => (include_str!("js/abort.js"), c"bailiwick:abort"),
            Self::Form => (include_str!("js/form.js"), c"bailiwick:form"),
            Self::Bodies => (include_str!("js/bodies.js"), c"bailiwick:bodies"),
            Self::Request => (include_str!("js/request.js"), c"bailiwick:request"),
            Self::Response => (include_str!("js/response.js"), c"bailiwick:response"),
            Self::Fetch => (include_str!("js/fetch.js"), c"bailiwick:fetch"),
            Self::Files => (include_str!("js/files.js"), c"bailiwick:files"),
            Self::Parser => (include_str!("js/parser.js"), c"bailiwick:parser"),
            Self::Exec => (include_str!("js/exec.js"), c"bailiwick:exec"),
        }
    }

    /// The script of a part of the web's surface, by the name that `modules.js` asks for.
    pub(crate) fn of_part(name: &str) -> Option<Self> {
        Some(match name {
            "idl" => Self::Idl,
            "exception" => Self::Exception,
            "params" => Self::Params,
            "url" => Self::Url,
            "encoding" => Self::Encoding,
            "crypto" => Self::Crypto,
            "walk" => Self::Walk,
            "headers" => Self::Headers,
            "abort" => Self::Abort,
            "form" => Self::Form,
            "bodies" => Self::Bodies,
            "request" => Self::Request,
            "response" => Self::Response,
            "fetch" => Self::Fetch,
            "files" => Self::Files,
            "parser" => Self::Parser,
            "exec" => Self::Exec,
            _ => return None,
        })
    }
}

/// Our scripts as bytecode, each compiled when a realm first needs it, once for all realms.
pub(crate) struct Scripts {
    compiler: Compiler,
    compiled: [OnceCell<Bytecode>; Script::COUNT],
}

impl Scripts {
    /// None compiled yet.
    pub(crate) fn new(compiler: Compiler) -> Self {
        Self { compiler, compiled: [const { OnceCell::new() }; Script::COUNT] }
    }

    /// Compiles these, as far as they are not; the context must be able to.
    pub(crate) fn compile(&self, compiler: &Context, scripts: &[Script]) -> Result<()> {
        compiler.with(|ctx| {
            for script in scripts {
                let Some(place) = self.compiled.get(*script as usize).filter(|place| place.get().is_none())
                else {
                    continue;
                };
                let (text, name) = script.text();
                let code = bytecode::compile(&ctx, text.to_owned(), name, 1, Keep::Nothing)?;
                place.get_or_init(|| code);
            }
            Ok(())
        })
    }

    /// Loads a compiled script into a context: gives the function that it is.
    pub(crate) fn load<'js>(&self, ctx: &Ctx<'js>, script: Script) -> Result<Function<'js>> {
        let code = self.compiled.get(script as usize).and_then(OnceCell::get);
        bytecode::run(ctx, code.ok_or(rquickjs::Error::Unknown)?)?.get()
    }

    /// The same for a script that may not be compiled yet; a guest may be running.
    pub(crate) fn load_late<'js>(&self, ctx: &Ctx<'js>, script: Script) -> Result<Function<'js>> {
        if let Some(place) = self.compiled.get(script as usize).filter(|place| place.get().is_none()) {
            let (text, name) = script.text();
            let code = self.compiler.compile(ctx, text, name)?;
            place.get_or_init(|| code);
        }
        self.load(ctx, script)
    }
}

impl Purity {
    /// The scripts that a realm of this purity is built from.
    pub(crate) const fn scripts(self) -> &'static [Script] {
        match self {
            Self::Full => &[
                Script::Primordials,
                Script::Inspect,
                Script::Errors,
                Script::Effects,
                Script::Result,
                Script::Console,
                Script::Clone,
                Script::Timers,
                Script::Globals,
                Script::Invoke,
                Script::Date,
                Script::Modules,
            ],
            Self::Pure => &[Script::Primordials, Script::Errors, Script::Globals],
        }
    }
}
