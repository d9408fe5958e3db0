//! The names that are told when they are found: data, and nothing but data. A name that is not here is not a finding,
//! however absent it is at run time.

/// A name that does not exist unless it is granted, why not, and what to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
    pub(crate) instead: &'static str,
}

const fn blocked(name: &'static str, why: &'static str, instead: &'static str) -> Blocked {
    Blocked { name, why, instead }
}

const ONE_FILE: &str = "there are no modules: a tool is one file";
const WRITE_IT: &str = "write the code into the tool";
const NO_PROCESS: &str = "there is no process to see";
const PASS_IT: &str = "pass what you need as a parameter";
const NO_COMMAND: &str = "no command runs on the host";
const SANDBOX: &str = "grant process.exec and use sandbox.exec, or write a command tool";
const TEXT_AS_CODE: &str = "text is not run as code";
const WRITE_CODE: &str = "write the code itself, or a function that takes what differs";
const NO_TIMERS: &str = "a call has no timers unless `timers` is granted";
const GRANT_TIMERS: &str = "grant timers, or do the work at once";
const NO_BROWSER: &str = "this is not a browser";
const GLOBAL_THIS: &str = "use globalThis";
const SHARED: &str = "shared memory makes precise clocks";
const USE_BUFFER: &str = "use ArrayBuffer";
const GATEWAY: &str = "requests go through the gateway";
const USE_FETCH: &str = "use fetch";
const NO_NETWORK: &str = "the network is closed to this tool";
const OPEN_HOSTS: &str = "set network: allowlist, and list the hosts";
const ONE_THREAD: &str = "a call is one thread";
const AWAIT_IT: &str = "do the work in the call, or call another tool";
const NOT_NODE: &str = "this is not Node.js";
const NOT_GRANTED: &str = "the policy of this tool does not grant it";
const NO_STORE: &str = "nothing outlives a call";
const RETURN_IT: &str = "return what should be kept";

/// The names, in every mode.
pub(crate) const BLOCKED: &[Blocked] = &[
    blocked("require", ONE_FILE, WRITE_IT),
    blocked("module", ONE_FILE, "define execute, or return the result"),
    blocked("exports", ONE_FILE, "define execute, or return the result"),
    blocked("importScripts", ONE_FILE, WRITE_IT),
    blocked("__dirname", "code has no place in a file system", PASS_IT),
    blocked("__filename", "code has no place in a file system", PASS_IT),
    blocked("process", NO_PROCESS, PASS_IT),
    blocked("Deno", "this is not Deno", PASS_IT),
    blocked("Bun", "this is not Bun", PASS_IT),
    blocked("child_process", NO_COMMAND, SANDBOX),
    blocked("exec", NO_COMMAND, SANDBOX),
    blocked("execSync", NO_COMMAND, SANDBOX),
    blocked("execFile", NO_COMMAND, SANDBOX),
    blocked("execFileSync", NO_COMMAND, SANDBOX),
    blocked("spawn", NO_COMMAND, SANDBOX),
    blocked("spawnSync", NO_COMMAND, SANDBOX),
    blocked("fs", "files go through the gateway", "grant fileRead or fileWrite and use safety.fs"),
    blocked("Buffer", NOT_NODE, "use Uint8Array, TextEncoder, atob and btoa"),
    blocked("eval", TEXT_AS_CODE, WRITE_CODE),
    blocked("Function", TEXT_AS_CODE, "write the function itself; test one with typeof f === \"function\""),
    blocked("AsyncFunction", TEXT_AS_CODE, WRITE_CODE),
    blocked("GeneratorFunction", TEXT_AS_CODE, WRITE_CODE),
    blocked("setTimeout", NO_TIMERS, GRANT_TIMERS),
    blocked("setInterval", NO_TIMERS, GRANT_TIMERS),
    blocked("clearTimeout", NO_TIMERS, GRANT_TIMERS),
    blocked("clearInterval", NO_TIMERS, GRANT_TIMERS),
    blocked("setImmediate", NOT_NODE, "use queueMicrotask, or do the work at once"),
    blocked("clearImmediate", NOT_NODE, "use queueMicrotask, or do the work at once"),
    blocked("requestAnimationFrame", NO_BROWSER, "do the work at once"),
    blocked("SharedArrayBuffer", SHARED, USE_BUFFER),
    blocked("Atomics", SHARED, USE_BUFFER),
    blocked(
        "WebAssembly",
        "code comes as source, so that it can be reviewed",
        "use a command tool in the wasm backend",
    ),
    blocked("XMLHttpRequest", GATEWAY, USE_FETCH),
    blocked("EventSource", GATEWAY, USE_FETCH),
    blocked("WebSocket", "only requests and their answers cross the wall", USE_FETCH),
    blocked("fetch", NO_NETWORK, OPEN_HOSTS),
    blocked("Headers", NO_NETWORK, OPEN_HOSTS),
    blocked("Request", NO_NETWORK, OPEN_HOSTS),
    blocked("Response", NO_NETWORK, OPEN_HOSTS),
    blocked("FormData", NO_NETWORK, OPEN_HOSTS),
    blocked("AbortController", NO_NETWORK, OPEN_HOSTS),
    blocked("AbortSignal", NO_NETWORK, OPEN_HOSTS),
    blocked("Worker", ONE_THREAD, AWAIT_IT),
    blocked("SharedWorker", ONE_THREAD, AWAIT_IT),
    blocked("MessageChannel", ONE_THREAD, AWAIT_IT),
    blocked("BroadcastChannel", ONE_THREAD, AWAIT_IT),
    blocked("global", NOT_NODE, GLOBAL_THIS),
    blocked("window", NO_BROWSER, GLOBAL_THIS),
    blocked("self", NO_BROWSER, GLOBAL_THIS),
    blocked("document", NO_BROWSER, "parse HTML with safety.parser.html"),
    blocked("navigator", NO_BROWSER, PASS_IT),
    blocked("location", NO_BROWSER, PASS_IT),
    blocked("alert", NO_BROWSER, "use console.log, or return the text"),
    blocked("localStorage", NO_STORE, RETURN_IT),
    blocked("sessionStorage", NO_STORE, RETURN_IT),
    blocked("indexedDB", NO_STORE, RETURN_IT),
    blocked("performance", "precise clocks are not given", "use Date.now, if clock is granted"),
    blocked("Intl", "the engine has no data about languages", "format by hand, or pass the text"),
    blocked("Date", NOT_GRANTED, "grant clock, or pass the time as a parameter"),
    blocked("Math.random", NOT_GRANTED, "grant random, or pass a number as a parameter"),
    blocked("crypto", NOT_GRANTED, "grant crypto.random, crypto.digest or crypto.hmac"),
    blocked("console", NOT_GRANTED, "grant console, or return the text"),
    blocked("URL", NOT_GRANTED, "grant url"),
    blocked("URLSearchParams", NOT_GRANTED, "grant url"),
    blocked("TextEncoder", NOT_GRANTED, "grant encoding"),
    blocked("TextDecoder", NOT_GRANTED, "grant encoding"),
    blocked("atob", NOT_GRANTED, "grant encoding"),
    blocked("btoa", NOT_GRANTED, "grant encoding"),
    blocked("tools", "this build cannot call other tools", "put the code of both into one tool"),
    blocked("sandbox", NOT_GRANTED, "grant process.exec"),
    blocked("env", "this build gives no environment variables", "declare a static or a parameter"),
    blocked("safety", NOT_GRANTED, "grant fileRead or fileWrite for safety.fs, parser.* for safety.parser"),
];

const PURE: &str = "in emit the same input gives the same output, always";
const READ_INPUT: &str = "put it into the input, and read it with read_input()";
const AT_ONCE: &str = "in emit nothing happens later";
const CALL_IT: &str = "call the function, and use its value";

/// The names that only `emit` goes without.
pub(crate) const BLOCKED_IN_EMIT: &[Blocked] = &[
    blocked("Promise", AT_ONCE, CALL_IT),
    blocked("queueMicrotask", AT_ONCE, CALL_IT),
    blocked("WeakRef", PURE, "use a plain reference"),
    blocked("FinalizationRegistry", PURE, "use a plain reference"),
    blocked("structuredClone", "emit has the pure built-ins only", "use JSON.parse(JSON.stringify(value))"),
    blocked("Date", PURE, READ_INPUT),
    blocked("Math.random", PURE, READ_INPUT),
    blocked("console", "emit has one output", "use emit(text)"),
];

/// Spellings that are no names.
pub(crate) const IMPORT: Blocked = blocked("import", ONE_FILE, WRITE_IT);
pub(crate) const EXPORT_FROM: Blocked = blocked("export from", ONE_FILE, WRITE_IT);
pub(crate) const EXPORT: Blocked =
    blocked("export", "code of this shape is no module", "return the value, or emit it");
pub(crate) const DYNAMIC_IMPORT: Blocked = blocked("import()", ONE_FILE, WRITE_IT);
pub(crate) const IMPORT_META: Blocked = blocked("import.meta", "code has no place in a file system", PASS_IT);
pub(crate) const CONSTRUCTOR: Blocked = blocked(
    "constructor",
    "the constructor of a function runs text as code, and that is not done",
    WRITE_CODE,
);
pub(crate) const MAYBE_CONSTRUCTOR: Blocked = blocked(
    "constructor",
    "if this is the constructor of a function it runs text as code, and that is not done",
    WRITE_CODE,
);
pub(crate) const UNKNOWN_GLOBAL: Blocked = blocked(
    "globalThis[…]",
    "which global this names is known only when it runs, and most are absent",
    "write the name of the global",
);
pub(crate) const ASYNC: Blocked = blocked("async", AT_ONCE, "write an ordinary function");
pub(crate) const AWAIT: Blocked = blocked("await", AT_ONCE, CALL_IT);
pub(crate) const FOR_AWAIT: Blocked = blocked("for await", AT_ONCE, "use for … of");

/// The entry of a name, in a mode.
pub(crate) fn entry(name: &str, in_emit: bool) -> Option<Blocked> {
    let only_emit: &[Blocked] = if in_emit { BLOCKED_IN_EMIT } else { &[] };
    only_emit.iter().chain(BLOCKED).find(|blocked| blocked.name == name).copied()
}
