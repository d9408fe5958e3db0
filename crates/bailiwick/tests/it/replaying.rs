//! Calls kept and given again: the same value byte for byte without any world, and a clear word where they differ.

use std::sync::Arc;
use std::time::Duration;

use bailiwick::gateway::net::Seal;
use bailiwick::policy::EffectivePolicy;
use bailiwick::types::ErrorCode;
use bailiwick::{Call, Entry, Language, NamedSecret, Recorded, Recording, Runtime, Secret};
use bailiwick_testkit::upstream::{Answer, Gate, Request, Upstream};
use serde_json::json;

use crate::outside::{A, Outside, told, with};
use crate::stage::{block_on, failure, runtime};

bailiwick_testkit::tests!(
    a_call_is_given_again_byte_for_byte_without_a_world,
    code_that_asks_for_something_else_diverges_and_both_are_named,
    a_recording_holds_names_and_no_secrets,
    a_secret_within_another_leaves_no_remains_in_a_recording,
    a_call_that_used_secrets_is_given_again_without_them,
    a_recording_grants_nothing,
    what_is_no_recording_is_refused,
);

/// Code that uses everything that could differ another time.
const ALL: &str = "
    const seen = [];
    const get = async (path) => { const r = await fetch('http://a.test/' + path); seen.push(await r.text()) };
    await Promise.all([get('slow'), get('fast')]);
    seen.push(Date.now(), new Date().toISOString(), Math.random(), crypto.randomUUID());
    await new Promise((done) => setTimeout(done, 20));
    await Promise.race([new Promise((done) => setTimeout(done, 5)), get('fast')]);
    seen.push(Date.now(), Math.random(), Array.from(crypto.getRandomValues(new Uint8Array(8))));
    seen.push(safety.fs.readText('note.txt'), safety.fs.stat('note.txt').size);
    try { safety.fs.readText('../outside') } catch (e) { seen.push(e.code, e.reason, e.message) }
    try { await fetch('http://127.0.0.1/') } catch (e) { seen.push(e.code, e.reason, e.denied) }
    try { safety.fs.readText('missing.txt') } catch (e) { seen.push(e.code, e.reason) }
    console.log(seen.length);
    return seen";

fn policy() -> Arc<EffectivePolicy> {
    with("network: strict, fileRead: true", "wall: 5s")
}

/// An upstream whose first answer waits until the second was asked for.
fn upstream() -> Upstream {
    let gate = Gate::new();
    Upstream::http(move |request: &Request| {
        if request.path() == "/slow" {
            return Answer::late(&gate, "slow answer");
        }
        let opened = gate.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            opened.open();
        });
        Answer::ok(format!("{} {}", request.path(), "fast answer"))
    })
}

async fn record(runtime: &Runtime, call: Call) -> (Recorded, Recording) {
    let recorded = runtime.record_with(call, |_| {}).await.expect("the call is started");
    let kept = recorded.recording.clone().expect("a recording");
    // What is given again is what was read from the file.
    let text = serde_json::to_string_pretty(&kept).expect("JSON");
    let read = Recording::parse(&text).expect("a recording");
    assert_eq!(read, kept);
    (recorded, read)
}

fn a_call_is_given_again_byte_for_byte_without_a_world() {
    block_on(async {
        let upstream = upstream();
        let outside = Outside::new().at_a(&upstream);
        std::fs::write(outside.workspace().join("note.txt"), "noted").expect("a file");
        let live = outside.runtime().await;
        let (recorded, kept) = record(&live, Call::body(ALL).policy(policy())).await;
        assert_eq!(recorded.report.failure(), None);
        let seen = recorded.report.value();
        assert_eq!(
            (&seen[0], &seen[1]),
            (&json!("/fast fast answer"), &json!("slow answer")),
            "out of order"
        );
        assert_eq!(kept.outcome()["value"], *seen);
        assert_eq!(kept.source(), ALL);
        let requests = upstream.requests().len();
        drop(live);

        // The clock has moved on, and there is neither a network nor a folder.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let alone = runtime().await;
        for _ in 0..3 {
            let again = alone.run(Call::recorded(kept.clone()).policy(policy())).await.expect("a report");
            assert_eq!(again.failure(), None);
            assert_eq!(again.value().to_string(), seen.to_string());
            assert_eq!(again.logs().len(), 1);
        }
        assert_eq!(upstream.requests().len(), requests);
    });
}

fn code_that_asks_for_something_else_diverges_and_both_are_named() {
    block_on(async {
        let upstream = upstream();
        let outside = Outside::new().at_a(&upstream);
        std::fs::write(outside.workspace().join("note.txt"), "noted").expect("a file");
        let live = outside.runtime().await;
        let source =
            "const r = await fetch('http://a.test/one'); safety.fs.readText('note.txt'); return r.status";
        let (_, kept) = record(&live, Call::body(source).policy(policy())).await;
        let alone = runtime().await;
        let same = Call::recorded(kept.clone()).policy(policy());
        assert_eq!(alone.run(same).await.expect("a report").value(), &json!(200));
        for (changed, names) in [
            (
                "return (await fetch('http://a.test/two')).status",
                &["http://a.test/one", "http://a.test/two"][..],
            ),
            ("try { await fetch('http://a.test/two') } catch { return 'caught' }", &["/one", "/two"]),
            ("return (await fetch('http://a.test/one', {method: 'POST'})).status", &["GET", "POST"]),
            (
                "await fetch('http://a.test/one'); return safety.fs.readText('other.txt')",
                &["note.txt", "other.txt"],
            ),
            (
                "await fetch('http://a.test/one'); safety.fs.readText('note.txt'); await fetch('http://a.test/more')",
                &["http://a.test/more"],
            ),
        ] {
            let call = Call::recorded(kept.clone()).with_code(Entry::Body, Language::JavaScript, changed);
            let report = alone.run(call.policy(policy())).await.expect("a report");
            let failure = failure(&report);
            assert_eq!(failure.code, ErrorCode::ReplayDiverged, "{changed}: {failure:?}");
            for name in names {
                assert!(failure.message.contains(name), "{name}: {failure:?}");
            }
            assert!(failure.hint.is_some(), "{failure:?}");
        }
        assert_eq!(upstream.requests().len(), 1);
    });
}

const TOKEN: &str = "tok_9f8e7d6c5b4a/3210+xyz";
const SEALED: &str = "sealed-0123456789-abcdefgh";

/// A world in which the host tells what it was sent.
fn telling() -> (Outside, Upstream) {
    let outside = Outside::new();
    let certificate = outside.authority.issue(&["a.test"]);
    let upstream = Upstream::https(|_: &Request| Answer::echo(), &certificate);
    let outside = outside.route(&format!("{A}:443"), &upstream);
    (outside, upstream)
}

fn with_secrets(source: &str) -> Call {
    let seal = json!({"hosts": ["a.test"], "in": "header:Authorization"});
    Call::body(source)
        .secret("token", NamedSecret::new("TOKEN", Secret::new(TOKEN.to_owned())))
        .sealed(
            "key",
            NamedSecret::new("KEY", Secret::new(SEALED.to_owned())),
            Seal::parse(&seal).expect("a seal"),
        )
        .argument("again", format!("an argument with {TOKEN}"))
        .policy(policy())
}

const USES_SECRETS: &str = "
    const headers = {'x-token': token, 'x-basic': 'Basic ' + btoa('user:' + token), authorization: 'Bearer ' + key};
    const url = 'https://a.test/?t=' + encodeURIComponent(token);
    const r = await fetch(url, {method: 'POST', headers, body: JSON.stringify({token})});
    const told = await r.json();
    console.log(token, key);
    return [told.method, again.length > 0]";

fn a_recording_holds_names_and_no_secrets() {
    block_on(async {
        let (outside, upstream) = telling();
        let live = outside.runtime().await;
        for source in [
            USES_SECRETS,
            "await fetch('https://a.test/' + token, {headers: {authorization: key}}); throw new Error(token)",
        ] {
            let (recorded, kept) = record(&live, with_secrets(source)).await;
            let text = serde_json::to_string(&kept).expect("JSON");
            let encoded = TOKEN.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            for hidden in
                [TOKEN, SEALED, &TOKEN.replace('/', "%2F").replace('+', "%2B"), &encoded, "dG9rXzlmOGU3"]
            {
                assert!(!text.contains(hidden), "{hidden} in {text}");
                assert!(!told(&recorded.report).contains(hidden), "{hidden} in the report");
            }
            assert!(text.contains("${TOKEN}") && text.contains("${KEY}"), "{text}");
        }
        let seen = upstream.requests();
        assert_eq!(seen[0].header("x-token"), Some(TOKEN), "the stage is not set");
        assert_eq!(seen[0].header("authorization"), Some(&*format!("Bearer {SEALED}")));
    });
}

fn a_secret_within_another_leaves_no_remains_in_a_recording() {
    block_on(async {
        let (outside, _upstream) = telling();
        let live = outside.runtime().await;
        let (short, long) = ("inner-secret", "outer-inner-secret-and-its-tail");
        let source = "const r = await fetch('https://a.test/', {method: 'POST', body: long}); return (await r.json()).body";
        let call = Call::body(source)
            .secret("short", NamedSecret::new("SHORT", Secret::new(short.to_owned())))
            .secret("long", NamedSecret::new("LONG", Secret::new(long.to_owned())))
            .policy(policy());
        let (_, kept) = record(&live, call).await;
        let text = serde_json::to_string(&kept).expect("JSON");
        for part in [short, "outer-", "-and-its-tail"] {
            assert!(!text.contains(part), "{part} in {text}");
        }
        assert!(text.contains("${LONG}"), "{text}");
    });
}

fn a_call_that_used_secrets_is_given_again_without_them() {
    block_on(async {
        let (outside, upstream) = telling();
        let live = outside.runtime().await;
        let (recorded, kept) = record(&live, with_secrets(USES_SECRETS)).await;
        assert_eq!(recorded.report.failure(), None);
        let alone = runtime().await;
        let report = alone.run(Call::recorded(kept).policy(policy())).await.expect("a report");
        assert_eq!((report.failure(), report.value()), (None, recorded.report.value()));
        assert_eq!(upstream.requests().len(), 1);
    });
}

fn a_recording_grants_nothing() {
    block_on(async {
        let upstream = upstream();
        let outside = Outside::new().at_a(&upstream);
        std::fs::write(outside.workspace().join("note.txt"), "noted").expect("a file");
        let live = outside.runtime().await;
        let source = "const told = [];
            try { told.push((await fetch('http://a.test/one')).status) } catch (e) { told.push(e.code) }
            try { told.push(safety.fs.readText('note.txt')) } catch (e) { told.push(e.code) }
            return told";
        let (recorded, kept) = record(&live, Call::body(source).policy(policy())).await;
        assert_eq!(recorded.report.value(), &json!([200, "noted"]));
        let alone = runtime().await;
        for (overrides, expected) in [
            ("network: allowlist, hosts: [b.test], fileRead: true", json!(["NET_DENIED", "noted"])),
            ("network: allowlist, hosts: [a.test], fileRead: true", json!([200, "noted"])),
            (
                "network: allowlist, hosts: [{host: a.test, methods: [POST]}], fileRead: true",
                json!(["NET_DENIED", "noted"]),
            ),
            ("network: strict, fileRead: true, basePath: elsewhere", json!([200, "FS_DENIED"])),
        ] {
            let call = Call::recorded(kept.clone()).policy(with(overrides, "wall: 5s"));
            let report = alone.run(call).await.expect("a report");
            assert_eq!((report.failure(), report.value()), (None, &expected), "{overrides}");
        }
        // Without any grant the names are not even there.
        let report = alone.run(Call::recorded(kept)).await.expect("a report");
        assert_eq!(report.value(), &json!([null, null]), "{:?}", report.failure());
    });
}

fn what_is_no_recording_is_refused() {
    block_on(async {
        let (outside, _upstream) = telling();
        let live = outside.runtime().await;
        let (_, kept) = record(&live, Call::body("return 1").policy(policy())).await;
        let sound = json!(kept);
        for (field, value) in [
            ("version", json!(2)),
            ("seed", json!("12")),
            ("seed", json!("x".repeat(64))),
            ("effects", json!({})),
            ("extra", json!(1)),
        ] {
            let mut odd = sound.clone();
            odd[field] = value;
            assert!(Recording::parse(&odd.to_string()).is_err(), "{field}");
        }
        assert!(Recording::parse("").is_err() && Recording::parse("[]").is_err());
        assert!(Recording::parse(&sound.to_string()).is_ok());
    });
}
