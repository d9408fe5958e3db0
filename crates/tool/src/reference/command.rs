//! The rows of the reference for `command`, and the rules of its words.

use super::rows::{Row, row};
use crate::command::{MOST_EXITS, MOST_VARIABLES, MOST_WORDS};
use crate::tool::MOST_CODE;

/// The rules of words and slots.
pub(crate) const RULES: &str = "
A slot `{param}` is filled with the text of one argument, inside of its word: a text as it is, all else as JSON. `{{` and \
`}}` are braces. No argument becomes another word, and none becomes an option:

- The first word, the program, has no slot.
- A word that begins with a slot is refused when its argument begins with `-` (`INVALID_INPUT`), unless the word `--` stands \
before it or the parameter has an `enum`.
- Before a slot an option is named in full: `--lines={n}`, not `--{name}`; `-n{n}` only where `n` is a number or has an `enum`.
- A word whose argument is not given is left out, a variable is not set, and standard input is empty. An option before such a \
word would take the next one, so that is a problem: group them, `{when: n, words: [--lines, \"{n}\"]}`. The words of a group \
are there when its parameter is given, those of a BOOLEAN when it is true.
- `{files...}`, alone in an item, is one word for each element of an ARRAY.
- What a shell, Python, Perl, awk and their like read as code has no slots.

A static is a variable of the environment by its name, and a variable of a script. A `sealed` one holds a placeholder; its place \
is a header, its hosts are hosts that `network` reaches, and the operator has opted into `sandbox.authority`. A script is the body of a function: what it \
returns is the result, its parameters are its variables (`None` where not given), and what it prints becomes console lines.
";

/// The fields of `command`; the examples are the whole of it, in a tool with the STRING parameter `p`.
pub(crate) fn command_rows() -> Vec<Row> {
    vec![
        row(
            "argv",
            "list of words",
            format!(
                "a program and its words, at most {MOST_WORDS}; each item is one word whatever is in it, or a group `{{when, words}}`"
            ),
            "a problem, unless there is a `script`",
            "{argv: [grep, -c, --, \"{p}\", /etc/services]}",
        ),
        row(
            "language",
            "word",
            "`python`, with `script`; `python3` is looked for in the sandbox",
            "there is `argv`",
            "{language: python, script: return p.upper()}",
        ),
        row(
            "script",
            "text",
            format!("in place of `argv`, at most {MOST_CODE} bytes"),
            "there is `argv`",
            "{language: python, script: return len(p)}",
        ),
        row(
            "stdin",
            "text with slots",
            "what is on standard input",
            "nothing",
            "{argv: [wc, -c], stdin: \"{p}\"}",
        ),
        row(
            "env",
            "map of text with slots",
            format!("variables beside PATH, HOME, LANG and TMPDIR, at most {MOST_VARIABLES}; no `${{NAME}}`"),
            "none",
            "{argv: [date], env: {TZ: \"{p}\"}}",
        ),
        row(
            "image",
            "text",
            "the files that it begins with, by the name or path that the backend knows them by",
            "the host's own programs, read-only",
            "{argv: [ls], image: debian-12}",
        ),
        row(
            "minTier",
            "word",
            "`PROCESS`, `CONTAINER`, `USER_KERNEL` or `MICRO_VM`: the weakest wall it may run behind; the operator's floor holds as well",
            "the operator's floor",
            "{argv: [ls], minTier: PROCESS}",
        ),
        row(
            "network",
            "word or map",
            "`none`, `git`, `full`, `host`, or `{allow: [host, \"host:port\"]}`, of the modes that the operator lets commands have",
            "`none`",
            "{argv: [ls], network: {allow: [example.org]}}",
        ),
        row(
            "mounts",
            "list of texts",
            "`HOST:SANDBOX`, with `:rw` behind it to write; the host's side lies under the operator's `fs.mounts`",
            "none",
            "{argv: [ls, /reports], mounts: [\"/srv/reports:/reports\"]}",
        ),
        row(
            "limits",
            "map",
            "see below; within the operator's `sandbox.ceilings`",
            "the operator's preset",
            "{argv: [ls], limits: {timeout: 5s}}",
        ),
        row(
            "output",
            "word",
            "how standard output becomes the result: `text` as it is, `json` as the value that it is, `lines` as a list",
            "`text`",
            "{argv: [seq, \"3\"], output: lines}",
        ),
        row(
            "okExit",
            "list of exit codes",
            format!("those that are no failure, at most {MOST_EXITS}"),
            "`[0]`",
            "{argv: [diff, /etc/hosts, /etc/hostname], okExit: [0, 1]}",
        ),
    ]
}

/// The fields of `command.limits`; the examples are the whole of it.
pub(crate) fn limit_rows() -> Vec<Row> {
    const OPERATOR: &str = "the operator's preset";
    vec![
        row("cpu", "number", "cores", OPERATOR, "{cpu: 0.5}"),
        row(
            "memory",
            "size",
            "memory of all its processes and its own files; more ends it with `MEMORY_LIMIT`",
            OPERATOR,
            "{memory: 64MiB}",
        ),
        row(
            "disk",
            "size",
            "its own files, which count within `memory`; no more than that",
            OPERATOR,
            "{disk: 16MiB}",
        ),
        row(
            "timeout",
            "duration",
            "how long it may run; more ends it with `TIMEOUT`",
            OPERATOR,
            "{timeout: 5s}",
        ),
        row("processes", "whole number", "processes at once", OPERATOR, "{processes: 20}"),
        row(
            "output",
            "size",
            "bytes of each stream; more on standard output is `OUTPUT_LIMIT`",
            OPERATOR,
            "{output: 64KiB}",
        ),
    ]
}
