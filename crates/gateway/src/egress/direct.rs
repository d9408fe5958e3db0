//! Connections of programs that know no proxy: they resolved a name to the address that stands for it, and went there.

use std::net::SocketAddrV4;

use bailiwick_policy::HostName;
use bailiwick_types::{Denial, DenialReason};
use tokio::time::timeout;

use super::inside::{TLS, serve_host};
use super::line::{Line, part};
use super::way::Way;
use super::words::{Alert, alert, refused, tell};

/// Serves a connection to an address inside.
pub(super) async fn serve_direct(way: &Way, mut line: Line, to: SocketAddrV4) {
    let granted = match way.names.name_of(*to.ip()) {
        Some(name) => way.policy.connect(&HostName::Domain(name), to.port()),
        None => Err(way.policy.refuse(format!("connect {to}"), DenialReason::HostNotAllowed)),
    };
    match granted {
        Ok(target) => serve_host(way, line, &target, None).await,
        Err(denial) => refuse(way, &mut line, *denial).await,
    }
}

/// Tells a program in its own language, if it speaks first.
async fn refuse(way: &Way, line: &mut Line, denial: Denial) {
    let first = timeout(way.bounds.head, line.reader.first()).await;
    let told = refused(way, denial);
    match first {
        Ok(Ok(Some(TLS))) => alert(line, Alert::AccessDenied).await,
        Ok(Ok(Some(b'A'..=b'Z' | b'a'..=b'z'))) => tell(line, &told).await,
        _ => part(line, way.bounds.head).await,
    }
}
