//! Commands: what a program is given, what it says, how it ends.

use bailiwick_sandbox::{Exit, Input, run_to_end};
use bailiwick_testkit::tests;
use bailiwick_types::Tier;
use bytes::Bytes;

use crate::guests::{component, echoes, exits, program, says, sleeps};
use crate::place::{Place, complaint, said, spec, wait, words};

tests!(
    how_a_program_ends_comes_through,
    a_trap_is_told_in_words,
    what_it_says_comes_out,
    what_it_is_given_comes_in_whole,
    components_run_too,
    a_program_that_is_told_to_end_does,
    many_commands_run_in_one_sandbox_at_once,
    a_program_counts_no_file_of_ours_as_its_own,
);

fn how_a_program_ends_comes_through() {
    let place = Place::new();
    let deep = r#"(module (func $deep (export "_start") (call $deep) (call $deep)))"#.to_owned();
    wait(async {
        for (number, (text, exit)) in [
            (program(""), Exit::Code(0)),
            (exits(0), Exit::Code(0)),
            (exits(7), Exit::Code(7)),
            (exits(125), Exit::Code(125)),
            (program("unreachable"), Exit::Signal(6)),
            (program("(drop (i32.div_s (i32.const 1) (i32.const 0)))"), Exit::Signal(6)),
            (program("(drop (i32.load (i32.const -4)))"), Exit::Signal(6)),
            (exits(126), Exit::Signal(6)),
            (deep, Exit::Signal(6)),
        ]
        .into_iter()
        .enumerate()
        {
            let image = place.image(&format!("{number}.wasm"), &text);
            let sandbox = place.create(spec(&image)).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(result.exit, exit, "{text}: {}", complaint(&result));
            assert!(!result.timed_out && !result.oom, "{text}");
            assert_eq!((result.backend.as_str(), result.tier), ("wasm", Tier::UserKernel));
        }
    });
}

fn a_trap_is_told_in_words() {
    let place = Place::new();
    wait(async {
        let result = place.run(&program("unreachable")).await;
        assert_eq!(
            complaint(&result),
            "bailiwick: wasm: wasm trap: wasm `unreachable` instruction executed\n"
        );
    });
}

fn what_it_says_comes_out() {
    let place = Place::new();
    wait(async { assert_eq!(said(&place.run(&says("hello")).await), "hello") });
}

fn what_it_is_given_comes_in_whole() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&echoes()).await;
        let input: Vec<u8> =
            (0..300_000_u32).map(|number| u8::try_from(number % 251).expect("a byte")).collect();
        let command = words(&["guest"]).with_input(Bytes::from(input.clone())).expect("an input");
        let result = sandbox.exec(command).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(0), "{}", complaint(&result));
        assert_eq!(result.stdout.bytes.len(), input.len());
        assert!(result.stdout.bytes == input);
        // Without any there is nothing to wait for.
        assert_eq!(said(&sandbox.exec(words(&["guest"])).await.expect("it runs")), "");
        let mut command = words(&["guest"]);
        command.piped = true;
        let running = sandbox.spawn(command.clone()).await.expect("it runs");
        running.input.send(Input::Bytes(Bytes::from_static(b"one "))).await.expect("it hears");
        running.input.send(Input::Bytes(Bytes::from_static(b"two"))).await.expect("it hears");
        let finished = run_to_end(running, &command, 1024).await.expect("an end");
        assert_eq!((finished.ended.exit, finished.stdout.bytes.as_ref()), (Exit::Code(0), &b"one two"[..]));
    });
}

fn components_run_too() {
    let place = Place::new();
    wait(async {
        for (name, text, code) in [("well.wasm", component(true), 0), ("badly.wasm", component(false), 1)] {
            let sandbox = place.create(spec(&place.image(name, &text))).await.expect("a sandbox");
            let result = sandbox.exec(words(&["guest"])).await.expect("it runs");
            assert_eq!(result.exit, Exit::Code(code), "{}", complaint(&result));
        }
    });
}

fn a_program_that_is_told_to_end_does() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&sleeps()).await;
        for (told, exit) in [(Input::Kill, Exit::Signal(9)), (Input::Signal(15), Exit::Signal(15))] {
            let running = sandbox.spawn(words(&["guest"])).await.expect("it runs");
            running.urgent.send(told).await.expect("it hears");
            let ended = running.ended.await.expect("an end").expect("an end");
            assert_eq!((ended.exit, ended.timed_out, ended.oom), (exit, false, false));
        }
    });
}

fn many_commands_run_in_one_sandbox_at_once() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox(&says("one of many")).await;
        let all = (0..8).map(|_| sandbox.exec(words(&["guest"])));
        let mut all: Vec<_> = all.collect();
        for one in &mut all {
            assert_eq!(said(&one.await.expect("it runs")), "one of many");
        }
    });
}

fn a_program_counts_no_file_of_ours_as_its_own() {
    let place = Place::new();
    wait(async {
        // The folders that it is handed are numbered from 3: the first one that is not there ends it with "bad descriptor".
        let text = crate::guests::opens(6, "x", false);
        assert_eq!(
            place.run(&text).await.exit,
            Exit::Code(8),
            "/work, /tmp and the one it begins in are all"
        );
    });
}
