//! A real proxy between the backend and the server that passes everything on, and cuts one connection at a chosen point.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a fixture that cannot be made ends its test"
)]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Where a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    /// Before a byte of the request is read.
    AtOnce,
    /// When the request is passed on, before a byte of the answer is.
    BeforeAnswer,
    /// In the middle of the head of the answer.
    InAnswer,
    /// When the answer is passed on, before what is said next is.
    AfterAnswer,
    /// When the first message is passed on, before anything comes back.
    AfterStart,
    /// When something was heard after the answer.
    AfterOutput,
}

/// The proxy.
pub(super) struct Cutter {
    listener: Option<TcpListener>,
    address: SocketAddr,
    server: SocketAddr,
    next: Arc<Mutex<Option<Point>>>,
    connections: Arc<AtomicUsize>,
}

impl Cutter {
    /// In front of this server. It takes connections from [`Self::open`] on.
    pub(super) async fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = server.trim_start_matches("http://").parse().expect("an address");
        Self { listener: Some(listener), address, server, next: Arc::default(), connections: Arc::default() }
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Nothing listens there any more.
    pub(super) fn closed(&mut self) {
        self.listener = None;
    }

    /// Listens again, at the same place.
    pub(super) async fn opened_again(&mut self) {
        self.listener = Some(TcpListener::bind(self.address).await.expect("the same port"));
        self.open();
    }

    /// Takes connections.
    pub(super) fn open(&mut self) {
        let listener = self.listener.take().expect("it is not open yet");
        let (server, next, connections) = (self.server, self.next.clone(), self.connections.clone());
        tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                connections.fetch_add(1, Ordering::SeqCst);
                let point = next.lock().unwrap_or_else(PoisonError::into_inner).take();
                tokio::spawn(async move {
                    // Whichever end goes away first, the other hears of it.
                    let _over = pass(client, server, point).await;
                });
            }
        });
    }

    /// Cuts the next connection at this point.
    pub(super) fn cuts(&self, point: Point) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(point);
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, point: Option<Point>) -> std::io::Result<()> {
    if point == Some(Point::AtOnce) {
        return Ok(());
    }
    let mut server = TcpStream::connect(server).await?;
    let (mut up, mut down) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    // How many pieces came from the server: the first begins with the head of its answer.
    let (mut answers, mut is_after_answer) = (0_usize, false);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let read = read?;
                if read == 0 || (is_after_answer && point == Some(Point::AfterAnswer)) {
                    return Ok(());
                }
                server.write_all(&up[..read]).await?;
                if is_after_answer && point == Some(Point::AfterStart) {
                    return Ok(());
                }
            }
            read = server.read(&mut down) => {
                let read = read?;
                if read == 0 || point == Some(Point::BeforeAnswer) {
                    return Ok(());
                }
                if point == Some(Point::InAnswer) {
                    client.write_all(&down[..read.min(20)]).await?;
                    return Ok(());
                }
                client.write_all(&down[..read]).await?;
                answers += 1;
                is_after_answer = true;
                if answers > 1 && point == Some(Point::AfterOutput) {
                    return Ok(());
                }
            }
        }
    }
}
