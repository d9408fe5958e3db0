//! One call, from a job to what it gave. Nothing here panics or trusts what the guest left behind.
#![expect(clippy::unnecessary_box_returns, reason = "a trouble travels as an error, which should be small")]

use bailiwick_source::{SourceError, SourceErrorKind, check_parameter_names, prepare};
use bailiwick_wire::{Check, Entry, Given, Job, Language, Severity, Trouble, TroubleKind};
use rquickjs::function::Args;
use rquickjs::object::Filter;
use rquickjs::{Ctx, Function, Object, Persistent, Value};

use crate::entry::{self, NotCompiled};
use crate::errors::{is_overflow, syntax, trouble};
use crate::globals::{Change, changes};
use crate::limits::Halt;
use crate::raw::bytecode::{self, Bytecode};
use crate::raw::value::text;
use crate::realm::{Kit, Realm};
use crate::settle::{Ended, explain, settle};
use crate::warm::{Engine, Which};
use crate::{Outside, Phase};

/// What a step gives, or why the call is over.
type Step<T> = Result<T, Box<Trouble>>;

/// Runs the job and says what it gave.
pub(crate) fn perform(engine: &Engine, job: &Job, outside: &dyn Outside) -> Given {
    match attempt(engine, job, outside) {
        Ok(given) => given,
        Err(trouble) => Given::Trouble(trouble),
    }
}

fn attempt(engine: &Engine, job: &Job, outside: &dyn Outside) -> Step<Given> {
    engine.runtime.set_max_stack_size(stack_of(job));
    engine.world.source.replace(job.source.clone());
    let which = match job.entry {
        Entry::Emit => Which::Emit,
        _ if job.globals.iter().any(|name| name == "eval" || name == "Function") => Which::Eval,
        _ => Which::Plain,
    };
    let realm = engine.realm(which).map_err(|_| ours("the engine could not be built"))?;
    let given = given_values(realm, job)?;
    let mut names = job.parameters.clone();
    names.extend(given.arguments.names.iter().filter(|name| !job.parameters.contains(name)).cloned());
    names.extend(given.statics.names.iter().cloned());
    if matches!(job.entry, Entry::Body | Entry::Expression) && !names.is_empty() {
        check_parameter_names(&names, &job.globals).map_err(source_trouble)?;
    }
    let code = match compiled(engine, job, &names, outside)? {
        Compiled::Code(code) => code,
        Compiled::Findings(findings) => return Ok(Given::Findings(findings)),
    };
    realm.context.with(|ctx| {
        let kit = realm.kit(&ctx).map_err(|_| ours("the engine lost its own functions"))?;
        let call = Call { engine, job, outside, ctx: &ctx, kit: &kit };
        let outcome = call.run(&code, &names, &given);
        outcome.or_else(|ended| explain(engine, job, &kit, ended))
    })
}

/// The values that the caller gave, as the engine holds them, and their names.
struct GivenValues {
    arguments: GivenObject,
    statics: GivenObject,
}

struct GivenObject {
    object: Option<Persistent<Object<'static>>>,
    names: Vec<String>,
}

fn given_values(realm: &Realm, job: &Job) -> Step<GivenValues> {
    if matches!(job.entry, Entry::Emit | Entry::Script) {
        let none = || GivenObject { object: None, names: Vec::new() };
        return Ok(GivenValues { arguments: none(), statics: none() });
    }
    // `execute` is given both objects whatever is in them; elsewhere only what is in them counts.
    let is_needed = job.entry == Entry::Execute;
    realm.context.with(|ctx| {
        Ok(GivenValues {
            arguments: given_object(&ctx, &job.arguments, "arguments", is_needed)?,
            statics: given_object(&ctx, &job.statics, "statics", is_needed)?,
        })
    })
}

/// Reads the text of one JSON object. The engine's own reader makes `__proto__` a property like any other.
fn given_object(ctx: &Ctx<'_>, text: &str, what: &str, is_needed: bool) -> Step<GivenObject> {
    if text == "{}" && !is_needed {
        return Ok(GivenObject { object: None, names: Vec::new() });
    }
    let Ok(value) = ctx.json_parse(text) else {
        ctx.catch();
        return Err(trouble(
            TroubleKind::Input,
            format!("the {what} are not JSON, or larger than the memory limit"),
        ));
    };
    let object = match value.into_object() {
        Some(object) if !object.is_array() => object,
        _ => return Err(trouble(TroubleKind::Input, format!("the {what} must be one JSON object"))),
    };
    let names: Result<Vec<String>, _> = object.own_keys(Filter::new().string()).collect();
    let names =
        names.map_err(|_| trouble(TroubleKind::Input, format!("a name in the {what} is not text")))?;
    Ok(GivenObject { object: Some(Persistent::save(ctx, object)), names })
}

/// Less than what one level of nesting takes, and more than what parsing a name does.
const MORE_STACK: usize = 512;

fn stack_of(job: &Job) -> usize {
    usize::try_from(job.limits.stack).unwrap_or(usize::MAX).max(1)
}

enum Compiled {
    Code(Bytecode),
    Findings(Vec<bailiwick_wire::Finding>),
}

/// Validates if asked to, strips types where there are any, and compiles. The parser runs only where it is needed.
fn compiled(engine: &Engine, job: &Job, names: &[String], outside: &dyn Outside) -> Step<Compiled> {
    let wants_parser = job.check != Check::Skip
        || job.language == Language::TypeScript
        || job.entry == Entry::Execute
        || (job.entry == Entry::Emit && job.source.contains("async"));
    let build = |code: &str, name: &str| {
        outside.phase(Phase::Parsing);
        let attempt = || engine.compiler.with(|ctx| entry::build(&ctx, job.entry, code, names, name));
        let mut built = attempt();
        // Where the stack ends inside the name of a property, the engine's parser says that the name is wrong. With
        // a little more of it the end is elsewhere; what is wrong with the code itself stays what it is.
        if built.as_ref().is_err_and(|failed| !is_overflow(&failed.message)) && !memory_ran_out(engine) {
            let stack = stack_of(job);
            engine.runtime.set_max_stack_size(stack.saturating_add(MORE_STACK));
            built = attempt();
            engine.runtime.set_max_stack_size(stack);
        }
        outside.phase(Phase::Running);
        built
    };
    if !wants_parser {
        let failed = match build(&job.source, "") {
            Ok(code) => return Ok(Compiled::Code(code)),
            Err(failed) => failed,
        };
        if job.language != Language::Either || memory_ran_out(engine) {
            return Err(not_compiled(engine, job, &failed));
        }
        // It may be TypeScript: if it is not that either, what is wrong with it as JavaScript is told.
        let prepared = match parsed(job, Language::TypeScript, None, outside) {
            Ok(prepared) => prepared,
            Err(error) => {
                let as_javascript = not_compiled(engine, job, &failed);
                // Whoever got further has understood more; types that cannot be erased are TypeScript for sure.
                let is_better = error.kind == SourceErrorKind::Unerasable
                    || error.location.map(|at| (at.line, at.column))
                        > as_javascript.location.map(|at| (at.line, at.column));
                return Err(if is_better { source_trouble(error) } else { as_javascript });
            }
        };
        let code = build(&prepared.code, "").map_err(|failed| not_compiled(engine, job, &failed))?;
        return Ok(Compiled::Code(code));
    }
    let mut known = job.globals.clone();
    known.extend(names.iter().cloned());
    let granted = (job.check != Check::Skip).then_some(known.as_slice());
    let prepared = parsed(job, job.language, granted, outside).map_err(source_trouble)?;
    let is_blocked = prepared.findings.iter().any(|finding| finding.severity == Severity::Error);
    if job.check == Check::Only || is_blocked {
        return Ok(Compiled::Findings(prepared.findings));
    }
    let name = prepared.execute.as_ref().map_or("execute", |definition| definition.name.as_str());
    let code = build(&prepared.code, name).map_err(|failed| not_compiled(engine, job, &failed))?;
    Ok(Compiled::Code(code))
}

fn parsed(
    job: &Job,
    language: Language,
    granted: Option<&[String]>,
    outside: &dyn Outside,
) -> Result<bailiwick_source::Prepared, SourceError> {
    outside.phase(Phase::Parsing);
    let prepared = prepare(&job.source, job.entry, language, granted);
    outside.phase(Phase::Running);
    prepared
}

fn memory_ran_out(engine: &Engine) -> bool {
    engine.world.heap.refused()
}

fn not_compiled(engine: &Engine, job: &Job, failed: &NotCompiled) -> Box<Trouble> {
    if memory_ran_out(engine) {
        return trouble(TroubleKind::Memory, "the code is too large for its memory limit");
    }
    syntax(&failed.message, &failed.stack, &job.source)
}

fn source_trouble(error: SourceError) -> Box<Trouble> {
    let kind = match error.kind {
        SourceErrorKind::Syntax => TroubleKind::Syntax,
        SourceErrorKind::Unerasable | SourceErrorKind::Rule => TroubleKind::Validation,
    };
    let message = match error.kind {
        SourceErrorKind::Syntax => format!("SyntaxError: {}", error.message),
        _ => error.message,
    };
    let mut trouble = trouble(kind, message);
    trouble.location = error.location;
    trouble
}

/// A fault of ours that the guest cannot cause; it is told rather than hidden.
fn ours(what: &str) -> Box<Trouble> {
    trouble(TroubleKind::Fault, what)
}

/// A call whose code is compiled.
struct Call<'a, 'js> {
    engine: &'a Engine,
    job: &'a Job,
    outside: &'a dyn Outside,
    ctx: &'a Ctx<'js>,
    kit: &'a Kit<'js>,
}

impl<'js> Call<'_, 'js> {
    fn run(&self, code: &Bytecode, names: &[String], given: &GivenValues) -> Result<Given, Ended<'js>> {
        match self.job.entry {
            Entry::Emit => self.emit(code),
            Entry::Script => {
                self.grant(|name| self.job.globals.iter().any(|given| given == name))?;
                self.evaluate(code)?;
                settle(self.engine, self.outside, self.ctx, self.kit, None)?;
                Ok(Given::Value("null".to_owned()))
            }
            Entry::Body | Entry::Expression => {
                self.grant(|name| self.job.globals.iter().any(|given| given == name))?;
                let body = self.method(code)?;
                let mut args = Args::new(self.ctx.clone(), names.len());
                let arguments = self.restore(&given.arguments)?;
                let statics = self.restore(&given.statics)?;
                for name in names {
                    // By the names that were given, not by what the object inherits.
                    let from = if given.statics.names.contains(name) {
                        &statics
                    } else if given.arguments.names.contains(name) {
                        &arguments
                    } else {
                        &None
                    };
                    let value: Value<'js> = match from {
                        Some(object) => self.checked(object.get(name.as_str()))?,
                        None => Value::new_undefined(self.ctx.clone()),
                    };
                    self.checked(args.push_arg(value))?;
                }
                let promise = self.checked(body.call_arg::<Value<'js>>(args))?;
                self.value(&promise)
            }
            Entry::Execute => {
                self.grant(|name| self.job.globals.iter().any(|given| given == name))?;
                let body = self.method(code)?;
                let promise: Value<'js> = self.checked(body.call(()))?;
                let defined = settle(self.engine, self.outside, self.ctx, self.kit, Some(&promise))?;
                let Some(execute) = defined.into_function() else {
                    return Err(Ended::Told(trouble(
                        TroubleKind::Validation,
                        "the code must define a function `execute(params, config)`",
                    )));
                };
                let arguments = self.restore(&given.arguments)?;
                let statics = self.restore(&given.statics)?;
                let promise = self.checked(self.kit.invoke(execute, arguments, statics))?;
                self.value(&promise)
            }
        }
    }

    fn emit(&self, code: &Bytecode) -> Result<Given, Ended<'js>> {
        self.engine.world.input.replace(self.job.input.clone());
        let written = &self.engine.world.written;
        match self.evaluate(code) {
            Err(ended) if self.engine.world.watch.halted() != Some(Halt::Full) => Err(ended),
            _ => Ok(Given::Output { over: written.is_over(), text: written.take() }),
        }
    }

    /// Leaves exactly the granted of the offered names in place.
    fn grant(&self, granted: impl Fn(&str) -> bool) -> Result<(), Ended<'js>> {
        for change in changes(granted) {
            self.checked(match change {
                Change::Install(name) => self.kit.install(name),
                Change::Remove(name) => self.kit.remove(name),
            })?;
        }
        Ok(())
    }

    fn evaluate(&self, code: &Bytecode) -> Result<Value<'js>, Ended<'js>> {
        self.checked(bytecode::run(self.ctx, code))
    }

    /// The author's code as a function: the one nameless method of the object that the compiled text makes.
    fn method(&self, code: &Bytecode) -> Result<Function<'js>, Ended<'js>> {
        let holder = self.evaluate(code)?;
        let holder = self.checked(holder.get::<Object<'js>>())?;
        self.checked(holder.get(""))
    }

    fn restore(&self, given: &GivenObject) -> Result<Option<Object<'js>>, Ended<'js>> {
        given.object.clone().map(|object| self.checked(object.restore(self.ctx))).transpose()
    }

    /// Waits for the promise and writes what it gives.
    fn value(&self, promise: &Value<'js>) -> Result<Given, Ended<'js>> {
        let value = settle(self.engine, self.outside, self.ctx, self.kit, Some(promise))?;
        let written = &self.engine.world.written;
        if let Some(text) = self.checked(plain_json(&value))?.filter(|text| text.len() <= written.limit()) {
            return Ok(Given::Value(text));
        }
        let problem = self.checked(self.kit.write(value, written.limit()))?;
        if written.is_over() {
            let limit = written.limit();
            return Err(Ended::Told(trouble(
                TroubleKind::Output,
                format!("the result is larger than its limit of {limit} bytes"),
            )));
        }
        match problem {
            Some(problem) => Err(Ended::Told(trouble(TroubleKind::Threw, problem))),
            None => Ok(Given::Value(written.take())),
        }
    }

    fn checked<T>(&self, result: rquickjs::Result<T>) -> Result<T, Ended<'js>> {
        result.map_err(|error| Ended::of(self.ctx, &error))
    }
}

/// The JSON of what is no object, no text and needs no limit; nothing of the guest's runs for it.
fn plain_json(value: &Value<'_>) -> rquickjs::Result<Option<String>> {
    if value.is_undefined() || value.is_null() {
        return Ok(Some("null".to_owned()));
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Some(flag.to_string()));
    }
    if let Some(whole) = value.as_int() {
        return Ok(Some(whole.to_string()));
    }
    match value.as_float() {
        Some(number) if !number.is_finite() => Ok(Some("null".to_owned())),
        Some(_) => text(value).map(Some),
        None => Ok(None),
    }
}
