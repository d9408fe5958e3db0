//! Commands and files.

use std::time::Duration;

use bailiwick_sandbox::{Exit, Limit};
use bailiwick_testkit::{requires, tests};
use bytes::Bytes;

use crate::place::{Place, is_possible, path, said, sh, shell, spec, wait, words};

tests!(
    a_command_ends_as_it_says,
    a_command_past_its_deadline_is_dead,
    input_comes_back_and_output_is_cut_at_its_bound,
    files_are_written_read_listed_and_removed,
    a_sandbox_that_ended_leaves_nothing_behind,
);

fn a_command_ends_as_it_says() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
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
        assert_eq!(sh(sandbox.as_ref(), "id -u; pwd").await, "64924\n/work\n");
    });
}

fn a_command_past_its_deadline_is_dead() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let late =
            shell("(trap '' TERM HUP; while :; do date +%s%N > /work/alive; done) & trap '' TERM; sleep 100")
                .with_timeout(Duration::from_millis(700))
                .expect("a deadline");
        let result = sandbox.exec(late).await.expect("it is told");
        assert!(result.timed_out, "{result:?}");
        assert_eq!(result.exit, Exit::Signal(9));
        let first = sh(sandbox.as_ref(), "cat /work/alive").await;
        let second = sh(sandbox.as_ref(), "sleep 0.3; cat /work/alive").await;
        assert_eq!(first, second, "something of it still runs");
    });
}

fn input_comes_back_and_output_is_cut_at_its_bound() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Output, 100_000).expect("a limit");
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let sent = Bytes::from(vec![b'x'; 90_000]);
        let echo = words(&["cat"]).with_input(sent.clone()).expect("input");
        let result = sandbox.exec(echo).await.expect("it runs");
        assert!(result.stdout.bytes == sent && !result.stdout.truncated);
        let result = sandbox.exec(shell("head -c 3000000 /dev/zero; echo end >&2")).await.expect("it runs");
        assert_eq!((result.stdout.bytes.len(), result.stdout.truncated), (100_000, true));
        assert_eq!((&result.stderr.bytes[..], result.stderr.truncated), (&b"end\n"[..], false));
    });
}

fn files_are_written_read_listed_and_removed() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let bytes = Bytes::from((0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        for folder in ["/work", "/tmp", "/var/tmp", "/dev/shm"] {
            let file = path(&format!("{folder}/one"));
            sandbox.write_file(&file, bytes.clone(), false).await.expect("written");
            assert!(sandbox.read_file(&file, 1 << 20).await.expect("read") == bytes, "{folder}");
        }
        let names = sandbox.list(&path("/work")).await.expect("listed");
        assert_eq!(names.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["one"]);
        sandbox.remove(&path("/work/one")).await.expect("removed");
        assert_eq!(sh(sandbox.as_ref(), "ls /work; ls /tmp").await, "one\n");
        let refused = sandbox.write_file(&path("/usr/one"), Bytes::new(), false).await;
        assert!(refused.is_err(), "{refused:?}");
    });
}

fn a_sandbox_that_ended_leaves_nothing_behind() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(said(&sandbox.exec(shell("sleep 100 & echo on")).await.expect("it runs")), "on\n");
        assert!(!place.processes().is_empty());
        sandbox.terminate().await.expect("ended");
        assert_eq!(place.processes(), Vec::<i32>::new());
        assert!(!sandbox.is_alive());
        assert!(sandbox.exec(shell("true")).await.is_err());
        let boxes = place.path().join("state").join("gvisor");
        let left = std::fs::read_dir(boxes).expect("owners").filter_map(Result::ok);
        let left: Vec<_> =
            left.flat_map(|owner| std::fs::read_dir(owner.path().join("boxes"))).flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        // One that is dropped ends too.
        drop(place.sandbox().await);
        bailiwick_sandbox::Backend::close(place.backend.as_ref()).await;
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}
