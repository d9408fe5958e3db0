//! The same line and the same program on every backend: only the name after `--backend` differs.

#![expect(clippy::expect_used, reason = "a fixture that cannot be made ends its test")]

use std::path::{Path, PathBuf};

use bailiwick_testkit::{Backing, Program, requires};

use super::exec::has_sandboxes;

/// Every backend, and how strong its wall is here.
const ALL: [(&str, &str); 6] = [
    ("process", "PROCESS"),
    ("container", "CONTAINER"),
    ("gvisor", "USER_KERNEL"),
    ("wasm", "USER_KERNEL"),
    ("microvm", "MICRO_VM"),
    ("remote", "PROCESS"),
];

/// Gives back what it reads, says one word more, and ends with 5.
const TELL: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 32) "no\0a")
  (func (export "_start")
    (loop $more
      (i32.store (i32.const 0) (i32.const 1024))
      (i32.store (i32.const 4) (i32.const 4096))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (i32.store (i32.const 4) (i32.load (i32.const 8)))
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12)))
      (br_if $more (i32.load (i32.const 8))))
    (i32.store (i32.const 0) (i32.const 32))
    (i32.store (i32.const 4) (i32.const 3))
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 12)))
    (call $exit (i32.const 5))))"#;

fn bailiwick() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_bailiwick"))
}

/// `examples/everywhere.rs`, built.
fn everywhere() -> PathBuf {
    bailiwick().with_file_name("examples").join("everywhere")
}

/// A program with a backend's settings.
fn on(program: &Path, backing: &Backing) -> Program {
    let variables = backing.variables.iter();
    variables.fold(Program::new(program), |program, (name, value)| program.with_variable(name, value))
}

/// What such a line is to give: what was typed, a word of trouble, and its own code.
#[track_caller]
fn check(program: &Program, line: &[&str], backend: &str) {
    let ran = program.run_with_input(line, "what is typed\n");
    let told = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
    assert_eq!(told, (Some(5), "what is typed\n", "no\n"), "{backend}");
}

#[test]
fn the_same_program_runs_on_every_backend() {
    requires!("sandboxes", has_sandboxes());
    for (backend, tier) in ALL {
        let Some(backing) = Backing::of(bailiwick(), Some(backend), "") else { continue };
        let ran = on(&everywhere(), &backing).run(&["--backend", backend]);
        let told = format!("0 on {backend}, {tier}: ");
        assert!(ran.code == Some(0) && ran.stdout.starts_with(&told), "{backend}: {ran:?}");
    }
}

#[test]
fn the_same_line_runs_on_every_backend_that_has_the_programs_of_this_machine() {
    requires!("sandboxes", has_sandboxes());
    // What runs in WebAssembly comes with an image: the next test is about those.
    for (backend, _) in ALL.into_iter().filter(|(backend, _)| *backend != "wasm") {
        let Some(backing) = Backing::of(bailiwick(), Some(backend), "") else { continue };
        let line =
            ["-q", "exec", "-i", "--backend", backend, "--", "/bin/sh", "-c", "cat; echo no >&2; exit 5"];
        check(&on(bailiwick(), &backing), &line, backend);
    }
}

/// An image of an engine's own, as long as this lives.
struct AtEngine<'a> {
    socket: &'a str,
    name: &'a str,
}

impl<'a> AtEngine<'a> {
    fn import(socket: &'a str, root: &Path, name: &'a str) -> Self {
        let import = "tar -C \"$1\" -c . | docker --host \"unix://$0\" import - \"$2\"";
        let done = sh(&["-c", import, socket, root.to_str().expect("a path"), name]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Self { socket, name }
    }
}

impl Drop for AtEngine<'_> {
    fn drop(&mut self) {
        sh(&["-c", "docker --host \"unix://$0\" rmi -f \"$1\"", self.socket, self.name]);
    }
}

#[expect(clippy::disallowed_methods, reason = "the engine's own program, which keeps an image of a test")]
fn sh(words: &[&str]) -> std::process::Output {
    std::process::Command::new("/bin/sh").args(words).output().expect("a shell")
}

/// An image may have a program for both: one for processors, and at its top one in WebAssembly.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of an image, written by its test")]
fn the_same_line_with_the_same_image_runs_on_every_backend() {
    requires!("sandboxes", has_sandboxes());
    let shell = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|shell| Path::new(shell).is_file());
    requires!("busybox", shell.is_some());
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("image");
    std::fs::create_dir_all(root.join("bin")).expect("a folder");
    std::fs::copy(shell.expect("a shell"), root.join("bin/busybox")).expect("a program");
    for name in ["sh", "cat"] {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(name)).expect("a link");
    }
    std::fs::write(root.join("bin/tell"), "cat\necho no >&2\nexit 5\n").expect("a script");
    std::fs::write(root.join("tell.wasm"), wat::parse_str(TELL).expect("a module")).expect("a module");
    let name = format!("tell.wasm:{}", std::process::id());
    for (backend, _) in ALL {
        let Some(backing) = Backing::of(bailiwick(), Some(backend), "") else { continue };
        let program = on(bailiwick(), &backing);
        let at_engine = backing.socket().map(|socket| AtEngine::import(socket, &root, &name));
        if at_engine.is_none() {
            let whose = backing.server().unwrap_or(&program);
            let imported = whose.run(&["image", "import", root.to_str().expect("a path"), &name]);
            assert_eq!(imported.code, Some(0), "{backend}: {}", imported.stderr);
        }
        let line = ["-q", "exec", "-i", "--backend", backend, "--image", &name, "--", "/bin/sh", "/bin/tell"];
        check(&program, &line, backend);
    }
}
