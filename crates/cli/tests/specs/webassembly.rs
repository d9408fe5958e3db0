//! `specs/wasm`: attacks of programs in WebAssembly, also as an ordinary user and where nothing is enforced.

use std::path::Path;

use bailiwick_testkit::{Group, Program, Specs, has};

use crate::hollow::has_python;
use crate::{bailiwick, group, holds, specs, wins};

/// What every attack begins with.
const ATTEMPT: &str = include_str!("../../../../specs/wasm/attempt.wat");

/// The program is started by something that left a descriptor open and a secret in the environment.
fn area(program: &Path, area: &str) -> Specs {
    Specs::new(program, &specs("wasm").join(area))
        .webassembly(ATTEMPT)
        .behind(&["/bin/sh", "-c", "exec \"$@\" 7</etc/passwd", "leaking"])
        .variable("SECRET", "of-the-host")
}

fn has_sandboxes() -> bool {
    has("sandboxes", Program::new(bailiwick()).run(&["exec", "--", "/bin/true"]).code == Some(0))
}

fn has_nobody() -> bool {
    has("root", rustix::process::geteuid().is_root() && Path::new("/usr/bin/setpriv").exists())
}

pub(crate) fn groups() -> Vec<Group> {
    let attacks = |name: &'static str| move || area(bailiwick(), name);
    let by_nobody = || area(bailiwick(), "escape").by_nobody();
    vec![
        group("wasm::escape", attacks("escape"), holds, has_sandboxes),
        group("wasm::escape_by_nobody", by_nobody, holds, || has_sandboxes() && has_nobody()),
        group("wasm::limits", attacks("limits"), holds, || has_sandboxes() && has_python()),
    ]
}

/// Node.js runs the programs without a wall.
pub(crate) fn hollow() -> Group {
    let hollow = || area(&specs("hollow/wasm"), "escape");
    group("hollow::wasm", hollow, wins, || has("node", Path::new("/usr/bin/node").exists()))
}
