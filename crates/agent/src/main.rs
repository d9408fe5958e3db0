//! The agent as a program of its own, for walls that somebody else builds: its standard input and output are the stream to the host.
//! With one word, it is the first process of a machine; a second word says how streams lead out of that.

use std::process::ExitCode;

use bailiwick_agent::ToHost;
use bailiwick_agent::machine::Streams;
use bailiwick_sys::{descriptors, ending};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(bailiwick_wire::machine::WORD) {
        // Only if it could not turn the machine off.
        let _still_on = bailiwick_agent::machine::live(Streams::of(words.next().as_deref()));
        return ExitCode::from(bailiwick_agent::OUR_FAULT);
    }
    let streams = descriptors::take_standard();
    match streams {
        Ok((from, to)) => ending::exit_now(bailiwick_agent::seat::take(ToHost { from, to: Some(to) })),
        Err(_) => ExitCode::from(bailiwick_agent::OUR_FAULT),
    }
}
