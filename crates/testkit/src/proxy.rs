//! A forward proxy on loopback: tunnels (`CONNECT`) and requests with a whole `http:` address, and remembers both.
//!
//! It dials only where its `Routes` or the [`Setup`] lead, so nothing real is ever reached; any other target gets a
//! 502. It ends with its value: no thread, socket or task is left. Start reading at [`Setup`].

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;

use crate::background::Background;
use crate::message::{bytes_of, header};

mod serve;
mod setup;
#[cfg(test)]
mod tests;

pub use setup::{Refusal, Setup};

/// How long a test waits for something that should long have happened.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client asked the proxy for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method; `CONNECT` for a tunnel.
    pub method: String,
    /// The target as it came.
    pub target: String,
    /// Host and port, with a port also where the target leaves it out.
    pub authority: String,
    /// The headers in order, with duplicates and as they were spelt. Each character is one byte as it came (Latin-1).
    pub headers: Vec<(String, String)>,
    /// The connection it came by; the first is 1.
    pub connection: usize,
    /// Where the proxy went for it; `None` when it refused.
    pub led_to: Option<SocketAddr>,
}

impl Asked {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The bytes of the first header of this name, whatever the case of the name.
    pub fn header_bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.header(name).map(bytes_of)
    }
}

/// A proxy on loopback.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    record: Arc<Record>,
    _serving: Background,
}

impl Proxy {
    /// One on a free port of `127.0.0.1`.
    ///
    /// # Panics
    /// When it cannot listen.
    pub fn start(setup: Setup) -> Self {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), setup)
    }

    /// One at this address, which a namespace of the network may well have (see `netns`).
    ///
    /// # Panics
    /// When it cannot listen there.
    pub fn listen(address: SocketAddr, setup: Setup) -> Self {
        let record = Arc::new(Record::default());
        let (serving, address) = Background::start(
            move || async move {
                let listener = TcpListener::bind(address).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            },
            {
                let record = Arc::clone(&record);
                move |listener| serve::accept(listener, Arc::new(setup), record)
            },
        );
        Self { address, record, _serving: serving }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a client's setting wants it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All that was asked for so far, in order, whether it was granted or not.
    pub fn asked(&self) -> Vec<Asked> {
        self.record.with(|asked| asked.clone())
    }

    /// The host and port of all that was asked for so far, in order.
    pub fn authorities(&self) -> Vec<String> {
        self.record.with(|asked| asked.iter().map(|one| one.authority.clone()).collect())
    }

    /// Waits until it was asked this often; `false` when it was not.
    #[must_use]
    pub fn wait_for_asked(&self, count: usize) -> bool {
        let asked = self.record.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.record.more.wait_timeout_while(asked, PATIENCE, |asked| asked.len() < count);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// What was asked for so far, for the proxy that is asked and the test that looks.
#[derive(Debug, Default)]
struct Record {
    asked: Mutex<Vec<Asked>>,
    more: Condvar,
}

impl Record {
    fn with<Out>(&self, what: impl FnOnce(&mut Vec<Asked>) -> Out) -> Out {
        let out = what(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        self.more.notify_all();
        out
    }
}
