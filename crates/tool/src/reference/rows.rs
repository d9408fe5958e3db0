//! The rows of the reference: every field of a tool's document, with its rule and an example.

use crate::approval::{LONGEST_PROMPT, SLOTS};
use crate::name::{CATEGORIES, LONG_NAME, LONGEST_FOREIGN, LONGEST_TAG, MOST_TAGS};
use crate::param::{MOST_CHOICES, MOST_PARAMS, ParamType};
use crate::test::MOST_TESTS;
use crate::tool::MOST_CODE;

/// One field: its name, what it is, its rule, what holds without it, and an example.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) rule: String,
    pub(crate) absent: &'static str,
    pub(crate) example: &'static str,
}

pub(super) fn row(
    name: &'static str,
    kind: &'static str,
    rule: impl Into<String>,
    absent: &'static str,
    example: &'static str,
) -> Row {
    Row { name, kind, rule: rule.into(), absent, example }
}

/// The fields of a document; the examples are lines of one.
pub(crate) fn tool_rows() -> Vec<Row> {
    let mut rows = described_rows();
    rows.extend(run_rows());
    rows
}

/// What a tool is, and what it takes and gives.
fn described_rows() -> Vec<Row> {
    let words = CATEGORIES.join(" ");
    vec![
        row(
            "id",
            "UUID",
            "given when the tool is added, and kept through a rename",
            "a new one",
            "id: 0198c0de-0000-7000-8000-000000000001",
        ),
        row(
            "name",
            "text",
            format!(
                "`[a-z][a-z0-9_-]{{0,63}}`; a warning over {LONG_NAME} characters. Another name of up to {LONGEST_FOREIGN} visible characters is kept in an imported tool, with a warning. The names of native tools are a problem, in any spelling: `run_javascript`, `describe_runtime`, `run_command`, `run_python`, `run_code`, `describe_tools`, and what begins with `sandbox_`"
            ),
            "a problem",
            "name: repo_stars",
        ),
        row("title", "text", "shown to people and models", "none", "title: Stars of a repository"),
        row(
            "description",
            "text",
            "what a model chooses the tool by",
            "a warning",
            "description: Star count of a GitHub repository.",
        ),
        row(
            "category",
            "text",
            format!("one of {words}, in any case, or a word of your own"),
            "none",
            "category: WEB",
        ),
        row(
            "tags",
            "list of texts",
            format!(
                "at most {MOST_TAGS} of at most {LONGEST_TAG} characters; none that claims what the tool can or cannot do, such as `safe` or `readonly`"
            ),
            "none",
            "tags: [github, stars]",
        ),
        row(
            "params",
            "list",
            format!("at most {MOST_PARAMS}, in the order a client sees; see below"),
            "none",
            "params: [{name: repo, type: STRING, required: true}]",
        ),
        row(
            "output",
            "JSON Schema",
            "a result that breaks it is `OUTPUT_SCHEMA`; see the bounds below. Of a result with `$content`, `structured` is held against it",
            "any result",
            "output: {type: object, required: [stars]}",
        ),
        row(
            "statics",
            "list",
            "name and value; of two with one name the later holds; see below",
            "none",
            "statics: [{name: unit, value: km}]",
        ),
    ]
}

/// What a tool runs, what it may do, and how it is tested.
fn run_rows() -> Vec<Row> {
    vec![
        row(
            "entry",
            "word",
            "`body`, `execute` or `emit`; with `emit` the one parameter there can be is `input`, a STRING, which `read_input()` gives",
            "`body`",
            "entry: execute",
        ),
        row(
            "language",
            "word",
            "`javascript` (`js`) or `typescript` (`ts`)",
            "that of the file; else whichever it parses as",
            "language: typescript",
        ),
        row("profile", "text", "the name of a policy profile of the operator", "none", "profile: web"),
        row(
            "overrides",
            "map",
            "what the tool may do beyond the baseline: [policy.md](policy.md); an unknown field is a problem",
            "nothing more",
            "overrides: {network: allowlist, hosts: [api.github.com]}",
        ),
        row(
            "limits",
            "map",
            "within the operator's ceilings: [policy-reference.md](policy-reference.md); an unknown limit is a problem",
            "the defaults",
            "limits: {wall: 10s}",
        ),
        row(
            "safety",
            "map",
            "has no fields; what is declared belongs below `overrides`",
            "nothing",
            "safety: {}",
        ),
        row(
            "approval",
            "map",
            "whether a person is asked before every call; see below",
            "`mode: AUTO`",
            "approval: {mode: REQUIRED}",
        ),
        row(
            "tests",
            "list",
            format!("at most {MOST_TESTS}; Local Pass runs all of them; see below"),
            "none",
            "tests: [{name: adds, equals: 3}]",
        ),
        row(
            "code",
            "text",
            format!(
                "JavaScript or TypeScript, at most {MOST_CODE} bytes; in a file of code, what stands below the comment"
            ),
            "a problem, unless there is `command`",
            "code: return 1 + 2",
        ),
        row(
            "command",
            "map",
            "in place of `code`: what is run in a command sandbox; see below. A tool with it has no `entry`, `language`, `profile`, `overrides` or `limits` of its own, and its tests no `http`, `recording`, `files` or `leaves`",
            "none",
            "command: {argv: [seq, \"3\"]}",
        ),
        row("createdAt", "text", "kept by the catalogue", "none", "createdAt: \"2026-01-01T00:00:00Z\""),
        row("updatedAt", "text", "kept by the catalogue", "none", "updatedAt: \"2026-01-01T00:00:00Z\""),
        row("version", "whole number", "kept by the catalogue", "none", "version: 3"),
    ]
}

/// The fields of a parameter; the examples are parameters.
pub(crate) fn param_rows() -> Vec<Row> {
    let types = ParamType::ALL.map(ParamType::word).join(" ");
    vec![
        row(
            "name",
            "text",
            "an identifier of a-z, A-Z, 0-9, `_` and `$`, at most 64 characters, no reserved word, no global, no static; each once",
            "a problem",
            "{name: repo, type: STRING}",
        ),
        row("type", "word", format!("{types}, in any case"), "a problem", "{name: n, type: integer}"),
        row(
            "required",
            "true or false",
            "whether a call must give it",
            "`false`",
            "{name: n, type: INTEGER, required: true}",
        ),
        row(
            "description",
            "text",
            "what a model reads about it",
            "none",
            "{name: n, type: INTEGER, description: How many.}",
        ),
        row(
            "default",
            "value of the type",
            "given to the code when the call does not",
            "none",
            "{name: n, type: INTEGER, default: 7}",
        ),
        row(
            "enum",
            "list of values of the type",
            format!("the only values it may have, at most {MOST_CHOICES}"),
            "any",
            "{name: unit, type: STRING, enum: [km, mi]}",
        ),
        row(
            "schema",
            "JSON Schema",
            "what is inside; for OBJECT and ARRAY only",
            "anything",
            "{name: ids, type: ARRAY, schema: {items: {type: integer}}}",
        ),
        row(
            "testValue",
            "value of the type",
            "what Local Pass tries; a text is parsed as JSON where the type is not STRING; every required parameter needs one to pass",
            "none",
            "{name: n, type: INTEGER, testValue: 7}",
        ),
    ]
}

/// The fields of a static; the examples are statics.
pub(crate) fn static_rows() -> Vec<Row> {
    vec![
        row(
            "name",
            "text",
            "a variable of the code, not the name of a parameter",
            "a problem",
            "{name: unit, value: km}",
        ),
        row(
            "value",
            "anything",
            "`${NAME}` as the whole value is the secret of that name",
            "a problem",
            "{name: token, value: \"${GITHUB_TOKEN}\"}",
        ),
        row(
            "sealed",
            "map",
            "for a secret: the hosts and the one place of a request that it may be used in; the code sees a placeholder",
            "the code sees the value",
            "{name: token, value: \"${GITHUB_TOKEN}\", sealed: {hosts: [api.github.com], in: \"header:Authorization\"}}",
        ),
    ]
}

/// The fields of `approval`; the examples are the whole of it.
pub(crate) fn approval_rows() -> Vec<Row> {
    let slots: Vec<String> = SLOTS.iter().map(|slot| format!("`{{{slot}}}`")).collect();
    vec![
        row(
            "mode",
            "word",
            "`REQUIRED`, `DISABLED`, or `AUTO`: from the level on that the operator has set",
            "`AUTO`",
            "{mode: REQUIRED}",
        ),
        row(
            "prompt",
            "text",
            format!(
                "what the person reads, at most {LONGEST_PROMPT} characters; filled in are {}, and nothing else in braces may stand there",
                slots.join(", ")
            ),
            "a text of ours",
            "{mode: REQUIRED, prompt: \"Let {tool} run with {args}? ({risk})\"}",
        ),
    ]
}

/// The fields of a test; the examples are tests of a tool without parameters.
pub(crate) fn test_rows() -> Vec<Row> {
    vec![
        row("name", "text", "shown with the result", "`test N`", "{name: adds, equals: 3}"),
        row(
            "input",
            "map",
            "the arguments; they fit the parameters, unless `throws` expects that they do not",
            "none",
            "{input: {}, equals: 3}",
        ),
        row(
            "http",
            "list",
            "canned answers for `fetch`; policy is asked first, as for a real request",
            "no network",
            "{http: [{request: {method: GET, url: \"https://a.test/\"}, response: {status: 200, json: {}}}], equals: 3}",
        ),
        row(
            "files",
            "map of path to text",
            "what the test's own workspace begins with",
            "it is empty",
            "{files: {notes/a.txt: hello}, equals: hello}",
        ),
        row(
            "leaves",
            "map of path to text or null",
            "what must be there afterwards, or with `null` must not",
            "not looked at",
            "{leaves: {notes/a.txt: hello, old.txt: null}}",
        ),
        row(
            "recording",
            "map or text",
            "what `bailiwick run --record` wrote, or the path of it; it is replayed",
            "none",
            "{recording: stars.recording.json, equals: 3}",
        ),
        row("equals", "anything", "the result is this; `7` is `7.0`", "not looked at", "{equals: {sum: 3}}"),
        row(
            "contains",
            "anything",
            "a part of a text, an element (or each of several) of a list, fields of a map and so on within",
            "not looked at",
            "{contains: {sum: 3}}",
        ),
        row(
            "matches",
            "regular expression",
            "a text, or what is no text as JSON; there are no look-around and no back-references",
            "not looked at",
            "{matches: \"^[0-9]+$\"}",
        ),
        row("schema", "JSON Schema", "the result fits it", "not looked at", "{schema: {type: integer}}"),
        row(
            "throws",
            "true, text or map",
            "the call fails: anyhow, with this in the message, or with `{code, message}`",
            "it gives a result",
            "{throws: {code: NET_DENIED}}",
        ),
        row("maxMs", "whole number", "the call takes no longer", "not looked at", "{equals: 3, maxMs: 500}"),
    ]
}
