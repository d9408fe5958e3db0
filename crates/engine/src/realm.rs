//! A context made ready: its built-ins, our scripts with their own hold on them, and nothing else.

use std::rc::Rc;

use rquickjs::context::{Intrinsic, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Exception, Function, Object, Persistent, Promise, Result, Runtime, Value};

use crate::errors::author_frames;
use crate::globals::{Purity, usual};
use crate::raw::value::{class_of, proxy_target, text};
use crate::scripts::{Script, Scripts};
use crate::web;
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

/// What a realm is made of.
pub(crate) struct Makings<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) compiler: &'a Context,
    pub(crate) scripts: &'a Rc<Scripts>,
    pub(crate) world: &'a Rc<World>,
    pub(crate) purity: Purity,
    /// Whether all its parts are loaded now, or each when it is first touched.
    pub(crate) is_whole: bool,
}

/// A context and the functions of ours that a call needs in it.
pub(crate) struct Realm {
    pub(crate) context: Context,
    kit: Persistent<Object<'static>>,
}

impl Realm {
    /// Builds a realm with everything that can ever be granted in it, on a shelf.
    pub(crate) fn new<I: Intrinsic>(makings: &Makings<'_>) -> Result<Self> {
        makings.scripts.compile(makings.compiler, makings.purity.scripts())?;
        let context = Context::custom::<I>(makings.runtime)?;
        let kit = context.with(|ctx| {
            let kit = build(&ctx, makings)?;
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

    /// Takes a global away that is in place in a warm engine.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        self.function("remove")?.call((name,))
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

fn build<'js>(ctx: &Ctx<'js>, makings: &Makings<'_>) -> Result<Object<'js>> {
    let Makings { scripts, world, purity, is_whole, .. } = *makings;
    let load = |script: Script| scripts.load(ctx, script);
    let native = natives(ctx, world)?;
    let primordials: Object<'js> = load(Script::Primordials)?.call((native.clone(),))?;
    // Without a console there is nothing to inspect; what was thrown is then told by its class.
    let inspect: Value<'js> = match purity {
        Purity::Full => load(Script::Inspect)?.call((native.clone(), primordials.clone()))?,
        Purity::Pure => Value::new_undefined(ctx.clone()),
    };
    let describe: Value<'js> =
        load(Script::Errors)?.call((native.clone(), primordials.clone(), inspect.clone()))?;
    let kit = Object::new_proto(ctx.clone(), None)?;
    let bindings = Object::new_proto(ctx.clone(), None)?;
    kit.set("describe", describe)?;
    let mut need = Value::new_undefined(ctx.clone());
    if purity == Purity::Full {
        let with = |script: Script| -> Result<Value<'js>> {
            load(script)?.call((native.clone(), primordials.clone(), inspect.clone()))
        };
        web::place(ctx, &native, world)?;
        native.set("part", parts(ctx, scripts)?)?;
        need = load(Script::Modules)?.call((native.clone(), primordials.clone()))?;
        kit.set("invoke", with(Script::Invoke)?)?;
        kit.set("result", with(Script::Result)?)?;
        bindings.set("console", with(Script::Console)?)?;
        bindings.set("structuredClone", with(Script::Clone)?)?;
        bindings.set("Date", with(Script::Date)?)?;
        bindings.set("Math.random", native.get::<_, Value<'js>>("random")?)?;
        let timers: Object<'js> = with(Script::Timers)?.get()?;
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
    let globals: Object<'js> =
        load(Script::Globals)?.call((native, primordials, bindings, need, is_whole))?;
    let scrub: Function<'js> = globals.get("scrub")?;
    let _: Value<'js> = scrub.call((purity.kept(), purity.offered(), purity == Purity::Pure))?;
    let install: Function<'js> = globals.get("install")?;
    if purity == Purity::Full {
        for name in usual() {
            let _: Value<'js> = install.call((name,))?;
        }
    }
    kit.set("install", install)?;
    kit.set("remove", globals.get::<_, Value<'js>>("remove")?)?;
    Ok(kit)
}

/// Loads a part of the web's surface by its name.
fn parts<'js>(ctx: &Ctx<'js>, scripts: &Rc<Scripts>) -> Result<Function<'js>> {
    let scripts = Rc::clone(scripts);
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| -> Result<Function<'js>> {
        let script = Script::of_part(&name)
            .ok_or_else(|| Exception::throw_internal(&ctx, "there is no such part of the surface"))?;
        scripts.load_late(&ctx, script)
    })
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
    place("clock", Function::new(ctx.clone(), move || shared.clock_ms())?)?;
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
