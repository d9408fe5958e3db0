//! Packed bodies, bombs and bodies with wrong labels.

use std::io::Read;

use crate::client::{body, get, text};
use crate::upstream::{Answer, Coding, Request, Upstream};

/// Counts what comes out, and gives its begin.
fn unpack(coding: Coding, packed: &[u8]) -> std::io::Result<(u64, Vec<u8>)> {
    let mut reader: Box<dyn Read> = match coding {
        Coding::Gzip => Box::new(flate2::read::GzDecoder::new(packed)),
        Coding::Deflate => Box::new(flate2::read::ZlibDecoder::new(packed)),
        Coding::RawDeflate => Box::new(flate2::read::DeflateDecoder::new(packed)),
        Coding::Brotli => Box::new(brotli::Decompressor::new(packed, 4096)),
        Coding::Zstd => Box::new(zstd::Decoder::new(packed)?),
    };
    let mut begin = Vec::new();
    reader.by_ref().take(1 << 16).read_to_end(&mut begin)?;
    let rest = std::io::copy(&mut reader, &mut std::io::sink())?;
    Ok((begin.len() as u64 + rest, begin))
}

fn fetch(answer: Answer) -> Vec<u8> {
    let upstream = Upstream::http(move |_: &Request| answer.clone());
    get(upstream.address(), "/")
}

#[test]
fn a_packed_body_is_what_its_label_says() {
    for coding in Coding::ALL {
        let answer = fetch(Answer::packed(coding, b"something to pack"));
        assert!(text(&answer).contains(&format!("content-encoding: {}\r\n", coding.label())));
        assert_eq!(unpack(coding, body(&answer)).expect("sound").1, b"something to pack", "{coding:?}");
    }
}

#[test]
fn a_bomb_is_small_on_the_wire_and_large_behind_it() {
    let size = 50 << 20;
    for coding in Coding::ALL {
        let answer = fetch(Answer::bomb(coding, size));
        assert!(answer.len() < size / 500, "{coding:?}: {} bytes", answer.len());
        assert_eq!(unpack(coding, body(&answer)).expect("sound").0, size as u64, "{coding:?}");
    }
}

#[test]
fn a_nested_bomb_is_smaller_still() {
    let answer = fetch(Answer::nested_bomb(Coding::Gzip, Coding::Gzip, 50 << 20));
    assert!(answer.len() < 2000, "{} bytes", answer.len());
    assert!(text(&answer).contains("content-encoding: gzip, gzip\r\n"));
}

#[test]
fn codings_in_turn_are_undone_from_the_last() {
    let answer = fetch(Answer::packed_in_turn(&[Coding::Gzip, Coding::Brotli], b"deep"));
    assert!(text(&answer).contains("content-encoding: gzip, br\r\n"));
    let inner = unpack(Coding::Brotli, body(&answer)).expect("sound").1;
    assert_eq!(unpack(Coding::Gzip, &inner).expect("sound").1, b"deep");
}

#[test]
fn a_wrong_label_and_a_torn_body_cannot_be_unpacked() {
    for coding in Coding::ALL {
        let mislabelled = fetch(Answer::mislabelled(coding, b"\xff\xfe\xfd plainly not packed"));
        unpack(coding, body(&mislabelled)).expect_err("not packed");
        let torn = fetch(Answer::packed_torn(coding, b"something to pack, and to tear"));
        let whole = unpack(coding, body(&torn)).is_ok_and(|(_, begin)| begin.ends_with(b"tear"));
        assert!(!whole, "{coding:?}");
    }
}

#[test]
fn there_may_be_more_after_the_end_of_a_packed_body() {
    let answer = fetch(Answer::packed_and_more(Coding::Gzip, b"sound", b"and more"));
    assert!(body(&answer).ends_with(b"and more"));
    assert_eq!(unpack(Coding::Gzip, body(&answer)).expect("sound").1, b"sound");
}
