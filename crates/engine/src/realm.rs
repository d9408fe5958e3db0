//! A context made ready: its built-ins, our scripts with their own hold on them, and nothing else.

use std::ffi::CStr;
use std::rc::Rc;

use rquickjs::context::{Intrinsic, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Exception, Function, Object, Persistent, Promise, Result, Runtime, Value};

use crate::errors::author_frames;
use crate::globals::Purity;
use crate::raw::bytecode::{self, Bytecode, Keep};
use crate::raw::value::{class_of, proxy_target, text};
use crate::world::World;

/// All built-ins but the evaluation of text: `eval` and every function constructor are refused by the engine itself.
pub(crate) type WithoutEval = (
    intrinsic::Date,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

/// The same with the evaluation of text.
pub(crate) type WithEval = (WithoutEval, intrinsic::Eval);

/// What the pure mode has: no promises, no clock, no weak references, no evaluation.
pub(crate) type Deterministic = (
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
);

/// Our scripts as bytecode, compiled once for all realms.
pub(crate) struct Scripts {
    primordials: Bytecode,
    inspect: Bytecode,
    errors: Bytecode,
    result: Bytecode,
    console: Bytecode,
    clone: Bytecode,
    timers: Bytecode,
    globals: Bytecode,
    invoke: Bytecode,
    warm: Bytecode,
}

impl Scripts {
    /// Compiles all of them; the context must be able to.
    pub(crate) fn compile(ctx: &Ctx<'_>) -> Result<Self> {
        let compile =
            |source: &str, name: &CStr| bytecode::compile(ctx, source.to_owned(), name, 1, Keep::Nothing);
        Ok(Self {
            primordials: compile(include_str!("js/primordials.js"), c"bailiwick:primordials")?,
            inspect: compile(include_str!("js/inspect.js"), c"bailiwick:inspect")?,
            errors: compile(include_str!("js/errors.js"), c"bailiwick:errors")?,
            result: compile(include_str!("js/result.js"), c"bailiwick:result")?,
            console: compile(include_str!("js/console.js"), c"bailiwick:console")?,
            clone: compile(include_str!("js/clone.js"), c"bailiwick:clone")?,
            timers: compile(include_str!("js/timers.js"), c"bailiwick:timers")?,
            globals: compile(include_str!("js/globals.js"), c"bailiwick:globals")?,
            invoke: compile(include_str!("js/invoke.js"), c"bailiwick:invoke")?,
            warm: compile(include_str!("js/warm.js"), c"bailiwick:warm")?,
        })
    }
}

/// A context and the functions of ours that a call needs in it.
pub(crate) struct Realm {
    pub(crate) context: Context,
    kit: Persistent<Object<'static>>,
}

impl Realm {
    /// Builds a realm with everything that can ever be granted in it, on a shelf.
    pub(crate) fn new<I: Intrinsic>(
        runtime: &Runtime,
        scripts: &Scripts,
        world: &Rc<World>,
        purity: Purity,
    ) -> Result<Self> {
        let context = Context::custom::<I>(runtime)?;
        let kit = context.with(|ctx| {
            let kit = build(&ctx, scripts, world, purity)?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, kit))
        })?;
        Ok(Self { context, kit })
    }

    /// The functions of ours, in the context of this realm.
    pub(crate) fn kit<'js>(&self, ctx: &Ctx<'js>) -> Result<Kit<'js>> {
        Ok(Kit(self.kit.clone().restore(ctx)?))
    }
}

/// The functions of ours in one realm. The guest cannot reach the object they are on.
pub(crate) struct Kit<'js>(Object<'js>);

impl<'js> Kit<'js> {
    fn function(&self, name: &str) -> Result<Function<'js>> {
        self.0.get(name)
    }

    /// Puts a granted global in its place.
    pub(crate) fn install(&self, name: &str) -> Result<()> {
        self.function("install")?.call((name,))
    }

    /// Writes a value as JSON into what the world collects; gives what is wrong with it, if anything is.
    pub(crate) fn write(&self, value: Value<'js>, limit: usize) -> Result<Option<String>> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let problem: Value<'js> = self.function("result")?.call((value, limit))?;
        if problem.is_undefined() { Ok(None) } else { text(&problem).map(Some) }
    }

    /// The class, message and frames of what was thrown.
    pub(crate) fn describe(&self, thrown: Value<'js>) -> Result<(Option<String>, String, String)> {
        let parts: Object<'js> = self.function("describe")?.call((thrown,))?;
        let part = |index: u32| parts.get::<_, Value<'js>>(index);
        let class = part(0)?;
        let class = if class.is_string() { Some(text(&class)?) } else { None };
        Ok((class, text(&part(1)?)?, text(&part(2)?)?))
    }

    /// Calls `execute`; gives a promise of what it gives.
    pub(crate) fn invoke(
        &self,
        execute: Function<'js>,
        arguments: Option<Object<'js>>,
        statics: Option<Object<'js>>,
    ) -> Result<Value<'js>> {
        self.function("invoke")?.call((execute, arguments, statics))
    }

    /// When the next timer is due, in milliseconds of the call's clock.
    pub(crate) fn next_timer(&self) -> Result<Option<f64>> {
        self.function("nextTimer")?.call(())
    }

    /// Fires the next timer.
    pub(crate) fn fire_timer(&self) -> Result<()> {
        let _: Value<'js> = self.function("fireTimer")?.call(())?;
        Ok(())
    }
}

fn build<'js>(ctx: &Ctx<'js>, scripts: &Scripts, world: &Rc<World>, purity: Purity) -> Result<Object<'js>> {
    let load = |code: &Bytecode| -> Result<Function<'js>> { bytecode::run(ctx, code)?.get() };
    let native = natives(ctx, world)?;
    let primordials: Object<'js> = load(&scripts.primordials)?.call((native.clone(),))?;
    let inspect: Value<'js> = load(&scripts.inspect)?.call((native.clone(), primordials.clone()))?;
    let describe: Value<'js> =
        load(&scripts.errors)?.call((native.clone(), primordials.clone(), inspect.clone()))?;
    let kit = Object::new_proto(ctx.clone(), None)?;
    let bindings = Object::new_proto(ctx.clone(), None)?;
    kit.set("describe", describe)?;
    if purity == Purity::Full {
        let with = |code: &Bytecode| -> Result<Value<'js>> {
            load(code)?.call((native.clone(), primordials.clone(), inspect.clone()))
        };
        kit.set("invoke", with(&scripts.invoke)?)?;
        kit.set("result", with(&scripts.result)?)?;
        bindings.set("console", with(&scripts.console)?)?;
        bindings.set("structuredClone", with(&scripts.clone)?)?;
        bindings.set("Math.random", native.get::<_, Value<'js>>("random")?)?;
        let timers: Object<'js> = with(&scripts.timers)?.get()?;
        kit.set("nextTimer", timers.get::<_, Value<'js>>("next")?)?;
        kit.set("fireTimer", timers.get::<_, Value<'js>>("fire")?)?;
        let visible: Object<'js> = timers.get("visible")?;
        for name in ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] {
            bindings.set(name, visible.get::<_, Value<'js>>(name)?)?;
        }
    } else {
        bindings.set("read_input", native.get::<_, Value<'js>>("read_input")?)?;
        bindings.set("emit", native.get::<_, Value<'js>>("emit")?)?;
    }
    let touch: Function<'js> = load(&scripts.warm)?.call((native.clone(), primordials.clone()))?;
    let globals: Object<'js> = load(&scripts.globals)?.call((native, primordials, bindings))?;
    let scrub: Function<'js> = globals.get("scrub")?;
    let _: Value<'js> = scrub.call((purity.kept(), purity.offered(), purity == Purity::Pure))?;
    let _: Value<'js> = touch.call(())?;
    kit.set("install", globals.get::<_, Value<'js>>("install")?)?;
    Ok(kit)
}

/// What our scripts and the simplest bindings ask of Rust.
fn natives<'js>(ctx: &Ctx<'js>, world: &Rc<World>) -> Result<Object<'js>> {
    let native = Object::new_proto(ctx.clone(), None)?;
    let place = |name: &str, function: Function<'js>| native.set(name, function.with_name(name)?);
    place("classOf", Function::new(ctx.clone(), |ctx: Ctx<'js>, value: Value<'js>| class_of(&ctx, &value))?)?;
    place(
        "proxyTarget",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, value: Value<'js>| proxy_target(&ctx, &value))?,
    )?;
    place("promiseState", Function::new(ctx.clone(), |value: Value<'js>| promise_state(&value))?)?;
    place(
        "promiseResult",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, value: Value<'js>| promise_result(&ctx, &value))?,
    )?;
    let shared = Rc::clone(world);
    place(
        "authorFrames",
        Function::new(ctx.clone(), move |stack: Value<'js>| -> Result<String> {
            Ok(author_frames(&text(&stack)?, &shared.source.borrow()).text)
        })?,
    )?;
    let shared = Rc::clone(world);
    place(
        "put",
        Function::new(ctx.clone(), move |piece: Value<'js>| -> Result<bool> {
            Ok(shared.written.put(&text(&piece)?))
        })?,
    )?;
    let shared = Rc::clone(world);
    place("over", Function::new(ctx.clone(), move || shared.written.overflow())?)?;
    let shared = Rc::clone(world);
    place("now", Function::new(ctx.clone(), move || shared.now_ms())?)?;
    let shared = Rc::clone(world);
    place("random", Function::new(ctx.clone(), move || shared.random.next())?)?;
    let shared = Rc::clone(world);
    place("room", Function::new(ctx.clone(), move || shared.console.room())?)?;
    let shared = Rc::clone(world);
    place(
        "line",
        Function::new(ctx.clone(), move |level: i32, line: Value<'js>| -> Result<()> {
            shared.log(level, &text(&line)?);
            Ok(())
        })?,
    )?;
    let shared = Rc::clone(world);
    place("read_input", Function::new(ctx.clone(), move || shared.input.borrow().clone())?)?;
    place("emit", emitter(ctx, world)?)?;
    Ok(native)
}

fn emitter<'js>(ctx: &Ctx<'js>, world: &Rc<World>) -> Result<Function<'js>> {
    let shared = Rc::clone(world);
    Function::new(
        ctx.clone(),
        move |ctx: Ctx<'js>, given: rquickjs::function::Rest<Value<'js>>| -> Result<()> {
            let Some(first) = given.first() else { return Ok(()) };
            if first.is_symbol() {
                return Err(Exception::throw_type(&ctx, "a Symbol cannot be turned into a string"));
            }
            let piece = text(first)?;
            shared.emit(&piece);
            if shared.watch.halted().is_some() {
                return Err(Exception::throw_internal(&ctx, "the output is full"));
            }
            Ok(())
        },
    )
}

/// 0 for a pending promise, 1 for a fulfilled, 2 for a rejected one.
fn promise_state(value: &Value<'_>) -> i32 {
    match value.as_promise().map(Promise::state) {
        Some(PromiseState::Resolved) => 1,
        Some(PromiseState::Rejected) => 2,
        _ => 0,
    }
}

/// What a settled promise holds, whichever way it settled.
fn promise_result<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Value<'js> {
    match value.as_promise().and_then(Promise::result::<Value<'js>>) {
        Some(Ok(held)) => held,
        Some(Err(_)) => ctx.catch(),
        None => Value::new_undefined(ctx.clone()),
    }
}
