#![allow(warnings)]
use bailiwick_engine::*;
use bailiwick_types::LogLevel;
use bailiwick_wire::*;
use std::{cell::*, io::Read, rc::Rc, time::*};
struct Out {
    start: Instant,
}
impl Outside for Out {
    fn log(&self, level: LogLevel, text: &str) {}
    fn wait(&self, d: Duration) {}
    fn wall(&self) -> Duration {
        self.start.elapsed()
    }
    fn cpu(&self) -> Duration {
        self.start.elapsed()
    }
    fn random(&self, b: &mut [u8]) {
        for (i, x) in b.iter_mut().enumerate() {
            *x = i as u8 + 7;
        }
    }
    fn phase(&self, _: Phase) {}
}
fn main() {
    for i in 0..8 {
        let t = Instant::now();
        let warm = Warm::new().unwrap();
        let t1 = t.elapsed();
        let job = Job {
            entry: Entry::Body,
            language: Language::Either,
            check: Check::Skip,
            source: "return a + b".into(),
            arguments: "{\"a\":1,\"b\":2}".into(),
            statics: "{}".into(),
            parameters: vec!["a".into(), "b".into()],
            input: "the input".into(),
            globals: vec!["console".into(), "Date".into(), "Math.random".into()],
            limits: JobLimits {
                wall_ms: 5000,
                cpu_ms: Some(2000),
                steps: Some(50_000_000),
                memory: 64 << 20,
                stack: 512 << 10,
                result: 1 << 20,
                console_lines: 1000,
                console_bytes: 256 << 10,
            },
        };
        let o = Rc::new(Out { start: Instant::now() });
        let t = Instant::now();
        let r = warm.run(job, o);
        println!("{:?} {:?} {:?}", t1, t.elapsed(), r.given);
    }
}
