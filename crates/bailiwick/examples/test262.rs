//! Runs a checkout of test262, each test in a cell of its own, and prints pass counts by folder: a regression of our
//! bindings, or of the engine under them, shows as a folder that lost passes.
//!
//! `make test262 TEST262=path/to/test262`; a second argument narrows it to files whose path holds that text.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use bailiwick::policy::{Baseline, EffectivePolicy, ToolPolicy, resolve};
use bailiwick::{Call, Entry, Language, Runtime};
use bailiwick_document::{Bounds, Format, Node, Value, parse};

/// The policy of a test: what it asks of a shell, and time enough.
const POLICY: &str = "overrides: {addAllow: [eval, timers], removeDeny: [eval, timers]}\n\
    limits: {wall: 20s, cpu: 20s, steps: 5_000_000_000, memory: 256MiB, code: 1MiB}\n";

/// What a test can ask for that is deliberately not here.
const NOT_OFFERED: &[&str] =
    &["SharedArrayBuffer", "Atomics", "dynamic-import", "import-defer", "source-phase-imports", "IsHTMLDDA"];

/// Tests under way at once.
const AT_ONCE: usize = 4;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

/// What a test says about itself.
#[derive(Debug, Default)]
struct About {
    flags: Vec<String>,
    includes: Vec<String>,
    features: Vec<String>,
    /// The error it has to end with.
    negative: Option<String>,
}

fn main() -> ExitCode {
    bailiwick::enter();
    let mut arguments = std::env::args().skip(1);
    let (Some(suite), only) = (arguments.next(), arguments.next()) else {
        say("usage: test262 PATH [TEXT]");
        return ExitCode::from(2);
    };
    match run(Path::new(&suite), only.as_deref()) {
        Ok(failed) => ExitCode::from(u8::from(failed > 0)),
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(5)
        }
    }
}

fn run(suite: &Path, only: Option<&str>) -> Result<u64, Failure> {
    let tree = parse("policy", POLICY, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    let layer = Arc::new(ToolPolicy::read("policy", &tree)?.layer);
    let policy = Arc::new(resolve(&Arc::new(Baseline::shipped()), None, Some(&layer))?);
    let mut tests = Vec::new();
    gather(&suite.join("test"), &mut tests)?;
    tests.retain(|path| only.is_none_or(|only| path.to_string_lossy().contains(only)));
    tests.sort();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut counts: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    tokio.block_on(async {
        let runtime = Runtime::builder().build().await?;
        let mut queue = tests.into_iter();
        let mut under_way = tokio::task::JoinSet::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(path) = queue.next()
            {
                let (runtime, policy, suite) = (runtime.clone(), Arc::clone(&policy), suite.to_owned());
                under_way
                    .spawn(async move { one(&runtime, &policy, &suite, &path).await.map(|how| (path, how)) });
            }
            let Some(done) = under_way.join_next().await else { break };
            let (path, verdict) = done??;
            let count = counts.entry(folder_of(suite, &path)).or_default();
            if let Some(place) = count.get_mut(verdict as usize) {
                *place += 1;
            }
        }
        Ok::<(), Failure>(())
    })?;
    let mut all = [0; 3];
    say(&format!("{:>8} {:>8} {:>8}  folder", "passed", "failed", "skipped"));
    for (folder, count) in &counts {
        let [passed, failed, skipped] = count;
        say(&format!("{passed:>8} {failed:>8} {skipped:>8}  {folder}"));
        for (sum, one) in all.iter_mut().zip(count) {
            *sum += one;
        }
    }
    let [passed, failed, skipped] = all;
    say(&format!("{passed:>8} {failed:>8} {skipped:>8}  in all"));
    Ok(failed)
}

/// Runs one test; once as it stands and, where its flags ask for no mode, once more in strict mode.
async fn one(
    runtime: &Runtime,
    policy: &Arc<EffectivePolicy>,
    suite: &Path,
    path: &Path,
) -> Result<Verdict, Failure> {
    let source = read(path)?;
    let about = about(&source)?;
    let has = |flag: &str| about.flags.iter().any(|one| one == flag);
    let wants_host = source.contains("$262");
    if has("module") || wants_host || about.features.iter().any(|one| NOT_OFFERED.contains(&one.as_str())) {
        return Ok(Verdict::Skipped);
    }
    let mut harness = String::new();
    if !has("raw") {
        let shell = ["assert.js", "sta.js", "doneprintHandle.js"];
        let wanted = shell.iter().copied().take(if has("async") { 3 } else { 2 });
        for name in wanted.chain(about.includes.iter().map(String::as_str)) {
            harness.push_str(&read(&suite.join("harness").join(name))?);
            harness.push('\n');
        }
    }
    let modes: &[&str] = match (has("raw"), has("onlyStrict"), has("noStrict")) {
        (true, _, _) | (_, _, true) => &[""],
        (_, true, _) => &["'use strict';\n"],
        _ => &["", "'use strict';\n"],
    };
    for mode in modes {
        let print = if has("async") { "var print = (text) => console.log(text);\n" } else { "" };
        let code = format!("{mode}{print}{harness}{source}");
        let call = Call::new(Entry::Script, code).language(Language::JavaScript).policy(Arc::clone(policy));
        let report = runtime.run(call).await?;
        let message = report.failure().map(|failure| failure.message.as_str());
        let passed = match (&about.negative, message) {
            (Some(expected), Some(message)) => message.contains(expected.as_str()),
            (None, None) if has("async") => {
                report.logs().iter().any(|line| line.text == "Test262:AsyncTestComplete")
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !passed {
            return Ok(Verdict::Failed);
        }
    }
    Ok(Verdict::Passed)
}

/// Reads what stands between `/*---` and `---*/`.
fn about(source: &str) -> Result<About, Failure> {
    let Some((_, rest)) = source.split_once("/*---") else { return Ok(About::default()) };
    let (text, _) = rest.split_once("---*/").ok_or("front matter without an end")?;
    let tree = parse("front matter", text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    let texts = |key: &str| -> Vec<String> {
        match tree.get(key).map(|node| &node.value) {
            Some(Value::List(list)) => list.iter().filter_map(text_of).collect(),
            _ => Vec::new(),
        }
    };
    Ok(About {
        flags: texts("flags"),
        includes: texts("includes"),
        features: texts("features"),
        negative: tree.get("negative").and_then(|node| node.get("type")).and_then(text_of),
    })
}

fn text_of(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn gather(folder: &Path, tests: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            gather(&path, tests)?;
        } else if path.extension().is_some_and(|extension| extension == "js") && !name.contains("_FIXTURE") {
            tests.push(path);
        }
    }
    Ok(())
}

/// The first two folders below `test`.
fn folder_of(suite: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(suite.join("test")).unwrap_or(path);
    let parts: Vec<_> = inside.parent().into_iter().flat_map(Path::components).take(2).collect();
    parts.iter().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[expect(clippy::disallowed_methods, reason = "files of a suite that the user named")]
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn say(line: &str) {
    // A reader that went away has nothing to miss.
    let _ = writeln!(std::io::stdout(), "{line}");
}
