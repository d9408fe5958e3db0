//! Somebody who watches what code is refused and widens as it goes: what is learnt is what was needed and no more.

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick::policy::{Baseline, EffectivePolicy};
use bailiwick::types::{Denial, Effect};
use bailiwick::{Call, Observer};
use bailiwick_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Map, Value, json};

use crate::outside::{B, Outside};
use crate::stage::{block_on, policy, policy_over};

bailiwick_testkit::tests!(
    exactly_what_was_needed_is_learnt,
    an_observer_that_widens_nothing_changes_nothing,
    files_are_kept_while_a_tool_is_only_observed,
);

/// Adds what each denial says would allow it.
#[derive(Default)]
struct Learning {
    overrides: Mutex<Map<String, Value>>,
    denials: Mutex<Vec<Denial>>,
    asked: Mutex<usize>,
    widens: bool,
}

impl Learning {
    fn widening() -> Arc<Self> {
        Arc::new(Self { widens: true, ..Self::default() })
    }

    fn learnt(&self) -> Value {
        Value::Object(self.overrides.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn denials(&self) -> usize {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Observer for Learning {
    fn asked(&self, _effect: &Effect) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn refused(&self, denial: &Denial) -> Option<Arc<EffectivePolicy>> {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner).push(denial.clone());
        let fix = denial.fix.as_ref().filter(|_| self.widens)?;
        let mut overrides = self.overrides.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in fix.overrides.as_object().expect("a map") {
            match (overrides.get_mut(key), value) {
                (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.clone()),
                _ => drop(overrides.insert(key.clone(), value.clone())),
            }
        }
        let document = json!({"overrides": Value::Object(overrides.clone())}).to_string();
        Some(policy_over(&Arc::new(Baseline::shipped()), &document))
    }
}

const SOURCE: &str = "
    const [a, b] = await Promise.all([fetch('http://a.test/x'), fetch('http://b.test/y')]);
    const again = await fetch('http://a.test/z');
    return [await a.text(), await b.text(), again.status, safety.fs.readText('note.txt')]";

fn world() -> (Outside, Upstream) {
    let upstream = Upstream::http(|request: &Request| Answer::ok(request.target.clone()));
    let outside = Outside::new().at_a(&upstream).route(&format!("{B}:80"), &upstream);
    std::fs::write(outside.workspace().join("note.txt"), "noted").expect("a file");
    (outside, upstream)
}

fn exactly_what_was_needed_is_learnt() {
    block_on(async {
        let (outside, _upstream) = world();
        let runtime = outside.runtime().await;
        let observer = Learning::widening();
        let report = runtime.run(Call::body(SOURCE).observed_by(observer.clone())).await.expect("a report");
        let expected = json!(["/x", "/y", 200, "noted"]);
        assert_eq!((report.failure(), report.value()), (None, &expected));
        let mut learnt = observer.learnt();
        if let Some(hosts) = learnt["hosts"].as_array_mut() {
            hosts.sort_by_key(ToString::to_string);
        }
        assert_eq!(
            learnt,
            json!({"network": "allowlist", "hosts": ["a.test", "b.test"], "fileRead": true}),
            "{:?}",
            observer.denials
        );
        assert_eq!(*observer.asked.lock().unwrap_or_else(PoisonError::into_inner), 4);

        // It is enough, and each part of it is needed.
        let call = |overrides: &Value| {
            Call::body(SOURCE).policy(policy(&json!({"overrides": overrides}).to_string()))
        };
        let report = runtime.run(call(&learnt)).await.expect("a report");
        assert_eq!((report.failure(), report.value()), (None, &expected));
        for key in ["network", "hosts", "fileRead"] {
            let mut less = learnt.clone();
            less.as_object_mut().expect("a map").remove(key);
            if key == "network" {
                less.as_object_mut().expect("a map").remove("hosts");
            }
            let report = runtime.run(call(&less)).await.expect("a report");
            assert!(report.failure().is_some(), "it works without {key}");
        }
    });
}

fn an_observer_that_widens_nothing_changes_nothing() {
    block_on(async {
        let (outside, upstream) = world();
        let runtime = outside.runtime().await;
        let observer = Arc::new(Learning::default());
        let source = "const told = [];
            for (const path of ['a', 'b']) try { await fetch('http://a.test/' + path) } catch (e) { told.push(e.code) }
            try { safety.fs.readText('note.txt') } catch (e) { told.push(e.code) }
            return told";
        let report = runtime.run(Call::body(source).observed_by(observer.clone())).await.expect("a report");
        assert_eq!(report.failure(), None);
        let told = report.value().as_array().expect("a list").clone();
        assert!(
            told.len() == 3
                && told.iter().all(|code| code.as_str().is_some_and(|code| code.ends_with("DENIED"))),
            "{told:?}"
        );
        assert_eq!((observer.denials(), upstream.connections()), (3, 0));
    });
}

fn files_are_kept_while_a_tool_is_only_observed() {
    block_on(async {
        let (outside, _upstream) = world();
        let runtime = outside.runtime().await;
        let observer = Learning::widening();
        let source = "try { safety.fs.writeText('new.txt', 'x') } catch (e) { return [e.code, e.reason] }";
        let call = Call::body(source).observed_by(observer.clone()).keeping_files();
        let report = runtime.run(call).await.expect("a report");
        assert_eq!(report.value(), &json!(["FS_FAILED", "only-observed"]), "{:?}", report.failure());
        assert_eq!(observer.learnt(), json!({"fileWrite": true}));
        assert!(!outside.workspace().join("new.txt").exists());
        let report = runtime.run(Call::body(source).observed_by(observer)).await.expect("a report");
        assert_eq!((report.failure(), report.value()), (None, &json!(null)));
        assert!(outside.workspace().join("new.txt").exists());
    });
}
