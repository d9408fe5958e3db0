//! Connections that are carried over the agent's stream: those that come to it, those that the host makes, and questions about names.

use std::net::{Ipv4Addr, SocketAddrV4};

use bailiwick_wire::agent::{CARRIED_WINDOW, FIRST_CARRIED, FromAgent, Stream, ToAgent};
use bailiwick_wire::jail::Listens;

use crate::agent::{Agent, as_first, command};

bailiwick_testkit::tests![
    what_comes_to_the_proxy_is_carried_both_ways,
    a_connection_tells_the_address_that_it_was_made_to,
    a_question_about_a_name_is_told_and_answered,
    a_port_inside_is_dialled_and_carried,
    a_port_where_nobody_listens_is_refused,
    what_a_connection_says_stops_where_the_credit_ends,
    a_host_that_says_more_than_a_window_is_broken,
    a_host_that_listens_twice_is_broken,
    what_a_host_has_forgotten_goes_on_unheard,
];

const PROXY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);
const NAMES: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 53), 53);

fn listens() -> Listens {
    Listens { proxy: PROXY, names: NAMES, ports: vec![8443] }
}

/// An agent that listens.
#[track_caller]
fn listen(agent: &mut Agent) {
    let id = agent.number();
    agent.say(&ToAgent::Listen { id, listens: listens() });
    assert_eq!(agent.about(id), FromAgent::Done { id });
}

/// A script of Python inside.
fn python(agent: &mut Agent, script: &str) -> u32 {
    agent.start(command(&["/usr/bin/python3", "-c", script]))
}

/// The next connection that comes.
#[track_caller]
fn arrived(agent: &mut Agent) -> (u32, SocketAddrV4) {
    let (id, at) = agent.wait_for(|message| match message {
        FromAgent::Arrived { id, at } => Some((*id, *at)),
        _ => None,
    });
    assert!(id >= FIRST_CARRIED, "{id}");
    (id, at)
}

/// Hears a connection until its other side has said all, and gives credit for it.
#[track_caller]
fn heard(agent: &mut Agent, id: u32) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match agent.about(id) {
            FromAgent::Output { stream, bytes, .. } => {
                assert_eq!(stream, Stream::Stdout);
                let length = u32::try_from(bytes.len()).unwrap();
                agent.say(&ToAgent::Credit { id, stream, bytes: length });
                all.extend(bytes);
            }
            FromAgent::Credit { .. } => {}
            FromAgent::OutputEnd { .. } => return all,
            other => panic!("{other:?}"),
        }
    }
}

/// Says all of it within the credit that comes back, and that it was all.
#[track_caller]
fn tell(agent: &mut Agent, id: u32, sent: &[u8]) {
    let (mut credit, mut at) = (CARRIED_WINDOW as usize, 0);
    while at < sent.len() {
        let length = credit.min(sent.len() - at).min(10_000);
        if length == 0 {
            match agent.about(id) {
                FromAgent::Credit { bytes, .. } => credit += bytes as usize,
                other => panic!("{other:?}"),
            }
            continue;
        }
        agent.say(&ToAgent::Input { id, bytes: sent[at..at + length].to_vec() });
        (credit, at) = (credit - length, at + length);
    }
    agent.say(&ToAgent::InputEnd { id });
}

#[track_caller]
fn parted(agent: &mut Agent, id: u32) {
    agent.wait_for(|message| (*message == FromAgent::Parted { id }).then_some(()));
}

fn pattern(length: u32) -> Vec<u8> {
    (0..length).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect()
}

fn what_comes_to_the_proxy_is_carried_both_ways() {
    as_first(|agent| {
        listen(agent);
        let script = "import socket, hashlib\n\
            s = socket.create_connection(('127.0.0.1', 3128))\n\
            s.sendall(b'asked' * 100000); s.shutdown(socket.SHUT_WR)\n\
            h, n = hashlib.sha256(), 0\n\
            while (b := s.recv(65536)): h.update(b); n += len(b)\n\
            print(n, h.hexdigest())";
        let asks = python(agent, script);
        let (id, at) = arrived(agent);
        assert_eq!(at, PROXY);
        assert_eq!(heard(agent, id), b"asked".repeat(100_000));
        let answer = pattern(700_001);
        tell(agent, id, &answer);
        parted(agent, id);
        let sum = agent.finish(asks);
        let shell = format!("{} ", answer.len());
        assert!(sum.text().starts_with(&shell), "{sum:?}");
        assert_eq!(sum.code(), 0);
    });
}

fn a_connection_tells_the_address_that_it_was_made_to() {
    as_first(|agent| {
        listen(agent);
        let asks = python(agent, "import socket; socket.create_connection(('127.64.3.9', 8443)).recv(1)");
        let (id, at) = arrived(agent);
        assert_eq!(at, SocketAddrV4::new(Ipv4Addr::new(127, 64, 3, 9), 8443));
        agent.say(&ToAgent::Part { id });
        assert_eq!(agent.finish(asks).code(), 0);
    });
}

fn a_question_about_a_name_is_told_and_answered() {
    as_first(|agent| {
        listen(agent);
        let script = "import socket\n\
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
            s.sendto(b'who?', ('127.0.0.53', 53)); print(s.recv(100).decode())";
        let asks = python(agent, script);
        let (id, bytes) = agent.wait_for(|message| match message {
            FromAgent::Asked { id, bytes } => Some((*id, bytes.clone())),
            _ => None,
        });
        assert!(id >= FIRST_CARRIED && bytes == b"who?", "{id} {bytes:?}");
        // An answer to a question that nobody asked goes nowhere.
        agent.say(&ToAgent::Answer { id: id + 1, bytes: b"nobody".to_vec() });
        agent.say(&ToAgent::Answer { id, bytes: b"them".to_vec() });
        assert_eq!(agent.finish(asks).text(), "them\n");
    });
}

fn a_port_inside_is_dialled_and_carried() {
    as_first(|agent| {
        let script = "import socket\n\
            l = socket.create_server(('127.0.0.1', 7000)); print('ready', flush=True)\n\
            s, _ = l.accept()\n\
            while (b := s.recv(65536)): s.sendall(b)\n\
            s.close()";
        let serves = python(agent, script);
        match agent.about(serves) {
            FromAgent::Output { bytes, .. } => assert_eq!(bytes, b"ready\n"),
            other => panic!("{other:?}"),
        }
        let id = agent.number();
        agent.say(&ToAgent::Dial { id, port: 7000, is_six: false });
        assert_eq!(agent.about(id), FromAgent::Joined { id });
        let sent = pattern(40_000);
        tell(agent, id, &sent);
        assert_eq!(heard(agent, id), sent);
        parted(agent, id);
        assert_eq!(agent.finish(serves).code(), 0);
    });
}

fn a_port_where_nobody_listens_is_refused() {
    as_first(|agent| {
        for is_six in [false, true] {
            let id = agent.number();
            agent.say(&ToAgent::Dial { id, port: 7001, is_six });
            assert!(matches!(agent.about(id), FromAgent::Failed { .. }));
        }
        assert_eq!(agent.shell("echo still").text(), "still\n");
    });
}

fn what_a_connection_says_stops_where_the_credit_ends() {
    as_first(|agent| {
        listen(agent);
        let script = "import socket\n\
            s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'x' * (1 << 20)); s.close()";
        let says = python(agent, script);
        let (id, _) = arrived(agent);
        let mut taken = 0;
        while taken < CARRIED_WINDOW as usize {
            match agent.about(id) {
                FromAgent::Output { bytes, .. } => taken += bytes.len(),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(taken, CARRIED_WINDOW as usize);
        // Others go on meanwhile, and nothing more of it has come by then.
        assert_eq!(agent.shell("echo others").text(), "others\n");
        assert_eq!(agent.unread(), 0);
        agent.say(&ToAgent::Part { id });
        agent.finish(says);
    });
}

fn a_host_that_says_more_than_a_window_is_broken() {
    as_first(|agent| {
        listen(agent);
        // It never reads.
        python(
            agent,
            "import socket, time; s = socket.create_connection(('127.0.0.1', 3128)); time.sleep(60)",
        );
        let (id, _) = arrived(agent);
        // As much as the two sockets hold, and a window more than that, without any credit.
        for _ in 0..400 {
            agent.say_raw(&bailiwick_wire::encode(&ToAgent::Input { id, bytes: vec![0; 60_000] }).unwrap());
        }
        assert!(agent.is_gone().is_some());
    });
}

fn a_host_that_listens_twice_is_broken() {
    as_first(|agent| {
        listen(agent);
        let id = agent.number();
        agent.say(&ToAgent::Listen { id, listens: listens() });
        assert!(agent.is_gone().is_some());
    });
}

fn what_a_host_has_forgotten_goes_on_unheard() {
    as_first(|agent| {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); echo line $i; done; echo all > /tmp/all";
        let says = agent.start(command(&["sh", "-c", script]));
        assert!(matches!(agent.about(says), FromAgent::Output { .. }));
        let id = agent.number();
        agent.say(&ToAgent::Forget { id });
        agent.wait_for(|message| (*message == FromAgent::Done { id }).then_some(()));
        // Without any credit it comes to its end.
        agent.wait_for(|message| matches!(message, FromAgent::Ended { id, .. } if *id == says).then_some(()));
        assert_eq!(agent.shell("cat /tmp/all").text(), "all\n");
    });
}
