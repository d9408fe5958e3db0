//! What is in the memory of cells: nothing of the host, nothing of its environment, nothing of another call.

use std::io::{Read as _, Seek as _, SeekFrom};

use bailiwick::{Call, Tenant};
use serde_json::json;

use crate::alone::{command, in_a_process_of_its_own, program, succeeds};
use crate::processes;
use crate::requires::{Needs, has};
use crate::stage::{block_on, comes_true, few, gives, marker, with_timers};

bailiwick_testkit::tests!(
    cells_hold_nothing_of_the_host_and_of_its_environment,
    a_call_is_in_the_memory_of_its_own_cell_only,
);

/// The variable that the host is started with.
const VARIABLE: &str = "SECRET_MARKER";

fn cells_hold_nothing_of_the_host_and_of_its_environment() {
    if has(&[Needs::Root]) {
        succeeds(command("memory_of_cells").arg(marker(32)).env(VARIABLE, marker(32)));
    }
}

fn a_call_is_in_the_memory_of_its_own_cell_only() {
    if has(&[Needs::Root]) {
        in_a_process_of_its_own("memory_of_calls");
    }
}

/// The memory of a process that is not merely a file's.
#[track_caller]
pub(crate) fn memory(pid: u32) -> Vec<u8> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("maps");
    let mut file = std::fs::File::open(format!("/proc/{pid}/mem")).expect("memory");
    let mut bytes = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, flags) = (words.next().expect("a range"), words.next().expect("flags"));
        let name = words.nth(3).unwrap_or("");
        let of_a_file = name.starts_with('/') && !flags.contains('w');
        if !flags.starts_with('r') || of_a_file || name.starts_with("[v") {
            continue;
        }
        let (start, end) = range.split_once('-').expect("two ends");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        let (start, end) = (number(start), number(end));
        file.seek(SeekFrom::Start(start)).expect("an address");
        let before = bytes.len();
        (&mut file).take(end - start).read_to_end(&mut bytes).expect("memory that is mapped can be read");
        assert_eq!((bytes.len() - before) as u64, end - start, "{line}");
    }
    assert!(bytes.len() > 100_000, "only {} bytes of {pid}", bytes.len());
    bytes
}

pub(crate) fn holds(memory: &[u8], text: &str) -> bool {
    let wide: Vec<u8> = text.bytes().flat_map(|byte| [byte, 0]).collect();
    let found = |needle: &[u8]| memory.windows(needle.len()).any(|window| window == needle);
    // The engine keeps text as bytes or as pairs of bytes.
    found(text.as_bytes()) || found(&wide)
}

/// Runs in a process of its own.
pub(crate) fn role() {
    let variable = std::env::var(VARIABLE).expect("the variable");
    let argument = std::env::args().nth(2).expect("the argument");
    let program = program().to_string_lossy().into_owned();
    let on_the_heap = marker(32);
    let folder = tempfile::Builder::new().prefix(&marker(20)).tempdir().expect("a folder");
    let path = folder.path().join(marker(20));
    let opened = std::fs::File::create(&path).expect("a file");
    block_on(async {
        let runtime = few().parked(3).build().await.expect("cells");
        let sent = marker(32);
        let call = Call::body(format!("/* {sent} */ return x")).argument("x", sent.clone());
        gives(&runtime, call, json!(sent)).await;
        assert!(comes_true(|| runtime.count(&Tenant::default()).0 >= 2).await);

        let path = path.to_string_lossy();
        let secrets = [variable.as_str(), &argument, &program, &on_the_heap, &path, &sent];
        let own = memory(std::process::id());
        for secret in secrets {
            assert!(holds(&own, secret), "the search does not even find {secret} in the host");
        }
        drop(own);
        let cells = processes::cells();
        assert!(cells.len() >= 2, "{cells:?}");
        for process in cells.iter().chain(&processes::nurseries()) {
            let memory = memory(process.pid);
            for secret in secrets {
                assert!(!holds(&memory, secret), "{secret} is in the memory of {process:?}");
            }
        }
    });
    drop(opened);
}

/// Runs in a process of its own.
pub(crate) fn calls_role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(3).build().await.expect("cells");
        let secret = marker(32);
        let source = "const copies = Array.from({ length: 100 }, (_, i) => x + i); console.log('there');
            await new Promise(done => setTimeout(done, 25000)); return copies";
        let call = Call::body(source).argument("x", secret.clone()).policy(with_timers("wall: 30s"));
        let (send, mut there) = tokio::sync::mpsc::unbounded_channel();
        let running = tokio::spawn({
            let runtime = runtime.clone();
            async move { runtime.run_with(call, move |_| send.send(()).expect("somebody listens")).await }
        });
        there.recv().await.expect("the line that says that the secret is there");
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert!(comes_true(|| runtime.count(&tenant).0 >= 2).await);
        let with_it = || {
            let cells = processes::cells();
            cells.iter().filter(|cell| holds(&memory(cell.pid), &secret)).count()
        };
        assert_eq!(with_it(), 1, "the secret of one call is not in exactly one cell");
        running.abort();
        assert!(running.await.is_err());
        assert!(comes_true(|| processes::cells().len() == runtime.count(&tenant).0).await);
        gives(&runtime, Call::body("return 1"), json!(1)).await;
        assert!(comes_true(|| processes::cells().len() == runtime.count(&tenant).0).await);
        assert_eq!(with_it(), 0, "the secret outlived its cell");
        for nursery in processes::nurseries() {
            assert!(!holds(&memory(nursery.pid), &secret), "the nursery saw the secret of a call");
        }
    });
}
