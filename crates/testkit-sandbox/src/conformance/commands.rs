//! Commands: what they have, what they say and read, and how they end.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Exit, Limit};
use bytes::Bytes;

use super::{Place, Subject, checks};
use crate::{said, sh, shell, wait, words};

checks!(
    a_command_ends_as_it_says,
    a_program_that_is_not_there_or_cannot_run_is_told_apart,
    a_command_has_exactly_its_variables,
    the_hosts_programs_run_and_so_do_copies_in_its_own_directories,
    input_comes_in_and_output_goes_out_whole,
    output_above_its_limit_is_dropped_and_told,
    a_command_past_its_deadline_is_dead,
);

fn a_command_ends_as_it_says(subject: &dyn Subject) {
    let place = Place::new(subject);
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
            assert_eq!((result.exit, result.timed_out, result.oom), (exit, false, false), "{text}");
        }
    });
}

fn a_program_that_is_not_there_or_cannot_run_is_told_apart(subject: &dyn Subject) {
    let place = Place::new(subject);
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

fn a_command_has_exactly_its_variables(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let mut spec = place.spec();
        spec.env.insert("COLOUR".to_owned(), "blue".to_owned());
        spec.env.insert("LANG".to_owned(), "C".to_owned());
        let sandbox = place.create(spec).await.expect("a sandbox");
        let mut command = words(&["env"]);
        command.env.insert("SHAPE".to_owned(), "round".to_owned());
        let result = said(&sandbox.exec(command).await.expect("it runs"));
        let mut lines: Vec<&str> = result.lines().collect();
        lines.sort_unstable();
        let expected = [
            "COLOUR=blue",
            "HOME=/work",
            "LANG=C",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SHAPE=round",
            "TMPDIR=/tmp",
        ];
        assert_eq!(lines, expected);
        let without = said(&sandbox.exec(words(&["env"])).await.expect("it runs"));
        assert!(!without.contains("SHAPE"), "{without}");
        let user = subject.claims().user;
        let told = sh(sandbox.as_ref(), "id -u; id -un; pwd; hostname").await;
        assert_eq!(told, format!("{user}\nsandbox\n/work\nsandbox\n"));
    });
}

fn the_hosts_programs_run_and_so_do_copies_in_its_own_directories(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        let result = sandbox.exec(words(&["python3", "-c", "print(6 * 7)"])).await.expect("an end");
        assert_eq!(said(&result), "42\n");
        // People compile where they work.
        let made = "cp /bin/echo /work/own && /work/own runs && cp /bin/echo /tmp/own && /tmp/own there";
        assert_eq!(sh(sandbox.as_ref(), made).await, "runs\nthere\n");
    });
}

fn input_comes_in_and_output_goes_out_whole(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Output, "16MiB")]).await;
        let input: Vec<u8> = (0..5_000_000_u32).map(|n| u8::try_from(n % 251).unwrap_or(0)).collect();
        let command = words(&["cat"]).with_input(Bytes::from(input.clone())).expect("some input");
        let result = sandbox.exec(command).await.expect("it runs");
        assert!(result.stdout.bytes == input, "what came out is what went in");
        assert!(!result.stdout.truncated);
        let nothing = sandbox.exec(words(&["cat"])).await.expect("it runs");
        assert_eq!(nothing.stdout.bytes.len(), 0, "without input there is an end of it");
    });
}

fn output_above_its_limit_is_dropped_and_told(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.limited(&[(Limit::Output, "10000")]).await;
        let text = "head -c 3000000 /dev/zero; head -c 5000 /dev/zero >&2; exit 4";
        let result = sandbox.exec(shell(text)).await.expect("it runs");
        assert_eq!(result.exit, Exit::Code(4), "it came to its own end");
        assert_eq!((result.stdout.bytes.len(), result.stdout.truncated), (10_000, true));
        assert_eq!((result.stderr.bytes.len(), result.stderr.truncated), (5_000, false));
    });
}

fn a_command_past_its_deadline_is_dead(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        let text = "(trap '' TERM HUP; while :; do date > /work/alive; done) & trap '' TERM; sleep 12345 & sleep 12345";
        let late = shell(text).with_timeout(subject.claims().deadline).expect("a deadline");
        let began = Instant::now();
        let result = sandbox.exec(late).await.expect("it is told");
        assert!(result.timed_out && began.elapsed() < Duration::from_mins(1), "{result:?}");
        assert_eq!(result.exit, Exit::Signal(9));
        assert_eq!(result.exit_status(), 124);
        assert_eq!(sh(sandbox.as_ref(), "test -e /work/alive; echo $?").await, "0\n", "it did begin");
        // The words of each of its processes are in their command lines, and not those of whoever looks.
        let left = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null | grep -c 'sleep 1234[5]' || true";
        assert_eq!(sh(sandbox.as_ref(), left).await, "0\n", "something of it still runs");
    });
}
