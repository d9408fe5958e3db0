//! Secrets that code can read, sent out by it in every disguise that built-ins give and through every way out of a
//! call: no report has any of them. And text that has none is left as it is.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use bailiwick::policy::EffectivePolicy;
use bailiwick::types::CallReport;
use bailiwick::{Call, NamedSecret, Runtime, Secret};
use bailiwick_redact::Redactor;
use serde_json::{Value, json};

use crate::outside::{Outside, with};
use crate::stage::block_on;

bailiwick_testkit::tests!(
    no_way_out_shows_a_secret_in_any_disguise,
    a_secret_in_a_message_of_the_engine_is_masked,
    a_denial_does_not_tell_a_secret_that_was_asked_with,
    keys_that_became_the_same_are_all_kept,
    ordinary_text_is_left_as_it_is,
);

/// Always the same numbers, so that a failure can be seen again.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        // The constants of Knuth's generator; the upper bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.next(alphabet.len())]).collect()
    }
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Secrets of 8 to 64 characters, over alphabets that are awkward in one way or another.
fn generated(count: usize) -> Vec<String> {
    let mut numbers = Numbers(7);
    (0..count)
        .map(|number| {
            let length = 8 + numbers.next(57);
            match number % 8 {
                0 | 1 => numbers.text(LETTERS, length),
                2 => numbers.text(&format!("{LETTERS}+/=_-"), length),
                3 => numbers.text(&format!("{LETTERS}!@#$%^&*()?:;,.<>[]{{}}|~`"), length),
                4 => numbers.text(&format!("{LETTERS}\"\\/'\t"), length),
                5 => numbers.text(&format!("{LETTERS}äöüßéñ漢字😀€"), length),
                6 => {
                    let lines = 2 + numbers.next(2);
                    let lines: Vec<String> = (0..lines).map(|_| numbers.text(LETTERS, 18)).collect();
                    lines.join("\n")
                }
                _ => numbers.text("0123456789abcdef", length.max(16)),
            }
        })
        .collect()
}

/// What the code makes of each secret, as functions of `s`; `b` are its bytes as a string of Latin-1.
const DISGUISES: &str = "const bytes = (t) => String.fromCharCode(...new TextEncoder().encode(t));
    const hex = (t) => Array.from(new TextEncoder().encode(t), (n) => n.toString(16).padStart(2, '0')).join('');
    const url = (t) => t.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    const disguises = (s) => [s, `<${s}>`, ...['', 'x', 'xy'].flatMap((before) => ['', 'z', 'zz'].flatMap((after) => {
        const t = btoa(bytes(before + s + after)); return [t, url(t)] })),
        encodeURIComponent(s), encodeURI(s), new URLSearchParams({s}).toString(),
        hex(s), hex(s).toUpperCase(), JSON.stringify(s), JSON.stringify({s, list: [s]}), JSON.stringify({[s]: s})];
    const all = secrets.flatMap(disguises);
    // As many as a message has room for; others in each call.
    const some = all.filter((_, i) => i % 6 === secrets[0].length % 6);";

fn percent(value: &str, keeps: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || keeps.as_bytes().contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes it");
        }
        text
    })
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |index: usize| usize::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..=group.len() {
            text.push(char::from(ALPHABET[bits >> (18 - 6 * place) & 63]));
        }
    }
    text
}

/// What must not be seen: the value, and the part of each disguise that is the value's alone.
fn hidden(value: &str) -> Vec<String> {
    let mut hidden = vec![value.to_owned()];
    for before in 0..3 {
        let text = base64(&[&vec![b'x'; before], value.as_bytes()].concat());
        let own = text.get(before * 2..text.len() - 1).expect("ASCII").to_owned();
        hidden.push(own.replace('+', "-").replace('/', "_"));
        hidden.push(own);
    }
    let hex = value.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    hidden.extend([hex.to_uppercase(), hex]);
    hidden.extend(["-_.!~*'()", "-_.!~*'();/?:@&=+$,#", "*-._"].map(|keeps| percent(value, keeps)));
    let json = json!(value).to_string();
    hidden.push(json.get(1..json.len() - 1).expect("within quotes").to_owned());
    hidden
}

/// All texts of a report, keys included, and the report as it is written.
fn everything(report: &CallReport) -> String {
    fn gather(value: &Value, into: &mut String) {
        match value {
            Value::String(text) => into.push_str(text),
            Value::Array(items) => items.iter().for_each(|item| gather(item, into)),
            Value::Object(fields) => fields.iter().for_each(|(key, field)| {
                into.push_str(key);
                into.push('\u{1}');
                gather(field, into);
            }),
            other => into.push_str(&other.to_string()),
        }
        into.push('\u{1}');
    }
    let mut all = json!(report).to_string();
    all.push('\u{1}');
    gather(&json!(report), &mut all);
    all
}

/// Ten characters of a disguise in a row would be a leak already: at its beginning, in its middle or at its end.
#[track_caller]
fn check(report: &CallReport, secrets: &[String], way: &str) {
    let all = everything(report);
    for secret in secrets {
        for disguise in hidden(secret) {
            let chars: Vec<char> = disguise.chars().collect();
            let most = chars.len().saturating_sub(10);
            for from in [0, most / 2, most] {
                let window = &chars[from..chars.len().min(from + 10)];
                let part: String = window.iter().collect();
                if let Some(at) = all.find(&part) {
                    let near: String =
                        all.chars().skip(all[..at].chars().count().saturating_sub(60)).take(160).collect();
                    panic!("{way}: {part:?} of {disguise:?} ({secret:?}) in …{near:?}…");
                }
            }
        }
    }
}

fn policy() -> Arc<EffectivePolicy> {
    with("network: allowlist, hosts: [a.test]", "wall: 10s, cpu: 10s")
}

async fn run(runtime: &Runtime, source: &str, secrets: &[String]) -> CallReport {
    let names: Vec<String> = (0..secrets.len()).map(|number| format!("s{number}")).collect();
    let source = format!("const secrets = [{}]; {DISGUISES}\n{source}", names.join(", "));
    let call = secrets.iter().zip(&names).fold(Call::body(source).policy(policy()), |call, (value, name)| {
        call.secret(name.clone(), NamedSecret::new(name.to_uppercase(), Secret::new(value.clone())))
    });
    runtime.run(call).await.expect("the call is started")
}

fn no_way_out_shows_a_secret_in_any_disguise() {
    /// The ways out of a call; the last field says how it has to end.
    const WAYS: &[(&str, bool)] = &[
        ("all.forEach((t) => { console.log(t); console.error('said', t) }); return 1", true),
        (
            "secrets.forEach((s) => console.log({s, list: [s], deep: {er: new Map([[s, s]])}})); return 1",
            true,
        ),
        ("secrets.forEach((s) => console.log(new Error(s), [s], new Set([s]), `${s}${s}`)); return 1", true),
        ("console.table?.(all); console.log('%s and %o', all[0], all[1], all[2]); return 1", true),
        ("return all", true),
        ("return Object.fromEntries(all.map((t) => [t, 1]))", true),
        ("return {deep: [{er: new Map(all.map((t) => [t, new Set([t])]))}]}", true),
        ("return secrets.map((s) => new TextEncoder().encode(s))", true),
        ("return secrets.map((s) => new TextEncoder().encode('xy' + s).buffer)", true),
        ("throw new Error(all.join(' '))", false),
        ("throw new Error(some.join(' '))", false),
        ("throw some.join(' ')", false),
        ("throw {message: secrets.join(' '), toString() { return some.join(' ') }}", false),
        ("throw secrets", false),
        ("throw {deep: [new Map(secrets.map((s) => [s, {s}]))]}", false),
        ("throw Object.assign(new Error('x'), {name: some.join(' '), code: all[0]})", false),
        ("throw Object.assign(new Error('x'), {stack: some.join(' ')})", false),
        ("throw new Error('outer', {cause: new Error(some.join(' '))})", false),
        ("throw new AggregateError(some.map((t) => new Error(t)), some.join(' '))", false),
        ("await Promise.reject(new TypeError(some.join(' ')))", false),
        ("Promise.reject(new Error(some.join(' '))); return 1", true),
        ("const f = {[all[0]]() { throw new Error('in it') }}; f[all[0]]()", false),
    ];
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        let all = generated(200);
        for secrets in all.chunks(20) {
            for (way, gives) in WAYS {
                let report = run(&runtime, way, secrets).await;
                assert_eq!(report.is_ok(), *gives, "{way}: {:?}", report.failure());
                check(&report, secrets, way);
            }
        }
    });
}

fn a_secret_in_a_message_of_the_engine_is_masked() {
    const WAYS: &[&str] = &[
        "null[s]",
        "undefined[s]()",
        "({})[s]()",
        "({})[s].x",
        "new URL(s)",
        "new URL('http://' + s + '/x y')",
        // What follows is not JSON, whatever the secret is. Of a text that is none the engine shows the first word,
        // which may be a part of a secret; SECURITY.md says that parts are not found.
        "JSON.parse('\"' + s)",
        "new RegExp('(' + s)",
        "BigInt(s)",
        "decodeURIComponent('%' + s)",
        "Symbol(s) + ''",
        "new Headers([[s, s]])",
        "fetch('http://a.test/', {method: s})",
        "Object.defineProperty(Object.freeze({}), s, {value: 1})",
        "'use strict'; Object.freeze({})[s] = 1",
        "(class { static [s]() { null.x } })[s]()",
        "structuredClone({[s]: () => 1})",
        "new Intl.NumberFormat(s)",
        "atob(s + '*')",
        "throw s",
    ];
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        let all = generated(24);
        for secrets in all.chunks(8) {
            // Every message of the engine, caught and told; and one that nobody catches.
            let tries: String = WAYS.iter().fold(String::new(), |text, way| {
                format!("{text}try {{ (() => {{ {way} }})() }} catch (e) {{ console.log(e); told.push(String(e), e?.message, e?.stack) }}\n")
            });
            let source = format!("const told = []; for (const s of secrets) {{ {tries} }} return told");
            let report = run(&runtime, &source, secrets).await;
            assert_eq!(report.failure(), None);
            check(&report, secrets, "caught");
        }
        for way in WAYS {
            let report = run(&runtime, &format!("const s = secrets[0]; {way}"), &all[..1]).await;
            check(&report, &all[..1], way);
        }
    });
}

fn a_denial_does_not_tell_a_secret_that_was_asked_with() {
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        for secret in generated(24) {
            // What ends a path, or is dropped from it, makes another text of the value.
            let is_plain = !secret.contains(['#', '\\', '\t']);
            let secrets = [secret];
            for url in [
                "'http://b.test/?q=' + secrets[0]",
                "'http://b.test/' + secrets[0]",
                "'http://b.test/path/' + secrets[0] + '?q=' + secrets[0]",
                "'http://b.test/?q=' + encodeURIComponent(secrets[0])",
                "'http://b.test/' + encodeURIComponent(secrets[0])",
                "'http://b.test/?' + new URLSearchParams({q: secrets[0]})",
                "'http://b.test/#' + secrets[0]",
                "secrets[0]",
            ] {
                if !is_plain && !url.contains("URI") && !url.contains("Params") {
                    continue;
                }
                let report = run(&runtime, &format!("await fetch({url})"), &secrets).await;
                assert!(report.failure().is_some(), "{url}");
                check(&report, &secrets, url);
                let source = format!(
                    "try {{ await fetch({url}) }} catch (e) {{ return [e, e.denied, {{...e}}, e.message] }}"
                );
                check(&run(&runtime, &source, &secrets).await, &secrets, url);
            }
        }
        assert!(outside.routes.dialled().is_empty());
    });
}

fn keys_that_became_the_same_are_all_kept() {
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        let secrets = ["first-secret".to_owned(), "second-secret".to_owned()];
        let source = "return {[secrets[0]]: 1, [secrets[1]]: 2, '***': 3, n: 4}";
        let report = run(&runtime, source, &secrets).await;
        let values: Vec<&Value> = report.value().as_object().expect("an object").values().collect();
        assert_eq!(values.len(), 4, "{}", report.value());
    });
}

/// Secrets as services hand them out.
fn realistic(count: usize) -> Vec<Secret> {
    let mut numbers = Numbers(11);
    let secrets = (0..count).map(|number| {
        Secret::new(match number % 8 {
            0 => format!("ghp_{}", numbers.text(LETTERS, 36)),
            1 => format!("sk-proj-{}", numbers.text(&format!("{LETTERS}_-"), 48)),
            2 => format!("AKIA{}", numbers.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
            3 => numbers.text("0123456789abcdef", 32),
            4 => format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", numbers.text(LETTERS, 60), numbers.text(LETTERS, 43)),
            5 => numbers.text(&format!("{LETTERS}!#$%&*+-=?@^_"), 12),
            6 => format!("xoxb-{}-{}", numbers.text("0123456789", 12), numbers.text(LETTERS, 24)),
            _ => format!("{}=", numbers.text(&format!("{LETTERS}+/"), 43)),
        })
    });
    secrets.collect()
}

/// The text of this project: prose, code, tables.
fn corpus(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            corpus(&path, texts);
        } else if [".md", ".rs", ".js", ".toml", ".yaml", ".lock"].iter().any(|ending| name.ends_with(ending))
        {
            texts.push((path.display().to_string(), std::fs::read_to_string(&path).expect("text")));
        }
    }
}

fn ordinary_text_is_left_as_it_is() {
    let mut texts = Vec::new();
    corpus(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")), &mut texts);
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes > 1_000_000, "only {bytes} bytes of text");
    let secrets = realistic(200);
    let mut masks = 0;
    for secrets in secrets.chunks(50) {
        let redactor = Redactor::new(secrets).expect("a redactor");
        for (path, text) in &texts {
            if let std::borrow::Cow::Owned(masked) = redactor.redact(text) {
                masks += 1;
                crate::output::line(format_args!("{path}: {} bytes became {}", text.len(), masked.len()));
            }
        }
    }
    crate::output::line(format_args!("{bytes} bytes of ordinary text, 200 secrets: {masks} files changed"));
    assert_eq!(masks, 0);
}
