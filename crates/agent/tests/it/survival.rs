//! What a guest may do to an agent, which is of the same user, and what the agent does then: it goes on.

use bailiwick_sys::Errno;

use crate::agent::{as_first, command, everywhere};

bailiwick_testkit::tests![
    an_agent_outlives_the_signals_of_its_guests,
    without_processes_a_command_does_not_start_and_the_next_one_does,
    without_descriptors_a_command_does_not_start,
    an_agent_cannot_be_looked_into,
];

fn an_agent_outlives_the_signals_of_its_guests() {
    everywhere(|agent| {
        // Whoever is the first process is safe from all of them, others from all that can be held back.
        let last = if agent.shell("test $PPID = 1").code() == 0 { "KILL STOP" } else { "" };
        let script = format!(
            "for s in HUP INT QUIT TERM USR1 USR2 PIPE ALRM CHLD TSTP TTIN TTOU XCPU SYS 32 33 34 64 {last}; do kill -$s $PPID; done"
        );
        agent.shell(&script);
        assert_eq!(agent.shell("echo alive").text(), "alive\n");
    });
}

fn without_processes_a_command_does_not_start_and_the_next_one_does() {
    as_first(|agent| {
        assert_eq!(agent.shell("ulimit -Hu > /tmp/most; prlimit --pid 1 --nproc=1:").code(), 0);
        let (step, errno) = agent.refused(command(&["true"]));
        assert_eq!((step.as_str(), errno), ("fork", Errno::AGAIN.raw_os_error()));
        // A reset puts the limit back, and then commands start again.
        let id = agent.number();
        agent.say(&bailiwick_wire::agent::ToAgent::Reset { id, folders: vec!["/tmp".to_owned()] });
        assert_eq!(agent.about(id), bailiwick_wire::agent::FromAgent::Reset { id, left: Vec::new() });
        assert_eq!(agent.run(&["true"]).code(), 0);
    });
}

fn without_descriptors_a_command_does_not_start() {
    as_first(|agent| {
        assert_eq!(agent.shell("prlimit --pid 1 --nofile=7:7").code(), 0);
        let (step, errno) = agent.refused(command(&["true"]));
        assert_eq!((step.as_str(), errno), ("make a pipe", Errno::MFILE.raw_os_error()));
        let (step, errno) = agent.refused(command(&["true"]));
        assert_eq!((step.as_str(), errno), ("make a pipe", Errno::MFILE.raw_os_error()));
    });
}

fn an_agent_cannot_be_looked_into() {
    as_first(|agent| {
        for path in ["/proc/1/mem", "/proc/1/fd/4", "/proc/1/environ", "/proc/1/maps"] {
            let went = agent.run(&["head", "-c", "1", path]);
            assert_eq!((went.code(), went.stdout.len()), (1, 0), "{path}");
        }
    });
}
