//! What runs behind the wall: the engine, one program, and nothing else. It ends with its command.
//!
//! It must never answer a guest by a way that the order does not name, nor end in a way that a guest could choose.

mod compile;
mod engine;
mod limiter;
mod run;
mod stdin;

use std::io::Write as _;

use bailiwick_sys::{ending, signals};

use crate::order::{COMPILE, End, RUN};

pub(crate) use engine::compatibility;

/// How it ended.
pub(crate) enum Ended {
    /// With this code.
    Code(u8),
    /// By a trap; what it was.
    Trap(String),
    /// In one of these ways; why.
    By(End, String),
}

/// The life of this process. Never returns.
pub(crate) fn live(arguments: impl Iterator<Item = std::ffi::OsString>) -> ! {
    let words: Option<Vec<String>> = arguments.map(|word| word.into_string().ok()).collect();
    let done = std::panic::catch_unwind(|| {
        let words = words.ok_or_else(|| "an argument that is no text".to_owned())?;
        match words.split_first() {
            Some((verb, [order, argv @ ..])) if verb == RUN => {
                let order = serde_json::from_str(order).map_err(|error| error.to_string())?;
                run::run(&order, argv)
            }
            Some((verb, [order])) if verb == COMPILE => {
                let order = serde_json::from_str(order).map_err(|error| error.to_string())?;
                Ok(compile::compile(&order))
            }
            _ => Err("neither an order to run nor one to compile".to_owned()),
        }
    });
    let ended = match done {
        Ok(Ok(ended)) => ended,
        Ok(Err(why)) => Ended::By(End::OurFault, why),
        Err(_) => Ended::By(End::OurFault, "a mistake of ours".to_owned()),
    };
    end(ended)
}

fn end(ended: Ended) -> ! {
    /// What a shell says of SIGABRT: should the signal not come through, this does.
    const ABORTED: u8 = 134;
    const SIGABRT: i32 = 6;
    // Whoever should read it may be gone.
    let _nobody_reads = std::io::stdout().flush();
    let (why, signal) = match ended {
        Ended::Code(code) => ending::exit_now(code),
        Ended::Trap(why) => (why, SIGABRT),
        Ended::By(end, why) => (why, end.signal()),
    };
    let _nobody_reads = writeln!(std::io::stderr(), "bailiwick: wasm: {why}");
    if let Ok(own) = i32::try_from(std::process::id()) {
        // If it cannot be sent, the code below says that something was wrong.
        let _unsent = signals::send(own, signal);
    }
    ending::exit_now(ABORTED)
}
