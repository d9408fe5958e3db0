//! The port of the proxy: the first byte tells which of its languages is spoken.

use bailiwick_policy::{HostName, without_userinfo};
use bailiwick_types::DenialReason;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::inside::{TLS, tls};
use super::line::{Line, part};
use super::message::RequestHead;
use super::requests::{Speaking, authority, is_bodiless, serve};
use super::socks;
use super::way::{Opened, Purpose, Unreached, Way};
use super::words::{refused, tell, told};

/// Serves a connection to the proxy.
pub(super) async fn serve_proxy(way: &Way, mut line: Line) {
    let Ok(Ok(Some(first))) = timeout(way.bounds.head, line.reader.first()).await else { return };
    match first {
        socks::VERSION => {
            count("socks");
            socks::serve(way, line).await;
        }
        socks::OLD_VERSION => socks::refuse_old(way, line).await,
        b'A'..=b'Z' | b'a'..=b'z' => {
            count("http");
            if let Some(head) = serve(way, &mut line, &Speaking::Proxy, None).await {
                count("connect");
                connect(way, line, &head).await;
            }
        }
        other => {
            let what =
                if other == TLS { "TLS to the proxy itself" } else { "something else than HTTP or SOCKS" };
            way.refused(*way.policy.refuse(format!("speak {what}"), DenialReason::BadProtocol));
            part(&mut line, way.bounds.head).await;
        }
    }
}

/// Counts a connection by the way it came.
pub(super) fn count(kind: &'static str) {
    metrics::counter!("bailiwick_egress_connections_total", "way" => kind).increment(1);
}

/// Serves a tunnel that was asked for: only TLS goes through it, and only to the host that it was asked for.
async fn connect(way: &Way, mut line: Line, head: &RequestHead) {
    let prepared = prepare(way, head).await;
    let (target, opened) = match prepared {
        Ok(both) => both,
        Err(unreached) => {
            let told = told(way, unreached);
            return tell(&mut line, &told).await;
        }
    };
    let yes = async {
        line.writer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        line.writer.flush().await
    };
    if yes.await.is_ok() {
        tls(way, line, &target, opened).await;
    }
}

type Ready = (bailiwick_policy::Checked<bailiwick_policy::EgressTarget>, Option<Opened>);

async fn prepare(way: &Way, head: &RequestHead) -> Result<Ready, Unreached> {
    let asked: String = without_userinfo(&head.target).chars().take(300).collect();
    let bad = |why: &str| way.policy.refuse(format!("CONNECT {asked}: {why}"), DenialReason::BadRequest);
    if !is_bodiless(head) {
        return Err(bad("a request for a tunnel has no body").into());
    }
    let (host, port) = authority(&head.target, None).ok_or_else(|| bad("its target is not HOST:PORT"))?;
    let mut named = head.headers.iter().filter(|(name, _)| name == "host");
    let says_another = |value: &[u8]| {
        let value = std::str::from_utf8(value).unwrap_or_default();
        // Some programs leave the port out here.
        authority(value, Some(port)).is_none_or(|(named, at)| named != host || at != port)
    };
    if let Some((_, value)) = named.next()
        && (named.next().is_some() || says_another(value))
    {
        let asked = format!("CONNECT {asked}: its Host is another one");
        return Err(way.policy.refuse(asked, DenialReason::HostMismatch).into());
    }
    let target = way.policy.connect(&host, port)?;
    if matches!(host, HostName::Address(_)) {
        let asked = format!("CONNECT {asked}: TLS to an address names no server");
        return Err(way.policy.refuse(asked, DenialReason::ServerName).into());
    }
    if way.authority.is_some() {
        return Ok((target, None));
    }
    way.policy.tunnel(&target)?;
    let opened = way.open(&target, Purpose::Tunnel).await?;
    Ok((target, Some(opened)))
}

/// Tells a program that there are too many connections.
pub(super) async fn refuse_crowd(way: &Way, mut line: Line) {
    let denial = way.policy.refuse("one more connection", DenialReason::TooMany);
    let told = refused(way, *denial);
    // Who is told is waited for a moment; a crowd is not, for each of them holds a descriptor of the host's.
    if let Ok(_turn) = way.shared.goodbyes.try_acquire() {
        tell(&mut line, &told).await;
    }
}
