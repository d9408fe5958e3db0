//! Machines that are kept as they are, with what runs in them.

use std::time::Duration;

use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::{count, counts_on, memory_of};

use crate::place::{Place, is_possible, machines, shell, wait};

tests!(whoever_stops_waiting_leaves_a_machine_that_works,);

/// The memory of all machines of this process, in kilobytes.
fn memory() -> u64 {
    machines().into_iter().map(memory_of).sum()
}

fn whoever_stops_waiting_leaves_a_machine_that_works() {
    requires!("qemu", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        count(sandbox.as_ref()).await;
        // From before anything was done for it to the middle of its memory being written.
        for milliseconds in [1, 10, 50, 150] {
            let within = Duration::from_millis(milliseconds);
            let hibernated = tokio::time::timeout(within, sandbox.hibernate()).await;
            assert!(milliseconds > 1 || hibernated.is_err(), "{hibernated:?}");
            counts_on(sandbox.as_ref()).await;
            let kept = tokio::time::timeout(within, sandbox.snapshot()).await;
            assert!(milliseconds > 1 || kept.is_err(), "{kept:?}");
            counts_on(sandbox.as_ref()).await;
            sandbox.hibernate().await.expect("asleep");
            assert_eq!(memory(), 0);
            // Waking is asked for by whoever uses it.
            let used = tokio::time::timeout(within, sandbox.exec(shell("true"))).await;
            assert!(milliseconds > 1 || used.is_err(), "{used:?}");
            counts_on(sandbox.as_ref()).await;
            assert_eq!(machines().len(), 1);
        }
    });
}
