//! Grants that say `ask`: a person is asked before the effect, and while they think the cell stands still.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick::gateway::person::{Asked, Person, Said};
use bailiwick::types::{CallReport, ErrorCode};
use bailiwick::{Call, Runtime};
use bailiwick_testkit::upstream::{Answer, Gate, Request, Upstream};
use serde_json::{Value, json};

use crate::alone::in_a_process_of_its_own;
use crate::outside::{Outside, run, value, with};
use crate::processes;
use crate::stage::{block_on, comes_true, failure};

bailiwick_testkit::tests!(
    a_yes_after_the_wall_limit_is_in_time_and_the_clock_stood_still,
    a_timer_does_not_go_on_while_a_person_thinks,
    nothing_in_the_cell_runs_while_a_person_thinks,
    what_is_no_yes_is_a_no_with_its_reason,
    all_waiting_of_a_call_has_one_bound,
    a_yes_holds_as_long_as_the_grant_says,
    requests_at_once_under_first_ask_once,
    files_are_asked_about_as_well,
    what_policy_refuses_is_not_asked_about,
    answers_that_pile_up_while_a_person_thinks_do_not_drown_the_answer,
    a_call_dropped_while_a_person_thinks_takes_its_cell_with_it,
);

/// Somebody who says the same after a while, and what they were asked.
struct Somebody {
    said: Said,
    after: Duration,
    asked: Mutex<Vec<Asked>>,
}

impl Somebody {
    fn saying(said: Said, after: Duration) -> Arc<Self> {
        Arc::new(Self { said, after, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().map(|one| one.effect.clone()).collect()
    }
}

impl Person for Somebody {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        Box::pin(async {
            tokio::time::sleep(self.after).await;
            self.said
        })
    }
}

/// Somebody who answers when the test opens the gate.
struct Waiting(Gate, Mutex<usize>);

impl Waiting {
    fn is_asked(&self) -> bool {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) > 0
    }
}

impl Person for Waiting {
    fn ask(&self, _asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Box::pin(async {
            self.0.passed().await;
            Said::Yes
        })
    }
}

const NO_TIME: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_mins(1);

fn upstream() -> Upstream {
    Upstream::http(|_: &Request| Answer::ok("fetched"))
}

async fn asking(outside: Outside, person: Arc<dyn Person>, deadline: Duration) -> (Runtime, Outside) {
    let outside = outside.with(move |builder| builder.person(person, deadline));
    (outside.runtime().await, outside)
}

fn a_yes_after_the_wall_limit_is_in_time_and_the_clock_stood_still() {
    block_on(async {
        let upstream = upstream();
        let person = Somebody::saying(Said::Yes, Duration::from_millis(1500));
        let (runtime, outside) = asking(Outside::new().at_a(&upstream), person.clone(), LONG).await;
        let workspace = outside.workspace();
        std::fs::write(workspace.join("note.txt"), "noted").expect("a file");
        for (overrides, effect, asked) in [
            (
                "network: strict, ask: {net: first}",
                "await (await fetch('http://a.test/')).text()",
                "GET http://a.test/",
            ),
            ("fileRead: true, ask: {fs: first}", "safety.fs.readText('note.txt')", "note.txt"),
        ] {
            let policy = with(overrides, "wall: 300ms");
            let source = format!(
                "const before = Date.now();
                 const given = {effect};
                 return [given, Date.now() - before]"
            );
            let began = Instant::now();
            let report = run(&runtime, &source, &policy).await;
            assert_eq!(report.failure(), None, "{effect}");
            assert!(began.elapsed() >= Duration::from_millis(1500), "{effect}: {:?}", person.asked());
            assert!(report.value()[0].as_str().is_some_and(|text| text == "fetched" || text == "noted"));
            assert!(
                report.value()[1].as_f64().is_some_and(|passed| passed < 300.0),
                "{effect}: the clock went on: {}",
                report.value()
            );
            assert!(report.usage().wall_ms < 300.0, "{effect}: {:?}", report.usage());
            assert!(person.asked().last().is_some_and(|said| said.contains(asked)), "{:?}", person.asked());
        }
    });
}

fn a_timer_does_not_go_on_while_a_person_thinks() {
    block_on(async {
        let upstream = upstream();
        let person = Somebody::saying(Said::Yes, Duration::from_millis(600));
        let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person, LONG).await;
        let policy = with("network: strict, ask: {net: first}", "wall: 3s");
        // A timer that is due in 300 ms is due after an answer that comes after 600 ms.
        let source = "const order = [];
            const timer = new Promise((done) => setTimeout(() => { order.push('timer'); done() }, 300));
            await Promise.all([timer, fetch('http://a.test/').then(() => order.push('fetch'))]);
            return order";
        assert_eq!(value(&runtime, source, &policy).await, json!(["fetch", "timer"]));
    });
}

fn nothing_in_the_cell_runs_while_a_person_thinks() {
    in_a_process_of_its_own("asking_standstill");
}

/// Runs in a process of its own, so that its cells are its own.
pub(crate) fn standstill_role() {
    block_on(async {
        let upstream = upstream();
        let person = Arc::new(Waiting(Gate::new(), Mutex::default()));
        let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person.clone(), LONG).await;
        let policy = with("network: strict, ask: {net: first}", "wall: 2s");
        let lines = Arc::new(Mutex::new(0_usize));
        let count = {
            let lines = Arc::clone(&lines);
            move || *lines.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let source = "const answer = fetch('http://a.test/').then((r) => r.text());
            for (let i = 0; i < 500; i++) { console.log(i); await new Promise((done) => setTimeout(done, 1)) }
            return await answer";
        let running = tokio::spawn({
            let (runtime, lines) = (runtime.clone(), Arc::clone(&lines));
            let call = Call::body(source).policy(policy);
            async move {
                runtime
                    .run_with(call, move |_| *lines.lock().unwrap_or_else(PoisonError::into_inner) += 1)
                    .await
            }
        });
        assert!(comes_true(|| person.is_asked()).await);
        let is_stopped = || processes::cells().iter().any(|cell| cell.state == 'T');
        assert!(comes_true(is_stopped).await, "{:?}", processes::cells());
        // What it said before it was stopped may still be on its way.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let before = count();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(count(), before, "a cell that stands still goes on talking");
        assert!(before < 500 && is_stopped(), "{before} {:?}", processes::cells());
        person.0.open();
        let report = running.await.expect("no panic").expect("a report");
        assert_eq!((report.failure(), report.value(), count()), (None, &json!("fetched"), 500));
    });
}

/// What code is told about one request.
async fn told(runtime: &Runtime, overrides: &str) -> (Value, CallReport) {
    let policy = with(overrides, "wall: 2s");
    let source = "try { await fetch('http://a.test/') } catch (e) {
        return [e.code, e.reason, e.denied.rule, e.denied.fix] } return 'fetched'";
    let caught = value(runtime, source, &policy).await;
    (caught, run(runtime, "await fetch('http://a.test/')", &policy).await)
}

fn what_is_no_yes_is_a_no_with_its_reason() {
    block_on(async {
        let upstream = upstream();
        let ask = "network: strict, ask: {net: first}";
        for (said, after, reason) in [
            (Said::No, NO_TIME, "declined"),
            (Said::Nothing, NO_TIME, "unanswered"),
            (Said::Nobody, NO_TIME, "nobody-to-ask"),
            (Said::Yes, LONG, "unanswered"),
        ] {
            let person = Somebody::saying(said, after);
            let deadline = Duration::from_millis(200);
            let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person, deadline).await;
            let (caught, report) = told(&runtime, ask).await;
            assert_eq!(caught, json!(["NET_DENIED", reason, "ask", null]), "{said:?}");
            let failure = failure(&report);
            assert_eq!(failure.code, ErrorCode::NetDenied, "{said:?}");
            let denied = failure.denied.as_ref().expect("a denial");
            assert_eq!(json!(denied)["reason"], json!(reason), "{said:?}");
            assert_eq!(denied.asked, "GET http://a.test/");
        }
        // Nobody was named at all.
        let outside = Outside::new().at_a(&upstream);
        let (caught, _) = told(&outside.runtime().await, ask).await;
        assert_eq!(caught, json!(["NET_DENIED", "nobody-to-ask", "ask", null]));
        assert_eq!(upstream.connections(), 0);
    });
}

fn all_waiting_of_a_call_has_one_bound() {
    block_on(async {
        let upstream = upstream();
        let person = Somebody::saying(Said::Yes, Duration::from_millis(200));
        let deadline = Duration::from_millis(500);
        let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person.clone(), deadline).await;
        let policy = with("network: strict, ask: {net: always}", "wall: 2s");
        let source = "const told = [];
            for (let i = 0; i < 6; i++)
                try { told.push((await fetch('http://a.test/' + i)).status) } catch (e) { told.push(e.reason) }
            return told";
        let began = Instant::now();
        let late = "unanswered";
        assert_eq!(value(&runtime, source, &policy).await, json!([200, 200, late, late, late, late]));
        assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
        assert_eq!(person.asked().len(), 3, "nobody is troubled when there is no time left for an answer");
        // Another call has its own time.
        let source = "return (await fetch('http://a.test/')).status";
        assert_eq!(value(&runtime, source, &policy).await, json!(200));
    });
}

fn a_yes_holds_as_long_as_the_grant_says() {
    block_on(async {
        let upstream = upstream();
        let source = "for (let i = 0; i < 3; i++) await fetch('http://a.test/' + i, {headers: {cookie: 'x'}}); return 1";
        for (when, times) in [("first", 1), ("always", 3)] {
            let person = Somebody::saying(Said::Yes, NO_TIME);
            let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person.clone(), LONG).await;
            let policy = with(&format!("network: strict, ask: {{net: {when}}}"), "wall: 5s");
            for call in 1..=2 {
                assert_eq!(value(&runtime, source, &policy).await, json!(1));
                assert_eq!(person.asked().len(), times * call, "{when}: a yes holds for one call at most");
            }
            assert_eq!(person.asked()[0], "GET http://a.test/0");
        }
    });
}

fn requests_at_once_under_first_ask_once() {
    block_on(async {
        let upstream = upstream();
        let source = "const all = [1, 2, 3].map((n) => fetch('http://a.test/' + n).then((r) => r.status, (e) => e.reason));
            return await Promise.all(all)";
        for (said, asked, expected) in [
            (Said::Yes, 1, json!([200, 200, 200])),
            (Said::No, 3, json!(["declined", "declined", "declined"])),
        ] {
            let person = Somebody::saying(said, Duration::from_millis(50));
            let (runtime, _outside) = asking(Outside::new().at_a(&upstream), person.clone(), LONG).await;
            let policy = with("network: strict, ask: {net: first}", "wall: 5s");
            assert_eq!(value(&runtime, source, &policy).await, expected);
            assert_eq!(person.asked().len(), asked, "{said:?}");
        }
    });
}

fn files_are_asked_about_as_well() {
    block_on(async {
        let source = "const told = [];
            for (const path of ['a.txt', 'b.txt'])
                try { safety.fs.writeText(path, path); told.push(safety.fs.readText(path)) } catch (e) { told.push(e.code, e.reason) }
            return told";
        let read = json!(["a.txt", "b.txt"]);
        for (said, when, asked, expected) in [
            (Said::Yes, "first", 1, read.clone()),
            (Said::Yes, "always", 4, read),
            (Said::No, "first", 2, json!(["FS_DENIED", "declined", "FS_DENIED", "declined"])),
            (Said::Nothing, "first", 2, json!(["FS_DENIED", "unanswered", "FS_DENIED", "unanswered"])),
        ] {
            let person = Somebody::saying(said, Duration::from_millis(20));
            let (runtime, outside) = asking(Outside::new(), person.clone(), LONG).await;
            let policy = with(&format!("fileRead: true, fileWrite: true, ask: {{fs: {when}}}"), "wall: 2s");
            assert_eq!(value(&runtime, source, &policy).await, expected, "{said:?} {when}");
            assert_eq!(person.asked().len(), asked, "{said:?} {when} {:?}", person.asked());
            let written = outside.workspace().join("a.txt").exists();
            assert_eq!(written, said == Said::Yes, "{said:?} {when}");
        }
    });
}

/// More than the host holds for a cell comes in while the cell stands still and can take none of it.
fn answers_that_pile_up_while_a_person_thinks_do_not_drown_the_answer() {
    const BODY: usize = 4_500_000;
    block_on(async {
        let upstream = Upstream::http(|_: &Request| Answer::ok(vec![b'x'; BODY]));
        let person = Somebody::saying(Said::Yes, Duration::from_secs(2));
        let (runtime, outside) = asking(Outside::new().at_a(&upstream), person, LONG).await;
        std::fs::write(outside.workspace().join("note.txt"), "noted").expect("a file");
        let policy = with("network: strict, fileRead: true, ask: {fs: first}", "wall: 10s, memory: 256MiB");
        let source = "const under = [];
            for (let i = 0; i < 10; i++) under.push(fetch('http://a.test/'));
            const note = safety.fs.readText('note.txt');
            return [note, (await Promise.all(under)).reduce((sum, one) => sum + one.whole, 0)]";
        let report = tokio::time::timeout(LONG / 2, run(&runtime, source, &policy)).await;
        let report = report.expect("the call waits for an answer that was given");
        assert_eq!(report.failure(), None);
        assert_eq!(report.value(), &json!(["noted", 10 * BODY]));
    });
}

fn what_policy_refuses_is_not_asked_about() {
    block_on(async {
        let person = Somebody::saying(Said::Yes, NO_TIME);
        let (runtime, outside) = asking(Outside::new(), person.clone(), LONG).await;
        let policy = with("network: allowlist, hosts: [a.test], ask: {net: always}", "wall: 2s");
        let source = "const told = [];
            for (const url of ['http://b.test/', 'http://127.0.0.1/', 'ftp://a.test/'])
                try { await fetch(url) } catch (e) { told.push(e.reason) }
            return told";
        let told = value(&runtime, source, &policy).await;
        assert_eq!(told.as_array().map(Vec::len), Some(3), "{told}");
        assert!(person.asked().is_empty(), "{:?}", person.asked());
        assert!(outside.routes.dialled().is_empty());
    });
}

fn a_call_dropped_while_a_person_thinks_takes_its_cell_with_it() {
    in_a_process_of_its_own("asking_dropped");
}

/// Runs in a process of its own, so that its cells are its own.
pub(crate) fn dropped_role() {
    block_on(async {
        let upstream = upstream();
        let tenant = bailiwick::Tenant::default();
        for effect in ["await fetch('http://a.test/')", "safety.fs.writeText('a.txt', 'x')"] {
            let person = Arc::new(Waiting(Gate::new(), Mutex::default()));
            let (runtime, outside) = asking(Outside::new().at_a(&upstream), person.clone(), LONG).await;
            let policy = with("network: strict, fileWrite: true, ask: {net: first, fs: first}", "wall: 2s");
            let call = Call::body(effect).policy(policy);
            let running = tokio::spawn({
                let runtime = runtime.clone();
                async move { runtime.run(call).await }
            });
            assert!(comes_true(|| person.is_asked()).await);
            assert!(comes_true(|| processes::cells().iter().any(|cell| cell.state == 'T')).await);
            running.abort();
            assert!(running.await.expect_err("it was dropped").is_cancelled());
            let only_parked = || processes::cells().len() == runtime.count(&tenant).0;
            assert!(comes_true(only_parked).await, "{:?} {:?}", processes::cells(), runtime.count(&tenant));
            assert!(!processes::cells().iter().any(|cell| cell.state == 'T'), "{:?}", processes::cells());
            person.0.open();
            assert!(!outside.workspace().join("a.txt").exists(), "what nobody said yes to was done");
            drop(runtime);
            assert!(comes_true(|| processes::nurseries().is_empty()).await);
        }
        assert_eq!(upstream.connections(), 0);
    });
}
