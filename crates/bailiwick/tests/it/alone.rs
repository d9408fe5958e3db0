//! A part of a test in a process of its own: this binary again, told by its first argument what to do.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Output};

use crate::{
    asking, chaos, dropping, exhaustion, hostile, kills, memory_of_cells, pressure, sealed, standing,
    surroundings, walls,
};

/// What comes before the name of a role.
const MARK: &str = "--role=";

/// What such a process can be told to do. Each panics when it fails.
const ROLES: &[(&str, fn())] = &[
    ("asking_dropped", asking::dropped_role),
    ("asking_standstill", asking::standstill_role),
    ("dropped_calls", chaos::dropped_calls_role),
    ("nurseries_killed", chaos::nurseries_killed_role),
    ("cell_stopped", chaos::cell_stopped_role),
    ("nursery_stopped", chaos::nursery_stopped_role),
    ("dropping", dropping::role),
    ("leaving", dropping::leaving_role),
    ("descriptors_bounded", exhaustion::bounded_role),
    ("descriptors_taken", exhaustion::taken_role),
    ("descriptors_absent", exhaustion::absent_role),
    ("descriptors_run_out", exhaustion::run_out_role),
    ("hostile", hostile::role),
    ("parked_cells_killed", kills::parked_role),
    ("cells_just_killed", kills::just_killed_role),
    ("running_cell_killed", kills::running_role),
    ("nursery_killed", kills::nursery_role),
    ("dropped_call", kills::dropped_call_role),
    ("memory_of_cells", memory_of_cells::role),
    ("memory_of_calls", memory_of_cells::calls_role),
    ("memory_of_sealed", sealed::memory_role),
    ("renewal", pressure::renewal_role),
    ("slow_host", pressure::slow_host_role),
    ("standing", standing::role),
    ("bounded", surroundings::bounded_role),
    ("children_ignored", surroundings::children_ignored_role),
    ("program_deleted", surroundings::program_deleted_role),
    ("walls", walls::role),
];

/// Does what the first argument tells, if it tells anything.
pub(crate) fn play_role() -> Option<ExitCode> {
    let first = std::env::args().nth(1)?;
    let name = first.strip_prefix(MARK)?;
    let Some((_, role)) = ROLES.iter().find(|(known, _)| *known == name) else {
        panic!("there is no role `{name}`");
    };
    role();
    Some(ExitCode::SUCCESS)
}

/// The argument that asks for a role.
pub(crate) fn argument(role: &str) -> String {
    format!("{MARK}{role}")
}

/// This binary.
pub(crate) fn program() -> PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// This binary, to be started with a role.
pub(crate) fn command(role: &str) -> Command {
    let mut command = Command::new(program());
    command.arg(argument(role));
    command
}

/// Runs a role in a process of its own and gives what it printed.
#[track_caller]
pub(crate) fn in_a_process_of_its_own(role: &str) -> String {
    succeeds(&mut command(role))
}

/// Runs a command that has to succeed, shows what it printed, and gives it.
#[track_caller]
pub(crate) fn succeeds(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the process starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?} ended with {status}\n{stdout}\n{stderr}");
    if !stdout.is_empty() {
        crate::output::line(stdout.trim_end());
    }
    stdout.into_owned()
}
