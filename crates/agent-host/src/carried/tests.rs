//! What is carried, with the other end of the stream in the hands of a test: an agent that keeps the rules, and one that does not.

use std::net::{Ipv4Addr, SocketAddrV4};

use bailiwick_sandbox::{Doing, SandboxPath};
use bailiwick_types::{Denial, Wallpart};
use bailiwick_wire::agent::{FIRST_CARRIED, MOST_CARRIED};
use bailiwick_wire::{Decoder, encode};
use tokio::io::DuplexStream;

use super::*;
use crate::link::Greeting;

/// Gives back whatever comes by the proxy, in capitals; tells anybody else where they came to; answers names backwards.
#[derive(Debug)]
struct Echo;

impl Outlet for Echo {
    fn ports(&self) -> Vec<u16> {
        vec![443]
    }

    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn files(&self) -> Vec<(SandboxPath, String)> {
        Vec::new()
    }

    fn proxied(&self, mut stream: Box<dyn Duplex>) -> Doing<'static, ()> {
        Box::pin(async move {
            let mut heard = Vec::new();
            stream.read_to_end(&mut heard).await.expect("all of it comes");
            heard.make_ascii_uppercase();
            stream.write_all(&heard).await.expect("all of it goes");
            stream.shutdown().await.expect("it ends");
        })
    }

    fn direct(&self, mut stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()> {
        Box::pin(async move {
            if to.port() == NEVER {
                // It neither reads nor ends.
                std::future::pending::<()>().await;
            }
            stream.write_all(to.to_string().as_bytes()).await.expect("all of it goes");
        })
    }

    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        (query != b"silence").then(|| query.iter().rev().copied().collect())
    }

    fn walls(&self) -> Vec<Wallpart> {
        Vec::new()
    }

    fn refused(&self) -> u64 {
        0
    }

    fn denials(&self, _since: u64) -> Vec<Denial> {
        Vec::new()
    }
}

/// A port behind which nobody reads.
const NEVER: u16 = 1;

/// The other end of a link.
struct Agent {
    stream: DuplexStream,
    decoder: Decoder,
}

impl Agent {
    /// A link whose arrivals are served, and its other end.
    fn served() -> (Link, Self) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(ours);
        let link = Greeting::new(Box::new(reader), Box::new(writer)).link();
        let arrivals = link.arrivals();
        serve_arrivals(&link, Arc::new(Echo), arrivals);
        (link, Self { stream: theirs, decoder: Decoder::new(bailiwick_wire::agent::LONGEST) })
    }

    async fn say(&mut self, message: &FromAgent) {
        self.stream.write_all(&encode(message).expect("a message")).await.expect("the host hears");
    }

    async fn hear(&mut self) -> ToAgent {
        let mut room = vec![0; 4096];
        loop {
            if let Some(message) = self.decoder.take().expect("whole messages") {
                return message;
            }
            let read = self.stream.read(&mut room).await.expect("the host speaks");
            assert!(read > 0, "the host is gone");
            self.decoder.push(&room[..read]);
        }
    }

    /// Everything that a connection is told until its end, within windows.
    async fn told(&mut self, id: u32) -> Vec<u8> {
        let (mut all, mut under_way) = (Vec::new(), 0);
        loop {
            match self.hear().await {
                ToAgent::Input { id: about, bytes } if about == id => {
                    under_way += bytes.len();
                    assert!(under_way <= CARRIED_WINDOW as usize, "more than a window: {under_way}");
                    all.extend(bytes);
                    if under_way > 30_000 {
                        let bytes = u32::try_from(under_way).expect("a window");
                        self.say(&FromAgent::Credit { id, bytes }).await;
                        under_way = 0;
                    }
                }
                ToAgent::InputEnd { id: about } if about == id => return all,
                ToAgent::Credit { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

const ID: u32 = FIRST_CARRIED + 7;

#[tokio::test]
async fn a_connection_is_carried_whole_both_ways_within_its_windows() {
    let (_link, mut agent) = Agent::served();
    agent.say(&FromAgent::Arrived { id: ID, at: PROXY }).await;
    let sent = b"abcdefgh".repeat(40_000);
    let mut credit = CARRIED_WINDOW as usize;
    for piece in sent.chunks(10_000) {
        while credit < piece.len() {
            match agent.hear().await {
                ToAgent::Credit { id: ID, bytes, .. } => credit += bytes as usize,
                other => panic!("{other:?}"),
            }
        }
        credit -= piece.len();
        agent.say(&FromAgent::Output { id: ID, stream: Stream::Stdout, bytes: piece.to_vec() }).await;
    }
    agent.say(&FromAgent::OutputEnd { id: ID }).await;
    assert_eq!(agent.told(ID).await, b"ABCDEFGH".repeat(40_000));
}

#[tokio::test]
async fn what_knows_no_proxy_is_served_by_the_address_that_it_was_made_to() {
    let (_link, mut agent) = Agent::served();
    let at = SocketAddrV4::new(Ipv4Addr::new(127, 64, 0, 5), 443);
    agent.say(&FromAgent::Arrived { id: ID, at }).await;
    assert_eq!(agent.told(ID).await, b"127.64.0.5:443");
}

#[tokio::test]
async fn questions_about_names_are_answered_by_datagrams_and_by_connections() {
    let (_link, mut agent) = Agent::served();
    // One that has no answer gets none: the next thing that is heard is about the other.
    agent.say(&FromAgent::Asked { id: ID, bytes: b"silence".to_vec() }).await;
    agent.say(&FromAgent::Asked { id: ID + 1, bytes: b"who".to_vec() }).await;
    assert_eq!(agent.hear().await, ToAgent::Answer { id: ID + 1, bytes: b"ohw".to_vec() });
    agent.say(&FromAgent::Arrived { id: ID, at: NAMES }).await;
    let bytes = b"\0\x03who".to_vec();
    agent.say(&FromAgent::Output { id: ID, stream: Stream::Stdout, bytes }).await;
    agent.say(&FromAgent::OutputEnd { id: ID }).await;
    assert_eq!(agent.told(ID).await, b"\0\x03ohw");
}

/// An agent that says these is cut off.
#[track_caller]
fn check_broken(said: &[FromAgent]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (link, mut agent) = Agent::served();
        for message in said {
            // It may be cut off already.
            if agent.stream.write_all(&encode(message).expect("a message")).await.is_err() {
                break;
            }
        }
        while !link.is_gone() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(link.why(), LinkError::Broken(_)), "{:?}", link.why());
    });
}

#[test]
fn an_agent_that_breaks_the_rules_of_connections_is_cut_off() {
    let arrived = |id| FromAgent::Arrived { id, at: PROXY };
    // A number of the host's, and one that stands for a connection already.
    check_broken(&[arrived(1)]);
    check_broken(&[arrived(ID), arrived(ID)]);
    check_broken(&[FromAgent::Asked { id: 1, bytes: Vec::new() }]);
    check_broken(&[FromAgent::Asked { id: ID, bytes: vec![0; LONGEST_QUERY + 1] }]);
    // More connections than it may have.
    let crowd = (0..=u32::try_from(MOST_CARRIED).expect("a few")).map(|more| arrived(FIRST_CARRIED + more));
    check_broken(&crowd.collect::<Vec<_>>());
    // More than it was given credit for, while nobody reads.
    let flood = FromAgent::Output { id: ID, stream: Stream::Stdout, bytes: vec![b'x'; 60_000] };
    let mut said = vec![FromAgent::Arrived { id: ID, at: SocketAddrV4::new(Ipv4Addr::LOCALHOST, NEVER) }];
    said.extend(std::iter::repeat_n(flood, 8));
    check_broken(&said);
}
