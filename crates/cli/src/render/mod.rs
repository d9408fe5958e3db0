//! Everything a person sees is written here.
//!
//! Text that came from a document, a path or a URL is written through [`Span`]s, whose control characters are
//! made visible: a hostile key cannot move the cursor or paint a "yes". Colours appear on a terminal only, and
//! never with `NO_COLOR`.

pub(crate) mod approval;
pub(crate) mod bar;
pub(crate) mod change;
pub(crate) mod compare;
mod problems;
pub(crate) mod question;
pub(crate) mod report;
mod span;
pub(crate) mod stage;
pub(crate) mod stream;
pub(crate) mod table;
pub(crate) mod tested;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstream::AutoStream;
use bailiwick_core::Refusal;
use bailiwick_types::ErrorCode;
use serde_json::{Value, json};

pub(crate) use span::{Span, bad, faint, good, level, plain, strong, warning};

use crate::failure::Failure;

/// Where a command writes.
pub(crate) struct Screen {
    out: Vec<u8>,
    json: bool,
    quiet: bool,
}

impl Screen {
    /// A screen for people, or for machines with `--json`.
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { out: Vec::new(), json, quiet }
    }

    /// Whether the result goes out as JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// One line of spans.
    pub(crate) fn line(&mut self, spans: &[Span<'_>]) {
        for span in spans {
            span.write(&mut self.out);
        }
        self.out.push(b'\n');
    }

    /// A labelled line, aligned with its neighbours.
    pub(crate) fn field(&mut self, label: &str, spans: &[Span<'_>]) {
        let label = format!("{label:<14}");
        let mut all = vec![faint(&label)];
        all.extend_from_slice(spans);
        self.line(&all);
    }

    /// A text that is ours as a whole, such as a generated script.
    pub(crate) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A text that is ours as a whole, on stdout at once: for answers that are waited for one by one.
    pub(crate) fn raw_now(&mut self, text: &str) {
        self.raw(text);
        let mut stdout = std::io::stdout().lock();
        // A reader that went away shows when the rest is written.
        let _reader_gone = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
    }

    /// Writes what was gathered so far: for what goes on.
    pub(crate) fn show_now(&mut self) {
        let mut stdout = AutoStream::auto(std::io::stdout().lock());
        // A reader that went away shows when the rest is written.
        let _reader_gone = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
    }

    /// Whether notes and hints are left out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// What was refused, on stderr, with every mistake behind it; for a command that goes on with others.
    pub(crate) fn refusal(&self, refusal: &Refusal) {
        problems::tell_refusal(refusal, self.quiet);
    }

    /// One JSON value on one line.
    pub(crate) fn json_line(&mut self, value: &Value) {
        self.harmless_json(&format!("{value}\n"));
    }

    /// A line of an export: byte by byte as it was signed, but harmless where a person looks at it.
    pub(crate) fn proven_line(&mut self, line: &str) {
        if std::io::stdout().is_terminal() {
            self.harmless_json(&format!("{line}\n"));
        } else {
            self.raw(&format!("{line}\n"));
        }
    }

    /// A text that is ours as a whole, on stderr.
    #[expect(clippy::unused_self, reason = "everything a person sees goes through the screen")]
    pub(crate) fn raw_to_stderr(&self, text: &str) {
        // There is nowhere left to report to.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// One JSON object.
    pub(crate) fn json(&mut self, value: &Value) {
        self.harmless_json(&format!("{value:#}\n"));
    }

    fn harmless_json(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' || bailiwick_types::is_harmless(c) {
                self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                // Only texts hold such characters, and in a text an escape means the same.
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
        }
    }

    /// A remark on stderr that is not part of the result.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.quiet {
            to_stderr(&[strong("note: "), plain(text)]);
        }
    }

    /// A failure: on stderr for people, on stdout for machines. Gives the exit code.
    pub(crate) fn failure(&mut self, failure: &Failure) -> u8 {
        if self.json {
            self.out.clear();
            self.json(&problems::to_json(failure));
        } else {
            problems::tell(failure, self.quiet);
        }
        failure.code().class().exit_code()
    }

    /// Writes what was gathered. A reader that went away is no failure.
    pub(crate) fn finish(self, code: u8) -> ExitCode {
        let mut stdout = AutoStream::auto(std::io::stdout().lock());
        let written = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                to_stderr(&[bad("error: "), plain(&format!("cannot write the result: {error}"))]);
                ExitCode::from(5)
            }
            _ => ExitCode::from(code),
        }
    }
}

/// A line on stderr.
pub(crate) fn to_stderr(spans: &[Span<'_>]) {
    let mut bytes = Vec::new();
    for span in spans {
        span.write(&mut bytes);
    }
    bytes.push(b'\n');
    // There is nowhere left to report to.
    let _ = AutoStream::auto(std::io::stderr().lock()).write_all(&bytes);
}

/// A refusal as the `error` of a JSON object.
pub(crate) fn error_of(refusal: &Refusal) -> Value {
    let mut json = problems::to_json(&Failure::Refused(refusal.clone()));
    json.get_mut("error").map(Value::take).unwrap_or_default()
}

/// What the argument parser has to say: help and version on stdout, mistakes on stderr, or as JSON where that was
/// asked for.
pub(crate) fn usage(message: &clap::Error) -> ExitCode {
    let code = u8::try_from(message.exit_code()).unwrap_or(2);
    if message.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let mut screen = Screen::new(true, false);
        let text = message.render().to_string();
        let summary = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        screen.json(&json!({"ok": false, "error": {
            "code": ErrorCode::InvalidInput, "message": summary, "hint": text, "problems": [],
        }}));
        return screen.finish(code);
    }
    match message.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(5),
        _ => ExitCode::from(code),
    }
}
