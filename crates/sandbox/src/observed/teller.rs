//! Makes the events of one sandbox. Everything that a caller or a guest wrote goes through the redactor here.

use bailiwick_redact::Redactor;
use bailiwick_types::{CorrelationId, ErrorCode, SandboxId, Tier};

use crate::limits::Limit;
use crate::{Command, Ended, Event, EventKind, Events, ExecResult, Image, Sandbox, SandboxError};

/// The most words of a command that are told.
const MOST_WORDS: usize = 64;
/// The most characters of a word, or of a detail.
const LONGEST: usize = 1024;

/// Tells of one sandbox.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    events: Events,
    redactor: Redactor,
    sandbox_id: SandboxId,
    backend: String,
    tier: Tier,
    image: Option<String>,
    network: String,
    correlation_id: Option<CorrelationId>,
}

/// A command as it is told.
#[derive(Debug, Clone)]
pub(super) struct Words {
    argv: Vec<String>,
    shell: bool,
}

impl Teller {
    pub(super) fn new(events: Events, redactor: Redactor, sandbox: &dyn Sandbox) -> Self {
        let spec = sandbox.spec();
        let image = match &spec.image {
            Image::Host => None,
            Image::Named(name) => Some(name.clone()),
        };
        Self {
            events,
            sandbox_id: sandbox.id(),
            backend: sandbox.backend().to_owned(),
            tier: sandbox.receipt().tier,
            image: image.map(|name| redacted(&redactor, &name)),
            network: spec.network.to_string(),
            correlation_id: spec.correlation.clone(),
            redactor,
        }
    }

    /// One who tells of another sandbox to the same listeners.
    pub(super) fn of(&self, sandbox: &dyn Sandbox) -> Self {
        Self::new(self.events.clone(), self.redactor.clone(), sandbox)
    }

    pub(super) fn words(&self, command: &Command) -> Words {
        let mut argv: Vec<String> =
            command.argv().iter().take(MOST_WORDS).map(|word| redacted(&self.redactor, word)).collect();
        let left = command.argv().len().saturating_sub(MOST_WORDS);
        if left > 0 {
            argv.push(format!("… {left} more"));
        }
        Words { argv, shell: command.is_shell() }
    }

    /// Tells something that is about no command.
    pub(super) fn tell(&self, kind: EventKind, detail: Option<&str>) {
        self.events.tell(&self.event(kind, None, detail));
    }

    /// Tells that a limit was reached, where that is what an error says.
    pub(super) fn tell_breach(&self, error: &SandboxError) {
        if error.code() == ErrorCode::DiskLimit {
            self.tell(EventKind::Limit, Some(Limit::Disk.name()));
        }
    }

    /// Tells how a command ended, what was refused to it, and which limits it reached.
    pub(super) fn tell_ended(&self, words: &Words, ended: &Result<Ended, SandboxError>) {
        match ended {
            Ok(ended) => {
                let mut event = self.event(EventKind::Exec, Some(words), None);
                event.exit = Some(if ended.timed_out { 124 } else { ended.exit.status() });
                event.timed_out = ended.timed_out;
                event.oom = ended.oom;
                event.usage = Some(ended.usage);
                self.events.tell(&event);
                for denial in &ended.denials {
                    let detail = format!("{}: {}", denial.code, denial.asked);
                    self.events.tell(&self.event(EventKind::Deny, Some(words), Some(&detail)));
                }
                let breaches = [(ended.timed_out, Limit::Timeout), (ended.oom, Limit::Memory)];
                for (_, limit) in breaches.into_iter().filter(|(reached, _)| *reached) {
                    self.events.tell(&self.event(EventKind::Limit, Some(words), Some(limit.name())));
                }
            }
            Err(error) => self.tell_failed(words, &error.to_string()),
        }
    }

    /// The same for one that was run to its end.
    pub(super) fn tell_result(&self, words: &Words, result: &Result<ExecResult, SandboxError>) {
        let ended = result.as_ref().map_err(Clone::clone).map(|result| Ended {
            exit: result.exit,
            timed_out: result.timed_out,
            oom: result.oom,
            usage: result.usage,
            denials: result.denials.clone(),
        });
        self.tell_ended(words, &ended);
        if result.as_ref().is_ok_and(|result| result.stdout.truncated || result.stderr.truncated) {
            self.events.tell(&self.event(EventKind::Limit, Some(words), Some(Limit::Output.name())));
        }
    }

    /// Tells that a command did not come to an end that anybody heard of.
    pub(super) fn tell_failed(&self, words: &Words, why: &str) {
        self.events.tell(&self.event(EventKind::Exec, Some(words), Some(why)));
    }

    fn event(&self, kind: EventKind, words: Option<&Words>, detail: Option<&str>) -> Event {
        Event {
            kind,
            sandbox_id: self.sandbox_id,
            backend: self.backend.clone(),
            tier: self.tier,
            image: self.image.clone(),
            argv: words.map(|words| words.argv.clone()).unwrap_or_default(),
            shell: words.is_some_and(|words| words.shell),
            exit: None,
            timed_out: false,
            oom: false,
            usage: None,
            network: self.network.clone(),
            detail: detail.map(|detail| redacted(&self.redactor, detail)),
            correlation_id: self.correlation_id.clone(),
        }
    }
}

/// Redacted first and cut afterwards: the other way round, half a secret would be left.
fn redacted(redactor: &Redactor, text: &str) -> String {
    let clean = redactor.redact(text);
    match clean.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", clean.get(..end).unwrap_or_default()),
        None => clean.into_owned(),
    }
}
