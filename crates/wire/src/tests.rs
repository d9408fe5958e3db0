use bailiwick_types::LogLevel;
use proptest::prelude::*;

use crate::frame::violation;
use crate::{Decoder, FrameError, FromCell, Given, Report, VERSION, decode, encode};

fn done(text: &str) -> FromCell {
    FromCell::Done(Box::new(Report {
        given: Given::Value(text.to_owned()),
        usage: crate::CellUsage::default(),
        logs_dropped: 0,
        trace: None,
    }))
}

#[test]
fn a_message_comes_out_as_it_went_in_however_it_was_cut() {
    let frame = encode(&done("42")).unwrap();
    for cut in 0..=frame.len() {
        let mut decoder = Decoder::new(1024);
        decoder.push(&frame[..cut]);
        let early = decoder.take::<FromCell>().unwrap();
        assert_eq!(early.is_some(), cut == frame.len());
        decoder.push(&frame[cut..]);
        let message = early.or_else(|| decoder.take().unwrap());
        assert_eq!(message, Some(done("42")));
        assert!(!decoder.is_within_a_frame());
    }
}

#[test]
fn frames_that_follow_each_other_are_told_apart() {
    let mut bytes = encode(&done("1")).unwrap();
    bytes.extend(encode(&FromCell::Log { level: LogLevel::Warn, text: "é".into() }).unwrap());
    let mut decoder = Decoder::new(1024);
    decoder.push(&bytes);
    assert_eq!(decoder.take(), Ok(Some(done("1"))));
    assert_eq!(decoder.take(), Ok(Some(FromCell::Log { level: LogLevel::Warn, text: "é".into() })));
    assert_eq!(decoder.take::<FromCell>(), Ok(None));
}

#[test]
fn hostile_frames_are_refused_by_what_is_wrong_with_them() {
    #[track_caller]
    fn check(bytes: &[u8], expected: &FrameError) {
        let mut decoder = Decoder::new(64);
        decoder.push(bytes);
        assert_eq!(decoder.take::<FromCell>().as_ref(), Err(expected));
    }
    check(&[255, 255, 255, 255], &FrameError::TooLong { length: 0xffff_ffff, bound: 64 });
    check(&[65, 0, 0, 0], &FrameError::TooLong { length: 65, bound: 64 });
    check(&[0, 0, 0, 0], &FrameError::Empty);
    check(&[2, 0, 0, 0, 9, 0], &FrameError::Version(9));
    check(&[1, 0, 0, 0, VERSION], &FrameError::Malformed);
    check(&[2, 0, 0, 0, VERSION, 77], &FrameError::Malformed);
    // A text that says it is longer than all there is, and one that is not UTF-8.
    check(&[8, 0, 0, 0, VERSION, 0, 0, 255, 255, 255, 255, 15], &FrameError::Malformed);
    check(&[5, 0, 0, 0, VERSION, 0, 0, 1, 255], &FrameError::Malformed);
    let mut behind = encode(&FromCell::Violation { number: 1 }).unwrap();
    behind.push(7);
    behind[0] += 1;
    check(&behind, &FrameError::Trailing(1));
}

#[test]
fn a_violation_told_without_allocating_reads_like_any_other() {
    for number in [0, 1, 127, 128, 435, 16_383, 16_384, u32::MAX] {
        let (frame, length) = violation(number);
        assert_eq!(frame[..length], encode(&FromCell::Violation { number }).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_a_reader_panic_or_keep_more_than_came(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut decoder = Decoder::new(256);
        decoder.push(&bytes);
        for _ in 0..bytes.len() {
            match decoder.take::<FromCell>() {
                Ok(Some(message)) => prop_assert!(encode(&message).unwrap().len() <= bytes.len() + 16),
                Ok(None) | Err(_) => break,
            }
        }
        let _ = decode::<crate::ToCell>(&bytes);
        let _ = decode::<crate::FromNursery>(&bytes);
        let _ = decode::<crate::ToNursery>(&bytes);
    }
}
