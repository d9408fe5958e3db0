//! `specs/commands`: attacks on the wall of commands, as root, as an ordinary user, and where there is no wall.

use std::path::Path;

use bailiwick_testkit::{Specs, hollow, requires};

use crate::specs::{check_all, specs};

/// What every attack in Python begins with.
const ATTEMPT: &str = include_str!("../../../../specs/commands/attempt.py");

/// What images are packed with.
const PACKED: &str = include_str!("../../../../specs/commands/packed.py");

/// The program is started by something that left a descriptor open and a secret in the environment.
fn area(program: &Path, area: &str) -> Specs {
    Specs::new(program, &specs("commands").join(area))
        .preamble(ATTEMPT)
        .behind(&["/bin/sh", "-c", "exec \"$@\" 7</etc/passwd", "leaking"])
        .variable("SECRET", "of-the-host")
        .home_file("packed.py", PACKED)
}

fn bailiwick(name: &str) -> Specs {
    area(Path::new(env!("CARGO_BIN_EXE_bailiwick")), name)
}

fn has_python() -> bool {
    Path::new("/usr/bin/python3").exists()
}

fn can_become_nobody() -> bool {
    rustix::process::geteuid().is_root() && Path::new("/usr/bin/setpriv").exists()
}

#[test]
fn no_command_gets_out_of_its_sandbox() {
    requires!("python3", has_python());
    check_all(&bailiwick("escape"), 60);
}

#[test]
fn no_command_of_an_ordinary_user_gets_out_of_its_sandbox() {
    requires!("python3", has_python());
    requires!("root", can_become_nobody());
    check_all(&bailiwick("escape").by_nobody(), 60);
}

#[test]
fn commands_reach_the_files_that_they_were_given_and_no_others() {
    requires!("python3", has_python());
    check_all(&bailiwick("fs"), 15);
}

#[test]
fn commands_of_an_ordinary_user_reach_the_files_that_they_were_given_and_no_others() {
    requires!("python3", has_python());
    requires!("root", can_become_nobody());
    check_all(&bailiwick("fs").by_nobody(), 15);
}

#[test]
fn nothing_of_an_overlay_lands_where_it_should_not() {
    requires!("python3", has_python());
    check_all(&bailiwick("overlay"), 10);
}

#[test]
fn nothing_of_an_overlay_of_an_ordinary_user_lands_where_it_should_not() {
    requires!("python3", has_python());
    requires!("root", can_become_nobody());
    check_all(&bailiwick("overlay").by_nobody(), 10);
}

#[test]
fn no_image_reaches_out_of_itself() {
    requires!("python3", has_python());
    check_all(&bailiwick("images"), 35);
}

#[test]
fn no_image_of_an_ordinary_user_reaches_out_of_itself() {
    requires!("python3", has_python());
    requires!("root", can_become_nobody());
    check_all(&bailiwick("images").by_nobody(), 35);
}

#[test]
fn commands_end_at_their_limits_and_the_host_goes_on_answering() {
    requires!("python3", has_python());
    check_all(&bailiwick("limits").one_at_a_time(), 10);
}

#[test]
fn commands_of_an_ordinary_user_end_at_their_limits_and_the_host_goes_on_answering() {
    requires!("python3", has_python());
    requires!("root", can_become_nobody());
    check_all(&bailiwick("limits").by_nobody().one_at_a_time(), 10);
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
