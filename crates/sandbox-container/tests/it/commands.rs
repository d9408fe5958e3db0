//! Commands: how they end, what they say and are told, and that what should be dead is.

use std::time::Duration;

use bailiwick_sandbox::{EntryKind, Exit, Limit, SandboxSpec, Window};
use bailiwick_testkit::tests;
use bytes::Bytes;

use crate::engines::with_each;
use crate::place::{Place, path, said, sh, shell, spec, wait, words};

tests!(
    commands_end_as_they_end,
    the_same_command_runs_on_the_hosts_programs,
    a_command_that_is_late_is_dead_inside,
    output_is_cut_and_input_is_read,
    a_terminal_is_one,
    files_go_in_and_out,
);

fn commands_end_as_they_end() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            for (text, exit) in [
                ("exit 0", Exit::Code(0)),
                ("exit 7", Exit::Code(7)),
                ("kill -TERM $$", Exit::Signal(15)),
                ("kill -KILL $$", Exit::Signal(9)),
            ] {
                let result = sandbox.exec(shell(text)).await.expect("an end");
                assert_eq!(result.exit, exit, "{text}");
            }
            let result = sandbox.exec(words(&["no-such-program"])).await.expect("an end");
            assert_eq!(result.exit, Exit::NotFound);
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn the_same_command_runs_on_the_hosts_programs() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            let result = sandbox.exec(words(&["python3", "-c", "print(6 * 7)"])).await.expect("an end");
            assert_eq!(said(&result), "42\n");
            let variables = sh(sandbox.as_ref(), "env | grep -v ^_= | sort; pwd; id -un; hostname").await;
            let expected = "HOME=/work\nLANG=C.UTF-8\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=/work\nTMPDIR=/tmp\n/work\nsandbox\nsandbox\n";
            assert_eq!(variables, expected);
            // People compile where they work.
            let made = "cp /bin/echo /work/own && /work/own runs && cp /bin/echo /tmp/own && /tmp/own there";
            assert_eq!(sh(sandbox.as_ref(), made).await, "runs\nthere\n");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn a_command_that_is_late_is_dead_inside() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            let late = shell("trap '' TERM; sleep 12345 & sleep 12345")
                .with_timeout(Duration::from_millis(700))
                .expect("a deadline");
            let result = sandbox.exec(late).await.expect("an end");
            assert!(result.timed_out, "{result:?}");
            let left = sh(
                sandbox.as_ref(),
                "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep -c '^sleep 1234[5]' || true",
            );
            assert_eq!(left.await, "0\n");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn output_is_cut_and_input_is_read() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let limits = spec().limits.with(Limit::Output, 10_000_u64).expect("a limit");
            let sandbox = place.create(SandboxSpec { limits, ..spec() }).await.expect("a sandbox");
            let result =
                sandbox.exec(shell("head -c 3000000 /dev/zero; echo err >&2")).await.expect("an end");
            assert_eq!((result.stdout.bytes.len(), result.stdout.truncated), (10_000, true));
            assert_eq!((&result.stderr.bytes[..], result.stderr.truncated), (&b"err\n"[..], false));
            let input = vec![b'x'; 2_000_000];
            let counted = words(&["wc", "-c"]).with_input(Bytes::from(input)).expect("input");
            assert_eq!(said(&sandbox.exec(counted).await.expect("an end")), "2000000\n");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn a_terminal_is_one() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            let mut command = shell("test -t 0 && test -t 1 && stty size");
            command.terminal = Some(Window { rows: 31, columns: 97 });
            assert_eq!(said(&sandbox.exec(command).await.expect("an end")).trim(), "31 97");
            sandbox.terminate().await.expect("an end");
        });
    });
}

fn files_go_in_and_out() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            let bytes = Bytes::from(vec![7; 3_000_000]);
            sandbox.write_file(&path("/work/a/b/big"), bytes.clone(), false).await.expect("written");
            assert_eq!(sandbox.read_file(&path("/work/a/b/big"), 1 << 30).await.expect("read"), bytes);
            let listed = sandbox.list(&path("/work/a")).await.expect("listed");
            assert_eq!(listed.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [EntryKind::Folder]);
            sandbox.remove(&path("/work/a")).await.expect("removed");
            assert_eq!(sh(sandbox.as_ref(), "ls -A /work").await, "");
            let refused = sandbox.write_file(&path("/usr/x"), Bytes::from_static(b"x"), false).await;
            refused.expect_err("a root that cannot be written to");
            sandbox.terminate().await.expect("an end");
        });
    });
}
