//! Sealed secrets from the side of the code: it holds a placeholder, the host it names gets the value, and nothing that
//! comes back, and no byte of the cell's memory, has the value in it.

use std::sync::Arc;

use bailiwick::gateway::net::Seal;
use bailiwick::policy::EffectivePolicy;
use bailiwick::types::CallReport;
use bailiwick::{Call, NamedSecret, Runtime, Secret};
use bailiwick_testkit::upstream::{Answer, Coding, Gate, Request, Upstream};
use serde_json::{Value, json};

use crate::alone::in_a_process_of_its_own;
use crate::memory_of_cells::{holds, memory};
use crate::outside::{A, B, Outside, told, with};
use crate::processes;
use crate::requires::{Needs, has};
use crate::stage::{block_on, comes_true, marker};

bailiwick_testkit::tests!(
    the_host_gets_the_value_and_the_code_a_placeholder,
    an_echo_comes_back_masked_however_it_is_cut,
    a_placeholder_in_another_place_is_refused_and_nothing_is_sent,
    a_redirect_to_another_origin_leaves_the_value_behind,
    a_value_that_cannot_be_sealed_is_given_to_no_code,
    each_call_has_a_placeholder_of_its_own,
    the_value_is_never_in_the_memory_of_a_cell,
);

const VALUE: &str = "s3cr3t-VALUE/of+the=owner";

fn header_seal() -> Value {
    json!({"hosts": ["a.test"], "in": "header:Authorization"})
}

/// An upstream behind `a.test` and `b.test` over https, and behind `a.test` over http.
fn world(answers: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> (Outside, Upstream) {
    let outside = Outside::new();
    let certificate = outside.authority.issue(&["a.test", "b.test"]);
    let upstream = Upstream::https(answers, &certificate);
    let [first, second, in_the_clear] = [format!("{A}:443"), format!("{B}:443"), format!("{A}:80")];
    let outside = outside.route(&first, &upstream).route(&second, &upstream).route(&in_the_clear, &upstream);
    (outside, upstream)
}

fn policy() -> Arc<EffectivePolicy> {
    with("network: strict", "wall: 20s, fetches: 100")
}

fn call(source: &str, seal: &Value) -> Call {
    call_with(source, seal, VALUE)
}

fn call_with(source: &str, seal: &Value, value: &str) -> Call {
    let secret = NamedSecret::new("OWNERS_KEY", Secret::new(value.to_owned()));
    Call::body(source).sealed("key", secret, Seal::parse(seal).expect("a seal")).policy(policy())
}

/// Runs code with the sealed secret as `key`; whatever it gives has no value in it.
async fn run(runtime: &Runtime, source: &str, seal: &Value) -> CallReport {
    let report = runtime.run(call(source, seal)).await.expect("the call is started");
    assert!(!told(&report).contains(VALUE), "{source}: {}", told(&report));
    report
}

fn the_host_gets_the_value_and_the_code_a_placeholder() {
    block_on(async {
        let (outside, upstream) = world(|_| Answer::ok("fine"));
        let runtime = outside.runtime().await;
        let source = "const r = await fetch('https://a.test/x', {headers: {authorization: 'Bearer ' + key}});
            return [await r.text(), key.length > 16, key.includes('VALUE')]";
        let report = run(&runtime, source, &header_seal()).await;
        assert_eq!((report.failure(), report.value()), (None, &json!(["fine", true, false])));
        let seen = upstream.requests().pop().expect("a request");
        assert_eq!(seen.header("authorization"), Some(&*format!("Bearer {VALUE}")));

        let seal = json!({"hosts": ["a.test"], "in": "query:key"});
        let source = "return (await fetch('https://a.test/x?key=' + key)).url.includes(key)";
        assert_eq!(run(&runtime, source, &seal).await.value(), &json!(true));
        let seen = upstream.requests().pop().expect("a request");
        assert_eq!(seen.target, "/x?key=s3cr3t-VALUE%2Fof%2Bthe%3Downer");

        let seal = json!({"hosts": ["a.test"], "in": "body"});
        let source = "return (await fetch('https://a.test/x', {method: 'POST', body: `<${key}>`})).status";
        assert_eq!(run(&runtime, source, &seal).await.value(), &json!(200));
        assert_eq!(upstream.requests().pop().expect("a request").text(), format!("<{VALUE}>"));
    });
}

fn an_echo_comes_back_masked_however_it_is_cut() {
    block_on(async {
        let (outside, _upstream) = world(|request: &Request| {
            let authorization = request.header("authorization").unwrap_or_default().to_owned();
            let body = format!("you sent me <{authorization}> and I tell");
            let answer = match request.path() {
                "/gzip" => Answer::packed(Coding::Gzip, body.as_bytes()),
                "/br" => Answer::packed(Coding::Brotli, body.as_bytes()),
                "/zstd" => Answer::packed(Coding::Zstd, body.as_bytes()),
                _ => Answer::ok(body),
            };
            answer.header("x-echo", authorization)
        });
        let runtime = outside.runtime().await;
        for path in ["plain", "gzip", "br", "zstd"] {
            // Every window of every small size around the echo, put together again by the code.
            let source = format!(
                "const get = (init) => fetch('https://a.test/{path}', {{headers: {{authorization: key}}, ...init}});
                const whole = await get({{}});
                const [text, header] = [await whole.text(), whole.headers.get('x-echo')];
                const cut = [];
                for (let offset = 8; offset < 34; offset++)
                    cut.push(await (await get({{offset, maxBytes: 12}})).text());
                const again = cut.map((part) => part[0] ?? '').join('');
                return {{text, header, cut, again, split: Array.from(text).join(' ')}}"
            );
            let report = run(&runtime, &source, &header_seal()).await;
            assert_eq!(report.failure(), None, "{path}");
            let given = report.value();
            assert_eq!(given["text"], json!("you sent me <***> and I tell"), "{path}");
            assert_eq!(given["header"], json!("***"), "{path}");
            // No window shows four characters of the value in a row, nor does what the code puts together.
            let shown = given.to_string();
            for at in 0..VALUE.len() - 4 {
                let part = VALUE.get(at..at + 4).expect("ASCII");
                assert!(!shown.contains(part), "{path}: {part} in {shown}");
            }
        }
    });
}

fn a_placeholder_in_another_place_is_refused_and_nothing_is_sent() {
    block_on(async {
        let (outside, upstream) = world(|_| Answer::ok("reached"));
        let runtime = outside.runtime().await;
        let attempts = [
            ("another host", "fetch('https://b.test/', {headers: {authorization: key}})"),
            ("plain http", "fetch('http://a.test/', {headers: {authorization: key}})"),
            ("another header", "fetch('https://a.test/', {headers: {'x-key': key}})"),
            (
                "another header beside the right one",
                "fetch('https://a.test/', {headers: {authorization: key, 'x-key': key}})",
            ),
            ("the body", "fetch('https://a.test/', {method: 'POST', body: key})"),
            (
                "the body as bytes",
                "fetch('https://a.test/', {method: 'POST', body: new TextEncoder().encode('k=' + key)})",
            ),
            ("a form", "fetch('https://a.test/', {method: 'POST', body: new URLSearchParams({key})})"),
            ("the path", "fetch('https://a.test/' + key)"),
            ("the query", "fetch('https://a.test/?key=' + key)"),
            (
                "the query, percent-encoded",
                "fetch('https://a.test/?k=' + Array.from(key, (c) => '%' + c.charCodeAt(0).toString(16)).join(''))",
            ),
            (
                "base64",
                "fetch('https://a.test/', {headers: {authorization: 'Basic ' + btoa('user:' + key)}})",
            ),
            ("a subdomain", "fetch('https://' + key + '.b.test/')"),
        ];
        for (what, attempt) in attempts {
            let source = format!("try {{ await {attempt} }} catch (e) {{ return [e.code, e.reason] }}");
            let report = run(&runtime, &source, &header_seal()).await;
            assert_eq!(
                report.value(),
                &json!(["NET_DENIED", "sealed-place"]),
                "{what} {:?}",
                report.failure()
            );
            let report = run(&runtime, &format!("await {attempt}"), &header_seal()).await;
            let failure = report.failure().expect("a failure");
            assert_eq!(failure.code.name(), "NET_DENIED", "{what}");
        }
        assert_eq!((upstream.requests().len(), upstream.connections()), (0, 0), "something was sent");
    });
}

fn a_redirect_to_another_origin_leaves_the_value_behind() {
    block_on(async {
        let (outside, upstream) = world(|request: &Request| match request.path() {
            "/same" => Answer::redirect(302, "/end"),
            "/other" => Answer::redirect(302, "https://b.test/end"),
            "/echo" => Answer::redirect(302, &format!("https://b.test/{VALUE}")),
            _ => Answer::ok("end"),
        });
        let runtime = outside.runtime().await;
        let go = |path: &str| {
            format!(
                "try {{ return await (await fetch('https://a.test/{path}', {{headers: {{authorization: key}}}})).text() }}
                 catch (e) {{ return e.reason }}"
            )
        };
        for (path, expected, carried) in
            [("same", "end", Some(VALUE)), ("other", "end", None), ("echo", "sealed-place", Some(VALUE))]
        {
            let report = run(&runtime, &go(path), &header_seal()).await;
            assert_eq!(report.value(), &json!(expected), "{path}");
            let seen = upstream.requests().pop().expect("a request");
            assert_eq!(seen.header("authorization"), carried, "{path}: {}", seen.target);
        }
        let leaked = upstream.requests().iter().any(|seen| seen.target.contains(VALUE));
        assert!(!leaked, "the value went where a redirect said");
    });
}

fn a_value_that_cannot_be_sealed_is_given_to_no_code() {
    block_on(async {
        let (outside, _upstream) = world(|_| Answer::ok("x"));
        let runtime = outside.runtime().await;
        for value in ["short", "sixteen letters\n and more"] {
            let seal = Seal::parse(&header_seal()).expect("a seal");
            let secret = NamedSecret::new("OWNERS_KEY", Secret::new(value.to_owned()));
            let call = Call::body("return key").sealed("key", secret, seal).policy(policy());
            let report = runtime.run(call).await.expect("a report");
            let failure = report.failure().expect("a failure");
            assert_eq!(failure.code.name(), "INVALID_INPUT");
            assert!(failure.message.contains("OWNERS_KEY"), "{failure:?}");
            assert!(!told(&report).contains(value), "{failure:?}");
        }
    });
}

fn each_call_has_a_placeholder_of_its_own() {
    block_on(async {
        let (outside, upstream) = world(|_| Answer::ok("x"));
        let runtime = outside.runtime().await;
        let first = run(&runtime, "return key", &header_seal()).await.value().clone();
        let second = run(&runtime, "return key", &header_seal()).await.value().clone();
        assert_ne!(first, second);
        let source =
            "const r = await fetch('https://a.test/', {headers: {authorization: old}}); return r.status";
        let report = runtime.run(call(source, &header_seal()).argument("old", first.clone())).await;
        assert_eq!(report.expect("a report").value(), &json!(200));
        let seen = upstream.requests().pop().expect("a request");
        assert_eq!(seen.header("authorization"), first.as_str(), "an old placeholder is just text");
    });
}

fn the_value_is_never_in_the_memory_of_a_cell() {
    if has(&[Needs::Root]) {
        in_a_process_of_its_own("memory_of_sealed");
    }
}

/// Runs in a process of its own.
pub(crate) fn memory_role() {
    block_on(async {
        // Made here, so that it is in no file that a process maps.
        let value = marker(32);
        let gate = Gate::new();
        let late = Answer::late(&gate, "on");
        let (outside, upstream) = world(move |request: &Request| {
            if request.path() == "/wait" {
                return late.clone();
            }
            let echo = request.header("authorization").unwrap_or_default().to_owned();
            Answer::ok(format!("you sent {echo}!")).header("x-echo", echo)
        });
        let runtime = outside.runtime().await;
        let source = "globalThis.kept = [];
            for (let i = 0; i < 5; i++) {
                const r = await fetch('https://a.test/' + i, {headers: {authorization: 'Bearer ' + key}});
                kept.push(r.headers.get('x-echo'), await r.text(), key + i);
            }
            try { await fetch('https://b.test/', {headers: {authorization: key}}) } catch (e) { kept.push(e.message) }
            console.log(key);
            await fetch('https://a.test/wait');
            return kept.length";
        let call = call_with(source, &header_seal(), &value);
        let (send, mut said) = tokio::sync::mpsc::unbounded_channel();
        let running = tokio::spawn({
            let runtime = runtime.clone();
            async move {
                runtime
                    .run_with(call, move |line| {
                        send.send(line.text).expect("somebody listens");
                    })
                    .await
            }
        });
        let placeholder = said.recv().await.expect("the placeholder");
        assert!(comes_true(|| upstream.requests().iter().any(|seen| seen.path() == "/wait")).await);
        let own = memory(std::process::id());
        assert!(holds(&own, &value), "the search does not even find the value in the host");
        drop(own);
        let mut with_placeholder = 0;
        for process in processes::cells().iter().chain(&processes::nurseries()) {
            let memory = memory(process.pid);
            assert!(!holds(&memory, &value), "the value is in the memory of {process:?}");
            with_placeholder += usize::from(holds(&memory, &placeholder));
        }
        assert_eq!(with_placeholder, 1, "the search finds the placeholder in the one cell that has it");
        gate.open();
        let report = running.await.expect("no panic").expect("a report");
        assert_eq!((report.failure(), report.value()), (None, &json!(16)));
    });
}
