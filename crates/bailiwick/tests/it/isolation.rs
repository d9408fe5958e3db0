//! Two calls cannot see each other, whoever's they are.

use std::collections::BTreeSet;

use bailiwick::{Call, Tenant};
use serde_json::{Value, json};

use crate::stage::{block_on, few, gives, limited, marker, runtime};

bailiwick_testkit::tests!(
    nothing_a_call_leaves_behind_is_there_for_the_next,
    fresh_memory_holds_nothing_of_a_call_before,
    every_cell_has_randomness_of_its_own,
    every_cell_sees_the_time_that_is,
    tenants_have_nurseries_of_their_own,
    calls_that_run_side_by_side_share_nothing,
    counting_the_cells_of_others_changes_nothing,
    more_tenants_than_nurseries_are_all_served,
);

fn nothing_a_call_leaves_behind_is_there_for_the_next() {
    block_on(async {
        let runtime = few().parked(4).build().await.expect("cells");
        let dirty = "globalThis.left = 1; var alsoLeft = 2; Object.prototype.polluted = 3;
            Array.prototype.map = () => 'mapped'; Array.prototype[0] = 'zero';
            String.prototype.at = null; Promise.prototype.then = null; JSON.stringify = () => 'x';
            Math.max = () => 'max'; console.log = () => {}; delete globalThis.Map;
            Symbol.for('left').description; Object.freeze(Object.prototype);
            RegExp.prototype.exec = () => null; /a(b)/.test('ab');
            return 'dirty'";
        let clean =
            "return [typeof left, typeof alsoLeft, typeof {}.polluted, [1].map(x => x + 1), [][0] ?? null,
            'ab'.at(1), JSON.stringify([1]), Math.max(1, 2), typeof Map, Object.isFrozen(Object.prototype),
            await Promise.resolve(5), /b/.exec('abc').index]";
        let expected =
            json!(["undefined", "undefined", "undefined", [2], null, "b", "[1]", 2, "function", false, 5, 1]);
        for _ in 0..10 {
            // Promises are broken by then, so this one may end in any way; only the next call counts.
            runtime.run(Call::body(dirty)).await.expect("a report");
            gives(&runtime, Call::body(clean), expected.clone()).await;
        }
        let counter = "globalThis.count = (globalThis.count ?? 0) + 1; return count";
        for _ in 0..10 {
            gives(&runtime, Call::body(counter), json!(1)).await;
        }
    });
}

fn fresh_memory_holds_nothing_of_a_call_before() {
    block_on(async {
        let runtime = few().parked(4).build().await.expect("cells");
        let marker = marker(24);
        let fill = "const all = [];
            for (let i = 0; i < 400; i++) all.push((mark + i).repeat(400), new Uint8Array(10000).fill(mark.charCodeAt(i % 24)));
            const long = mark.repeat(200000);
            return all.length + long.length";
        let search = "let dirty = 0;
            for (const size of [16, 64, 256, 1024, 4096, 65536, 1 << 20, 8 << 20])
                for (let i = 0; i < (size > 65536 ? 1 : 30); i++) {
                    if (new BigUint64Array(size / 8).some(number => number !== 0n)) dirty++;
                    if (new Uint8Array(new ArrayBuffer(16)).some(byte => byte !== 0)) dirty++;
                }
            const resized = new ArrayBuffer(16, { maxByteLength: 100000 });
            resized.resize(100000);
            if (new BigUint64Array(resized).some(number => number !== 0n)) dirty++;
            if (new Array(10000).some(value => value !== undefined)) dirty++;
            return dirty";
        let policy = limited("steps: 10000000000, cpu: 20s, wall: 20s");
        for _ in 0..3 {
            let call = Call::body(fill).argument("mark", marker.clone()).policy(policy.clone());
            let filled = runtime.run(call).await.expect("a report");
            assert!(filled.is_ok(), "{:?}", filled.failure());
            gives(&runtime, Call::body(search).policy(policy.clone()), json!(0)).await;
        }
    });
}

fn every_cell_has_randomness_of_its_own() {
    block_on(async {
        let runtime = few().parked(32).build().await.expect("cells");
        let mut seen = BTreeSet::new();
        for _ in 0..64 {
            let report =
                runtime.run(Call::body("return [Math.random(), Math.random()]")).await.expect("a report");
            let numbers = report.value().as_array().cloned().expect("two numbers");
            for number in numbers {
                let value = number.as_f64().expect("a number");
                assert!((0.0..1.0).contains(&value), "{value}");
                assert!(seen.insert(number.to_string()), "{number} came twice");
            }
        }
    });
}

fn every_cell_sees_the_time_that_is() {
    block_on(async {
        let runtime = few().parked(4).build().await.expect("cells");
        let millis = || {
            let now = std::time::UNIX_EPOCH.elapsed().expect("a time after 1970");
            u64::try_from(now.as_millis()).expect("a time before the end of time")
        };
        for _ in 0..8 {
            let before = millis();
            let report = runtime.run(Call::body("return Date.now()")).await.expect("a report");
            let told = report.value().as_u64().unwrap_or_else(|| panic!("{report:?}"));
            assert!((before..=millis()).contains(&told), "{told} is not between {before} and {}", millis());
        }
    });
}

fn tenants_have_nurseries_of_their_own() {
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        let (one, two) = (Tenant::named("one"), Tenant::named("two"));
        assert_eq!((runtime.count(&one), runtime.count(&two)), ((0, 0), (0, 0)));
        gives(&runtime, Call::body("return 1").tenant(one.clone()), json!(1)).await;
        assert_eq!(runtime.count(&two), (0, 0), "a call of one tenant made cells of another");
        gives(&runtime, Call::body("return 1").tenant(two.clone()), json!(1)).await;
        let parked = || runtime.count(&one).0 > 0 && runtime.count(&two).0 > 0;
        assert!(
            crate::stage::comes_true(parked).await,
            "{:?} {:?}",
            runtime.count(&one),
            runtime.count(&two)
        );
        // The end of one is not the end of the other.
        runtime.kill_nursery(&one);
        for tenant in [two, Tenant::default()] {
            gives(&runtime, Call::body("return 1").tenant(tenant), json!(1)).await;
        }
        // Its own end may be noticed a moment later; then its calls work again.
        let mut again = false;
        for _ in 0..1000 {
            let report = runtime.run(Call::body("return 1").tenant(one.clone())).await.expect("a report");
            again = again || report.is_ok();
        }
        assert!(again);
    });
}

fn calls_that_run_side_by_side_share_nothing() {
    block_on(async {
        let runtime = runtime().await;
        let source = "globalThis.seen ??= []; seen.push(n);
            for (let i = 0; i < 3000; i++) Array.prototype['k' + n] = n;
            return [seen, Object.keys(Array.prototype)]";
        let calls = (0..24).map(|number| {
            let (runtime, call) = (runtime.clone(), Call::body(source).argument("n", number));
            tokio::spawn(async move { (number, runtime.run(call).await) })
        });
        for call in calls.collect::<Vec<_>>() {
            let (number, report) = call.await.expect("no panic");
            let expected: Value = json!([[number], [format!("k{number}")]]);
            assert_eq!(report.expect("a report").value(), &expected);
        }
    });
}

fn counting_the_cells_of_others_changes_nothing() {
    block_on(async {
        let runtime = few().parked(2).build().await.expect("cells");
        let own = Tenant::default();
        assert!(crate::stage::comes_true(|| runtime.count(&own).0 > 0).await);
        for number in 0..40 {
            assert_eq!(runtime.count(&Tenant::named(format!("stranger {number}"))), (0, 0));
        }
        assert_ne!(
            runtime.count(&own),
            (0, 0),
            "the nursery of a tenant went away because others were counted"
        );
    });
}

fn more_tenants_than_nurseries_are_all_served() {
    block_on(async {
        let runtime = runtime().await;
        for round in 0..2 {
            for number in 0..20 {
                let call =
                    Call::body("return n").argument("n", number).tenant(Tenant::named(number.to_string()));
                let report = runtime.run(call).await.expect("a report");
                assert_eq!(report.value(), &json!(number), "round {round}: {:?}", report.failure());
            }
        }
    });
}
