//! Cells for a command: a runtime of the right size, made when the command needs it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bailiwick::policy::Baseline;
use bailiwick::{Breadth, Builder, Demand, Runtime};

use crate::failure::Failure;
use crate::typed::CellFlags;

/// Runs a job on a runtime of one thread: a command has one thing to do.
pub(crate) fn block_on<T>(job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut result = None;
    drive(Box::pin(async { result = Some(job.await) }))?;
    result.unwrap_or_else(|| Err(Failure::Tokio(std::io::Error::other("the job did not end"))))
}

/// Not generic: a runtime's loop is compiled once, and not again for every command.
fn drive(job: Pin<Box<dyn Future<Output = ()> + '_>>) -> Result<(), Failure> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Tokio)?;
    tokio.block_on(job);
    // A nursery that is being started in the background is not waited for.
    tokio.shutdown_background();
    Ok(())
}

/// A builder as the flags ask for.
pub(crate) fn builder(flags: &CellFlags, breadth: Breadth, baseline: Option<&Arc<Baseline>>) -> Builder {
    // One call at a time needs no bound on all of them together.
    let builder = Runtime::builder().parked(0).memory(None).breadth(breadth).demand(demand(flags));
    match baseline {
        Some(baseline) => builder.baseline(Arc::clone(baseline)),
        None => builder,
    }
}

fn demand(flags: &CellFlags) -> Demand {
    if flags.insecure_cells { Demand::InsecureIfNeeded } else { Demand::Floor }
}
