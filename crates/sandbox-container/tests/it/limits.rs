//! Limits: what is held is held by the kernel, and what ended a command is told.

use bailiwick_sandbox::{Limit, SandboxSpec};
use bailiwick_testkit::tests;
use bailiwick_testkit_sandbox::said;
use bailiwick_types::WallStatus;

use crate::engines::{ask, with_each};
use crate::place::{Place, sh, spec, wait, words};

tests!(processes_are_counted_for_one_sandbox_alone, every_limit_is_in_the_receipt);

/// A sandbox of twelve processes, its own first one among them.
fn limited() -> SandboxSpec {
    SandboxSpec { limits: spec().limits.with(Limit::Processes, "12").expect("a limit"), ..spec() }
}

fn processes_are_counted_for_one_sandbox_alone() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.create(limited()).await.expect("a sandbox");
            let other = place.create(limited()).await.expect("a sandbox");
            let forks = "import os,time\nn=0\ntry:\n  while n<100:\n    if os.fork()==0: time.sleep(20); os._exit(0)\n    n+=1\nexcept OSError: pass\nprint(n)";
            let forked = sandbox.exec(words(&["python3", "-c", forks])).await.expect("an end");
            assert_eq!(said(&forked).trim(), "11");
            // They live on in the first; the second has room.
            assert_eq!(sh(other.as_ref(), "true & true & wait; echo room").await, "room\n");
            sandbox.terminate().await.expect("an end");
            other.terminate().await.expect("an end");
        });
    });
}

fn every_limit_is_in_the_receipt() {
    with_each(|engine| {
        let place = Place::new(engine);
        wait(async {
            let sandbox = place.sandbox().await;
            for wall in &sandbox.receipt().walls {
                assert_eq!(wall.status, WallStatus::Enforced, "{wall:?}");
            }
            assert_eq!(sandbox.receipt().walls.len(), 10, "{:?}", sandbox.receipt());
            // The engine says the same to whoever asks it.
            let id = sandbox.id();
            let container = ask(engine, &["ps", "-q", "--filter", &format!("label=bailiwick.sandbox={id}")]);
            let form = "{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.NetworkMode}} {{.HostConfig.Privileged}}";
            let told = ask(engine, &["inspect", "--format", form, &container]);
            let memory = (256 << 20) + (4 << 20);
            assert_eq!(told, format!("{memory} 65 none false"));
            sandbox.terminate().await.expect("an end");
        });
    });
}
