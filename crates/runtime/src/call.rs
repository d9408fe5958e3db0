//! One call, as a caller describes it.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_cell::{Check, Entry, Job, JobLimits, Language, OFFERED, Tenant, Tracing};
use bailiwick_gateway::net::{Canned, Seal};
use bailiwick_gateway::person::Person;
use bailiwick_policy::{Capability, EffectivePolicy};
use bailiwick_types::{CallId, CorrelationId, ErrorCode, Failure, LimitKind, Limits};
use serde_json::{Map, Value};

use crate::effects::recording::{RecordedCall, Recording};
use crate::effects::{Executor, Observer};
use crate::secret::{NamedSecret, SecretStatic};

/// The most arguments and statics together, as JSON text: beyond that a file is the better way.
const MOST_ARGUMENTS: usize = 16 * 1024 * 1024;

/// Whether code is validated before it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Validate {
    /// It is not; it was validated when it was published. The default.
    #[default]
    No,
    /// It is, and findings of severity error keep it from running.
    First,
}

/// One call: code, what it is given, and under which policy it runs.
///
/// Defaults: JavaScript or TypeScript, whichever parses; no arguments; the runtime's own baseline as the policy; the
/// default tenant; not validated.
#[derive(Clone)]
pub struct Call {
    pub(crate) entry: Entry,
    pub(crate) language: Language,
    pub(crate) source: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) statics: Map<String, Value>,
    pub(crate) parameters: Vec<String>,
    pub(crate) input: String,
    pub(crate) policy: Option<Arc<EffectivePolicy>>,
    pub(crate) tenant: Tenant,
    pub(crate) validate: Validate,
    pub(crate) correlation: Option<CorrelationId>,
    pub(crate) secrets: Vec<SecretStatic>,
    pub(crate) workspace: Option<String>,
    pub(crate) canned: Option<Value>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) keeps_files: bool,
    pub(crate) replay: Option<Arc<Recording>>,
    pub(crate) id: Option<CallId>,
    pub(crate) person: Option<(Arc<dyn Person>, Duration)>,
    pub(crate) executor: Option<Arc<dyn Executor>>,
}

impl std::fmt::Debug for Call {
    /// What is in it may be long, and nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("entry", &self.entry)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

impl Call {
    /// Code of any shape.
    pub fn new(entry: Entry, source: impl Into<String>) -> Self {
        Self {
            entry,
            language: Language::Either,
            source: source.into(),
            arguments: Map::new(),
            statics: Map::new(),
            parameters: Vec::new(),
            input: String::new(),
            policy: None,
            tenant: Tenant::default(),
            validate: Validate::No,
            correlation: None,
            secrets: Vec::new(),
            workspace: None,
            canned: None,
            observer: None,
            keeps_files: false,
            replay: None,
            id: None,
            person: None,
            executor: None,
        }
    }

    /// The call that was recorded, to be given again: its code and arguments, and the answers it got then.
    pub fn recorded(recording: Recording) -> Self {
        let RecordedCall { entry, language, source, arguments, statics, parameters, input } =
            recording.call.clone();
        let call = Self::new(entry, source).language(language).arguments(arguments).statics(statics);
        let mut call = call.parameters(parameters).input(input);
        call.replay = Some(Arc::new(recording));
        call
    }

    /// The body of an async function: arguments are variables, `return` gives the result.
    pub fn body(source: impl Into<String>) -> Self {
        Self::new(Entry::Body, source)
    }

    /// A lone expression, whose value is the result.
    pub fn expression(source: impl Into<String>) -> Self {
        Self::new(Entry::Expression, source)
    }

    /// Code that defines `execute(params, config)`.
    pub fn execute(source: impl Into<String>) -> Self {
        Self::new(Entry::Execute, source)
    }

    /// Says what the code is written in.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Gives all arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: Map<String, Value>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Gives the statics: fixed values of the tool.
    #[must_use]
    pub fn statics(mut self, statics: Map<String, Value>) -> Self {
        self.statics = statics;
        self
    }

    /// Gives a secret that the code can read, as a static of this name. Every text of the report is redacted.
    #[must_use]
    pub fn secret(mut self, variable: impl Into<String>, secret: NamedSecret) -> Self {
        self.secrets.push(SecretStatic { variable: variable.into(), secret, seal: None });
        self
    }

    /// Gives a sealed secret: the code gets a placeholder that is worth the value only where the seal says.
    #[must_use]
    pub fn sealed(mut self, variable: impl Into<String>, secret: NamedSecret, seal: Seal) -> Self {
        self.secrets.push(SecretStatic { variable: variable.into(), secret, seal: Some(seal) });
        self
    }

    /// Gives it the secrets of another call.
    #[must_use]
    pub fn secrets_of(mut self, other: &Self) -> Self {
        self.secrets.clone_from(&other.secrets);
        self
    }

    /// What keeps its secrets out of a text.
    pub fn redactor(&self) -> Result<bailiwick_redact::Redactor, bailiwick_redact::RedactorError> {
        bailiwick_redact::Redactor::new(self.secrets.iter().map(|one| &*one.secret.value))
    }

    /// The code.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The arguments.
    pub const fn given(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// Whether its requests are answered from a list.
    pub const fn has_canned(&self) -> bool {
        self.canned.is_some()
    }

    /// The workspace of its files; calls with the same name share one. One per tool by custom.
    #[must_use]
    pub fn workspace(mut self, name: WorkspaceName) -> Self {
        self.workspace = Some(name.0);
        self
    }

    /// Answers requests from this list in place of the network: `[{request, response}]`.
    pub fn canned(mut self, http: Value) -> Result<Self, bailiwick_gateway::net::CannedError> {
        Canned::parse(&http)?;
        self.canned = Some(http);
        Ok(self)
    }

    /// Has somebody watch what the code is refused, who may widen the policy as it goes.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Has what would change a file only decided about, and not done.
    #[must_use]
    pub fn keeping_files(mut self) -> Self {
        self.keeps_files = true;
        self
    }

    /// Puts other code in the place of the recorded one.
    #[must_use]
    pub fn with_code(mut self, entry: Entry, language: Language, source: impl Into<String>) -> Self {
        self.entry = entry;
        self.language = language;
        self.source = source.into();
        self
    }

    /// Names the declared parameters, so that one without an argument is `undefined`.
    #[must_use]
    pub fn parameters(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.parameters = names.into_iter().collect();
        self
    }

    /// What `read_input()` gives, for [`Entry::Emit`].
    #[must_use]
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it under this policy.
    #[must_use]
    pub fn policy(mut self, policy: impl Into<Arc<EffectivePolicy>>) -> Self {
        self.policy = Some(policy.into());
        self
    }

    /// Runs it for this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: Tenant) -> Self {
        self.tenant = tenant;
        self
    }

    /// Says whether it is validated first.
    #[must_use]
    pub fn validate(mut self, validate: Validate) -> Self {
        self.validate = validate;
        self
    }

    /// Ties it to what caused it, in every record.
    #[must_use]
    pub fn correlation(mut self, correlation: CorrelationId) -> Self {
        self.correlation = Some(correlation);
        self
    }

    /// Gives it this id, for a caller who has to name the call before it begins.
    #[must_use]
    pub fn id(mut self, id: CallId) -> Self {
        self.id = Some(id);
        self
    }

    /// Has this person asked where a grant says `ask`, in place of the runtime's; `deadline` is for all its answers.
    #[must_use]
    pub fn asking(mut self, person: Arc<dyn Person>, deadline: Duration) -> Self {
        self.person = Some((person, deadline));
        self
    }

    /// Has this one run its commands, where its policy lets it have any.
    #[must_use]
    pub fn executing(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// What a cell is told.
    pub(crate) fn job(
        self,
        policy: &EffectivePolicy,
        check: Check,
        tracing: Tracing,
    ) -> Result<Job, Box<Failure>> {
        let observed = self.observer.is_some();
        let Self { entry, language, source, arguments, statics, parameters, input, .. } = self;
        // The pure function is granted nothing, and bounded by the wall clock alone: what it gives must not depend on
        // how steps are counted.
        let is_pure = entry == Entry::Emit;
        let limits = policy.limits();
        let bytes = source.len() as u64;
        if bytes > limits.code.get() {
            return Err(Box::new(too_large(bytes, limits)));
        }
        let (arguments, statics) = (Value::Object(arguments).to_string(), Value::Object(statics).to_string());
        let given = arguments.len().saturating_add(statics.len());
        if given > MOST_ARGUMENTS {
            return Err(Box::new(Failure {
                code: ErrorCode::InvalidInput,
                message: format!(
                    "the arguments are {given} bytes of JSON; at most {MOST_ARGUMENTS} are taken"
                ),
                hint: Some("pass less, or a reference to where it can be read".to_owned()),
                location: None,
                stack: None,
                denied: None,
            }));
        }
        Ok(Job {
            entry,
            language,
            check,
            source,
            arguments,
            statics,
            parameters,
            input,
            globals: if is_pure { Vec::new() } else { granted(policy, observed) },
            limits: JobLimits {
                wall_ms: limits.wall.get(),
                cpu_ms: (!is_pure).then(|| limits.cpu.get()),
                steps: (!is_pure).then(|| limits.steps.get()),
                memory: limits.memory.get(),
                stack: limits.stack.get(),
                result: limits.result.get(),
                console_lines: limits.console_lines.get(),
                console_bytes: limits.console_bytes.get(),
            },
            tracing,
        })
    }
}

/// The names a policy grants beside the built-ins, as far as they can be installed.
/// Under an observer what the gateway decides about is there in any case: each effect is asked about by itself.
pub(crate) fn granted(policy: &EffectivePolicy, observed: bool) -> Vec<String> {
    let has = |capability: &Capability| {
        policy.allowed().contains(*capability) || observed && BY_THE_GATEWAY.contains(capability)
    };
    let names = Capability::ALL.iter().filter(|capability| has(capability)).flat_map(|one| one.globals());
    names.filter(|name| OFFERED.contains(name)).map(|name| (*name).to_owned()).collect()
}

/// What the gateway decides about, effect by effect.
const BY_THE_GATEWAY: &[Capability] =
    &[Capability::NetFetch, Capability::FsRead, Capability::FsWrite, Capability::FsDelete];

/// The name of a workspace: a folder's name, nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceName(String);

/// Why a text is no name of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a workspace's name: letters, digits, `-` and `_`, 64 at most, a letter or digit first")]
pub struct WorkspaceNameError(String);

impl WorkspaceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of one owner's own. No other pair gives the same: neither part can hold a `.`.
    #[must_use]
    pub fn of(&self, owner: &Self) -> Self {
        Self(format!("{}.{}", self.0, owner.0))
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, WorkspaceNameError> {
        let is_fine = text.len() <= 64
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if is_fine {
            Ok(Self(text.to_owned()))
        } else {
            Err(WorkspaceNameError(bailiwick_types::shortened(text)))
        }
    }
}

fn too_large(bytes: u64, limits: &Limits) -> Failure {
    let unit = LimitKind::Code.unit();
    Failure {
        code: ErrorCode::CodeTooLarge,
        message: format!(
            "the code is {bytes} bytes long; the limit on the {} is {}",
            LimitKind::Code.doc(),
            unit.format(limits.code.get())
        ),
        hint: Some("raise `code` under `limits` of the tool; the operator's `ceilings` bound it".to_owned()),
        location: None,
        stack: None,
        denied: None,
    }
}
