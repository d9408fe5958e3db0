//! The same cases where nothing is enforced: each must go red there, or it proves nothing.

use std::path::Path;

use bailiwick_testkit::{Group, Specs, has, hollow};

use crate::{commands_network, fails, group, specs, webassembly, wins};

/// Areas that a program which does nothing must fail. The JavaScript of `escape` runs in plain Node.js, which has all that the attacks
/// reach for; of system calls that program only says that they went through.
const AREAS: [(&str, &str); 5] = [
    ("policy", "/bin/true"),
    ("fs", "/bin/true"),
    ("secrets", "/bin/true"),
    ("egress", "/bin/true"),
    ("escape", "hollow/bailiwick"),
];

/// Areas of commands whose attacks must win without walls.
const COMMANDS: [&str; 4] = ["escape", "fs", "overlay", "images"];

/// What every attack in Python begins with.
const ATTEMPT: &str = include_str!("../../../../specs/commands/attempt.py");

/// What images are packed with.
const PACKED: &str = include_str!("../../../../specs/commands/packed.py");

/// The program is started by something that left a descriptor open and a secret in the environment.
pub(crate) fn commands(program: &Path, area: &str) -> Specs {
    Specs::new(program, &specs("commands").join(area))
        .preamble(ATTEMPT)
        .behind(&["/bin/sh", "-c", "exec \"$@\" 7</etc/passwd", "leaking"])
        .variable("SECRET", "of-the-host")
        .home_file("packed.py", PACKED)
}

pub(crate) fn has_python() -> bool {
    has("python3", Path::new("/usr/bin/python3").exists())
}

fn has_node() -> bool {
    let paths = ["/usr/bin/node", "/usr/local/bin/node"];
    has("node", paths.iter().any(|path| Path::new(path).exists()))
}

/// Whether root can make namespaces for attacks that nothing stops.
pub(crate) fn has_box() -> bool {
    has("root", hollow::is_possible())
}

pub(crate) fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = AREAS
        .iter()
        .map(|&(area, program)| {
            let hollow = move || Specs::new(&specs(program), &specs(area));
            group(&format!("hollow::{area}"), hollow, fails, move || area != "escape" || has_node())
        })
        .collect();
    groups.extend(COMMANDS.map(|area| {
        let hollow =
            move || commands(&specs("hollow/commands"), area).variable("BAILIWICK_TEST_HOLLOW", "in its box");
        group(&format!("hollow::commands::{area}"), hollow, wins, || has_python() && has_box()).in_a_box()
    }));
    groups.push(webassembly::hollow());
    groups.push(commands_network::hollow());
    groups
}
