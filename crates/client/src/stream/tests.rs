//! Questions that come all at once.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick_core::{Actor, Answer, Approver, Caller, Question, Waiting};
use serde_json::json;

use super::{Asking, MOST_QUESTIONS};
use crate::place::Server;
use crate::remote::Remote;

/// Counts who is asked, and the most that were asked at the same time.
#[derive(Default)]
struct Counting {
    asked: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Approver for Counting {
    fn ask(&self, _: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
            Answer::Nobody
        })
    }
}

fn waiting(n: usize) -> Waiting {
    let id = format!("01890000-0000-7000-8000-{n:012}");
    serde_json::from_value(json!({
        "id": id,
        "question": {
            "tool": "tool", "hash": "h", "policyHash": "p", "callId": id, "prompt": null,
            "risk": {"level": "L4", "credited": null, "reasons": []},
            "arguments": {}, "actor": {"key": "agent", "client": "http"},
            "correlationId": "c", "effect": null, "deadlineMs": 120_000,
        },
        "askedAt": "2026-01-01T00:00:00Z", "deadlineAt": "2026-01-01T00:02:00Z", "remainingMs": 120_000,
        "last": null,
    }))
    .expect("a question")
}

/// Puts so many questions and withdraws some; gives how many were asked, the most at a time, and how often was told.
fn put(count: usize, withdrawn: &[usize]) -> (usize, usize, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (counting, told) = (Arc::new(Counting::default()), Arc::new(AtomicUsize::new(0)));
    let tells = Arc::clone(&told);
    let tells = Arc::new(move |_: &str| {
        tells.fetch_add(1, Ordering::SeqCst);
    });
    let remote = Remote::new(Server::parse("http://127.0.0.1:1").expect("an address"), tells);
    let approver: Arc<dyn Approver> = Arc::<Counting>::clone(&counting);
    let alone = Caller::alone(Actor { key: None, client: "test".to_owned() });
    let caller = Caller { approver, ..alone };
    runtime.block_on(async {
        let mut asking = Asking::default();
        for n in 0..count {
            asking.put(&remote, &caller, waiting(n));
        }
        for n in withdrawn {
            asking.withdraw(waiting(*n).id);
        }
        while asking.tasks.join_next().await.is_some() {}
    });
    (counting.asked.load(Ordering::SeqCst), counting.most.load(Ordering::SeqCst), told.load(Ordering::SeqCst))
}

#[test]
fn questions_of_one_call_are_asked_one_after_another() {
    assert_eq!(put(1, &[]), (1, 1, 0));
    assert_eq!(put(5, &[]), (5, 1, 0));
    // One that is over before its turn is not asked.
    assert_eq!(put(5, &[1, 4]), (3, 1, 0));
}

#[test]
fn a_call_has_no_more_than_so_many_questions() {
    assert_eq!(put(MOST_QUESTIONS, &[]), (MOST_QUESTIONS, 1, 0));
    assert_eq!(put(MOST_QUESTIONS + 20, &[]), (MOST_QUESTIONS, 1, 1));
}
