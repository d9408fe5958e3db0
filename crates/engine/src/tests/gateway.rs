//! What code sees of the gateway: `fetch` and its classes, `safety.fs`. The world answers from a table.

mod abort;
mod bodies;
mod commands;
mod fetch;
mod files;
mod forms;
mod headers;
mod hostile;
mod options;

use std::rc::Rc;

use bailiwick_types::{Answer, Bytes, Effect, ErrorCode, FetchAnswer, FetchRequest};
use bailiwick_wire::{Entry, Given, Job, Refusal, Reply};

use super::{Fake, job, run_in};

/// Runs each expression, in one call, and compares what it gives, as JSON; what it throws is written `!Name: message`,
/// and compared as far as the expectation goes.
#[track_caller]
pub(super) fn rows(setup: &str, table: &[(&str, &str)]) {
    let thunks: Vec<String> = table.iter().map(|(code, _)| format!("async () => ({code})")).collect();
    let source = format!(
        "{setup};\nconst rows = [{}]; const out = [];
         for (let i = 0; i < rows.length; i++) {{
           try {{ const given = await rows[i](); out[i] = given === undefined ? 'undefined' : JSON.stringify(given) }}
           catch (e) {{ out[i] = '!' + e.name + ': ' + e.message }}
         }}
         return out.join('\\u0001')",
        thunks.join(",\n")
    );
    let report = run_in(job(Entry::Body, &source), &world());
    let Given::Value(given) = report.given else { panic!("{source}: {report:?}") };
    let given = plain(&given);
    let given: Vec<&str> = given.split('\u{1}').collect();
    assert_eq!(given.len(), table.len(), "{given:?}");
    for ((code, expected), given) in table.iter().zip(given) {
        let fits = if expected.starts_with('!') { given.starts_with(expected) } else { given == *expected };
        assert!(fits, "{code}\n  gave     {given}\n  expected {expected}");
    }
}

/// The text of a JSON string.
fn plain(json: &str) -> String {
    let mut out = String::new();
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match (letter, if letter == '\\' { letters.next() } else { None }) {
            (_, Some('n')) => out.push('\n'),
            (_, Some('r')) => out.push('\r'),
            (_, Some('t')) => out.push('\t'),
            (_, Some('u')) => {
                let digits: String = letters.by_ref().take(4).collect();
                out.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap());
            }
            (_, Some(other)) => out.push(other),
            (letter, None) => out.push(letter),
        }
    }
    out
}

/// A world that answers by the path of the URL.
pub(super) fn world() -> Rc<Fake> {
    Fake::answering(|_, effect| match effect {
        Effect::Fetch(request) => answer(request),
        Effect::File(request) => Some(files::answer(request)),
        Effect::Exec(request) => Some(commands::answer(request)),
    })
}

fn answer(request: &FetchRequest) -> Option<Reply> {
    let path = request.url.strip_prefix("https://e.test").unwrap_or("/echo");
    let path = path.split(['?', '#']).next().unwrap_or(path);
    if path == "/never" {
        return None;
    }
    if path == "/refuse" {
        return Some(refused(ErrorCode::NetDenied, "host-not-allowed"));
    }
    let text = |body: &str| body.as_bytes().to_vec();
    let mut headers = vec![("content-type", "application/json"), ("x-a", "1"), ("x-a", "2")];
    let body = match path {
        "/bom" => text("\u{feff}mark"),
        "/broken" => vec![b'a', 0xFF, b'b'],
        "/json" => text(r#"{"a":[1,2],"__proto__":3}"#),
        "/form" => {
            headers = vec![("content-type", "application/x-www-form-urlencoded; charset=UTF-8")];
            text("a=1&b=x+y%20z&a=%E2%82%AC&&c")
        }
        "/multipart" => {
            headers = vec![("content-type", "multipart/form-data; boundary=x")];
            text("--x--\r\n")
        }
        "/cookies" => {
            headers = vec![("set-cookie", "a=1"), ("b", "x"), ("set-cookie", "c=2, d"), ("a", "y")];
            Vec::new()
        }
        "/204" | "/404" | "/empty" => Vec::new(),
        "/big" => vec![b'x'; 5 << 20],
        _ => echo(request).into_bytes(),
    };
    let whole = u64::try_from(body.len()).unwrap() + request.offset;
    Some(Reply::Given(Answer::Fetched(FetchAnswer {
        status: match path {
            "/204" => 204,
            "/404" => 404,
            _ => 200,
        },
        status_text: if path == "/404" { "Not Found".to_owned() } else { "OK".to_owned() },
        url: request.url.clone(),
        redirected: path == "/moved",
        headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: Bytes(body),
        whole,
    })))
}

/// What was asked, in words.
fn echo(request: &FetchRequest) -> String {
    let FetchRequest { method, url, headers, body, redirect, max_bytes, offset } = request;
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = body.as_ref().map(|body| String::from_utf8_lossy(&body.0).into_owned());
    format!("{method} {url} [{}] {body:?} {redirect:?} {max_bytes:?} {offset}", headers.join("|"))
}

pub(super) fn refused(code: ErrorCode, reason: &str) -> Reply {
    Reply::Refused(Refusal {
        code,
        reason: reason.to_owned(),
        message: "the host said no".to_owned(),
        hint: Some("ask for it".to_owned()),
        denied: Some(r#"{"capability":"net.fetch"}"#.to_owned()),
    })
}

/// A body with these names only.
pub(super) fn granted(source: &str, names: &[&str]) -> Job {
    let mut body = job(Entry::Body, source);
    body.globals = names.iter().map(|name| (*name).to_owned()).collect();
    body
}

#[test]
fn the_names_are_there_when_they_are_granted_only() {
    let names = ["fetch", "Headers", "Request", "Response", "FormData", "AbortController", "AbortSignal"];
    let types = |names: &[&str]| {
        let list: Vec<String> = names.iter().map(|name| format!("typeof {name}")).collect();
        format!("return [{}].join()", list.join(","))
    };
    let given = run_in(granted(&types(&names), &[]), &world()).given;
    assert_eq!(given, Given::Value(format!("\"{}\"", ["undefined"; 7].join(","))));
    let given = run_in(granted(&types(&names), &names), &world()).given;
    assert_eq!(given, Given::Value(format!("\"{}\"", ["function"; 7].join(","))));
    let given = run_in(granted("return Object.keys(safety.fs)", &["safety.fs.stat"]), &world()).given;
    assert_eq!(given, Given::Value(r#"["stat"]"#.to_owned()));
    let given = run_in(granted("return typeof safety", &names), &world()).given;
    assert_eq!(given, Given::Value(r#""undefined""#.to_owned()));
}
