//! The same line and the same program on every backend: only the name after `--backend` differs.

use std::path::{Path, PathBuf};

use bailiwick_testkit::{Program, Run, requires};

use super::exec::has_sandboxes;
use super::matrix::backing::Backing;

/// Every backend, and how strong its wall is here.
const ALL: [(&str, &str); 6] = [
    ("process", "PROCESS"),
    ("container", "CONTAINER"),
    ("gvisor", "USER_KERNEL"),
    ("wasm", "USER_KERNEL"),
    ("microvm", "MICRO_VM"),
    ("remote", "PROCESS"),
];

fn bailiwick() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_bailiwick"))
}

/// `examples/everywhere.rs`, built.
fn everywhere() -> PathBuf {
    bailiwick().with_file_name("examples").join("everywhere")
}

/// Runs a program with a backend's settings.
fn run(program: &Path, backing: &Backing, words: &[&str], input: &str) -> Run {
    let program = backing
        .variables
        .iter()
        .fold(Program::new(program), |program, (name, value)| program.with_variable(name, value));
    program.run_with_input(words, input)
}

#[test]
fn the_same_program_runs_on_every_backend() {
    requires!("sandboxes", has_sandboxes());
    for (backend, tier) in ALL {
        let Some(backing) = Backing::of(bailiwick(), Some(backend), "") else { continue };
        let ran = run(&everywhere(), &backing, &["--backend", backend], "");
        let told = format!("0 on {backend}, {tier}: ");
        assert!(ran.code == Some(0) && ran.stdout.starts_with(&told), "{backend}: {ran:?}");
    }
}

#[test]
fn the_same_line_runs_on_every_backend() {
    requires!("sandboxes", has_sandboxes());
    for (backend, _) in ALL {
        // What runs in WebAssembly is a program in WebAssembly, and has a line of its own.
        if backend == "wasm" {
            continue;
        }
        let Some(backing) = Backing::of(bailiwick(), Some(backend), "") else { continue };
        let line =
            ["-q", "exec", "-i", "--backend", backend, "--", "/bin/sh", "-c", "cat; echo no >&2; exit 5"];
        let ran = run(bailiwick(), &backing, &line, "what is typed\n");
        let told = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(told, (Some(5), "what is typed\n", "no\n"), "{backend}");
    }
}
