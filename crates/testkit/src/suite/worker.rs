//! A second process of the test binary that runs the cases of one group inside a namespace.
//!
//! The first process writes a line for each case, `ID CASE`, or `ID` alone for the look afterwards with ` whole` behind it where every
//! case ran; the worker answers `{"id": …, "wrong": …}`, in any order. Its first line says whether the group could be prepared.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Group, Place, Prepared, lock};
use crate::{again, hollow, netns};

/// The argument in front of a group's name.
const GROUP: &str = "--group";
const READY: &str = "ready";
const MISSING: &str = "missing";
/// Stands for the look afterwards, in place of a case.
const FINISH: &str = "//finish";
const FINISH_WHOLE: &str = "//finish-whole";

/// The first process's side.
pub(super) struct Worker {
    child: Mutex<Child>,
    asks: Mutex<Asks>,
    answers: Arc<Mutex<HashMap<u64, Sender<Option<String>>>>>,
}

struct Asks {
    input: Option<ChildStdin>,
    next: u64,
}

impl Worker {
    /// Starts the worker of a group; `None` where the machine lacks what the group needs.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(super) fn start(group: &str, tell: &str, command: &dyn Fn(&Path) -> Command) -> Option<Self> {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = command(&program);
        command.args([GROUP, group]).env(again::MARK, tell);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the worker starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        if first == MISSING {
            child.wait().expect("the worker ends");
            return None;
        }
        assert_eq!(first, READY, "the worker of {group} could not be prepared");
        let answers: Arc<Mutex<HashMap<u64, Sender<Option<String>>>>> = Arc::default();
        let waiting = Arc::clone(&answers);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let answer: Value = serde_json::from_str(&line).unwrap_or_default();
                let sender =
                    answer.get("id").and_then(Value::as_u64).and_then(|id| lock(&waiting).remove(&id));
                let Some(sender) = sender else { continue };
                // The case may have been given up.
                let _ = sender.send(answer.get("wrong").and_then(Value::as_str).map(str::to_owned));
            }
            // Dropping what is left tells the waiting cases that the worker has gone.
            lock(&waiting).clear();
        });
        let asks = Mutex::new(Asks { input: child.stdin.take(), next: 0 });
        Some(Self { child: Mutex::new(child), asks, answers })
    }

    fn ask(&self, case: &str) -> Result<(), String> {
        let (sender, answer) = channel();
        {
            let mut asks = lock(&self.asks);
            asks.next += 1;
            let id = asks.next;
            lock(&self.answers).insert(id, sender);
            let line = format!("{id} {case}\n");
            let input = asks.input.as_mut().ok_or("the worker has ended")?;
            input.write_all(line.as_bytes()).map_err(|error| format!("the worker does not read: {error}"))?;
        }
        match answer.recv() {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => Err(wrong),
            Err(_) => Err("the worker ended before the case did".to_owned()),
        }
    }
}

impl Prepared for Worker {
    fn check(&self, case: &str) -> Result<(), String> {
        self.ask(case)
    }

    fn finish(&self, is_whole: bool) -> Result<(), String> {
        self.ask(if is_whole { FINISH_WHOLE } else { FINISH })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // At the end of its input the worker ends by itself.
        drop(lock(&self.asks).input.take());
        let _ = lock(&self.child).wait();
    }
}

/// The group whose worker this process is to be.
pub(super) fn asked_for() -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    (arguments.next()? == GROUP).then(|| arguments.next()).flatten()
}

/// The worker's side: runs cases until its input ends.
#[expect(clippy::expect_used, reason = "a worker without its group has nothing to run")]
pub(super) fn serve(name: &str, groups: Vec<Group>) -> ExitCode {
    let group = groups.into_iter().find(|group| group.name == name).expect("the group is in this binary");
    match group.place {
        Place::Here => {}
        Place::Network(_) => assert!(netns::inside(), "a worker of a network runs in that network"),
        Place::Box => assert!(hollow::is_inside(), "a worker of a box runs in that box"),
    }
    let Some(prepared) = (group.prepare)() else {
        write_line(MISSING);
        return ExitCode::SUCCESS;
    };
    write_line(READY);
    std::thread::scope(|scope| {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let prepared = &prepared;
            scope.spawn(move || {
                let Some((id, case)) = line.split_once(' ') else { return };
                let run = std::panic::AssertUnwindSafe(|| match case {
                    FINISH => prepared.finish(false),
                    FINISH_WHOLE => prepared.finish(true),
                    case => prepared.check(case),
                });
                let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(panic_text(&*panic)));
                let id: u64 = id.parse().unwrap_or_default();
                write_line(&json!({"id": id, "wrong": result.err()}).to_string());
            });
        }
    });
    ExitCode::SUCCESS
}

/// What a panic said.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "the case panicked".to_owned())
}

#[expect(clippy::expect_used, reason = "a worker that cannot answer has nothing left to do")]
fn write_line(line: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).expect("the first process reads");
}
