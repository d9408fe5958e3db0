use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// How many seconds it takes until a moment ten seconds away is past, where it stands still from each of these seconds to the next.
#[track_caller]
fn check(still: &[(u32, u32)], expected: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let taken = runtime.expect("a runtime").block_on(async {
        let (stillness, began) = (Stillness::default(), Instant::now());
        let stands = async {
            for (from, to) in still {
                tokio::time::sleep_until(began + *from * SECOND).await;
                let held = stillness.hold();
                tokio::time::sleep_until(began + *to * SECOND).await;
                drop(held);
            }
        };
        let waits = async {
            stillness.past(began + 10 * SECOND, Duration::ZERO).await;
            began.elapsed()
        };
        tokio::join!(waits, stands).0
    });
    assert_eq!(taken.as_secs(), expected, "{still:?}");
}

#[test]
fn time_in_which_it_stands_still_moves_a_deadline() {
    check(&[], 10);
    check(&[(0, 5)], 15);
    check(&[(1, 2), (4, 7)], 14);
    // It sleeps when the moment comes, and goes on with what was left.
    check(&[(9, 100)], 101);
    // What comes after it was past is nobody's matter.
    check(&[(20, 30)], 10);
}
