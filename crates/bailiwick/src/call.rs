//! One call, as a caller describes it.

use std::sync::Arc;

use bailiwick_cell::{Check, Entry, Job, JobLimits, Language, OFFERED, Tenant};
use bailiwick_policy::{Capability, EffectivePolicy};
use bailiwick_types::{CorrelationId, ErrorCode, Failure, LimitKind, Limits};
use serde_json::{Map, Value};

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
#[derive(Debug, Clone)]
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
        }
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

    /// What a cell is told.
    pub(crate) fn job(self, policy: &EffectivePolicy, check: Check) -> Result<Job, Box<Failure>> {
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
            globals: if is_pure { Vec::new() } else { granted(policy) },
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
        })
    }
}

/// The names a policy grants beside the built-ins, as far as they can be installed.
pub(crate) fn granted(policy: &EffectivePolicy) -> Vec<String> {
    let names = policy.allowed().iter().flat_map(Capability::globals);
    names.filter(|name| OFFERED.contains(name)).map(|name| (*name).to_owned()).collect()
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
