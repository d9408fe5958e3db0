//! Sleep, as the engine sees it.

use bailiwick_testkit::tests;

use crate::engines::{ask, with_each};
use crate::place::{Place, path, sh, wait};

tests!(one_that_sleeps_stands_still_and_wakes_when_it_is_used,);

fn one_that_sleeps_stands_still_and_wakes_when_it_is_used() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            sh(sandbox.as_ref(), "(while :; do echo x >> /work/ticks; sleep 0.02; done) >/dev/null 2>&1 &")
                .await;
            sandbox.hibernate().await.expect("asleep");
            let id = sandbox.id();
            let filter = format!("label=bailiwick.sandbox={id}");
            let state = || ask(engine, &["ps", "-a", "--filter", &filter, "--format", "{{.Status}}"]);
            assert!(state().to_lowercase().contains("paused"), "{}", state());
            assert!(sandbox.usage().await.expect("counted").wall_ms > 0.0);
            assert!(state().to_lowercase().contains("paused"), "it is not woken to be counted");
            let ticks = sandbox.read_file(&path("/work/ticks"), 1 << 20).await.expect("it wakes");
            assert!(!ticks.is_empty());
            assert!(!state().to_lowercase().contains("paused"), "{}", state());
            // One that sleeps can be ended.
            sandbox.hibernate().await.expect("asleep");
            sandbox.terminate().await.expect("an end");
            assert_eq!(state(), "");
        });
    });
}
