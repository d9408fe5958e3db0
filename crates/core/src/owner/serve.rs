//! The owner's socket, served: who may connect, how many, and the order in which all of it ends.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::ErrorCode;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::attend;
use super::frame;
use super::house::House;
use super::lock::Ownership;
use super::message::{FromOwner, Hello};
use super::outbox::Bound;
use super::performs::Performs;
use super::socket::{self, Named};
use crate::Refusal;

/// Clients at once.
pub(crate) const MOST_CLIENTS: usize = 64;
/// How long nobody is accepted after that failed: for want of descriptors, say.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// An owner that serves its socket. Dropped, it takes nothing more, drops what runs for others unless that writes, and
/// takes the socket away; the lock goes with the last action.
#[derive(Debug)]
pub(crate) struct Server {
    // In this order: nobody is accepted any more when the name goes.
    accepting: Bound,
    named: Named,
    closing: watch::Sender<bool>,
    house: House,
}

impl Server {
    /// Begins to serve.
    pub(crate) fn start(performs: Arc<dyn Performs>, ownership: Ownership) -> Result<Self, Refusal> {
        let (listener, named) = socket::listen(&ownership)?;
        let house = House::new(performs, ownership);
        let (closing, told) = watch::channel(false);
        let accepting = Bound(tokio::spawn(accept(listener, house.clone(), told)));
        Ok(Self { accepting, named, closing, house })
    }

    /// The owner's own side.
    pub(crate) const fn house(&self) -> &House {
        &self.house
    }

    /// Stops accepting, finishes what was taken, takes the socket away, closes what performs, gives the lock back.
    pub(crate) async fn close(self) -> Result<Vec<String>, Refusal> {
        let Self { mut accepting, named, closing, house } = self;
        closing.send_replace(true);
        house.ending();
        house.empty().await;
        let served = (&mut accepting.0).await;
        drop(named);
        let closed = house.close().await;
        let troubles = house.troubles();
        drop(house);
        served.map_err(|_| Refusal::new(ErrorCode::Internal, "a fault of this program ended its socket"))?;
        closed.map(|()| troubles)
    }
}

/// Accepts until the owner closes, then waits for the clients that are there.
async fn accept(listener: UnixListener, house: House, mut closing: watch::Receiver<bool>) {
    let told = closing.clone();
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            _ = closing.changed() => break,
            Some(_) = clients.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => match socket::peer(&stream) {
                    Ok(user) if socket::is_us(user) && clients.len() >= MOST_CLIENTS => turn_away(stream),
                    Ok(user) if socket::is_us(user) => {
                        clients.spawn(attend(stream, user, house.clone(), told.clone()));
                    }
                    // Nobody else is served: the connection ends here.
                    Ok(_) | Err(_) => {}
                },
                Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
            },
        }
    }
    // From here on who connects is told that nobody is there, and asks the next owner.
    drop(listener);
    while clients.join_next().await.is_some() {}
}

/// Says why there is no room. What does not fit into the fresh connection at once is not said.
fn turn_away(stream: UnixStream) {
    let message = format!("{MOST_CLIENTS} clients use the data folder, and not more at once");
    let refusal = Refusal::new(ErrorCode::Busy, message).with_hint("try again when one of them has ended");
    let said = [frame::encode(&Hello::ours()), frame::encode(&FromOwner::Bye { refusal })];
    let bytes = said.into_iter().flatten().flatten().collect::<Vec<u8>>();
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(&bytes);
    }
}
