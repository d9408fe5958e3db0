//! A cell's life: take the filter, wait for one job, run it, answer, end.
//!
//! Everything before the job is done while the cell is parked, so that a call pays for none of it. After the job has
//! come nothing here may panic, and the process ends by `_exit`: there is nothing worth tidying up in it.

mod talk;
mod world;

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_engine::Warm;
use bailiwick_sys::ending::{Endings, exit_now};
use bailiwick_sys::seccomp::Filter;
use bailiwick_sys::{Failed, bounds, descriptors, heap, packets, privileges, probe};
use bailiwick_wire::{FromCell, Job, Probe, ToCell};

use crate::ending;
use crate::nursery::Newborn;
use talk::Talk;
use world::World;

/// Memory beside the engine's own: our parsers over the source, the job itself, the report.
const BESIDE_THE_ENGINE: u64 = 64 * 1024 * 1024;

/// Whether a recursive parser is at work on the author's source.
static PARSING: AtomicBool = AtomicBool::new(false);

/// Sets up, once in the nursery, how its cells end when they cannot go on.
pub(crate) fn prepare() -> Result<(), Failed> {
    std::panic::set_hook(Box::new(|_| exit_now(ending::PANIC)));
    heap::on_failure(|| exit_now(ending::ALLOCATION));
    bailiwick_sys::ending::install(Endings {
        trapped: |number| {
            let (frame, length) = bailiwick_wire::frame::violation(number);
            // The exit code tells it too, only without the number.
            let _host_gone = packets::write(descriptors::zero(), frame.get(..length).unwrap_or_default());
            exit_now(ending::VIOLATION)
        },
        overflowed: || {
            let parsing = PARSING.load(Ordering::Relaxed);
            exit_now(if parsing { ending::NESTED_TOO_DEEP } else { ending::OVERFLOW })
        },
        faulted: || exit_now(ending::FAULT),
        aborted: || exit_now(ending::ABORT),
        out_of_cpu: || exit_now(ending::CPU),
    })
}

/// Lives one cell's life. The walls of the nursery are around it already; the filter is the last one.
pub(crate) fn live(newborn: Newborn, engine: Warm, filter: Option<&Filter>, memory_size: u64) -> ! {
    let Newborn { socket, rehearse } = newborn;
    if wall_in(socket, filter).is_err() {
        exit_now(ending::NO_WALL);
    }
    if rehearse {
        engine.rehearse();
    }
    let talk = Rc::new(Talk::new());
    match talk.hear(None) {
        Some(ToCell::Start(job)) => {
            // A nursery without any walls does not know its size.
            if memory_size > 0 && bound(&job, memory_size).is_err() {
                exit_now(ending::NO_WALL);
            }
            let report = engine.run(*job, Rc::new(World::new(Rc::clone(&talk))));
            talk.say(&FromCell::Done(Box::new(report)), true);
            exit_now(ending::FINE)
        }
        Some(ToCell::Probe(what)) => {
            let result = try_it(what);
            talk.say(&FromCell::Probed { result }, false);
            exit_now(ending::FINE)
        }
        Some(ToCell::Answer { .. } | ToCell::Stood { .. }) => exit_now(ending::PROTOCOL),
        None => exit_now(ending::FINE),
    }
}

fn wall_in(socket: OwnedFd, filter: Option<&Filter>) -> Result<(), Failed> {
    descriptors::put_at_zero(socket)?;
    descriptors::close_from(1)?;
    privileges::die_with_parent()?;
    bounds::no_more_descriptors()?;
    if let Some(filter) = filter {
        filter.install()?;
    }
    Ok(())
}

/// The bounds that the kernel keeps for this job, behind the engine's own.
fn bound(job: &Job, memory_size: u64) -> Result<(), Failed> {
    // Twice the engine's memory: a block that grows is for a moment there twice.
    let memory =
        memory_size.saturating_add(job.limits.memory.saturating_mul(2)).saturating_add(BESIDE_THE_ENGINE);
    bounds::address_space(memory)?;
    if let Some(milliseconds) = job.limits.cpu_ms {
        bounds::cpu_seconds(milliseconds.div_ceil(1000).saturating_add(1))?;
    }
    Ok(())
}

fn try_it(what: Probe) -> i64 {
    match what {
        Probe::SystemCall { number, arguments } => match probe::system_call(number, arguments) {
            Ok(result) => result,
            Err(errno) => -i64::from(errno.raw_os_error()),
        },
        Probe::Panic => probe::panic(),
        Probe::Allocation => {
            let huge = Vec::<u8>::with_capacity(isize::MAX.unsigned_abs() / 2);
            i64::try_from(std::hint::black_box(huge).capacity()).unwrap_or(i64::MAX)
        }
        Probe::Overflow => probe::overflow(1).cast_signed(),
        Probe::Fault => {
            probe::fault();
            0
        }
        Probe::Abort => {
            probe::abort();
            0
        }
    }
}
