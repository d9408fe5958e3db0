//! A name server on loopback, over UDP and TCP at the same port.

use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::Reply;
use super::format::{Outcome, Question, Record};
use super::script::{Asked, Script, Way, plain};
use crate::background::Background;

/// How often a port is sought that is free for UDP and for TCP.
const TRIES: usize = 50;

/// The longest message over UDP on loopback that we send.
const LONGEST: usize = 65_000;

/// A name server that answers by a script. It ends with its value.
#[derive(Debug)]
pub struct FakeDns {
    address: SocketAddr,
    script: Arc<Script>,
    _serving: Background,
}

impl FakeDns {
    /// A server for this script on a free port of `127.0.0.1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn new(script: Script) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), script)
    }

    /// A server for this script at this address, which a namespace of the network may well have (see `netns`).
    ///
    /// # Panics
    /// When it cannot listen there.
    pub fn listen(address: SocketAddr, script: Script) -> Self {
        let script = Arc::new(script);
        let (serving, address) = Background::start(
            move || async move {
                let (short, long) = bind(address).await?;
                let address = short.local_addr()?;
                Ok(((short, long), address))
            },
            {
                let script = Arc::clone(&script);
                move |(short, long)| async move {
                    tokio::join!(serve_short(short, &script), serve_long(long, Arc::clone(&script)));
                }
            },
        );
        Self { address, script, _serving: serving }
    }

    /// Where it listens, for UDP and TCP.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often this name was asked for, of whatever kind, also as the end of an alias.
    pub fn queries(&self, name: &str) -> usize {
        self.script.questions(name)
    }

    /// Every name that was asked for, as it is compared, also as the end of an alias.
    pub fn asked(&self) -> Vec<String> {
        self.script.asked_names()
    }

    /// How often any name was asked for.
    pub fn all_queries(&self) -> usize {
        self.script.all_questions()
    }
}

async fn bind(address: SocketAddr) -> Result<(UdpSocket, TcpListener)> {
    for _ in 1..TRIES {
        let short = UdpSocket::bind(address).await?;
        if let Ok(long) = TcpListener::bind(short.local_addr()?).await {
            return Ok((short, long));
        }
    }
    let short = UdpSocket::bind(address).await?;
    let long = TcpListener::bind(short.local_addr()?).await?;
    Ok((short, long))
}

async fn serve_short(socket: UdpSocket, script: &Script) {
    let mut message = [0; 4096];
    loop {
        // An asker that is gone shows as a fault of the next receipt.
        let Ok((length, asker)) = socket.recv_from(&mut message).await else { continue };
        if let Some(answer) = answer(script, message.get(..length).unwrap_or_default(), Way::Short) {
            // Who does not take it asks again.
            let _ = socket.send_to(&answer, asker).await;
        }
    }
}

async fn serve_long(listener: TcpListener, script: Arc<Script>) {
    // A listener that fails is out of descriptors; its test will see no answer.
    while let Ok((stream, _)) = listener.accept().await {
        let script = Arc::clone(&script);
        // The client went away; the test looks at its own side of it.
        tokio::spawn(async move { converse(stream, &script).await.ok() });
    }
}

async fn converse(mut stream: TcpStream, script: &Script) -> Result<()> {
    loop {
        let length = stream.read_u16().await?;
        let mut message = vec![0; length.into()];
        stream.read_exact(&mut message).await?;
        if let Some(answer) = answer(script, &message, Way::Long) {
            let length = u16::try_from(answer.len()).unwrap_or(u16::MAX);
            let mut framed = length.to_be_bytes().to_vec();
            framed.extend(answer.iter().take(length.into()));
            stream.write_all(&framed).await?;
        }
    }
}

/// The answer to a message; `None` for silence.
fn answer(script: &Script, message: &[u8], way: Way) -> Option<Vec<u8>> {
    let question = Question::read(message)?;
    let (mut records, mut seen) = (Vec::new(), Vec::new());
    let mut name = question.name.clone();
    let outcome = loop {
        seen.push(plain(&name));
        match script.reply(&name, question.asked, way) {
            Reply::Truncated(_) if way == Way::Short => return Some(question.cut()),
            Reply::Addresses(addresses) | Reply::Truncated(addresses) => {
                let wanted = addresses.into_iter().filter(|address| is_of(*address, question.asked));
                records.extend(wanted.map(|address| Record::Address(name.clone(), address)));
                break Outcome::Fine;
            }
            Reply::Alias(target) => {
                records.push(Record::Alias(name, target.clone()));
                if seen.contains(&plain(&target)) {
                    break Outcome::Fine;
                }
                name = target;
            }
            Reply::BareAlias(target) => {
                records.push(Record::Alias(name, target));
                break Outcome::Fine;
            }
            Reply::NoSuchName => break Outcome::NoSuchName,
            Reply::ServerFailed => break Outcome::ServerFailed,
            Reply::Empty => break Outcome::Fine,
            Reply::Silent => return None,
            Reply::Garbage => return Some(b"no message".to_vec()),
        }
    };
    let answer = question.answer(outcome, &records);
    let is_too_long = way == Way::Short && answer.len() > question.most.min(LONGEST);
    Some(if is_too_long { question.cut() } else { answer })
}

const fn is_of(address: IpAddr, asked: Asked) -> bool {
    match asked {
        Asked::V4 => address.is_ipv4(),
        Asked::V6 => address.is_ipv6(),
        Asked::Both => true,
        Asked::Other => false,
    }
}
