//! Messages as bytes: what comes through, what ends a connection, and that both sides draw the line at the same place.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::owner::frame::{FrameError, Frames, MOST_BYTES, MOST_DEPTH, encode};

fn framed(json: &[u8]) -> Vec<u8> {
    [&u32::try_from(json.len()).unwrap().to_be_bytes(), json].concat()
}

fn nested(depth: usize) -> Vec<u8> {
    ["[".repeat(depth), "]".repeat(depth)].concat().into_bytes()
}

/// What a stream of these bytes gives after `good` messages.
async fn read(bytes: &[u8], good: usize) -> Result<Option<Value>, FrameError> {
    let mut frames = Frames::new(bytes);
    for _ in 0..good {
        frames.next::<Value>().await.unwrap().expect("a message");
    }
    frames.next().await
}

#[tokio::test]
async fn messages_come_through_in_whatever_pieces() {
    for (piece, long) in [(1, 2000), (3, 2000), (4, 2000), (5, 2000), (1000, 200_000), (1 << 20, 200_000)] {
        let messages = [json!({"a": [1, "]}\\\""]}), json!("ä"), json!(null), json!("x".repeat(long))];
        let bytes: Vec<u8> = messages.iter().flat_map(|message| encode(message).unwrap()).collect();
        let (mut from, to) = tokio::io::duplex(piece);
        let sending = tokio::spawn(async move { from.write_all(&bytes).await.unwrap() });
        let mut frames = Frames::new(to);
        for message in &messages {
            assert_eq!(frames.next::<Value>().await.unwrap().as_ref(), Some(message), "in pieces of {piece}");
        }
        assert_eq!(frames.next::<Value>().await.unwrap(), None);
        sending.await.unwrap();
    }
}

#[tokio::test]
async fn a_reading_that_was_given_up_loses_nothing() {
    let (mut from, to) = tokio::io::duplex(1000);
    let mut frames = Frames::new(to);
    for byte in encode(&json!({"whole": true})).unwrap() {
        tokio::select! {
            biased;
            message = frames.next::<Value>() => panic!("{message:?} came too early"),
            () = std::future::ready(()) => {}
        }
        from.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(frames.next::<Value>().await.unwrap(), Some(json!({"whole": true})));
}

#[tokio::test]
async fn a_clean_end_is_told_from_a_message_cut_short() {
    let whole = framed(b"{}");
    assert!(matches!(read(&[], 0).await, Ok(None)));
    assert!(matches!(read(&whole, 1).await, Ok(None)));
    for cut in 1..whole.len() {
        assert!(matches!(read(&whole[..cut], 0).await, Err(FrameError::Partial)), "cut at {cut}");
        let second = [&whole, &whole[..cut]].concat();
        assert!(matches!(read(&second, 1).await, Err(FrameError::Partial)), "the second, cut at {cut}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_named() {
    let too_long = u32::try_from(MOST_BYTES).unwrap() + 1;
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("an empty one", framed(b""), "it is empty"),
        ("no JSON", framed(b"\x00\xff"), "expected value"),
        ("not UTF-8", framed(b"\"\xff\xfe\""), "invalid unicode"),
        ("two values", framed(b"{}{}"), "trailing characters"),
        ("a byte too long", too_long.to_be_bytes().to_vec(), "longer than"),
        ("4 GiB", vec![0xff; 4], "longer than"),
        ("text", b"GET / HTTP/1.1\r\n\r\n".to_vec(), "longer than"),
        ("deep", framed(&nested(10_000)), "recursion limit"),
    ];
    for (what, bytes, says) in cases {
        let error = read(&bytes, 0).await.expect_err(what).to_string();
        assert!(error.contains(says), "{what}: {error}");
    }
}

#[tokio::test]
async fn what_is_sent_can_be_read() {
    for depth in [1, 2, MOST_DEPTH - 1, MOST_DEPTH, MOST_DEPTH + 1, MOST_DEPTH + 2] {
        let is_read = read(&framed(&nested(depth)), 0).await.is_ok();
        let mut value = json!([]);
        for _ in 1..depth {
            value = json!([value]);
        }
        assert_eq!(encode(&value).is_ok(), is_read, "{depth} levels");
    }
    assert!(encode(&"[".repeat(1000)).is_ok(), "in a text it is no nesting");
    assert!(encode(&"x".repeat(MOST_BYTES - 2)).is_ok());
    assert!(matches!(encode(&"x".repeat(MOST_BYTES - 1)), Err(FrameError::TooLong(_))));
}

#[tokio::test]
async fn a_number_is_the_same_over_there() {
    let mut number = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20_000 {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let float = f64::from_bits(number);
        if !float.is_finite() {
            continue;
        }
        let there = read(&encode(&json!(float)).unwrap(), 0).await.unwrap().unwrap();
        assert_eq!(there.as_f64().map(f64::to_bits), Some(float.to_bits()), "{float}");
    }
}
