//! `fetch` from code in a cell to upstreams that pretend to be anywhere: what arrives, what comes back, what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick::Call;
use bailiwick::policy::Baseline;
use bailiwick::types::{ErrorCode, WallStatus};
use bailiwick_testkit::upstream::{Answer, Coding, Gate, Paths, Request, Upstream};
use serde_json::{Value, json};

use crate::outside::{A, B, Outside, run, strict, value, with};
use crate::stage::{block_on, comes_true, fails, failure, gives, policy_over, runtime};

bailiwick_testkit::tests!(
    a_request_arrives_as_the_code_made_it,
    an_answer_is_read_as_the_code_wants_it,
    redirects_are_followed_told_or_refused,
    what_was_fetched_is_counted_and_its_addresses_are_said_to_be_pinned,
    a_denial_that_nobody_catches_says_what_where_and_how,
    a_denial_can_be_caught,
    an_aborted_request_ends_at_the_upstream_too,
    sixty_four_requests_at_once_are_answered_six_at_a_time,
    the_request_beyond_the_limit_is_refused_and_the_call_goes_on,
    a_bomb_is_told_as_too_large_and_harms_no_other_call,
    our_own_listeners_are_refused_in_every_network_mode,
    a_connection_is_kept_within_a_call_and_never_across_calls,
    without_a_grant_there_is_no_fetch,
    without_a_network_a_grant_is_worth_nothing,
    a_call_that_ends_gives_up_its_requests,
    a_request_never_outlives_the_deadline_of_its_call,
);

fn a_request_arrives_as_the_code_made_it() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("taken"));
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 5s"));
        let text = Some("text/plain;charset=UTF-8");
        let form = Some("application/x-www-form-urlencoded;charset=UTF-8");
        for (init, method, body, kind) in [
            ("{}", "GET", &b""[..], None),
            ("{method: 'HEAD'}", "HEAD", b"", None),
            ("{method: 'delete'}", "DELETE", b"", None),
            ("{method: 'OPTIONS'}", "OPTIONS", b"", None),
            ("{method: 'POST', body: 'gr\\u00fc\\u00df'}", "POST", "grüß".as_bytes(), text),
            ("{method: 'PUT', body: new Uint8Array([0, 255, 7])}", "PUT", &[0, 255, 7], None),
            ("{method: 'PATCH', body: new Uint8Array([1, 2, 3]).buffer}", "PATCH", &[1, 2, 3], None),
            ("{method: 'POST', body: new Uint8Array([1, 2, 3]).subarray(1)}", "POST", &[2, 3], None),
            ("{method: 'POST', body: new URLSearchParams({a: '1 2', b: '&'})}", "POST", b"a=1+2&b=%26", form),
            ("{method: 'POST', body: JSON.stringify({n: 1})}", "POST", b"{\"n\":1}", text),
            (
                "{method: 'POST', body: '{}', headers: {'content-type': 'application/json'}}",
                "POST",
                b"{}",
                Some("application/json"),
            ),
        ] {
            let source = format!("return (await fetch('http://a.test/p?q=1', {init})).status");
            assert_eq!(value(&runtime, &source, &policy).await, json!(200), "{init}");
            let seen = upstream.requests().pop().expect("a request");
            assert_eq!((seen.method.as_str(), seen.target.as_str()), (method, "/p?q=1"), "{init}");
            assert_eq!((seen.body.as_slice(), seen.header("content-type")), (body, kind), "{init}");
            assert_eq!(seen.header("host"), Some("a.test"));
        }
        let source = "const form = new FormData(); form.append('one', 'text'); form.append('two', 'x\\r\\ny');
            const init = {method: 'POST', body: form, headers: {'X-Own': 'a', Host: 'evil.test', Connection: 'x'}};
            return (await fetch(new Request('http://a.test/f', init))).status";
        assert_eq!(value(&runtime, source, &policy).await, json!(200));
        let seen = upstream.requests().pop().expect("a request");
        let kind = seen.header("content-type").expect("a type").to_owned();
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a form");
        assert!(seen.text().starts_with(&format!("--{boundary}\r\n")), "{}", seen.text());
        assert!(seen.text().contains("name=\"one\"\r\n\r\ntext\r\n"), "{}", seen.text());
        assert_eq!((seen.header("x-own"), seen.header("host")), (Some("a"), Some("a.test")));
        assert_ne!(seen.header("connection"), Some("x"));
    });
}

fn an_answer_is_read_as_the_code_wants_it() {
    block_on(async {
        let json = "{\"list\":[1,2,{\"deep\":\"gr\u{fc}\u{df}\"}]}";
        let paths = Paths::new()
            .at("/json", Answer::json(json).header("x-own", "1").header("x-own", "2"))
            .at("/gzip", Answer::packed(Coding::Gzip, b"0123456789"))
            .at("/plain", Answer::ok("0123456789"))
            .at("/404", Answer::new(404).body("none"))
            .at("/204", Answer::new(204));
        let upstream = Upstream::http(paths);
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 5s"));
        for (path, init, read, expected) in [
            ("json", "{}", "await r.json()", serde_json::from_str(json).expect("JSON")),
            ("json", "{}", "await r.text()", Value::from(json)),
            (
                "json",
                "{}",
                "[r.headers.get('x-own'), r.headers.get('Content-Type')]",
                json!(["1, 2", "application/json"]),
            ),
            (
                "json",
                "{}",
                "[r.status, r.ok, r.url, r.redirected]",
                json!([200, true, "http://a.test/json", false]),
            ),
            ("json", "{}", "[await r.clone().text() === await r.text(), r.bodyUsed]", json!([true, true])),
            ("plain", "{}", "Array.from(await r.bytes())", json!(b"0123456789")),
            ("plain", "{}", "(await r.arrayBuffer()).byteLength", json!(10)),
            ("plain", "{maxBytes: 4}", "await r.text()", json!("0123")),
            ("plain", "{maxBytes: 4, offset: 3}", "await r.text()", json!("3456")),
            ("plain", "{maxBytes: 4, offset: 8}", "await r.text()", json!("89")),
            ("plain", "{offset: 8}", "await r.text()", json!("89")),
            ("plain", "{offset: 100}", "await r.text()", json!("")),
            ("gzip", "{}", "await r.text()", json!("0123456789")),
            ("gzip", "{maxBytes: 2, offset: 7}", "await r.text()", json!("78")),
            (
                "404",
                "{}",
                "[r.ok, r.status, r.statusText, await r.text()]",
                json!([false, 404, "Not Found", "none"]),
            ),
            ("204", "{}", "[r.ok, r.status, await r.text()]", json!([true, 204, ""])),
        ] {
            let source = format!("const r = await fetch('http://a.test/{path}', {init}); return {read}");
            assert_eq!(value(&runtime, &source, &policy).await, expected, "{path} {init} {read}");
        }
    });
}

fn redirects_are_followed_told_or_refused() {
    block_on(async {
        let paths = Paths::new()
            .at("/to", Answer::redirect(302, "/end"))
            .at("/end", Answer::ok("end"))
            .at("/away", Answer::redirect(307, "http://127.0.0.1/x"))
            .ladder("/long", 6, 301, Answer::ok("too far"))
            .ladder("/short", 5, 301, Answer::ok("far enough"));
        let upstream = Upstream::http(paths);
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 5s"));
        let told = "[r.status, r.redirected, r.url, await r.text()]";
        for (path, init, read, expected) in [
            ("to", "{}", told, json!([200, true, "http://a.test/end", "end"])),
            ("to", "{redirect: 'manual'}", "r.status", json!(302)),
            ("short/0", "{}", "await r.text()", json!("far enough")),
        ] {
            let source = format!("const r = await fetch('http://a.test/{path}', {init}); return {read}");
            assert_eq!(value(&runtime, &source, &policy).await, expected, "{path} {init}");
        }
        for (path, init, reason) in [
            ("to", "{redirect: 'error'}", "redirect"),
            ("long/0", "{}", "too-many-redirects"),
            ("away", "{}", "private-address"),
        ] {
            let source = format!(
                "try {{ await fetch('http://a.test/{path}', {init}) }} catch (e) {{ return e.reason }}"
            );
            assert_eq!(value(&runtime, &source, &policy).await, json!(reason), "{path} {init}");
        }
        assert!(!outside.routes.dialled().contains(&"127.0.0.1:80".parse().expect("an address")));
    });
}

fn what_was_fetched_is_counted_and_its_addresses_are_said_to_be_pinned() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("x".repeat(5000)));
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 5s"));
        let wall = |report: &bailiwick::types::CallReport| {
            let walls = json!(report.receipt());
            let found = walls["walls"]
                .as_array()
                .expect("walls")
                .iter()
                .find(|wall| wall["demand"] == "addresses pinned");
            found.map(|wall| wall["status"].clone())
        };
        let source = "for (let i = 0; i < 3; i++)
                await (await fetch('http://a.test/', {method: 'POST', body: 'y'.repeat(1000)})).text();
            return 1";
        let report = run(&runtime, source, &policy).await;
        let usage = report.usage();
        assert_eq!((report.failure(), usage.fetches), (None, 3));
        assert!((15_000..20_000).contains(&usage.bytes_in), "{usage:?}");
        assert!((3000..6000).contains(&usage.bytes_out), "{usage:?}");
        assert_eq!(wall(&report), Some(json!(WallStatus::Enforced)));
        let report = run(&runtime, "return 1", &policy).await;
        assert_eq!((report.usage().fetches, wall(&report)), (0, None), "nothing was fetched");
    });
}

fn a_denial_that_nobody_catches_says_what_where_and_how() {
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        let policy = with("network: allowlist, hosts: [a.test]", "wall: 5s");
        for source in [
            "const x = 1;\nawait fetch('http://b.test/x?y')",
            "const go = async () =>\nfetch('http://b.test/x?y');\nawait new Promise(done => setTimeout(done, 5)); await go()",
            "const pending = \nfetch('http://b.test/x?y');\nawait new Promise(done => setTimeout(done, 50)); await pending",
            "const x = 1;\nawait Promise.all([fetch('http://b.test/x?y')])",
        ] {
            let call = Call::body(source).policy(Arc::clone(&policy));
            let failure = fails(&runtime, call, ErrorCode::NetDenied).await;
            let denied = failure.denied.as_ref().expect("a denial");
            assert_eq!(json!(denied)["reason"], json!("host-not-allowed"), "{source}");
            assert_eq!(denied.asked, "GET http://b.test/x?y", "{source}");
            let fix = denied.fix.as_ref().expect("a fix");
            assert!(fix.overrides.to_string().contains("b.test"), "{fix:?}");
            assert_eq!(failure.location.map(|at| at.line), Some(2), "{source} {failure:?}");
            assert!(failure.hint.is_some(), "{failure:?}");
        }
        assert!(outside.routes.dialled().is_empty());
    });
}

fn a_denial_can_be_caught() {
    block_on(async {
        let outside = Outside::new();
        let runtime = outside.runtime().await;
        let policy = with("network: allowlist, hosts: [a.test]", "wall: 5s");
        let source = "try { await fetch('http://b.test/') } catch (e) {
            return [e instanceof TypeError, e.code, e.reason, e.denied.asked, e.denied.rule, typeof e.denied.fix] }";
        let expected =
            json!([true, "NET_DENIED", "host-not-allowed", "GET http://b.test/", "hosts", "object"]);
        assert_eq!(value(&runtime, source, &policy).await, expected);
        let source =
            "try { await fetch('http://a.test/') } catch (e) { return [e.code, e.reason, e.denied] }";
        assert_eq!(value(&runtime, source, &policy).await, json!(["NET_FAILED", "connect-failed", null]));
    });
}

fn an_aborted_request_ends_at_the_upstream_too() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::silent());
        let policy = strict("wall: 20s");
        let later =
            "(() => { const c = new AbortController(); setTimeout(() => c.abort(), 50); return c.signal })()";
        for (signal, name) in [
            ("AbortSignal.timeout(50)", "TimeoutError"),
            (later, "AbortError"),
            ("AbortSignal.abort()", "AbortError"),
        ] {
            // The call lives on until the upstream has seen the request go away.
            let gate = Gate::new();
            let answer = Answer::late(&gate, "on");
            let held = Upstream::http(move |_: &Request| answer.clone());
            let outside = Outside::new().at_a(&upstream).route(&format!("{B}:80"), &held);
            let runtime = outside.runtime().await;
            let source = format!(
                "let name; try {{ await fetch('http://a.test/', {{signal: {signal}}}) }} catch (e) {{ name = e.name }}
                 await fetch('http://b.test/'); return name"
            );
            let running = tokio::spawn({
                let policy = Arc::clone(&policy);
                async move { run(&runtime, &source, &policy).await }
            });
            assert!(comes_true(|| held.requests().len() == 1).await, "{name}");
            assert!(upstream.wait_until_left(), "{name}: the request is still there");
            gate.open();
            let report = running.await.expect("no panic");
            assert_eq!((report.failure(), report.value()), (None, &json!(name)));
        }
        assert_eq!(upstream.requests().len(), 2, "what was aborted before it began is not sent");
    });
}

fn sixty_four_requests_at_once_are_answered_six_at_a_time() {
    block_on(async {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let upstream = {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            Upstream::http(move |request: &Request| {
                let at_once = now.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(at_once, Ordering::SeqCst);
                // Long enough for all that may come at once to come.
                std::thread::sleep(std::time::Duration::from_millis(5));
                now.fetch_sub(1, Ordering::SeqCst);
                Answer::ok(request.target.clone())
            })
        };
        let outside = Outside::new().at_a(&upstream);
        let runtime = outside.runtime().await;
        let policy = strict("wall: 20s, fetches: 64");
        let source = "const all = Array.from({length: 64}, async (_, i) =>
                (await fetch('http://a.test/' + i)).text());
            return await Promise.all(all)";
        let expected: Vec<String> = (0..64).map(|number| format!("/{number}")).collect();
        assert_eq!(value(&runtime, source, &policy).await, json!(expected));
        assert_eq!(upstream.requests().len(), 64);
        assert!(upstream.connections() <= 6, "{} connections", upstream.connections());
        assert!(most.load(Ordering::SeqCst) <= 6);

        // Held back, no more than six are ever under way.
        let gate = Gate::new();
        let answer = Answer::late(&gate, "x");
        let held = Upstream::http(move |_: &Request| answer.clone());
        let outside = Outside::new().at_a(&held);
        let runtime = outside.runtime().await;
        let running = tokio::spawn(async move { run(&runtime, source, &policy).await });
        assert!(comes_true(|| held.requests().len() >= 6).await);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!((held.requests().len(), held.connections()), (6, 6));
        gate.open();
        let report = running.await.expect("no panic");
        assert_eq!((report.failure(), held.requests().len()), (None, 64));
    });
}

fn the_request_beyond_the_limit_is_refused_and_the_call_goes_on() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("x"));
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 10s"));
        let source = "const told = [];
            for (let i = 0; i < 22; i++)
                try { told.push((await fetch('http://a.test/')).status) } catch (e) { told.push(e.code) }
            return told";
        let mut expected = vec![json!(200); 20];
        expected.extend([json!("FETCH_LIMIT"), json!("FETCH_LIMIT")]);
        assert_eq!(value(&runtime, source, &policy).await, Value::from(expected));
        let source = "for (let i = 0; i < 21; i++) await fetch('http://a.test/')";
        let report = run(&runtime, source, &policy).await;
        assert_eq!(failure(&report).code, ErrorCode::FetchLimit);
        assert_eq!(report.usage().fetches, 20);
    });
}

fn a_bomb_is_told_as_too_large_and_harms_no_other_call() {
    block_on(async {
        let bombs: Vec<(Coding, Vec<u8>)> = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd]
            .map(|coding| (coding, coding.bomb(200 << 20)))
            .into();
        let mut paths = Paths::new().at("/fine", Answer::ok("fine"));
        for (coding, bomb) in &bombs {
            let answer = Answer::new(200).header("content-encoding", coding.label()).body(bomb.clone());
            paths = paths.at(&format!("/{}", coding.label()), answer);
        }
        paths = paths.at("/plain", Answer::ok(vec![0; (5 << 20) + 1]));
        let upstream = Upstream::http(paths);
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 20s"));
        for path in ["gzip", "deflate", "br", "zstd", "plain"] {
            for init in ["{}", "{maxBytes: 10}"] {
                let source = format!("await fetch('http://a.test/{path}', {init})");
                let report = run(&runtime, &source, &policy).await;
                let failure = failure(&report);
                assert_eq!(failure.code, ErrorCode::NetFailed, "{path}: {failure:?}");
                assert!(
                    failure.message.contains("too-large") || failure.message.contains("larger"),
                    "{failure:?}"
                );
                assert!(report.usage().bytes_in < 8 << 20, "{path}: {:?}", report.usage());
            }
            let fine = "return await (await fetch('http://a.test/fine')).text()";
            assert_eq!(value(&runtime, fine, &policy).await, json!("fine"), "after {path}");
        }
    });
}

fn our_own_listeners_are_refused_in_every_network_mode() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("ours"));
        let own = format!("127.0.0.1:{}", upstream.port());
        let public = format!("{A}:8282");
        let outside = Outside::new().route(&own, &upstream).route(&public, &upstream);
        let runtime = outside.runtime().await;
        let mut baseline = Baseline::shipped();
        baseline.own_listeners = [&own, &public].map(|own| own.parse().expect("an address")).into();
        let baseline = Arc::new(baseline);
        let port = upstream.port();
        for overrides in [
            "network: strict",
            "network: open",
            // An entry for the listener itself would be a conflict; one for the whole range says nothing about it.
            "network: allowlist, hosts: ['*:*', {host: '127.0.0.0/8', port: '*', private: true}]",
        ] {
            let policy = policy_over(&baseline, &format!("overrides: {{{overrides}}}"));
            for url in [
                format!("http://{own}/"),
                format!("http://[::ffff:127.0.0.1]:{port}/"),
                format!("http://2130706433:{port}/"),
                "http://a.test:8282/".to_owned(),
            ] {
                let source = format!("try {{ await fetch('{url}') }} catch (e) {{ return e.reason }}");
                assert_eq!(
                    value(&runtime, &source, &policy).await,
                    json!("own-listener"),
                    "{overrides} {url}"
                );
            }
        }
        assert_eq!(upstream.connections(), 0);
    });
}

fn a_connection_is_kept_within_a_call_and_never_across_calls() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("x"));
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 5s"));
        let source = "for (let i = 0; i < 4; i++) await (await fetch('http://a.test/')).text(); return 1";
        for calls in 1..=3 {
            assert_eq!(value(&runtime, source, &policy).await, json!(1));
            assert_eq!((upstream.connections(), upstream.requests().len()), (calls, calls * 4));
            assert!(upstream.wait_until_left(), "a connection outlived its call");
        }
    });
}

fn without_a_grant_there_is_no_fetch() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok("x"));
        let outside = Outside::new().at_a(&upstream);
        let runtime = outside.runtime().await;
        let names = "[typeof fetch, typeof safety === 'undefined' ? 'undefined' : typeof safety.fs]";
        gives(&runtime, Call::expression(names), json!(["undefined", "undefined"])).await;
        let files = crate::stage::policy("overrides: {fileRead: true}");
        gives(&runtime, Call::expression(names).policy(files), json!(["undefined", "object"])).await;
        let failure =
            fails(&runtime, Call::body("fetch('http://a.test/')"), ErrorCode::CapabilityDenied).await;
        assert!(failure.denied.is_some(), "{failure:?}");
        assert_eq!(upstream.connections(), 0);
    });
}

fn without_a_network_a_grant_is_worth_nothing() {
    block_on(async {
        let (runtime, policy) = (runtime().await, strict("wall: 5s"));
        let source = "try { await fetch('http://a.test/') } catch (e) { return [e.code, e.reason] }";
        assert_eq!(value(&runtime, source, &policy).await, json!(["NET_FAILED", "not-offered"]));
    });
}

fn a_call_that_ends_gives_up_its_requests() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::silent());
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 10s"));
        let source = "fetch('http://a.test/').catch(() => {});
            await new Promise(done => setTimeout(done, 200)); return 'ended'";
        assert_eq!(value(&runtime, source, &policy).await, json!("ended"));
        assert_eq!(upstream.requests().len(), 1);
        assert!(upstream.wait_until_left());

        let running =
            tokio::spawn(async move { run(&runtime, "await fetch('http://a.test/')", &policy).await });
        assert!(comes_true(|| upstream.requests().len() == 2).await);
        running.abort();
        assert!(running.await.is_err());
        assert!(upstream.wait_until_left(), "a dropped call leaves its request behind");
    });
}

fn a_request_never_outlives_the_deadline_of_its_call() {
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::silent());
        let outside = Outside::new().at_a(&upstream);
        let (runtime, policy) = (outside.runtime().await, strict("wall: 300ms"));
        let report = run(&runtime, "await fetch('http://a.test/')", &policy).await;
        assert_eq!(failure(&report).code, ErrorCode::Timeout, "{:?}", report.failure());
        assert!(report.usage().wall_ms < 400.0, "{:?}", report.usage());
        assert!(upstream.wait_until_left());
    });
}
