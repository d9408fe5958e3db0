//! What a client of the name server sees, read by an implementation of DNS that is not ours; and the table in memory.
#![expect(clippy::disallowed_types, reason = "the tests of fakes talk to them over plain sockets")]

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use super::{FakeDns, Fault, Reply, Script, Table};

fn question(name: &str, kind: RecordType) -> Vec<u8> {
    let mut message = Message::new(77, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(name).expect("a name"), kind));
    message.to_vec().expect("a question")
}

fn ask(dns: &FakeDns, name: &str, kind: RecordType) -> Message {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    socket.send_to(&question(name, kind), dns.address()).expect("sent");
    let mut answer = vec![0; 65_536];
    let length = socket.recv(&mut answer).expect("an answer");
    read(&answer[..length])
}

fn ask_long(dns: &FakeDns, name: &str, kind: RecordType) -> Message {
    let mut stream = crate::client::connect(dns.address());
    let question = question(name, kind);
    let length = u16::try_from(question.len()).expect("short").to_be_bytes();
    stream.write_all(&[&length[..], &question].concat()).expect("sent");
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("a length");
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut answer).expect("an answer");
    read(&answer)
}

fn read(answer: &[u8]) -> Message {
    let message = Message::from_vec(answer).expect("a message");
    assert_eq!((message.metadata.id, message.metadata.message_type), (77, MessageType::Response));
    message
}

/// The records as text: addresses, and aliases as `name>target`.
fn records(message: &Message) -> Vec<String> {
    let one = |record: &hickory_proto::rr::Record| match &record.data {
        RData::A(address) => address.to_string(),
        RData::AAAA(address) => address.to_string(),
        RData::CNAME(target) => format!("{}>{}", record.name, target.0),
        other => panic!("{other:?}"),
    };
    message.answers.iter().map(one).collect()
}

fn script() -> Script {
    Script::new()
        .name("mixed.test", &[Reply::addresses(&["93.184.216.34", "10.0.0.1", "2606:2800::1", "fd00::1"])])
        .name("turns.test", &[Reply::addresses(&["93.184.216.34"]), Reply::addresses(&["127.0.0.1"])])
        .name("alias.test", &[Reply::Alias("next.test".to_owned())])
        .name("next.test", &[Reply::Alias("inside.test".to_owned())])
        .name("inside.test", &[Reply::addresses(&["10.0.0.9"])])
        .name("bare.test", &[Reply::BareAlias("inside.test".to_owned())])
        .name("loop.test", &[Reply::Alias("pool.test".to_owned())])
        .name("pool.test", &[Reply::Alias("loop.test".to_owned())])
        .name("failed.test", &[Reply::ServerFailed])
        .name("empty.test", &[Reply::Empty])
        .name("silent.test", &[Reply::Silent, Reply::addresses(&["93.184.216.34"])])
        .name(
            "cut.test",
            &[Reply::Truncated(vec![IpAddr::from([10, 0, 0, 2])]), Reply::addresses(&["10.0.0.3"])],
        )
        .name("many.test", &[Reply::many(2000)])
}

#[test]
fn questions_are_answered_by_the_script() {
    let dns = FakeDns::new(script());
    let (v4, v6) = (RecordType::A, RecordType::AAAA);
    let cases: &[(&str, RecordType, ResponseCode, &[&str])] = &[
        ("mixed.test.", v4, ResponseCode::NoError, &["93.184.216.34", "10.0.0.1"]),
        ("MIXED.test.", v6, ResponseCode::NoError, &["2606:2800::1", "fd00::1"]),
        ("mixed.test.", RecordType::TXT, ResponseCode::NoError, &[]),
        ("turns.test.", v4, ResponseCode::NoError, &["93.184.216.34"]),
        ("turns.test.", v6, ResponseCode::NoError, &[]),
        ("turns.test.", v4, ResponseCode::NoError, &["127.0.0.1"]),
        ("turns.test.", v4, ResponseCode::NoError, &["127.0.0.1"]),
        (
            "alias.test.",
            v4,
            ResponseCode::NoError,
            &["alias.test.>next.test.", "next.test.>inside.test.", "10.0.0.9"],
        ),
        ("bare.test.", v4, ResponseCode::NoError, &["bare.test.>inside.test."]),
        ("loop.test.", v4, ResponseCode::NoError, &["loop.test.>pool.test.", "pool.test.>loop.test."]),
        ("failed.test.", v4, ResponseCode::ServFail, &[]),
        ("empty.test.", v4, ResponseCode::NoError, &[]),
        ("unknown.test.", v4, ResponseCode::NXDomain, &[]),
    ];
    for (name, kind, code, wanted) in cases {
        let answer = ask(&dns, name, *kind);
        assert_eq!(
            (answer.metadata.response_code, records(&answer)),
            (*code, wanted.iter().map(ToString::to_string).collect()),
            "{name}"
        );
    }
    let counts =
        [("mixed.test", 3), ("turns.test", 4), ("inside.test", 1), ("unknown.test", 1), ("never.test", 0)];
    for (name, count) in counts {
        assert_eq!(dns.queries(name), count, "{name}");
    }
}

#[test]
fn names_that_were_asked_for_are_remembered_also_those_that_are_not_there() {
    let dns = FakeDns::new(script());
    ask(&dns, "Nobody.Test", RecordType::TXT);
    ask(&dns, "mixed.test", RecordType::A);
    let mut asked = dns.asked();
    asked.sort();
    assert_eq!(asked, ["mixed.test", "nobody.test"]);
}

#[test]
fn a_cut_answer_is_whole_over_tcp() {
    let dns = FakeDns::new(script());
    for _ in 0..2 {
        let cut = ask(&dns, "cut.test.", RecordType::A);
        assert!(cut.metadata.truncation && cut.answers.is_empty());
    }
    assert_eq!(records(&ask_long(&dns, "cut.test.", RecordType::A)), ["10.0.0.2"]);
    assert_eq!(records(&ask(&dns, "cut.test.", RecordType::A)), ["10.0.0.3"]);
}

#[test]
fn a_huge_answer_is_cut_over_udp_and_whole_over_tcp() {
    let dns = FakeDns::new(script());
    assert!(ask(&dns, "many.test.", RecordType::A).metadata.truncation);
    assert_eq!(ask_long(&dns, "many.test.", RecordType::A).answers.len(), 2000);
}

#[test]
fn silence_gives_nothing_and_the_next_question_its_answer() {
    let dns = FakeDns::new(script());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.send_to(&question("silent.test.", RecordType::A), dns.address()).expect("sent");
    // Questions of one socket are answered in turn: when the second has its answer, the first has none.
    socket.send_to(&question("empty.test.", RecordType::A), dns.address()).expect("sent");
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).expect("an answer");
    assert_eq!(read(&answer[..length]).queries[0].name().to_string(), "empty.test.");
    assert_eq!(records(&ask(&dns, "silent.test.", RecordType::A)), ["93.184.216.34"]);
    assert_eq!(dns.queries("silent.test"), 2);
}

#[test]
fn the_table_in_memory_follows_the_same_script() {
    let table = Table::new(script());
    let cases: &[(&str, Result<&[&str], Fault>)] = &[
        ("mixed.test", Ok(&["93.184.216.34", "10.0.0.1", "2606:2800::1", "fd00::1"])),
        ("turns.test", Ok(&["93.184.216.34"])),
        ("Turns.Test.", Ok(&["127.0.0.1"])),
        ("alias.test", Ok(&["10.0.0.9"])),
        ("bare.test", Ok(&["10.0.0.9"])),
        ("cut.test", Ok(&["10.0.0.2"])),
        ("empty.test", Ok(&[])),
        ("loop.test", Err(Fault::Loop)),
        ("failed.test", Err(Fault::ServerFailed)),
        ("silent.test", Err(Fault::TimedOut)),
        ("unknown.test", Err(Fault::NoSuchName)),
    ];
    for (name, wanted) in cases {
        let wanted = wanted.map(|all| all.iter().map(|one| one.parse().expect("an address")).collect());
        assert_eq!(table.lookup(name), wanted, "{name}");
    }
    assert_eq!(
        (table.queries("turns.test"), table.queries("inside.test"), table.queries("never.test")),
        (2, 2, 0)
    );
}
