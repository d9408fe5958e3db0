//! Commands, files and states of sandboxes at a server, through the interface that every backend has.
#![expect(clippy::expect_used, reason = "a fixture that cannot be made ends its test")]

use std::time::Duration;

use bailiwick_sandbox::{
    Available, Backend, Backends, Command, Demand, Exit, Input, Limit, Location, SandboxError, SandboxPath,
    SandboxSpec, Stream, Window,
};
use bailiwick_testkit::requires;
use bailiwick_types::{ErrorCode, Tier, WallStatus};
use bytes::Bytes;
use std::sync::Arc;

use super::{There, block_on, has_sandboxes, made, out, ran, shell};

fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

#[test]
fn what_a_server_says_of_its_walls_is_passed_on_as_its_word() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = Arc::new(there.backend());
        assert_eq!(
            (backend.tier(), backend.may_be()),
            (Tier::Process, Tier::MicroVm),
            "nothing is known yet"
        );
        let probe = backend.probe().await;
        assert_eq!(probe.availability, Available::Yes, "{probe:?}");
        assert_eq!((backend.tier(), backend.may_be()), (Tier::Process, Tier::Process), "it said so");
        let says = format!("{} says: ", there.address());
        for demand in Demand::ALL {
            let part = probe.enforces.iter().find(|part| part.demand == demand.name());
            let part = part.unwrap_or_else(|| panic!("{demand:?}: {probe:?}"));
            assert!(part.mechanism.starts_with(&says), "{part:?}");
        }
        let all = Backends::new([backend.clone() as Arc<dyn Backend>]);
        let spec = SandboxSpec::default();
        let found = all.select(Tier::Process, Some(Location::Remote), &spec).await.expect("it is there");
        assert_eq!(found.id(), "remote");
        assert!(all.select(Tier::Process, Some(Location::Here), &spec).await.is_err());
        assert!(all.select(Tier::MicroVm, Some(Location::Remote), &spec).await.is_err());
        let sandbox = found.create(spec).await.expect("a sandbox");
        let receipt = sandbox.receipt();
        assert_eq!((receipt.tier, receipt.insecure), (Tier::Process, false));
        assert!(receipt.walls.iter().all(|wall| wall.mechanism.starts_with(&says)), "{receipt:?}");
        let network = receipt.walls.iter().find(|wall| wall.demand == "network").expect("a wall");
        assert_eq!(network.status, WallStatus::Enforced);
        sandbox.terminate().await.expect("it ends");
    });
    there.is_empty();
    there.serving.end();
}

#[test]
fn a_command_there_is_told_and_says_what_one_here_does() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let mut spec = SandboxSpec::default();
        spec.env.insert("OURS".to_owned(), "of the sandbox".to_owned());
        spec.limits = spec.limits.with(Limit::Output, "64KiB").expect("a limit");
        let sandbox = backend.create(spec).await.expect("a sandbox");
        let sandbox = sandbox.as_ref();

        let both = ran(sandbox, "echo \"$OURS\"; echo no >&2; pwd; exit 7").await;
        assert_eq!((both.exit, out(&both).as_str()), (Exit::Code(7), "of the sandbox\n/work\n"));
        assert_eq!(&both.stderr.bytes[..], b"no\n", "streams are told apart");
        assert_eq!(both.backend, "remote");

        let mut own = Command::new(["sh", "-c", "echo $A; pwd"]).expect("a command");
        own.env.insert("A".to_owned(), "é".to_owned());
        own.cwd = Some(path("/tmp"));
        assert_eq!(out(&sandbox.exec(own).await.expect("it ran")), "é\n/tmp\n");

        let missing = Command::new(["no-such-program"]).expect("a command");
        assert_eq!(sandbox.exec(missing).await.expect("told").exit, Exit::NotFound);
        assert_eq!(ran(sandbox, "kill -9 $$").await.exit, Exit::Signal(9));
        let late = shell("sleep 60").with_timeout(Duration::from_millis(300)).expect("a command");
        let late = sandbox.exec(late).await.expect("told");
        assert!(late.timed_out, "{late:?}");

        // More than is ahead on the way there, to a command that reads late; and more than is kept on the way back.
        let many = Bytes::from(vec![b'x'; 3 << 20]);
        let counts = shell("sleep 1; wc -c").with_input(many).expect("a command");
        assert_eq!(out(&sandbox.exec(counts).await.expect("it ran")).trim(), "3145728");
        let long = ran(sandbox, "head -c 1000000 /dev/zero; echo end >&2").await;
        assert_eq!((long.stdout.bytes.len(), long.stdout.truncated), (64 << 10, true));
        assert_eq!((&long.stderr.bytes[..], long.stderr.truncated), (&b"end\n"[..], false));

        // A long list of words is more than a usual message.
        let words: Vec<String> =
            std::iter::once("echo".to_owned()).chain((0..9).map(|_| "y".repeat(10_000))).collect();
        let said = sandbox.exec(Command::new(words).expect("a command")).await.expect("it ran");
        assert!(said.stdout.truncated, "it began: {said:?}");
        sandbox.terminate().await.expect("it ends");
    });
    there.serving.end();
}

#[test]
fn a_command_there_is_talked_with_signalled_and_killed() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let sandbox = made(&backend).await;
        // What is said comes before all is told.
        let mut talk = sandbox.spawn(Command::new(["cat"]).expect("a command")).await.expect("it runs");
        for text in ["one", "two"] {
            talk.input.send(Input::Bytes(Bytes::from(text))).await.expect("told");
            assert_eq!(talk.output.recv().await.expect("said").bytes, text);
        }
        talk.input.send(Input::End).await.expect("told");
        let ended = talk.ended.await.expect("told").expect("it ended");
        assert_eq!((ended.exit, talk.output.recv().await), (Exit::Code(0), None));

        let catches = "trap 'echo caught; exit 3' TERM; echo begun; while :; do sleep 0.1; done";
        let mut signalled = sandbox.spawn(shell(catches)).await.expect("it runs");
        assert_eq!(&signalled.output.recv().await.expect("said").bytes[..], b"begun\n");
        signalled.urgent.send(Input::Signal(15)).await.expect("told");
        assert_eq!(&signalled.output.recv().await.expect("said").bytes[..], b"caught\n");
        assert_eq!(signalled.ended.await.expect("told").expect("it ended").exit, Exit::Code(3));

        let mut killed = sandbox.spawn(shell("sleep 61 & echo begun; sleep 62")).await.expect("it runs");
        assert_eq!(&killed.output.recv().await.expect("said").bytes[..], b"begun\n");
        killed.urgent.send(Input::Kill).await.expect("told");
        assert_eq!(killed.ended.await.expect("told").expect("it ended").exit, Exit::Signal(9));
        assert_eq!(out(&ran(sandbox.as_ref(), "pgrep -c 'sleep' || true").await).trim(), "0");

        // Nobody reads: the command waits, and says everything once somebody does.
        let mut slow = sandbox.spawn(shell("seq 200000; echo done > /work/done")).await.expect("it runs");
        assert!(!out(&ran(sandbox.as_ref(), "cat /work/done 2>&1 || true").await).contains("done\n"));
        let mut all = 0;
        while let Some(chunk) = slow.output.recv().await {
            assert_eq!(chunk.stream, Stream::Stdout);
            all += chunk.bytes.len();
        }
        assert_eq!(all, 1_288_895);
        assert_eq!(slow.ended.await.expect("told").expect("it ended").exit, Exit::Code(0));

        let mut screen = Command::new(["sh"]).expect("a command");
        screen.terminal = Some(Window { rows: 33, columns: 99 });
        let mut terminal = sandbox.spawn(screen).await.expect("it runs");
        for _ in 0..12 {
            terminal.input.send(Input::Bytes(Bytes::from_static(b"stty size\n"))).await.expect("typed");
        }
        terminal.input.send(Input::Bytes(Bytes::from_static(b"exit 4\n"))).await.expect("typed");
        let mut shown = String::new();
        while let Some(chunk) = terminal.output.recv().await {
            shown.push_str(&String::from_utf8_lossy(&chunk.bytes));
        }
        assert_eq!(shown.matches("33 99").count(), 12, "{shown}");
        assert_eq!(terminal.ended.await.expect("told").expect("it ended").exit, Exit::Code(4));
        sandbox.terminate().await.expect("it ends");
    });
    there.serving.end();
}

#[test]
fn files_states_and_doubles_are_those_of_the_server() {
    requires!("sandboxes", has_sandboxes());
    let there = There::start();
    block_on(async {
        let backend = there.backend();
        let sandbox = made(&backend).await;
        let strange = Bytes::from((0..=255).collect::<Vec<u8>>());
        sandbox.write_file(&path("/work/a/b é"), strange.clone(), true).await.expect("written");
        assert_eq!(sandbox.read_file(&path("/work/a/b é"), 256).await.expect("read"), strange);
        let error = sandbox.read_file(&path("/work/a/b é"), 255).await.expect_err("too long");
        assert_eq!(error.code(), ErrorCode::OutputLimit, "{error}");
        let listed = sandbox.list(&path("/work/a")).await.expect("listed");
        assert_eq!((listed.len(), listed[0].name.as_str(), listed[0].bytes), (1, "b é", 256));
        sandbox.remove(&path("/work/a/b é")).await.expect("removed");
        let error = sandbox.read_file(&path("/work/a/b é"), 1).await.expect_err("it is gone");
        assert!(matches!(error, SandboxError::File { code: ErrorCode::NotFound, .. }), "{error:?}");
        assert!(sandbox.is_alive(), "the file is gone, and not the sandbox");

        ran(sandbox.as_ref(), "echo kept > state").await;
        let snapshot = sandbox.snapshot().await.expect("a snapshot");
        assert_eq!(snapshot.backend, "remote");
        ran(sandbox.as_ref(), "echo later > state").await;
        let spec = SandboxSpec { snapshot: Some(snapshot.clone()), ..SandboxSpec::default() };
        let again = backend.create(spec).await.expect("a sandbox");
        assert_eq!(out(&ran(again.as_ref(), "cat state").await), "kept\n");
        let double = sandbox.fork().await.expect("a double");
        assert_ne!(double.id(), sandbox.id());
        assert_eq!(out(&ran(double.as_ref(), "cat state; echo own > state").await), "later\n");
        assert_eq!(out(&ran(sandbox.as_ref(), "cat state").await), "later\n", "they live apart");
        backend.forget(&snapshot).await.expect("forgotten");
        backend.forget(&snapshot).await.expect("again is fine");

        sandbox.hibernate().await.expect("asleep");
        assert_eq!(out(&ran(sandbox.as_ref(), "echo awake").await), "awake\n");
        sandbox.hibernate().await.expect("asleep");
        sandbox.resume().await.expect("awake");
        assert!(sandbox.usage().await.expect("usage").cpu_ms > 0.0);
        let running = sandbox.spawn(shell("sleep 60")).await.expect("it runs");
        sandbox.stop(Duration::from_secs(1)).await.expect("stopped");
        let ended = running.ended.await.expect("told").expect("it ended");
        assert!(matches!(ended.exit, Exit::Signal(_)), "{ended:?}");
        assert_eq!(out(&ran(sandbox.as_ref(), "cat state").await), "later\n", "its files are kept");

        let error = sandbox.expose(80).await.expect_err("ports stay there");
        assert_eq!(error.code(), ErrorCode::Unsupported);
        for one in [&sandbox, &again, &double] {
            one.terminate().await.expect("it ends");
            one.terminate().await.expect("again is fine");
            assert!(!one.is_alive());
        }
        let error = sandbox.exec(shell("true")).await.expect_err("it was ended");
        assert!(matches!(error, SandboxError::Gone { .. }), "{error}");
    });
    there.is_empty();
    there.serving.end();
}
