use bailiwick_sandbox::{Doing, Sandbox, SandboxSpec, Snapshot};
use bailiwick_types::Tier;

use super::*;

/// A backend whose sandboxes take for ever, or that makes none.
#[derive(Debug)]
struct Stuck {
    refuses: bool,
}

impl Backend for Stuck {
    fn id(&self) -> &'static str {
        "stuck"
    }

    fn tier(&self) -> Tier {
        Tier::Container
    }

    fn priority(&self) -> u32 {
        1
    }

    fn probe(&self) -> Doing<'_, Probe> {
        let part = |demand: Demand| Wallpart {
            demand: demand.name().to_owned(),
            mechanism: "the word of a test".to_owned(),
            status: if demand == Demand::Memory { WallStatus::Absent } else { WallStatus::Enforced },
        };
        let enforces = Demand::ALL.map(part).to_vec();
        let found = vec!["a test".to_owned()];
        Box::pin(std::future::ready(Probe { availability: Available::Yes, enforces, found }))
    }

    fn can_run(&self, _spec: &SandboxSpec) -> Result<(), SandboxError> {
        Ok(())
    }

    fn create(&self, _spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        if self.refuses {
            return Box::pin(std::future::ready(Err(SandboxError::Busy("there is no room".to_owned()))));
        }
        Box::pin(std::future::pending())
    }

    fn advice(&self, demand: Demand) -> Option<String> {
        Some(format!("ask the test for {}", demand.name()))
    }

    fn forget<'a>(&'a self, _snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn seen(refuses: bool) -> Value {
    let all: Vec<Arc<dyn Backend>> = vec![Arc::new(Stuck { refuses })];
    let seen = look(Known { all, listed: vec!["stuck".to_owned()] }, Which::Listed).await.unwrap();
    to_json(&seen)[0].clone()
}

#[tokio::test(start_paused = true)]
async fn one_that_is_too_slow_to_be_timed_is_available_all_the_same() {
    let slow = seen(false).await;
    assert_eq!(slow["available"], true, "{slow}");
    assert!(slow["coldStartMs"].is_null() && slow["execMs"].is_null(), "{slow}");
    assert!(slow["reason"].as_str().unwrap().contains("too slow to be timed"), "{slow}");
    let not = seen(true).await;
    assert_eq!((&not["available"], &not["reason"]), (&json!(false), &json!("there is no room")));
}

#[tokio::test(start_paused = true)]
async fn advice_is_that_of_the_backend() {
    assert_eq!(seen(false).await["fix"], "memory: ask the test for memory");
}
