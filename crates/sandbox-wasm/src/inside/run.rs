//! One command: what the guest is given, its deadline, and how it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use wasmtime::component::{self, ResourceTable};
use wasmtime::{Engine, Linker, Store, Trap};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2::{self, bindings::Command};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::compile::told;
use super::limiter::Limiter;
use super::{Ended, engine, stdin};
use crate::order::{COMPILED, End, Open, Order};
use crate::raw::{self, Program};

/// Where a module of WASI 0.1 begins.
const START: &str = "_start";

/// Runs a command to its end. The words are the guest's variables and then its own.
pub(crate) fn run(order: &Order, words: &[String]) -> Result<Ended, String> {
    let (variables, argv) = words
        .split_at_checked(order.variables)
        .ok_or_else(|| "there are fewer variables than the order says".to_owned())?;
    let guest = Guest { order, variables, argv };
    let engine = engine::engine(order.fuel.is_some()).map_err(|error| told(&error))?;
    let program = raw::read_back(&engine, Path::new(COMPILED)).map_err(|error| told(&error))?;
    let program = program.ok_or_else(|| "what should be compiled code is none".to_owned())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| format!("begin: {error}"))?;
    let _ticking = tick_at(&engine, order.deadline).map_err(|error| format!("set the deadline: {error}"))?;
    runtime.block_on(async {
        let went = tokio::time::timeout(order.deadline, async {
            match program {
                Program::Module(module) => run_module(&engine, &module, guest).await,
                Program::Component(component) => run_component(&engine, &component, guest).await,
            }
        });
        went.await.unwrap_or_else(|_| Ok(late()))
    })
}

/// What is run.
#[derive(Debug, Clone, Copy)]
struct Guest<'a> {
    order: &'a Order,
    /// Each as `name=value`.
    variables: &'a [String],
    argv: &'a [String],
}

fn late() -> Ended {
    Ended::By(End::Late, "its time is up".to_owned())
}

/// At the deadline the engine's epoch ends, and whatever the guest computes with it. Who holds the other end keeps the
/// thread waiting.
fn tick_at(engine: &Engine, deadline: Duration) -> std::io::Result<mpsc::Sender<()>> {
    let (held, ends) = mpsc::channel::<()>();
    let engine = engine.clone();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        if ends.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout) {
            engine.increment_epoch();
        }
    })?;
    Ok(held)
}

/// What a guest is given.
fn given(Guest { order, variables, argv }: Guest<'_>) -> Result<WasiCtxBuilder, Ended> {
    let mut given = WasiCtxBuilder::new();
    // No thread is started for files: this process runs one guest, which waits anyway.
    given.allow_blocking_current_thread(true);
    given.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    given.args(argv).initial_cwd(&order.cwd);
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment of this process holds what every command has, and nothing that a guest chose"
    )]
    let usual = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut all: BTreeMap<String, String> = usual.collect();
    all.extend(
        variables
            .iter()
            .filter_map(|one| one.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    for (name, value) in all {
        given.env(name, value);
    }
    stdin::hand(&mut given);
    given.inherit_stdout().inherit_stderr();
    for Open { at, named, writable } in &order.opens {
        let perms = if *writable { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
        given
            .preopened_dir(at, named, perms)
            .map_err(|error| Ended::By(End::NotRunnable, format!("open `{named}`: {}", told(&error))))?;
    }
    Ok(given)
}

fn bounded<T: 'static>(
    engine: &Engine,
    state: T,
    order: &Order,
    limiter: fn(&mut T) -> &mut Limiter,
) -> Result<Store<T>, String> {
    let mut store = Store::new(engine, state);
    store.limiter(move |state| limiter(state));
    store.set_epoch_deadline(1);
    store.epoch_deadline_trap();
    if let Some(fuel) = order.fuel {
        store.set_fuel(fuel).map_err(|error| told(&error))?;
    }
    Ok(store)
}

struct OfModule {
    wasi: WasiP1Ctx,
    limiter: Limiter,
}

async fn run_module(engine: &Engine, module: &wasmtime::Module, guest: Guest<'_>) -> Result<Ended, String> {
    let mut linker = Linker::new(engine);
    p1::add_to_linker_async(&mut linker, |state: &mut OfModule| &mut state.wasi)
        .map_err(|error| told(&error))?;
    let mut given = match given(guest) {
        Ok(given) => given,
        Err(ended) => return Ok(ended),
    };
    let state = OfModule { wasi: given.build_p1(), limiter: Limiter::new(guest.order.memory) };
    let mut store = bounded(engine, state, guest.order, |state| &mut state.limiter)?;
    let instance = match linker.instantiate_pre(module) {
        Ok(ready) => match ready.instantiate_async(&mut store).await {
            Ok(instance) => instance,
            Err(error) => return Ok(unbegun(&error, store.data().limiter.refused)),
        },
        Err(error) => return Ok(Ended::By(End::NotRunnable, told(&error))),
    };
    let start = match instance.get_typed_func::<(), ()>(&mut store, START) {
        Ok(start) => start,
        Err(error) => {
            let why = format!("it is no command, for it has no `{START}`: {}", told(&error));
            return Ok(Ended::By(End::NotRunnable, why));
        }
    };
    let went = start.call_async(&mut store, ()).await;
    Ok(went.map_or_else(|error| ended(&error, store.data().limiter.refused), |()| Ended::Code(0)))
}

struct OfComponent {
    wasi: WasiCtx,
    table: ResourceTable,
    limiter: Limiter,
}

impl WasiView for OfComponent {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

async fn run_component(
    engine: &Engine,
    component: &component::Component,
    guest: Guest<'_>,
) -> Result<Ended, String> {
    /// The most things of ours that a component holds at once: files, streams, what it waits for.
    const THINGS: usize = 16 * 1024;
    let mut linker = component::Linker::new(engine);
    p2::add_to_linker_async(&mut linker).map_err(|error| told(&error))?;
    let mut table = ResourceTable::new();
    table.set_max_capacity(THINGS);
    let mut given = match given(guest) {
        Ok(given) => given,
        Err(ended) => return Ok(ended),
    };
    let state = OfComponent { wasi: given.build(), table, limiter: Limiter::new(guest.order.memory) };
    let mut store = bounded(engine, state, guest.order, |state| &mut state.limiter)?;
    if let Err(error) = linker.instantiate_pre(component) {
        return Ok(Ended::By(End::NotRunnable, told(&error)));
    }
    let command = match Command::instantiate_async(&mut store, component, &linker).await {
        Ok(command) => command,
        Err(error) => return Ok(unbegun(&error, store.data().limiter.refused)),
    };
    let went = command.wasi_cli_run().call_run(&mut store).await;
    Ok(match went {
        Ok(Ok(())) => Ended::Code(0),
        Ok(Err(())) => Ended::Code(1),
        Err(error) => ended(&error, store.data().limiter.refused),
    })
}

/// What it means that a program was not set up: its own code runs there, too.
fn unbegun(error: &wasmtime::Error, refused: bool) -> Ended {
    let is_its_own = error.is::<Trap>() || error.is::<I32Exit>() || refused;
    if is_its_own { ended(error, refused) } else { Ended::By(End::NotRunnable, told(error)) }
}

/// What an error of a guest's means.
fn ended(error: &wasmtime::Error, refused: bool) -> Ended {
    if let Some(I32Exit(code)) = error.downcast_ref() {
        return u8::try_from(*code)
            .map_or_else(|_| Ended::Trap(format!("the exit code {code}")), Ended::Code);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => late(),
        Some(Trap::OutOfFuel) => Ended::By(End::Late, "its fuel is used up".to_owned()),
        _ if refused => {
            Ended::By(End::OutOfMemory, format!("it was refused memory, and then: {}", told(error)))
        }
        Some(trap) => Ended::Trap(trap.to_string()),
        None => Ended::Trap(told(error)),
    }
}
