//! Commands: how they start, how they do not, how they end.

use bailiwick_agent::{BROKEN, CLOSED};
use bailiwick_sys::Errno;
use bailiwick_wire::agent::{FromAgent, Start, Stream, ToAgent, WINDOW};

use crate::agent::{Agent, as_first, command, everywhere};
use crate::place::Place;

bailiwick_testkit::tests![
    exit_codes_and_signals_come_through,
    a_command_has_exactly_the_variables_it_was_given,
    a_command_begins_where_it_was_told_in_a_session_of_its_own,
    a_command_gets_no_descriptor_but_three,
    a_command_starts_with_no_signal_blocked_or_ignored,
    what_cannot_start_says_which_step_failed,
    the_program_is_looked_for_in_the_path_that_was_given,
    a_signal_reaches_the_command,
    kill_ends_the_tree_with_what_left_its_session,
    daemons_are_reaped,
    fifty_commands_run_at_once,
    a_child_in_the_background_does_not_hold_the_end_back,
    what_a_child_says_after_the_end_is_not_waited_for,
    a_command_that_forks_without_end_is_killed_whole,
    killing_everybody_is_done_when_all_are_reaped,
    an_agent_ends_with_its_host,
    an_agent_ends_at_what_is_no_message,
    nobody_outlives_an_agent_that_is_no_init,
    usage_is_the_commands_own,
];

fn exit_codes_and_signals_come_through() {
    everywhere(|agent| {
        assert_eq!(agent.run(&["true"]).code(), 0);
        assert_eq!(agent.shell("exit 7").code(), 7);
        assert_eq!(agent.shell("kill -SEGV $$").signal(), 11);
        let went = agent.shell("echo out; echo err >&2");
        assert_eq!((went.stdout, went.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    });
}

fn a_command_has_exactly_the_variables_it_was_given() {
    everywhere(|agent| {
        let mut start = command(&["/usr/bin/env"]);
        start.env = vec![("A".to_owned(), "1 = 2".to_owned()), ("ß".to_owned(), String::new())];
        let id = agent.start(start);
        assert_eq!(agent.finish(id).text(), "A=1 = 2\nß=\n");
    });
}

fn a_command_begins_where_it_was_told_in_a_session_of_its_own() {
    everywhere(|agent| {
        let start = command(&["sh", "-c", "pwd; cat /proc/self/stat | cut -d' ' -f5,6; echo $$"]);
        let id = agent.start(Start { cwd: "/usr/bin".to_owned(), ..start });
        let text = agent.finish(id).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "/usr/bin");
        assert_eq!(lines[1], format!("{} {}", lines[2], lines[2]));
    });
}

fn a_command_gets_no_descriptor_but_three() {
    everywhere(|agent| {
        // The fourth is the folder that is being listed.
        assert_eq!(agent.run(&["ls", "/proc/self/fd"]).text(), "0\n1\n2\n3\n");
        assert_eq!(agent.run(&["cat"]).stdout, b"");
    });
}

fn a_command_starts_with_no_signal_blocked_or_ignored() {
    everywhere(|agent| {
        let text = agent.run(&["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]).text();
        assert_eq!(
            text.split_whitespace().filter(|word| !word.starts_with("Sig")).collect::<Vec<_>>(),
            ["0000000000000000"; 2]
        );
    });
}

fn what_cannot_start_says_which_step_failed() {
    everywhere(|agent| {
        let at = |argv: &[&str], cwd: &str| Start { cwd: cwd.to_owned(), ..command(argv) };
        for (start, step, errno) in [
            (command(&["no-such-command"]), "execute", Errno::NOENT),
            (command(&["/no/such/command"]), "execute", Errno::NOENT),
            (command(&[""]), "execute", Errno::NOENT),
            (command(&["/etc"]), "execute", Errno::ACCESS),
            (command(&["/etc/passwd"]), "execute", Errno::ACCESS),
            (at(&["true"], "/no/such/folder"), "change to the working folder", Errno::NOENT),
            (at(&["true"], "/etc/passwd"), "change to the working folder", Errno::NOTDIR),
            (command(&[]), "read the words of the command", Errno::INVAL),
            (command(&["true", "a\0b"]), "read the words of the command", Errno::INVAL),
            (command(&["true", &"a".repeat(200_000)]), "execute", Errno::TOOBIG),
        ] {
            let refused = agent.refused(start.clone());
            assert_eq!(refused, (step.to_owned(), errno.raw_os_error()), "{:.40?}", start.argv);
        }
        // None of them left a process behind, and the next one starts.
        assert_eq!(agent.count(), 0);
        assert_eq!(agent.run(&["true"]).code(), 0);
    });
}

fn the_program_is_looked_for_in_the_path_that_was_given() {
    everywhere(|agent| {
        let folder = agent.shell("mktemp -d").text().trim().to_owned();
        let script = format!(
            "cd {folder} && mkdir a b && echo 'echo hi' > a/tool && printf '#!/bin/sh\\necho b' > b/tool && chmod +x b/tool && printf 'echo' > plain && chmod +x plain"
        );
        assert_eq!(agent.shell(&script).code(), 0);
        let tool = |path: &str, cwd: &str, word: &str| Start {
            env: vec![("PATH".to_owned(), path.to_owned())],
            cwd: cwd.to_owned(),
            ..command(&[word])
        };
        // One that may not be executed does not hide the one behind it.
        let id = agent.start(tool(&format!("{folder}/a:{folder}/b"), "/", "tool"));
        assert_eq!(agent.finish(id).text(), "b\n");
        let id = agent.start(tool("nowhere::", &format!("{folder}/b"), "tool"));
        assert_eq!(agent.finish(id).text(), "b\n");
        let id = agent.start(tool("", &folder, "b/tool"));
        assert_eq!(agent.finish(id).text(), "b\n");
        let (step, errno) = agent.refused(tool(&format!("/etc:{folder}/a"), "/", "tool"));
        assert_eq!((step.as_str(), errno), ("execute", Errno::ACCESS.raw_os_error()));
        // A text without an interpreter is not handed to a shell behind anybody's back.
        let (step, errno) = agent.refused(tool(&folder, "/", "plain"));
        assert_eq!((step.as_str(), errno), ("execute", Errno::NOEXEC.raw_os_error()));
        agent.run(&["rm", "-r", &folder]);
    });
}

fn a_signal_reaches_the_command() {
    everywhere(|agent| {
        let id = agent.start(command(&[
            "sh",
            "-c",
            "trap 'echo got; exit 3' USR1; sleep 1000 & echo ready; wait",
        ]));
        wait_for_text(agent, id, "ready\n");
        agent.say(&ToAgent::Signal { id, signal: 10 });
        let went = agent.finish(id);
        assert_eq!((went.text().as_str(), went.code()), ("got\n", 3));
    });
}

#[track_caller]
pub(crate) fn wait_for_text(agent: &mut Agent, id: u32, text: &str) {
    let mut heard = String::new();
    while !heard.contains(text) {
        match agent.about(id) {
            FromAgent::Output { bytes, .. } => heard.push_str(&String::from_utf8_lossy(&bytes)),
            other => panic!("{other:?} after {heard:?}"),
        }
    }
}

fn kill_ends_the_tree_with_what_left_its_session() {
    everywhere(|agent| {
        // One child in the session, one that left it, and one that ignores what can be ignored.
        let script = "sleep 1000 & setsid sleep 1000 & (trap '' TERM HUP INT; sleep 1000) & echo ready; wait";
        let id = agent.start(command(&["sh", "-c", script]));
        wait_for_text(agent, id, "ready\n");
        let other = agent.start(command(&["sleep", "1000"]));
        agent.say(&ToAgent::Kill { id });
        assert_eq!(agent.finish(id).signal(), 9);
        until_count(agent, 1);
        agent.say(&ToAgent::Kill { id: other });
        assert_eq!(agent.finish(other).signal(), 9);
        until_count(agent, 0);
    });
}

/// Asks until there are so many: each answer is later than what was reaped before it.
#[track_caller]
pub(crate) fn until_count(agent: &mut Agent, expected: u32) {
    let mut seen = u32::MAX;
    for _ in 0..20_000 {
        seen = agent.count();
        if seen == expected {
            return;
        }
        std::thread::yield_now();
    }
    panic!("{seen} processes, not {expected}");
}

fn daemons_are_reaped() {
    everywhere(|agent| {
        let went = agent.shell("for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'exit 0' &) ; done");
        assert_eq!(went.code(), 0);
        until_count(agent, 0);
        if agent.place == Place::First {
            // Not even one that waits to be reaped.
            let went = agent.shell("cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z' ; true");
            assert_eq!(went.text(), "0\n");
        }
    });
}

fn fifty_commands_run_at_once() {
    everywhere(|agent| {
        let start = |agent: &mut Agent, number: u32| {
            let mut start = command(&["sh", "-c", "read go; echo $0 $go; exit $0", &number.to_string()]);
            start.has_input = true;
            agent.start(start)
        };
        let ids: Vec<u32> = (0..50).map(|number| start(agent, number)).collect();
        assert_eq!(agent.count(), 50);
        for id in ids.iter().rev() {
            agent.say(&ToAgent::Input { id: *id, bytes: b"now\n".to_vec() });
        }
        for (number, went) in agent.finish_all(&ids).into_values().enumerate() {
            assert_eq!(
                (went.text(), went.code()),
                (format!("{number} now\n"), i32::try_from(number).unwrap())
            );
        }
    });
}

fn a_child_in_the_background_does_not_hold_the_end_back() {
    everywhere(|agent| {
        let went = agent.shell("sleep 1000 & echo said");
        assert_eq!((went.text().as_str(), went.code()), ("said\n", 0));
        // It lives on.
        assert_eq!(agent.count(), 1);
        agent.kill_all();
    });
}

fn what_a_child_says_after_the_end_is_not_waited_for() {
    const PIPE: usize = 64 * 1024;
    everywhere(|agent| {
        let start = Start { has_input: true, ..command(&["sh", "-c", "yes & read go; exit 4"]) };
        let id = agent.start(start);
        let output = |agent: &mut Agent| match agent.about(id) {
            FromAgent::Output { bytes, .. } => Ok(bytes.len()),
            FromAgent::Ended { ended, .. } => Err(ended),
            other => panic!("{other:?}"),
        };
        let mut heard = 0;
        while heard < WINDOW as usize {
            heard += output(agent).unwrap();
        }
        agent.say(&ToAgent::Input { id, bytes: b"go\n".to_vec() });
        until_count(agent, 1);
        // The child fills the pipe again after every part that is taken, and still there is an end.
        let mut heard = 0;
        let ended = loop {
            agent.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes: 4096 });
            match output(agent) {
                Ok(length) => heard += length,
                Err(ended) => break ended,
            }
            assert!(heard <= PIPE, "{heard} bytes after the end");
        };
        assert_eq!(ended.code, Some(4));
        agent.kill_all();
    });
}

fn a_command_that_forks_without_end_is_killed_whole() {
    as_first(|agent| {
        // Every process in a session of its own, and never more than sixty.
        let script =
            "use POSIX; $| = 1; print 'ready'; while (1) { defined(my $p = fork) or next; setsid if !$p }";
        let id = agent.start(command(&["prlimit", "--nproc=60:60", "perl", "-e", script]));
        wait_for_text(agent, id, "ready");
        while agent.count() < 50 {}
        agent.say(&ToAgent::Kill { id });
        assert_eq!(agent.finish(id).signal(), 9);
        until_count(agent, 0);
    });
}

fn killing_everybody_is_done_when_all_are_reaped() {
    everywhere(|agent| {
        let id = agent.start(command(&[
            "sh",
            "-c",
            "for i in 1 2 3 4 5; do setsid sleep 1000 & done; echo ready; wait",
        ]));
        wait_for_text(agent, id, "ready\n");
        agent.kill_all();
        assert_eq!(agent.count(), 0);
        assert_eq!(agent.finish(id).signal(), 9);
        // With nobody there it is done at once.
        agent.kill_all();
    });
}

fn an_agent_ends_with_its_host() {
    let mut agent = Agent::new(Place::Plain, &[]);
    assert_eq!(agent.close(), Some(i32::from(CLOSED)));
}

fn an_agent_ends_at_what_is_no_message() {
    let say = |bytes: &[u8]| {
        let mut agent = Agent::new(Place::Plain, &[]);
        agent.say_raw(bytes);
        assert_eq!(agent.is_gone(), Some(i32::from(BROKEN)), "{bytes:?}");
    };
    say(&[255; 64]);
    say(&[1, 0, 0, 0, 99]);
    say(&[3, 0, 0, 0, 2, 200, 200]);
    // A number that is in use.
    let mut agent = Agent::new(Place::Plain, &[]);
    let start = || Box::new(command(&["sleep", "1000"]));
    agent.say(&ToAgent::Start { id: 1, start: start() });
    agent.say(&ToAgent::Start { id: 1, start: start() });
    assert_eq!(agent.is_gone(), Some(i32::from(BROKEN)));
}

fn nobody_outlives_an_agent_that_is_no_init() {
    let mut agent = Agent::new(Place::Plain, &[]);
    let id = agent.start(command(&["sh", "-c", "setsid sleep 1000 & echo $!; wait"]));
    let FromAgent::Output { bytes, .. } = agent.about(id) else { panic!("no output") };
    let pid: i32 = String::from_utf8(bytes).unwrap().trim().parse().unwrap();
    let handle = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::PidfdFlags::empty(),
    )
    .unwrap();
    assert_eq!(agent.close(), Some(i32::from(CLOSED)));
    // Its handle can be read when it has ended.
    let mut ended = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut ended, Some(&patience)), Ok(1));
}

fn usage_is_the_commands_own() {
    everywhere(|agent| {
        let went = agent.shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
        let ended = went.ended.unwrap();
        assert!(ended.cpu_us > 0 && ended.memory_peak > 100_000 && ended.processes == 1, "{ended:?}");
    });
}
