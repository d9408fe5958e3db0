//! Answers questions about names without asking anybody: a name that may be reached has the address that stands for it,
//! any other name does not exist.
//!
//! No question ever leaves the host from here, so nothing can be told to a name server by asking for a name.

use std::net::{Ipv4Addr, Ipv6Addr};

use bailiwick_policy::HostName;
use hickory_resolver::proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use super::way::Way;

/// For how many seconds an answer holds. The table ends with the sandbox.
const TTL: u32 = 30;
/// What is before the questions of a message.
const HEADER: usize = 12;

/// The answer to a message; none to what is no question.
pub(super) fn answer(way: &Way, query: &[u8]) -> Option<Vec<u8>> {
    let [high, low, flags, ..] = query.get(..HEADER)? else { return None };
    // An answer to an answer could go on for ever.
    if flags & 0x80 != 0 {
        return None;
    }
    let id = u16::from_be_bytes([*high, *low]);
    let answer = match Message::from_vec(query) {
        Ok(query) => answered(way, id, &query),
        Err(_) => Message::error_msg(id, OpCode::Query, ResponseCode::FormErr),
    };
    answer.to_vec().ok()
}

fn answered(way: &Way, id: u16, query: &Message) -> Message {
    if query.metadata.op_code != OpCode::Query {
        return Message::error_msg(id, query.metadata.op_code, ResponseCode::NotImp);
    }
    let [question] = &*query.queries else {
        return Message::error_msg(id, OpCode::Query, ResponseCode::FormErr);
    };
    let mut answer = Message::new(id, MessageType::Response, OpCode::Query);
    answer.metadata.recursion_desired = query.metadata.recursion_desired;
    answer.metadata.recursion_available = true;
    answer.add_query(question.clone());
    if question.query_class() != DNSClass::IN {
        answer.metadata.response_code = ResponseCode::Refused;
        return answer;
    }
    let found = look(way, question.name(), question.query_type());
    match found {
        Found::Record(data) => {
            answer.add_answer(Record::from_rdata(question.name().clone(), TTL, data));
        }
        Found::Nothing => {}
        Found::NoSuchName => answer.metadata.response_code = ResponseCode::NXDomain,
        Found::NoRoom => answer.metadata.response_code = ResponseCode::ServFail,
    }
    answer
}

enum Found {
    Record(RData),
    Nothing,
    NoSuchName,
    NoRoom,
}

fn look(way: &Way, name: &Name, kind: RecordType) -> Found {
    let text = name.to_ascii();
    let text = text.strip_suffix('.').unwrap_or(&text).to_ascii_lowercase();
    // The sandbox's own loopback.
    if text == "localhost" || text.ends_with(".localhost") {
        return match kind {
            RecordType::A => Found::Record(RData::A(Ipv4Addr::LOCALHOST.into())),
            RecordType::AAAA => Found::Record(RData::AAAA(Ipv6Addr::LOCALHOST.into())),
            _ => Found::Nothing,
        };
    }
    // Who has an address: nobody has to ask for that to reach a host.
    if text.rsplit('.').next().is_none_or(|last| matches!(last, "" | "arpa")) {
        return Found::NoSuchName;
    }
    let host = HostName::parse(&text);
    let denial = match &host {
        Ok(host @ HostName::Domain(domain)) if *domain == text => match way.policy.resolve(host) {
            Ok(_) if kind != RecordType::A => return Found::Nothing,
            Ok(checked) => {
                let address = way.names.address_of(&checked.get().to_string());
                return address.map_or(Found::NoRoom, |address| Found::Record(RData::A(address.into())));
            }
            Err(denial) => denial,
        },
        _ => way.policy.refuse(format!("resolve {text}"), bailiwick_types::DenialReason::HostNotAllowed),
    };
    if way.names.is_news(&text) {
        way.refused(*denial);
    }
    Found::NoSuchName
}
