//! Hundreds of hostile programs in a row leave the process as it was: no zombie, no cell, no descriptor, no memory.

use bailiwick::types::ErrorCode;
use bailiwick::{Call, Probe, Runtime, Tenant, seccomp};
use serde_json::json;

use crate::alone::in_a_process_of_its_own;
use crate::processes;
use crate::stage::{block_on, comes_true, few, gives, limited, with_timers};

bailiwick_testkit::tests!(two_hundred_hostile_programs_leave_nothing_behind);

fn two_hundred_hostile_programs_leave_nothing_behind() {
    in_a_process_of_its_own("hostile");
}

/// How much this process may grow over all of it.
const MAY_GROW: u64 = 32 << 20;

/// Programs that want too much of everything.
const BOMBS: &[&str] = &[
    "for (;;) {}",
    "while (true) await null",
    "const a = []; for (;;) a.push(new Uint8Array(1 << 20))",
    "let s = 'x'; for (;;) s += s",
    "const o = {}; for (let i = 0; ; i++) o['k' + i] = { i }",
    "Array(1e9).fill(0)",
    "new ArrayBuffer(2 ** 40)",
    "(function f() { f() })()",
    "const f = async () => f(); await f()",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
    "JSON.parse('['.repeat(1e5))",
    "for (;;) console.log('x'.repeat(1000))",
    "for (let i = 0; i < 1e5; i++) console.error(i)",
    "return 'x'.repeat(1e7)",
    "return Array(1e6).fill(1)",
    "throw null",
    "throw undefined",
    "throw { get message() { for (;;) {} } }",
    "throw new Proxy({}, { get() { throw 1 } })",
    "for (;;) Promise.resolve().then(() => {})",
    "const p = () => Promise.all(Array.from({ length: 100 }, p)); await p()",
    "await new Promise(() => {})",
    "return /^(a+)+$/.test('a'.repeat(50) + 'b')",
    "return /(x+x+)+y/.exec('x'.repeat(60))",
    "return 7n ** 5000000n",
    "const a = Array.from({ length: 1e5 }, Math.random); for (;;) a.sort()",
    "return { toJSON() { for (;;) {} } }",
    "return new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : 1 })",
    "Object.defineProperty(Object.prototype, 'then', { get() { for (;;) {} } }); return {}",
    "function* g() { for (;;) yield* g() } [...g()]",
    "new Map().set(globalThis, 1); globalThis.x = globalThis; return globalThis",
    "while (1) { try { (function f() { f() })() } catch {} }",
    "for (;;) { try { new ArrayBuffer(1 << 25).slice() } catch {} }",
    "((((((((((",
];

/// What a guest's own doing ends by. A crash, a violation or a fault of ours is none of it.
const FAIR: &[ErrorCode] = &[
    ErrorCode::Timeout,
    ErrorCode::CpuLimit,
    ErrorCode::StepLimit,
    ErrorCode::MemoryLimit,
    ErrorCode::StackLimit,
    ErrorCode::OutputLimit,
    ErrorCode::Deadlock,
    ErrorCode::EvalError,
    ErrorCode::SyntaxError,
];

async fn hostile(runtime: &Runtime, number: usize) {
    let policy = limited("wall: 15ms, memory: 16MiB");
    let source = BOMBS[number % BOMBS.len()];
    let report = runtime.run(Call::body(source).policy(policy)).await.expect("a report");
    if let Some(failure) = report.failure() {
        assert!(FAIR.contains(&failure.code), "{source}: {failure:?}");
    }
    let probe = match number % 11 {
        0 => Probe::Panic,
        2 => Probe::Fault,
        4 => Probe::Abort,
        6 => Probe::Overflow,
        8 => Probe::Allocation,
        10 => Probe::SystemCall { number: seccomp::number("execve").expect("a number"), arguments: [0; 6] },
        _ => return,
    };
    runtime.probe(probe).await.expect("a cell");
}

/// Runs in a process of its own.
pub(crate) fn role() {
    block_on(async {
        let tenant = Tenant::default();
        let runtime = few().parked(4).build().await.expect("cells");
        for number in 0..BOMBS.len() {
            hostile(&runtime, number).await;
        }
        assert!(comes_true(|| runtime.count(&tenant).1 == 0).await, "{:?}", runtime.count(&tenant));
        let (descriptors, memory) = (open(), processes::memory_in_use());
        let nurseries = processes::nurseries();
        for number in 0..200 {
            hostile(&runtime, number).await;
        }
        gives(&runtime, Call::body("return 'fine'"), json!("fine")).await;
        let waits = Call::body("await new Promise(done => setTimeout(done, 5)); return 1");
        gives(&runtime, waits.policy(with_timers("wall: 5s")), json!(1)).await;

        let tidy = || {
            let cells: Vec<_> = nurseries.iter().flat_map(|one| processes::children(one.pid)).collect();
            let (parked, out) = runtime.count(&tenant);
            out == 0 && cells.len() == parked && cells.iter().all(|cell| cell.state != 'Z')
        };
        assert!(comes_true(tidy).await, "{:?} but {:?}", runtime.count(&tenant), processes::all());
        assert_eq!(pids(&processes::nurseries()), pids(&nurseries), "another child, or another nursery");
        assert!(processes::nurseries().iter().all(|one| one.state != 'Z'));
        // Parked cells hold two descriptors each, and there may be some more or fewer of them.
        let allowed = descriptors + 8;
        assert!(comes_true(|| open() <= allowed).await, "{descriptors} before, {} after", open());
        let grown = processes::memory_in_use().saturating_sub(memory);
        crate::output::line(format_args!("the process grew by {} KiB", grown >> 10));
        assert!(grown < MAY_GROW, "it grew by {grown} bytes");
    });
}

fn open() -> usize {
    processes::descriptors(std::process::id()).len()
}

fn pids(list: &[processes::Process]) -> Vec<u32> {
    list.iter().map(|process| process.pid).collect()
}
