//! Streams: credit both ways, and nobody who waits for another.

use bailiwick_agent::BROKEN;
use bailiwick_wire::agent::{FromAgent, Start, Stream, ToAgent, WINDOW};

use crate::agent::{Agent, command, everywhere};
use crate::place::Place;

bailiwick_testkit::tests![
    many_megabytes_of_input_come_back_whole,
    output_stops_where_the_credit_ends_and_others_go_on,
    what_is_discarded_flows_without_credit,
    output_that_waits_for_credit_comes_before_the_end,
    a_command_that_does_not_read_blocks_only_itself,
    input_for_one_who_closed_it_is_taken_and_lost,
    a_host_that_exceeds_its_credit_is_broken,
    a_host_that_does_not_read_does_not_make_the_agent_grow,
    an_agent_that_is_hushed_says_nothing_until_it_is_told_something,
];

fn with_input(argv: &[&str]) -> Start {
    Start { has_input: true, ..command(argv) }
}

/// Sends all of it as credit comes, hears everything, and gives credit back in small parts.
#[track_caller]
fn echo(agent: &mut Agent, id: u32, sent: &[u8]) -> Vec<u8> {
    let (mut credit, mut at, mut heard) = (WINDOW as usize, 0, Vec::new());
    let mut has_ended = false;
    loop {
        while credit > 0 && at < sent.len() {
            let length = credit.min(sent.len() - at).min(10_000);
            agent.say(&ToAgent::Input { id, bytes: sent[at..at + length].to_vec() });
            (credit, at) = (credit - length, at + length);
        }
        if at == sent.len() && !has_ended {
            agent.say(&ToAgent::InputEnd { id });
            has_ended = true;
        }
        match agent.about(id) {
            FromAgent::Output { stream, bytes, .. } => {
                for part in bytes.chunks(7_001) {
                    agent.say(&ToAgent::Credit { id, stream, bytes: u32::try_from(part.len()).unwrap() });
                }
                heard.extend(bytes);
            }
            FromAgent::Credit { bytes, .. } => credit += bytes as usize,
            FromAgent::Ended { ended, .. } => {
                assert_eq!(ended.code, Some(0));
                return heard;
            }
            other => panic!("{other:?}"),
        }
    }
}

fn many_megabytes_of_input_come_back_whole() {
    everywhere(|agent| {
        let sent: Vec<u8> =
            (0..2_000_000_u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let id = agent.start(with_input(&["cat"]));
        assert!(echo(agent, id, &sent) == sent);
        // With reads of a few bytes.
        let id = agent.start(with_input(&["dd", "bs=61", "status=none"]));
        assert!(echo(agent, id, &sent[..400_000]) == sent[..400_000]);
        let id = agent.start(with_input(&["cat"]));
        assert!(echo(agent, id, &[]).is_empty());
    });
}

/// Hears output up to the credit that was there at the begin.
#[track_caller]
fn hear_window(agent: &mut Agent, id: u32) {
    let mut heard = [0, 0];
    while heard != [WINDOW as usize; 2] {
        match agent.about(id) {
            FromAgent::Output { stream: Stream::Stdout, bytes, .. } => heard[0] += bytes.len(),
            FromAgent::Output { stream: Stream::Stderr, bytes, .. } => heard[1] += bytes.len(),
            other => panic!("{other:?}"),
        }
        assert!(heard.iter().all(|length| *length <= WINDOW as usize), "{heard:?}");
    }
}

fn output_stops_where_the_credit_ends_and_others_go_on() {
    everywhere(|agent| {
        let id = agent.start(command(&["sh", "-c", "yes >&2 & exec yes"]));
        hear_window(agent, id);
        // Others run, and not a byte came without credit.
        for _ in 0..5 {
            assert_eq!(agent.shell("echo other").text(), "other\n");
        }
        agent.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes: 5 });
        let FromAgent::Output { bytes, stream, .. } = agent.about(id) else { panic!("no output") };
        assert_eq!((bytes.len(), stream), (5, Stream::Stdout));
        agent.say(&ToAgent::Kill { id });
        agent.say(&ToAgent::Discard { id, stream: Stream::Stdout });
        agent.say(&ToAgent::Discard { id, stream: Stream::Stderr });
        let FromAgent::Ended { ended, .. } = agent.about(id) else { panic!("no end") };
        assert_eq!(ended.signal, Some(9));
    });
}

fn what_is_discarded_flows_without_credit() {
    everywhere(|agent| {
        let id = agent.start(command(&["head", "-c", "9000000", "/dev/zero"]));
        agent.say(&ToAgent::Discard { id, stream: Stream::Stdout });
        let went = agent.finish(id);
        assert_eq!(went.code(), 0);
        assert!(went.stdout.len() <= WINDOW as usize);
    });
}

fn output_that_waits_for_credit_comes_before_the_end() {
    everywhere(|agent| {
        let total = WINDOW as usize + 1000;
        let id = agent.start(command(&["head", "-c", &total.to_string(), "/dev/zero"]));
        let mut heard = 0;
        while heard < WINDOW as usize {
            let FromAgent::Output { bytes, .. } = agent.about(id) else { panic!("no output") };
            heard += bytes.len();
        }
        // The command is gone, its end is not told yet: there is more to be heard.
        crate::commands::until_count(agent, 0);
        agent.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes: WINDOW });
        let went = agent.finish(id);
        assert_eq!((went.stdout.len(), went.code()), (1000, 0));
    });
}

fn a_command_that_does_not_read_blocks_only_itself() {
    everywhere(|agent| {
        let id = agent.start(with_input(&["sleep", "1000"]));
        agent.say(&ToAgent::Input { id, bytes: vec![1; WINDOW as usize] });
        assert_eq!(agent.shell("echo other").text(), "other\n");
        agent.say(&ToAgent::Kill { id });
        assert_eq!(agent.finish(id).signal(), 9);
    });
}

fn input_for_one_who_closed_it_is_taken_and_lost() {
    everywhere(|agent| {
        let id = agent.start(with_input(&["sh", "-c", "exec <&-; echo closed; sleep 1000"]));
        crate::commands::wait_for_text(agent, id, "closed\n");
        for _ in 0..8 {
            agent.say(&ToAgent::Input { id, bytes: vec![1; WINDOW as usize / 4] });
            assert!(matches!(agent.about(id), FromAgent::Credit { .. }));
        }
        agent.say(&ToAgent::Kill { id });
        assert_eq!(agent.finish(id).signal(), 9);
        // After its end there is nobody to take it, and nobody minds.
        agent.say(&ToAgent::Input { id, bytes: vec![1; 9] });
        assert_eq!(agent.run(&["true"]).code(), 0);
    });
}

fn a_host_that_exceeds_its_credit_is_broken() {
    let mut agent = Agent::new(Place::Plain, &[]);
    let id = agent.start(with_input(&["sleep", "1000"]));
    agent.say(&ToAgent::Input { id, bytes: vec![1; WINDOW as usize] });
    agent.say(&ToAgent::Input { id, bytes: vec![1; WINDOW as usize] });
    assert_eq!(agent.is_gone(), Some(i32::from(BROKEN)));
}

/// The memory of the plain agent, in KiB.
#[track_caller]
fn memory(agent: &Agent) -> u64 {
    let path = format!("/proc/{}/status", agent.pid());
    let status =
        std::fs::File::options().read(true).open(path).map(std::io::read_to_string).unwrap().unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap()
}

fn a_host_that_does_not_read_does_not_make_the_agent_grow() {
    let mut agent = Agent::new(Place::Plain, &[]);
    assert_eq!(agent.run(&["true"]).code(), 0);
    let before = memory(&agent);
    // Forty windows could be under way, which is ten megabytes; the agent holds a part of that.
    let ids: Vec<u32> = (0..40).map(|_| agent.start(command(&["yes"]))).collect();
    // When the socket has taken all it takes, the agent can only hold what comes after.
    let mut unread = 0;
    while agent.unread() == 0 || agent.unread() > unread {
        unread = agent.unread();
        for _ in 0..2_000 {
            let after = memory(&agent);
            assert!(after < before + 4_000, "{before} KiB before, {after} KiB after");
        }
    }
    for id in &ids {
        agent.say(&ToAgent::Kill { id: *id });
    }
    for id in ids {
        assert_eq!(agent.finish(id).signal(), 9);
    }
}

#[expect(clippy::disallowed_methods, reason = "files of the test's own, and of the kernel")]
fn an_agent_that_is_hushed_says_nothing_until_it_is_told_something() {
    let mut agent = Agent::new(Place::Plain, &[]);
    let folder = tempfile::tempdir().unwrap();
    let (pipe, mark) = (folder.path().join("pipe"), folder.path().join("mark"));
    let script = format!(
        "mkfifo {0}; echo $$ > {1}; echo ready; read word < {0}; echo $word",
        pipe.display(),
        mark.display()
    );
    let id = agent.start(command(&["sh", "-c", &script]));
    assert!(matches!(agent.about(id), FromAgent::Output { bytes, .. } if bytes == b"ready\n"));
    let hush = agent.number();
    agent.say(&ToAgent::Hush { id: hush });
    assert_eq!(agent.about(hush), FromAgent::Done { id: hush });
    // The command goes on and ends, and waits for somebody to reap it.
    std::fs::write(&pipe, "heard\n").unwrap();
    let pid = std::fs::read_to_string(&mark).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    assert_eq!(agent.unread(), 0);
    assert_eq!(agent.count(), 0, "nobody lives");
    let went = agent.finish(id);
    assert_eq!((went.text().as_str(), went.code()), ("heard\n", 0));
}
