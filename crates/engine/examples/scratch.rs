#![allow(warnings)]
use bailiwick_engine::*;
use bailiwick_types::LogLevel;
use bailiwick_wire::*;
use std::{cell::*, io::Read, rc::Rc, time::*};
struct Out {
    start: Instant,
    extra: Cell<Duration>,
}
impl Outside for Out {
    fn log(&self, level: LogLevel, text: &str) {
        println!("{}", text);
    }
    fn wait(&self, d: Duration) {
        self.extra.set(self.extra.get() + d);
    }
    fn wall(&self) -> Duration {
        self.start.elapsed() + self.extra.get()
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
    let mut args = std::env::args().skip(1);
    let mode = args.next().unwrap_or("body".into());
    let mut source = String::new();
    std::io::stdin().read_to_string(&mut source).unwrap();
    let entry = match mode.as_str() {
        "body" => Entry::Body,
        "expr" => Entry::Expression,
        "execute" => Entry::Execute,
        "emit" => Entry::Emit,
        _ => Entry::Script,
    };
    let arguments = args.next().unwrap_or("{}".into());
    let globals = match args.next() {
        Some(g) => g.split(',').map(String::from).collect(),
        None => OFFERED
            .iter()
            .filter(|n| **n != "eval" && **n != "Function")
            .map(|s| s.to_string())
            .collect::<Vec<_>>(),
    };
    let job = Job {
        entry,
        language: Language::Either,
        check: Check::Skip,
        source,
        arguments,
        statics: "{}".into(),
        parameters: vec![],
        input: "the input".into(),
        globals,
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
    let t = Instant::now();
    let warm = Warm::new().unwrap();
    let t1 = t.elapsed();
    let o = Rc::new(Out { start: Instant::now(), extra: Cell::new(Duration::ZERO) });
    let t = Instant::now();
    let r = warm.run(job, o);
    let t2 = t.elapsed();
    eprintln!("{:#?}\nwarm {:?} run {:?}", r, t1, t2);
}
