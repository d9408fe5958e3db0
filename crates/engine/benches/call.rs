//! What a call costs inside a cell: the time from a job to its report, with the engine built beforehand.

use std::rc::Rc;
use std::time::{Duration, Instant};

use bailiwick_engine::{Breadth, Outside, Phase, Warm};
use bailiwick_types::LogLevel;
use bailiwick_wire::{Check, Entry, Job, JobLimits, Language};

struct World(Instant);

impl Outside for World {
    fn log(&self, _: LogLevel, _: &str) {}

    fn wait(&self, _: Duration) {}

    fn wall(&self) -> Duration {
        self.0.elapsed()
    }

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn cpu(&self) -> Duration {
        self.0.elapsed()
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn phase(&self, _: Phase) {}
}

fn job(entry: Entry, source: &str) -> Job {
    Job {
        entry,
        language: Language::JavaScript,
        check: Check::Skip,
        source: source.to_owned(),
        arguments: r#"{"a": 1, "b": 2}"#.to_owned(),
        statics: "{}".to_owned(),
        parameters: vec!["a".to_owned(), "b".to_owned()],
        input: "input".to_owned(),
        globals: ["console", "Date", "Math.random"].map(str::to_owned).to_vec(),
        limits: JobLimits {
            wall_ms: 5_000,
            cpu_ms: Some(2_000),
            steps: Some(50_000_000),
            memory: 64 << 20,
            stack: 512 << 10,
            result: 1 << 20,
            console_lines: 1_000,
            console_bytes: 256 << 10,
        },
    }
}

fn call(bencher: divan::Bencher<'_, '_>, entry: Entry, source: &str) {
    bencher
        .with_inputs(|| (Warm::new(Breadth::All).ok(), job(entry, source), Rc::new(World(Instant::now()))))
        .bench_local_values(|(warm, job, world)| warm.map(|warm| warm.run(job, world)));
}

#[divan::bench(sample_count = 30, sample_size = 1)]
fn body(bencher: divan::Bencher<'_, '_>) {
    call(bencher, Entry::Body, "return a + b");
}

#[divan::bench(sample_count = 30, sample_size = 1)]
fn body_with_a_log_and_an_object(bencher: divan::Bencher<'_, '_>) {
    call(bencher, Entry::Body, "console.log({ a, b }); return { sum: a + b, list: [1, 2, 3] }");
}

#[divan::bench(sample_count = 30, sample_size = 1)]
fn execute(bencher: divan::Bencher<'_, '_>) {
    call(bencher, Entry::Execute, "function execute(p) { return p.a + p.b }");
}

#[divan::bench(sample_count = 30, sample_size = 1)]
fn emit(bencher: divan::Bencher<'_, '_>) {
    call(bencher, Entry::Emit, "emit(read_input())");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn warm_up() -> bool {
    Warm::new(Breadth::All).is_ok()
}

fn main() {
    divan::main();
}
