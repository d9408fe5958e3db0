//! `bailiwick tool test`: the runs of a Local Pass, each with its verdict. A file is tried, a tool of the catalogue keeps
//! what came of it.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_core::{Action, Event, Listener, Refusal, Reply, TestVerdict, Tested, Which};
use bailiwick_types::ErrorClass;
use serde_json::{Value, json};

use super::{is_about_the_input, watch};
use crate::desk::{At, Console, Person, at_desk, caller};
use crate::failure::Failure;
use crate::places::Places;
use crate::render::{Screen, error_of, plain, tested};
use crate::resolved::Session;
use crate::targets;
use crate::typed::tool::Test;

/// `bailiwick tool test …`
pub(crate) fn test(screen: &mut Screen, session: &Session, what: &Test) -> Result<u8, Failure> {
    let (paths, names): (Vec<String>, Vec<String>) =
        what.targets.iter().cloned().partition(|target| targets::is_path(target));
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    if what.watch && !names.is_empty() {
        return Err(Failure::Argument {
            message: format!("`{}` is a name of the catalogue, which no editor saves", names.join("`, `")),
            hint: "name the file to be watched".to_owned(),
        });
    }
    let listener: Arc<dyn Listener> = if session.verbose {
        Arc::new(Console::default())
    } else {
        Arc::new(Progress { on: std::io::stderr().is_terminal() })
    };
    at_desk(session, &what.cells, async |desk| {
        let stage = Stage { desk, listener, live: what.live };
        if what.watch {
            return watch::watch(screen, &paths, async |screen| stage.files(screen, &paths).await).await;
        }
        let mut passes = stage.files(screen, &paths).await?;
        let which = match (what.all, what.stale) {
            (true, _) => Some(Which::All),
            (_, true) => Some(Which::Stale),
            _ if names.is_empty() => None,
            _ => Some(Which::Named(names)),
        };
        if let Some(which) = which {
            passes.append(stage.kept(screen, which).await?);
        }
        Ok(passes.tell_end(screen))
    })
}

/// What tests run on.
struct Stage<'a> {
    desk: &'a At,
    listener: Arc<dyn Listener>,
    live: bool,
}

impl Stage<'_> {
    /// Tries every document below these paths.
    async fn files(&self, screen: &mut Screen, paths: &[PathBuf]) -> Result<Passes, Failure> {
        let mut passes = Passes::default();
        for path in targets::files_below(paths)? {
            let document = targets::read(&path)?;
            let places = Places::of(&path, &document.text);
            match self.perform(Action::ToolTry { document, live: self.live }).await {
                Ok(all) => all.iter().for_each(|tested| passes.add(screen, Some(&places), tested)),
                Err(Failure::Refused(refusal)) if is_about_the_input(&refusal) => {
                    passes.refused(screen, places.file(), &refusal);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(passes)
    }

    /// Passes tools of the catalogue.
    async fn kept(&self, screen: &mut Screen, which: Which) -> Result<Passes, Failure> {
        let mut passes = Passes::default();
        let all = self.perform(Action::ToolTest { which, live: self.live }).await?;
        for tested in &all {
            passes.add(screen, None, tested);
        }
        Ok(passes)
    }

    async fn perform(&self, action: Action) -> Result<Vec<Tested>, Failure> {
        let caller = caller(Person::Nobody, Arc::clone(&self.listener));
        match self.desk.perform(caller, action).await? {
            Reply::Tested(tested) => Ok(tested),
            _ => Err(Failure::StrangeReply("passes")),
        }
    }
}

/// What came of several passes.
#[derive(Default)]
pub(super) struct Passes {
    code: u8,
    passed: usize,
    failed: usize,
    json: Vec<Value>,
}

impl Passes {
    fn add(&mut self, screen: &mut Screen, file: Option<&Places>, passed: &Tested) {
        self.code = worse(self.code, exit_code(passed));
        if passed.passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        if screen.wants_json() {
            let mut json = json!(passed);
            if let (Value::Object(map), Some(file)) = (&mut json, file) {
                map.shift_insert(0, "file".to_owned(), json!(file.file()));
            }
            self.json.push(json);
        } else {
            let of_tool = Places::of_tool(&passed.tool);
            tested::tell(screen, file.unwrap_or(&of_tool), passed);
        }
    }

    fn refused(&mut self, screen: &mut Screen, file: &str, refusal: &Refusal) {
        self.code = worse(self.code, refusal.code.class().exit_code());
        self.failed += 1;
        if screen.wants_json() {
            self.json.push(json!({"file": file, "passed": false, "error": error_of(refusal)}));
        } else {
            tested::tell_refused(screen, file, refusal);
        }
    }

    fn append(&mut self, other: Self) {
        self.code = worse(self.code, other.code);
        self.passed += other.passed;
        self.failed += other.failed;
        self.json.extend(other.json);
    }

    /// Tells all of it to machines, the sum of several to people; gives the exit code.
    pub(super) fn tell_end(self, screen: &mut Screen) -> u8 {
        if screen.wants_json() {
            screen.json(&json!({"ok": self.code == 0, "tools": self.json}));
            return self.code;
        }
        match self.passed + self.failed {
            0 => screen.line(&[plain("there is nothing to test")]),
            1 => {}
            _ => screen.line(&[plain(&format!("{} passed, {} failed", self.passed, self.failed))]),
        }
        self.code
    }
}

/// The exit code of one pass: by what kept it from running, by a denial, or 1.
pub(super) fn exit_code(tested: &Tested) -> u8 {
    if tested.passed {
        return 0;
    }
    if let Some(refusal) = &tested.refused {
        return refusal.code.class().exit_code();
    }
    let failed = tested.lines.iter().filter(|line| line.verdict == TestVerdict::Failed);
    let denied = failed
        .filter_map(|line| line.failure.as_ref())
        .any(|failure| failure.code.class() == ErrorClass::Denied);
    if denied { ErrorClass::Denied.exit_code() } else { ErrorClass::Guest.exit_code() }
}

/// Of two exit codes the one that says more: our fault, bad input, denied, a limit, a failed test.
fn worse(one: u8, other: u8) -> u8 {
    let order = [5, 2, 3, 4, 1];
    order.into_iter().find(|code| *code == one || *code == other).unwrap_or(0)
}

/// Shows how far it is, where somebody watches.
struct Progress {
    on: bool,
}

impl Listener for Progress {
    fn hear(&self, event: Event) {
        if let (true, Event::Progress { done, of }) = (self.on, event) {
            tested::progress(done, of);
        }
    }
}
