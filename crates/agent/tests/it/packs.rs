//! Packs as a host moves them: from one sandbox into another.

use bailiwick_sys::Errno;
use bailiwick_wire::agent::{FromAgent, ToAgent};

use crate::agent::{Agent, as_first, command};
use crate::commands::wait_for_text;
use crate::files::{done, failed, receive, send};
use crate::place::Place;

bailiwick_testkit::tests![
    files_move_into_another_sandbox,
    a_pack_that_is_too_long_is_refused,
    nobody_runs_while_files_are_packed,
    what_stood_still_before_stands_still_afterwards,
    what_is_no_pack_is_refused,
];

fn pack(agent: &mut Agent, most: u64) -> u32 {
    let id = agent.number();
    agent.say(&ToAgent::Pack { id, folders: vec!["/tmp".to_owned()], most });
    id
}

const TREE: &str = "cd /tmp && mkdir -p a/b shut && echo one > a/one && ln a/one a/b/two && ln -s ../nowhere a/link && mkfifo pipe && truncate -s 500M hole && echo deep > shut/file && chmod 640 a/one && touch -d @12345.25 a/one && chmod 000 shut && chmod 4755 a/b && chmod 1777 a";
const SEEN: &str = "cd /tmp && find . -printf '%p %y %m %s %n %T@ %l\\n' | sort | grep -v '^. d'; cat a/one; chmod 700 shut; cat shut/file; stat -c %b hole";

fn files_move_into_another_sandbox() {
    as_first(|agent| {
        let went = agent.shell(TREE);
        assert_eq!(went.code(), 0, "{}", String::from_utf8_lossy(&went.stderr));
        let id = pack(agent, 1 << 20);
        let packed = receive(agent, id);
        assert!(packed.len() < 10_000, "{} bytes", packed.len());
        let mut other = Agent::new(Place::First, &["/tmp"]);
        let id = other.number();
        other.say(&ToAgent::Unpack { id, folders: vec!["/tmp".to_owned()] });
        send(&mut other, id, &packed);
        done(&mut other, id);
        // Who somebody is does not travel.
        agent.shell("chmod u-s /tmp/a/b");
        assert_eq!(other.shell(SEEN).text(), agent.shell(SEEN).text());
    });
}

fn a_pack_that_is_too_long_is_refused() {
    as_first(|agent| {
        agent.shell("head -c 400000 /dev/urandom > /tmp/file");
        let id = pack(agent, 100_000);
        assert_eq!(failed(agent, id), ("pack".to_owned(), Errno::FBIG));
        // Whoever stood still goes on.
        assert_eq!(agent.run(&["true"]).code(), 0);
    });
}

fn nobody_runs_while_files_are_packed() {
    as_first(|agent| {
        agent.shell("head -c 900000 /dev/urandom > /tmp/file");
        let id = agent.start(command(&["sh", "-c", "echo ready; while :; do :; done"]));
        wait_for_text(agent, id, "ready\n");
        // Without credit the pack stays unfinished.
        let packing = pack(agent, 1 << 20);
        assert!(matches!(agent.about(packing), FromAgent::Data { .. }));
        let (step, errno) = agent.refused(command(&["true"]));
        assert_eq!(
            (step.as_str(), errno),
            ("start a command while files are packed", Errno::BUSY.raw_os_error())
        );
        let other = pack(agent, 1 << 20);
        assert_eq!(failed(agent, other).1, Errno::BUSY);
        assert_eq!(state_of(agent, id), 'T');
        agent.say(&ToAgent::Cancel { id: packing });
        assert_ne!(state_of(agent, id), 'T');
        agent.kill_all();
        assert_eq!(agent.finish(id).signal(), 9);
    });
}

/// In which state the process of a command is; it is the second process of its sandbox that lives.
#[track_caller]
fn state_of(agent: &mut Agent, _id: u32) -> char {
    // A command could not look: the agent reads the file itself, for everybody but the first process.
    let id = agent.number();
    agent.say(&ToAgent::List { id, path: "/proc".to_owned() });
    let mut numbers = Vec::new();
    while let FromAgent::Listed { entries, .. } = agent.about(id) {
        numbers.extend(entries.iter().filter_map(|one| one.name.parse::<u32>().ok()).filter(|pid| *pid != 1));
    }
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    let id = agent.number();
    agent.say(&ToAgent::Read { id, path: format!("/proc/{}/stat", numbers[0]), most: 4096 });
    let stat = String::from_utf8(receive(agent, id)).unwrap();
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap()
}

fn what_stood_still_before_stands_still_afterwards() {
    as_first(|agent| {
        let id = agent.start(command(&["sh", "-c", "echo ready; kill -STOP $$"]));
        wait_for_text(agent, id, "ready\n");
        while state_of(agent, id) != 'T' {}
        let packing = pack(agent, 1 << 20);
        receive(agent, packing);
        assert_eq!(state_of(agent, id), 'T');
        agent.kill_all();
    });
}

fn what_is_no_pack_is_refused() {
    as_first(|agent| {
        for bytes in [&b"no pack at all, whatever it says"[..], b"bailiwick pack 1\n", b""] {
            let id = agent.number();
            agent.say(&ToAgent::Unpack { id, folders: vec!["/tmp".to_owned()] });
            send(agent, id, bytes);
            assert_eq!(failed(agent, id), ("read the pack".to_owned(), Errno::INVAL));
        }
    });
}
