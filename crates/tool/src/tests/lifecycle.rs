use crate::lifecycle::{Event, State, next};

/// What follows in each state, in the order of [`State::ALL`]; `None` where the event is refused.
///
/// An event without a row does not compile.
fn row(event: Event) -> [Option<State>; 7] {
    use State::{
        AwaitingReview as W, Draft as D, MissingRequirements as M, Published as P, Ready as R, Revoked as X,
        TestFailed as F,
    };
    let no = None;
    match event {
        //                                                 draft    ready    publ.    missing  failed   waiting  revoked
        Event::CoveredEdited => [Some(D), Some(D), Some(D), Some(D), Some(D), Some(D), Some(D)],
        Event::TextEdited => [Some(D), Some(R), Some(P), Some(M), Some(F), Some(W), no],
        Event::Passed => [Some(R), Some(R), Some(P), Some(R), Some(R), Some(W), no],
        Event::Failed => [Some(F), Some(F), Some(F), Some(F), Some(F), Some(F), no],
        Event::RequirementMissing => [Some(M), Some(M), Some(M), Some(M), Some(M), Some(M), no],
        Event::PublishAsked { needs_review: false } => [no, Some(P), no, no, no, no, no],
        Event::PublishAsked { needs_review: true } => [no, Some(W), no, no, no, no, no],
        Event::Justified => [no, no, no, no, no, Some(P), no],
        Event::Unpublished => [no, no, Some(R), no, no, Some(R), no],
        Event::Tampered => [Some(X), Some(X), Some(X), Some(X), Some(X), Some(X), Some(X)],
    }
}

#[test]
fn every_event_in_every_state_leads_where_the_table_says() {
    for event in Event::ALL {
        for (from, expected) in State::ALL.into_iter().zip(row(event)) {
            match (next(from, event), expected) {
                (Ok(to), Some(expected)) => assert_eq!(to, expected, "{from} {event:?}"),
                (Err(refused), None) => {
                    assert_eq!((refused.from, refused.event), (from, event));
                    assert!(!refused.why.is_empty() && !refused.hint.is_empty());
                    assert!(refused.to_string().contains(from.word()), "{refused}");
                }
                (got, expected) => panic!("{from} {event:?}: {got:?}, not {expected:?}"),
            }
        }
    }
}

#[test]
fn nothing_is_published_that_did_not_pass() {
    for from in State::ALL {
        for event in Event::ALL {
            if next(from, event) == Ok(State::Published) {
                assert!(
                    matches!(from, State::Ready | State::AwaitingReview | State::Published),
                    "{from} {event:?}"
                );
            }
        }
    }
}

#[test]
fn a_state_reads_back_as_it_was_written() {
    for state in State::ALL {
        assert_eq!(state.word().parse(), Ok(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.word());
    }
    assert!("draft".parse::<State>().is_err());
}
