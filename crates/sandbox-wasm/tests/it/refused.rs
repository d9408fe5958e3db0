//! What is no program, or none that can be run here: refused in words, and nothing of it is kept.

use bailiwick_sandbox::{Command, Exit, Mount, SandboxError};
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;

use crate::guests::{component, exits, program};
use crate::place::{Place, complaint, path, spec, wait, words};

tests!(
    bytes_that_are_no_module_are_refused,
    an_import_that_nobody_gives_is_named,
    an_image_has_one_module,
    a_shell_is_refused,
    a_file_alone_cannot_be_mounted,
    a_folder_that_is_not_there_is_told,
);

fn bytes_that_are_no_module_are_refused() {
    let place = Place::new();
    let whole = wat::parse_str(exits(0)).expect("a module");
    let header = whole.get(..8).expect("a header").to_vec();
    let with = |rest: &[u8]| [header.as_slice(), rest].concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("a script", b"#!/bin/sh\n".to_vec()),
        ("cut short", whole.get(..whole.len() / 2).expect("a half").to_vec()),
        ("a section that is longer than the file", with(&[1, 0xff, 0xff, 0xff, 0xff, 0x0f])),
        ("four thousand million functions", with(&[3, 5, 0xff, 0xff, 0xff, 0xff, 0x0f])),
        ("a version that is not yet", vec![0, 0x61, 0x73, 0x6d, 9, 0, 0, 0]),
        (
            "a component cut short",
            wat::parse_str(component(true)).expect("a component").get(..40).expect("40").to_vec(),
        ),
        ("already compiled", b"\x7fELF\x02\x01\x01\x00".to_vec()),
    ];
    wait(async {
        for (number, (what, bytes)) in cases.iter().enumerate() {
            let image = place.image_of(&format!("{number}.wasm"), bytes);
            let error = place.create(spec(&image)).await.expect_err(what);
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{what}: {error}");
            assert!(error.to_string().contains("no program in WebAssembly"), "{what}: {error}");
        }
        let kept = std::fs::read_dir(place.compiled()).expect("a folder").count();
        assert_eq!(kept, 0, "nothing is kept of what was refused");
    });
}

fn an_import_that_nobody_gives_is_named() {
    let place = Place::new();
    let module = r#"(module (import "env" "launch" (func)) (func (export "_start")))"#;
    let component = r#"(component (import "acme:rockets/pad@1.0.0" (instance (export "launch" (func)))))"#;
    let library = r#"(module (func (export "add") (param i32 i32) (result i32) (i32.const 0)))"#;
    wait(async {
        for (name, text, named) in [
            ("module.wasm", module, "env::launch"),
            ("component.wasm", component, "acme:rockets/pad"),
            ("library.wasm", library, "_start"),
        ] {
            let sandbox = place.create(spec(&place.image(name, text))).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("an answer");
            assert_eq!(result.exit, Exit::NotExecutable, "{name}: {}", complaint(&result));
            assert!(complaint(&result).contains(named), "{name}: {}", complaint(&result));
        }
    });
}

fn an_image_has_one_module() {
    let place = Place::new();
    wait(async {
        let image = place.image("two.wasm", &program(""));
        let other = place.path().join("images/two.wasm/other.wasm");
        std::fs::write(&other, b"").expect("a file");
        let error = place.create(spec(&image)).await.expect_err("which one?");
        assert!(error.to_string().contains("and this one has 2"), "{error}");
        // A link is no module, wherever it leads.
        std::fs::remove_file(&other).expect("gone");
        std::os::unix::fs::symlink("/etc/passwd", &other).expect("a link");
        place.create(spec(&image)).await.expect("a sandbox");
    });
}

fn a_shell_is_refused() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&program("")).await;
        let error = sandbox.exec(Command::shell("true").expect("a command")).await.expect_err("no shell");
        assert!(matches!(error, SandboxError::Unsupported { .. }), "{error}");
    });
}

fn a_file_alone_cannot_be_mounted() {
    let place = Place::new();
    let file = place.path().join("file");
    std::fs::write(&file, "alone").expect("a file");
    let from = file.canonicalize().expect("a path");
    wait(async {
        let image = place.image("guest.wasm", &program(""));
        for (to, taken) in [("/alone", false), ("/work/alone", true)] {
            let mut spec = spec(&image);
            let mount = Mount { from: from.clone(), to: path(to), writable: false };
            spec.mounts = vec![mount.open_by_name().expect("it is held")];
            let made = place.create(spec).await;
            assert_eq!(made.is_ok(), taken, "{to}: {made:?}");
        }
    });
}

fn a_folder_that_is_not_there_is_told() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&program("")).await;
        let mut command = words(&["guest"]);
        command.cwd = Some(path("/work/nowhere"));
        let result = sandbox.exec(command).await.expect("an answer");
        assert_eq!(result.exit, Exit::NotExecutable);
        assert!(complaint(&result).contains("No such file"), "{}", complaint(&result));
        let mut command = words(&["guest"]);
        command.cwd = Some(path("/etc"));
        let error = sandbox.exec(command).await.expect_err("nobody sees it");
        assert_eq!(error.code(), ErrorCode::NotFound);
    });
}
