//! The agent as a program of its own, for walls that somebody else builds: its standard input and output are the stream to the host.
//! With one word, it is the first process of a machine.

use std::process::ExitCode;

use bailiwick_agent::ToHost;
use bailiwick_sys::{descriptors, ending};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(bailiwick_wire::machine::WORD) {
        // Only if it could not turn the machine off.
        let _still_on = bailiwick_agent::machine::live();
        return ExitCode::from(bailiwick_agent::OUR_FAULT);
    }
    let streams = descriptors::take_standard();
    match streams {
        Ok((from, to)) => ending::exit_now(bailiwick_agent::seat::take(ToHost { from, to: Some(to) })),
        Err(_) => ExitCode::from(bailiwick_agent::OUR_FAULT),
    }
}
