//! Command tools: what one may do under the settings of today, what it is run with, and what its end means.
//!
//! `reach` says what a tool's sandbox can do, how risky that is, and whether it became wider; `order` puts one call
//! together; `run` runs it in a sandbox of its own, which is gone afterwards; `outcome` makes a report of how it ended.
//! Nothing of a caller decides where it runs, and nothing of a document is mounted that the operator did not list.
//!
//! Start reading at `reach`.

mod order;
mod outcome;
mod python;
mod reach;
mod run;

pub(crate) use order::Order;
pub(crate) use reach::{Reach, network_of};
pub(crate) use run::{Chosen, Ran, choose, run};
