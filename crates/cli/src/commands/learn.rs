//! `bailiwick policy learn`: run, see what is asked, propose the least that would do.
//!
//! It begins with nothing declared. Each refusal is widened by its own narrowest fix, while the code runs; a name that
//! is not there at all is granted and the code run again. What is proposed is set beside what the document declares.
//! Without `--live` code works on a copy of its workspace (`scratch`), so that it runs on after a change of files.

mod scratch;

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick::policy::{Diff, EffectivePolicy, GuestPath, Layer, ToolPolicy, diff as compare, resolve};
use bailiwick::types::{CallReport, Denial, Effect, ErrorCode, Failure as Failed, LayerName, ProfileName};
use bailiwick::{Breadth, Call, Language, Observer, Runtime, WorkspaceName};
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_tool::{InputCheck, SecretStatic};
use serde_json::{Value, json};

use crate::cells::{block_on, builder};
use crate::commands::policy::{as_yaml, badge, show_diff};
use crate::commands::run::arguments::{self, Reading};
use crate::documents::{
    self,
    tool::{Held, call_of, checked, held, reading},
};
use crate::failure::Failure;
use crate::outside;
use crate::render::{Screen, bad, faint, level, plain, strong};
use crate::resolved::Session;
use crate::typed::Learn;
use scratch::{Begins, Scratch};

/// How often code is run again because it lacked a name.
const MOST_ROUNDS: usize = 16;

/// What is learned about.
struct Pupil {
    name: String,
    lessons: Vec<Lesson>,
    workspace: WorkspaceName,
    secrets: Vec<SecretStatic>,
    profile: Option<ProfileName>,
    /// What the document declares.
    declared: Layer,
}

/// One run to learn from.
struct Lesson {
    title: String,
    call: Call,
    begins: Begins,
}

/// `bailiwick policy learn FILE`
pub(crate) fn learn(screen: &mut Screen, session: &Session, what: &Learn) -> Result<u8, Failure> {
    let Pupil { name, lessons: planned, workspace, secrets, profile, declared } = read(what)?;
    let baseline = &session.loaded.settings.baseline;
    let undeclared = Arc::new(declared.only_limits());
    let start = resolve(baseline, profile.as_ref(), Some(&undeclared))?;
    let declared = resolve(baseline, profile.as_ref(), Some(&Arc::new(declared)))?;
    let (sample, start) = outside::with_secrets(session, Call::body(""), start, secrets)?;
    let redactor = sample.redactor().map_err(|error| Failure::Argument {
        message: format!("the secrets of this tool cannot be kept out of what is told: {error}"),
        hint: "give it fewer or shorter secrets".to_owned(),
    })?;
    let lessons = Arc::new(Lessons::new(start));
    let net = if what.live { Some(outside::any_net(session)?) } else { None };
    let runs = block_on(async {
        let builder = builder(&what.cells, Breadth::All, Some(baseline));
        let mut builder = outside::offered(session, &what.outside, builder);
        if let Some(net) = net {
            builder = builder.net(net);
        }
        let runtime = builder.build().await?;
        let scratch = (!what.live).then(|| Scratch::new(workspace, outside::folders(session)));
        let mut runs = Vec::new();
        for Lesson { title, call, begins } in planned {
            let mut call = call.secrets_of(&sample).observed_by(Arc::clone(&lessons) as Arc<dyn Observer>);
            if !what.live && !call.has_canned() {
                call = outside::with_canned(call, json!([]), "nothing")?;
            }
            let place = scratch.as_ref().map(|scratch| (scratch, &begins));
            runs.push((title, run(&runtime, &lessons, &call, place).await?));
        }
        Ok(runs)
    })?;
    let learned = lessons.finish();
    let exposed = declared.exposed_to(learned.exposure().clone());
    let mut diff = compare(&exposed, &learned);
    diff.risk_before = badge(session, diff.risk_before);
    diff.risk_after = badge(session, diff.risk_after);
    let clean = |text: &mut String| *text = redactor.redact(text).into_owned();
    diff.newly_allowed.iter_mut().chain(&mut diff.newly_denied).for_each(clean);
    for reason in diff.risk_before.reasons.iter_mut().chain(&mut diff.risk_after.reasons) {
        clean(&mut reason.detail);
    }
    let overrides = learned.own_layer().map_or_else(|| json!({}), Layer::to_overrides);
    // What no longer reads as JSON was a secret's own quotes; then it is told as text.
    let clean = redactor.redact(&overrides.to_string()).into_owned();
    let overrides = serde_json::from_str(&clean).unwrap_or(Value::String(clean));
    tell(screen, &name, &overrides, &lessons.for_good(), &diff, &runs);
    let all_ran = runs.iter().all(|(_, report)| report.is_ok());
    Ok(if all_ran { 0 } else { runs.iter().map(|(_, report)| report.exit_code()).max().unwrap_or(1) })
}

fn read(what: &Learn) -> Result<Pupil, Failure> {
    let file = &what.file;
    let name = documents::name_of(file);
    let workspace = outside::workspace(&what.outside, Some(file))?;
    let flag = what.profile.as_deref().map(ProfileName::parse).transpose()?;
    let http = what.outside.http.as_deref().map(outside::canned).transpose()?;
    let canned = |call: Call, http: Option<&Value>, from: &str| match http {
        Some(http) => outside::with_canned(call, http.clone(), from),
        None => Ok(call),
    };
    let tool = match held(file)? {
        Held::Tool(read) => read.tool,
        Held::Code(code) => {
            let arguments = arguments::read(&what.arg, what.args.as_deref(), |_| Reading::Guess)?;
            let call = Call::body(code).language(Language::Either).arguments(arguments);
            let call = canned(call.workspace(workspace.clone()), http.as_ref(), "--http")?;
            let declared = Layer::empty(LayerName::Tool, name.as_str());
            return Ok(Pupil {
                lessons: vec![Lesson { title: name.clone(), call, begins: Begins::AsItIs }],
                name,
                workspace,
                secrets: Vec::new(),
                profile: flag,
                declared,
            });
        }
    };
    let mut lessons = Vec::new();
    let typed = !what.arg.is_empty() || what.args.is_some();
    if tool.tests().is_empty() || typed {
        let arguments = arguments::read(&what.arg, what.args.as_deref(), |name| reading(&tool, name))?;
        let call = call_of(&tool, checked(&tool, arguments)?)?.workspace(workspace.clone());
        let call = canned(call, http.as_ref(), "--http")?;
        lessons.push(Lesson { title: name.clone(), call, begins: Begins::AsItIs });
    }
    if !typed {
        let inputs = InputCheck::new(&tool);
        for test in tool.tests() {
            // Arguments that do not fit are refused before anything runs, so there is nothing to learn from them.
            let Ok(input) = inputs.check(test.input.clone()) else { continue };
            let call = call_of(&tool, input)?.workspace(workspace.clone());
            let answers = test.http.as_ref().or(http.as_ref()).filter(|_| !what.live);
            let (title, call) = (test.name.clone(), canned(call, answers, &test.name)?);
            lessons.push(Lesson { title, call, begins: Begins::With(test.files.clone()) });
        }
    }
    let ToolPolicy { profile, layer } = tool.policy().clone();
    let secrets = tool.secret_statics();
    let profile = match (profile.map(|name| name.value), flag) {
        (Some(own), Some(flag)) if own != flag => return Err(Failure::TwoProfiles { own, flag }),
        (own, flag) => own.or(flag),
    };
    Ok(Pupil { name, lessons, workspace, secrets, profile, declared: layer })
}

/// Runs a call until it lacks no name that can be granted, each time in a new workspace where one is thrown away.
async fn run(
    runtime: &Runtime,
    lessons: &Lessons,
    call: &Call,
    place: Option<(&Scratch, &Begins)>,
) -> Result<CallReport, Failure> {
    let mut rounds = 0;
    loop {
        let made = place.map(|(scratch, begins)| scratch.make(begins)).transpose()?;
        let call = call.clone().policy(lessons.policy());
        let report = match &made {
            Some((_base, folders)) => runtime.with_folders(folders.clone()).run(call).await?,
            None => runtime.run(call).await?,
        };
        rounds += 1;
        let lacking = report
            .failure()
            .filter(|failure| failure.code == ErrorCode::CapabilityDenied)
            .and_then(|failure| failure.denied.as_ref());
        match lacking {
            Some(denial) if rounds < MOST_ROUNDS && lessons.refused(denial).is_some() => {}
            _ => return Ok(report),
        }
    }
}

/// What was learned so far.
struct Lessons {
    state: Mutex<State>,
}

struct State {
    policy: Arc<EffectivePolicy>,
    /// Paths that were asked for.
    paths: Vec<GuestPath>,
    /// What no override can allow.
    for_good: Vec<Denial>,
}

impl Lessons {
    fn new(policy: EffectivePolicy) -> Self {
        let state = State { policy: Arc::new(policy), paths: Vec::new(), for_good: Vec::new() };
        Self { state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn policy(&self) -> Arc<EffectivePolicy> {
        Arc::clone(&self.state().policy)
    }

    fn for_good(&self) -> Vec<Denial> {
        self.state().for_good.clone()
    }

    /// The least that would do: files are confined to the folder that holds all that was asked for.
    fn finish(&self) -> Arc<EffectivePolicy> {
        let state = self.state();
        let mut paths = state.paths.iter();
        let first = paths.next().and_then(GuestPath::folder);
        let folder = paths.fold(first, |folder, path| folder?.common_folder(path));
        let Some(folder) = folder.filter(|folder| !folder.is_start()) else {
            return Arc::clone(&state.policy);
        };
        let confined = layer_of(&json!({"basePath": folder.to_string()}))
            .and_then(|layer| state.policy.widened_by(&layer));
        confined.map_or_else(|| Arc::clone(&state.policy), Arc::new)
    }
}

impl Observer for Lessons {
    fn asked(&self, effect: &Effect) {
        let Effect::File(request) = effect else { return };
        let paths = bailiwick::paths_of(request);
        self.state().paths.extend(paths.into_iter().filter_map(|path| GuestPath::parse(path).ok()));
    }

    fn refused(&self, denial: &Denial) -> Option<Arc<EffectivePolicy>> {
        let mut state = self.state();
        let wider = denial.fix.as_ref().and_then(|fix| {
            let layer = layer_of(&fix.overrides)?;
            state.policy.widened_by(&layer)
        });
        if let Some(wider) = wider {
            state.policy = Arc::new(wider);
            return Some(Arc::clone(&state.policy));
        }
        if !state.for_good.contains(denial) {
            state.for_good.push(denial.clone());
        }
        None
    }
}

/// Overrides as a layer.
fn layer_of(overrides: &Value) -> Option<Layer> {
    let text = json!({ "overrides": overrides }).to_string();
    let tree = parse("fix", &text, Format::Yaml, Bounds::WRITTEN_BY_HAND).ok()?;
    ToolPolicy::read("fix", &tree).ok().map(|said| said.layer)
}

fn tell(
    screen: &mut Screen,
    name: &str,
    overrides: &Value,
    for_good: &[Denial],
    diff: &Diff,
    runs: &[(String, CallReport)],
) {
    if screen.wants_json() {
        let runs: Vec<Value> = runs
            .iter()
            .map(|(title, report)| json!({"name": title, "ok": report.is_ok(), "error": report.failure()}))
            .collect();
        screen.json(&json!({
            "overrides": overrides,
            "risk": diff.risk_after,
            "diff": diff.to_json(),
            "refused": for_good,
            "runs": runs,
        }));
        return;
    }
    screen.line(&[strong(name), plain(" asked for this; these overrides would do:")]);
    match overrides.as_object().filter(|overrides| !overrides.is_empty()) {
        None => screen.line(&[plain("  none")]),
        Some(overrides) => {
            screen.line(&[plain("overrides:")]);
            for (key, value) in overrides {
                screen.line(&[plain(&format!("  {key}: {}", as_yaml(value)))]);
            }
        }
    }
    screen.field("badge", &[level(diff.risk_after.level)]);
    screen.line(&[]);
    screen.line(&[faint("beside what is declared now:")]);
    show_diff(screen, diff);
    for denial in for_good {
        let why = format!("{}: {}", denial.asked, denial.reason.meaning());
        screen.line(&[bad("no override allows "), plain(&why)]);
    }
    for (title, report) in runs {
        if let Some(Failed { code, message, hint, .. }) = report.failure() {
            screen.line(&[
                bad("did not run to its end: "),
                strong(title),
                plain(&format!(": {code}: {message}")),
            ]);
            if let Some(hint) = hint {
                screen.line(&[plain("  hint: "), plain(hint)]);
            }
        }
    }
}
