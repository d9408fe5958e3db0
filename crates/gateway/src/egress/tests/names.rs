//! Names inside: what may be reached has an address, nothing else exists, and nobody outside is asked.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_resolver::proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, RecordType};

use super::*;

fn query(name: &str, kind: RecordType) -> Message {
    let mut message = Message::new(7, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
    message
}

fn asked(outlet: &Arc<dyn Outlet>, message: &Message) -> Message {
    Message::from_vec(&outlet.answer(&message.to_vec().unwrap()).unwrap()).unwrap()
}

/// The address of a name, or the code of the answer where there is none.
pub(super) fn address(outlet: &Arc<dyn Outlet>, name: &str) -> Result<Ipv4Addr, ResponseCode> {
    let answer = asked(outlet, &query(name, RecordType::A));
    match answer.answers.first().map(|record| &record.data) {
        Some(RData::A(address)) => Ok(address.0),
        _ => Err(answer.metadata.response_code),
    }
}

#[test]
fn a_name_that_may_be_reached_has_one_address_that_stands_for_it() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test,b.test:8080,*.c.test");
    let first = address(&outlet, "a.test.").unwrap();
    assert_eq!(first.octets()[..2], [127, 64]);
    assert_eq!(address(&outlet, "A.TEST."), Ok(first));
    let others = ["b.test.", "x.c.test.", "y.c.test."].map(|name| address(&outlet, name).unwrap());
    assert!(!others.contains(&first) && others[0] != others[1] && others[1] != others[2]);
    let answer = asked(&outlet, &query("a.test.", RecordType::A));
    assert_eq!((answer.metadata.id, answer.metadata.message_type), (7, MessageType::Response));
    assert_eq!(answer.queries, query("a.test.", RecordType::A).queries);
    for kind in [RecordType::AAAA, RecordType::HTTPS, RecordType::SVCB, RecordType::TXT, RecordType::MX] {
        let answer = asked(&outlet, &query("a.test.", kind));
        assert_eq!(
            (answer.metadata.response_code, answer.answers.len()),
            (ResponseCode::NoError, 0),
            "{kind}"
        );
    }
    assert_eq!(outlet.refused(), 0);
    assert_eq!(world.table.all_queries(), 0, "nobody outside was asked");
}

#[test]
fn no_other_name_exists_and_labels_tell_nobody_anything() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test,*.c.test");
    for name in [
        "b.test.",
        "x.a.test.",
        "c.test.",
        "c2VjcmV0.evil.test.",
        "metadata.google.internal.",
        "169.254.169.254.",
        "1.1.1.1.",
        "a\\.test.",
        "_x.b.test.",
        "test.",
    ] {
        assert_eq!(address(&outlet, name), Err(ResponseCode::NXDomain), "{name}");
        let v6 = asked(&outlet, &query(name, RecordType::AAAA));
        assert_eq!(v6.metadata.response_code, ResponseCode::NXDomain, "{name}");
    }
    assert_eq!(outlet.refused(), 10, "each is told once, whatever is asked of it");
    assert_eq!(outlet.denials(0)[0].asked, "resolve b.test");
    assert_eq!(address(&outlet, "c2VjcmV0LWRhdGE.c.test.").unwrap().octets()[..2], [127, 64]);
    assert_eq!(world.table.all_queries(), 0, "also a label below an allowed name stays inside");
    // Who asks for a name of an address is told that there is none; that is not a refusal.
    assert_eq!(address(&outlet, "1.0.64.127.in-addr.arpa."), Err(ResponseCode::NXDomain));
    assert_eq!(outlet.refused(), 10);
}

#[test]
fn any_public_name_has_an_address_with_a_full_network_and_the_table_has_an_end() {
    let (world, _upstream) = usual();
    let world = world.with(|builder| {
        builder
            .never([HostRule::parse("*.never.test", Purpose::Refuse).unwrap()])
            .bounds(EgressBounds { names: 3, ..EgressBounds::SHIPPED })
    });
    let outlet = world.outlet("full");
    for name in ["x.never.test.", "metadata.google.internal.", "10.0.0.1."] {
        assert_eq!(address(&outlet, name), Err(ResponseCode::NXDomain), "{name}");
    }
    let given: Vec<_> = (0..5).map(|number| address(&outlet, &format!("h{number}.test."))).collect();
    assert!(given[..3].iter().all(Result::is_ok));
    assert_eq!(given[3..], [Err(ResponseCode::ServFail); 2]);
    assert_eq!(address(&outlet, "h0.test."), given[0], "nobody lost what they had");
}

#[test]
fn the_sandbox_finds_its_own_loopback() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    assert_eq!(address(&outlet, "localhost."), Ok(Ipv4Addr::LOCALHOST));
    let v6 = asked(&outlet, &query("localhost.", RecordType::AAAA));
    assert_eq!(v6.answers[0].data, RData::AAAA(Ipv6Addr::LOCALHOST.into()));
}

#[test]
fn what_is_no_question_gets_no_more_than_its_code() {
    let (world, _upstream) = usual();
    let outlet = world.outlet("allow:a.test");
    assert_eq!(outlet.answer(&[]), None);
    assert_eq!(outlet.answer(&[0; 11]), None);
    let mut answer = query("a.test.", RecordType::A);
    answer.metadata.message_type = MessageType::Response;
    assert_eq!(outlet.answer(&answer.to_vec().unwrap()), None, "an answer is not answered");
    let code =
        |bytes: &[u8]| Message::from_vec(&outlet.answer(bytes).unwrap()).unwrap().metadata.response_code;
    let mut two = query("a.test.", RecordType::A);
    two.add_query(Query::query(Name::from_ascii("b.test.").unwrap(), RecordType::A));
    assert_eq!(code(&two.to_vec().unwrap()), ResponseCode::FormErr);
    assert_eq!(code(&[0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), ResponseCode::FormErr, "no question");
    let whole = query("a.test.", RecordType::A).to_vec().unwrap();
    assert_eq!(code(&whole[..whole.len() - 3]), ResponseCode::FormErr, "cut");
    assert_eq!(
        code(&[0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1]),
        ResponseCode::FormErr,
        "a loop"
    );
    let mut update = query("a.test.", RecordType::A);
    update.metadata.op_code = OpCode::Update;
    assert_eq!(asked(&outlet, &update).metadata.response_code, ResponseCode::NotImp);
    let mut chaos = Query::query(Name::from_ascii("version.bind.").unwrap(), RecordType::TXT);
    chaos.set_query_class(DNSClass::CH);
    let mut message = Message::new(1, MessageType::Query, OpCode::Query);
    message.add_query(chaos);
    assert_eq!(asked(&outlet, &message).metadata.response_code, ResponseCode::Refused);
}
