//! `specs/commands`: attacks on the wall of commands, where there is no wall; those on every backend are in `matrix`.

use std::path::Path;

use bailiwick_testkit::{Specs, hollow, requires};

use crate::specs::specs;

/// What every attack in Python begins with.
const ATTEMPT: &str = include_str!("../../../../specs/commands/attempt.py");

/// What images are packed with.
const PACKED: &str = include_str!("../../../../specs/commands/packed.py");

/// The program is started by something that left a descriptor open and a secret in the environment.
pub(crate) fn area(program: &Path, area: &str) -> Specs {
    Specs::new(program, &specs("commands").join(area))
        .preamble(ATTEMPT)
        .behind(&["/bin/sh", "-c", "exec \"$@\" 7</etc/passwd", "leaking"])
        .variable("SECRET", "of-the-host")
        .home_file("packed.py", PACKED)
}

fn has_python() -> bool {
    Path::new("/usr/bin/python3").exists()
}

/// Where there is no wall every attack wins, and says so: one that does not would prove nothing of a wall.
#[test]
fn every_attack_of_a_command_wins_without_walls() {
    requires!("python3", has_python());
    requires!("root", hollow::is_possible());
    hollow::run(|| {
        for name in ["escape", "fs", "overlay", "images"] {
            let hollow =
                area(&specs("hollow/commands"), name).variable("BAILIWICK_TEST_HOLLOW", "in its box");
            let results = hollow.run();
            let lost: Vec<&str> = results
                .iter()
                .filter(|(_, wrong)| !wrong.as_ref().is_some_and(|wrong| wrong.contains("ESCAPED")))
                .map(|(name, _)| name.as_str())
                .collect();
            assert!(lost.is_empty(), "of {} attacks these do not win: {lost:?}", results.len());
        }
    });
}
