//! Options that nobody knows: an error with the name that was probably meant, and never ignored.

use super::rows;

/// A call with an option that nobody knows, and the error.
const UNKNOWN: &[(&str, &str)] = &[
    (
        "sandbox.exec(['ls'], { timeoutMS: 7 })",
        "!TypeError: sandbox.exec: unknown option 'timeoutMS'; did you mean `timeoutMs`?",
    ),
    (
        "sandbox.exec(['ls'], { cwd: '/' })",
        "!TypeError: sandbox.exec: unknown option 'cwd'; known: stdin, env,",
    ),
    ("fetch(at, { timeout: 100 })", "!TypeError: fetch: unknown option 'timeout'; "),
    (
        "fetch(at, { sginal: AbortSignal.timeout(5) })",
        "!TypeError: fetch: unknown option 'sginal'; did you mean `signal`?",
    ),
    ("fetch(at, { maxLength: 10 })", "!TypeError: fetch: unknown option 'maxLength'; "),
    (
        "new Request(at, { methd: 'POST' })",
        "!TypeError: Request: unknown option 'methd'; did you mean `method`?",
    ),
    (
        "new Response('', { state: 404 })",
        "!TypeError: Response: unknown option 'state'; did you mean `status`?",
    ),
    (
        "Response.json(1, { header: {} })",
        "!TypeError: Response: unknown option 'header'; did you mean `headers`?",
    ),
    (
        "fs.grep('a', 'b', { ignorecase: true })",
        "!TypeError: safety.fs.grep: unknown option 'ignorecase'; did you mean `ignoreCase`?",
    ),
    ("fs.readBytes('a', { len: 1 })", "!TypeError: safety.fs.readBytes: unknown option 'len'; "),
    ("fs.list('a', { recurse: true })", "!TypeError: safety.fs.list: unknown option 'recurse'; "),
    (
        "fs.slice('a', { form: 1 })",
        "!TypeError: safety.fs.slice: unknown option 'form'; did you mean `from`?",
    ),
    ("fs.find('a', '*', { type: 'file' })", "!TypeError: safety.fs.find: unknown option 'type'; "),
    (
        "fs.search('a', 'b', { golb: '*' })",
        "!TypeError: safety.fs.search: unknown option 'golb'; did you mean `glob`?",
    ),
    (
        "fs.cut('a', { field: [1] })",
        "!TypeError: safety.fs.cut: unknown option 'field'; did you mean `fields`?",
    ),
    ("fs.sort('a', { uniq: true })", "!TypeError: safety.fs.sort: unknown option 'uniq'; "),
    ("fs.editText('a', 'b', 'c', { once: true })", "!TypeError: safety.fs.editText: unknown option 'once'; "),
    (
        "fs.deleteDir('a', { recursiv: true })",
        "!TypeError: safety.fs.deleteDir: unknown option 'recursiv'; did you mean `recursive`?",
    ),
    ("fs.copy('a', 'b', { overwrite: false })", "!TypeError: safety.fs.copy: takes no options"),
    ("fs.move('a', 'b', { overwrite: false })", "!TypeError: safety.fs.move: takes no options"),
    ("fs.writeText('a', 'b', { append: true })", "!TypeError: safety.fs.writeText: takes no options"),
    ("fs.writeBytes('a', raw, { append: true })", "!TypeError: safety.fs.writeBytes: takes no options"),
    ("fs.appendText('a', 'b', {})", "!TypeError: safety.fs.appendText: takes no options"),
    ("fs.readText('a', { maxBytes: 1 })", "!TypeError: safety.fs.readText: takes no options"),
    ("fs.readJson('a', { maxBytes: 1 })", "!TypeError: safety.fs.readJson: takes no options"),
    ("fs.mkdir('a', { recursive: false })", "!TypeError: safety.fs.mkdir: takes no options"),
    ("fs.delete('a', { dryRun: true })", "!TypeError: safety.fs.delete: takes no options"),
    ("fs.stat('a', { followLinks: false })", "!TypeError: safety.fs.stat: takes no options"),
    ("fs.exists('a', {})", "!TypeError: safety.fs.exists: takes no options"),
    ("fs.lineCount('a', {})", "!TypeError: safety.fs.lineCount: takes no options"),
    (
        "html.select('<p>', 'p', { limits: 1 })",
        "!TypeError: safety.parser.html.select: unknown option 'limits'; did you mean `limit`?",
    ),
    (
        "html.tables('<p>', { headers: true })",
        "!TypeError: safety.parser.html.tables: unknown option 'headers'; did you mean `header`?",
    ),
    (
        "html.links('<p>', { bas: 'x' })",
        "!TypeError: safety.parser.html.links: unknown option 'bas'; did you mean `base`?",
    ),
    ("html.text('<p>', 'p', { limit: 1 })", "!TypeError: safety.parser.html.text: takes no options"),
    ("html.main('<p>', {})", "!TypeError: safety.parser.html.main: takes no options"),
    ("html.attribute('<p>', 'p', 'a', {})", "!TypeError: safety.parser.html.attribute: takes no options"),
    (
        "csv.parse('a', { delimeter: ';' })",
        "!TypeError: safety.parser.csv.parse: unknown option 'delimeter'; did you mean `delimiter`?",
    ),
    (
        "csv.stringify([], { quoteall: true })",
        "!TypeError: safety.parser.csv.stringify: unknown option 'quoteall'; did you mean `quoteAll`?",
    ),
    ("xml.parse('<a/>', { strict: true })", "!TypeError: safety.parser.xml.parse: takes no options"),
    ("yaml.parse('a', { schema: 'safe' })", "!TypeError: safety.parser.yaml.parse: takes no options"),
    ("yaml.parseAll('a', {})", "!TypeError: safety.parser.yaml.parseAll: takes no options"),
    ("yaml.stringify(1, { indent: 4 })", "!TypeError: safety.parser.yaml.stringify: takes no options"),
    (
        "new TextDecoder('utf-8', { fatl: true })",
        "!TypeError: TextDecoder: unknown option 'fatl'; did you mean `fatal`?",
    ),
    (
        "new TextDecoder().decode(raw, { strem: true })",
        "!TypeError: TextDecoder.decode: unknown option 'strem'; did you mean `stream`?",
    ),
    (
        "structuredClone(1, { transfr: [] })",
        "!TypeError: structuredClone: unknown option 'transfr'; did you mean `transfer`?",
    ),
    (
        "new AbortController().signal.addEventListener('abort', () => {}, { onc: true })",
        "!TypeError: AbortSignal.addEventListener: unknown option 'onc'; did you mean `once`?",
    ),
    (
        "crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256', lenght: 8 }, false, usages)",
        "!TypeError: crypto.subtle.importKey: unknown option 'lenght'; did you mean `length`?",
    ),
    (
        "crypto.subtle.digest({ name: 'SHA-256', salt: raw }, raw)",
        "!TypeError: crypto.subtle.digest: unknown option 'salt'; ",
    ),
];

#[test]
fn an_unknown_option_of_a_host_function_is_an_error_that_says_what_was_meant() {
    rows(
        "const { fs, parser: { html, csv, xml, yaml } } = safety; const at = 'https://e.test/echo';
         const raw = new Uint8Array(8), usages = ['sign'];",
        UNKNOWN,
    );
}

#[test]
fn what_only_a_browser_has_is_taken_where_it_changes_nothing_and_refused_where_it_protects() {
    rows(
        "const at = 'https://e.test/echo'; const ok = async (init) => (await fetch(at, init)).status",
        &[
            ("ok({ mode: 'cors', credentials: 'include', cache: 'no-store', keepalive: true })", "200"),
            (
                "ok({ mode: 'no-cors', credentials: 'omit', referrer: '', referrerPolicy: 'no-referrer' })",
                "200",
            ),
            ("ok({ priority: 'high', duplex: 'half', window: null, integrity: '' })", "200"),
            ("ok({ mode: undefined, cache: undefined, integrity: undefined })", "200"),
            ("new Request(at, { mode: 'cors' }).method", r#""GET""#),
            ("ok({ integrity: 'sha256-abc' })", "!TypeError: fetch: the option integrity is not supported"),
            ("ok({ mode: 'same-origin' })", "!TypeError: fetch: the option mode cannot be 'same-origin'"),
            ("ok({ mode: 'navigate' })", "!TypeError: fetch: the option mode cannot be 'navigate'"),
            (
                "ok({ cache: 'only-if-cached' })",
                "!TypeError: fetch: the option cache cannot be 'only-if-cached'",
            ),
            // A Request has all of them by its class, and none of its own.
            ("ok(new Request(at, { method: 'POST', body: 'x' }))", "200"),
        ],
    );
}

#[test]
fn functions_that_take_no_options_can_still_be_handed_to_map() {
    rows(
        "",
        &[
            ("['a', 'b'].map(safety.fs.exists).length", "2"),
            ("['1', '2'].map(safety.parser.yaml.parse)", "[1,2]"),
            ("safety.fs.list('a', undefined) !== null && safety.fs.list('a', null) !== null", "true"),
            // A key cannot pass for two names.
            (
                "safety.fs.list('a', { 'recursive\\nrecursive': true })",
                "!TypeError: safety.fs.list: unknown option",
            ),
        ],
    );
}
