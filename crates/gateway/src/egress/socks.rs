//! SOCKS5 without a password, for connections only. Names are the proxy's to resolve; an address that stands for a name
//! is that name, and any other is judged as an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bailiwick_policy::HostName;
use bailiwick_types::{Denial, DenialReason};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::inside::serve_host;
use super::line::{Line, part};
use super::way::{Purpose, Unreached, Way};
use super::words::told;

/// The first byte of what a program says.
pub(super) const VERSION: u8 = 5;
/// The same in SOCKS4, which is not spoken here.
pub(super) const OLD_VERSION: u8 = 4;
const NO_PASSWORD: u8 = 0;
const NO_WAY: u8 = 0xff;
const CONNECT: u8 = 1;

/// What is replied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Done = 0,
    Failed = 1,
    NotAllowed = 2,
    HostUnreachable = 4,
    ConnectionRefused = 5,
    NoSuchCommand = 7,
    NoSuchAddress = 8,
}

/// Why there is no request.
enum Fault {
    /// The program went away, or says nonsense.
    Gone,
    /// It is told, and refused.
    Told(Reply, Option<Box<Denial>>),
}

/// Serves a connection that speaks SOCKS5.
pub(super) async fn serve(way: &Way, mut line: Line) {
    let Ok(asked) = timeout(way.bounds.head, greet(way, &mut line)).await else { return };
    let (host, port) = match asked {
        Ok(asked) => asked,
        Err(Fault::Gone) => return,
        Err(Fault::Told(said, denial)) => {
            if let Some(denial) = denial {
                way.refused(*denial);
            }
            return refuse(&mut line, said, way).await;
        }
    };
    let opened = async {
        let target = way.policy.connect(&host, port)?;
        // With an authority of ours, or the operator's proxy, what is opened depends on what will be said.
        if way.authority.is_some() || way.net.operators_proxy().is_some() {
            return Ok((target, None));
        }
        let opened = way.open(&target, Purpose::Requests).await?;
        Ok::<_, Unreached>((target, Some(opened)))
    };
    match opened.await {
        Ok((target, opened)) => {
            if reply(&mut line, Reply::Done).await.is_ok() {
                serve_host(way, line, &target, opened).await;
            }
        }
        Err(unreached) => {
            let said = match &unreached {
                Unreached::Denied(_) => Reply::NotAllowed,
                Unreached::Failed(failed) if failed.reason == DenialReason::ConnectFailed.word() => {
                    Reply::ConnectionRefused
                }
                Unreached::Failed(_) => Reply::HostUnreachable,
            };
            // For the record; SOCKS itself has no words.
            let _ = told(way, unreached);
            refuse(&mut line, said, way).await;
        }
    }
}

/// Refuses SOCKS4 in its own words.
pub(super) async fn refuse_old(way: &Way, mut line: Line) {
    way.refused(*way.policy.refuse("speak SOCKS4", DenialReason::BadProtocol));
    // Who does not wait for it needs not be told.
    let _ = line.writer.write_all(&[0, 0x5b, 0, 0, 0, 0, 0, 0]).await;
    part(&mut line, way.bounds.head).await;
}

async fn refuse(line: &mut Line, said: Reply, way: &Way) {
    if reply(line, said).await.is_ok() {
        part(line, way.bounds.head).await;
    }
}

async fn reply(line: &mut Line, said: Reply) -> std::io::Result<()> {
    line.writer.write_all(&[VERSION, said as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    line.writer.flush().await
}

/// Agrees on no password, and reads whom a connection is for.
async fn greet(way: &Way, line: &mut Line) -> Result<(HostName, u16), Fault> {
    let [_, count] = exactly(line).await?;
    let ways = some(line, usize::from(count)).await?;
    let agreed = if ways.contains(&NO_PASSWORD) { NO_PASSWORD } else { NO_WAY };
    let answered = async {
        line.writer.write_all(&[VERSION, agreed]).await?;
        line.writer.flush().await
    };
    answered.await.map_err(|_: std::io::Error| Fault::Gone)?;
    if agreed == NO_WAY {
        return Err(Fault::Gone);
    }
    let [version, command, _, kind] = exactly(line).await?;
    if version != VERSION {
        return Err(Fault::Gone);
    }
    let host = match kind {
        1 => Named::V4(Ipv4Addr::from(exactly::<4>(line).await?)),
        4 => Named::V6(Ipv6Addr::from(exactly::<16>(line).await?)),
        3 => {
            let [length] = exactly(line).await?;
            Named::Text(some(line, usize::from(length)).await?)
        }
        _ => return Err(Fault::Told(Reply::NoSuchAddress, None)),
    };
    let port = u16::from_be_bytes(exactly(line).await?);
    if command != CONNECT {
        let what = match command {
            2 => "SOCKS5 BIND",
            3 => "SOCKS5 UDP ASSOCIATE",
            _ => "SOCKS5 with another command than CONNECT",
        };
        let denial = way.policy.refuse(what, DenialReason::BadProtocol);
        return Err(Fault::Told(Reply::NoSuchCommand, Some(denial)));
    }
    host.host(way).map(|host| (host, port)).ok_or_else(|| {
        let denial = way.policy.refuse("SOCKS5 to what is no host", DenialReason::BadRequest);
        Fault::Told(Reply::Failed, Some(denial))
    })
}

/// Whom a connection is for, as it was written.
enum Named {
    V4(Ipv4Addr),
    V6(Ipv6Addr),
    Text(Vec<u8>),
}

impl Named {
    fn host(self, way: &Way) -> Option<HostName> {
        let host = match self {
            Self::V4(address) => HostName::Address(IpAddr::V4(address)),
            Self::V6(address) => HostName::Address(IpAddr::V6(address).to_canonical()),
            Self::Text(bytes) => {
                let text = String::from_utf8(bytes).ok()?;
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
                HostName::parse(Some(&*text).filter(|text| text.chars().all(is_plain))?).ok()?
            }
        };
        match host {
            HostName::Address(IpAddr::V4(address)) => {
                Some(way.names.name_of(address).map_or(host, HostName::Domain))
            }
            host => Some(host),
        }
    }
}

async fn some(line: &mut Line, count: usize) -> Result<Vec<u8>, Fault> {
    while line.reader.unread().len() < count {
        if line.reader.fill().await.map_err(|_| Fault::Gone)? == 0 {
            return Err(Fault::Gone);
        }
    }
    let bytes = line.reader.unread().get(..count).unwrap_or_default().to_vec();
    line.reader.used(count);
    Ok(bytes)
}

async fn exactly<const COUNT: usize>(line: &mut Line) -> Result<[u8; COUNT], Fault> {
    some(line, COUNT).await?.try_into().map_err(|_| Fault::Gone)
}
