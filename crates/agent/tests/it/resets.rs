//! Resets: nothing of before is left, and what is left is said.

use bailiwick_wire::agent::{FromAgent, ToAgent};

use crate::agent::{Agent, as_first, command, has_namespaces};
use crate::commands::wait_for_text;
use crate::place::Place;

bailiwick_testkit::tests![
    a_sandbox_that_was_not_used_is_as_at_birth,
    whatever_was_left_is_gone,
    commands_that_ran_are_told_to_have_ended,
    a_folder_that_is_not_emptied_is_told,
    what_a_guest_did_to_the_agent_is_put_back_or_told,
    ipc_that_may_not_be_removed_is_told,
    a_sandbox_that_was_not_looked_at_at_birth_is_never_proven,
];

#[track_caller]
fn reset(agent: &mut Agent, folders: &[&str]) -> Vec<String> {
    let id = agent.number();
    let folders = folders.iter().map(|&path| path.to_owned()).collect();
    agent.say(&ToAgent::Reset { id, folders });
    match agent.about(id) {
        FromAgent::Reset { left, .. } => left,
        other => panic!("{other:?}"),
    }
}

const NOTHING: [String; 0] = [];

fn a_sandbox_that_was_not_used_is_as_at_birth() {
    as_first(|agent| {
        assert_eq!(reset(agent, &["/tmp"]), NOTHING);
        assert_eq!(agent.run(&["true"]).code(), 0);
        assert_eq!(reset(agent, &["/tmp"]), NOTHING);
    });
}

fn whatever_was_left_is_gone() {
    as_first(|agent| {
        for script in [
            "echo left > /tmp/file; mkdir -p /tmp/a/b && chmod 000 /tmp/a/b /tmp/a; mkfifo /tmp/.p; chmod 000 /tmp",
            "(setsid sleep 1000 > /tmp/open & ) ; rm -f /tmp/open; head -c 5000000 /dev/zero > /tmp/big",
            "touch -d @1 /tmp; chmod 1770 /tmp",
            "ipcmk -M 4096; ipcmk -S 2; ipcmk -Q",
            "setfattr -n user.left -v behind /tmp 2>/dev/null; true",
            "kill -34 1; kill -USR1 1; kill -TERM 1; true",
            "perl -MSocket -e 'socket(A,PF_UNIX,SOCK_STREAM,0); bind(A,sockaddr_un(\"/tmp/sock\")); listen(A,1); socket(B,PF_INET,SOCK_DGRAM,0); bind(B,sockaddr_in(99,INADDR_ANY)); fork() or sleep 1000'",
            "i=0; while [ $i -lt 40 ]; do (setsid sh -c 'while :; do sleep 1000; done' &); i=$((i+1)); done",
            "ionice -c 3 -p 1; taskset -p 1 1",
        ] {
            let went = agent.shell(script);
            assert!(went.ended.is_some());
            assert_eq!(reset(agent, &["/tmp"]), NOTHING, "after `{script}`");
            assert_eq!(agent.count(), 0);
            assert_eq!(
                agent.run(&["find", "/tmp", "-printf", "%p %m\n"]).text(),
                "/tmp 1777\n",
                "after `{script}`"
            );
        }
        let pending = agent.run(&["grep", "-E", "^(SigPnd|ShdPnd)", "/proc/1/status"]).text();
        // Only that a child has ended, which is being told.
        assert!(
            pending
                .lines()
                .all(|line| line.ends_with("0000000000000000") || line.ends_with("0000000000010000")),
            "{pending}"
        );
    });
}

fn commands_that_ran_are_told_to_have_ended() {
    as_first(|agent| {
        let id = agent.start(command(&["sh", "-c", "echo ready; exec yes"]));
        wait_for_text(agent, id, "ready\n");
        assert_eq!(reset(agent, &["/tmp"]), NOTHING);
        assert_eq!(agent.finish(id).signal(), 9);
    });
}

fn a_folder_that_is_not_emptied_is_told() {
    as_first(|agent| {
        agent.shell("echo left > /tmp/file");
        let left = reset(agent, &[]);
        assert!(left.iter().any(|one| one == "/tmp is not empty: file"), "{left:?}");
        assert!(left.iter().any(|one| one.starts_with("space of /tmp is in use")), "{left:?}");
        // A folder of which nothing is known cannot be proven.
        let left = reset(agent, &["/tmp", "/tmp/none"]);
        assert!(left.iter().any(|one| one.starts_with("/tmp/none cannot be looked at")), "{left:?}");
        assert_eq!(reset(agent, &["/tmp"]), NOTHING);
    });
}

fn what_a_guest_did_to_the_agent_is_put_back_or_told() {
    as_first(|agent| {
        // A lower limit that may be raised again is put back; a lower bound on it may not, nor a higher nice value.
        assert_eq!(agent.shell("prlimit --pid 1 --core=0:").code(), 0);
        assert_eq!(reset(agent, &["/tmp"]), NOTHING);
        assert_eq!(agent.shell("prlimit --pid 1 --nofile=200:200 && renice -n 7 -p 1").code(), 0);
        assert_eq!(reset(agent, &["/tmp"]), ["another limit on open files", "another nice value"]);
    });
}

fn ipc_that_may_not_be_removed_is_told() {
    bailiwick_testkit::requires!("user namespaces", has_namespaces());
    let mut agent = Agent::new(Place::FirstWithSharedIpc, &["/tmp"]);
    assert_eq!(agent.shell("ipcmk -M 4096 && ipcmk -S 2 && ipcmk -Q").code(), 0);
    let left = reset(&mut agent, &["/tmp"]);
    for (kind, told) in ["Memory", "Semaphores", "Messages"].iter().zip(&left) {
        assert!(told.starts_with(&format!("System V IPC: {kind} ")), "{left:?}");
    }
    assert_eq!(left.len(), 3, "{left:?}");
}

fn a_sandbox_that_was_not_looked_at_at_birth_is_never_proven() {
    let mut agent = Agent::new(Place::Plain, &["never"]);
    assert_eq!(reset(&mut agent, &[]), ["how it was at birth was not looked at"]);
}
