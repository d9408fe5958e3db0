//! Which names a guest finds: an allow-list, so that what an engine update adds does not appear by itself.

use bailiwick_types::ECMASCRIPT;

/// The names beside the built-ins that this engine can install when they are granted.
pub const OFFERED: &[&str] = &[
    "console",
    "URL",
    "URLSearchParams",
    "TextEncoder",
    "TextDecoder",
    "atob",
    "btoa",
    "crypto.randomUUID",
    "crypto.getRandomValues",
    "crypto.subtle.digest",
    "crypto.subtle.importKey",
    "crypto.subtle.sign",
    "crypto.subtle.verify",
    "safety.parser.html",
    "safety.parser.xml",
    "safety.parser.csv",
    "safety.parser.yaml",
    "Date",
    "Math.random",
    "fetch",
    "Headers",
    "Request",
    "Response",
    "FormData",
    "AbortController",
    "AbortSignal",
    "safety.fs.readText",
    "safety.fs.readBytes",
    "safety.fs.readJson",
    "safety.fs.list",
    "safety.fs.exists",
    "safety.fs.stat",
    "safety.fs.lineCount",
    "safety.fs.slice",
    "safety.fs.grep",
    "safety.fs.find",
    "safety.fs.search",
    "safety.fs.cut",
    "safety.fs.sort",
    "safety.fs.workspace",
    "safety.fs.roots",
    "safety.fs.writeText",
    "safety.fs.writeBytes",
    "safety.fs.appendText",
    "safety.fs.editText",
    "safety.fs.copy",
    "safety.fs.mkdir",
    "safety.fs.move",
    "safety.fs.delete",
    "safety.fs.deleteDir",
    "eval",
    "Function",
    "setTimeout",
    "setInterval",
    "clearTimeout",
    "clearInterval",
    "sandbox.exec",
];

/// The offered names that nearly every policy grants: they are in place in a warm engine, and a call that is not
/// granted one takes it away. A name that is put in place by the call costs it pages of its own.
const USUAL: &[&str] = &[
    "console",
    "URL",
    "URLSearchParams",
    "TextEncoder",
    "TextDecoder",
    "atob",
    "btoa",
    "crypto.randomUUID",
    "crypto.getRandomValues",
    "crypto.subtle.digest",
    "crypto.subtle.importKey",
    "crypto.subtle.sign",
    "crypto.subtle.verify",
    "safety.parser.html",
    "safety.parser.xml",
    "safety.parser.csv",
    "safety.parser.yaml",
    "Date",
    "Math.random",
];

/// What the pure mode has no place for: all that is asynchronous, or that says something different each time.
const IMPURE: &[&str] = &["FinalizationRegistry", "Promise", "WeakRef", "queueMicrotask", "structuredClone"];

/// What only the pure mode has.
const PURE: &[&str] = &["read_input", "emit"];

/// Which built-ins a context keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purity {
    /// All of ECMAScript.
    Full,
    /// Only what always gives the same for the same input.
    Pure,
}

impl Purity {
    /// The names that are always there, each between two line breaks.
    pub(crate) fn kept(self) -> String {
        let names = ECMASCRIPT.iter().copied();
        match self {
            Self::Full => lines(names),
            Self::Pure => lines(names.filter(|name| !IMPURE.contains(name)).chain(PURE.iter().copied())),
        }
    }

    /// The names that can be granted, each between two line breaks.
    pub(crate) fn offered(self) -> String {
        match self {
            Self::Full => lines(OFFERED.iter().copied()),
            Self::Pure => lines(std::iter::empty()),
        }
    }
}

/// What has to be done so that exactly the granted of the offered names are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Put this name in place.
    Install(&'static str),
    /// Take this name away.
    Remove(&'static str),
}

/// The changes from a warm engine to one that has what was granted. What else was granted is not the engine's to
/// install.
pub(crate) fn changes<'a>(granted: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = Change> + 'a {
    OFFERED.iter().filter_map(move |name| match (granted(name), USUAL.contains(name)) {
        (true, false) => Some(Change::Install(name)),
        (false, true) => Some(Change::Remove(name)),
        (true, true) | (false, false) => None,
    })
}

/// The names that are in place in a warm engine.
pub(crate) fn usual() -> impl Iterator<Item = &'static str> {
    USUAL.iter().copied()
}

fn lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::from("\n");
    for name in names {
        text.push_str(name);
        text.push('\n');
    }
    text
}
