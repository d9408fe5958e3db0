//! Commands: how they begin, what they have, how they end.

use std::time::Duration;

use bailiwick_sandbox::{Chunk, Exit, Input, Sandbox, SandboxError, Stream, Window, feed};
use bailiwick_testkit::tests;
use bytes::Bytes;

use crate::place::{Place, path, said, sh, shell, spec, wait, words};

tests!(
    how_a_command_ends_comes_through,
    a_program_that_is_not_there_or_cannot_run_is_told_apart,
    a_command_has_exactly_its_variables,
    input_comes_in_and_output_goes_out_whole,
    a_command_that_reads_nothing_holds_nobody_up,
    streams_come_while_it_runs,
    a_terminal_is_one,
    files_are_kept_between_commands,
    a_folder_that_is_not_there_is_told,
    many_commands_run_at_once,
    a_command_that_is_told_to_end_does,
    what_is_above_the_limit_on_output_is_dropped_and_told,
);

fn how_a_command_ends_comes_through() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for (text, exit) in [
            ("exit 0", Exit::Code(0)),
            ("exit 7", Exit::Code(7)),
            ("exit 255", Exit::Code(255)),
            ("kill -TERM $$", Exit::Signal(15)),
            ("kill -SEGV $$", Exit::Signal(11)),
            ("kill -KILL $$", Exit::Signal(9)),
        ] {
            let result = sandbox.exec(shell(text)).await.expect("it runs");
            assert_eq!(result.exit, exit, "{text}");
            assert!(!result.timed_out && !result.oom, "{text}");
        }
    });
}

fn a_program_that_is_not_there_or_cannot_run_is_told_apart() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for (program, exit) in [
            ("no-such-program", Exit::NotFound),
            ("/no/such/program", Exit::NotFound),
            ("/etc/passwd", Exit::NotExecutable),
            ("/usr", Exit::NotExecutable),
        ] {
            let result = sandbox.exec(words(&[program])).await.expect("an answer");
            assert_eq!(result.exit, exit, "{program}");
        }
    });
}

fn a_command_has_exactly_its_variables() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.env.insert("COLOUR".to_owned(), "blue".to_owned());
        spec.env.insert("LANG".to_owned(), "C".to_owned());
        let sandbox = place.create(spec).await.expect("a sandbox");
        let mut command = words(&["env"]);
        command.env.insert("SHAPE".to_owned(), "round".to_owned());
        let mut lines: Vec<String> =
            said(&sandbox.exec(command).await.expect("it runs")).lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "COLOUR=blue",
                "HOME=/work",
                "LANG=C",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SHAPE=round",
                "TMPDIR=/tmp",
            ]
        );
    });
}

fn input_comes_in_and_output_goes_out_whole() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.output.value = 16 << 20;
        let sandbox = place.create(spec).await.expect("a sandbox");
        let input: Vec<u8> = (0..5_000_000_u32).map(|n| u8::try_from(n % 251).unwrap_or(0)).collect();
        let command = words(&["cat"]).with_input(Bytes::from(input.clone())).expect("some input");
        let result = sandbox.exec(command).await.expect("it runs");
        assert!(result.stdout.bytes == input, "what came out is what went in");
        assert!(!result.stdout.truncated);
        let nothing = sandbox.exec(words(&["cat"])).await.expect("it runs");
        assert_eq!(nothing.stdout.bytes.len(), 0, "without input there is an end of it");
    });
}

fn a_command_that_reads_nothing_holds_nobody_up() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let command = words(&["true"]).with_input(Bytes::from(vec![1; 5_000_000])).expect("some input");
        assert_eq!(sandbox.exec(command).await.expect("it runs").exit, Exit::Code(0));
        assert_eq!(sh(sandbox.as_ref(), "echo still here").await, "still here\n");
    });
}

fn streams_come_while_it_runs() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut command = shell("read a; echo got $a; read b; echo $b >&2; exit 3");
        command.piped = true;
        let mut running = sandbox.spawn(command).await.expect("it begins");
        running.input.send(Input::Bytes(Bytes::from_static(b"one\n"))).await.expect("it listens");
        let first = running.output.recv().await.expect("some output");
        assert_eq!(first, Chunk { stream: Stream::Stdout, bytes: Bytes::from_static(b"got one\n") });
        feed(running.input.clone(), Bytes::from_static(b"two\n"), true).await;
        let second = running.output.recv().await.expect("more output");
        assert_eq!(second, Chunk { stream: Stream::Stderr, bytes: Bytes::from_static(b"two\n") });
        let ended = running.ended.await.expect("an end").expect("a good one");
        assert_eq!(ended.exit, Exit::Code(3));
    });
}

fn a_terminal_is_one() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut command = shell("stty size; test -t 0 && test -t 1 && test -t 2 && tty");
        command.terminal = Some(Window { rows: 31, columns: 77 });
        let mut running = sandbox.spawn(command).await.expect("it begins");
        let mut all = Vec::new();
        while let Some(chunk) = running.output.recv().await {
            assert_eq!(chunk.stream, Stream::Stdout);
            all.extend_from_slice(&chunk.bytes);
        }
        let ended = running.ended.await.expect("an end").expect("a good one");
        let text = String::from_utf8_lossy(&all).into_owned();
        assert_eq!(ended.exit, Exit::Code(0), "{text}");
        assert!(text.starts_with("31 77\r\n/dev/pts/"), "{text}");
    });
}

fn files_are_kept_between_commands() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        sh(sandbox.as_ref(), "echo one > note; mkdir -p deep/er; echo two > /tmp/other").await;
        assert_eq!(sh(sandbox.as_ref(), "cat note /tmp/other; ls").await, "one\ntwo\ndeep\nnote\n");
    });
}

fn a_folder_that_is_not_there_is_told() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let mut command = words(&["pwd"]);
        command.cwd = Some(path("/no/such"));
        let error = sandbox.exec(command.clone()).await.expect_err("no folder");
        assert!(matches!(error, SandboxError::File { .. }), "{error}");
        command.cwd = Some(path("/tmp"));
        assert_eq!(said(&sandbox.exec(command).await.expect("it runs")), "/tmp\n");
    });
}

fn many_commands_run_at_once() {
    let place = Place::new();
    wait(async {
        let sandbox: std::sync::Arc<dyn Sandbox> = place.sandbox().await.into();
        let mut tasks = Vec::new();
        for number in 0..20 {
            let sandbox = sandbox.clone();
            tasks.push(tokio::spawn(async move { sh(sandbox.as_ref(), &format!("echo {number}")).await }));
        }
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.expect("no panic"), format!("{number}\n"));
        }
    });
}

fn a_command_that_is_told_to_end_does() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for (told, exit) in [(Input::Signal(15), Exit::Signal(15)), (Input::Kill, Exit::Signal(9))] {
            let mut running = sandbox.spawn(shell("echo on; exec sleep 1000")).await.expect("it begins");
            running.output.recv().await.expect("it runs");
            running.urgent.send(told).await.expect("it listens");
            let ended = running.ended.await.expect("an end").expect("a good one");
            assert_eq!(ended.exit, exit);
            assert!(!ended.timed_out);
        }
    });
}

fn what_is_above_the_limit_on_output_is_dropped_and_told() {
    let place = Place::new();
    wait(async {
        let mut spec = spec();
        spec.limits.output.value = 10_000;
        spec.limits.timeout.value = Duration::from_mins(1);
        let sandbox = place.create(spec).await.expect("a sandbox");
        let text = "head -c 3000000 /dev/zero; head -c 5000 /dev/zero >&2; exit 4";
        let result = sandbox.exec(shell(text)).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(4), "it came to its own end");
        assert_eq!((result.stdout.bytes.len(), result.stdout.truncated), (10_000, true));
        assert_eq!((result.stderr.bytes.len(), result.stderr.truncated), (5_000, false));
    });
}
