//! Sandboxes that sleep and wake.

use super::stage::Traces;
use super::{Place, Sleep, Subject, checks};
use crate::{count, counts_on, memory_of, sh, shell, wait};

checks!(
    a_sandbox_that_sleeps_wakes_by_itself_and_can_be_ended,
    a_command_that_speaks_is_heard_on_after_sleep,
);

/// The memory of a place's kernels, in kilobytes.
fn memory(place: &Place<'_>) -> u64 {
    place.kernels().into_iter().map(memory_of).sum()
}

fn a_sandbox_that_sleeps_wakes_by_itself_and_can_be_ended(subject: &dyn Subject) {
    let place = Place::new(subject);
    let frees = subject.claims().sleep == Sleep::FreesMemory;
    wait(async {
        let sandbox = place.sandbox().await;
        let held = place.spec().limits.memory.value / 4;
        let script = format!(
            "setsid perl -e '$x = \"x\" x {held}; open F, \">/work/held\"; sleep 1000' >/dev/null 2>&1 & \
             while [ ! -e /work/held ]; do sleep 0.05; done"
        );
        sh(sandbox.as_ref(), &script).await;
        count(sandbox.as_ref()).await;
        let before = memory(&place);
        assert!(!frees || before > held >> 10, "{before} kB");
        sandbox.hibernate().await.expect("asleep");
        let asleep = memory(&place);
        assert!(!frees || asleep * 50 < before, "{before} kB, then {asleep} kB");
        sandbox.hibernate().await.expect("still asleep");
        assert!(sandbox.is_alive());
        // The next use wakes it, and what ran goes on.
        counts_on(sandbox.as_ref()).await;
        assert!(memory(&place) >= before / 4);
        sandbox.hibernate().await.expect("asleep again");
        sandbox.resume().await.expect("awake");
        counts_on(sandbox.as_ref()).await;
        sandbox.hibernate().await.expect("asleep a third time");
        sandbox.terminate().await.expect("ended in its sleep");
        assert!(!sandbox.is_alive());
        assert_eq!(place.traces(), Traces::default());
        // One that sleeps and is dropped ends too.
        let other = place.sandbox().await;
        other.hibernate().await.expect("asleep");
        drop(other);
        place.backend.close().await;
        assert_eq!(place.traces(), Traces::default());
    });
}

fn a_command_that_speaks_is_heard_on_after_sleep(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        // Much more than is under way at once, so that it stands within a message when it sleeps.
        let text = "i=0; while [ $i -lt 20000 ]; do echo \"line $i of what it says\"; i=$((i+1)); done";
        let mut running = sandbox.spawn(shell(text)).await.expect("it runs");
        let mut heard = Vec::new();
        let first = running.output.recv().await.expect("it speaks");
        heard.extend_from_slice(&first.bytes);
        sandbox.hibernate().await.expect("asleep");
        sandbox.resume().await.expect("awake");
        while let Some(chunk) = running.output.recv().await {
            heard.extend_from_slice(&chunk.bytes);
        }
        let ended = running.ended.await.expect("told").expect("it ended");
        assert_eq!(ended.exit.status(), 0);
        let heard = String::from_utf8(heard).expect("text");
        assert!(
            heard.lines().enumerate().all(|(number, line)| line == format!("line {number} of what it says"))
        );
        assert_eq!(heard.lines().count(), 20_000);
    });
}
