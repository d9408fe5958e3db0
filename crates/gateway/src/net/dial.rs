//! Opens connections. The only place of the gateway that does, and it takes a proof.
//!
//! There is no way from here to a name: whoever wants a connection has the address that policy said yes to.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use bailiwick_policy::Checked;
use tokio::net::TcpStream;

/// A connection to come.
pub type Dialling<'a> = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send + 'a>>;

/// Somebody who opens connections.
pub trait Dial: Send + Sync {
    /// Connects to an address that policy said yes to for one request.
    fn dial(&self, to: Checked<SocketAddr>) -> Dialling<'_>;

    /// Connects to the proxy that the operator's file names. No guest chooses this address.
    fn dial_operators_proxy(&self, to: SocketAddr) -> Dialling<'_>;
}

/// The machine's own network.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDial;

impl Dial for SystemDial {
    fn dial(&self, to: Checked<SocketAddr>) -> Dialling<'_> {
        Box::pin(connect(to.into_inner()))
    }

    fn dial_operators_proxy(&self, to: SocketAddr) -> Dialling<'_> {
        Box::pin(connect(to))
    }
}

async fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
