//! The agent as a program of its own, for walls that somebody else builds: its standard input and output are the stream to the host.

use std::process::ExitCode;

use bailiwick_agent::ToHost;
use bailiwick_sys::{descriptors, ending};

fn main() -> ExitCode {
    let streams = descriptors::take_standard();
    match streams {
        Ok((from, to)) => ending::exit_now(bailiwick_agent::seat::take(ToHost { from, to: Some(to) })),
        Err(_) => ExitCode::from(bailiwick_agent::OUR_FAULT),
    }
}
