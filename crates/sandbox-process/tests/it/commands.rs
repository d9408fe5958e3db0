//! Commands: how they begin, what they have, how they end.

use bailiwick_sandbox::{Chunk, Exit, Input, Sandbox, SandboxError, Stream, feed};
use bailiwick_testkit::tests;
use bytes::Bytes;

use crate::place::{Place, path, said, sh, shell, wait, words};

tests!(
    a_command_that_reads_nothing_holds_nobody_up,
    streams_come_while_it_runs,
    files_are_kept_between_commands,
    a_folder_that_is_not_there_is_told,
    many_commands_run_at_once,
    a_command_that_is_told_to_end_does,
);

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
