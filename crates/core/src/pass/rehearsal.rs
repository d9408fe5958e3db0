//! The runs of one Local Pass.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_gateway::person::{Asked, Person, Said};
use bailiwick_policy::{Capability, EffectivePolicy};
use bailiwick_runtime::{Call, Observer, Recording, Runtime, Severity};
use bailiwick_tool::{ArgumentProblem, Failed, Given, Miss, Test};
use bailiwick_types::{CallReport, Denial, Effect, ErrorCode, Failure};
use serde_json::{Map, Value};

use super::commands;
use super::record::{self, Pass, Ran};
use super::scratch::Scratch;
use crate::executor::{InSandboxes, OfCore};
use crate::moment::now_ms;
use crate::parsed::Parsed;
use crate::pipeline::{call_of, checked_output, with_arguments};
use crate::{Caller, Core, Event, Missed, Refusal, TestLine, TestVerdict, Tested, new_correlation};

/// How long all runs of one pass may take together.
pub(super) const LONGEST: Duration = Duration::from_mins(5);
/// What the run with all test values is called.
pub(super) const TEST_VALUES: &str = "test values";
/// What the look at the code is called.
const CODE: &str = "code";

/// One run: what goes in, and what it meets.
struct Case<'a> {
    name: &'a str,
    input: Map<String, Value>,
    http: Vec<Value>,
    files: Vec<(String, String)>,
    test: Option<&'a Test>,
}

/// Runs a tool against its test values and tests. A pass comes with it when all went well.
pub(crate) async fn rehearse(
    core: &Core,
    caller: &Caller,
    parsed: &Parsed,
    live: bool,
) -> (Tested, Option<Pass>) {
    let mut tested = Tested {
        tool: parsed.tool.name().as_str().to_owned(),
        passed: false,
        state: None,
        lines: Vec::new(),
        risk: parsed.standing.as_ref().ok().map(|standing| standing.risk.clone()),
        refused: None,
    };
    if let Err(refusal) = all(core, caller, parsed, live, &mut tested.lines).await {
        tested.refused = Some(refusal);
        return (tested, None);
    }
    tested.passed = tested.lines.iter().all(|line| line.verdict != TestVerdict::Failed);
    let Some(standing) = parsed.standing.as_ref().ok().filter(|_| tested.passed) else {
        return (tested, None);
    };
    let results =
        tested.lines.iter().map(|line| Ran { name: line.name.clone(), verdict: line.verdict, ms: line.ms });
    let pass = Pass {
        covered: parsed.covered.to_string(),
        policy_hash: standing.hash.to_string(),
        policy: Value::clone(&standing.memory),
        level: standing.level(),
        engine: record::engine(),
        time: bailiwick_audit::rfc3339(now_ms()),
        results: results.collect(),
    };
    (tested, Some(pass))
}

async fn all(
    core: &Core,
    caller: &Caller,
    parsed: &Parsed,
    live: bool,
    lines: &mut Vec<TestLine>,
) -> Result<(), Refusal> {
    let tool = &parsed.tool;
    let standing = parsed.standing()?;
    let values = test_values(parsed)?;
    if let Some(block) = tool.command() {
        return commands::all(core, caller, parsed, block, values, live, lines).await;
    }
    let call = call_of(core, tool)?.policy(Arc::clone(&standing.policy));
    let runtime = if live {
        core.inner.world.runtime_for(&standing.policy).await?
    } else {
        core.inner.world.runtime().await?.clone()
    };
    let mut report = |line: TestLine| {
        caller
            .listener
            .hear(Event::Test { tool: tool.name().as_str().to_owned(), line: Box::new(line.clone()) });
        lines.push(line);
    };
    let blocked = look_at_code(&runtime, call.clone()).await?;
    let everything = Case {
        name: TEST_VALUES,
        input: values,
        http: tool
            .tests()
            .iter()
            .filter_map(|test| test.http.as_ref()?.as_array())
            .flatten()
            .cloned()
            .collect(),
        files: tool.tests().iter().flat_map(|test| test.files.clone()).collect(),
        test: None,
    };
    let cases = tool.tests().iter().map(|test| Case {
        name: &test.name,
        input: test.input.clone(),
        http: test.http.as_ref().and_then(Value::as_array).cloned().unwrap_or_default(),
        files: test.files.clone(),
        test: Some(test),
    });
    let setting = Setting { core, caller, parsed, runtime: &runtime, call: &call, live };
    if let Some(mut line) = blocked {
        // Code that names what its policy does not grant is not run; what it would ask for first is told all the same.
        if let Some(denial) = setting.first_denial(everything).await? {
            line.failure = Some(of_denial(denial));
        }
        report(line);
        return Ok(());
    }
    let begun = Instant::now();
    for case in std::iter::once(everything).chain(cases) {
        if begun.elapsed() > LONGEST {
            return Err(took_too_long());
        }
        report(setting.run(case).await?);
    }
    Ok(())
}

/// All runs of a pass took longer than they may.
pub(super) fn took_too_long() -> Refusal {
    let message = format!("the tests took longer than {} seconds in all", LONGEST.as_secs());
    Refusal::new(ErrorCode::Timeout, message).with_hint("test less, or quicker")
}

/// The arguments made of test values. Every required parameter must have one.
fn test_values(parsed: &Parsed) -> Result<Map<String, Value>, Refusal> {
    parsed.tool.trial().map_err(|lacking| {
        Refusal::validation(format!("required parameters have no `testValue`: {}", lacking.join(", ")))
            .with_hint(format!("add `testValue:` to the parameter `{}`", lacking.first().unwrap_or(&"…")))
    })
}

/// What blocks the code from running, found without running it.
async fn look_at_code(runtime: &Runtime, call: Call) -> Result<Option<TestLine>, Refusal> {
    let found =
        runtime.validate(call).await.map_err(|error| Refusal::new(error.code(), error.to_string()))?;
    let failure = match found {
        Err(failure) => *failure,
        Ok(findings) => {
            let Some(finding) = findings.into_iter().find(|finding| finding.severity == Severity::Error)
            else {
                return Ok(None);
            };
            Failure {
                code: ErrorCode::Validation,
                message: format!("{}: {}", finding.name, finding.why),
                hint: Some(finding.instead),
                location: Some(finding.location),
                stack: None,
                denied: None,
            }
        }
    };
    Ok(Some(TestLine {
        name: CODE.to_owned(),
        verdict: TestVerdict::Failed,
        ms: 0.0,
        misses: Vec::new(),
        failure: Some(failure),
    }))
}

/// What all runs of one pass share.
struct Setting<'a> {
    core: &'a Core,
    caller: &'a Caller,
    parsed: &'a Parsed,
    runtime: &'a Runtime,
    call: &'a Call,
    live: bool,
}

impl Setting<'_> {
    async fn run(&self, case: Case<'_>) -> Result<TestLine, Refusal> {
        let Case { name, input, http, files, test } = case;
        let world = &self.core.inner.world;
        let arguments = match self.parsed.input.check(input) {
            Ok(arguments) => arguments,
            Err(problems) => return Ok(misfit(name, problems, test)),
        };
        let scratch = Scratch::with(world.data(), &files)?;
        let runtime = self.runtime.with_folders(scratch.folders(&world.folders.config));
        let mut call = match test.and_then(|test| test.recording.as_ref()) {
            Some(recording) => self.replayed(recording)?,
            None => with_arguments(self.call.clone(), &self.parsed.tool, arguments),
        };
        if self.parsed.standing()?.policy.allowed().contains(Capability::ProcessExec) {
            // A sandbox without network and mounts touches nothing, so a pass has it as well; each run its own.
            call = call.executing(Arc::new(InSandboxes::new(OfCore::to_pass(self.core), new_correlation()?)));
        }
        if !(self.live && http.is_empty()) {
            call = call.canned(Value::Array(http)).map_err(|error| Refusal::validation(error.to_string()))?;
            // Nothing that is asked for leaves this rehearsal, so nobody has to be asked.
            call = call.asking(Arc::new(Rehearsing), Duration::from_secs(1));
        }
        let report =
            runtime.run(call).await.map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let report = checked_output(self.parsed, report);
        let mut missed = match test {
            Some(test) => misses(test, given(&report)),
            None => Vec::new(),
        };
        if let Some(test) = test {
            missed.extend(scratch.misses(test)?);
        }
        for line in report.logs() {
            self.caller.listener.hear(Event::Log(line.clone()));
        }
        Ok(line(name, report.usage().wall_ms, missed, report.failure().cloned(), test))
    }

    /// What the code asks for first and is denied, seen in a run in which nothing that it asks for is done.
    async fn first_denial(&self, case: Case<'_>) -> Result<Option<Denial>, Refusal> {
        let Case { input, http, files, .. } = case;
        let Ok(arguments) = self.parsed.input.check(input) else { return Ok(None) };
        let world = &self.core.inner.world;
        let scratch = Scratch::with(world.data(), &files)?;
        let runtime = self.runtime.with_folders(scratch.folders(&world.folders.config));
        let watching = Arc::new(Watching::default());
        let observer: Arc<dyn Observer> = watching.clone();
        let call = with_arguments(self.call.clone(), &self.parsed.tool, arguments);
        let call = call.observed_by(observer).keeping_files();
        let call = call.canned(Value::Array(http)).map_err(|error| Refusal::validation(error.to_string()))?;
        // Whatever it ends by: only what it was denied counts.
        runtime.run(call).await.map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        Ok(watching.0.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    /// The code of today against what the recording holds.
    fn replayed(&self, recording: &Value) -> Result<Call, Refusal> {
        let wrong = |error: String| {
            Refusal::validation(format!("a test's `recording` is none: {error}"))
                .with_hint("make one with bailiwick run --record FILE")
        };
        let recording = Recording::parse(&recording.to_string()).map_err(|error| wrong(error.to_string()))?;
        let tool = &self.parsed.tool;
        let standing = self.parsed.standing()?;
        let call = Call::recorded(recording).secrets_of(self.call).policy(Arc::clone(&standing.policy));
        Ok(match tool.code() {
            Some(code) => call.with_code(tool.entry(), tool.language(), code),
            None => call,
        })
    }
}

/// The line of a run whose arguments do not fit: it did not begin.
pub(super) fn misfit(name: &str, problems: Vec<ArgumentProblem>, test: Option<&Test>) -> TestLine {
    let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let hint = problems.into_iter().find_map(|problem| problem.hint);
    not_begun(name, format!("the arguments do not fit: {message}"), hint, test)
}

/// The line of a run that did not begin for what it was given.
pub(super) fn not_begun(name: &str, message: String, hint: Option<String>, test: Option<&Test>) -> TestLine {
    let code = ErrorCode::InvalidInput;
    let failure = Failure { code, message, hint, location: None, stack: None, denied: None };
    let given = Given { outcome: Err(failed(&failure)), wall_ms: 0.0 };
    let misses = test.map_or_else(Vec::new, |test| misses(test, given));
    line(name, 0.0, misses, Some(failure), test)
}

pub(super) fn misses(test: &Test, given: Given<'_>) -> Vec<Missed> {
    test.expect.check(given).into_iter().map(missed_of).collect()
}

/// A miss as it is told.
pub(super) fn missed_of(miss: Miss) -> Missed {
    Missed { kind: miss.kind.word().to_owned(), message: miss.message, diff: miss.diff }
}

pub(super) fn given(report: &CallReport) -> Given<'_> {
    let outcome = match report.failure() {
        Some(failure) => Err(failed(failure)),
        None => Ok(report.value()),
    };
    Given { outcome, wall_ms: report.usage().wall_ms }
}

fn failed(failure: &Failure) -> Failed<'_> {
    Failed { code: failure.code, message: &failure.message }
}

/// The line of a run: it failed if an expectation was missed, or if the code failed and nothing expected that.
pub(super) fn line(
    name: &str,
    ms: f64,
    misses: Vec<Missed>,
    failure: Option<Failure>,
    test: Option<&Test>,
) -> TestLine {
    let expected = test.is_some_and(|test| test.expect.throws.is_some());
    let verdict = match &failure {
        _ if !misses.is_empty() => TestVerdict::Failed,
        None => TestVerdict::Passed,
        Some(_) if expected => TestVerdict::Passed,
        // The tool reached for nothing that it may not; only the answer is missing.
        Some(failure) if test.is_none() && has_no_answer(failure) => TestVerdict::Unanswered,
        Some(_) => TestVerdict::Failed,
    };
    let failure = failure.filter(|_| verdict != TestVerdict::Passed);
    TestLine { name: name.to_owned(), verdict, ms, misses, failure }
}

/// Whether a run failed only since no answer is canned for one of its requests.
fn has_no_answer(failure: &Failure) -> bool {
    failure.reason() == Some("no-canned-answer")
}

/// A denial as the failure of a run.
fn of_denial(denial: Denial) -> Failure {
    let fix = denial.fix.as_ref().map(|fix| format!("overrides: {} ({})", fix.overrides, fix.risk));
    Failure {
        code: denial.code,
        message: format!("{}: {}", denial.asked, denial.reason.meaning()),
        hint: fix,
        location: None,
        stack: None,
        denied: Some(denial),
    }
}

/// Remembers the first denial, and widens nothing.
#[derive(Default)]
struct Watching(Mutex<Option<Denial>>);

impl Observer for Watching {
    fn asked(&self, _effect: &Effect) {}

    fn refused(&self, denial: &Denial) -> Option<Arc<EffectivePolicy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| denial.clone());
        None
    }
}

/// Says yes to every effect of a rehearsal.
struct Rehearsing;

impl Person for Rehearsing {
    fn ask(&self, _asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        Box::pin(std::future::ready(Said::Yes))
    }
}
