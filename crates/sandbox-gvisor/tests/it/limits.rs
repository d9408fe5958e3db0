//! Limits: seen to hold, and told.

use bailiwick_sandbox::{Limit, SandboxSpec};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, sh, shell, spec, wait};

tests!(
    a_sandbox_near_its_limit_is_kept_and_is_held_to_the_same_limit_afterwards,
    what_its_kernel_lets_nobody_set_inside_is_bounded_from_the_beginning,
);

fn a_sandbox_near_its_limit_is_kept_and_is_held_to_the_same_limit_afterwards() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let mut spec = spec();
    spec.limits = spec.limits.with(Limit::Memory, 64 << 20).expect("a limit");
    wait(async {
        let sandbox = place.create(spec.clone()).await.expect("a sandbox");
        let holds = "python3 -c 'import time; x = bytearray(b\"x\") * (44 << 20); open(\"/work/held\", \"w\"); time.sleep(1000)' \
                     >/dev/null 2>&1 & while [ ! -e /work/held ]; do sleep 0.1; done; echo held";
        assert_eq!(sh(sandbox.as_ref(), holds).await, "held\n");
        let snapshot = sandbox.snapshot().await.expect("kept while it runs");
        sandbox.hibernate().await.expect("asleep");
        assert_eq!(sh(sandbox.as_ref(), "ls /work").await, "held\n");
        let again =
            place.create(SandboxSpec { snapshot: Some(snapshot), ..spec }).await.expect("another one");
        for one in [sandbox, again] {
            let more = shell("python3 -c 'print(len(bytearray(b\"x\") * (27 << 20)))'");
            let result = one.exec(more).await.expect("an end");
            assert!(result.oom, "44 and 27 MiB of 64: {result:?}");
        }
    });
}

fn what_its_kernel_lets_nobody_set_inside_is_bounded_from_the_beginning() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        // Queues of messages, priorities in real time, signals that wait.
        let script =
            "python3 -c 'import resource; print([resource.getrlimit(kind) for kind in (12, 14, 11)])'";
        assert_eq!(sh(sandbox.as_ref(), script).await, "[(0, 0), (0, 0), (4096, 4096)]\n");
    });
}
