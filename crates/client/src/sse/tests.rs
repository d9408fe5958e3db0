//! Streams as they may come, cut anywhere.

use super::{Events, Said};

#[track_caller]
fn check(stream: &str, expected: &[(&str, &str)]) {
    let expected: Vec<Said> = expected
        .iter()
        .map(|(name, data)| Said { name: (*name).to_owned(), data: (*data).to_owned() })
        .collect();
    for length in [1, 2, 3, 7, 1_000] {
        let mut events = Events::default();
        let mut said = Vec::new();
        for part in stream.as_bytes().chunks(length) {
            said.extend(events.take(part).expect("a stream that can be read"));
        }
        assert_eq!(said, expected, "in parts of {length} bytes");
    }
}

#[test]
fn events_come_whole_however_the_stream_is_cut() {
    check("event: log\ndata: {\"text\":\"ü\"}\n\n", &[("log", "{\"text\":\"ü\"}")]);
    check("event: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\r", &[("a", "1"), ("b", "2")]);
    check("data: 1\ndata: 2\n\n", &[("message", "1\n2")]);
    check("event:log\ndata:x\n\n", &[("log", "x")]);
}

#[test]
fn what_is_no_event_is_left_out() {
    check(": still here\n\n", &[]);
    check("event: log\n\ndata: x\n\n", &[("message", "x")]);
    check("id: 7\nretry: 10\ndata: x\n\n", &[("message", "x")]);
    check("event: log\ndata: not complete\n", &[]);
}

#[test]
fn what_is_no_text_cannot_be_read() {
    assert!(Events::default().take(b"data: \xff\n").is_err());
}
