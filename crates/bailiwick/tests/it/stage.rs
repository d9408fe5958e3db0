//! A runtime for one test, and the few words most tests are made of.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::policy::{Baseline, EffectivePolicy, ToolPolicy, resolve};
use bailiwick::types::{CallReport, ErrorCode, Failure};
use bailiwick::{Builder, Call, Runtime};
use bailiwick_document::{Bounds, Format, parse};
use serde_json::Value;

/// How long a condition may take to come true; far longer than it does, so that a slow machine is no failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// Runs a test on a tokio runtime of its own, with two threads.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    tokio.expect("a tokio runtime").block_on(test)
}

/// Runs a test on a tokio runtime of one thread.
pub(crate) fn block_on_one_thread<T>(test: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    tokio.expect("a tokio runtime").block_on(test)
}

/// Cells for a test: few, since most tests make one call at a time.
pub(crate) fn few() -> Builder {
    Runtime::builder().parked(1)
}

/// A runtime with the defaults of [`few`].
pub(crate) async fn runtime() -> Runtime {
    few().build().await.expect("cells can be made here")
}

/// A policy as a tool's document asks for it, over the shipped baseline.
#[track_caller]
pub(crate) fn policy(document: &str) -> Arc<EffectivePolicy> {
    policy_over(&Arc::new(Baseline::shipped()), document)
}

/// A policy as a tool's document asks for it.
#[track_caller]
pub(crate) fn policy_over(baseline: &Arc<Baseline>, document: &str) -> Arc<EffectivePolicy> {
    let tree = parse("policy.yaml", document, Format::Yaml, Bounds::WRITTEN_BY_HAND).expect("a document");
    let layer = ToolPolicy::read("policy.yaml", &tree).expect("a policy").layer;
    Arc::new(resolve(baseline, None, Some(&Arc::new(layer))).expect("no conflicts"))
}

/// A policy with timers and these limits.
#[track_caller]
pub(crate) fn with_timers(limits: &str) -> Arc<EffectivePolicy> {
    let document = format!("overrides: {{addAllow: [timers], removeDeny: [timers]}}\nlimits: {{{limits}}}\n");
    policy(&document)
}

/// A policy with these limits.
#[track_caller]
pub(crate) fn limited(limits: &str) -> Arc<EffectivePolicy> {
    policy(&format!("limits: {{{limits}}}\n"))
}

/// Runs a call that has to give this value.
pub(crate) async fn gives(runtime: &Runtime, call: Call, expected: Value) {
    let shown = shown(&call);
    let report = runtime.run(call).await.expect("the call is started");
    assert_eq!((report.value(), report.failure()), (&expected, None), "{shown}");
}

/// Runs a call that has to fail by this code.
pub(crate) async fn fails(runtime: &Runtime, call: Call, expected: ErrorCode) -> Failure {
    let shown = shown(&call);
    let report = runtime.run(call).await.expect("the call is started");
    let failure = failure(&report).clone();
    assert_eq!(failure.code, expected, "{shown}\n{failure:?}");
    failure
}

/// The failure that a report has to hold.
#[track_caller]
pub(crate) fn failure(report: &CallReport) -> &Failure {
    report.failure().unwrap_or_else(|| panic!("it gave {}", report.value()))
}

fn shown(call: &Call) -> String {
    let whole = format!("{call:?}");
    // A policy is a page of its own.
    whole.split(", policy: ").next().unwrap_or_default().chars().take(600).collect()
}

/// Whether a condition comes true in time.
pub(crate) async fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    true
}

/// Some bytes that no other test has, as text of these characters.
pub(crate) fn marker(length: usize) -> String {
    let mut bytes = vec![0; length];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    assert_eq!(filled, Ok(length), "randomness");
    bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect()
}
