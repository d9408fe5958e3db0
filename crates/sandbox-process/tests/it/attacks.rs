//! What a guest tries beside the usual, which is in `specs/commands`: quotas that the kernel counts for others too, ways around
//! filters, an agent that is made to stand still, and what the agent holds.

use std::collections::BTreeSet;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use bailiwick_sandbox::{Demand, Mount, Sandbox, SandboxError};
use bailiwick_sandbox_process::Most;
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::processes_with;
use bailiwick_types::WallStatus;

use crate::place::{Place, is_root, path, said, sh, spec, wait, words};

tests!(
    sockets_of_other_families_and_protocols_are_not_made,
    a_terminal_keeps_its_line_discipline,
    watches_of_one_sandbox_leave_the_owner_its_own,
    terminals_of_one_sandbox_leave_others_theirs,
    an_agent_holds_nothing_of_its_keepers,
    an_agent_that_is_made_to_stand_still_is_not_waited_for,
    a_deadline_holds_while_input_is_handed_over,
    two_backends_of_one_process_have_limits_each,
    a_mount_finds_its_place_through_no_link_of_a_guest,
    without_namespaces_whoever_kills_the_agent_does_not_outlive_it,
    without_namespaces_a_pair_of_sockets_reaches_nobody_else,
    without_namespaces_nobody_elses_processes_and_memory_are_reached,
);

/// Runs a text of Python and gives what it says.
async fn python(sandbox: &dyn Sandbox, text: &str) -> String {
    said(&sandbox.exec(words(&["/usr/bin/python3", "-c", text])).await.expect("it runs"))
}

/// A place for sandboxes without namespaces, whatever that leaves open.
fn without_namespaces() -> Place {
    Place::with(|options| {
        options.most = Most::NoNamespaces;
        options.accept = vec![Demand::Kill];
    })
}

fn sockets_of_other_families_and_protocols_are_not_made() {
    const TRY: &str = "
import ctypes, errno
c = ctypes.CDLL(None, use_errno=True)
pair = (ctypes.c_int * 2)()
def tried(call, *words):
    ctypes.set_errno(0)
    return 'made' if call(*words) >= 0 else errno.errorcode[ctypes.get_errno()]
# TIPC, VSOCK, ALG, netlink and the internet have no pairs that anybody needs.
print([tried(c.socketpair, family, kind, 0, pair) for family in (2, 10, 16, 30, 38, 40, 43) for kind in (1, 2, 5)])
# SCTP, SMC, MPTCP, UDP-Lite, L2TP.
print([tried(c.socket, 2, kind, protocol) for kind, protocol in ((1, 132), (5, 132), (5, 0), (1, 256), (1, 262), (2, 136), (2, 115))])
print([tried(c.socket, family, kind, 0) for family in (1, 2, 10) for kind in (1, 2)])
print([tried(c.socketpair, 1, kind, 0, pair) for kind in (1, 2, 5)])
";
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let told = python(sandbox.as_ref(), TRY).await;
        let lines: Vec<&str> = told.lines().collect();
        let all = |line: usize, word: &str| {
            let line = lines.get(line).copied().unwrap_or_default();
            assert!(
                line.trim_matches(['[', ']']).split(", ").all(|one| one == format!("'{word}'")),
                "{told}"
            );
        };
        all(0, "EPERM");
        all(1, "EPERM");
        all(2, "made");
        all(3, "made");
    });
}

fn a_terminal_keeps_its_line_discipline() {
    const TRY: &str = "
import fcntl, os, struct
ours, theirs = os.openpty()
try:
    fcntl.ioctl(theirs, 0x5423, struct.pack('i', 0))
    print('set')
except PermissionError:
    print('refused')
";
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(python(sandbox.as_ref(), TRY).await.trim(), "refused");
    });
}

fn watches_of_one_sandbox_leave_the_owner_its_own() {
    const TAKE: &str = "
import ctypes, os, sys
c = ctypes.CDLL(None)
taken = 0
while taken < 4096 and c.inotify_init() >= 0: taken += 1
if os.fork():
    print(taken, flush=True)
    os._exit(0)
os.setsid()
for stream in range(3): os.close(stream)
import time
time.sleep(600)
";
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let taken: u32 = python(sandbox.as_ref(), TAKE).await.trim().parse().expect("a number");
        assert!((1..=16).contains(&taken), "{taken}");
        let flags = rustix::fs::inotify::CreateFlags::CLOEXEC;
        assert!(rustix::fs::inotify::init(flags).is_ok(), "the owner has none left");
    });
}

fn terminals_of_one_sandbox_leave_others_theirs() {
    const TAKE: &str = "
import os
taken = 0
try:
    while taken < 600:
        os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
        taken += 1
except OSError: pass
print(taken)
";
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        let taken: u32 = python(sandbox.as_ref(), TAKE).await.trim().parse().expect("a number");
        assert!((1..=128).contains(&taken), "{taken}");
    });
}

/// The numbers of the processes whose parent is this one.
fn children(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// What a process has open.
fn open_files(pid: u32) -> BTreeSet<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors");
    let link = |entry: std::fs::DirEntry| std::fs::read_link(entry.path()).ok();
    entries.filter_map(Result::ok).filter_map(link).map(|link| link.display().to_string()).collect()
}

fn an_agent_holds_nothing_of_its_keepers() {
    requires!("root", is_root());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        assert_eq!(sh(sandbox.as_ref(), "echo on").await, "on\n");
        let here = std::process::id();
        let keepers: Vec<u32> = std::fs::read_dir(format!("/proc/{here}/task"))
            .expect("threads")
            .filter_map(Result::ok)
            .flat_map(|thread| {
                let file = thread.path().join("children");
                let text = std::fs::read_to_string(file).unwrap_or_default();
                text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
            })
            .collect();
        let pairs: Vec<(u32, u32)> = keepers
            .into_iter()
            .flat_map(|keeper| children(keeper).into_iter().map(move |agent| (keeper, agent)))
            .collect();
        assert!(!pairs.is_empty(), "there is an agent");
        for (keeper, agent) in pairs {
            let both: Vec<String> = open_files(keeper).intersection(&open_files(agent)).cloned().collect();
            assert_eq!(both, Vec::<String>::new());
            let sockets = open_files(agent).into_iter().filter(|file| file.starts_with("socket:")).count();
            assert_eq!(sockets, 1, "its stream, and no other: {:?}", open_files(agent));
        }
    });
}

/// Stops whoever else there is, for ever; those who are about to execute among them.
const STOPPER: &str = "
import os, signal, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for stream in range(3): os.close(stream)
while True:
    try: os.kill(-1, signal.SIGSTOP)
    except OSError: pass
";

/// Has a guest stop commands before they begin, until the agent waits for one of them.
async fn standing_still(sandbox: &dyn Sandbox) {
    python(sandbox, STOPPER).await;
    let folder = path("/work");
    for _ in 0..500 {
        let asked = sandbox.exec(words(&["/bin/true"]));
        if tokio::time::timeout(Duration::from_millis(300), asked).await.is_err() {
            let looked = sandbox.list(&folder);
            if tokio::time::timeout(Duration::from_millis(300), looked).await.is_err() {
                return;
            }
        }
    }
    panic!("the agent was never made to stand still");
}

fn an_agent_that_is_made_to_stand_still_is_not_waited_for() {
    let place = Place::with(|options| options.patience = Duration::from_secs(1));
    wait(async {
        let sandbox = place.sandbox().await;
        standing_still(sandbox.as_ref()).await;
        let (a_file, a_folder) = (path("/work/a"), path("/work"));
        let asked = sandbox.write_file(&a_file, "a".into(), false);
        let told = tokio::time::timeout(Duration::from_secs(30), asked).await.expect("an answer");
        assert!(matches!(told, Err(SandboxError::Gone { .. })), "{told:?}");
        assert!(sandbox.list(&a_folder).await.is_err());
        assert!(!sandbox.is_alive());
    });
}

fn a_deadline_holds_while_input_is_handed_over() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        standing_still(sandbox.as_ref()).await;
        let mut command = words(&["cat"]);
        command.input = vec![0; 4 << 20].into();
        command.timeout = Some(Duration::from_secs(1));
        let told =
            tokio::time::timeout(Duration::from_secs(30), sandbox.exec(command)).await.expect("an end");
        assert!(told.is_ok_and(|result| result.timed_out));
    });
}

fn two_backends_of_one_process_have_limits_each() {
    requires!("root", is_root());
    let (one, other) = (Place::new(), Place::new());
    wait(async {
        let mechanism = |sandbox: &dyn Sandbox| {
            let walls = &sandbox.receipt().walls;
            walls.iter().find(|part| part.demand == Demand::Memory.name()).expect("a part").clone()
        };
        let (first, second) = (one.sandbox().await, other.sandbox().await);
        let (first, second) = (mechanism(first.as_ref()), mechanism(second.as_ref()));
        assert_eq!(first.status, second.status, "{} and {}", first.mechanism, second.mechanism);
        assert_ne!((first.status, &first.mechanism), (WallStatus::Enforced, &second.mechanism));
    });
}

fn a_mount_finds_its_place_through_no_link_of_a_guest() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("permissions");
    };
    open(place.path());
    let [outer, inner, victim] = ["outer", "inner", "victim"].map(|name| {
        let folder = place.path().canonicalize().expect("a path").join(name);
        std::fs::create_dir(&folder).expect("a folder");
        open(&folder);
        folder
    });
    std::fs::write(inner.join("file"), "").expect("a file");
    // While the root is built, the host's own is there.
    let way_out = std::path::Path::new("/.old").join(victim.strip_prefix("/").expect("an absolute path"));
    std::os::unix::fs::symlink(&way_out, outer.join("way")).expect("a link");
    std::os::unix::fs::symlink(way_out.join("named"), outer.join("end")).expect("a link");
    let mount = |from: std::path::PathBuf, to: &str| {
        Mount { from, to: path(to), writable: true }.open_by_name().expect("it is held")
    };
    for (from, to) in [
        (inner.clone(), "/data/way/made"),
        (inner.join("file"), "/data/way/made"),
        (inner.join("file"), "/data/end"),
    ] {
        wait(async {
            let mut spec = spec();
            spec.mounts = vec![mount(outer.clone(), "/data"), mount(from, to)];
            let made = place.create(spec).await;
            assert!(matches!(made, Err(SandboxError::Mount { .. })), "{to}: {made:?}");
        });
        assert_eq!(std::fs::read_dir(&victim).expect("a folder").count(), 0, "{to}");
    }
}

fn without_namespaces_whoever_kills_the_agent_does_not_outlive_it() {
    requires!("root", is_root());
    let place = without_namespaces();
    let mark = crate::endings::mark(&place);
    let text = format!(
        "
import os, signal
agent = os.getppid()
if os.fork(): signal.pause()
os.setsid()
os.kill(agent, signal.SIGKILL)
os.execv('/bin/sleep', ['sleep', '{mark}'])
"
    );
    wait(async {
        let sandbox = place.sandbox().await;
        let held = sandbox
            .receipt()
            .walls
            .iter()
            .any(|part| part.demand == Demand::Memory.name() && part.status == WallStatus::Enforced);
        let _lost = sandbox.exec(words(&["/usr/bin/python3", "-c", &text])).await;
        sandbox.terminate().await.expect("an end");
        requires!("a memory cgroup", held);
        assert_eq!(processes_with(&mark), Vec::<i32>::new());
    });
}

fn without_namespaces_a_pair_of_sockets_reaches_nobody_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = without_namespaces();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.path(), open.clone()).expect("permissions");
    let name = place.path().join("service");
    let service = UnixDatagram::bind(&name).expect("a service");
    std::fs::set_permissions(&name, open).expect("permissions");
    service.set_nonblocking(true).expect("it does not wait");
    wait(async {
        let sandbox = place.sandbox().await;
        let at = name.display();
        let text = format!(
            "
import socket
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    for tried in ('connect', 'sendto'):
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.connect('{at}') if tried == 'connect' else ours.sendto(b'out', '{at}')
            ours.send(b'out')
        except OSError: pass
"
        );
        python(sandbox.as_ref(), &text).await;
        let mut heard = [0; 8];
        let told = service.recv(&mut heard).map_err(|error| error.kind());
        assert_eq!(told, Err(std::io::ErrorKind::WouldBlock));
    });
}

fn without_namespaces_nobody_elses_processes_and_memory_are_reached() {
    const TRY: &str = "
import ctypes, errno, os
c = ctypes.CDLL(None, use_errno=True)
def tried(call, *words):
    ctypes.set_errno(0)
    return 'done' if call(*words) >= 0 else errno.errorcode[ctypes.get_errno()]
other = os.getppid()
limit = (ctypes.c_ulong * 2)(100, 100)
print(tried(c.prlimit, other, 0, limit, None), tried(c.prlimit, 0, 0, None, limit))
print(tried(c.shmget, 0, 4096, 0o1600), tried(c.semget, 0, 1, 0o1600), tried(c.msgget, 0, 0o1600))
print(tried(c.setpriority, 0, other, 19), tried(c.setpriority, 2, 0, 19), tried(c.setpriority, 0, 0, 1))
print(tried(c.sched_setscheduler, other, 3, ctypes.byref(ctypes.c_int(0))))
";
    let place = without_namespaces();
    wait(async {
        let sandbox = place.sandbox().await;
        let told = python(sandbox.as_ref(), TRY).await;
        let expected = "EPERM done\nEPERM EPERM EPERM\nEPERM EPERM done\nEPERM\n";
        assert_eq!(told, expected);
    });
}
