//! A way out that a test made: it says who came to it, and nothing of it leaves the machine.

use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex};

use bailiwick_sandbox::{Doing, Duplex, Egress, Outlet, SandboxError, SandboxPath, SandboxSpec};
use bailiwick_types::{Denial, WallStatus, Wallpart};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::path;

/// Who came.
pub type Came = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone, Copy)]
enum How {
    Tells,
    Decides,
}

/// A way out.
#[derive(Debug, Clone)]
pub struct WayOut {
    how: How,
    came: Came,
}

impl WayOut {
    /// One that tells whoever comes where they came to.
    pub fn that_tells() -> Self {
        Self { how: How::Tells, came: Came::default() }
    }

    /// One that lets its proxy's requests through to one host.
    pub fn that_decides() -> Self {
        Self { how: How::Decides, came: Came::default() }
    }

    /// Who came to it so far, and comes later.
    pub fn came(&self) -> Came {
        self.came.clone()
    }

    async fn tell(came: Came, mut stream: Box<dyn Duplex>, what: String) {
        let mut first = [0; 5];
        stream.read_exact(&mut first).await.expect("five bytes");
        came.lock().expect("a lock").push(format!("{what} {}", String::from_utf8_lossy(&first)));
        stream.write_all(what.as_bytes()).await.expect("an answer");
    }

    async fn decide(came: Came, mut stream: Box<dyn Duplex>) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read_exact(&mut byte).await.is_err() {
                return;
            }
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let first = head.lines().next().unwrap_or_default().to_owned();
        let answer = if first.contains("//allowed.test/") { "200 OK" } else { "403 Forbidden" };
        came.lock().expect("a lock").push(first);
        let body = "x".repeat(200_000);
        let text = format!("HTTP/1.1 {answer}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let _gone = stream.write_all(text.as_bytes()).await;
    }
}

impl Egress for WayOut {
    fn outlet(&self, _: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Outlet for WayOut {
    fn ports(&self) -> Vec<u16> {
        match self.how {
            How::Tells => vec![80, 443],
            How::Decides => vec![443],
        }
    }
    fn variables(&self) -> Vec<(String, String)> {
        vec![("HTTP_PROXY".to_owned(), "http://127.0.0.1:3128".to_owned())]
    }
    fn files(&self) -> Vec<(SandboxPath, String)> {
        // Longer than a message may be.
        vec![
            (path("/etc/resolv.conf"), "nameserver 127.0.0.53\n".to_owned()),
            (path("/etc/bailiwick/authorities.pem"), "A".repeat(300_000)),
        ]
    }
    fn proxied(&self, stream: Box<dyn Duplex>) -> Doing<'static, ()> {
        match self.how {
            How::Tells => Box::pin(Self::tell(self.came(), stream, "proxied".to_owned())),
            How::Decides => Box::pin(Self::decide(self.came(), stream)),
        }
    }
    fn direct(&self, mut stream: Box<dyn Duplex>, to: SocketAddrV4) -> Doing<'static, ()> {
        let text = format!("direct to {to}");
        match self.how {
            How::Tells => Box::pin(Self::tell(self.came(), stream, text)),
            How::Decides => Box::pin(async move {
                let _gone = stream.write_all(text.as_bytes()).await;
            }),
        }
    }
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        Some([b"heard ", query].concat())
    }
    fn walls(&self) -> Vec<Wallpart> {
        ["network", "inner names"]
            .map(|demand| Wallpart {
                demand: demand.to_owned(),
                mechanism: "a test".to_owned(),
                status: WallStatus::Enforced,
            })
            .to_vec()
    }
    fn refused(&self) -> u64 {
        0
    }
    fn denials(&self, _: u64) -> Vec<Denial> {
        Vec::new()
    }
}
