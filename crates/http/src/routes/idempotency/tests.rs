//! What is kept, for how long, and how much of it.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};

use super::kept::{Answer, Begun, Bounds, Kept, Place, Stored};

fn place(name: &str) -> Place {
    (None, None, "http".to_owned(), "/v1/tools".to_owned(), name.to_owned())
}

fn answer(bytes: usize) -> Answer {
    let body = Bytes::from(vec![b'x'; bytes]);
    Answer::Whole(Stored { status: StatusCode::OK, headers: HeaderMap::new(), body })
}

/// Does a request that nobody did before.
#[track_caller]
fn keep(kept: &Kept, name: &str, bytes: usize) {
    match kept.begin(place(name), [0; 32]) {
        Begun::Mine(turn) => turn.end(answer(bytes)),
        other => panic!("{name}: {other:?}"),
    }
}

/// Whether the answer to a request is still there.
fn is_kept(kept: &Kept, name: &str) -> bool {
    matches!(kept.begin(place(name), [0; 32]), Begun::Before(_))
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_a_day() {
    let kept = Kept::default();
    keep(&kept, "a", 1);
    tokio::time::advance(Duration::from_hours(24) - Duration::from_secs(1)).await;
    assert!(is_kept(&kept, "a"));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!is_kept(&kept, "a"));
}

#[tokio::test]
async fn the_oldest_answers_go_when_there_are_too_many() {
    let kept = Kept::within(Bounds { entries: 2, bytes: usize::MAX });
    for name in ["a", "b", "c"] {
        keep(&kept, name, 1);
    }
    assert_eq!(["a", "b", "c"].map(|name| is_kept(&kept, name)), [false, true, true]);
}

#[tokio::test]
async fn the_oldest_answers_go_when_they_are_too_large() {
    let kept = Kept::within(Bounds { entries: 100, bytes: 10_000 });
    for name in ["a", "b", "c"] {
        keep(&kept, name, 4_000);
    }
    assert_eq!(["a", "b", "c"].map(|name| is_kept(&kept, name)), [false, true, true]);
    // One that is larger than all of the room is not kept, and makes room again.
    keep(&kept, "huge", 20_000);
    assert!(!is_kept(&kept, "huge"));
    keep(&kept, "d", 4_000);
    assert!(is_kept(&kept, "d"));
}

#[tokio::test]
async fn a_turn_that_is_given_back_leaves_nothing() {
    let kept = Kept::default();
    let turn = kept.begin(place("a"), [0; 32]);
    assert!(matches!(turn, Begun::Mine(_)));
    assert!(matches!(kept.begin(place("a"), [0; 32]), Begun::Running));
    assert!(matches!(kept.begin(place("a"), [1; 32]), Begun::Another));
    drop(turn);
    keep(&kept, "a", 1);
    assert!(matches!(kept.begin(place("a"), [1; 32]), Begun::Another));
}

#[tokio::test]
async fn a_flood_of_one_caller_leaves_the_answers_of_others() {
    let of = |client: &str, name: &str| -> Place {
        (None, None, client.to_owned(), "/v1/tools".to_owned(), name.to_owned())
    };
    let keep = |kept: &Kept, place: Place, bytes: usize| match kept.begin(place, [0; 32]) {
        Begun::Mine(turn) => turn.end(answer(bytes)),
        other => panic!("{other:?}"),
    };
    let is_kept = |kept: &Kept, place: Place| matches!(kept.begin(place, [0; 32]), Begun::Before(_));
    for (bounds, bytes) in [
        // By number, and by size.
        (Bounds { entries: 2_000, bytes: usize::MAX }, 1),
        (Bounds { entries: usize::MAX, bytes: 64 << 20 }, 64 << 10),
    ] {
        let kept = Kept::within(bounds);
        keep(&kept, of("quiet", "first"), 1);
        for number in 0..3_000 {
            keep(&kept, of("loud", &number.to_string()), bytes);
        }
        assert!(is_kept(&kept, of("quiet", "first")), "{bounds:?}");
        assert!(is_kept(&kept, of("loud", "2999")), "{bounds:?}");
        assert!(!is_kept(&kept, of("loud", "0")), "{bounds:?}");
    }
}
