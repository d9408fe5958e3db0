//! Commands with a terminal.

use bailiwick_wire::agent::{FromAgent, Start, ToAgent, Window};

use crate::agent::{Agent, Went, command, everywhere};
use crate::commands::{until_count, wait_for_text};

bailiwick_testkit::tests![
    a_command_with_a_terminal_has_one_of_its_size,
    a_resize_reaches_the_command,
    an_interrupt_is_a_character,
    the_end_of_input_is_seen,
    all_that_was_said_comes_before_the_end,
    whoever_is_left_at_a_terminal_is_hung_up,
    a_terminal_that_nobody_reads_stops_only_its_command,
];

fn at_terminal(argv: &[&str]) -> Start {
    let terminal = Some(Window { rows: 33, columns: 101 });
    Start { terminal, has_input: true, ..command(argv) }
}

fn run(agent: &mut Agent, script: &str) -> Went {
    let id = agent.start(at_terminal(&["sh", "-c", script]));
    agent.finish(id)
}

fn a_command_with_a_terminal_has_one_of_its_size() {
    everywhere(|agent| {
        let went = run(agent, "test -t 0 && test -t 1 && test -t 2 && stty size && echo err >&2");
        assert_eq!((went.text().as_str(), went.code()), ("33 101\r\nerr\r\n", 0));
        // It is the terminal that it controls: what is said to `/dev/tty` comes as well.
        assert_eq!(run(agent, "echo here > /dev/tty").text(), "here\r\n");
    });
}

fn a_resize_reaches_the_command() {
    everywhere(|agent| {
        let script = "trap 'stty size; exit 0' WINCH; echo ready; sleep 1000 & wait";
        let id = agent.start(at_terminal(&["sh", "-c", script]));
        wait_for_text(agent, id, "ready\r\n");
        agent.say(&ToAgent::Resize { id, window: Window { rows: 5, columns: 7 } });
        assert_eq!(agent.finish(id).text(), "5 7\r\n");
        agent.kill_all();
    });
}

fn an_interrupt_is_a_character() {
    everywhere(|agent| {
        let id = agent.start(at_terminal(&["sh", "-c", "echo ready; exec cat"]));
        wait_for_text(agent, id, "ready\r\n");
        agent.say(&ToAgent::Input { id, bytes: vec![3] });
        assert_eq!(agent.finish(id).signal(), 2);
    });
}

fn the_end_of_input_is_seen() {
    everywhere(|agent| {
        for (said, heard) in [("", ""), ("line\n", "line\n"), ("no line", "no line")] {
            let id = agent.start(at_terminal(&[
                "sh",
                "-c",
                "stty -echo; echo ready; x=$(cat; echo .); echo \"$x\"",
            ]));
            wait_for_text(agent, id, "ready\r\n");
            agent.say(&ToAgent::Input { id, bytes: said.as_bytes().to_vec() });
            agent.say(&ToAgent::InputEnd { id });
            let expected = format!("{heard}.\n").replace('\n', "\r\n");
            assert_eq!(agent.finish(id).text(), expected, "{said:?}");
        }
    });
}

fn all_that_was_said_comes_before_the_end() {
    everywhere(|agent| {
        let text = run(agent, "seq 1 30000").text();
        let expected: String =
            (1..=30_000).flat_map(|number| [number.to_string(), "\r\n".to_owned()]).collect();
        assert!(text == expected, "{} bytes of {}", text.len(), expected.len());
    });
}

fn whoever_is_left_at_a_terminal_is_hung_up() {
    everywhere(|agent| {
        assert_eq!(run(agent, "sleep 1000 & exit 3").code(), 3);
        until_count(agent, 0);
    });
}

fn a_terminal_that_nobody_reads_stops_only_its_command() {
    everywhere(|agent| {
        let id = agent.start(at_terminal(&["yes"]));
        let mut heard = 0;
        while heard < 256 * 1024 {
            let FromAgent::Output { bytes, .. } = agent.about(id) else { panic!("no output") };
            heard += bytes.len();
        }
        assert_eq!(agent.shell("echo other").text(), "other\n");
        agent.say(&ToAgent::Kill { id });
        agent.say(&ToAgent::Discard { id, stream: bailiwick_wire::agent::Stream::Stdout });
        assert_eq!(agent.finish(id).signal(), 9);
    });
}
