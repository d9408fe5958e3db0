//! Limits: memory, time, steps, files and output, each seen to hold against a program that means to get past it.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Exit, Limit, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_types::ErrorCode;

use crate::guests::{fills_the_disk, program, sleeps, talks};
use crate::place::{Place, complaint, path, spec, wait, words};

tests!(
    memory_that_is_refused_is_told_to_the_program,
    a_program_that_cannot_go_on_without_memory_is_out_of_memory,
    a_deadline_ends_whatever_a_program_does,
    a_program_has_as_many_steps_as_it_was_given,
    its_files_have_a_bound,
    output_has_a_bound,
    a_thousand_memories_are_not_begun,
    a_compiler_has_a_deadline,
);

fn with(image: &str, limit: Limit, amount: &str) -> SandboxSpec {
    let mut spec = spec(image);
    spec.limits = spec.limits.with(limit, amount).expect("a limit");
    spec
}

/// Grows until that is refused, and then does something.
fn grows(then: &str) -> String {
    program(&format!(
        "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) {then}"
    ))
}

fn memory_that_is_refused_is_told_to_the_program() {
    let place = Place::new();
    wait(async {
        // Ends with the mebibytes that it has in the end: all that it may have, to the last that fits.
        let text = grows("(call $exit (i32.div_u (memory.size) (i32.const 16)))");
        let sandbox = place.create(with(&place.image("grows.wasm", &text), Limit::Memory, "16MiB")).await;
        let result = sandbox.expect("a sandbox").exec(words(&["guest"])).await.expect("it runs");
        assert_eq!((result.exit, result.oom), (Exit::Code(15), false), "{}", complaint(&result));
    });
}

fn a_program_that_cannot_go_on_without_memory_is_out_of_memory() {
    let place = Place::new();
    let tables = r#"(module (table $t 1 funcref) (func (export "_start")
        (loop $again (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 100000)) (i32.const -1))))
        unreachable))"#;
    let at_birth = r#"(module (memory 1000) (func (export "_start")))"#;
    let many = r#"(module (memory $a 1) (memory $b 1) (func (export "_start")
        (loop $again
          (br_if $again (i32.ne (memory.grow $a (i32.const 16)) (i32.const -1))))
        (loop $again
          (br_if $again (i32.ne (memory.grow $b (i32.const 16)) (i32.const -1))))
        (if (i32.le_u (i32.add (memory.size $a) (memory.size $b)) (i32.const 256)) (then unreachable))))"#;
    wait(async {
        for (name, text) in [
            ("grows.wasm", grows("unreachable")),
            ("tables.wasm", tables.to_owned()),
            ("at-birth.wasm", at_birth.to_owned()),
            ("many.wasm", many.to_owned()),
        ] {
            let sandbox = place.create(with(&place.image(name, &text), Limit::Memory, "16MiB")).await;
            let result = sandbox.expect("a sandbox").exec(words(&["guest"])).await.expect("it runs");
            let told = (result.exit, result.oom, result.timed_out);
            assert_eq!(told, (Exit::Signal(9), true, false), "{name}: {}", complaint(&result));
        }
    });
}

fn a_deadline_ends_whatever_a_program_does() {
    let place = Place::new();
    let forever = "(loop $again (br $again))";
    let at_birth = format!(r#"(module (func $forever {forever}) (start $forever) (func (export "_start")))"#);
    wait(async {
        for (name, text) in
            [("computes.wasm", program(forever)), ("at-birth.wasm", at_birth), ("sleeps.wasm", sleeps())]
        {
            let sandbox = place.create(with(&place.image(name, &text), Limit::Timeout, "300ms")).await;
            let sandbox = sandbox.expect("a sandbox");
            let began = Instant::now();
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            let took = began.elapsed();
            assert_eq!(
                (result.exit, result.timed_out),
                (Exit::Signal(9), true),
                "{name}: {}",
                complaint(&result)
            );
            assert_eq!(result.exit_status(), 124);
            assert!(took >= Duration::from_millis(290) && took < Duration::from_secs(10), "{name}: {took:?}");
            assert!(sandbox.is_alive(), "{name}");
        }
    });
}

fn a_program_has_as_many_steps_as_it_was_given() {
    let place = Place::with(|options| options.fuel = Some(1_000_000));
    let counts = |to: u32| {
        program(&format!(
            "(local $n i32) (loop $again (local.set $n (i32.add (local.get $n) (i32.const 1)))
             (br_if $again (i32.lt_u (local.get $n) (i32.const {to}))))"
        ))
    };
    wait(async {
        for (name, to, ends) in [("few.wasm", 1000, true), ("many.wasm", 100_000_000, false)] {
            let sandbox = place.create(spec(&place.image(name, &counts(to)))).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(result.timed_out, !ends, "{name}: {:?}", result.exit);
            assert_eq!(complaint(&result).contains("its fuel is used up"), !ends, "{}", complaint(&result));
            let told = sandbox.receipt().walls.iter().find(|part| part.demand == "timeout");
            let told = &told.expect("it is there").mechanism;
            assert!(told.starts_with("wasmtime: 1000000 steps of fuel, and the end of an epoch"), "{told}");
        }
    });
}

fn its_files_have_a_bound() {
    const NO_SPACE: i32 = 51;
    let place = Place::new();
    wait(async {
        // /tmp is the first that is handed over, for its name is the shortest.
        let spec = with(&place.image("fills.wasm", &fills_the_disk()), Limit::Disk, "4MiB");
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(NO_SPACE), "{}", complaint(&result));
        let list = sandbox.list(&path("/tmp")).await.expect("a list");
        let bytes: u64 = list.iter().map(|entry| entry.bytes).sum();
        assert!((1 << 20..=4 << 20).contains(&bytes), "{bytes}");
    });
}

fn output_has_a_bound() {
    let place = Place::new();
    wait(async {
        let mut spec = with(&place.image("talks.wasm", &talks()), Limit::Timeout, "1s");
        spec.limits = spec.limits.with(Limit::Output, "100KiB").expect("a limit");
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
        assert_eq!(result.stdout.bytes.len(), 100 * 1024);
        assert!(result.stdout.truncated && result.timed_out);
    });
}

fn a_thousand_memories_are_not_begun() {
    let place = Place::new();
    wait(async {
        let memories = "(memory 1)".repeat(90);
        let text = format!(r#"(module {memories} (func (export "_start")))"#);
        let result = place.run(&text).await;
        assert_eq!(result.exit, Exit::NotExecutable, "{}", complaint(&result));
        assert!(complaint(&result).contains("memory count too high at 90"), "{}", complaint(&result));
        // More than the engine takes in one module at all is not even compiled.
        let memories = "(memory 1)".repeat(1000);
        let image = place.image("thousand.wasm", &format!(r#"(module {memories} (func (export "_start")))"#));
        let error = place.create(spec(&image)).await.expect_err("a refusal");
        assert!(error.to_string().contains("no program in WebAssembly that can be run here"), "{error}");
    });
}

fn a_compiler_has_a_deadline() {
    let place = Place::with(|options| options.compile.timeout.value = Duration::from_millis(1));
    wait(async {
        let image = place.image("late.wasm", &program(""));
        let error = place.create(spec(&image)).await.expect_err("a refusal");
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        assert!(error.to_string().contains("it could not be compiled within 1ms"), "{error}");
    });
}
