//! Commands and files.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Exit, Limit};
use bailiwick_testkit::{requires, tests};
use bytes::Bytes;

use crate::place::{Place, is_possible, machines, path, said, sh, shell, spec, wait, words};

tests!(a_machine_runs_commands_and_keeps_files_and_leaves_nothing,);

fn a_machine_runs_commands_and_keeps_files_and_leaves_nothing() {
    requires!("qemu", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Output, 100_000).expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let cases = [
            ("exit 0", Exit::Code(0)),
            ("exit 7", Exit::Code(7)),
            ("kill -TERM $$", Exit::Signal(15)),
            ("kill -KILL $$", Exit::Signal(9)),
        ];
        for (text, exit) in cases {
            let result = sandbox.exec(shell(text)).await.expect("it runs");
            assert_eq!((result.exit, result.timed_out, result.oom), (exit, false, false), "{text}");
        }
        let none = sandbox.exec(words(&["/no/such/program"])).await.expect("it is told");
        assert_eq!(none.exit, Exit::NotFound);
        let variables = sh(sandbox.as_ref(), "env | sort").await;
        let names: Vec<&str> = variables.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "PWD", "TMPDIR"]);
        assert_eq!(sh(sandbox.as_ref(), "id -u; pwd; hostname").await, "64924\n/work\nsandbox\n");
        input_and_output(sandbox.as_ref()).await;
        files(sandbox.as_ref()).await;
        deadline(sandbox.as_ref()).await;
        assert_eq!(said(&sandbox.exec(shell("sleep 100 & echo on")).await.expect("it runs")), "on\n");
        assert!(!machines().is_empty());
        sandbox.terminate().await.expect("ended");
        assert_eq!(machines(), Vec::<i32>::new());
        assert!(!sandbox.is_alive());
        assert!(sandbox.exec(shell("true")).await.is_err());
        let boxes = place.path().join("state").join("microvm");
        let left = std::fs::read_dir(boxes).expect("owners").filter_map(Result::ok);
        let left: Vec<_> =
            left.flat_map(|owner| std::fs::read_dir(owner.path().join("boxes"))).flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

async fn input_and_output(sandbox: &dyn bailiwick_sandbox::Sandbox) {
    let sent = Bytes::from(vec![b'x'; 90_000]);
    let echo = words(&["cat"]).with_input(sent.clone()).expect("input");
    let result = sandbox.exec(echo).await.expect("it runs");
    assert!(result.stdout.bytes == sent && !result.stdout.truncated);
    let result = sandbox.exec(shell("head -c 3000000 /dev/zero; echo end >&2")).await.expect("it runs");
    assert_eq!((result.stdout.bytes.len(), result.stdout.truncated), (100_000, true));
    assert_eq!((&result.stderr.bytes[..], result.stderr.truncated), (&b"end\n"[..], false));
}

async fn files(sandbox: &dyn bailiwick_sandbox::Sandbox) {
    let bytes = Bytes::from((0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    for folder in ["/work", "/tmp", "/var/tmp", "/dev/shm"] {
        let file = path(&format!("{folder}/one"));
        sandbox.write_file(&file, bytes.clone(), false).await.expect("written");
        assert!(sandbox.read_file(&file, 1 << 20).await.expect("read") == bytes, "{folder}");
    }
    let names = sandbox.list(&path("/work")).await.expect("listed");
    assert_eq!(names.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["one"]);
    sandbox.remove(&path("/work/one")).await.expect("removed");
    assert_eq!(sh(sandbox, "ls /work; ls /tmp").await, "one\n");
    for refused in ["/usr/one", "/one", "/etc/one", "/bin/sh"] {
        let refused = sandbox.write_file(&path(refused), Bytes::new(), false).await;
        assert!(refused.is_err(), "{refused:?}");
    }
}

async fn deadline(sandbox: &dyn bailiwick_sandbox::Sandbox) {
    let late =
        shell("(trap '' TERM HUP; while :; do date +%s%N > /work/alive; done) & trap '' TERM; sleep 100")
            .with_timeout(Duration::from_secs(4))
            .expect("a deadline");
    let began = Instant::now();
    let result = sandbox.exec(late).await.expect("it is told");
    assert!(result.timed_out && began.elapsed() < Duration::from_mins(1), "{result:?}");
    assert_eq!(result.exit, Exit::Signal(9));
    let first = sh(sandbox, "cat /work/alive").await;
    let second = sh(sandbox, "sleep 0.3; cat /work/alive").await;
    assert_eq!(first, second, "something of it still runs");
}
