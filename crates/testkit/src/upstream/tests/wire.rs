//! The answers as bytes on the wire.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::client::{connect, exchange, get, get_of, text};
use crate::upstream::{Answer, Gate, Paths, Request, Upstream};

fn upstream(answer: Answer) -> Upstream {
    Upstream::http(move |_: &Request| answer.clone())
}

#[track_caller]
fn check(answer: Answer, wanted: &str) {
    assert_eq!(text(&get(upstream(answer).address(), "/")), wanted);
}

#[test]
fn an_answer_is_sent_as_the_test_wrote_it() {
    check(Answer::new(204), "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n");
    check(Answer::new(200).body("abc"), "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc");
    check(
        Answer::redirect(307, "//other.test/x"),
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: //other.test/x\r\ncontent-length: 0\r\n\r\n",
    );
    check(Answer::redirect_nowhere(302), "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n");
    check(
        Answer::chunked(&[b"one", b"two"]),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
    );
    check(
        Answer::new(200).body("x").after_interim(103),
        "HTTP/1.1 103 Early Hints\r\nlink: </early>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
    );
    check(
        Answer::http10("old"),
        "HTTP/1.0 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\nold",
    );
}

#[test]
fn a_lie_is_sent_as_a_lie() {
    let typed = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\n";
    check(Answer::truncated("part", 99), &format!("{typed}content-length: 99\r\n\r\npart"));
    check(Answer::overlong("more than said", 4), &format!("{typed}content-length: 4\r\n\r\nmore than said"));
    check(Answer::two_lengths("ab", 7), &format!("{typed}content-length: 7\r\ncontent-length: 2\r\n\r\nab"));
    check(Answer::with_forbidden_body(304, "no"), "HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\nno");
    check(
        Answer::header_line(b"x-bad: \x00\x07"),
        "HTTP/1.1 200 OK\r\nx-bad: \0\u{7}\r\ncontent-length: 2\r\n\r\nok",
    );
    check(
        Answer::length_and_chunks("ab", 9),
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    );
    check(Answer::hang_up(), "");
    check(Answer::gibberish(), "SSH-2.0-something\r\n\r\n");
    assert!(text(&get(upstream(Answer::chunked_garbage()).address(), "/")).contains("NO SIZE"));
    assert!(text(&get(upstream(Answer::chunked_truncated()).address(), "/")).ends_with("ff\r\nsec"));
}

#[test]
fn headers_can_be_huge_and_many() {
    assert!(get(upstream(Answer::huge_header(100_000)).address(), "/").len() > 100_000);
    let many = text(&get(upstream(Answer::many_headers(500)).address(), "/"));
    assert_eq!(many.matches("x-many-").count(), 500);
}

#[test]
fn a_reset_tears_the_connection_in_the_middle_of_the_body() {
    let upstream = upstream(Answer::reset("part"));
    let (_, ended) = exchange(connect(upstream.address()), get_of("/").as_bytes());
    assert_eq!(ended.expect_err("a reset").kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn what_does_not_end_ends_when_the_client_goes() {
    let endless = [
        Answer::endless(),
        Answer::endless_chunks(),
        Answer::endless_headers(),
        Answer::endless_interim(),
        Answer::drip(Duration::from_millis(1)),
    ];
    for answer in endless {
        let upstream = upstream(answer);
        let mut stream = connect(upstream.address());
        stream.write_all(get_of("/").as_bytes()).expect("sent");
        let mut first = [0; 60];
        stream.read_exact(&mut first).expect("the first bytes");
        drop(stream);
        assert!(upstream.wait_until_left());
    }
}

#[test]
fn silence_lasts_until_the_client_goes() {
    for answer in [Answer::silent(), Answer::late(&Gate::new(), "never")] {
        let upstream = upstream(answer);
        let mut stream = connect(upstream.address());
        stream.write_all(get_of("/").as_bytes()).expect("sent");
        assert!(upstream.wait_for_requests(1));
        stream.set_nonblocking(true).expect("a look without waiting");
        let looked = stream.read(&mut [0; 1]).expect_err("nothing came");
        assert_eq!(looked.kind(), std::io::ErrorKind::WouldBlock);
        drop(stream);
        assert!(upstream.wait_until_left());
    }
}

#[test]
fn a_gate_lets_the_rest_through_when_the_test_says_so() {
    let gate = Gate::new();
    let answers = Paths::new()
        .at("/late", Answer::late(&gate, "late"))
        .at("/paused", Answer::paused("first", &gate, "rest"));
    let upstream = Upstream::http(answers);
    let mut paused = connect(upstream.address());
    paused.write_all(get_of("/paused").as_bytes()).expect("sent");
    let mut got = Vec::new();
    while !got.ends_with(b"first") {
        let mut byte = [0];
        paused.read_exact(&mut byte).expect("the first part");
        got.extend(byte);
    }
    let mut late = connect(upstream.address());
    late.write_all(get_of("/late").as_bytes()).expect("sent");
    assert!(upstream.wait_for_requests(2));
    gate.open();
    for (mut stream, end) in [(paused, "rest"), (late, "late")] {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("the rest");
        assert!(rest.ends_with(end), "{rest}");
    }
}

#[test]
fn a_ladder_leads_to_its_answer() {
    let upstream = Upstream::http(Paths::new().ladder("/hop", 3, 302, Answer::ok("top")));
    for rung in 0..3 {
        let answer = text(&get(upstream.address(), &format!("/hop/{rung}")));
        assert!(answer.contains(&format!("location: /hop/{}\r\n", rung + 1)), "{answer}");
    }
    assert!(text(&get(upstream.address(), "/hop/3?query=1")).ends_with("top"));
    assert!(text(&get(upstream.address(), "/hop/4")).starts_with("HTTP/1.1 404 "));
}
